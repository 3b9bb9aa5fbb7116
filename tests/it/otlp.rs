//! Spans: calls are sent to a collector, and programs get the trace in their environment.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;

use serde_json::json;

use crate::support::{PATIENCE, climax, fake_config};
use crate::web::Web;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// Reads one request and answers it. Returns its first line and its body.
fn read_request(stream: TcpStream) -> (String, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let length = lines
        .iter()
        .filter_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok());
    let mut body = vec![0; length.sum()];
    reader.read_exact(&mut body).unwrap();
    reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
    (lines.remove(0), body)
}

#[test]
fn calls_are_spans_of_the_request_s_trace() {
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", collector.local_addr().unwrap());
    let (sender, requests) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in collector.incoming() {
            let _ = sender.send(read_request(stream.unwrap()));
        }
    });
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("fake.yaml");
    std::fs::write(&config, fake_config("  - {name: traced, description: x, command: env TRACEPARENT}\n")).unwrap();
    let mut command = climax();
    command.args(["--transport", "streamable-http", "--port", "0", "--config"]).arg(&config);
    let mut web = Web::spawn(command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint));
    let parent = format!("00-{TRACE}-b7ad6b7169203331-01");
    let seen = web.call(&[&format!("traceparent: {parent}")], "traced", &json!({}));
    assert!(
        seen.contains(TRACE) && !seen.contains("b7ad6b7169203331"),
        "the parent of the program is the span of the call: {seen}"
    );
    web.signal("TERM");
    let (line, body) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(line, "POST /v1/traces HTTP/1.1");
    let holds = |bytes: &[u8]| body.windows(bytes.len()).any(|window| window == bytes);
    let trace: Vec<u8> = (0..16).map(|at| u8::from_str_radix(&TRACE[2 * at..2 * at + 2], 16).unwrap()).collect();
    assert!(holds(b"service.name\x12\x08\x0a\x06climax"), "{}", String::from_utf8_lossy(&body));
    // The kind is the sixth field of a span, and 2 is that of servers.
    let described = ["tools/call traced", "mcp.method.name", "gen_ai.tool.name", "jsonrpc.request.id", "outcome"];
    let is_described = described.iter().all(|text| holds(text.as_bytes())) && holds(b"traced\x30\x02");
    assert!(is_described && holds(&trace) && !holds(b"error.type"), "{}", String::from_utf8_lossy(&body));
    assert_eq!(web.ended(), Some(0));
}
