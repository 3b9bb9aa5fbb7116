//! Streamable HTTP: authentication, responses, sessions, limits and shutdown.

use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::{PATIENCE, Server, announced, binary, climax, fake_config, is_running, run, until};
use crate::web::{Response, Web};

const ADA: &str = "0123456789abcdef0123456789";
const BOB: &str = "fedcba9876543210fedcba9876";

/// A directory with files that a server reads.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Replaces a file in one step, as editors do.
    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(path.with_extension("new"), text).unwrap();
        std::fs::rename(path.with_extension("new"), &path).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A config with these tools of fakecli.
    fn config(&self, tools: &str) -> String {
        let pids = self.path("pids").display().to_string();
        self.write("fake.yaml", &format!("{}env: {{FAKECLI_PIDS: {pids}}}\n", fake_config(tools)))
    }

    fn tokens(&self) -> String {
        self.write("tokens", &format!("ada {ADA}\nbob {BOB}\n"))
    }
}

/// A tool that sleeps. Its grandchild writes its pid to the file `pids`.
const SLEEPER: &str = "  - {name: sleeper, description: Sleep, command: family}\n";

/// A server with a session in which a call runs.
struct Sleeping {
    web: Web,
    /// The session header.
    session: String,
    call: String,
    pids: PathBuf,
    _files: Files,
    _response: Response,
}

impl Sleeping {
    fn start() -> Self {
        let files = Files::new();
        let pids = files.path("pids");
        let web = Web::start(&["--config", &files.config(SLEEPER)]);
        let session = web.session(&[]);
        let params = json!({ "name": "climax_call", "arguments": { "tool_name": "sleeper" } });
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string();
        let response = web.post(&[&session], &call);
        until("the program", || announced(&pids).len() == 1);
        Self { web, session, call, pids, _files: files, _response: response }
    }
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

fn tool_names(response: Response) -> Vec<String> {
    let response = response.json();
    let tools = response["result"]["tools"].as_array().unwrap_or_else(|| panic!("{response}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn both_revisions_list_and_call() {
    let web = Web::start(&[]);
    let names = tool_names(web.modern(&[], "tools/list", &json!({})));
    assert_eq!(names, ["climax_search", "climax_call"]);
    let seconds = web.call(&[], "coreutils_date", &json!({ "format": "+%s" }));
    assert!(seconds.parse::<u64>().is_ok(), "{seconds}");
    let session = web.session(&[]);
    let list = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list" }).to_string();
    let mut response = web.post(&[&session], &list);
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    let message = response.event().unwrap();
    assert_eq!((&message["id"], &message["result"]["tools"][0]["name"]), (&json!(5), &json!("climax_search")));
}

/// Over standard input and output the list is prerendered. Over HTTP the SDK makes it.
#[test]
fn prerendered_list_equals_that_of_the_sdk() {
    let web = Web::start(&["--classic", "git", "jq"]);
    let mut modern = Server::spawn(climax().args(["--classic", "git", "jq"]));
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    let prerendered = modern.request("tools/list", json!({ "_meta": meta }))["result"].to_string();
    let made = web.modern(&[], "tools/list", &json!({})).json()["result"].to_string();
    assert_eq!(prerendered, made);
    let prerendered = Server::start(&["--classic", "git", "jq"]).request("tools/list", json!({}))["result"].to_string();
    let list = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list" }).to_string();
    let made = web.post(&[&web.session(&[])], &list).event().unwrap()["result"].to_string();
    assert_eq!(prerendered, made);
}

#[test]
fn huge_numbers_and_lone_surrogates_are_read() {
    let web = Web::start(&[]);
    let session = web.session(&[]);
    let huge = "123456789012345678901234567890";
    for (extra, text) in [(huge.to_owned(), huge), (r#""\ud800""#.to_owned(), "\u{fffd}")] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":"\udc00","method":"tools/call","params":{{"_meta":{{"x":{extra}}},"name":"climax_call","arguments":{{"tool_name":{extra}}}}}}}"#
        );
        let answer = web.post(&[&session], &body).event().unwrap();
        assert_eq!(answer["id"], "\u{fffd}");
        assert_eq!(answer["result"]["structuredContent"]["error"]["message"], format!("Unknown tool: {text}"));
    }
}

#[test]
fn malformed_requests_get_an_error() {
    let web = Web::start(&[]);
    let cases: &[(&str, i64)] = &[
        ("{", -32700),
        ("", -32700),
        (" ", -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}x"#, -32700),
        (&format!("{}1{}", "[".repeat(15_000), "]".repeat(15_000)), -32700),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"no/such","params":"x"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","\u006dethod":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#, -32600),
        // Neither a session nor a revision.
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"x"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}"#, -32602),
    ];
    for (body, code) in cases {
        let response = web.post(&[], body);
        assert_eq!((response.status, response.header("content-type")), (400, Some("application/json")), "{body:.80}");
        let response = response.json();
        assert_eq!(response["error"]["code"], *code, "{body:.80}: {response}");
    }
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let length = list.len();
    let unacceptable = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{list}");
    let unacceptable = web.raw(unacceptable.as_bytes());
    assert_eq!(unacceptable.status, 406);
    assert_eq!(unacceptable.json()["id"], 1);
    let deep_utf8 = web.raw(
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
          Accept: application/json, text/event-stream\r\nContent-Length: 4\r\n\r\n\"\xff\xfe\"",
    );
    assert_eq!(deep_utf8.status, 400);
    let too_long = web.raw(
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
          Accept: application/json, text/event-stream\r\nContent-Length: 99999999999\r\n\r\n{}",
    );
    assert_eq!(too_long.status, 413);
    assert_eq!(web.get("/elsewhere", &[]).status, 404);
    assert_eq!(web.raw(b"BREW /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 405);
    // Two lengths: a proxy and the server could read two different requests (request smuggling).
    let smuggled =
        web.raw(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x");
    assert_eq!(smuggled.status, 400);
    assert_eq!(web.get("/healthz", &[]).text(), "ok\n");
}

#[test]
fn public_address_needs_tokens_or_insecure_no_auth() {
    let http = ["--transport", "streamable-http", "--port", "0", "--host", "0.0.0.0"];
    let (status, _, stderr) = run(climax().args(http));
    assert_eq!(status, 1);
    assert!(stderr.contains("--token-file") && stderr.contains("--insecure-no-auth"), "{stderr}");
    let web = Web::start(&["--host", "0.0.0.0", "--insecure-no-auth"]);
    assert_eq!(web.get("/healthz", &[]).status, 200);
}

#[test]
fn refuses_other_hosts_and_origins_and_names_the_option() {
    let web = Web::start(&["--allowed-host", "tools.example", "--allowed-origin", "https://app.example"]);
    let list = |host: &str, origin: &str| {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let length = body.len();
        web.raw(
            format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\n{origin}Content-Length: {length}\r\n\r\n{body}").as_bytes(),
        )
    };
    let refused = list("evil.example", "");
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("--allowed-host evil.example"));
    let refused = list("tools.example", "Origin: https://evil.example\r\n");
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("--allowed-origin https://evil.example"));
    // The host check passes. The request lacks a header of the protocol.
    assert_eq!(list("tools.example:8443", "Origin: https://app.example\r\n").status, 406);
}

/// Source: WHATWG Fetch, section 3.2, "CORS protocol".
#[test]
fn cors_headers_are_sent_to_allowed_origins_only() {
    let files = Files::new();
    let origin = "Origin: https://app.example";
    let web = Web::start(&["--token-file", &files.tokens(), "--allowed-origin", "https://App.example:443"]);
    let preflight = |host: &str, origin: &str| {
        web.raw(
            format!(
                "OPTIONS /mcp HTTP/1.1\r\nHost: {host}\r\n{origin}\r\nAccess-Control-Request-Method: POST\r\n\
                 Access-Control-Request-Headers: authorization,mcp-param-a\r\n\r\n"
            )
            .as_bytes(),
        )
    };
    let allowed = "access-control-allow-origin";
    let permitted = preflight("localhost", origin);
    assert_eq!((permitted.status, permitted.header(allowed)), (204, Some("https://app.example")));
    assert_eq!(permitted.header("access-control-allow-headers"), Some("authorization,mcp-param-a"));
    assert!(permitted.header("access-control-allow-methods").unwrap().contains("POST"));
    let refused = [
        preflight("evil.example", origin),
        preflight("localhost", "Origin: https://evil.example"),
        // Local origins pass the host check, but get no CORS headers unless they are named.
        preflight("localhost", "Origin: http://localhost:6274"),
    ];
    assert_eq!(
        refused.map(|response| (response.status, response.header(allowed).is_some())),
        [(403, true), (403, false), (401, false)]
    );
    let without = web.modern(&[origin], "tools/list", &json!({}));
    assert_eq!((without.status, without.header(allowed)), (401, Some("https://app.example")));
    assert!(without.header("access-control-expose-headers").unwrap().contains("WWW-Authenticate"));
    let list = web.modern(&[origin, &bearer(ADA)], "tools/list", &json!({}));
    assert_eq!((list.status, list.header(allowed)), (200, Some("https://app.example")));
    let others = web.modern(&["Origin: http://localhost:6274", &bearer(ADA)], "tools/list", &json!({}));
    assert_eq!((others.status, others.header(allowed)), (200, None));
    let (status, _, stderr) =
        run(climax().args(["--transport", "streamable-http", "--allowed-origin", "https://app.example/"]));
    assert_eq!(status, 2);
    assert!(stderr.contains("without a path"), "{stderr}");
}

#[test]
fn tokens_authenticate_and_are_reloaded() {
    let files = Files::new();
    let tokens = files.tokens();
    let web = Web::start(&["--token-file", &tokens]);
    let list = |header: &[&str]| web.modern(header, "tools/list", &json!({}));
    let without = list(&[]);
    assert_eq!((without.status, without.header("www-authenticate")), (401, Some(r#"Bearer realm="climax""#)));
    let wrong = list(&[&bearer("0123456789abcdef0123456788")]);
    assert_eq!(wrong.status, 401);
    assert!(wrong.header("www-authenticate").unwrap().contains("invalid_token"));
    let other = list(&["Authorization: Basic YWRhOng="]);
    assert!(other.status == 401 && other.text().contains("`Authorization: Bearer TOKEN`"));
    assert_eq!(list(&[&bearer(ADA)]).status, 200);
    assert_eq!(list(&[&bearer(ADA), &bearer(BOB)]).status, 401, "one caller, one token");
    assert_eq!(web.get("/metrics", &[]).status, 401);
    assert_eq!(web.get("/readyz", &[]).status, 200, "probes carry no token");
    files.write("tokens", &format!("bob {BOB}\n"));
    web.signal("HUP");
    until("the reload", || list(&[&bearer(ADA)]).status == 401);
    assert_eq!(list(&[&bearer(BOB)]).status, 200);
    files.write("tokens", "bob short\n");
    web.signal("HUP");
    assert_eq!(list(&[&bearer(BOB)]).status, 200, "a file that cannot be used changes nothing");
    let (status, _, stderr) = run(climax().args(["--transport", "streamable-http", "--token-file", &tokens]));
    assert_eq!(status, 1);
    assert!(stderr.contains("5 characters"), "{stderr}");
}

#[test]
fn streams_end_when_their_token_is_revoked() {
    let files = Files::new();
    let config = files.config(SLEEPER);
    let web = Web::start(&["--classic", "--config", &config, "--token-file", &files.tokens()]);
    let listen = |token: &str| {
        let wanted = json!({ "notifications": { "toolsListChanged": true } });
        let mut stream = web.modern(&[&bearer(token)], "subscriptions/listen", &wanted);
        stream.event().expect("that it listens");
        stream
    };
    let [mut ada, mut bob] = [ADA, BOB].map(listen);
    let session = web.session(&[&bearer(ADA)]);
    let mut session = web.get("/mcp", &[&session, &bearer(ADA), "Accept: text/event-stream"]);
    files.write("tokens", &format!("bob {BOB}\n"));
    web.signal("HUP");
    assert_eq!([&mut ada, &mut session].map(Response::event), [None, None]);
    files.config(&SLEEPER.replace("sleeper", "dreamer"));
    web.signal("HUP");
    assert_eq!(bob.event().expect("a change")["method"], "notifications/tools/list_changed");
}

#[test]
fn wrong_tokens_are_rate_limited() {
    let files = Files::new();
    let web = Web::start(&["--token-file", &files.tokens()]);
    let guess = |_| web.modern(&[&bearer("0123456789abcdef0123456788")], "tools/list", &json!({}));
    let refused = (0..40).map(guess).find(|response| response.status == 429).expect("a refusal");
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    assert_eq!(web.modern(&[&bearer(ADA)], "tools/list", &json!({})).status, 200, "right tokens are not");
}

#[test]
fn callers_see_their_own_catalog_and_sessions() {
    let files = Files::new();
    let policy = files.write("ada.yaml", "tools: {git_log: {}}\n");
    let for_ada = format!("ada={policy}");
    let all = files.write("all.yaml", "default: enabled\n");
    let audit = files.path("audit");
    let policies = ["--policy", &all, "--policy-for", &for_ada];
    let tokens = files.tokens();
    let arguments = [&["--classic", "--token-file", &tokens], &policies[..], &["--audit"]].concat();
    let web = Web::spawn(climax().args(["--transport", "streamable-http", "--port", "0"]).args(arguments).arg(&audit));
    let [ada, bob] = [ADA, BOB].map(bearer);
    assert_eq!(tool_names(web.modern(&[&ada], "tools/list", &json!({}))), ["git_log"]);
    assert!(tool_names(web.modern(&[&bob], "tools/list", &json!({}))).len() > 400);
    assert_eq!([&ada, &bob].map(|token| web.get("/metrics", &[token]).status), [403, 200], "metrics name all tools");
    let call = web.modern(&[&ada], "tools/call", &json!({ "name": "git_log", "arguments": {} }));
    assert_eq!(call.status, 200);
    let line: Value = serde_json::from_str(std::fs::read_to_string(&audit).unwrap().trim()).unwrap();
    assert_eq!((&line["caller"], &line["tool"]), (&json!("ada"), &json!("git_log")));
    let session = web.session(&[&ada]);
    let list = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list" }).to_string();
    assert_eq!(web.post(&[&session, &bob], &list).status, 404);
    assert_eq!(web.get("/mcp", &[&session, &bob, "Accept: text/event-stream"]).status, 404);
    let mut response = web.post(&[&session, &ada], &list);
    assert_eq!(response.event().unwrap()["result"]["tools"].as_array().unwrap().len(), 1);
}

#[test]
#[cfg_attr(not(native_linux), ignore = "only Linux confines programs")]
fn policies_of_callers_give_their_programs_environment_and_confinement() {
    const TOOLS: &str = "
  - {name: variables, description: V, command: env, risk: read, needs: {env: [FAKE_*]}, args: [{name: names, positional: true, required: true, list: words}]}
  - {name: free, description: F, command: try, risk: read, args: [{name: words, positional: true, required: true}, {name: path, positional: true}]}
";
    let files = Files::new();
    let config = files.write("fake.yaml", &fake_config(TOOLS));
    let closed = files.write("closed", "closed");
    let policy = |name: &str, rest: &str| format!("{name}={}", files.write(name, &format!("default: enabled\n{rest}")));
    let held = policy("ada", "confine: all\nenv: {FAKE_TOKEN: for-ada}\n");
    let free = policy("bob", "env: {FAKE_TOKEN: {from: TOKEN_OF_BOB}}\n");
    let arguments = ["--transport", "streamable-http", "--port", "0", "--only", "--config", &config];
    let policies = ["--token-file", &files.tokens(), "--policy-for", &held, "--policy-for", &free];
    let web = Web::spawn(climax().args(arguments).args(policies).env("TOKEN_OF_BOB", "for-bob-alone"));
    let said = |token: &str, tool: &str, args: &Value| {
        let params = json!({ "name": "climax_call", "arguments": { "tool_name": tool, "args": args } });
        let response = web.modern(&[&bearer(token)], "tools/call", &params).json();
        response["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let names = json!({ "names": ["FAKE_TOKEN", "TOKEN_OF_BOB"] });
    assert_eq!(said(ADA, "variables", &names), "FAKE_TOKEN=Ok(\"for-ada\")\nTOKEN_OF_BOB=Err(NotPresent)");
    assert_eq!(said(BOB, "variables", &names), "FAKE_TOKEN=Ok(\"[secret]\")\nTOKEN_OF_BOB=Err(NotPresent)");
    let write = json!({ "words": "write", "path": closed });
    assert!(said(ADA, "free", &write).contains("Permission denied"));
    assert_eq!(said(BOB, "free", &write), "ok");
}

#[test]
fn caller_without_a_policy_is_refused_where_others_have_one() {
    const EVE: &str = "00112233445566778899aabbcc";
    let files = Files::new();
    let tokens = files.write("tokens", &format!("ada {ADA}\nbob {BOB}\neve {EVE}\n"));
    let policy = files.write("few.yaml", "tools: {git_log: {}}\n");
    let two = [format!("ada={policy}"), format!("bob={policy}")];
    let arguments = ["--classic", "--token-file", &tokens, "--policy-for", &two[0], "--policy-for", &two[1]];
    let [ada, bob, eve] = [ADA, BOB, EVE].map(bearer);
    let web = Web::start(&arguments);
    for covered in [&ada, &bob] {
        assert_eq!(tool_names(web.modern(&[covered], "tools/list", &json!({}))), ["git_log"]);
    }
    let refused = web.modern(&[&eve], "tools/list", &json!({}));
    assert_eq!(refused.status, 403);
    let said = refused.text();
    assert!(said.contains("no policy of this server covers this caller") && said.contains("--policy"), "{said}");
    let opening = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "0" },
    } });
    assert_eq!(web.post(&[&eve], &opening.to_string()).status, 403);
    assert_eq!(web.get("/mcp", &[&eve, "Accept: text/event-stream"]).status, 403);
    assert_eq!(web.get("/metrics", &[&eve]).status, 403, "metrics name tools");
    assert_eq!(web.modern(&["Authorization: Bearer 0123456789"], "tools/list", &json!({})).status, 401);
    let others = files.write("others.yaml", "tools: {git_log: {}}\n");
    let with_default = Web::start(&[&arguments[..], &["--policy", &others]].concat());
    assert_eq!(tool_names(with_default.modern(&[&eve], "tools/list", &json!({}))), ["git_log"]);
}

#[test]
fn policy_for_an_unknown_caller_fails_the_start() {
    let files = Files::new();
    let policy = files.write("ada.yaml", "tools: {git_log: {}}\n");
    for tokens in [vec![], vec!["--token-file".to_owned(), files.tokens()]] {
        let mut command = climax();
        command.args(["--transport", "streamable-http", "--port", "0", "--policy-for", &format!("adda={policy}")]);
        let (status, _, stderr) = run(command.args(tokens));
        assert_eq!(status, 1);
        assert!(stderr.contains("--policy-for adda matches no caller"), "{stderr}");
    }
}

#[test]
fn rate_limit_sends_retry_after() {
    let web = Web::start(&["--rate", "2/h"]);
    let statuses: Vec<u16> = (0..3).map(|_| web.modern(&[], "tools/list", &json!({})).status).collect();
    assert_eq!(statuses, [200, 200, 429]);
    let wait = web.modern(&[], "tools/list", &json!({}));
    let seconds: u64 = wait.header("retry-after").unwrap().parse().unwrap();
    assert!((1000..=1800).contains(&seconds), "{seconds}");
    assert_eq!(web.get("/healthz", &[]).status, 200);
}

#[test]
fn closing_the_connection_ends_the_program() {
    let files = Files::new();
    let pids = files.path("pids");
    let web = Web::start(&["--config", &files.config(SLEEPER)]);
    let connection = web.begin_call(&[], "sleeper");
    until("the program", || announced(&pids).len() == 1);
    drop(connection);
    until("the program to be gone", || announced(&pids).iter().all(|pid| !is_running(*pid)));
}

#[test]
fn caller_with_many_calls_leaves_slots_to_others() {
    let files = Files::new();
    let pids = files.path("pids");
    let config = files.config(&(SLEEPER.to_owned() + "  - {name: quick, description: Print nothing, command: argv}\n"));
    let web = Web::start(&["--token-file", &files.tokens(), "--config", &config, "--max-concurrency", "2"]);
    let [ada, bob] = [ADA, BOB].map(bearer);
    let _connections: Vec<_> = (0..5).map(|_| web.begin_call(&[&ada], "sleeper")).collect();
    let waiting = |count: u64| format!("climax_calls_waiting {count}\n");
    until("the others to wait", || web.get("/metrics", &[&bob]).text().contains(&waiting(4)));
    assert_eq!(web.call(&[&bob], "quick", &json!({})), "(no output)");
    until("the program", || announced(&pids).len() == 1);
    assert!(web.get("/metrics", &[&bob]).text().contains(&waiting(4)), "the other slot is left free");
}

#[test]
fn cancelling_a_call_ends_its_program() {
    let Sleeping { web, session, pids, .. } = Sleeping::start();
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    assert_eq!(web.post(&[&session], &cancel.to_string()).status, 202);
    until("the program to be gone", || announced(&pids).iter().all(|pid| !is_running(*pid)));
}

/// Source: MCP 2025-11-25, basic/transports, "Resumability and Redelivery".
#[test]
fn broken_streams_resume_and_ended_ones_get_204() {
    let files = Files::new();
    let fifo = files.path("fifo");
    Command::new("mkfifo").arg(&fifo).status().unwrap();
    let tool = format!("  - {{name: wait, description: Read what comes, command: '{}'}}\n", fifo.display());
    let config = files.write("cat.yaml", &format!("name: cat\ncommand: cat\ntools:\n{tool}"));
    let web = Web::start(&["--config", &config]);
    let session = web.session(&[]);
    let post = |id: u64, tool: &str| {
        let params = json!({ "name": tool, "arguments": { "tool_name": "wait" } });
        web.post(
            &[&session],
            &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string(),
        )
    };
    let resume = |last: &str| web.get("/mcp", &[&session, last, "Accept: text/event-stream"]);

    let mut refused = post(1, "no_such_tool");
    let last = refused.last_event();
    assert_eq!(refused.event().unwrap()["error"]["code"], -32602);
    assert_eq!(refused.event(), None);
    assert_eq!(resume(&last).status, 204, "clients do not reconnect after 204");

    let mut running = post(2, "climax_call");
    let last = running.last_event();
    drop(running);
    let mut rest = resume(&last);
    assert_eq!(rest.status, 200);
    std::fs::write(&fifo, "at last").unwrap();
    let response = rest.event().unwrap();
    assert_eq!((&response["id"], &response["result"]["content"][0]["text"]), (&json!(2), &json!("at last")));
    assert_eq!(rest.event(), None);
}

#[test]
fn deleting_a_session_ends_its_programs() {
    let Sleeping { web, session, call, pids, .. } = Sleeping::start();
    let delete = format!("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n{session}\r\n\r\n");
    assert!(web.raw(delete.as_bytes()).status < 300);
    until("the program to be gone", || announced(&pids).iter().all(|pid| !is_running(*pid)));
    assert_eq!(web.post(&[&session], &call).status, 404);
}

#[test]
fn draining_finishes_calls_and_refuses_new_ones() {
    let files = Files::new();
    let config = files.config("  - {name: slow, description: Print slowly, command: lines 3 300}\n");
    let mut web = Web::start(&["--config", &config]);
    let params = json!({ "name": "climax_call", "arguments": { "tool_name": "slow" },
        "_meta": { "progressToken": 1 } });
    let mut running = web.modern(&[], "tools/call", &params);
    assert!(running.event().unwrap()["params"]["progressToken"] == 1);
    web.signal("TERM");
    until("the server to leave", || web.get("/readyz", &[]).status == 503);
    // Between the two it still takes calls, for no time here.
    until("the server to drain", || web.modern(&[], "tools/list", &json!({})).status == 503);
    assert_eq!(web.get("/healthz", &[]).status, 200);
    let refused = web.modern(&[], "tools/list", &json!({}));
    assert_eq!((refused.status, refused.header("connection")), (503, Some("close")));
    assert!(refused.header("retry-after").is_some());
    let last = std::iter::from_fn(|| running.event()).last().unwrap();
    assert_eq!(last["result"]["content"][0]["text"], "line 1\nline 2\nline 3");
    assert_eq!(web.ended(), Some(0));
}

#[test]
fn a_server_that_leaves_takes_calls_during_the_delay() {
    let mut web = Web::start(&["--drain-delay", "2"]);
    web.signal("TERM");
    until("the server to leave", || web.get("/readyz", &[]).status == 503);
    let served = web.modern(&[], "tools/list", &json!({}));
    assert_eq!((served.status, served.header("connection")), (200, Some("close")));
    assert!(!tool_names(served).is_empty());
    assert_eq!(web.ended(), Some(0));
}

#[test]
fn calls_end_after_the_drain_limit() {
    let files = Files::new();
    let pids = files.path("pids");
    let mut web = Web::start(&["--config", &files.config(SLEEPER), "--drain", "0"]);
    let params =
        json!({ "name": "climax_call", "arguments": { "tool_name": "sleeper" }, "_meta": { "progressToken": 1 } });
    let mut running = web.modern(&[], "tools/call", &params);
    until("the program", || announced(&pids).len() == 1);
    let start = Instant::now();
    web.signal("TERM");
    let last = std::iter::from_fn(|| running.event()).last().unwrap();
    assert!(last["result"]["content"][0]["text"].as_str().unwrap().contains("the server is shutting down"), "{last}");
    assert_eq!(web.ended(), Some(0));
    // Half of what the calls would get without `--drain`, so that a busy machine makes no difference.
    assert!(start.elapsed().as_secs() < 15, "{:?}", start.elapsed());
    until("the program to be gone", || announced(&pids).iter().all(|pid| !is_running(*pid)));
}

#[test]
fn changed_config_is_served_with_a_notification_and_broken_one_is_not() {
    let files = Files::new();
    let pids = files.path("pids");
    let first = SLEEPER.to_owned() + "  - {name: first, description: The first, command: argv}\n";
    let config = files.config(&first);
    let web = Web::start(&["--classic", "jq", "--watch", "--config", &config]);
    let names = || tool_names(web.modern(&[], "tools/list", &json!({})));
    let served = |name: &str| names().iter().any(|tool| tool == name);
    assert!(served("first"));
    let session = web.session(&[]);
    let mut stream = web.get("/mcp", &[&session, "Accept: text/event-stream"]);
    let mut subscription =
        web.modern(&[], "subscriptions/listen", &json!({ "notifications": { "toolsListChanged": true } }));
    let acknowledged = subscription.event().unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    let call = json!({ "name": "sleeper", "arguments": {}, "_meta": { "progressToken": 1 } });
    let mut running = web.modern(&[], "tools/call", &call);
    until("the program", || announced(&pids).len() == 1);
    files.config("  - {name: second, description: The second, command: argv}\n");
    until("the second tool", || served("second"));
    assert!(!served("first"));
    let changed = "notifications/tools/list_changed";
    assert_eq!(stream.event().unwrap()["method"], changed);
    assert_eq!(subscription.event().unwrap()["method"], changed);
    files.config("  - {name: second, descripton: x}\n");
    web.signal("HUP");
    assert!(served("second"), "the last valid config is still served");
    // The call continues.
    assert!(is_running(announced(&pids)[0]));
    assert_eq!(running.event().unwrap()["method"], "notifications/progress");
}

#[test]
fn metrics_count_calls_and_requests() {
    let web = Web::start(&["--max-concurrency", "3"]);
    web.call(&[], "coreutils_date", &json!({}));
    web.call(&[], "no_such_tool", &json!({}));
    let text = web.get("/metrics", &[]).text();
    for line in [
        r#"climax_calls_total{tool="coreutils_date",outcome="ok"} 1"#,
        r#"climax_calls_total{tool="",outcome="unknown_tool"} 1"#,
        r#"climax_call_duration_seconds_count{outcome="ok"} 1"#,
        r#"mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call",gen_ai_tool_name="coreutils_date",error_type=""} 1"#,
        r#"mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call",gen_ai_tool_name="",error_type="unknown_tool"} 1"#,
        "climax_calls_running 0",
        "climax_calls_waiting 0",
        "climax_sessions 0",
        r#"climax_http_requests_total{status="200"} 2"#,
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    assert!(text.contains(r#"climax_catalog{version=""#) && text.ends_with("# EOF\n"), "{text}");
}

#[test]
fn program_gets_the_trace_context() {
    let files = Files::new();
    let tools = "  - {name: env, description: x, command: env TRACEPARENT}\n  \
                 - {name: baggage, description: x, command: env BAGGAGE}\n";
    let web = Web::start(&["--config", &files.config(tools)]);
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let by_header = web.call(&[&format!("traceparent: {parent}")], "env", &json!({}));
    assert_eq!(by_header, format!("TRACEPARENT=Ok({parent:?})"));
    assert_eq!(web.call(&["traceparent: nonsense"], "env", &json!({})), "TRACEPARENT=Err(NotPresent)");
    let params =
        json!({ "name": "climax_call", "arguments": { "tool_name": "env" }, "_meta": { "traceparent": parent } });
    assert_eq!(web.call(&["baggage: user=1,region=eu"], "baggage", &json!({})), "BAGGAGE=Ok(\"user=1,region=eu\")");
    let long = format!("baggage: a={}", "x".repeat(8_192));
    assert_eq!(web.call(&[&long], "baggage", &json!({})), "BAGGAGE=Err(NotPresent)");
    let by_meta = web.modern(&[], "tools/call", &params).json();
    assert_eq!(by_meta["result"]["content"][0]["text"], format!("TRACEPARENT=Ok({parent:?})"));
}

#[test]
fn systemd_passes_a_socket_and_gets_ready_and_stopping() {
    let files = Files::new();
    let notify_socket = UnixDatagram::bind(files.path("notify")).unwrap();
    notify_socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let next = || {
        let mut buffer = [0; 256];
        let length = notify_socket.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // As systemd does: descriptor 3, and the pid of the process that takes it.
    let script = r#"exec 3<&0; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" --transport streamable-http </dev/null"#;
    let mut child = Command::new("sh")
        .args(["-c", script, binary()])
        .env("NOTIFY_SOCKET", files.path("notify"))
        .stdin(std::os::fd::OwnedFd::from(listener))
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    assert!(next().contains("READY=1"));
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let response = std::io::read_to_string(stream).unwrap();
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(next().contains("STOPPING=1"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn replicas_with_one_key_accept_each_others_approvals() {
    let files = Files::new();
    let policy = files.write("policy.yaml", "default: enabled\napproval: {global: all}\n");
    let key = files.write("key", &"k".repeat(64));
    let config = files.config("  - {name: echo, description: x, command: argv}\n");
    let arguments = ["fake", "--config", &config, "--policy", &policy, "--state-key-file", &key];
    let [first, second] = [(); 2].map(|()| Web::start(&arguments[1..]));
    let stranger = Web::start(&arguments[1..5]);
    let ask = |web: &Web, extra: Value| {
        let mut params = json!({ "name": "climax_call", "arguments": { "tool_name": "echo" } });
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let headers = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: climax_call"];
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        web.post(&headers, &body.to_string()).json()
    };
    let required = ask(&first, json!({}))["result"].clone();
    assert_eq!(required["resultType"], "input_required", "{required}");
    let answered = json!({
        "requestState": required["requestState"], "inputResponses": { "approval": { "action": "accept", "content": {} } },
    });
    assert_eq!(ask(&stranger, answered.clone())["error"]["code"], -32602, "another key signed it");
    let done = ask(&second, answered);
    assert_eq!(done["result"]["content"][0]["text"], "(no output)", "{done}");
    let short = files.write("short", "k");
    let (status, _, stderr) = run(climax().args(["--transport", "streamable-http", "--state-key-file", &short]));
    assert_eq!(status, 1);
    assert!(stderr.contains("32 bytes"), "{stderr}");
}
