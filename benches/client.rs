//! The release server as a child, as a client starts it, and what the kernel tells of it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
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

/// Starts a server with these options, and opens the conversation.
pub(crate) fn start_with(options: &[&str], directory: &Path) -> (Server, Output) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_climax"));
    command.args(options).current_dir(directory);
    start(command)
}

/// Starts a server by this command, and opens the conversation.
pub(crate) fn start(mut command: Command) -> (Server, Output) {
    command.env_remove("CLIMAX_LOG_FILE");
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

    /// Calls a tool of the list and returns the request's id, which is the progress token too if there is one.
    pub(crate) fn request(&mut self, name: &str, arguments: &Value, watched: bool) -> u64 {
        self.calls += 1;
        let id = self.calls;
        let meta = if watched { json!({ "progressToken": id }) } else { json!({}) };
        let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
        id
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
