//! Temporary files and caches of programs in cages: who makes, shares and removes them.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::caged_project::{Desk, run_line, server};
use crate::support::{run, text, until};

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn programs_make_the_temporary_files_that_they_name() {
    for isolation in [None, Some("landlock")] {
        let desk = Desk::new();
        fs::create_dir(desk.path("tmp")).unwrap();
        fs::write(desk.path("tmp/old"), "old\n").unwrap();
        let top = desk.path("tmp").canonicalize().unwrap().display().to_string();
        let sh = |cage: &str, line: &str| {
            let mut command = desk.climax();
            command.env("TMPDIR", &top).envs(isolation.map(|name| ("CLIMAX_ISOLATION", name)));
            run(command.args(["sh", "--cage", cage, "-c", &line.replace("TOP", &top)]))
        };
        let named = |name: &str| desk.path("tmp").join(name);

        let made = sh(
            "workspace",
            "bash --norc -c 'echo a > TOP/new; [ -e TOP/other ] || echo none'; cat TOP/new; rm TOP/new",
        );
        assert_eq!((made.0, made.1.as_str()), (0, "none\na\n"), "{}", made.2);
        let line = "bash --norc -c 'mkdir -p \"$1\"; echo b > \"$1\"/x' -- --outdir=TOP/no; \
                    bash --norc -c 'mkdir -p \"$2\"; echo b > \"$2\"/x' -- --outdir TOP/d; cat TOP/d/x";
        assert_eq!(sh("workspace", line).1, "b\n");
        assert_eq!(fs::read_to_string(named("d/x")).unwrap(), "b\n");
        fs::remove_dir_all(named("d")).unwrap();
        // A directory is one, and no link to one. It goes if it stays empty.
        let line = "bash --norc -c '[ -d \"$3\" ] && [ ! -h \"$3\" ] && echo c > \"$3/x\"' -- venv --clear TOP/e; cat TOP/e/x; \
                    bash --norc -c '[ -d \"$2\" ] && ! mv \"$2\" \"$2\"2 2> /dev/null' -- -B TOP/empty && [ ! -e TOP/empty ] && echo gone";
        let made = sh("workspace", line);
        assert_eq!(made.1, "c\ngone\n", "{}", made.2);
        fs::remove_dir_all(named("e")).unwrap();

        // What is there already is not the line's, other names are not opened, and what reads makes nothing.
        for (cage, line) in [
            ("workspace", "bash --norc -c 'echo a > TOP/old'"),
            ("workspace", "bash --norc -c 'cd TOP; echo a > unnamed'"),
            ("workspace", "bash --norc -c 'echo a > TOP/.hidden'"),
            ("read", "bash --norc -c 'echo a > TOP/new'"),
        ] {
            assert_ne!(sh(cage, line).0, 0, "{line}");
        }
        // A link in the place of the file would lead elsewhere.
        let planted = "bash --norc -c 'ln -s ../../home/.ssh/id_ed25519 $(readlink TOP/link)'; cat TOP/link";
        assert!(!sh("workspace", planted).1.contains("secret"), "{planted}");
        assert_eq!(fs::read_to_string(named("old")).unwrap(), "old\n");
        let left: Vec<_> = fs::read_dir(desk.path("tmp")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["old"]);
    }
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn caged_programs_write_the_temporary_files_that_their_line_has_made() {
    let desk = Desk::new();
    let temporary = desk.path("tmp");
    fs::create_dir(&temporary).unwrap();
    let known = temporary.join("known");
    fs::write(&known, "known\n").unwrap();
    fs::create_dir(temporary.join("others")).unwrap();
    let write = "bash --norc -c 'echo caged > $0'";
    let of = |line: &str| line.replace("WRITE", write).replace("TMP", &temporary.display().to_string());

    for isolation in ["", "landlock"] {
        let sh = |line: &str| {
            let mut climax = desk.climax();
            climax.env("TMPDIR", &temporary).env("CLIMAX_ISOLATION", isolation);
            run(climax.args(["sh", "-c", &of(line)]))
        };
        for line in [
            "F=$(mktemp); WRITE \"$F\"; cat \"$F\"; rm \"$F\"",
            "D=$(mktemp -d); WRITE \"$D/a\"; cat \"$D/a\"; rm -r \"$D\"",
            "echo line > TMP/new; WRITE TMP/new; cat TMP/new; rm TMP/new",
            "mkdir -p TMP/d/e; WRITE TMP/d/e/f; cat TMP/d/e/f; rm -r TMP/d",
            // Its config does not say which files it makes.
            "git init -q TMP/g; WRITE TMP/g/f; cat TMP/g/f; rm -rf TMP/g",
        ] {
            assert_eq!(sh(line), (0, "caged\n".to_owned(), String::new()), "{isolation} {line}");
        }
        // What others made, what lies deeper, where a cage could put a link in its place, and what only has a new name or
        // leads elsewhere.
        for line in [
            "WRITE TMP/known",
            "ln TMP/known TMP/name; WRITE TMP/name; rm TMP/name",
            "ln -s TMP/known TMP/link; WRITE TMP/link; rm TMP/link",
            "ln -s TMP/.. TMP/up; WRITE TMP/up/outside; rm TMP/up",
            "mktemp -u | tail -n 0; WRITE TMP/other",
            "echo line > TMP/others/new; WRITE TMP/others/new; rm TMP/others/new",
            "mkdir TMP/others/d; WRITE TMP/others/d/f; rmdir TMP/others/d",
            "echo line > new; WRITE new; rm new",
        ] {
            let (_, stdout, stderr) = sh(line);
            assert!(stdout.is_empty() && !stderr.is_empty(), "{isolation} {line}: {stdout}{stderr}");
        }
    }
    assert_eq!(fs::read_to_string(&known).unwrap(), "known\n");
    assert_eq!(fs::read_to_string(desk.path("outside")).unwrap(), "outside of the project\n");
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn caged_programs_keep_their_caches_by_project_and_cage() {
    let desk = Desk::new();
    let sh = |cage: &str, line: &str| desk.sh(&["--cage", cage], line);
    let keep = "bash --norc -c 'mkdir -p $GOCACHE && echo kept > $GOCACHE/a'";
    let show = "bash --norc -c 'cat $GOCACHE/a; echo $GOCACHE'";
    assert_eq!(sh("read", keep), (0, String::new(), String::new()));
    let (_, stdout, stderr) = sh("read", show);
    let (content, path) = stdout.split_once('\n').unwrap();
    assert_eq!((content, stderr.as_str()), ("kept", ""));
    assert!(path.starts_with(desk.path("home/.cache/climax/projects").to_str().unwrap()), "{path}");
    // What a program that may only read has left there is not built into anything.
    let (_, stdout, _) = sh("workspace", show);
    assert!(!stdout.contains("kept") && stdout != path, "{stdout}");
    assert_ne!(sh("workspace", &format!("bash --norc -c 'echo > {}/b'", path.trim_end())).0, 0);
    // A home directory that cannot be written has none, and programs run as before.
    let unwritable = run(desk.climax().env("HOME", "/proc/none").args(["sh", "-c", keep]));
    assert_eq!(unwritable, (0, String::new(), String::new()));
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn temporary_files_go_with_a_server_that_is_killed() {
    let desk = Desk::new();
    let mut server = server(&desk, &[]);
    let said = run_line(
        &mut server,
        &json!({ "command": "bash --norc -c 'mkdir $TMPDIR/a; echo > $TMPDIR/a/b; echo $TMPDIR'" }),
    );
    let directory = PathBuf::from(text(&said));
    assert!(directory.join("a/b").exists(), "{said}");
    server.child.kill().unwrap();
    until("the directory to be removed", || !directory.exists());
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn calls_that_follow_one_another_share_nothing_but_temporary_files() {
    let desk = Desk::new();
    let mut server = server(&desk, &[]);
    // Each but the first gets a child that was started before it.
    for round in 0..4 {
        let line = "bash --norc -c 'echo kept > /dev/shm/file; ls /dev/shm; cat notes; echo $round; exit 3'";
        let line = line.replace("$round", &round.to_string());
        let said = run_line(&mut server, &json!({ "command": line }));
        let said = text(&said);
        assert!(said.contains(&format!("file\nnotes of the project\n{round}")) && said.contains('3'), "{said}");
        let gone = run_line(&mut server, &json!({ "command": "bash --norc -c 'ls /dev/shm; echo $LD_PRELOAD'" }));
        assert!(!text(&gone).contains("file"), "{gone}");
    }
    // A secret that comes later is hidden too.
    fs::write(desk.path("project/late.env"), "TOKEN=secret-of-later\n").unwrap();
    let said = run_line(&mut server, &json!({ "command": "bash --norc -c 'cat late.env'" }));
    assert!(!text(&said).contains("secret-of-later"), "{said}");
}

/// A directory whose name has line breaks makes `mktemp` print paths of others.
#[test]
fn what_mktemp_prints_opens_no_files_of_others() {
    let desk = Desk::new();
    let key = desk.path("home/.ssh/id_ed25519");
    let read = format!("python3 -c 'print(open(\"{}\").read())'", key.display());
    let made = format!("d=$TMPDIR/a$'\\n'{}$'\\n'; mkdir -p \"$d\"; mktemp -p \"$d\"; {read}", key.display());
    let (status, output, errors) = desk.sh(&[], &made);
    assert!(status != 0 && !output.contains("secret"), "{output}{errors}");
}
