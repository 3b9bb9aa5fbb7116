//! Cages: programs that no config describes, in command lines, with the kernel that runs the tests.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Server, climax, fakecli, run, text, until};

/// A project in a home directory, with a secret and a repository.
struct Desk {
    root: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let desk = Self { root };
        for directory in ["project/.git/hooks", "project/conf", "home/.ssh"] {
            fs::create_dir_all(desk.path(directory)).unwrap();
        }
        for (file, text) in [
            ("project/notes", "notes of the project\n"),
            ("project/.env", "TOKEN=secret-of-the-project\n"),
            ("project/conf/.env", "TOKEN=secret-of-conf\n"),
            ("project/.env.example", "TOKEN=\n"),
            ("project/conf/script", "#!/bin/sh\necho script\n"),
            ("project/.git/config", "[core]\n"),
            ("home/.ssh/id_ed25519", "secret-of-the-home\n"),
            ("outside", "outside of the project\n"),
        ] {
            fs::write(desk.path(file), text).unwrap();
        }
        fs::set_permissions(desk.path("project/conf/script"), fs::Permissions::from_mode(0o700)).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Returns `climax` in the project, where `name` is the home directory's.
    fn climax(&self) -> Command {
        let mut command = climax();
        command.current_dir(self.path("project")).env("HOME", self.path("home"));
        command
    }

    /// Runs a line: the exit status, standard output and standard error.
    fn sh(&self, options: &[&str], line: &str) -> (i32, String, String) {
        run(self.climax().arg("sh").args(options).args(["-c", line]))
    }

    /// The same on a kernel that cannot make namespaces.
    fn sh_without_namespaces(&self, options: &[&str], line: &str) -> (i32, String, String) {
        run(self.climax().env("CLIMAX_ISOLATION", "landlock").arg("sh").args(options).args(["-c", line]))
    }
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn programs_of_an_environment_that_install_reach_the_network_and_write_the_project_alone() {
    let desk = Desk::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    fs::create_dir_all(desk.path("project/.venv/bin")).unwrap();
    fs::write(desk.path("project/.venv/pyvenv.cfg"), "").unwrap();
    fs::write(desk.path("project/.venv/bin/activate"), "").unwrap();
    let pip = desk.path("project/.venv/bin/pip");
    let script = format!(
        "#!/bin/bash\necho made > made && echo wrote; echo out > ../outside; cat .env ~/.ssh/id_ed25519\n\
         : < /dev/tcp/{}/{} && echo connected\n",
        address.ip(),
        address.port()
    );
    fs::write(&pip, script).unwrap();
    fs::set_permissions(&pip, fs::Permissions::from_mode(0o700)).unwrap();

    for line in ["source .venv/bin/activate && pip install six", ".venv/bin/pip install six"] {
        assert_eq!(desk.sh(&[], line).1, "wrote\nconnected\n", "{line}");
    }
    let found = desk.sh(&[], "source .venv/bin/activate && which pip && command -v pip && type -P pip");
    assert_eq!(found.1, format!("{}\n", pip.canonicalize().unwrap().display()).repeat(3), "{}", found.2);
    for (options, line) in [
        (&[][..], ".venv/bin/pip list"),
        (&["--policy", "narrow.yaml"], ".venv/bin/pip install six"),
        (&["--cage", "workspace"], ".venv/bin/pip --unheard-of"),
    ] {
        fs::write(desk.path("project/narrow.yaml"), "default: enabled\nlines: {widest: read}\n").unwrap();
        assert!(!desk.sh(options, line).1.contains("connected"), "{line}");
    }
    assert_eq!(fs::read_to_string(desk.path("outside")).unwrap(), "outside of the project\n");

    // It writes, and what the line has read it could send anywhere.
    for (asks, line) in
        [("write", ".venv/bin/pip install six"), ("destructive", "x=$(cat notes); .venv/bin/pip install \"$x\"")]
    {
        let asking = format!("default: enabled\napproval: {{global: {asks}, headless: deny}}\n");
        fs::write(desk.path("project/asking.yaml"), asking).unwrap();
        let (status, stdout, stderr) = desk.sh(&["--policy", "asking.yaml"], line);
        assert!(status != 0 && stdout.is_empty() && stderr.contains("approv"), "{line}: {stdout}{stderr}");
    }
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn programs_installed_in_the_project_have_the_cage_of_the_described_ones() {
    let desk = Desk::new();
    for directory in ["project/.venv/bin", "project/node_modules/.bin"] {
        fs::create_dir_all(desk.path(directory)).unwrap();
    }
    for file in ["project/.venv/pyvenv.cfg", "project/.venv/bin/activate"] {
        fs::write(desk.path(file), "").unwrap();
    }
    for name in [".venv/bin/pytest", ".venv/bin/python", ".venv/bin/other", "node_modules/.bin/jest"] {
        let program = desk.path("project").join(name);
        let script = "#!/bin/sh\n(echo made > made) 2>&- && echo wrote; (echo out > ../outside) 2>&-; cat .env 2>&-\n";
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    }
    fs::write(desk.path("project/narrow.yaml"), "default: enabled\nlines: {widest: read}\n").unwrap();

    for line in [
        ".venv/bin/pytest -q",
        ".venv/bin/python -m pytest -q",
        "source .venv/bin/activate && pytest -q",
        "source .venv/bin/activate && python -m pytest -q",
        "node_modules/.bin/jest",
        "./node_modules/.bin/jest --ci",
    ] {
        let (_, output, errors) = desk.sh(&[], line);
        assert_eq!(output, "wrote\n", "{line}: {errors}");
        let (_, output, errors) = desk.sh(&["--policy", "narrow.yaml"], line);
        assert_eq!(output, "", "{line}: {errors}");
    }
    for line in [".venv/bin/python notes", ".venv/bin/other"] {
        assert_eq!(desk.sh(&[], line).1, "", "{line}");
    }
    assert_eq!(fs::read_to_string(desk.path("outside")).unwrap(), "outside of the project\n");
}

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
fn unknown_programs_read_the_project_and_write_temporary_files() {
    let desk = Desk::new();
    let outside = desk.path("outside").display().to_string();
    for sh in [Desk::sh, Desk::sh_without_namespaces] {
        let sh = |line: &str| sh(&desk, &[], line);
        assert_eq!(sh("bash --norc -c 'cat notes'"), (0, "notes of the project\n".to_owned(), String::new()));
        assert_eq!(sh("bash --norc -c 'cat .env.example'").1, "TOKEN=\n");
        assert_eq!(sh("bash --norc -c 'echo a > $TMPDIR/b && cat $TMPDIR/b'").1, "a\n");
        assert_eq!(sh("bash --norc -c 'exit 7'").0, 7);
        assert_eq!(sh("cd conf && ./script").1, "script\n");
        assert_eq!(sh("cd conf && timeout 5 ./script").1, "script\n");
        assert_eq!(sh("bash --norc -c 'kill -TERM $$'").0, 128 + 15);
        assert_eq!(sh("printf 'b\\na\\n' | bash --norc -c sort").1, "a\nb\n");
        for (line, path) in [
            ("bash --norc -c 'cat .env'", ".env"),
            ("bash --norc -c 'cat conf/.env'", "conf/.env"),
            ("bash --norc -c 'cat ~/.ssh/id_ed25519'", "id_ed25519"),
            ("bash --norc -c 'echo a > new'", "new"),
            ("bash --norc -c 'rm notes'", "notes"),
            (&format!("bash --norc -c 'cat {outside}'"), "outside"),
            (&format!("bash --norc -c 'echo a > {outside}'"), "outside"),
            ("timeout 5 bash --norc -c 'cat .env'", ".env"),
        ] {
            let (status, stdout, stderr) = sh(line);
            assert!(status != 0 && stdout.is_empty() && stderr.contains(path), "{line}: {stdout}{stderr}");
            let last = stderr.lines().last().unwrap();
            assert!(last.contains("in the cage `read`") && last.contains("had no network"), "{line}: {last}");
        }
        // Only a failure of the line is one.
        assert_eq!(sh("bash --norc -c 'exit 3' || echo no"), (0, "no\n".to_owned(), String::new()));
        let (status, _, stderr) = sh("bash --norc -c 'echo a > new' 2>&1 | cat");
        assert!(status == 0 && stderr.contains("in the cage `read`"), "{stderr}");
        let (status, _, stderr) = sh("bash --norc -c 'echo a > new' && cat new; true");
        assert!(status == 0 && stderr.contains("in the cage `read`"), "what `&&` leaves out is told: {stderr}");
    }
    assert_eq!(fs::read_to_string(desk.path("outside")).unwrap(), "outside of the project\n");
    assert!(desk.path("project/notes").exists() && !desk.path("project/new").exists());
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
fn workspace_writes_in_the_project_but_not_what_other_programs_load() {
    let desk = Desk::new();
    fs::create_dir(desk.path("project/.vscode")).unwrap();
    let sh = |line: &str| desk.sh(&["--cage", "workspace"], line);
    assert_eq!(sh("bash --norc -c 'echo a > new && chmod +x new && mkdir d && mv new d/n && cat d/n'").1, "a\n");
    for line in [
        "bash --norc -c 'echo a > .git/config'",
        "bash --norc -c 'echo a > .git/hooks/pre-commit'",
        "bash --norc -c 'mv .git elsewhere'",
        "bash --norc -c 'rm -rf .git'",
        "bash --norc -c 'echo a > .vscode/tasks.json'",
        "bash --norc -c 'cat .env'",
        "bash --norc -c 'mv conf c && cat c/.env'",
        "bash --norc -c 'echo a > ../outside'",
        "bash --norc -c 'chmod 777 ../outside'",
    ] {
        let (status, stdout, stderr) = sh(line);
        assert!(status != 0 && !stdout.contains("secret"), "{line}: {stdout}{stderr}");
    }
    assert_eq!(fs::read_to_string(desk.path("project/.git/config")).unwrap(), "[core]\n");
    assert!(!desk.path("project/.git/hooks/pre-commit").exists());

    // A directory where programs are found is no place for new ones.
    fs::create_dir_all(desk.path("project/venv/bin")).unwrap();
    let search_path = format!("{}:{}", desk.path("project/venv/bin").display(), std::env::var("PATH").unwrap());
    let plant =
        "bash --norc -c 'PATH=/usr/bin:/bin; echo a > venv/bin/git || mv venv other || echo planted > venv/new'";
    let planted = run(desk.climax().env("PATH", search_path).args(["sh", "--cage", "workspace", "-c", plant]));
    assert!(planted.0 == 0 && !desk.path("project/venv/bin/git").exists(), "{planted:?}");
    assert!(desk.path("project/venv/new").exists(), "{planted:?}");

    let (status, _, stderr) = sh("bash --norc -c 'mkdir .idea; echo a > .envrc; echo a > plain'");
    let [made, aside, plain] = [".envrc", ".envrc.aside", "plain"].map(|name| desk.path("project").join(name));
    assert!(status == 0 && !made.exists() && aside.exists() && plain.exists(), "{stderr}");
    assert!(stderr.contains("to put it back: mv ") && stderr.contains(".idea.aside"), "{stderr}");

    let (status, _, stderr) = sh("bash --norc -c 'mkdir -p sub/.vscode target/.vscode'");
    assert!(
        status == 0 && stderr.contains("sub/.vscode was made or changed") && !stderr.contains("target"),
        "{stderr}"
    );
    // Times of files may lag behind the clock, so that what has just changed is named once more.
    let changed = |name: &str| {
        let about = desk.path(name).metadata().unwrap();
        about.ctime() * 1_000_000_000 + about.ctime_nsec()
    };
    until("the time of files to go on", || {
        fs::write(desk.path("outside"), "").unwrap();
        changed("outside") > changed("project/sub/.vscode") + 50_000_000
    });
    let (status, _, stderr) = sh("bash --norc -c 'ls sub/.vscode'");
    assert!(status == 0 && stderr.is_empty(), "{stderr}");
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn without_namespaces_protected_names_are_put_back() {
    let desk = Desk::new();
    fs::create_dir(desk.path("project/.vscode")).unwrap();
    fs::write(desk.path("project/.vscode/tasks.json"), "{}").unwrap();
    fs::create_dir_all(desk.path("project/src")).unwrap();
    let project = |name: &str| desk.path("project").join(name);
    let sh = |line: &str| desk.sh_without_namespaces(&["--cage", "workspace"], line);
    assert_eq!(
        sh("bash --norc -c 'echo a > src/new && cat src/new && echo b > top'"),
        (0, "a\n".to_owned(), String::new())
    );
    assert!(project("top").exists());

    let (status, _, stderr) = sh("bash --norc -c 'echo evil > .git/hooks/pre-commit; rm -r .vscode; echo > .envrc'");
    let [back, moved] = ["has been put back", "was moved to"].map(|part| stderr.matches(part).count());
    assert!(status == 0 && (back, moved) == (2, 1), "{stderr}");
    assert!(!project(".git/hooks/pre-commit").exists() && project(".git.aside/hooks/pre-commit").exists());
    assert_eq!(fs::read_to_string(project(".vscode/tasks.json")).unwrap(), "{}");

    // Secrets are not read, and are put back as well.
    let (_, stdout, stderr) = sh("bash --norc -c 'cat .env conf/.env; mv .env e; cat e; rm -r conf'");
    assert!(
        !stdout.contains("secret") && stderr.contains(".env was removed, and has been put back"),
        "{stdout}{stderr}"
    );
    assert_eq!(fs::read_to_string(project("conf/.env")).unwrap(), "TOKEN=secret-of-conf\n");

    // Nothing outlives the run, and changes them later.
    let late =
        "bash --norc -c 'setsid sh -c \"sleep 1; echo evil > .git/late\" & (sleep 1; echo evil > .git/late) & true'";
    assert_eq!(sh(late).0, 0);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert!(!project(".git/late").exists());

    let policy = desk.path("policy.yaml");
    fs::write(&policy, "default: enabled\napproval: {global: none}\nlines: {protect: kernel}\n").unwrap();
    let options = ["--policy", policy.to_str().unwrap(), "--cage", "workspace"];
    let (status, _, stderr) = desk.sh_without_namespaces(&options, "bash --norc -c 'echo a > new'");
    assert!(status != 0 && stderr.contains("lines.protect") && !project("new").exists(), "{stderr}");
    assert_eq!(desk.sh(&options, "bash --norc -c 'echo a > new'").0, 0);
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn programs_in_a_cage_have_a_loopback_and_no_other_network() {
    let desk = Desk::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = format!("bash --norc -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
    for (status, _, stderr) in [desk.sh(&[], &line), desk.sh_without_namespaces(&[], &line)] {
        assert!(status != 0 && !stderr.is_empty(), "{stderr}");
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "the port of the machine was not reached");
    let interfaces = desk.sh(&[], "bash --norc -c 'cat /proc/net/dev'").1;
    assert_eq!(
        interfaces.lines().skip(2).filter(|line| !line.trim_start().starts_with("lo:")).count(),
        0,
        "{interfaces}"
    );
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn the_port_of_a_caged_server_is_shown_to_programs_that_list_sockets() {
    let desk = Desk::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = format!(
        "import socket, time; s = socket.create_server((\"127.0.0.1\", {port})); open(\"ready\", \"w\"); time.sleep(30)"
    );
    for list in [format!("ss -Htln 'sport = :{port}'"), format!("lsof -nP -iTCP:{port}")] {
        let program = list.split(' ').next().unwrap();
        // Not every machine has both.
        if desk.sh(&[], &format!("command -v {program}")).0 != 0 {
            continue;
        }
        let line =
            format!("python3 -c '{server}' & until [ -e ready ]; do sleep 0.05; done; {list}; kill %1; rm ready");
        let (_, listed, stderr) = desk.sh(&["--cage", "workspace"], &line);
        assert!(listed.contains(&format!(":{port} ")), "{list}: {listed}{stderr}");
    }
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn programs_in_a_cage_connect_to_their_own_unix_sockets_alone() {
    const PROGRAM: &str = "\
import os, socket, sys, tempfile, threading
own = os.path.join(tempfile.gettempdir(), 'own')
listener = socket.socket(socket.AF_UNIX)
listener.bind(own)
listener.listen()
def serve():
    for _ in range(3):
        listener.accept()[0].sendall(b'hello')
threading.Thread(target=serve, daemon=True).start()
os.chdir(tempfile.gettempdir())
print(*(connected.recv(9) for to in (own, 'own', own) for connected in [socket.socket(socket.AF_UNIX)]
        if connected.connect(to) is None))
web = socket.create_server(('127.0.0.1', 0))
print(socket.create_connection(web.getsockname()).getpeername() == web.getsockname())
for to in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(to)
        print('connected', to)
    except OSError as error:
        print(type(error).__name__)
";
    let desk = Desk::new();
    fs::write(desk.path("project/sockets.py"), PROGRAM).unwrap();
    let [beside, within] = [desk.path("socket"), desk.path("project/socket")];
    let _listeners = [&beside, &within].map(|path| std::os::unix::net::UnixListener::bind(path).unwrap());
    let line = format!("python3 sockets.py {} {}", beside.display(), within.display());
    for cage in ["read", "workspace"] {
        let (status, stdout, stderr) = desk.sh(&["--cage", cage], &line);
        let expected = "b'hello' b'hello' b'hello'\nTrue\nPermissionError\nPermissionError\n";
        assert_eq!((status, stdout.as_str()), (0, expected), "{cage}: {stderr}");
    }
    // Without namespaces nothing tells one socket from another.
    let (_, _, stderr) = desk.sh_without_namespaces(&[], &line);
    assert!(stderr.contains("PermissionError"), "{stderr}");
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn programs_of_a_session_reach_a_server_that_runs_in_a_cage() {
    let desk = Desk::new();
    fs::copy(fakecli(), desk.path("project/program")).unwrap();
    // The machine has another server at the same port, which nothing may mistake for that of the session.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let ask = format!("curl --silent --max-time 5 http://{address}/");
    let caged = format!("./program try connect {address}");

    let line = format!(
        "until timeout 5 ./program try connect {address} | grep -q ok; do sleep 0.02; done & \
         ./program serve {address} & wait %1; {ask}; timeout 5 {ask}; {caged}; echo; kill %2; wait %2; {caged} | grep -c refused"
    );
    let (_, stdout, stderr) = desk.sh(&[], &line);
    assert_eq!(stdout, "served in the session\nserved in the session\nok\n1\n", "{stderr}");
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "the port of the machine was not reached");

    let mut server = server(&desk, &["--detach-after", "0.1"]);
    run_line(&mut server, &json!({ "command": format!("./program serve {address}") }));
    until("the job serves", || text(&run_line(&mut server, &json!({ "command": caged }))).contains("ok"));
    // An answer that comes late goes on as a job.
    until("the server answers", || {
        text(&run_line(&mut server, &json!({ "command": ask }))).contains("served in the session")
    });
    drop(server);

    // Without a server in the session, the machine's answers.
    let machine = std::thread::spawn(move || {
        listener.set_nonblocking(false).unwrap();
        let mut connection = listener.incoming().next().unwrap().unwrap();
        let _ = connection.read(&mut [0; 4096]);
        connection.write_all(b"HTTP/1.0 200 OK\r\n\r\nserved by the machine\n").unwrap();
    });
    let (_, stdout, stderr) = desk.sh(&[], &format!("bash --norc -c true; {ask}"));
    assert_eq!(stdout, "served by the machine\n", "{stderr}");
    machine.join().unwrap();
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn policy_flag_and_system_decide_about_unknown_programs() {
    let desk = Desk::new();
    let policy = |text: &str| {
        let path = desk.path("policy.yaml");
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let is_run = |policy: Option<String>, more: &[&str], line: &str| {
        let mut options: Vec<&str> = more.to_vec();
        options.extend(policy.iter().flat_map(|path| ["--policy", path]));
        let (status, _, stderr) = desk.sh(&options, line);
        assert!(status == 0 || stderr.contains("no tool runs"), "{line}: {stderr}");
        status == 0
    };
    let line = "bash --norc -c true";
    assert!(is_run(None, &[], line));
    assert!(is_run(Some(policy("default: enabled\napproval: {global: none}\n")), &[], line));
    assert!(!is_run(Some(policy("default: enabled\ndeny: [git_push]\n")), &[], line), "a policy that names tools");
    assert!(!is_run(Some(policy("tools: {coreutils_ls: {}}\n")), &[], line));
    assert!(is_run(Some(policy("tools: {coreutils_ls: {}}\nlines: {unknown: read}\n")), &[], line));
    assert!(!is_run(Some(policy("default: enabled\nlines: {unknown: refuse}\n")), &["--unknown", "workspace"], line));
    assert!(!is_run(None, &["--unknown", "refuse"], line));
    assert!(!is_run(None, &["--confine", "off"], line));
    assert!(is_run(None, &["--unknown", "workspace"], "bash --norc -c 'echo a > made'"));

    let (status, _, stderr) = run(desk.climax().env("CLIMAX_ISOLATION", "none").args(["sh", "-c", line]));
    assert!(status == 127 && stderr.contains("no tool runs"), "{stderr}");
    let narrow = policy("default: enabled\napproval: {global: none}\nlines: {widest: read}\n");
    let (status, _, stderr) = desk.sh(&["--policy", &narrow, "--cage", "workspace"], line);
    assert!(status != 0 && stderr.contains("nothing wider than the cage `read`"), "{stderr}");
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn programs_run_without_a_cage_only_where_the_policy_says_so_and_after_a_question() {
    let desk = Desk::new();
    let path = desk.path("policy.yaml");
    let policy = path.display().to_string();
    let line = "bash --norc -c 'echo made > ../outside'";
    let sh = |text: &str, line: &str| {
        fs::write(&path, text).unwrap();
        desk.sh(&["--policy", &policy, "--cage", "none"], line)
    };
    let (status, _, stderr) = sh("default: enabled\napproval: {global: none}\n", line);
    assert!(status == 2 && stderr.contains("nothing wider than the cage `workspace`"), "{stderr}");
    let widest = "default: enabled\napproval: {global: none, headless: approve}\nlines: {widest: none}\n";
    let (status, _, stderr) = sh(widest, line);
    assert!(status == 126 && stderr.contains("cannot be asked here"), "{stderr}");
    let (_, stdout, stderr) = sh(widest, "echo first; for x in a b; do bash --norc -c \"echo $x\"; done");
    assert!(stdout.is_empty() && stderr.contains("cannot"), "nothing runs before it is refused: {stdout}{stderr}");
    assert_eq!(sh(widest, "echo a | cat; timeout 5 ls *.none").0, 2, "what has no cage is not asked about");

    let mut server = server_that_asks(&desk, &policy);
    for (answer, is_made) in [("decline", false), ("accept", true)] {
        let request = server
            .post("tools/call", json!({ "name": "climax_run", "arguments": { "command": line, "cage": "none" } }));
        let question = server.receive();
        let said = question["params"]["message"].as_str().unwrap();
        assert!(said.contains("No cage holds the program") && said.contains("> ../outside"), "{question}");
        server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": answer } }));
        assert_eq!(server.receive()["id"], request);
        assert_eq!(fs::read_to_string(desk.path("outside")).unwrap().contains("made"), is_made);
    }
}

/// A server under a policy, whose client can be asked.
fn server_that_asks(desk: &Desk, policy: &str) -> Server {
    let mut command = desk.climax();
    command.args(["--meta", "run", "--policy", policy]);
    let mut server = Server::spawn(&mut command);
    let client = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} }, "clientInfo": client });
    server.request("initialize", hello);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    server
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn described_and_reporting_programs_are_not_caged_as_unknown() {
    let desk = Desk::new();
    let policy = none_of_git(&desk);
    for line in ["git push", "jq .", "timeout 5 git push"] {
        let (status, _, stderr) = desk.sh(&["--policy", &policy], line);
        assert!(status == 127 && stderr.contains("no tool runs"), "{line}: {stderr}");
    }
    for (program, reason) in [("htop", "its own alone"), ("sudo ls", "rights of others")] {
        let (status, _, stderr) = desk.sh(&[], program);
        assert!(status == 127 && stderr.contains(reason), "{program}: {stderr}");
    }
    // A subcommand that no tool takes is no unknown program.
    assert_eq!(desk.sh(&[], "git frobnicate").0, 127);
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn described_programs_are_asked_about_themselves_in_a_cage() {
    let desk = Desk::new();
    for (line, said) in [
        ("seq --version", "seq"),
        ("timeout 5 chmod --help", "Usage: chmod"),
        ("git stash --help", "git"),
        ("cargo build -h", "cargo build"),
        ("git help stash", "git"),
    ] {
        let (status, stdout, stderr) = desk.sh(&[], line);
        assert!(status == 0 && stdout.to_lowercase().contains(&said.to_lowercase()), "{line}: {stdout}{stderr}");
    }
    let policy = none_of_git(&desk);
    let refused: [(&[&str], &str); 4] = [
        // Another word than one of its commands is nothing that such a program is asked about.
        (&[], "chmod ./a --help"),
        (&[], "touch made --version --help"),
        (&["--unknown", "refuse"], "seq --version"),
        (&["--policy", &policy], "git stash --help"),
    ];
    for (options, line) in refused {
        let (status, stdout, _) = desk.sh(options, line);
        assert!([2, 127].contains(&status) && stdout.is_empty(), "{options:?} {line}: {status} {stdout}");
    }
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn refusals_of_what_a_shell_reads_name_a_shell_in_a_cage_where_one_may_run() {
    let desk = Desk::new();
    let way_on = "by `bash -c";
    for line in ["a=(1 2); echo ${a[1]}", "f() { echo hi; }; f", "trap 'echo bye' EXIT; echo hi"] {
        let (status, _, stderr) = desk.sh(&[], line);
        assert!(status == 2 && stderr.contains(way_on), "{line}: {stderr}");
        let (_, _, stderr) = desk.sh(&["--unknown", "refuse"], line);
        assert!(!stderr.contains(way_on), "{line}: {stderr}");

        let (status, stdout, stderr) = desk.sh(&[], &format!("bash -c '{}'", line.replace('\'', "\"")));
        assert!(status == 0 && !stdout.is_empty(), "{line}: {stdout}{stderr}");
    }
    let (_, _, stderr) = desk.sh(&[], "echo 'a");
    assert!(!stderr.contains(way_on), "{stderr}");
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn a_line_that_succeeds_says_in_which_cage_a_program_of_it_failed() {
    let desk = Desk::new();
    for line in ["bash --norc -c 'echo a > made'; echo after", "bash --norc -c 'echo a > made' | cat"] {
        let (status, _, stderr) = desk.sh(&[], line);
        assert!(status == 0 && stderr.contains("`bash` ran in the cage `read`"), "{line}: {stderr}");
    }
    for line in [
        "bash --norc -c 'echo a'; echo after",
        "grep nothing notes; echo after",
        "if bash --norc -c 'exit 3'; then echo a; fi; echo after",
    ] {
        assert_eq!(desk.sh(&[], line).2, "", "{line}");
    }
}

/// Writes a policy that serves nothing of git, and returns its path.
fn none_of_git(desk: &Desk) -> String {
    let path = desk.path("policy.yaml");
    fs::write(&path, "tools: {coreutils_ls: {}}\nlines: {unknown: read}\n").unwrap();
    path.display().to_string()
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn nothing_outlives_a_caged_program() {
    let desk = Desk::new();
    let is_running = |mark: &str| {
        let found = |entry: fs::DirEntry| fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let processes = fs::read_dir("/proc").unwrap().flatten().map(found);
        processes.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).any(|line| line.starts_with(mark))
    };
    let line = "bash --norc -c 'setsid sleep 4711 & disown; (trap \"\" TERM HUP; exec sleep 4712) & exit 3'";
    assert_eq!(desk.sh(&[], line).0, 3);
    until("the processes to end", || !is_running("sleep 4711") && !is_running("sleep 4712"));

    let mut command = desk.climax();
    command.args(["sh", "-c", "bash --norc -c 'setsid sleep 4713 & sleep 4714'"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    until("the processes to start", || is_running("sleep 4713") && is_running("sleep 4714"));
    child.kill().unwrap();
    child.wait().unwrap();
    until("the processes to end", || !is_running("sleep 4713") && !is_running("sleep 4714"));
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

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn lines_set_no_variables_of_the_loader() {
    let desk = Desk::new();
    for line in ["LD_DEBUG=statistics python3 x", "export LD_PRELOAD=/x; python3 y", "GLIBC_TUNABLES=a=b python3 z"] {
        let (status, _, stderr) = desk.sh(&[], line);
        assert!(status == 2 && stderr.contains("a line cannot set"), "{line}: {stderr}");
    }
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn caged_tools_get_variables_of_lines_if_they_may_do_anything() {
    let desk = Desk::new();
    let config = desk.path("shells.yaml");
    let tools = "name: shells\ncommand: ''\ntools:\n\
                 - {name: any, description: A, command: bash, args: [{name: words, rest: true}], needs: {cage: read}}\n\
                 - {name: held, description: H, command: dash, args: [{name: code, flag: -c}], needs: {cage: read, without: write}}\n";
    fs::write(&config, tools).unwrap();
    let sh = |line: &str| desk.sh(&["--only", "--config", &config.display().to_string()], line);
    assert_eq!(sh("A=1 bash --norc -c 'echo \"<$A>\"'").1.trim(), "<1>");
    let (status, _, stderr) = sh("A=1 dash -c true");
    assert!(status == 2 && stderr.contains("`A`"), "{stderr}");
}

/// A server in the project that runs lines.
fn server(desk: &Desk, more: &[&str]) -> Server {
    let mut command = desk.climax();
    let audit = desk.path("audit").display().to_string();
    command.args(["--meta", "search,call,run,read", "--audit", &audit]).args(more);
    let mut server = Server::spawn(&mut command);
    server.initialize("2025-11-25");
    server
}

fn run_line(server: &mut Server, arguments: &Value) -> Value {
    server.tool("climax_run", arguments.clone())
}

#[test]
fn a_server_that_starts_in_the_home_directory_goes_into_the_root_of_its_client() {
    let desk = Desk::new();
    fs::create_dir_all(desk.path("home/a b/.git")).unwrap();
    let [home, root] = ["home", "home/a b"].map(|name| desk.path(name).canonicalize().unwrap());
    fs::write(
        home.join("mine.yaml"),
        "name: mine\ncommand: ''\ntools: [{name: where, description: W, command: pwd}]\n",
    )
    .unwrap();

    // The paths of its options stay those of its start.
    let options = ["--config", "mine.yaml", "--audit", "audit"];
    let started_in = |directory: &Path| {
        let mut command = desk.climax();
        command.current_dir(directory).args(["--meta", "run,call"]).args(options);
        let mut server = Server::spawn(&mut command);
        server.initialize_with("2025-11-25", &json!({ "roots": { "listChanged": true } }));
        server
    };
    let mut server = started_in(&home);
    let where_it_is = |server: &mut Server, roots: Option<&[&Path]>| {
        let call = json!({ "name": "climax_run", "arguments": { "command": "pwd" } });
        let id = server.post("tools/call", call);
        if let Some(roots) = roots {
            let asked = server.receive();
            assert_eq!(asked["method"], "roots/list");
            let uri = |root: &&Path| json!({ "uri": format!("file://{}", root.display()).replace(' ', "%20") });
            let roots: Vec<Value> = roots.iter().map(uri).collect();
            server.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": roots } }));
        }
        let answer = server.receive();
        assert_eq!(answer["id"], id, "{answer}");
        PathBuf::from(text(&answer["result"]))
    };

    // A root that makes no project is none to go into, and the client says when it has others.
    assert_eq!(where_it_is(&mut server, Some(&[Path::new("/"), &home, &root.join("none")])), home);
    assert_eq!(where_it_is(&mut server, None), home);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }));
    assert_eq!(where_it_is(&mut server, Some(&[&home, &root])), root);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }));
    assert_eq!(where_it_is(&mut server, None), root);
    assert_eq!(PathBuf::from(text(&server.call("where", json!({})))), root);
    assert!(home.join("audit").exists() && !root.join("audit").exists());

    // A project of its own wins.
    fs::write(root.join("mine.yaml"), fs::read(home.join("mine.yaml")).unwrap()).unwrap();
    assert_eq!(where_it_is(&mut started_in(&root), None), root);
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn agents_choose_the_cage_and_read_what_it_denied() {
    let desk = Desk::new();
    let mut server = server(&desk, &[]);

    let denied = run_line(&mut server, &json!({ "command": "bash --norc -c 'echo a > new'" }));
    let said = text(&denied).to_owned();
    for part in ["Probably denied by the cage `read`", "new", "cage: workspace", "without secrets such as .env"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(denied["isError"], true);
    let made =
        run_line(&mut server, &json!({ "command": "bash --norc -c 'echo a > new; cat new'", "cage": "workspace" }));
    assert_eq!(text(&made), "a");
    let wrong = run_line(&mut server, &json!({ "command": "bash --norc -c true", "cage": "any" }));
    assert!(text(&wrong).contains("read, workspace"), "{wrong}");
    let late = run_line(&mut server, &json!({ "command": "bash --norc -c 'sleep 60'", "timeout": 1 }));
    assert!(text(&late).contains("timed out after 1"), "{late}");

    // All lines of a session share the temporary files.
    run_line(&mut server, &json!({ "command": "bash --norc -c 'echo kept > $TMPDIR/file'" }));
    let kept = run_line(&mut server, &json!({ "command": "bash --norc -c 'cat $TMPDIR/file; echo $TMPDIR'" }));
    let (content, directory) = text(&kept).split_once('\n').unwrap();
    assert_eq!(content, "kept");
    let directory = PathBuf::from(directory);
    assert!(directory.exists());
    assert_eq!(server.finish().1, Some(0));
    assert!(!directory.exists(), "they go with the session");

    let audit = fs::read_to_string(desk.path("audit")).unwrap();
    let lines: Vec<Value> = audit.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let caged = |line: &Value| (line["tool"].as_str().unwrap().to_owned(), line["cage"].as_str().unwrap().to_owned());
    assert_eq!(caged(&lines[0]), ("program_read".to_owned(), "read".to_owned()));
    assert_eq!(caged(&lines[1]), ("program_read".to_owned(), "workspace".to_owned()));
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn wider_cages_are_asked_about_where_writing_is() {
    let desk = Desk::new();
    let path = desk.path("policy.yaml");
    fs::write(&path, "default: enabled\napproval: {global: write}\n").unwrap();
    let policy = path.display().to_string();
    assert_eq!(desk.sh(&["--policy", &policy], "bash --norc -c true").0, 0);
    let (status, _, stderr) = desk.sh(&["--policy", &policy, "--cage", "workspace"], "bash --norc -c 'echo a > new'");
    assert!(status == 126 && stderr.contains("approval"), "{stderr}");
    assert!(!desk.path("project/new").exists());
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn servers_in_the_home_directory_have_no_project() {
    let desk = Desk::new();
    let sh = |line: &str| run(desk.climax().current_dir(desk.path("home")).args(["sh", "-c", line]));
    let (status, stdout, stderr) = sh("bash --norc -c 'cat .ssh/id_ed25519'");
    assert!(status != 0 && stdout.is_empty(), "{stderr}");
    assert_eq!(sh("bash --norc -c 'echo 1'").1, "1\n");
    // Nor does `cd` widen a project.
    let line = format!("cd {} && bash --norc -c 'cat outside'", desk.root.path().display());
    let (status, stdout, stderr) = desk.sh(&[], &line);
    assert!(status != 0 && stdout.is_empty(), "{stderr}");
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn policies_change_which_files_are_secrets() {
    let desk = Desk::new();
    fs::write(desk.path("project/mine.token"), "secret-of-mine\n").unwrap();
    let path = desk.path("policy.yaml");
    let text = "default: enabled\nlines: {secrets: ['*.token'], open: [.env]}\napproval: {global: none}\n";
    fs::write(&path, text).unwrap();
    let policy = path.display().to_string();
    for sh in [Desk::sh, Desk::sh_without_namespaces] {
        let sh = |line: &str| sh(&desk, &["--policy", &policy], line);
        assert_eq!(sh("bash --norc -c 'cat mine.token'").1, "");
        assert_eq!(sh("bash --norc -c 'cat .env'").1, "TOKEN=secret-of-the-project\n");
    }
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn doctor_says_which_promises_this_system_keeps() {
    let desk = Desk::new();
    let doctor = |isolation: &str| {
        let (_, stdout, _) = run(desk.climax().env("CLIMAX_ISOLATION", isolation).args(["doctor", "--json", "jq"]));
        serde_json::from_str::<Value>(&stdout).unwrap()["confinement"]["cages"].clone()
    };
    let kept =
        |cages: &Value| cages["promises"].as_array().unwrap().iter().filter(|promise| promise["kept"] == true).count();
    let (all, landlock) = (doctor("all"), doctor("landlock"));
    let both = json!(["read", "workspace"]);
    assert_eq!((&all["held"], &landlock["held"]), (&both, &both));
    assert!(landlock["promises"].as_array().unwrap().iter().any(|one| one["by"] == "restored, not prevented"));
    assert!(kept(&all) == 9 && kept(&landlock) < 8, "{landlock}");
    assert_eq!(doctor("none"), Value::Null);
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux has cages")]
fn tools_of_configs_run_in_the_cage_that_they_name() {
    let desk = Desk::new();
    let config = desk.path("shells.yaml");
    let tools = "name: shells\ncommand: bash -c\ntools:\n\
                 - {name: reads, description: R, args: [{name: code, positional: true, required: true}], needs: {cage: read, without: write}}\n\
                 - {name: works, description: W, args: [{name: code, positional: true, required: true}], needs: {cage: workspace}}\n\
                 - {name: homely, description: H, args: [{name: code, positional: true, required: true}], needs: {cage: read, read: [~/.ssh]}}\n";
    fs::write(&config, tools).unwrap();
    let config = config.display().to_string();
    let call = |isolation: &str, words: &[&str]| {
        let mut command = desk.climax();
        command.env("CLIMAX_ISOLATION", isolation).args(["call", "--only", "--config", &config]).args(words);
        run(&mut command)
    };
    assert_eq!(call("", &["reads", "code=cat notes"]).1.trim(), "notes of the project");
    assert_ne!(call("", &["reads", "code=echo a > new"]).0, 0);
    assert_eq!(call("", &["works", "code=echo a > new; cat new"]).1.trim(), "a");
    assert_ne!(call("", &["reads", "code=cat ~/.ssh/id_ed25519"]).0, 0);
    assert_eq!(call("", &["homely", "code=cat ~/.ssh/id_ed25519"]).1.trim(), "secret-of-the-home");

    let risk = |isolation: &str, tool: &str| {
        let plan = call(isolation, &[tool, "code=true", "--dry-run", "--json"]).1;
        let plan: Value = serde_json::from_str(&plan).unwrap();
        (plan["risk"].as_str().unwrap().to_owned(), plan["cage"].as_str().map(str::to_owned))
    };
    assert_eq!(risk("", "reads"), ("read".to_owned(), Some("read".to_owned())));
    assert_eq!(risk("", "works"), ("write".to_owned(), Some("workspace".to_owned())));
    assert_eq!(risk("landlock", "reads"), ("read".to_owned(), Some("read".to_owned())));
    assert_eq!(risk("landlock", "works"), ("write".to_owned(), Some("workspace".to_owned())));
    assert_eq!(risk("none", "reads"), ("write".to_owned(), None));
}

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

#[test]
fn probes_and_lists_of_processes_answer_truly() {
    let desk = Desk::new();
    let id = std::process::id();
    let (status, output, errors) = desk.sh(&[], &format!("kill -0 {id} && echo there; kill -0 999999999 || echo none"));
    assert_eq!((status, output.as_str()), (0, "there\nnone\n"), "{errors}");

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (_, output, errors) = desk.sh(&[], &format!("ss -tlnp | grep ':{port} '"));
    assert!(output.contains(&format!("pid={id}")), "{output}{errors}");
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

#[test]
fn a_line_makes_no_project_of_the_directories_of_programs() {
    let desk = Desk::new();
    let home = desk.path("home/.ssh");
    let code = "open(\"authorized_keys\", \"a\").write(\"x\")";
    let line = format!("cd {} && python3 -c '{code}'; python3 -c 'print(open(\"id_ed25519\").read())'", home.display());
    let (status, output, errors) = desk.sh(&["--cage", "workspace"], &line);
    assert!(status != 0 && !output.contains("secret"), "{output}{errors}");
    assert_eq!(fs::read_dir(&home).unwrap().count(), 1);
}
