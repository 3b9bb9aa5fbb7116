//! The programs of generated lines, with the words that their lines are made of.

/// The words of a program's lines.
pub(super) struct Grammar {
    /// The program, and its subcommand.
    pub(super) command: &'static str,
    /// The directory that it runs in, below that of the test.
    pub(super) directory: &'static str,
    /// Options, with their values.
    pub(super) options: &'static [&'static str],
    /// Letters of options without a value, which may stand in one word.
    pub(super) letters: &'static [&'static str],
    /// For each operand its words; an empty one leaves it out.
    pub(super) operands: &'static [&'static [&'static str]],
    /// Whether options may stand behind operands.
    pub(super) mixes: bool,
}

const fn program(
    command: &'static str,
    options: &'static [&'static str],
    letters: &'static [&'static str],
    operands: &'static [&'static [&'static str]],
) -> Grammar {
    Grammar { command, directory: "", options, letters, operands, mixes: true }
}

const fn git(
    command: &'static str,
    options: &'static [&'static str],
    operands: &'static [&'static [&'static str]],
) -> Grammar {
    Grammar { command, directory: "r", options, letters: &[], operands, mixes: true }
}

const FILES: &[&str] = &["a.txt", "b.txt", "d/f.txt", "*.txt", "nope", "d", ""];
const FILE: &[&str] = &["a.txt", "b.txt", "d/f.txt", "t.csv", "nope"];

/// Programs that change nothing.
pub(super) const READING: &[Grammar] = &[
    program(
        "ls",
        &["-a", "-t", "-S", "-r", "-1", "--sort=size", "-p", "-d", "--reverse", "-X"],
        &["a", "r", "1"],
        &[FILES, FILES],
    ),
    program("cat", &["-n", "-b", "-s", "-E", "-T", "--number", "--show-ends"], &["n", "E", "T"], &[FILES, FILES]),
    program(
        "head",
        &["-n 2", "-n2", "-2", "-c 3", "--lines=1", "-q", "-v", "-n -1", "--bytes 4"],
        &[],
        &[FILES, FILES],
    ),
    program("tail", &["-n 2", "-n2", "-2", "-c 3", "--lines=1", "-q", "-v", "-n +2"], &[], &[FILES, FILES]),
    program("wc", &["-l", "-w", "-c", "--lines", "-m", "-L"], &["l", "w", "c"], &[FILES, FILES]),
    program(
        "sort",
        &["-r", "-n", "-u", "-k 2", "-k2n", "-t ' '", "--reverse", "-f", "-k 2 -k 1"],
        &["r", "n", "u"],
        &[FILE, FILES],
    ),
    program("uniq", &["-c", "-d", "-u", "-i", "--count", "-f 1", "-w 1"], &["c", "d", "i"], &[FILE]),
    program(
        "cut",
        &["-f 1", "-f2", "-d ' '", "-d,", "-c 1-2", "--fields=1", "-s", "--complement", "-b 1"],
        &[],
        &[FILE, FILES],
    ),
    program(
        "grep",
        &[
            "-n",
            "-i",
            "-v",
            "-c",
            "-e a",
            "-e 1 -e b",
            "-w",
            "--count",
            "-A 1",
            "-A1",
            "-m 1",
            "-h",
            "-r",
            "-o",
            "-l",
            "-F",
        ],
        &["n", "i", "v", "c"],
        &[&["a", "'[ab] 1'", "x", "1", "'^$'"], FILES],
    ),
    program(
        "sed",
        &["-n", "-E", "-e p", "-e 1d", "-s", "--quiet"],
        &["n", "E", "s"],
        &[&["p", "2d", "s/a/A/g", "'1,2p'", "'$='"], FILES],
    ),
    program(
        "diff",
        &["-u", "-q", "-i", "-w", "-U 1", "-U1", "--brief", "-y", "-r", "-B", "--unified=2"],
        &["u", "i", "w"],
        &[FILE, FILE],
    ),
    program(
        "jq",
        &["-c", "-r", "-S", "-e", "--tab", "-s", "--indent 1", "--arg x y"],
        &["c", "r", "S"],
        &[&[".", ".k", "'.k[0]'", ".s", "keys", "'.k | length'"], &["j.json", "nope"]],
    ),
    program("seq", &["-w", "-s ,", "-s:", "--separator=-"], &[], &[&["1", "3", "2", "-1"], &["", "4"], &["", "9"]]),
    program(
        "basename",
        &["-a", "-s .txt", "--suffix=.txt", "-z"],
        &[],
        &[&["a.txt", "d/f.txt", "/x/y/"], &["", "b.txt"]],
    ),
    program("dirname", &["-z", "--zero"], &[], &[&["a.txt", "d/f.txt", "/x/y/"], &["", "d/e/g.txt"]]),
    program("nl", &["-b a", "-ba", "-w 3", "-s :", "-n rz", "-v 5"], &[], &[FILES]),
    program("od", &["-c", "-An", "-A x", "-t x1", "-N 4", "-j 1", "-v"], &[], &[FILE]),
    program("tac", &["-s a", "-b", "-r"], &[], &[FILE, FILES]),
    program("fold", &["-w 3", "-w2", "-s", "-b", "--width=4"], &[], &[FILES]),
    program("paste", &["-d ,", "-d:", "-s", "--serial"], &[], &[FILE, FILE]),
    program("comm", &["-1", "-2", "-3", "--total"], &["1", "2", "3"], &[FILE, FILE]),
    program("join", &["-1 1", "-2 1", "-a 1", "-t ' '", "-i", "-v 1"], &[], &[FILE, FILE]),
    program("md5sum", &["-b", "-t", "--tag", "-z"], &[], &[FILE, FILES]),
    program("base64", &["-w 4", "--wrap=8", "-d", "-i", "-w0"], &[], &[FILE]),
    program("stat", &["-c %n", "-c%s", "--format=%a", "-L", "--printf=%F"], &[], &[FILE, FILES]),
    program("du", &["-b", "-s", "-a", "--apparent-size", "-c", "-d 1"], &["b", "s"], &[FILES]),
    Grammar {
        mixes: false,
        ..program(
            "find",
            &[],
            &[],
            &[
                &["d", ".", "a.txt", ""],
                &["-type f", "-maxdepth 1", "-name '*.txt'", ""],
                &["-name f.txt", "-o -type d", "! -name a.txt", "-mtime -1 -ls -type l", ""],
                &["-print", "-print0", "-newer a.txt", "-printf %f", ""],
            ],
        )
    },
    git(
        "git log",
        &[
            "--oneline",
            "-n 1",
            "-n1",
            "-1",
            "--format=%s",
            "--stat",
            "--reverse",
            "-p",
            "--no-decorate",
            "--all",
            "--max-count=2",
            "--author=N",
            "-i",
            "--format=%an --oneline",
        ],
        &[&["", "topic", "HEAD~1", "main..topic", "nope"], &["", "-- one", "-- nope"]],
    ),
    git(
        "git show",
        &["--stat", "--oneline", "--name-only", "-s", "--format=%s", "-U0"],
        &[&["", "HEAD", "v1", "HEAD:one"]],
    ),
    git(
        "git diff",
        &["--stat", "--name-only", "-U1", "--cached", "--numstat", "-w", "--unified=0", "--unified 2", "--name-status"],
        &[&["", "HEAD", "HEAD~1", "main topic"], &["", "-- one"]],
    ),
    git(
        "git rev-parse",
        &["--short", "--verify", "--abbrev-ref", "--symbolic-full-name", "--show-toplevel", "-q"],
        &[&["HEAD", "main", "v1", "nope", ""]],
    ),
    git(
        "git ls-files",
        &["-o", "-m", "-s", "--others", "--cached", "-z", "--exclude-standard"],
        &[&["", "one", "nope"]],
    ),
    git(
        "git grep",
        &["-n", "-i", "-c", "-l", "-e 1", "-w", "-h", "--count"],
        &[&["1", "z", "nope"], &["", "-- one", "HEAD"]],
    ),
    git("git status", &["-s", "--short", "-b", "--porcelain", "-uno", "--untracked-files=no"], &[&["", "one"]]),
];

/// Programs that change files or a repository.
pub(super) const WRITING: &[Grammar] = &[
    program(
        "cp",
        &["-r", "-v", "-p", "-n", "--recursive", "-f", "-a"],
        &["r", "v", "f"],
        &[&["a.txt", "d", "nope"], &["x", "d", "b.txt"]],
    ),
    program("mv", &["-v", "-n", "-f", "--verbose"], &["v", "f"], &[&["a.txt", "d", "nope"], &["x", "b.txt", "d/e"]]),
    program(
        "rm",
        &["-f", "-r", "-v", "--force", "--recursive"],
        &["r", "f", "v"],
        &[&["a.txt", "d", "nope"], &["", "b.txt"]],
    ),
    program("mkdir", &["-p", "-v", "--parents", "-m 700"], &["p", "v"], &[&["x", "d", "x/y", "d/z"], &["", "w"]]),
    program("rmdir", &["-p", "-v", "--ignore-fail-on-non-empty"], &["p", "v"], &[&["d", "nope", "d/e"]]),
    program(
        "touch",
        &["-c", "-a", "-m", "--no-create", "-d 2020-02-02"],
        &["a", "m", "c"],
        &[&["x", "a.txt"], &["", "y"]],
    ),
    program("ln", &["-s", "-f", "-v", "-n", "--symbolic"], &["s", "f", "v"], &[&["a.txt", "d"], &["x", "b.txt"]]),
    program(
        "chmod",
        &["-v", "-R", "-c", "--recursive"],
        &["R", "v"],
        &[&["600", "u+x", "a-w"], &["a.txt", "d", "nope"]],
    ),
    program("truncate", &["-s 2", "-s3", "--size=0", "-c"], &[], &[&["a.txt", "x"]]),
    program("tee", &["-a", "--append", "-i"], &["a", "i"], &[&["x", "a.txt"], &["", "y"]]),
    program(
        "sed",
        &["-i", "-n", "-E", "-i.bak", "--in-place=.o", "-ni", "-s"],
        &[],
        &[&["s/a/A/", "1d", "p"], &["a.txt", "b.txt"]],
    ),
    program("sort", &["-o x", "-ox", "-r", "-u", "--output=y", "-n"], &["r", "u"], &[&["a.txt", "b.txt"]]),
    program("split", &["-l 2", "-l1", "-b 3", "-d", "-a 3", "--lines=1"], &[], &[&["a.txt"], &["", "p"]]),
    Grammar {
        mixes: false,
        ..program(
            "tar",
            &["-v"],
            &[],
            &[&["-cf", "-czf", "cf"], &["o.tar"], &["a.txt", "-C d f.txt", "-C d f.txt -C .. a.txt"]],
        )
    },
    git("git add", &["-A", "-u", "-v", "-n", "--all", "--update"], &[&["", "one", ".", "three", "nope"]]),
    git("git commit", &["-m m", "-a", "-am m", "--allow-empty", "-q", "--message=n", "-m m -m n"], &[&["", "one"]]),
    git("git branch", &["-f", "-q", "--force"], &[&["x", "topic"], &["", "HEAD~1"]]),
    git("git branch", &["-D", "-d", "-D -q"], &[&["x", "topic"]]),
    git("git tag", &["-a", "-m m", "-f", "-d", "-am m"], &[&["t", "v1"], &["", "HEAD~1"]]),
    git(
        "git reset",
        &["--hard", "--soft", "-q", "--mixed", "--keep"],
        &[&["", "HEAD~1", "topic"], &["", "-- one", "-- X"]],
    ),
    git("git rm", &["-f", "-q", "--cached", "-n", "-r"], &[&["one", "two", "nope"]]),
    git("git mv", &["-f", "-v", "-n", "-k"], &[&["one", "two", "nope"], &["x", "two"]]),
    git("git checkout", &["-q", "-f", "-b x"], &[&["", "topic", "v1", "nope"], &["", "-- one"]]),
    git("git restore", &["-q", "--staged", "-s HEAD~1", "--worktree"], &[&["one", ".", "nope"]]),
    git("git stash", &["-q", "-u", "-k"], &[&[""]]),
];

/// Whether the outputs of a line may differ: each side has files of its own, with other inodes and times of birth.
pub(super) fn is_known(line: &str) -> bool {
    line.contains("-ls") || line.starts_with("stat ") && !line.contains('%')
}
