//! Needs: what calls that only read can reach, with the kernel that runs the tests.

use std::collections::BTreeMap;
use std::path::Path;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use serde_json::{Value, json};

use crate::support::{Server, climax, fake_config, fakecli, run, text};

const TOOLS: &str = "
  - {name: reads, description: R, command: try, risk: read, needs: {}, args: &try [{name: words, positional: true, required: true}, {name: path, positional: true}]}
  - {name: writes, description: W, command: try, risk: write, needs: {}, args: *try}
  - {name: unsaid, description: U, command: try, needs: {}, args: *try}
  - {name: free, description: F, command: try, risk: read, args: *try}
  - {name: open, description: O, command: try, risk: read, needs: {write: ['{DIR}/open', ~/made/here]}, args: *try}
  - {name: online, description: N, command: try, risk: read, needs: {network: ['a.example:443']}, args: *try}
  - {name: local, description: L, command: try, risk: read, needs: {network: [/run/any.sock]}, args: *try}
  - {name: grows, description: G, command: try, risk: read, needs: {}, args: [{name: words, positional: true, required: true}, {name: path, positional: true}, {name: hard, type: boolean, risk: write}]}
  - {name: variables, description: V, command: env, risk: read, needs: {env: [FAKE_*]}, args: &names [{name: names, positional: true, required: true, list: words}]}
  - {name: all_variables, description: A, command: env, risk: read, args: *names}
  - {name: fails, description: F, command: exit 3, risk: read, needs: {}, args: &said [{name: said, positional: true, required: true}]}
  - {name: says, description: S, command: argv, risk: read, args: *said}
  - {name: makes, description: M, command: make, risk: read, needs: {}, args: [{name: what, positional: true, required: true}, {name: file, positional: true, output: {mime: text/csv}}]}
  - {name: hears, description: H, command: stdin, risk: read, needs: {}, args: [{name: input, stdin: true}]}
";

/// A server whose tools have needs, and a directory with its files, which is its home too.
struct Held {
    dir: tempfile::TempDir,
    server: Server,
}

impl Held {
    fn new(more: &[&str]) -> Self {
        Self::with_env("", more)
    }

    /// Starts the server with `env` of the config.
    fn with_env(env: &str, more: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        std::fs::create_dir(dir.path().join("open")).unwrap();
        std::fs::write(dir.path().join("closed"), "closed").unwrap();
        let in_dir = |text: &str| text.replace("{DIR}", dir.path().to_str().unwrap());
        std::fs::write(dir.path().join("fake.yaml"), in_dir(env) + &in_dir(&fake_config(TOOLS))).unwrap();
        let mut command = climax();
        command
            .args(["--only", "--config", &path("fake.yaml"), "--audit", &path("audit"), "--meta", "search,call,run"])
            .args(more);
        command.env("HOME", dir.path()).env("FAKE_ONE", "one").env("OTHER_TOKEN", "not-for-programs");
        command.current_dir(dir.path());
        let mut server = Server::spawn(&mut command);
        server.initialize("2025-11-25");
        Self { dir, server }
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    fn attempt(&mut self, tool: &str, what: &str, path: &str) -> String {
        text(&self.server.call(tool, json!({ "words": what, "path": path }))).to_owned()
    }
}

fn is_refused(said: &str) -> bool {
    said.contains("Permission denied") || said.contains("Operation not permitted")
}

#[test]
fn reading_calls_change_no_file_outside_of_their_needs() {
    let mut held = Held::new(&[]);
    let [closed, open, made] = ["closed", "open/new", "made/here/new"].map(|name| held.path(name));
    for what in ["write", "truncate", "empty", "remove"] {
        assert!(is_refused(&held.attempt("reads", what, &closed)), "{what}");
    }
    assert!(is_refused(&held.attempt("reads", "write", &open)));
    assert_eq!(held.attempt("reads", "read", &closed), "ok");
    assert_eq!(held.attempt("reads", "list", "/"), "ok");
    assert_eq!(held.attempt("reads", "write", "/dev/null"), "ok");
    assert_eq!(held.attempt("open", "write", &open), "ok");
    assert!(is_refused(&held.attempt("open", "write", &closed)));
    assert_eq!(held.attempt("open", "write", &made), "ok", "missing directories below HOME are made");
    let parent = held.dir.path().join("made/here").metadata().unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&parent.permissions()) & 0o777, 0o700);
    assert_eq!(std::fs::read_to_string(&closed).unwrap(), "closed");
}

/// Tools whose program changes another file than the call names, as one does whose directory becomes a link after the call
/// was checked.
const LED_AWAY: &str = "
command: sh
tools:
  - {name: names, description: N, command: &led \"-c 'echo x > $0' {path} {options}\", risk: write, needs: {}, effects: {files: [named]}, args: &path [{name: path, positional: true}, {name: named, flag: --named}]}
  - {name: online, description: O, command: *led, risk: write, needs: {network: true, env: [TERM]}, effects: {files: [named]}, args: *path}
  - {name: needs, description: M, command: *led, risk: write, needs: {write: ['{DIR}/open']}, effects: {files: [named]}, args: *path}
";

#[test]
fn a_call_that_names_files_of_the_project_changes_nothing_elsewhere() {
    // Not among the temporary files, which each call may change.
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    std::fs::create_dir_all(dir.path().join("project/.git")).unwrap();
    std::os::unix::fs::symlink(dir.path(), dir.path().join("project/link")).unwrap();
    std::fs::write(path("sh.yaml"), LED_AWAY.replace("{DIR}", dir.path().to_str().unwrap())).unwrap();
    let call = |tool: &str, changed: &str, more: &[&str]| {
        let mut command = climax();
        command.args(["call", tool, "--only", "--config", &path("sh.yaml"), &format!("path={changed}")]).args(more);
        let (_, said, errors) = run(command.env("HOME", path("home")).current_dir(path("project")));
        said + &errors
    };

    let [elsewhere, within] = ["elsewhere", "project/own"].map(path);
    let said = call("names", &elsewhere, &["named=x"]);
    let reason = format!(
        "it could not change {elsewhere}, since all that the call names to change lies in {} or is temporary",
        path("project")
    );
    assert!(said.contains(&reason), "{said}");
    assert!(is_refused(&call("names", "link/elsewhere", &["named=x"])));
    assert!(is_refused(&call("online", &elsewhere, &["named=x"])));
    assert!(!Path::new(&elsewhere).exists());
    call("names", &within, &["named=x"]);
    assert!(Path::new(&within).exists());

    for (tool, more) in [
        ("names", &["named=x", "--confine", "off"][..]),
        ("names", &["named=../other"]),
        ("names", &["named=link/other"]),
        ("names", &[]),
        ("needs", &["named=x"]),
    ] {
        call(tool, &elsewhere, more);
        std::fs::remove_file(&elsewhere).unwrap_or_else(|error| panic!("{tool} {more:?}: {error}"));
    }
}

#[test]
fn network_and_sockets_follow_the_needs() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut held = Held::new(&[]);
    for (tool, what, allowed) in [
        ("reads", "connect", false),
        ("reads", "udp", false),
        ("reads", "unix", false),
        ("online", "connect", true),
        ("online", "udp", true),
        ("online", "unix", false),
        ("local", "connect", false),
        ("free", "connect", true),
    ] {
        let said = held.attempt(tool, what, &address);
        assert_eq!(said == "ok", allowed, "{tool} {what}: {said}");
    }
    assert!(!is_refused(&held.attempt("local", "unix", &address)), "Unix sockets are among its needs");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn reading_calls_change_no_attributes_of_files() {
    let mut held = Held::new(&[]);
    for call in [
        "90", "91", "92", "93", "94", "132", "188", "190", "235", "260", "261", "268", "280", "452", "463", "466",
        "469",
    ] {
        let said = held.attempt("reads", "call", call);
        assert!(said.contains("Operation not permitted"), "{call}: {said}");
    }
    assert!(held.attempt("reads", "call", "16:1074292226").contains("Operation not permitted"));
    assert!(held.attempt("reads", "call", "16:21505").contains("Bad file descriptor"));
}

/// Runs `command` on a kernel whose Landlock is turned off.
fn without_landlock(command: impl FnOnce() -> (i32, String, String) + Send + 'static) -> (i32, String, String) {
    const LANDLOCK_CREATE_RULESET: i64 = 444;
    let rules = BTreeMap::from([(LANDLOCK_CREATE_RULESET, Vec::new())]);
    let absent = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, absent, arch).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    let run = move || {
        // It holds for this thread and the processes that it starts.
        seccompiler::apply_filter(&program).unwrap();
        command()
    };
    std::thread::spawn(run).join().unwrap()
}

#[test]
fn kernel_that_cannot_confine_is_told_of_and_refused_where_the_policy_requires_confinement() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let [config, closed, policy] = ["fake.yaml", "closed", "policy.yaml"].map(path);
    std::fs::write(&config, fake_config(TOOLS).replace("{DIR}", "/nowhere")).unwrap();
    std::fs::write(&policy, "default: enabled\nconfine: {required: true}\n").unwrap();
    let call = |more: &[&str]| {
        let words = ["call".to_owned(), "reads".to_owned(), "words=write".to_owned(), format!("path={closed}")];
        let words: Vec<String> =
            words.into_iter().chain(["--only".to_owned(), "--config".to_owned(), config.clone()]).collect();
        let more: Vec<String> = more.iter().map(|&word| word.to_owned()).collect();
        without_landlock(move || run(climax().args(words).args(more)))
    };
    let (status, said, _) = call(&[]);
    assert_eq!((status, said.trim()), (0, "ok"), "it runs, unconfined");
    let (status, said, errors) = call(&["--policy", &policy]);
    assert!(status == 1 && said.is_empty(), "{status} {said}");
    assert!(errors.contains("required: true") && errors.contains("Landlock of Linux 6.2"), "{errors}");
    std::fs::remove_file(&closed).unwrap();
    let doctor = config.clone();
    let (_, said, _) = without_landlock(move || run(climax().args(["doctor", "--only", "--config", &doctor])));
    assert!(said.contains("this kernel cannot confine"), "{said}");
    let (_, said, errors) = without_landlock(move || run(climax().args(["run", "--only", "--config", &config])));
    assert_eq!((said.as_str(), errors.matches("cannot confine").count()), ("", 1), "{errors}");
}

#[test]
fn only_calls_that_read_are_held_and_all_at_the_level_all() {
    let mut held = Held::new(&[]);
    let closed = held.path("closed");
    for tool in ["writes", "unsaid", "free"] {
        assert_eq!(held.attempt(tool, "write", &closed), "ok", "{tool}");
    }
    let hard = json!({ "words": "write", "path": closed, "hard": true });
    assert!(!is_refused(text(&held.server.call("grows", hard))), "an argument raises the risk of the call");
    let mut off = Held::new(&["--confine", "off"]);
    let closed = off.path("closed");
    assert_eq!(off.attempt("reads", "write", &closed), "ok");
    let mut all = Held::new(&["--confine", "all"]);
    let closed = all.path("closed");
    for tool in ["reads", "free"] {
        assert!(is_refused(&all.attempt(tool, "write", &closed)), "{tool}");
    }
    assert_eq!(all.attempt("writes", "write", &closed), "ok", "calls that write may write in their directory");
    assert!(is_refused(&all.attempt("writes", "write", "/var/tmp/climax-needs")));
    assert!(is_refused(&all.attempt("writes", "udp", "")));
}

#[test]
fn the_stricter_of_flag_and_policy_decides() {
    for (policy, flag, is_held) in [
        ("off", None, false),
        ("off", Some("read"), true),
        ("{level: read, required: true}", Some("off"), true),
        ("{required: false}", None, true),
        ("all", None, true),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.yaml");
        std::fs::write(&path, format!("default: enabled\nconfine: {policy}\n")).unwrap();
        let mut options = vec!["--policy", path.to_str().unwrap()];
        options.extend(flag.iter().flat_map(|level| ["--confine", level]));
        let mut held = Held::new(&options);
        let closed = held.path("closed");
        assert_eq!(is_refused(&held.attempt("reads", "write", &closed)), is_held, "{policy} {flag:?}");
    }
}

#[test]
fn the_environment_is_a_list_of_names() {
    let mut held = Held::new(&[]);
    let names = json!({ "names": ["FAKE_ONE", "OTHER_TOKEN", "HOME", "NO_COLOR", "TMPDIR"] });
    let home = held.dir.path().display().to_string();
    let said = text(&held.server.call("variables", names.clone())).to_owned();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "FAKE_ONE=Ok(\"one\")");
    assert_eq!(lines[1], "OTHER_TOKEN=Err(NotPresent)");
    assert_eq!(lines[2], format!("HOME=Ok(\"{home}\")"));
    assert_eq!(lines[3], "NO_COLOR=Err(NotPresent)");
    let scratch = lines[4].split('"').nth(1).unwrap();
    assert!(!Path::new(scratch).exists(), "the temporary directory is removed: {scratch}");
    let said = text(&held.server.call("all_variables", names)).to_owned();
    assert!(said.contains("OTHER_TOKEN=Ok(\"not-for-programs\")"), "without needs: {said}");
}

const SECRETS: &str = "env: {TOKEN: {from: OTHER_TOKEN}, KEY: {file: '{DIR}/key'}, PLAIN: shown}\n";

#[test]
fn secrets_reach_programs_and_are_not_shown() {
    let mut held = Held::with_env(SECRETS, &[]);
    std::fs::write(held.path("key"), "a key of two\nlines \n").unwrap();
    let said = text(&held.server.call("variables", json!({ "names": ["TOKEN", "PLAIN", "OTHER_TOKEN"] }))).to_owned();
    assert_eq!(said, "TOKEN=Ok(\"[secret]\")\nPLAIN=Ok(\"shown\")\nOTHER_TOKEN=Err(NotPresent)");
    let says = |said: &str| json!({ "said": said });
    let result = held.server.call("says", says("a key of two\nlines, not-for-programs"));
    assert_eq!(text(&result), "<[secret], [secret]>");
    let result = held.server.call("fails", says("not-for-programs"));
    assert!(!result.to_string().contains("not-for-programs"), "{result}");
    let result = held.server.call("makes", json!({ "what": "not-for-programs" }));
    assert_eq!(result["content"][0]["resource"]["text"], "[secret]", "{result}");
    let line = format!("{} argv not-for-programs | {} stdin", fakecli().display(), fakecli().display());
    let result = held.server.tool("climax_run", json!({ "command": line }));
    assert!(text(&result).contains("[secret]") && !result.to_string().contains("not-for-programs"), "{result}");
    let audit = std::fs::read_to_string(held.path("audit")).unwrap();
    assert!(!audit.contains("not-for-programs") && audit.lines().count() >= 5, "{audit}");
}

#[test]
fn a_secret_that_cannot_be_read_fails_the_call() {
    let mut held = Held::with_env(SECRETS, &[]);
    let said = |held: &mut Held| text(&held.server.call("says", json!({ "said": "x" }))).to_owned();
    assert!(said(&mut held).contains("Cannot read the value of KEY from "), "{}", said(&mut held));
    std::fs::create_dir(held.path("key")).unwrap();
    assert!(said(&mut held).contains("expected a regular file"), "{}", said(&mut held));
    std::fs::remove_dir(held.path("key")).unwrap();
    std::fs::write(held.path("key"), vec![b'x'; (64 << 10) + 1]).unwrap();
    assert!(said(&mut held).contains("at most 65536 bytes"), "{}", said(&mut held));
}

#[test]
fn a_denial_names_the_need_that_permits_it() {
    let mut held = Held::new(&[]);
    let closed = held.path("closed");
    let mut failing = |said: &str| text(&held.server.call("fails", json!({ "said": said }))).to_owned();
    let said = failing(&format!("cannot write '{closed}': Permission denied"));
    // Standard output says nothing of a refusal; standard error would.
    assert!(!said.contains("confinement"), "{said}");
    let dir = held.dir.path().display().to_string();
    let config = format!(
        "command: sh\ntools:\n  - {{name: refused, description: R, command: '-c \"echo x > {closed}\"', risk: read, needs: {{}}}}\n  \
         - {{name: offline, description: O, command: '-c \"echo Could not resolve host >&2; exit 6\"', risk: read, needs: {{}}}}\n  \
         - {{name: wrong, description: W, command: '-c \"echo no such thing >&2; exit 1\"', risk: read, needs: {{}}}}\n"
    );
    std::fs::write(held.path("sh.yaml"), config).unwrap();
    let mut server = Server::start(&["--only", "--config", &held.path("sh.yaml")]);
    let refused = text(&server.call("refused", json!({}))).to_owned();
    assert!(
        refused.contains(&format!(
            "Probably denied by confinement: it could not change {closed}. `needs: {{write: [{dir}]}}` in the config of \
             the tool permits it."
        )),
        "{refused}"
    );
    let offline = text(&server.call("offline", json!({}))).to_owned();
    assert!(offline.contains("it had no network. `needs: {network: true}`"), "{offline}");
    assert!(!text(&server.call("wrong", json!({}))).contains("confinement"));
}

#[test]
fn pipelines_and_input_work_under_confinement() {
    let mut held = Held::new(&[]);
    let result = held.server.call("hears", json!({ "input": "abc" }));
    assert_eq!(text(&result), "3 bytes: abc");
    let line = format!("{0} try write {1} | {0} stdin", fakecli().display(), held.path("closed"));
    let result = held.server.tool("climax_run", json!({ "command": line }));
    assert!(text(&result).contains("Permission denied"), "{result}");
}

#[test]
fn children_of_programs_stay_confined_without_powers() {
    let mut held = Held::new(&[]);
    let said = held.attempt("reads", "privileges", "");
    let kept = if rustix::process::geteuid().is_root() { "0000000000000004" } else { "0000000000000000" };
    assert_eq!(said, format!("CapPrm:\t{kept} CapEff:\t{kept} NoNewPrivs:\t1"));
    let server = held.server.child.id().to_string();
    assert!(is_refused(&held.attempt("reads", "signal", &server)));
}

#[test]
fn commands_take_the_level_and_doctor_says_what_the_kernel_can() {
    let dir = tempfile::tempdir().unwrap();
    let closed = dir.path().join("closed").display().to_string();
    let config = dir.path().join("fake.yaml");
    std::fs::write(&config, fake_config(TOOLS).replace("{DIR}", "/nowhere")).unwrap();
    let sources = ["--only", "--config", config.to_str().unwrap()];
    let call = |level: &str| {
        let pairs = ["words=write".to_owned(), format!("path={closed}")];
        run(climax().args(["call", "reads"]).args(pairs).args(sources).args(["--confine", level])).1
    };
    assert!(is_refused(&call("read")));
    assert_eq!(call("off").trim(), "ok");
    let (_, stdout, _) = run(climax().arg("doctor").args(sources).arg("--json"));
    let doctor: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(doctor["confinement"]["level"], "read");
    assert!(doctor["confinement"]["landlock_abi"].as_u64().is_some_and(|abi| abi >= 3), "{doctor}");
    assert_eq!(doctor["programs"][0]["confined"], 9, "{doctor}");
    let (status, _, stderr) = run(climax().arg("doctor").args(sources).args(["--confine", "some"]));
    assert!(status == 2 && stderr.contains("off, read, all"), "{stderr}");
}
