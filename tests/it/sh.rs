//! `climax sh -c`: pipelines of real programs, with the exit status and the streams of a shell.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{binary, run, until};

fn climax() -> Command {
    #[expect(clippy::disallowed_methods, reason = "the test starts the binary")]
    Command::new(binary())
}

/// Runs a line in a directory, with text on standard input.
fn sh_in(directory: &Path, options: &[&str], line: &str, input: &str) -> Output {
    let mut command = climax();
    command.arg("sh").args(options).args(["-c", line]).current_dir(directory);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that reads no input may have ended before.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn sh(line: &str) -> (String, Option<i32>) {
    let output = sh_in(Path::new("/"), &[], line, "");
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

#[test]
fn lines_have_the_output_and_the_status_of_a_shell() {
    for line in [
        "echo a b",
        "echo 'a  b'   c",
        "seq 1000000 | head -n 2",
        "seq 5 | tail -n 2 | wc -l",
        "seq 3 | sort -r",
        "false",
        "false && echo a",
        "false || echo a",
        "false && echo a || echo b",
        "true && echo a; echo b",
        "true || echo a; false",
        "echo a; false",
        "cat /nonexistent | wc -l",
        "echo a > /dev/null",
        "cat /nonexistent 2>/dev/null",
        "cat /nonexistent 2>&1 | wc -l",
        "cat /nonexistent |& wc -l",
        "cat /nonexistent &>/dev/null || echo b",
        "echo a\necho b # c",
        "cd /proc/self && echo a",
        "cd / && cd proc && cat self/stat | wc -l",
    ] {
        let bash = Command::new("bash").args(["-c", line]).current_dir("/").stdin(Stdio::null()).output().unwrap();
        let expected = (String::from_utf8(bash.stdout).unwrap(), bash.status.code());
        assert_eq!(sh(line), expected, "{line}");
    }
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn a_script_whose_interpreter_is_missing_is_told_as_such() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("run");
    std::fs::write(&script, "#!/nonexistent/python -u\nprint(1)\n").unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let output = sh_in(directory.path(), &[], "./run; echo $?", "");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors, "climax: Cannot run ./run: its interpreter /nonexistent/python does not exist\n");
    assert_eq!(output.stdout, b"127\n");
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn files_that_cannot_be_executed_have_the_status_of_a_shell_and_say_why() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("script"), "#!/bin/sh\n").unwrap();
    let output = sh_in(directory.path(), &[], "./script; echo $?; ../; echo $?; ./none; echo $?", "");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "126\n126\n127\n");
    let errors = String::from_utf8(output.stderr).unwrap();
    let expected = "climax: Cannot run ./script: it is not executable; `chmod +x ./script` makes it so\n\
                    climax: Cannot run ../: it is a directory\nclimax: ./none: no such file\n";
    assert_eq!(errors, expected);
    assert_eq!(sh_in(directory.path(), &[], "./script", "").status.code(), Some(126));
}

#[test]
fn a_directory_that_is_gone_is_told_as_such() {
    let directory = tempfile::tempdir().unwrap();
    let line = format!("rmdir {} && echo gone; ls", directory.path().display());
    let output = sh_in(directory.path(), &[], &line, "");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.stdout == b"gone\n" && errors.contains("Cannot run in directory ., where this process"), "{errors}");
}

#[test]
fn refused_lines_have_their_own_status_and_say_why() {
    for (line, status, message) in [
        ("sudo ls", 127, "no tool runs `sudo`"),
        ("git frobnicate", 127, "no tool has the subcommand `git frobnicate`"),
        ("git log --grpah", 2, "did you mean `--graph`"),
        ("git stash lst", 127, "no tool has the subcommand `git stash lst`; did you mean `list`?"),
        ("git gui blame a", 127, "no tool has the subcommand `git gui`"),
        ("git -C d comit", 127, "no tool has the subcommand `git comit`; did you mean `commit`"),
        ("git --no-pager diff a --grpah", 2, "`--grpah` is no option here (`git`, tool git_diff)"),
        ("docker compose -f x upp", 127, "no tool has the subcommand `docker compose upp`; did you mean `up`"),
        ("aws --region eu-west-1 ec2 describe-instnces", 127, "did you mean `describe-instances`"),
        ("export FOO=1; git commit -m x", 2, "the variable `FOO` cannot be set for `git` (tool git_commit)"),
        ("export TIME_STYLE=full-iso; ls -l", 2, "the variable `TIME_STYLE` cannot be set for `ls`"),
        ("FOO=1 timeout 5 git commit -m x", 2, "the variable `FOO` cannot be set for `timeout`"),
        ("POSIXLY_CORRECT=1 timeout 5 bash -c true", 2, "the variable `POSIXLY_CORRECT` cannot be set for `timeout`"),
        ("T=$(which ls); $T -l", 2, "would depend on a value (`$T`)"),
        ("export FOO=1; printenv FOO", 2, "the variable `FOO` cannot be set for `printenv`"),
        ("echo a; read -n 1 x", 2, "the option `-n` of `read` is not read"),
        ("echo $UNSET", 2, "does not set the variable `UNSET`"),
        ("echo a | wc -l; git frobnicate", 127, "no tool has the subcommand"),
    ] {
        let output = sh_in(Path::new("/"), &[], line, "");
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{line}: {text}");
        assert!(text.contains(message), "{line}: {text}");
        assert!(output.stdout.is_empty(), "{line}: no program ran");
    }
}

#[test]
fn a_command_that_gets_no_operand_fails_and_its_line_goes_on() {
    let output = sh_in(Path::new("/"), &[], "kill $(true); echo $?; cp $(true) a || echo none", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\nnone\n");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("kill: missing operand: an expansion in this command gave no words"), "{said}");
}

#[test]
fn the_command_that_needs_approval_is_named() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("p.yaml"), "default: enabled\napproval: {headless: deny}\n").unwrap();
    for (line, named) in [
        ("find . -name '*.txt' | xargs rm -f", "`xargs rm -f` (coreutils_rm)"),
        ("cat p.yaml; f=$(echo p.yaml); echo x > $f", "`> $f` (file_write)"),
        ("ls; rm p.yaml", "`rm p.yaml` (coreutils_rm)"),
    ] {
        let output = sh_in(directory.path(), &["--policy", "p.yaml"], line, "");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(named) && output.stdout.is_empty(), "{line}: {said}");
    }
}

#[test]
fn refusals_in_the_middle_of_a_line_say_that_its_start_has_run() {
    let output = sh_in(Path::new("/"), &[], "echo a; git checkout $(echo -f); echo b", "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a\n");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("The line has ended here, and the commands before have run."), "{said}");
}

#[test]
fn a_variable_that_no_command_has_set_is_a_default_or_a_refusal_and_never_empty() {
    let (stdout, status) = sh("if [ -f /none ]; then d=x; fi; echo \"${d:-none} ${d+set}\"");
    assert_eq!((stdout.as_str(), status), ("none \n", Some(0)));
    for line in
        ["if [ -f /none ]; then d=x; fi; echo a; ls $d/etc", "if [ -f /none ]; then d=x; fi; echo a; ls \"${d%/}/etc\""]
    {
        let output = sh_in(Path::new("/"), &[], line, "");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "a\n", "{line}");
        assert!(said.contains("does not set the variable `d`"), "{line}: {said}");
    }
}

#[test]
fn other_spellings_of_a_program_run_what_they_name() {
    let directory = tempfile::tempdir().unwrap();
    let script = |name: &str| {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\necho {name} \"$@\"\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    script("first/pip");
    script("second/python3");
    let beside = script("second/pip");
    let pip3 = script("second/pip3");
    let search_path = ["first", "second"].map(|name| directory.path().join(name).display().to_string()).join(":");
    let sh = |line: &str| run(climax().args(["sh", "-c", line]).env("PATH", &search_path));

    assert_eq!(sh("pip list").1, "first/pip list\n");
    assert_eq!(sh("pip3 list").1, "second/pip3 list\n");
    assert_eq!(sh("python3 -m pip list").1, "second/pip list\n");
    std::fs::remove_file(pip3).unwrap();
    assert_eq!(sh("pip3 list").1, "first/pip list\n");
    std::fs::remove_file(beside).unwrap();
    let (status, output, _) = sh("python3 -m pip list");
    assert_eq!((status, output.as_str()), (127, ""), "the packages of another interpreter are no answer");
}

#[test]
fn exported_variables_stop_no_program_that_does_not_read_them() {
    let directory = tempfile::tempdir().unwrap();
    let line = |line: &str| sh_in(directory.path(), &[], line, "").status.code();
    for taken in [
        "export FOO=1; git log -1 2>&1 | head -1 > /dev/null",
        "export PORT=5000; kill -0 $$ 2>/dev/null; true",
        "export VERSION=1; jq -n 1",
        "export DATABASE_URL=x && sqlite3 :memory: 'select 1'",
        "ENV=prod; echo $ENV",
    ] {
        assert_eq!(line(taken), Some(0), "{taken}");
    }
    // What reads them, or runs what may read them, would run otherwise than it says.
    for refused in [
        "export GIT_EXTERNAL_DIFF=/x; git diff",
        "export SKIP=lint; git commit -m x",
        "export TOKEN=1; jq -n 'env.TOKEN'",
        "export TOKEN=1; jq -n '$ENV.TOKEN'",
    ] {
        assert_eq!(line(refused), Some(2), "{refused}");
    }
}

#[test]
fn files_of_secrets_that_a_search_leaves_out_are_told() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("config")).unwrap();
    std::fs::write(directory.path().join("config/app.env"), "LEVEL=1\n").unwrap();
    let policy = directory.path().join("policy.yaml");
    std::fs::write(&policy, "default: enabled\napproval: {global: destructive, headless: deny}\n").unwrap();
    for search in ["grep -rn LEVEL config", "grep -rn LEVEL . | cat"] {
        let output = sh_in(directory.path(), &["--policy", "policy.yaml"], search, "");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains("the names of secrets were left out (app.env)"), "{search}: {errors}");
    }
}

#[test]
fn reading_a_file_that_other_programs_load_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(directory.path().join(".github")).unwrap();
    std::fs::write(directory.path().join(".github/ci.yml"), "on: push\n").unwrap();
    std::fs::write(directory.path().join("policy.yaml"), "default: enabled\napproval: {global: destructive}\n")
        .unwrap();
    let sed = |line: &str| sh_in(directory.path(), &["--policy", "policy.yaml"], line, "");
    assert_eq!(sed("sed -n 1p .github/ci.yml").stdout, b"on: push\n");
    assert!(String::from_utf8(sed("sed -i s/push/pull/ .github/ci.yml").stderr).unwrap().contains("approval"));
    assert_eq!(std::fs::read(directory.path().join(".github/ci.yml")).unwrap(), b"on: push\n");
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn a_program_that_its_cage_cannot_read_is_told_in_words_for_people() {
    let directory = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let program = elsewhere.path().join("program");
    std::fs::copy("/bin/true", &program).unwrap();
    symlink(&program, directory.path().join("link")).unwrap();
    let output = sh_in(directory.path(), &[], "./link", "");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.starts_with("climax: ") && errors.contains("not among the files that the cage may read"),
        "{errors}"
    );
}

#[test]
fn policy_hides_tools_and_denies_arguments() {
    let directory = tempfile::tempdir().unwrap();
    let policy = directory.path().join("policy.yaml");
    std::fs::write(
        &policy,
        "default: disabled\ntools:\n  coreutils_seq:\n    args:\n      last: {max: 5}\n  coreutils_rm: {}\n\
         approval: {global: destructive}\n",
    )
    .unwrap();
    let policy = policy.display().to_string();
    let run = |line: &str| sh_in(directory.path(), &["--policy", &policy], line, "");
    assert_eq!(run("seq 3").stdout, b"1\n2\n3\n");
    assert_eq!(run("seq 30").status.code(), Some(126));
    assert_eq!(run("date").status.code(), Some(127));
    // Nobody is asked: what needs approval does not run.
    std::fs::write(directory.path().join("kept"), "").unwrap();
    assert_ne!(run("rm kept").status.code(), Some(0));
    assert!(directory.path().join("kept").exists());
}

#[test]
fn globs_and_tests_see_the_project_alone_where_the_policy_lets_no_redirection_read() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(directory.path().join("project/.git")).unwrap();
    let at = directory.path().join("project");
    std::fs::write(at.join("own"), "").unwrap();
    std::fs::write(directory.path().join("other"), "").unwrap();
    symlink(directory.path(), at.join("link")).unwrap();
    let policy = directory.path().join("policy.yaml");
    let run = |tools: &str, line: &str| {
        std::fs::write(&policy, format!("default: disabled\ntools: {{coreutils_seq: {{}}{tools}}}\n")).unwrap();
        let output = sh_in(&at, &["--policy", &policy.display().to_string()], line, "");
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    for line in ["echo o*", "for f in o*; do echo $f; done", "[ -f own ] && echo own", "[[ -f none/x ]] || echo own"] {
        assert_eq!(run("", line), ("own\n".to_owned(), String::new()), "{line}");
    }
    for line in [
        "echo ../*",
        "echo /etc/host*",
        "echo /*",
        "cd .. && echo *",
        "echo link/*",
        "echo */other",
        "[ -f ../other ] && echo yes",
        "test -e ../none || echo no",
        "[[ -e link/other ]] && echo yes",
        "[ own -nt ../other ] || echo no",
    ] {
        let (seen, said) = run("", line);
        assert!(
            said.contains("the policy lets lines look for files in") && !seen.contains("yes"),
            "{line}: {seen}{said}"
        );
        let (_, said) = run(", file_read: {}", line);
        assert_eq!(said, "", "{line}");
    }
}

#[test]
fn first_command_reads_standard_input_and_globs_expand_where_the_line_runs() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["a.txt", "b.txt", "-n.txt"] {
        std::fs::write(directory.path().join(name), name).unwrap();
    }
    let output = sh_in(directory.path(), &[], "wc -l", "1\n2\n");
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "2");
    let output = sh_in(directory.path(), &[], "echo *.txt", "");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "./-n.txt a.txt b.txt\n");
    let output = sh_in(Path::new("/"), &[], &format!("cd {} && cat [ab].txt", directory.path().display()), "");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "a.txtb.txt");
}

#[test]
fn directories_of_a_line_and_of_git_are_joined() {
    let directory = tempfile::tempdir().unwrap();
    let repository = directory.path().join("a/b");
    std::fs::create_dir_all(&repository).unwrap();
    assert!(Command::new("git").args(["init", "--quiet"]).current_dir(&repository).status().unwrap().success());
    for line in ["cd a/b && git rev-parse --show-toplevel", "cd a && git -C b rev-parse --show-toplevel"] {
        let output = sh_in(directory.path(), &[], line, "");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.trim().ends_with("/a/b"), "{line}: {text} {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Settings that climax gives git would be told as those of the repository.
#[test]
fn git_prints_the_settings_of_the_user_and_of_the_repository_alone() {
    let directory = tempfile::tempdir().unwrap();
    let policy = directory.path().join("policy.yaml");
    std::fs::write(&policy, "default: enabled\napproval: {global: none}\n").unwrap();
    let options = ["--policy", policy.to_str().unwrap()];
    let git = |words: &[&str]| {
        let output = Command::new("git").args(words).current_dir(directory.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    for hooks in ["", "tools/hooks"] {
        if !hooks.is_empty() {
            git(&["config", "core.hooksPath", hooks]);
        }
        for line in [
            "git config --get core.hooksPath",
            "git config --get-all core.hooksPath",
            "git config core.hooksPath",
            "git config --list",
            "git config -l --name-only",
            "git config --get-regexp ^core",
            "git rev-parse --git-path hooks/pre-commit",
        ] {
            let output = sh_in(directory.path(), &options, line, "");
            let expected = git(&line.split(' ').skip(1).collect::<Vec<_>>());
            assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{line}");
        }
    }
}

#[test]
fn interrupt_ends_every_program_of_a_pipeline() {
    let mut child = climax();
    child.args(["sh", "-c", "timeout 86399 sleep 86399 | cat -n"]).stdin(Stdio::null());
    let child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let id = child.id().to_string();
    let running = || {
        let mut found = Command::new("pgrep");
        found.args(["-P", &id, "-f", "^(timeout( --)? 86399 sleep( --)? 86399|cat (-n|--number))$"]);
        let found = found.output().unwrap();
        String::from_utf8(found.stdout).unwrap().lines().count()
    };
    until("both programs to run", || running() == 2);
    let pid = rustix::process::Pid::from_child(&child);
    kill_process(pid, Signal::TERM).unwrap();
    until("both programs to end", || running() == 0);
    assert!(!child.wait_with_output().unwrap().status.success());
}

#[test]
fn link_named_climax_sh_is_a_shell() {
    let directory = tempfile::tempdir().unwrap();
    let shell = directory.path().join("climax-sh");
    symlink(binary(), &shell).unwrap();
    for options in [vec!["-c"], vec!["-lc"], vec!["-l", "-c"], vec!["-i", "-c"], vec!["--login", "-ic"]] {
        let mut command = Command::new(&shell);
        command.args(&options).arg("echo $UNSET").env("CLIMAX_SH_CONFIG", directory.path());
        assert_eq!(command.output().unwrap().status.code(), Some(2), "{options:?}");
        let mut command = Command::new(&shell);
        command.args(&options).arg("seq 2 | head -n 1").env("CLIMAX_SH_CONFIG", directory.path());
        assert_eq!(command.output().unwrap().stdout, b"1\n", "{options:?}");
    }
    std::fs::write(directory.path().join("policy.yaml"), "default: disabled\ntools: {coreutils_seq: {}}\n").unwrap();
    let run = |line: &str| {
        Command::new(&shell).args(["-c", line]).env("CLIMAX_SH_CONFIG", directory.path()).output().unwrap()
    };
    assert_eq!(run("seq 1").stdout, b"1\n");
    assert_eq!(run("date").status.code(), Some(127));
    assert_eq!(Command::new(&shell).arg("script.sh").output().unwrap().status.code(), Some(2));
}

#[test]
fn copy_named_climax_sh_has_the_policy_of_the_program() {
    let home = tempfile::tempdir().unwrap();
    let shell = home.path().join("climax-sh");
    std::fs::copy(binary(), &shell).unwrap();
    let settings = home.path().join(".config/climax");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(settings.join("policy.yaml"), "default: disabled\ntools: {coreutils_seq: {}}\n").unwrap();
    let status = |line: &str| {
        let mut command = Command::new(&shell);
        command.args(["-c", line]).env("HOME", home.path());
        command.env_remove("XDG_CONFIG_HOME").env_remove("CLIMAX_SH_CONFIG").output().unwrap().status.code()
    };
    assert_eq!((status("seq 1"), status("date")), (Some(0), Some(127)));
}

#[test]
fn a_signal_that_ends_a_line_is_its_status() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let mut child = climax().args(["sh", "-c", "echo a; sleep 60"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut first = [0];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status));
    }
}

#[test]
fn standard_input_runs_as_one_line() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("below")).unwrap();
    let run = |script: &str| {
        let mut child = climax();
        child
            .arg("sh")
            .current_dir(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status.code())
    };
    // As in a shell, a failed line does not end the script, and its last line decides.
    assert_eq!(run("# a\n\necho a\nfrobnicate\nseq 3 | wc -l\n"), ("a\n3\n".to_owned(), Some(0)));
    assert_eq!(run("echo a\nfrobnicate\n"), ("a\n".to_owned(), Some(127)));
    assert_eq!(run("cd below\nbasename .\npwd | grep -c below\nfalse\nexit\necho b\n"), (".\n1\n".to_owned(), Some(1)));
    // Programs do not read the script.
    assert_eq!(run("cat\necho a\n").0, "a\n");
    // What belongs to a command is no command of its own.
    assert_eq!(run("cat <<EOF\necho b\nEOF\n"), ("echo b\n".to_owned(), Some(0)));
    assert_eq!(run("if false; then\n  echo never\nfi\n"), (String::new(), Some(0)));
    assert_eq!(run("echo a \\\n  b\n").0, "a b\n");
    assert_eq!(run("X=5\necho $X\nset -e\nfalse\necho never\n"), ("5\n".to_owned(), Some(1)));
    assert_eq!(run("echo a\nif true; then\n"), (String::new(), Some(2)), "a script that is not read runs nothing");
}
