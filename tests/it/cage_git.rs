//! git beside cages: secrets that it tracks, and repositories and hooks that caged programs can write.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::caged_project::Desk;
use crate::support::until;

/// A file that a repository tracks is no secret to git, which would else call it changed. Others see neither it nor its like.
#[test]
fn git_compares_the_secrets_that_a_repository_tracks() {
    type Run = fn(&Desk, &[&str], &str) -> (i32, String, String);
    let desk = Desk::new();
    for words in [
        &["init", "-q"][..],
        &["add", "-f", ".env", "notes"],
        &["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "1"],
    ] {
        #[expect(clippy::disallowed_methods, reason = "the test makes a repository")]
        let made = Command::new("git").current_dir(desk.path("project")).args(words).status().unwrap();
        assert!(made.success(), "{words:?}");
    }
    fs::write(desk.path("project/notes"), "others\n").unwrap();

    for run in [Desk::sh as Run, Desk::sh_without_namespaces] {
        let (status, output, errors) = run(&desk, &[], "git status --short --untracked-files=no; git diff --stat");
        assert_eq!(status, 0, "{errors}");
        assert!(output.starts_with(" M notes\n notes | 2 +-\n"), "{output}{errors}");
        let (_, output, _) = run(&desk, &[], "python3 -c 'print(open(\".env\").read())'");
        assert!(!output.contains("secret"), "{output}");
        let (_, output, _) = run(&desk, &[], "git diff --no-index /dev/null conf/.env");
        assert!(!output.contains("secret"), "{output}");
    }
}

/// A caged program may make a repository among the temporary files. Outside of the cage git would run its hooks.
#[test]
fn git_runs_nothing_unasked_that_a_caged_program_has_put_into_a_repository() {
    let desk = Desk::new();
    let policy = desk.path("policy.yaml");
    fs::write(&policy, "default: enabled\napproval: {global: destructive, headless: deny}\n").unwrap();
    let policy = policy.display().to_string();
    fs::write(desk.path("home/.gitconfig"), "[user]\n\tname = a\n\temail = a@example.com\n").unwrap();
    let plain = "git init -q $TMPDIR/r && git -C $TMPDIR/r commit -q --allow-empty -m 1";
    let (status, _, errors) = desk.sh(&["--policy", &policy], plain);
    assert_eq!(status, 0, "{errors}");

    for plant in [
        "open(r + '/hooks/pre-commit', 'w').write('#!/bin/sh\\ntouch harm\\n'); os.chmod(r + '/hooks/pre-commit', 0o755)",
        "open(r + '/config', 'a').write('[core]\\n\\tfsmonitor = touch harm\\n')",
        "open(r + '/config', 'a').write('[core] hooksPath = /tmp\\n')",
    ] {
        let code = format!("import os; r = os.environ['TMPDIR'] + '/r/.git'; {plant}");
        let line = format!("{plain}; python3 -c \"{code}\" && git -C $TMPDIR/r commit -q --allow-empty -m 2");
        let (status, _, errors) = desk.sh(&["--policy", &policy], &line);
        assert_eq!(status, 126, "{plant}: {errors}");
        assert!(errors.contains("needs approval"), "{plant}: {errors}");
    }
}

/// A program in the cage `workspace` may write a repository of its own below the project. Outside of the cage git would
/// run its hooks.
#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn git_runs_no_hooks_unasked_that_have_changed_since_the_session_began() {
    let desk = Desk::new();
    let policy = desk.path("policy.yaml");
    fs::write(&policy, "default: enabled\napproval: {global: destructive, project: write, headless: deny}\n").unwrap();
    let options = ["--cage", "workspace", "--policy", &policy.display().to_string()];
    fs::write(desk.path("home/.gitconfig"), "[user]\n\tname = a\n\temail = a@example.com\n").unwrap();
    fs::create_dir_all(desk.path("project/tools/hooks")).unwrap();
    let hook = desk.path("project/tools/hooks/pre-commit");
    fs::write(&hook, "#!/bin/sh\necho hook >> ran\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    for words in ["init -q", "config core.hooksPath tools/hooks", "init -q sub"] {
        let done = Command::new("git").args(words.split(' ')).current_dir(desk.path("project")).status().unwrap();
        assert!(done.success(), "{words}");
    }

    // A hook counts as old once the clock has gone on.
    let commit = "git commit -q --allow-empty -m 1 && git -C sub commit -q --allow-empty -m 1";
    until("hooks that were there run", || desk.sh(&options, commit).0 == 0);
    assert!(desk.path("project/ran").exists());
    fs::remove_file(desk.path("project/ran")).unwrap();

    for plant in [
        "f = 'sub/.git/hooks/pre-commit'; open(f, 'w').write('#!/bin/sh\\ntouch ../ran\\n'); os.chmod(f, 0o755)",
        "open('sub/.git/config', 'a').write('[core]\\n\\tfsmonitor = touch ../ran\\n')",
    ] {
        for git in ["git", "rtk git"] {
            let line = format!("python3 -c \"import os; {plant}\" && {git} -C sub commit -q --allow-empty -m 2");
            let (status, _, errors) = desk.sh(&options, &line);
            assert_eq!(status, 126, "{plant}: {git}: {errors}");
            assert!(errors.contains("needs approval"), "{plant}: {git}: {errors}");
        }
        fs::remove_file(desk.path("project/sub/.git/hooks/pre-commit")).unwrap_or_default();
    }

    let change = "python3 -c \"open('tools/hooks/pre-commit', 'a').write('touch ran')\"";
    let (_, _, errors) = desk.sh(&options, change);
    assert!(errors.contains("Read-only file system"), "{errors}");
    let (_, _, errors) = desk.sh_without_namespaces(&options, change);
    assert!(!fs::read_to_string(&hook).unwrap().contains("touch"), "{errors}");
    let (status, _, errors) = desk.sh(&options, "echo 'touch ran' > tools/hooks/pre-commit");
    assert!(status == 126 && errors.contains("needs approval"), "{errors}");
    assert!(!desk.path("project/ran").exists());
}
