//! Test helpers: catalogs from YAML, the real binary as a child, and a JSON-RPC client.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use climax::catalog::{Catalog, Layer, Source, ToolIndex, compile};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use serde_json::{Value, json};

/// A timeout that only a hang reaches.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn catalog(yaml: &str) -> Catalog {
    let source = Source::new("test.yaml", yaml.as_bytes().to_vec()).unwrap();
    compile(&[source]).unwrap_or_else(|found| panic!("{}", found.render(climax::catalog::Style::Plain))).catalog
}

pub(crate) fn index(yaml: &str) -> ToolIndex {
    ToolIndex::from_configs(vec![Layer::loaded(catalog(yaml))])
}

/// Returns the path of `tests/bin/fakecli.rs`, which cargo builds as an example.
pub(crate) fn fakecli() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(Path::parent).unwrap();
    let path = target.join("examples/fakecli");
    assert!(path.exists(), "{} is not built: run `cargo build --examples`", path.display());
    path
}

/// Returns a config whose tools run fakecli.
pub(crate) fn fake_config(tools: &str) -> String {
    format!("name: fake\ncommand: {}\ntools:\n{tools}", fakecli().display())
}

/// Returns the path of the binary under test: the one that cargo built, or the one that `CLIMAX_BINARY` names.
pub(crate) fn binary() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let Some(given) = std::env::var_os("CLIMAX_BINARY") else { return env!("CARGO_BIN_EXE_climax").to_owned() };
        let path = Path::new(&given).canonicalize();
        path.unwrap_or_else(|error| panic!("CLIMAX_BINARY is {}: {error}", given.display())).display().to_string()
    })
}

/// Whether the binary under test has the default features and no others, as one that `CLIMAX_BINARY` names has.
pub(crate) fn has_default_features() -> bool {
    let has_defaults = cfg!(all(feature = "code", feature = "http", feature = "import", feature = "prompt"));
    let has_more = cfg!(any(feature = "budget", feature = "import-usage", feature = "oauth", feature = "otlp"));
    std::env::var_os("CLIMAX_BINARY").is_some() || has_defaults && !has_more
}

pub(crate) fn climax() -> Command {
    let mut command = Command::new(binary());
    command.env_remove("CLIMAX_LOG_FILE").env("NO_COLOR", "1");
    command
}

pub(crate) fn run(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap_or(-1), text(stdout), text(stderr))
}

/// Waits until `condition` is true.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Fails unless something takes at most `limit` in one of five runs, each of which returns how long it took.
///
/// A busy machine delays one run or another. What takes too long in each of them is slow by itself.
pub(crate) fn assert_takes_at_most(limit: Duration, mut run: impl FnMut() -> Duration) {
    let mut taken = Vec::new();
    while taken.len() < 5 {
        let time = run();
        if time <= limit {
            return;
        }
        taken.push(time);
    }
    panic!("expected {limit:?} at most, took {taken:?}");
}

/// Whether a process runs. A zombie does not.
pub(crate) fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    state.is_some_and(|state| state != "Z" && state != "X")
}

/// Returns the process IDs that fakecli processes have written to `file`.
pub(crate) fn announced(file: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// A climax server and the client's ends of its streams. Killed when dropped.
pub(crate) struct Server {
    pub child: Child,
    input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
    next_id: u64,
}

impl Server {
    /// Starts a server and initializes the session.
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut server = Self::spawn(climax().args(args));
        server.initialize("2025-06-18");
        server
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = child.stdout.take().map(BufReader::new);
        Self { child, input, output, next_id: 0 }
    }

    pub(crate) fn initialize(&mut self, revision: &str) -> Value {
        self.initialize_with(revision, &json!({}))
    }

    /// Initializes the session of a client with these capabilities.
    pub(crate) fn initialize_with(&mut self, revision: &str, capabilities: &Value) -> Value {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "0" },
        });
        let answer = self.request("initialize", params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    pub(crate) fn send_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).and_then(|()| input.write_all(b"\n")).and_then(|()| input.flush()).unwrap();
    }

    /// Returns the next message. Every line must be JSON-RPC. Fails if none comes, so that no test waits for ever.
    pub(crate) fn receive(&mut self) -> Value {
        assert!(self.has_message_within(3 * PATIENCE), "no message within {:?}", 3 * PATIENCE);
        let mut line = String::new();
        self.output.as_mut().unwrap().read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// Whether a message comes within this time.
    pub(crate) fn has_message_within(&mut self, time: Duration) -> bool {
        let output = self.output.as_ref().unwrap();
        let mut ready = [PollFd::new(output.get_ref(), PollFlags::IN)];
        let time = Timespec::try_from(time).unwrap();
        !output.buffer().is_empty() || retry_on_intr(|| poll(&mut ready, Some(&time))).unwrap() > 0
    }

    /// Sends a request without waiting for its response.
    pub(crate) fn post(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool of `tools/list`.
    pub(crate) fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": name, "arguments": arguments }));
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool with `climax_call`.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.tool("climax_call", json!({ "tool_name": tool, "args": arguments }))
    }

    pub(crate) fn close_output(&mut self) {
        self.output = None;
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Ends the server. Returns the rest of its standard output and the exit status.
    pub(crate) fn finish(mut self) -> (String, Option<i32>) {
        self.close_input();
        let mut rest = String::new();
        self.output.as_mut().unwrap().read_to_string(&mut rest).unwrap();
        (rest, self.child.wait().unwrap().code())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the text of a tool result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// Fails unless the page of this path, relative to the repository, holds this text. `UPDATE_GOLDEN` writes the page first.
pub(crate) fn assert_page(page: &str, expected: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{page} is out of date: run `UPDATE_GOLDEN=1 cargo test --test it`");
}
