//! Cages: what programs of command lines read, write and leave behind in them, with the kernel that runs the tests.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::caged_project::{Desk, run_line, server};
use crate::support::{Server, run, text, until};

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
    // The time of a line is that of all its commands.
    for loops in [
        "while :; do sleep 0.3; done",
        "until false; do : {1..1000}; done",
        "while :; do bash --norc -c 'sleep 0.3'; done",
    ] {
        let late = run_line(&mut server, &json!({ "command": loops, "timeout": 1 }));
        assert!(text(&late).contains("timed out after 1s"), "{loops}: {late}");
        assert_eq!(late["structuredContent"]["error"]["code"], "timed_out", "{loops}: {late}");
    }

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
