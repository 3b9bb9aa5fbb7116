//! Generated command lines, run by bash and by `climax sh -c`: what is accepted must do the same.
//!
//! The lines have options in every order, repeated and clustered, `--`, empty words and redirections. `CLIMAX_SEED` and
//! `CLIMAX_LINES` choose other lines and more of them.

mod programs;

use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use self::programs::{Grammar, READING, WRITING};
use crate::support;

/// Lines that are run for each program, unless `CLIMAX_LINES` says otherwise.
const LINES: usize = 6;

/// A generator of numbers: the same ones for the same seed (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn is_rare(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}

/// Makes a line of a program.
fn line(program: &Grammar, numbers: &mut Numbers) -> String {
    let mut words: Vec<String> = Vec::new();
    if !program.options.is_empty() {
        for _ in 0..numbers.below(4) {
            words.push(numbers.one(program.options).to_owned());
        }
    }
    if !program.letters.is_empty() && numbers.is_rare(3) {
        let cluster: String = (0..2 + numbers.below(2)).map(|_| numbers.one(program.letters)).collect();
        words.push(format!("-{cluster}"));
    }
    if words.len() > 1 && numbers.is_rare(4) {
        words.push(words[0].clone());
    }

    let mut operands: Vec<String> = Vec::new();
    for choices in program.operands {
        let word = if numbers.is_rare(25) { "''" } else { numbers.one(choices) };
        operands.extend((!word.is_empty()).then(|| word.to_owned()));
    }
    if numbers.is_rare(6) {
        operands.insert(0, "--".to_owned());
    } else if program.mixes && !operands.is_empty() && numbers.is_rare(3) {
        // Options behind operands.
        let option = words.pop();
        operands.extend(option);
    }

    let redirection = numbers.one(&["", "", "", "", "2>&1", "2>/dev/null", ">/dev/null", "2>&1 >/dev/null"]);
    let pipe = numbers.one(&["", "", "", "| head -n 3", "| wc -l", "|& sort"]);
    let parts = [vec![program.command.to_owned()], words, operands, vec![redirection.to_owned(), pipe.to_owned()]];
    let all: Vec<String> = parts.concat();
    all.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Makes the directory that lines run in: a few files and a repository of git.
fn prepare(directory: &Path) {
    let script = "
        set -e
        printf 'b 2\\na 1\\nc 3\\na 1\\n' > a.txt; printf 'a 1\\nb 9\\n\\nd 4\\n' > b.txt; printf 'one,two\\n3,4\\n' > t.csv
        mkdir -p d/e; echo x > d/f.txt; echo y > d/e/g.txt; echo '{\"k\": [1, 2], \"s\": \"t\"}' > j.json
        touch -d 2020-01-01T00:00:00Z a.txt b.txt t.csv d/f.txt d/e/g.txt j.json d/e d
        git init -q -b main r; cd r
        git config user.name N; git config user.email n@example.org; git config commit.gpgsign false
        printf '1\\n2\\n3\\n' > one; echo z > two; git add .; git commit -qm first
        echo 4 >> one; git commit -qam 'second (x)'; git branch topic; git tag v1; echo 5 >> one; echo new > three";
    let done = tools(&mut Command::new("bash"), directory).args(["-c", script]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Gives a command the environment and directory of all runs.
fn tools<'c>(command: &'c mut Command, directory: &Path) -> &'c mut Command {
    let date = "2021-03-04T05:06:07Z";
    command
        .current_dir(directory)
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .envs([("HOME", directory.as_os_str()), ("LC_ALL", "C.UTF-8".as_ref()), ("TZ", "UTC".as_ref())])
        // No call opens an editor.
        .envs([("GIT_AUTHOR_DATE", date), ("GIT_COMMITTER_DATE", date), ("GIT_EDITOR", "true")])
        .stdin(Stdio::null())
}

/// What a line left behind: output, status, and every file with its content, links and permissions.
#[derive(PartialEq, Eq)]
struct Effect {
    output: Vec<u8>,
    status: Option<i32>,
    files: BTreeMap<String, String>,
}

impl Effect {
    fn of(ran: Output, directory: &Path, writes: bool) -> Self {
        let mut files = BTreeMap::new();
        if writes {
            let listing = "find . -path ./r/.git -prune -o -printf '%p %y %m %l\\n' -type f -exec cat {} +; \
                           cd r && git log --all --format='%H %d' && git status --porcelain && git stash list";
            let listed = tools(&mut Command::new("bash"), directory).args(["-c", listing]).output().unwrap();
            files.insert("tree".to_owned(), String::from_utf8_lossy(&listed.stdout).into_owned());
        }
        let shown = String::from_utf8_lossy(&ran.stdout).replace(&directory.display().to_string(), "DIR");
        Self { output: shown.into_bytes(), status: ran.status.code(), files }
    }
}

/// Runs generated lines of programs, and returns how many were accepted and which did something else.
fn compare(programs: &[Grammar], writes: bool) -> (usize, usize, Vec<String>) {
    let seed = env::var("CLIMAX_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_123);
    let count = env::var("CLIMAX_LINES").ok().and_then(|count| count.parse().ok()).unwrap_or(LINES);
    let mut numbers = Numbers(seed);
    let (mut made, mut accepted, mut other) = (0, 0, Vec::new());
    let model = tempfile::tempdir().unwrap();
    prepare(model.path());
    let fresh = || {
        let directory = tempfile::tempdir().unwrap();
        let mut copy = Command::new("cp");
        assert!(copy.arg("-a").arg(model.path().join(".")).arg(directory.path()).status().unwrap().success());
        directory
    };
    let shared = [fresh(), fresh()];
    for program in programs {
        for _ in 0..count {
            made += 1;
            let line = match program.directory {
                "" => line(program, &mut numbers),
                directory => format!("cd {directory} && {}", line(program, &mut numbers)),
            };
            let own = if writes { Some([fresh(), fresh()]) } else { None };
            let [first, second] = own.as_ref().unwrap_or(&shared);
            let ran = tools(&mut support::climax(), first.path()).args(["sh", "-c", &line]).output().unwrap();
            if String::from_utf8_lossy(&ran.stderr).contains("climax: ") {
                continue;
            }

            accepted += 1;
            let bash = tools(&mut Command::new("bash"), second.path()).args(["-c", &line]).output().unwrap();
            let [ran, bash] = [Effect::of(ran, first.path(), writes), Effect::of(bash, second.path(), writes)];
            if ran != bash && !programs::is_known(&line) {
                let shown = |effect: &Effect| {
                    let output = String::from_utf8_lossy(&effect.output).chars().take(120).collect::<String>();
                    format!("{:?} {output:?}", effect.status)
                };
                let changed = if ran.files == bash.files { "" } else { "  other files\n" };
                other.push(format!("{line}\n{changed}  climax {}\n  bash   {}", shown(&ran), shown(&bash)));
            }
        }
    }
    (made, accepted, other)
}

#[expect(clippy::print_stdout, reason = "shown with --nocapture, for runs with other seeds")]
fn check(programs: &[Grammar], writes: bool) {
    let (made, accepted, other) = compare(programs, writes);
    println!("{accepted} of {made} lines accepted, {} with another effect", other.len());
    assert!(accepted * 2 > made, "{accepted} of {made} lines are accepted");
    assert!(other.len() * 200 <= accepted, "{} of {accepted}:\n{}", other.len(), other.join("\n"));
}

#[test]
fn accepted_lines_of_reading_programs_do_what_they_do_in_bash() {
    check(READING, false);
}

#[test]
fn accepted_lines_of_writing_programs_do_what_they_do_in_bash() {
    check(WRITING, true);
}
