//! The release server as a child, as a client starts it, and what the kernel tells of it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A server, and the client's end of its input.
pub(crate) struct Server {
    pub(crate) child: Child,
    input: ChildStdin,
    calls: u64,
}

/// The client's end of a server's output.
pub(crate) type Output = BufReader<ChildStdout>;

/// Starts a server of this config, which runs up to 64 programs at once, and opens the conversation.
pub(crate) fn start(config: &Path) -> (Server, Output) {
    start_with(config, &[])
}

/// Starts a server of this config with more options, and opens the conversation.
pub(crate) fn start_with(config: &Path, options: &[&str]) -> (Server, Output) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_climax"));
    command.args(["--max-concurrency", "64"]).args(options).arg("--config").arg(config).env_remove("CLIMAX_LOG_FILE");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (mut server, mut output) = (Server { child, input, calls: 0 }, BufReader::new(output));
    let client = json!({ "name": "bench", "version": "0" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    server.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
    assert!(read(&mut output).is_some_and(|answer| answer["result"].is_object()));
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    (server, output)
}

/// The next message; `None` at the end.
pub(crate) fn read(output: &mut Output) -> Option<Value> {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let parsed = || serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
    (!line.is_empty()).then(parsed)
}

impl Server {
    pub(crate) fn send(&mut self, message: &Value) {
        // In one write: the pipe would wake the server for each.
        self.input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// Asks for a tool and returns the request's id, which is the progress token too if there is one.
    pub(crate) fn call(&mut self, tool: &str, watched: bool) -> u64 {
        self.request("climax_call", &json!({ "tool_name": tool }), watched)
    }

    /// Asks for a meta-tool and returns the request's id, which is the progress token too if there is one.
    pub(crate) fn request(&mut self, name: &str, arguments: &Value, watched: bool) -> u64 {
        self.calls += 1;
        let id = self.calls;
        let meta = if watched { json!({ "progressToken": id }) } else { json!({}) };
        let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
        id
    }

    /// Has the request given up.
    pub(crate) fn cancel(&mut self, id: u64) {
        let params = json!({ "requestId": id });
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    }

    /// A figure of the server's memory, in KiB; proc(5), `status`.
    pub(crate) fn memory_kib(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Builds the program of `tests/bin/fakecli.rs` beside this one.
pub(crate) fn fakecli() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--release", "--quiet", "--example", "fakecli"]);
    assert!(cargo.status().unwrap().success(), "cannot build fakecli");
    let bench = std::env::current_exe().unwrap();
    bench.parent().and_then(Path::parent).unwrap().join("examples/fakecli")
}
