//! The real binary over HTTP, and a client that can send malformed requests.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::{PATIENCE, climax, until};

/// A server that listens on a free local port. Killed when dropped.
pub(crate) struct Web {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
}

/// The head of a response, and the connection for its body.
pub(crate) struct Response {
    pub(crate) status: u16,
    head: Vec<String>,
    body: BufReader<TcpStream>,
}

impl Web {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::spawn(climax().args(["--transport", "streamable-http", "--port", "0"]).args(args))
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let address = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "the server ended: {said}");
            if let Some(rest) = line.split("http://").nth(1) {
                break rest.trim_end().trim_end_matches("/mcp").parse().unwrap();
            }
            said.push_str(&line);
        };
        // The server must not block on a full pipe.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Self { child, address }
    }

    pub(crate) fn signal(&self, name: &str) {
        Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
    }

    pub(crate) fn ended(&mut self) -> Option<i32> {
        let mut status = None;
        until("the server to end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap().code()
    }

    /// Sends bytes as they are.
    pub(crate) fn raw(&self, request: &[u8]) -> Response {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request).unwrap();
        Response::read(stream)
    }

    pub(crate) fn get(&self, path: &str, headers: &[&str]) -> Response {
        let headers = lines(headers);
        self.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").as_bytes())
    }

    pub(crate) fn post(&self, headers: &[&str], body: &str) -> Response {
        let headers = lines(headers);
        let length = body.len();
        self.raw(
            format!(
                "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                 Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
            )
            .as_bytes(),
        )
    }

    /// Sends a request of revision 2026-07-28.
    pub(crate) fn modern(&self, headers: &[&str], method: &str, params: &Value) -> Response {
        self.modern_of(&json!({}), headers, method, params)
    }

    /// The same for a client with these capabilities.
    pub(crate) fn modern_of(&self, capabilities: &Value, headers: &[&str], method: &str, params: &Value) -> Response {
        let mut params = params.clone();
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
        let mut headers = headers.to_vec();
        let name = ["name", "taskId", "uri"].iter().find_map(|key| params[key].as_str());
        let name = name.map(|name| format!("Mcp-Name: {name}"));
        let method_header = format!("Mcp-Method: {method}");
        headers.extend(["MCP-Protocol-Version: 2026-07-28", &method_header]);
        headers.extend(name.as_deref());
        self.post(&headers, &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string())
    }

    /// Sends a call, and does not wait for its response.
    pub(crate) fn begin_call(&self, headers: &[&str], tool: &str) -> TcpStream {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "climax_call", "arguments": { "tool_name": tool },
            "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {} },
        } })
        .to_string();
        let (headers, length) = (lines(headers), body.len());
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}Mcp-Method: tools/call\r\n\
             Mcp-Name: climax_call\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n"
        );
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all((head + &body).as_bytes()).unwrap();
        stream
    }

    /// Sends a call of revision 2026-07-28, and returns the text of its result.
    pub(crate) fn call(&self, headers: &[&str], tool: &str, arguments: &Value) -> String {
        let params = json!({ "name": "climax_call", "arguments": { "tool_name": tool, "args": arguments } });
        let response = self.modern(headers, "tools/call", &params).json();
        response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
    }

    /// Opens a session of revision 2025-11-25, and returns the session header.
    pub(crate) fn session(&self, headers: &[&str]) -> String {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "0" },
        });
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let response = self.post(headers, &request.to_string());
        assert_eq!(response.status, 200);
        let session = format!("Mcp-Session-Id: {}", response.header("mcp-session-id").unwrap());
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
        let mut headers = headers.to_vec();
        headers.push(&session);
        assert_eq!(self.post(&headers, &initialized).status, 202);
        session
    }
}

fn lines(headers: &[&str]) -> String {
    headers.iter().flat_map(|header| [header, "\r\n"]).collect()
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a field of an event, unless it is empty.
fn field(event: &str, name: &str) -> Option<String> {
    let mut fields = event.lines().filter_map(|line| line.split_once(": "));
    fields.find(|(found, text)| *found == name && !text.trim().is_empty()).map(|(_, text)| text.to_owned())
}

impl Response {
    fn read(stream: TcpStream) -> Self {
        let mut body = BufReader::new(stream);
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            body.read_line(&mut line).unwrap();
            match line.trim_end() {
                "" => break,
                line => head.push(line.to_owned()),
            }
        }
        let status = head.first().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
        Self { status: status.unwrap_or(0), head, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let fields = self.head.iter().filter_map(|line| line.split_once(": "));
        fields.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    /// The next piece of the body; `None` at its end.
    fn chunk(&mut self) -> Option<Vec<u8>> {
        let mut size = String::new();
        self.body.read_line(&mut size).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        let mut bytes = vec![0; size + 2];
        self.body.read_exact(&mut bytes).unwrap();
        bytes.truncate(size);
        (size > 0).then_some(bytes)
    }

    pub(crate) fn text(mut self) -> String {
        let mut bytes = Vec::new();
        if let Some(length) = self.header("content-length") {
            bytes.resize(length.parse().unwrap(), 0);
            self.body.read_exact(&mut bytes).unwrap();
        } else {
            while let Some(chunk) = self.chunk() {
                bytes.extend(chunk);
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    pub(crate) fn json(self) -> Value {
        let status = self.status;
        let text = self.text();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{status} {error}: {text:?}"))
    }

    /// The next message of an event stream; `None` at its end.
    pub(crate) fn event(&mut self) -> Option<Value> {
        let end = Instant::now() + PATIENCE;
        loop {
            // Keep-alive events may come without end.
            assert!(Instant::now() < end, "neither a message nor the end");
            if let Some(data) = field(&self.text_event()?, "data") {
                return Some(serde_json::from_str(&data).unwrap());
            }
        }
    }

    /// The id of the next event of a stream, as the header that resumes it.
    pub(crate) fn last_event(&mut self) -> String {
        let chunk = self.text_event().expect("an event");
        format!("Last-Event-ID: {}", field(&chunk, "id").expect("an id"))
    }

    /// An event of a stream, which ends in an empty line. A long one comes in several chunks.
    fn text_event(&mut self) -> Option<String> {
        let mut bytes = self.chunk()?;
        while !bytes.ends_with(b"\n\n") {
            bytes.extend(self.chunk().expect("the rest of an event"));
        }
        Some(String::from_utf8(bytes).unwrap())
    }
}
