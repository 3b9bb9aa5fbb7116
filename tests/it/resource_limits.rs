//! Servers against clients that take more than their share.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{PATIENCE, Server, climax, fake_config, text, until};
use crate::web::Web;

const ADA: &str = "Authorization: Bearer 0123456789abcdef0123456789";
const BOB: &str = "Authorization: Bearer fedcba9876543210fedcba9876";

/// A file with the tokens of both.
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

/// Calls that run or wait, by the server's own figures.
fn open_calls(web: &Web, headers: &[&str]) -> usize {
    let text = web.get("/metrics", headers).text();
    let figures = ["climax_calls_running ", "climax_calls_waiting "];
    let lines = text.lines().filter_map(|line| figures.iter().find_map(|name| line.strip_prefix(name)));
    lines.map(|figure| figure.parse::<usize>().unwrap()).sum()
}

fn without_answer(web: &Web, headers: &str, body: &Value) -> TcpStream {
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
fn what_waiting_calls_of_a_caller_hold_is_bounded_and_keeps_out_no_other_request() {
    let (directory, config) =
        config("  - {name: eater, description: x, command: announce, args: [{name: text, stdin: true}]}\n");
    let web = Web::start(&["--max-concurrency", "1", "--config", &config, "--token-file", &tokens(&directory)]);
    let [ada, bob] = [ADA, BOB];
    let session = web.session(&[ada]);
    // A little less than 4 MiB: sixteen of them are all that one caller can hold at once.
    let text = "x".repeat((4 << 20) - 1_000);
    let arguments = json!({ "tool_name": "eater", "args": { "text": text } });
    let call = |id: usize| {
        let params = json!({ "name": "climax_call", "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    for id in 0..16 {
        // A session's call goes on when its connection is gone.
        let connection = without_answer(&web, &format!("{session}\r\n{ada}\r\n"), &call(id));
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
fn what_a_session_keeps_of_its_opening_is_bounded() {
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
fn a_caller_that_opens_many_sessions_ends_its_own() {
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
fn a_client_that_says_often_that_it_is_ready_is_told_of_a_change_once() {
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
    // With the end of the session its stream ends, and with it what else there was to be told.
    let delete = format!("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n{session}\r\n\r\n");
    assert!(web.raw(delete.as_bytes()).status < 300);
    assert_eq!(stream.event(), None);
}

#[test]
fn idle_connections_leave_descriptors_for_programs_and_room_for_newcomers() {
    let (_directory, config) = config("  - {name: quick, description: x, command: exit 0 done}\n");
    let script = r#"ulimit -n 200; exec "$0" --transport streamable-http --port 0 --max-concurrency 4 --config "$1""#;
    let web = Web::spawn(Command::new("sh").args(["-c", script, env!("CARGO_BIN_EXE_climax"), &config]));
    let mut idle: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(web.address).unwrap()).collect();
    assert_eq!(web.call(&[], "quick", &json!({})), "done");
    let first = &mut idle[0];
    first.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(first.read(&mut [0]).unwrap_or(0), 0, "it made room");
}

#[test]
fn a_target_names_no_other_host_than_the_header_may() {
    let web = Web::start(&[]);
    let status = |target: &str| {
        web.raw(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n").as_bytes())
            .status
    };
    assert_eq!(status("http://localhost/mcp"), status("/mcp"));
    assert_eq!(status("http://evil.example/mcp"), 403);
}

#[test]
fn an_id_that_is_none_is_not_repeated_at_length() {
    let web = Web::start(&[]);
    let digits = "9".repeat(100_000);
    let answer = web.post(&[], &format!(r#"{{"jsonrpc":"2.0","id":{digits},"method":"tools/list"}}"#));
    assert_eq!(answer.status, 400);
    let text = answer.text();
    assert!(text.len() < 500 && text.contains("999…"), "{text:.500}");
}

/// A search with a list of so many numbers, in whichever order a client writes its members.
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
fn a_message_of_many_small_values_is_refused_before_it_costs_anything() {
    let web = Web::start(&[]);
    let mut server = Server::start(&[]);
    let headers = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: climax_search"];
    for is_late in [false, true] {
        let fine = search_among(19_900, is_late);
        let answer = web.post(&headers, &fine).json();
        assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(7), &json!(false)), "{answer}");
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
            // It is not looked for behind what is too much.
            assert_eq!(refused["id"], if is_late { json!(null) } else { json!(7) });
        }
    }
}

#[test]
fn many_small_values_in_a_string_are_no_arguments() {
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
fn methods_that_only_the_sdk_knows_are_not_found_by_a_sentence() {
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
        // To a client of a session 404 says that the session is gone.
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let in_session = web.post(&[&session], &request);
        assert_eq!(in_session.status, 200);
        for answer in [by_http.json(), in_session.json()] {
            assert_eq!((&answer["error"]["code"], &answer["error"]["message"]), (&json!(-32601), &json!(expected)));
        }
    }
    assert_eq!(web.modern(&[], "ping", &json!({})).json()["error"]["message"], "Method not found: ping");
}

#[test]
fn a_client_that_sends_too_much_is_told_so_when_it_has_sent_it() {
    let web = Web::start(&[]);
    let answer = web.post(&[], &" ".repeat(10 << 20));
    assert_eq!(answer.status, 413);
}

#[test]
fn a_head_has_a_length_that_is_said() {
    let web = Web::start(&[]);
    let status = |length: usize| web.get("/healthz", &[&format!("X-Long: {}", "a".repeat(length))]).status;
    assert_eq!(status((32 << 10) - 200), 200);
    assert_eq!(status(32 << 10), 431);
    let refused = web.get("/healthz", &[&format!("X-Long: {}", "a".repeat(40_000))]);
    assert_eq!(refused.status, 431);
    assert!(refused.text().contains("32768 at most"));
}

#[test]
fn heads_that_two_readers_could_take_for_two_requests_are_refused() {
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
fn what_can_only_be_read_says_so() {
    let web = Web::start(&[]);
    for path in ["/healthz", "/readyz", "/metrics"] {
        let answer = |method: &str| web.raw(format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        assert_eq!([answer("GET").status, answer("HEAD").status], [200; 2], "{path}");
        let refused = answer("PUT");
        assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")), "{path}");
    }
}

#[test]
fn clients_that_are_slow_to_ask_keep_out_nobody() {
    let script = r#"ulimit -n 200; exec "$0" --transport streamable-http --port 0 --max-concurrency 4"#;
    let web = Web::spawn(Command::new("sh").args(["-c", script, env!("CARGO_BIN_EXE_climax")]));
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{";
    let mut slow: Vec<TcpStream> = Vec::new();
    for _ in 0..300 {
        let mut stream = TcpStream::connect(web.address).unwrap();
        // It may have been closed already, for one that came later.
        let _ = stream.write_all(head.as_bytes());
        slow.push(stream);
    }
    assert_eq!(web.get("/healthz", &[]).text(), "ok\n");
}

#[test]
fn a_client_that_listens_often_leaves_connections_to_others() {
    let directory = tempfile::tempdir().unwrap();
    let script =
        r#"ulimit -n 200; exec "$0" --transport streamable-http --port 0 --max-concurrency 4 --token-file "$1""#;
    let web = Web::spawn(Command::new("sh").args(["-c", script, env!("CARGO_BIN_EXE_climax"), &tokens(&directory)]));
    let listen =
        || web.modern(&[ADA], "subscriptions/listen", &json!({ "notifications": { "toolsListChanged": true } }));
    let mut streams = Vec::new();
    let refused = loop {
        let answer = listen();
        match answer.status {
            200 => streams.push(answer),
            _ => break answer,
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
fn mistakes_of_clients_do_not_fill_the_log() {
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
fn a_client_that_asks_without_end_over_standard_input_is_refused_and_may_go_on_later() {
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
