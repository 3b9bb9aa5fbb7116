//! HTTP statuses of responses.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::client::{MODERN, initialize, modern_meta};
use crate::support::{PATIENCE, climax};

/// A server over HTTP on a free port. Killed when dropped.
struct Http {
    child: Child,
    address: String,
}

impl Http {
    fn start() -> Self {
        let mut command = climax();
        command.args(["coreutils", "--transport", "streamable-http", "--port", "0"]);
        // From here on the server is killed whatever it says.
        let mut http = Self { child: command.stderr(Stdio::piped()).spawn().unwrap(), address: String::new() };
        let mut lines = BufReader::new(http.child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let address = |line: String| Some(line.split_once("http://")?.1.split('/').next()?.to_owned());
        http.address = lines.find_map(address).expect("the server says its address");
        http
    }

    /// Sends a request. Returns the status, the head in small letters, and the body.
    fn send(&self, method: &str, headers: &str, body: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let accepted = "application/json, text/event-stream";
        let head = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: {accepted}\r\nContent-Length: {}\r\n{headers}\r\n",
            self.address,
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), head.to_lowercase(), body.to_owned())
    }

    fn post(&self, headers: &str, message: &Value) -> (u16, String, String) {
        self.send("POST", headers, &message.to_string())
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[cfg_attr(not(native_linux), ignore = "a server that cannot confine says one line more")]
fn deleted_session_is_not_found() {
    let server = Http::start();
    let open = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize("2025-11-25") });
    let (status, head, _) = server.post("", &open);
    assert_eq!(status, 200, "{head}");
    let session = head.lines().find(|line| line.starts_with("mcp-session-id")).unwrap();
    let header = format!("{session}\r\n");
    let (status, ..) = server.send("DELETE", &header, "");
    assert_eq!(status, 204);
    let (status, ..) = server.post(&header, &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    assert_eq!(status, 404);
}

/// MCP 2026-07-28, basic/transports, "Streamable HTTP".
#[test]
#[cfg_attr(not(native_linux), ignore = "a server that cannot confine says one line more")]
fn unknown_method_is_not_found() {
    let server = Http::start();
    for method in ["initialize", "ping", "no/such/method"] {
        let headers = format!("MCP-Protocol-Version: {MODERN}\r\nMcp-Method: {method}\r\n");
        let request = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": { "_meta": modern_meta() } });
        let (status, _, body) = server.post(&headers, &request);
        assert_eq!(status, 404, "{method}: {body}");
        assert!(body.contains("-32601") && body.contains("\"id\":7"), "{method}: {body}");
    }
}
