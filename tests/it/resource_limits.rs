//! Limits that protect the server and its other clients from a client that sends too much.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{PATIENCE, Server, binary, climax, fake_config, text, until};
use crate::web::Web;

const ADA: &str = "Authorization: Bearer 0123456789abcdef0123456789";
const BOB: &str = "Authorization: Bearer fedcba9876543210fedcba9876";

/// A file with the tokens of Ada and Bob.
fn tokens(directory: &tempfile::TempDir) -> String {
    let path = directory.path().join("tokens");
    std::fs::write(&path, "ada 0123456789abcdef0123456789\nbob fedcba9876543210fedcba9876\n").unwrap();
    path.to_str().unwrap().to_owned()
}

/// A directory with a config of these tools of fakecli, and its path.
fn config(tools: &str) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fake.yaml");
    std::fs::write(&path, fake_config(tools)).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (directory, path)
}

/// Calls that run or wait, by the server's metrics.
fn open_calls(web: &Web, headers: &[&str]) -> usize {
    let text = web.get("/metrics", headers).text();
    let figures = ["climax_calls_running ", "climax_calls_waiting "];
    let lines = text.lines().filter_map(|line| figures.iter().find_map(|name| line.strip_prefix(name)));
    lines.map(|figure| figure.parse::<usize>().unwrap()).sum()
}

fn post_without_reading(web: &Web, headers: &str, body: &Value) -> TcpStream {
    let body = body.to_string();
    let length = body.len();
    let mut stream = TcpStream::connect(web.address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    stream
}

#[test]
fn memory_of_waiting_calls_is_limited_per_caller() {
    let (directory, config) =
        config("  - {name: eater, description: x, command: announce, args: [{name: text, stdin: true}]}\n");
    let web = Web::start(&["--max-concurrency", "1", "--config", &config, "--token-file", &tokens(&directory)]);
    let [ada, bob] = [ADA, BOB];
    let session = web.session(&[ada]);
    // A little less than 4 MiB. The limit of one caller is sixteen of them.
    let text = "x".repeat((4 << 20) - 1_000);
    let arguments = json!({ "tool_name": "eater", "args": { "text": text } });
    let call = |id: usize| {
        let params = json!({ "name": "climax_call", "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    for id in 0..16 {
        // A call of a session continues after its connection is closed.
        let connection = post_without_reading(&web, &format!("{session}\r\n{ada}\r\n"), &call(id));
        until("the call to wait", || open_calls(&web, &[bob]) == id + 1);
        drop(connection);
    }
    let refused = web.post(&[&session, ada], &call(16).to_string());
    assert_eq!(refused.status, 503);
    assert!(refused.text().contains("too many large requests"));
    let search = |arguments: Value| json!({ "name": "climax_search", "arguments": arguments });
    let small = search(json!({ "query": "git log" }));
    assert_eq!(web.modern(&[ada], "tools/call", &small).status, 200);
    let large = search(json!({ "query": "git log", "unknown": text }));
    assert_eq!(web.modern(&[ada], "tools/call", &large).status, 503);
    assert_eq!(web.modern(&[bob], "tools/call", &large).status, 200, "others have room");
    let delete = format!("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n{session}\r\n{ada}\r\n\r\n");
    assert!(web.raw(delete.as_bytes()).status < 300);
    until("the memory to be free", || web.modern(&[ada], "tools/call", &large).status == 200);
}

#[test]
fn initialize_request_has_a_length_limit() {
    let web = Web::start(&[]);
    let client = json!({ "name": "test", "version": "0", "title": "x".repeat(100_000) });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let refused = web.post(&[], &request.to_string());
    assert_eq!(refused.status, 413);
    assert!(refused.text().contains("64 KiB"));
    web.session(&[]);
}

#[test]
fn caller_with_many_sessions_loses_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let web = Web::start(&["jq", "--token-file", &tokens(&directory)]);
    let of_bob = web.session(&[BOB]);
    let of_ada = web.session(&[ADA]);
    for _ in 0..1_000 {
        web.session(&[ADA]);
    }
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    assert_eq!(web.post(&[&of_ada, ADA], &list).status, 404);
    assert_eq!(web.post(&[&of_bob, BOB], &list).status, 200);
    assert!(web.get("/metrics", &[BOB]).text().contains("climax_sessions 1000\n"));
}

#[test]
fn repeated_initialized_gets_one_notification_of_a_change() {
    let (_directory, config) = config("  - {name: first, description: The first, command: argv}\n");
    let web = Web::start(&["--classic", "jq", "--config", &config]);
    let session = web.session(&[]);
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    for _ in 0..3 {
        assert_eq!(web.post(&[&session], &ready).status, 202);
    }
    let mut stream = web.get("/mcp", &[&session, "Accept: text/event-stream"]);
    for name in ["second", "third"] {
        std::fs::write(&config, fake_config(&format!("  - {{name: {name}, description: x, command: argv}}\n")))
            .unwrap();
        web.signal("HUP");
        assert_eq!(stream.event().unwrap()["method"], "notifications/tools/list_changed");
    }
    // The stream ends with its session. No second notification was in it.
    let delete = format!("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n{session}\r\n\r\n");
    assert!(web.raw(delete.as_bytes()).status < 300);
    assert_eq!(stream.event(), None);
}

#[test]
fn idle_connections_are_evicted() {
    let (_directory, config) = config("  - {name: quick, description: x, command: exit 0 done}\n");
    let script = r#"ulimit -n 200; exec "$0" --transport streamable-http --port 0 --max-concurrency 4 --config "$1""#;
    let web = Web::spawn(Command::new("sh").args(["-c", script, binary(), &config]));
    let mut idle: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(web.address).unwrap()).collect();
    assert_eq!(web.call(&[], "quick", &json!({})), "done");
    let first = &mut idle[0];
    first.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(first.read(&mut [0]).unwrap_or(0), 0, "it is evicted");
}

#[test]
fn host_in_the_target_is_checked_too() {
    let web = Web::start(&[]);
    let status = |target: &str| {
        web.raw(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n").as_bytes())
            .status
    };
    assert_eq!(status("http://localhost/mcp"), status("/mcp"));
    assert_eq!(status("http://evil.example/mcp"), 403);
}

#[test]
fn malformed_id_is_shortened_in_the_error() {
    let web = Web::start(&[]);
    let digits = "9".repeat(100_000);
    let response = web.post(&[], &format!(r#"{{"jsonrpc":"2.0","id":{digits},"method":"tools/list"}}"#));
    assert_eq!(response.status, 400);
    let text = response.text();
    assert!(text.len() < 500 && text.contains("999…"), "{text:.500}");
}

/// A search with a list of so many numbers. With `is_late`, `method` and `id` come after `params`.
fn search_among(numbers: usize, is_late: bool) -> String {
    let list = vec!["1"; numbers].join(",");
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    let params = format!(r#"{{"name":"climax_search","_meta":{meta},"arguments":{{"query":"git log","x":[{list}]}}}}"#);
    if is_late {
        format!(r#"{{"params":{params},"jsonrpc":"2.0","method":"tools/call","id":7}}"#)
    } else {
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#)
    }
}

#[test]
fn message_with_too_many_values_is_refused() {
    let web = Web::start(&[]);
    let mut server = Server::start(&[]);
    let headers = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: climax_search"];
    for is_late in [false, true] {
        let fine = search_among(19_900, is_late);
        let response = web.post(&headers, &fine).json();
        assert_eq!((&response["id"], &response["result"]["isError"]), (&json!(7), &json!(false)), "{response}");
        server.send_line(fine.as_bytes());
        assert_eq!(server.receive()["result"]["isError"], false);
        let many = search_among(1_900_000, is_late);
        let refused = web.post(&headers, &many);
        assert_eq!(refused.status, 400);
        server.send_line(many.as_bytes());
        for refused in [refused.json(), server.receive()] {
            assert_eq!(refused["error"]["code"], -32600, "{refused}");
            let message = refused["error"]["message"].as_str().unwrap();
            assert!(message.contains("19000") && message.contains("20000 at most"), "{message}");
            // Behind the limit the id is not read.
            assert_eq!(refused["id"], if is_late { json!(null) } else { json!(7) });
        }
    }
}

#[test]
fn string_with_too_many_values_is_no_arguments() {
    let mut server = Server::start(&["coreutils"]);
    let call = |numbers: usize| {
        let args = format!(r#"{{"format":"+%s","x":[{}]}}"#, vec!["1"; numbers].join(","));
        json!({ "tool_name": "coreutils_date", "args": args })
    };
    let few = server.tool("climax_call", call(10));
    assert_eq!(few["isError"], false, "{few}");
    let many = server.tool("climax_call", call(30_000));
    assert!(text(&many).contains("Argument 'args'"), "{many}");
}

#[test]
fn methods_that_only_the_sdk_knows_are_not_found() {
    let web = Web::start(&[]);
    let session = web.session(&[]);
    let mut server = Server::start(&[]);
    for method in ["skills/list", "skills/get", "resources/directory/read"] {
        let params = json!({ "uri": "skill://a", "name": "a" });
        let expected = format!("Method not found: {method}");
        let by_stdio = server.request(method, params.clone());
        assert_eq!(by_stdio["error"]["message"], expected);
        let by_http = web.modern(&[&format!("Mcp-Name: {method}")], method, &params);
        assert_eq!(by_http.status, 404);
        // To a client of a session, 404 means that the session has ended.
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let in_session = web.post(&[&session], &request);
        assert_eq!(in_session.status, 200);
        for response in [by_http.json(), in_session.json()] {
            assert_eq!((&response["error"]["code"], &response["error"]["message"]), (&json!(-32601), &json!(expected)));
        }
    }
    assert_eq!(web.modern(&[], "ping", &json!({})).json()["error"]["message"], "Method not found: ping");
}

#[test]
fn response_to_an_oversized_body_comes_after_it_is_sent() {
    let web = Web::start(&[]);
    let response = web.post(&[], &" ".repeat(10 << 20));
    assert_eq!(response.status, 413);
}

#[test]
fn head_has_a_length_limit() {
    let web = Web::start(&[]);
    let status = |length: usize| web.get("/healthz", &[&format!("X-Long: {}", "a".repeat(length))]).status;
    assert_eq!(status((32 << 10) - 200), 200);
    assert_eq!(status(32 << 10), 431);
    let refused = web.get("/healthz", &[&format!("X-Long: {}", "a".repeat(40_000))]);
    assert_eq!(refused.status, 431);
    assert!(refused.text().contains("32768 at most"));
}

#[test]
fn ambiguous_heads_are_refused() {
    let web = Web::start(&[]);
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for (header, status) in [
        ("Content-Type: text/plain", 400),
        ("Content-Length: 5", 400),
        ("Mcp-Session-Id: a\r\nMcp-Session-Id: b", 400),
        ("MCP-Protocol-Version: 2025-06-18\r\nMCP-Protocol-Version: 2026-07-28", 400),
        ("X-Folded: a\r\n b", 400),
        ("Transfer-Encoding : chunked", 400),
        ("Transfer-Encoding: xchunked", 400),
        ("Content-Encoding: gzip", 415),
        ("Host: localhost", 403),
    ] {
        assert_eq!(web.post(&[header], list).status, status, "{header}");
    }
    let long = "e".repeat(20_000);
    let refused = web.post(&[&format!("Origin: https://{long}")], list);
    assert_eq!(refused.status, 403);
    assert!(refused.text().len() < 1_000);
}

#[test]
fn heads_whose_lines_end_without_a_carriage_return_are_refused() {
    let web = Web::start(&[]);
    let body = "{\n\"jsonrpc\":\"2.0\",\n\n\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\n\
                \"capabilities\":{},\"clientInfo\":{\"name\":\"test\",\"version\":\"0\"}}}\n";
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-06-18\r\n";
    let whole = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    assert_eq!(web.raw(whole.as_bytes()).status, 200);

    for at in whole.match_indices("\r\n").map(|(at, _)| at) {
        let bare = format!("{}{}", &whole[..at], &whole[at + 1..]);
        assert_eq!(web.raw(bare.as_bytes()).status, 400, "{bare}");
    }
    assert_eq!(web.raw(format!("\n{whole}").as_bytes()).status, 400);

    // Behind another request of the connection, whether that has a body or not.
    let probe = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for first in [probe, &whole] {
        let statuses = |second: &str| {
            let all = exchange(web.address, &format!("{first}{second}"));
            all.lines().filter_map(|line| line.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()).collect::<Vec<u16>>()
        };
        let last = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        assert_eq!(statuses(last)[1..], [200], "{first}");
        assert_eq!(statuses(&last.replacen("\r\n", "\n", 1))[1..], [400], "{first}");
    }

    // No request follows a body whose end only the chunks say.
    let chunked =
        format!("{head}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n{}", probe.replace("\r\n", "\n"));
    let answer = exchange(web.address, &chunked);
    assert_eq!((answer.matches("HTTP/1.1 ").count(), answer.to_lowercase().contains("connection: close")), (1, true));
}

/// Sends bytes, and returns all that comes until the server closes the connection.
fn exchange(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

#[test]
fn probes_and_metrics_allow_get_and_head_only() {
    let web = Web::start(&[]);
    for path in ["/healthz", "/readyz", "/metrics"] {
        let response =
            |method: &str| web.raw(format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        assert_eq!([response("GET").status, response("HEAD").status], [200; 2], "{path}");
        let refused = response("PUT");
        assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")), "{path}");
    }
}

#[test]
fn clients_with_incomplete_requests_are_evicted() {
    let script = r#"ulimit -n 200; exec "$0" --transport streamable-http --port 0 --max-concurrency 4"#;
    let web = Web::spawn(Command::new("sh").args(["-c", script, binary()]));
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{";
    let mut slow: Vec<TcpStream> = Vec::new();
    for _ in 0..300 {
        let mut stream = TcpStream::connect(web.address).unwrap();
        // It may have been evicted already.
        let _ = stream.write_all(head.as_bytes());
        slow.push(stream);
    }
    assert_eq!(web.get("/healthz", &[]).text(), "ok\n");
}

#[test]
fn client_with_many_streams_leaves_connections_to_others() {
    let directory = tempfile::tempdir().unwrap();
    let script =
        r#"ulimit -n 200; exec "$0" --transport streamable-http --port 0 --max-concurrency 4 --token-file "$1""#;
    let web = Web::spawn(Command::new("sh").args(["-c", script, binary(), &tokens(&directory)]));
    let listen =
        || web.modern(&[ADA], "subscriptions/listen", &json!({ "notifications": { "toolsListChanged": true } }));
    let mut streams = Vec::new();
    let refused = loop {
        let response = listen();
        match response.status {
            200 => streams.push(response),
            _ => break response,
        }
    };
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    assert!((20..100).contains(&streams.len()), "{}", streams.len());
    let other = web.modern(&[BOB], "subscriptions/listen", &json!({ "notifications": { "toolsListChanged": true } }));
    assert_eq!(other.status, 200);
    streams.clear();
    until("the streams to end", || listen().status == 200);
}

#[test]
fn client_errors_are_logged_at_debug_only() {
    let directory = tempfile::tempdir().unwrap();
    let logged = |level: &str| {
        let path = directory.path().join(level);
        let mut server = Server::spawn(climax().args(["--log-level", level]).env("CLIMAX_LOG_FILE", &path));
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/early" }));
        server.initialize("2025-06-18");
        for _ in 0..10 {
            assert_eq!(server.request("no/such", json!({}))["error"]["code"], -32601);
            server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": 5 }));
            server
                .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 99 } }));
            server.send(&json!({ "jsonrpc": "2.0", "id": 99, "result": {} }));
        }
        server.request("ping", json!({}));
        server.finish();
        std::fs::read_to_string(path).unwrap()
    };
    assert_eq!(logged("info"), "");
    let debug = logged("debug");
    assert!(debug.contains("Method not found") && debug.contains("malformed notification"), "{debug}");
}

#[test]
fn stdio_limits_requests_in_flight() {
    let (_directory, config) = config("  - {name: sleeper, description: x, command: announce}\n");
    let mut server = Server::start(&["--max-concurrency", "1", "--config", &config]);
    let call = json!({ "name": "climax_call", "arguments": { "tool_name": "sleeper" } });
    let first = server.post("tools/call", call.clone());
    for _ in 1..4_096 {
        server.post("tools/call", call.clone());
    }
    let refused = server.request("tools/call", call.clone());
    assert!(refused["error"]["message"].as_str().unwrap().contains("4096 requests are open"), "{refused}");
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": first } }));
    let search = json!({ "name": "climax_search", "arguments": { "query": "git log" } });
    let found = server.request("tools/call", search);
    assert_eq!(found["result"]["isError"], false, "{found}");
    server.send(&json!({ "jsonrpc": "2.0", "id": first + 1, "method": "ping" }));
    let refused = server.receive();
    assert!(refused["error"]["message"].as_str().unwrap().contains("this id"), "{refused}");
}

/// Starts a server with this limit on descriptors.
fn server_with_descriptors(limit: usize, args: &[&str]) -> Server {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -n {limit}; exec \"$0\" \"$@\""), binary()]).args(args);
    let mut server = Server::spawn(&mut shell);
    server.initialize("2025-06-18");
    server
}

#[test]
fn calls_without_descriptors_wait_for_running_ones() {
    let (_directory, config) = config("  - {name: nap, description: x, command: lines 1 100}\n");
    let mut server = server_with_descriptors(64, &["--config", &config, "--max-concurrency", "120"]);
    for _ in 0..120 {
        server.post("tools/call", json!({ "name": "climax_call", "arguments": { "tool_name": "nap" } }));
    }
    for _ in 0..120 {
        let answer = server.receive();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
}

#[test]
fn call_without_descriptors_fails_as_retryable_if_no_other_runs() {
    let mut server = Server::start(&["coreutils"]);
    let process = rustix::process::Pid::from_child(&server.child);
    let open = std::fs::read_dir(format!("/proc/{}/fd", server.child.id())).unwrap().count();
    let limit = Some(u64::try_from(open).unwrap());
    let limit = rustix::process::Rlimit { current: limit, maximum: limit };
    rustix::process::prlimit(Some(process), rustix::process::Resource::Nofile, limit).unwrap();
    let error = server.call("coreutils_date", json!({}))["structuredContent"]["error"].clone();
    assert_eq!((&error["code"], &error["retryable"]), (&json!("spawn_failed"), &json!(true)), "{error}");
}
