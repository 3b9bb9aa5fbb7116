//! The release server over HTTP as a child process, and persistent connections to it.

pub(crate) mod nginx;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};

/// Longer than any response takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Raises the descriptor limit of this process and its children to the maximum.
pub(crate) fn open_many_descriptors() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}

/// A server of `/bin/true` under the name `small`. Killed when dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts one on this port, or with 0 on any that is free.
    pub(crate) fn start(directory: &Path, port: u16) -> Self {
        let config = directory.join("small.yaml");
        std::fs::write(&config, "command: /bin/true\ntools: [{name: small, description: x}]\n").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_climax"));
        command.args(["--transport", "streamable-http", "--max-concurrency", "64", "--port", &port.to_string()]);
        command.arg("--config").arg(config).env_remove("CLIMAX_LOG_FILE");
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let address = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "the server ended: {said}");
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.trim_end().trim_end_matches("/mcp").parse().unwrap();
            }
            said.push_str(&line);
        };
        // The server must not block on a full pipe.
        std::thread::spawn(move || io::copy(&mut stderr, &mut io::sink()));
        Self { child, address }
    }

    /// Resident memory in KiB; proc(5), `status`.
    pub(crate) fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address that a client connects to.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    Plain(SocketAddr),
    /// Through `openssl s_client`, which checks no certificate.
    Tls(SocketAddr),
}

/// A persistent connection.
pub(crate) struct Connection {
    input: Box<dyn Write + Send>,
    output: BufReader<Box<dyn Read + Send>>,
    tunnel: Option<Child>,
}

/// The parts of a response that the benchmark needs.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) body: Vec<u8>,
    /// Whether the server closes the connection after it.
    pub(crate) closes: bool,
}

impl Connection {
    pub(crate) fn open(target: Target) -> io::Result<Self> {
        match target {
            Target::Plain(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                let output: Box<dyn Read + Send> = Box::new(stream.try_clone()?);
                Ok(Self { input: Box::new(stream), output: BufReader::new(output), tunnel: None })
            }
            Target::Tls(address) => {
                let mut command = Command::new("openssl");
                command.args(["s_client", "-quiet", "-connect", &address.to_string()]);
                let mut tunnel = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
                let input = Box::new(tunnel.stdin.take().unwrap());
                let output: Box<dyn Read + Send> = Box::new(tunnel.stdout.take().unwrap());
                Ok(Self { input, output: BufReader::new(output), tunnel: Some(tunnel) })
            }
        }
    }

    /// Sends a request in one write, and reads its response to the end.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> io::Result<Response> {
        self.input.write_all(request)?;
        self.input.flush()?;
        let mut line = self.line()?;
        let status = line.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or_else(|| broken(&line))?;
        let (mut session, mut length, mut closes) = (None, None, false);
        loop {
            line = self.line()?;
            let Some((name, value)) = line.split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "mcp-session-id" => session = Some(value.to_owned()),
                "content-length" => length = value.parse::<usize>().ok(),
                "connection" => closes = value.eq_ignore_ascii_case("close"),
                _ => {}
            }
        }
        let mut body = Vec::new();
        match length {
            Some(length) => self.append(&mut body, length)?,
            None => while self.chunk(&mut body)? {},
        }
        Ok(Response { status, session, body, closes })
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }

    fn append(&mut self, body: &mut Vec<u8>, length: usize) -> io::Result<()> {
        let start = body.len();
        body.resize(start + length, 0);
        self.output.read_exact(&mut body[start..])
    }

    /// Reads a chunk. Whether there are more.
    fn chunk(&mut self, body: &mut Vec<u8>) -> io::Result<bool> {
        let line = self.line()?;
        let size = usize::from_str_radix(&line, 16).map_err(|_| broken(&line))?;
        self.append(body, size)?;
        self.line()?;
        Ok(size > 0)
    }
}

fn broken(line: &str) -> io::Error {
    io::Error::other(format!("not HTTP: {line:?}"))
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(tunnel) = &mut self.tunnel {
            let _ = tunnel.kill();
            let _ = tunnel.wait();
        }
    }
}

/// The calls that clients make.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Search,
    True,
}

impl Call {
    fn params(self) -> Value {
        match self {
            Self::Search => json!({ "name": "climax_search", "arguments": { "query": "commit history" } }),
            Self::True => json!({ "name": "climax_call", "arguments": { "tool_name": "small" } }),
        }
    }

    /// The request in revision 2026-07-28.
    pub(crate) fn modern(self) -> Vec<u8> {
        let mut params = self.params();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let name = params["name"].as_str().unwrap();
        let headers = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n");
        post(&headers, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
    }

    /// The request in a session of revision 2025-11-25.
    pub(crate) fn legacy(self, session: &str) -> Vec<u8> {
        let headers = format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n");
        post(&headers, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": self.params() }))
    }

    /// Whether the response has the expected result.
    pub(crate) fn succeeded(self, response: &Response) -> bool {
        let text = String::from_utf8_lossy(&response.body);
        let expected = if self == Self::Search { "git_log" } else { "(no output)" };
        response.status == 200 && text.contains(r#""isError":false"#) && text.contains(expected)
    }
}

/// Opens a session, and returns its id.
pub(crate) fn session(connection: &mut Connection) -> String {
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "0" },
    });
    let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let session = connection.exchange(&post("", &request)).unwrap().session.unwrap();
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let response = connection.exchange(&post(&format!("Mcp-Session-Id: {session}\r\n"), &initialized)).unwrap();
    assert_eq!(response.status, 202);
    session
}

fn post(headers: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    )
    .into_bytes()
}
