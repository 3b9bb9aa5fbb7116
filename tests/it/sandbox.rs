//! The sandbox, with the kernel that runs the tests.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Server, fake_config, fakecli, text};

/// A server whose tools run in a sandbox, and a directory with parts of different access.
struct Sandbox {
    dir: tempfile::TempDir,
    server: Server,
}

const TOOLS: &str = "
  - {name: touch, description: T, command: try, args: [{name: words, positional: true, required: true}, {name: path, positional: true}]}
  - {name: family, description: F, command: family, timeout: 0.5}
  - {name: make, description: M, command: make, args: [{name: what, positional: true, required: true}, {name: file, positional: true, output: {mime: text/csv}}]}
  - {name: fails, description: F, command: exit 3 not a repository}
  - {name: where, description: W, command: cwd, args: [{name: dir, cwd: true}]}
";

impl Sandbox {
    /// Starts the server. `{DIR}` in `rules` is the directory, which contains `open`, `readable` and `closed`.
    fn new(rules: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for part in ["open", "readable", "closed"] {
            std::fs::create_dir(dir.path().join(part)).unwrap();
            std::fs::write(dir.path().join(part).join("file"), part).unwrap();
        }
        let rules = rules.replace("{DIR}", dir.path().to_str().unwrap());
        let program = fakecli().parent().unwrap().display().to_string();
        let base = format!("read: [{program}, /usr, /lib, /lib64, /etc, '{}']", dir.path().join("readable").display());
        let policy =
            format!("default: enabled\napproval: {{sensitive: allow}}\nexecutor: {{type: sandbox, {base}, {rules}}}\n");
        std::fs::write(dir.path().join("policy.yaml"), policy).unwrap();
        std::fs::write(dir.path().join("fake.yaml"), fake_config(TOOLS)).unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        let server = Server::start(&["git", "--config", &path("fake.yaml"), "--policy", &path("policy.yaml")]);
        Self { dir, server }
    }

    fn path(&self, part: &str) -> String {
        self.dir.path().join(part).display().to_string()
    }

    /// Lets fakecli try something. Returns `ok` or the error.
    fn attempt(&mut self, what: &str, path: &str) -> String {
        text(&self.server.call("touch", json!({ "words": what, "path": path }))).to_owned()
    }
}

const OPEN: &str = "write: ['{DIR}/open']";

fn is_refused(said: &str) -> bool {
    said.contains("Permission denied") || said.contains("Operation not permitted")
}

#[test]
fn file_access_follows_the_policy() {
    let mut sandbox = Sandbox::new(OPEN);
    let [open, readable, closed] = ["open", "readable", "closed"].map(|part| sandbox.path(part));
    for (what, path, allowed) in [
        ("read", format!("{open}/file"), true),
        ("write", format!("{open}/new"), true),
        ("remove", format!("{open}/file"), true),
        ("read", format!("{readable}/file"), true),
        ("write", format!("{readable}/new"), false),
        ("truncate", format!("{readable}/file"), false),
        ("remove", format!("{readable}/file"), false),
        ("read", format!("{closed}/file"), false),
        ("list", closed.clone(), false),
        ("read", format!("{open}/../closed/file"), false),
        ("truncate", format!("{closed}/file"), false),
        ("read", "/proc/1/environ".to_owned(), false),
    ] {
        let said = sandbox.attempt(what, &path);
        assert_eq!(said == "ok", allowed, "{what} {path}: {said}");
        assert!(allowed || is_refused(&said), "{what} {path}: {said}");
    }
    assert_eq!(std::fs::read_to_string(Path::new(&readable).join("file")).unwrap(), "readable");
    std::os::unix::fs::symlink(format!("{closed}/file"), format!("{open}/link")).unwrap();
    let link = format!("{open}/link");
    assert!(is_refused(&sandbox.attempt("read", &link)));
}

#[test]
fn failed_calls_say_what_the_sandbox_permits() {
    for (rules, rest) in [
        (OPEN, "It could write {DIR}/open. It had no network."),
        ("network: true", "It could write nothing. It had the network."),
        (
            "write: [/dev/null, /dev/zero, /dev/full, /dev/random, /dev/urandom, /dev/tty, /dev/ptmx, /dev/pts, /dev/shm]",
            "It could write /dev/null, /dev/zero, /dev/full, /dev/random, /dev/urandom, /dev/tty, /dev/ptmx, /dev/pts \
             and 1 more. It had no network.",
        ),
    ] {
        let mut sandbox = Sandbox::new(rules);
        let program = fakecli().parent().unwrap().display().to_string();
        let readable = sandbox.path("readable");
        let rest = rest.replace("{DIR}", sandbox.dir.path().to_str().unwrap());
        let stderr = format!(
            "The program ran in the policy's sandbox. \
             It could read {program}, /usr, /lib, /lib64, /etc, {readable}. {rest}"
        );
        let result = sandbox.server.call("fails", json!({}));
        assert_eq!(text(&result), format!("not a repository\n\n[stderr]\n{stderr}\n\n[exit code: 3]"));
        assert_eq!(result["structuredContent"]["error"]["details"][0]["stderr"], stderr);
        let works = sandbox.server.call("where", json!({}));
        assert!(!text(&works).contains("sandbox"), "{works}");
    }
}

#[test]
fn children_are_confined() {
    let mut sandbox = Sandbox::new(OPEN);
    let closed = format!("{}/file", sandbox.path("closed"));
    let said = sandbox.attempt("child-read", &closed);
    assert!(is_refused(&said), "{said}");
}

#[test]
fn programs_have_no_capabilities_and_cannot_gain_any() {
    let said = Sandbox::new("write: [/proc]").attempt("privileges", "");
    assert_eq!(said, "CapPrm:\t0000000000000000 CapEff:\t0000000000000000 NoNewPrivs:\t1");
}

#[test]
fn cannot_leave_the_group_or_signal_the_server() {
    let mut sandbox = Sandbox::new(OPEN);
    let said = sandbox.attempt("leave-group", "");
    assert!(said != "ok", "{said}");
    let server = sandbox.server.child.id().to_string();
    let said = sandbox.attempt("limit", &server);
    assert!(said.contains("Operation not permitted"), "{said}");
    let said = sandbox.attempt("signal", &server);
    assert!(said.contains("Operation not permitted"), "{said}");
}

#[test]
fn rejects_paths_that_a_program_could_replace() {
    for (rules, because) in [
        ("write: [$CLIMAX_TEST_UNSET/x]", "is not set"),
        // Simpler cases are rejected when the policy is read.
        ("write: ['{DIR}/.', '{DIR}/open']", "can be replaced"),
        ("write: ['{DIR}/link/..', '{DIR}/./open/deeper', '{DIR}/open']", "can be replaced"),
    ] {
        let mut sandbox = Sandbox::new(rules);
        std::fs::create_dir(sandbox.dir.path().join("open/deeper")).unwrap();
        let said = sandbox.attempt("read", "/etc/hostname");
        assert!(said.contains("Cannot confine") && said.contains(because), "{rules}: {said}");
    }
}

#[test]
fn sockets_follow_the_network_setting() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    for what in ["connect", "bind", "udp", "unix", "pair"] {
        let said = Sandbox::new(OPEN).attempt(what, &address);
        assert!(is_refused(&said), "{what}: {said}");
    }
    let mut with_network = Sandbox::new(&format!("{OPEN}, network: true"));
    for what in ["connect", "bind", "udp"] {
        assert_eq!(with_network.attempt(what, &address), "ok", "{what}");
    }
    for what in ["unix", "pair"] {
        let said = with_network.attempt(what, &address);
        assert!(is_refused(&said), "local sockets reach other programs: {what}: {said}");
    }
}

#[test]
fn cannot_reach_others_beside_files_and_sockets() {
    let mut sandbox = Sandbox::new(OPEN);
    let file = sandbox.path("open/file");
    for what in ["pair", "raw-pair", "renice-user", "attribute", "watch"] {
        let said = sandbox.attempt(what, &file);
        assert!(said.contains("Operation not permitted"), "{what}: {said}");
    }
    for what in ["stream-pair", "sequence-pair", "renice"] {
        assert_eq!(sandbox.attempt(what, &file), "ok", "{what}");
    }
}

/// System calls that reach the kernel, other programs, or attributes of files, each with its second argument.
#[cfg(target_arch = "x86_64")]
#[test]
fn classes_of_system_calls_are_refused() {
    let mut sandbox = Sandbox::new(OPEN);
    for (class, calls) in [
        ("extended attributes", "188 189 190 197 198 199 463 466"),
        ("queues, semaphores and shared memory", "29 30 31 64 65 66 68 69 70 71 220 240 241 242 243 244 245"),
        (
            "attributes by ioctl, and input of terminals",
            "16:1074292226 16:1074030082 16:1075599392 16:1082156677 16:21522 16:21532",
        ),
        ("mounts and namespaces", "155 161 165 166 272 308 428 429 430 431 432 433 442 467"),
        ("other processes", "101 310 311 312 438"),
        ("the kernel", "169 175 176 179 246 298 313 320 321 323 425 426 427 443"),
        ("keys", "248 249 250"),
        ("the x32 ABI", "1073741825"),
    ] {
        for call in calls.split(' ') {
            let said = sandbox.attempt("call", call);
            assert!(said.contains("Operation not permitted"), "{class}: {call}: {said}");
        }
    }
    for call in ["470", "1000"] {
        assert!(sandbox.attempt("call", call).contains("Function not implemented"), "{call}");
    }
    // `read` and another request of `ioctl`.
    for call in ["0", "16:21505"] {
        assert!(sandbox.attempt("call", call).contains("Bad file descriptor"), "{call}");
    }
}

#[test]
fn resources_are_limited() {
    let mut sandbox = Sandbox::new(&format!("{OPEN}, limits: {{memory_mb: 300, cpu_s: 1, file_mb: 1}}"));
    assert_eq!(sandbox.attempt("allocate", "100"), "ok");
    assert!(sandbox.attempt("allocate", "400").contains("allocation"), "{}", sandbox.attempt("allocate", "400"));
    let big = sandbox.path("open/big");
    let said = sandbox.attempt("grow", &big);
    assert!(said.contains("File too large") || said.contains("[exit code: -25]"), "{said}");
    let said = sandbox.attempt("spin", "");
    assert!(said.contains("[exit code: -24]") || said.contains("[exit code: -9]"), "{said}");
}

#[test]
fn confinement_errors_name_the_cause() {
    let said = Sandbox::new("write: ['{DIR}/absent']").attempt("read", "/etc/hostname");
    assert!(said.starts_with("Cannot confine ") && said.contains("absent") && said.contains("No such file"), "{said}");
    if rustix::process::geteuid().is_root() {
        let said = Sandbox::new(&format!("{OPEN}, limits: {{processes: 100}}")).attempt("read", "/etc/hostname");
        assert!(said.contains("does not limit the `processes` of root"), "{said}");
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("p.yaml"), "default: enabled\nexecutor: {type: sandbox, read: [/etc]}").unwrap();
    let mut server = Server::start(&["--policy", dir.path().join("p.yaml").to_str().unwrap()]);
    let result = server.call("coreutils_date", json!({}));
    assert!(text(&result).contains("Cannot confine date: ") && text(&result).contains("`executor.read`"), "{result}");
    assert_eq!(result["structuredContent"]["error"]["code"], "spawn_failed");
}

#[test]
fn notifications_do_not_contain_the_shim_password() {
    let mut server = Sandbox::new("write: ['{DIR}/absent']").server;
    server.request("logging/setLevel", json!({ "level": "info" }));
    let arguments = json!({ "tool_name": "touch", "args": { "words": "read" } });
    let params = json!({ "name": "climax_call", "arguments": arguments, "_meta": { "progressToken": 1 } });
    let id = server.post("tools/call", params);
    let mut messages = Vec::new();
    loop {
        let message = server.receive();
        if message["id"] == id {
            break;
        }
        let params = &message["params"];
        let text = params.get("data").or(params.get("message")).and_then(Value::as_str).unwrap();
        messages.push(text.to_owned());
    }
    let (last, before) = messages.split_last().unwrap();
    assert!(last.starts_with("Cannot confine "), "{messages:?}");
    assert!(before.iter().all(|text| text == "running"), "{messages:?}");
}

#[test]
fn timeout_ends_a_confined_program() {
    let mut sandbox = Sandbox::new(OPEN);
    let said = sandbox.server.call("family", json!({}));
    assert!(text(&said).contains("timed out"), "{said}");
    let inside = sandbox.server.call("where", json!({ "dir": sandbox.path("readable") }));
    assert_eq!(text(&inside), sandbox.path("readable"));
}

#[test]
fn result_files_can_be_written() {
    let mut sandbox = Sandbox::new(OPEN);
    let result = sandbox.server.call("make", json!({ "what": "a table" }));
    assert_eq!(result["content"][0]["resource"]["text"], "a table", "{result}");
}
