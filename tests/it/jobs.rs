//! Calls that go on after their requests: tasks and jobs.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Server, announced, climax, fake_config, fakecli, is_running, run, text, until};
use crate::web::Web;

const TOOLS: &str = "
  - {name: quick, description: Q, command: argv, args: [{name: word, positional: true}]}
  - {name: counts, description: C, command: lines, timeout: 60, args: [{name: lines, positional: true, required: true}, {name: pause, positional: true, default: '50'}]}
  - {name: fails, description: F, command: exit 3, long: true, args: [{name: said, positional: true, required: true}]}
  - {name: sleeper, description: S, command: family, long: true}
  - {name: asked, description: A, command: argv, long: true, risk: destructive, args: [{name: word, positional: true, required: true}]}
";

const POLICY: &str = "default: enabled\ntools: {asked: {require_approval: true}}\n";

/// A server, the client's capabilities, and the pids of programs that sleep.
struct Client {
    server: Server,
    capabilities: Value,
    pids: PathBuf,
    _dir: tempfile::TempDir,
}

impl Client {
    fn start(capabilities: Value, args: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let [pids, config, policy] = ["pids", "fake.yaml", "policy.yaml"].map(|name| dir.path().join(name));
        std::fs::write(&config, format!("{}env: {{FAKECLI_PIDS: {}}}\n", fake_config(TOOLS), pids.display())).unwrap();
        std::fs::write(&policy, POLICY).unwrap();
        let mut command = climax();
        command.args(["--only", "--config"]).arg(&config).arg("--policy").arg(&policy).args(args);
        Self { server: Server::spawn(&mut command), capabilities, pids, _dir: dir }
    }

    /// A client that knows tasks and shows forms.
    fn with_tasks(args: &[&str]) -> Self {
        let capabilities = json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } });
        Self::start(capabilities, args)
    }

    fn answer(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        self.server.request(method, params)
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    fn call(&mut self, tool: &str, args: Value) -> Value {
        self.request("tools/call", json!({ "name": "climax_call", "arguments": { "tool_name": tool, "args": args } }))
    }

    fn task(&mut self, id: &Value) -> Value {
        self.request("tasks/get", json!({ "taskId": id }))
    }

    /// Asks for a task until it has this status.
    fn task_of_status(&mut self, id: &Value, status: &str) -> Value {
        let mut task = Value::Null;
        until(status, || {
            task = self.task(id);
            task["status"] == status
        });
        task
    }

    /// Follows a job to its end.
    fn job(&mut self, id: &str, more: Value) -> Value {
        let mut args = json!({ "job": id });
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.call("climax_job", args)
    }
}

/// The id in the text of a call that goes on.
fn job_id(result: &Value) -> String {
    let (_, rest) = text(result).split_once("\"job\":\"").expect("an id");
    rest[..32].to_owned()
}

#[test]
fn long_calls_become_tasks_of_clients_that_know_them() {
    let mut client = Client::with_tasks(&["--detach-after", "0.2"]);
    let quick = client.call("quick", json!({ "word": "a" }));
    assert_eq!((text(&quick), &quick["resultType"]), ("<a>", &json!("complete")));
    let created = client.call("counts", json!({ "lines": "20" }));
    assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")));
    assert_eq!((created["ttlMs"].is_null(), &created["content"]), (true, &Value::Null));
    let ended = client.task_of_status(&created["taskId"], "completed");
    assert!(text(&ended["result"]).ends_with("line 19\nline 20"), "{ended}");
    assert!(ended["ttlMs"].as_u64().is_some_and(|ttl| ttl > 600_000), "{ended}");
}

#[test]
fn failures_of_tasks_are_results_and_wrong_arguments_are_answered_at_once() {
    let mut client = Client::with_tasks(&[]);
    let created = client.call("fails", json!({ "said": "no" }));
    assert_eq!(created["resultType"], "task");
    let ended = client.task_of_status(&created["taskId"], "completed");
    assert_eq!((&ended["result"]["isError"], &ended["error"]), (&json!(true), &Value::Null));
    let wrong = client.call("fails", json!({ "sayd": "no" }));
    assert_eq!((&wrong["isError"], &wrong["resultType"]), (&json!(true), &json!("complete")), "{wrong}");
}

#[test]
fn tasks_end_when_they_are_cancelled() {
    let mut client = Client::with_tasks(&[]);
    let created = client.call("sleeper", json!({}));
    let pids = client.pids.clone();
    until("the program", || announced(&pids).len() == 1);
    let id = &created["taskId"];
    assert_eq!(client.request("tasks/cancel", json!({ "taskId": id })), json!({ "resultType": "complete" }));
    client.task_of_status(id, "cancelled");
    assert!(announced(&pids).iter().all(|pid| !is_running(*pid)));
    assert_eq!(client.request("tasks/cancel", json!({ "taskId": id })), json!({ "resultType": "complete" }));
}

#[test]
fn tasks_ask_before_they_run() {
    let mut client = Client::with_tasks(&[]);
    for (action, expected) in [("accept", "<x>"), ("decline", "denied by user")] {
        let created = client.call("asked", json!({ "word": "x" }));
        let id = &created["taskId"];
        let asking = client.task_of_status(id, "input_required");
        let requests = asking["inputRequests"].as_object().unwrap();
        let (key, request) = requests.iter().next().unwrap();
        assert_eq!((requests.len(), &request["method"]), (1, &json!("elicitation/create")));
        let wrong = json!({ "taskId": id, "inputResponses": { "other": { "action": "accept" } } });
        client.request("tasks/update", wrong);
        assert_eq!(client.task(id)["status"], "input_required");
        let response = json!({ "action": action, "content": {} });
        client.request("tasks/update", json!({ "taskId": id, "inputResponses": { key: response } }));
        let ended = client.task_of_status(id, "completed");
        assert!(text(&ended["result"]).contains(expected), "{ended}");
    }
}

#[test]
fn tasks_are_for_clients_that_declare_them() {
    let mut client = Client::start(json!({}), &[]);
    assert_eq!(client.call("fails", json!({ "said": "no" }))["resultType"], "complete");
    let refused = client.answer("tasks/get", json!({ "taskId": "0" }));
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    let mut client = Client::with_tasks(&[]);
    for method in ["tasks/get", "tasks/cancel"] {
        let unknown = client.answer(method, json!({ "taskId": "0".repeat(32) }));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    }
    let declared = client.request("server/discover", json!({}));
    assert!(declared["capabilities"]["extensions"]["io.modelcontextprotocol/tasks"].is_object(), "{declared}");
}

#[test]
fn jobs_are_read_by_offset_and_waited_for() {
    let mut client = Client::start(json!({}), &["--detach-after", "0.2", "--max-concurrency", "1"]);
    let result = client.call("counts", json!({ "lines": "30" }));
    assert!(text(&result).contains("line 1\n") && text(&result).contains("running for"), "{result}");
    let id = job_id(&result);
    let read = client.job(&id, json!({ "offset": 0 }));
    assert!(text(&read).starts_with("line 1\nline 2\n"), "{read}");
    let (_, next) = text(&read).split_once("offset ").unwrap();
    let next: u64 = next.trim_end_matches(']').parse().unwrap();
    let more = client.job(&id, json!({ "offset": next, "wait": 0.3 }));
    assert!(!text(&more).contains("line 2\n"), "{more}");
    let ended = client.job(&id, json!({ "wait": 30 }));
    assert!(text(&ended).starts_with("line 1\n") && text(&ended).ends_with("line 30"), "{ended}");
    assert_eq!(client.job(&id, json!({})), ended, "the result is stored");
}

#[test]
fn jobs_are_cancelled_and_unknown_ones_are_errors() {
    let mut client = Client::start(json!({}), &["--detach-after", "0", "--max-concurrency", "1"]);
    let id = job_id(&client.call("sleeper", json!({})));
    let pids = client.pids.clone();
    until("the program", || announced(&pids).len() == 1);
    let cancelled = client.job(&id, json!({ "cancel": true }));
    assert!(text(&cancelled).ends_with("The job was cancelled."), "{cancelled}");
    assert!(announced(&pids).iter().all(|pid| !is_running(*pid)));
    let unknown = client.job(&"0".repeat(32), json!({}));
    assert!(unknown["isError"] == true && text(&unknown).contains("no job has the id"), "{unknown}");
    let wrong = client.job("../0", json!({ "wait": 61 }));
    assert!(text(&wrong).contains("job") && text(&wrong).contains("wait"), "{wrong}");
}

#[test]
fn search_finds_the_job_tool_only_where_calls_can_become_jobs() {
    let found = |args: &[&str]| {
        let mut server = Server::start(args);
        let result = server.tool("climax_search", json!({ "query": "wait for a call that runs as a job" }));
        text(&result).contains("climax_job")
    };
    assert!(found(&["--detach-after", "9"]));
    assert!(!found(&[]));
    let dir = tempfile::tempdir().unwrap();
    let policy = dir.path().join("policy.yaml");
    std::fs::write(&policy, "default: enabled\ndeny: [climax_job]\n").unwrap();
    let path = policy.to_str().unwrap();
    assert!(!found(&["--policy", path]));
}

#[test]
fn calls_do_not_go_on_where_nobody_could_follow_them() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(path("deny.yaml"), "default: enabled\ndeny: [climax_job]\n").unwrap();
    std::fs::write(path("list.yaml"), "default: disabled\ntools: {git_status: {}}\n").unwrap();
    for (status, args, remedy) in [
        (1, vec!["--policy", &path("deny.yaml")], "hides `climax_job`"),
        (1, vec!["--classic", "--policy", &path("list.yaml")], "permit it, or leave --detach-after out"),
        (2, vec!["--meta", "search"], "add `call` to --meta"),
        (2, vec!["--meta", "describe,examples"], "add `call` to --meta"),
    ] {
        let (found, _, stderr) = run(climax().args(["--detach-after", "0"]).args(&args));
        assert!(found == status && stderr.contains(remedy), "{args:?}: {stderr}");
    }
}

#[test]
fn whatever_starts_calls_can_start_jobs_and_read_them() {
    let counts = |name: &str| match name {
        "climax_run" => json!({ "command": format!("{} lines 2 100", fakecli().display()) }),
        "climax_chain" => json!({ "steps": [{ "tool_name": "counts", "args": { "lines": "2" } }] }),
        _ => json!({ "code": "return await tools.counts({lines: '2'})" }),
    };
    for (meta, name) in [
        ("run", "climax_run"),
        ("search,chain", "climax_chain"),
        #[cfg(has_code)]
        ("code", "climax_code"),
    ] {
        let mut client = Client::start(json!({}), &["--detach-after", "0", "--meta", meta]);
        let listed = client.request("tools/list", json!({}))["tools"].clone();
        let job_tool = listed.as_array().unwrap().iter().find(|tool| tool["name"] == "climax_job").unwrap();
        assert_eq!(job_tool["inputSchema"]["required"], json!(["job"]));

        let started = client.request("tools/call", json!({ "name": name, "arguments": counts(name) }));
        assert!(text(&started).contains("Wait for its end: climax_job {"), "{meta}: {started}");
        let arguments = json!({ "job": job_id(&started), "wait": 30 });
        let ended = client.request("tools/call", json!({ "name": "climax_job", "arguments": arguments }));
        assert!(ended["isError"] == false && text(&ended).contains("line 2"), "{meta}: {ended}");
    }
    let mut plain = Client::start(json!({}), &["--meta", "run"]);
    let listed = plain.request("tools/list", json!({}));
    assert!(!listed.to_string().contains("climax_job"), "{listed}");
}

/// Calls `climax_run` of a client.
fn run_line(client: &mut Client, line: &str) -> Value {
    client.request("tools/call", json!({ "name": "climax_run", "arguments": { "command": line } }))
}

#[test]
fn lines_go_on_as_jobs_with_their_commands_in_the_background() {
    let family = format!("{} family", fakecli().display());
    let mut client = Client::start(json!({}), &["--detach-after", "60", "--meta", "run,call"]);
    let pids = client.pids.clone();
    for line in [format!("echo here; {family} &"), format!("{family} & echo here")] {
        let earlier = announced(&pids).len();
        let started = run_line(&mut client, &line);
        assert!(text(&started).contains("here\n") && text(&started).contains("[running for"), "{line}: {started}");
        assert!(text(&started).contains("in the background goes on as a job"), "{line}: {started}");
        let own = announced(&pids).split_off(earlier);
        assert!(!own.is_empty() && own.iter().all(|pid| is_running(*pid)), "{line}: {own:?}");

        let ended = client.job(&job_id(&started), json!({ "cancel": true }));
        assert!(text(&ended).ends_with("The job was cancelled."), "{line}: {ended}");
        assert!(own.iter().all(|pid| !is_running(*pid)), "{line}: {own:?}");
    }
    let quick = run_line(&mut client, "sleep 0.1 & echo quick");
    assert_eq!(text(&quick), "quick", "nothing goes on");
}

#[test]
fn what_runs_in_the_background_ends_with_its_line_where_no_jobs_are_served() {
    let family = format!("{} family", fakecli().display());
    for mut client in [
        Client::start(json!({}), &["--meta", "run"]),
        Client::with_tasks(&["--detach-after", "60", "--meta", "run,call"]),
    ] {
        let pids = client.pids.clone();
        let refused = run_line(&mut client, &format!("{family} &"));
        assert!(refused["isError"] == true && text(&refused).contains("--detach-after"), "{refused}");
        assert!(announced(&pids).is_empty(), "nothing has started");

        let ended = run_line(&mut client, &format!("{family} & echo here"));
        assert_ne!(ended["isError"], true, "{ended}");
        assert!(text(&ended).starts_with("here\n"), "{ended}");
        assert!(text(&ended).contains(&format!("`{family}` still ran in the background and was ended")), "{ended}");
        let own = announced(&pids);
        assert!(!own.is_empty() && own.iter().all(|pid| !is_running(*pid)), "{own:?}");

        // What it has printed until `kill` stands in the result.
        let line = format!("{} lines 1000 20 & sleep 0.3; kill $!; wait $!; echo \"status $?\"", fakecli().display());
        let killed = run_line(&mut client, &line);
        assert!(text(&killed).starts_with("status 143\n") && text(&killed).contains("line 1\n"), "{killed}");
    }
}

#[test]
fn jobs_over_http_belong_to_their_caller() {
    const ADA: &str = "0123456789abcdef0123456789";
    const BOB: &str = "fedcba9876543210fedcba9876";
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(path("fake.yaml"), fake_config(TOOLS)).unwrap();
    std::fs::write(path("tokens"), format!("ada {ADA}\nbob {BOB}\n")).unwrap();
    let [config, tokens] = ["fake.yaml", "tokens"].map(path);
    let meta = "call,run,chain";
    let web = Web::start(&[
        "--config",
        &config,
        "--token-file",
        &tokens,
        "--detach-after",
        "0.2",
        "--replica=west",
        "--meta",
        meta,
    ]);
    let ask = |token: &str, name: &str, arguments: Value| {
        let token = format!("Authorization: Bearer {token}");
        let params = json!({ "name": name, "arguments": arguments });
        web.modern(&[&token], "tools/call", &params).json()["result"].clone()
    };
    let call = |token: &str, args: Value| ask(token, "climax_call", json!({ "tool_name": "climax_job", "args": args }));

    let args = json!({ "lines": "600" });
    let started = ask(ADA, "climax_call", json!({ "tool_name": "counts", "args": args }));
    let (_, rest) = text(&started).split_once("\"job\":\"").expect("an id");
    let (id, _) = rest.split_once('"').unwrap();
    assert!(id.starts_with("west."), "{id}");

    for args in [json!({ "job": id }), json!({ "job": id, "cancel": true })] {
        let refused = call(BOB, args.clone());
        assert!(refused["isError"] == true && text(&refused).contains("no job has the id"), "{refused}");
        let steps = json!({ "steps": [{ "tool_name": "climax_job", "args": args }] });
        let refused = ask(BOB, "climax_chain", steps);
        assert!(text(&refused).contains("no job has the id"), "{refused}");
    }
    assert!(text(&call(ADA, json!({ "job": id, "offset": 0 }))).starts_with("line 1\n"));
    assert!(text(&call(ADA, json!({ "job": id, "cancel": true }))).ends_with("The job was cancelled."));
}

#[test]
fn tools_that_publish_a_structure_do_not_become_jobs_in_classic_mode() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("typed.yaml");
    let tool = "{name: typed, description: T, command: '[1]', output: {mime: application/json, schema: {type: array}}}";
    std::fs::write(&config, format!("name: echo\ncommand: echo\ntools: [{tool}]\n")).unwrap();
    let mut server =
        Server::start(&["--classic", "--only", "--detach-after", "0", "--config", config.to_str().unwrap()]);
    assert_eq!(server.tool("typed", json!({}))["structuredContent"]["json"], json!([1]));
}

#[test]
fn no_progress_follows_the_answer_of_a_call_that_goes_on() {
    let mut client = Client::start(json!({}), &["--detach-after", "0.3"]);
    let params = json!({ "name": "climax_call", "arguments": { "tool_name": "counts", "args": { "lines": "20" } },
        "_meta": { "progressToken": 1, "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {} } });
    client.server.post("tools/call", params);
    let answer = loop {
        let message = client.server.receive();
        if message["result"].is_object() {
            break message["result"].clone();
        }
        assert_eq!(message["method"], "notifications/progress");
    };
    assert!(!client.server.has_message_within(Duration::from_millis(500)));
    assert!(text(&client.job(&job_id(&answer), json!({ "wait": 30 }))).ends_with("line 20"));
}

#[test]
fn the_end_of_the_server_ends_jobs_and_writes_their_audit_lines() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let mut client = Client::start(json!({}), &["--detach-after", "0", "--audit", audit.to_str().unwrap()]);
    client.call("sleeper", json!({}));
    let pids = client.pids.clone();
    until("the program", || announced(&pids).len() == 1);
    let Client { server, .. } = client;
    let (rest, status) = server.finish();
    assert_eq!((rest.as_str(), status), ("", Some(0)));
    until("the program to be gone", || announced(&pids).iter().all(|pid| !is_running(*pid)));
    let lines = std::fs::read_to_string(&audit).unwrap();
    assert!(lines.lines().any(|line| line.contains("sleeper")), "{lines}");
}

#[test]
fn tasks_over_http_belong_to_their_caller_and_end_with_the_server() {
    const ADA: &str = "0123456789abcdef0123456789";
    const BOB: &str = "fedcba9876543210fedcba9876";
    let dir = tempfile::tempdir().unwrap();
    let [pids, config, tokens] = ["pids", "fake.yaml", "tokens"].map(|name| dir.path().join(name));
    std::fs::write(&config, format!("{}env: {{FAKECLI_PIDS: {}}}\n", fake_config(TOOLS), pids.display())).unwrap();
    std::fs::write(&tokens, format!("ada {ADA}\nbob {BOB}\n")).unwrap();
    let mut web = Web::start(&["--config", config.to_str().unwrap(), "--token-file", tokens.to_str().unwrap()]);
    let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let ask = |token: &str, method: &str, params: &Value| {
        let token = format!("Authorization: Bearer {token}");
        web.modern_of(&capabilities, &[&token], method, params).json()
    };
    let created = |tool: &str, args: Value| {
        let params = json!({ "name": "climax_call", "arguments": { "tool_name": tool, "args": args } });
        ask(ADA, "tools/call", &params)["result"]["taskId"].clone()
    };
    let id = created("fails", json!({ "said": "for ada" }));
    let get = |token: &str, id: &Value| ask(token, "tasks/get", &json!({ "taskId": id }));
    until("the end", || get(ADA, &id)["result"]["status"] == "completed");
    assert!(text(&get(ADA, &id)["result"]["result"]).contains("for ada"));
    for method in ["tasks/get", "tasks/cancel"] {
        assert_eq!(ask(BOB, method, &json!({ "taskId": id }))["error"]["code"], -32602);
    }
    created("sleeper", json!({}));
    until("the program", || announced(&pids).len() == 1);
    web.signal("TERM");
    assert_eq!(web.ended(), Some(0), "a job does not hold the server up");
    until("the program to be gone", || announced(&pids).iter().all(|pid| !is_running(*pid)));
}

#[test]
fn ids_over_http_name_their_replica() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("fake.yaml");
    std::fs::write(&config, fake_config(TOOLS)).unwrap();
    let web = Web::start(&["--config", config.to_str().unwrap(), "--replica=west_1", "--max-output", "1000"]);
    let call = |capabilities: Value, tool: &str, args: Value| {
        let params = json!({ "name": "climax_call", "arguments": { "tool_name": tool, "args": args } });
        let response = web.modern_of(&capabilities, &[], "tools/call", &params);
        assert_eq!(response.header("Climax-Replica"), Some("west_1"));
        response.json()["result"].clone()
    };
    let is_named = |id: &str| id.strip_prefix("west_1.").is_some_and(|random| random.len() == 32);
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let created = call(tasks.clone(), "fails", json!({ "said": "no" }));
    assert!(created["taskId"].as_str().is_some_and(is_named), "{created}");
    let get = || web.modern_of(&tasks, &[], "tasks/get", &json!({ "taskId": created["taskId"] })).json();
    until("the end", || get()["result"]["status"] == "completed");
    let long = call(json!({}), "counts", json!({ "lines": "500", "pause": "0" }));
    let uri = long["content"][1]["uri"].as_str().unwrap_or_else(|| panic!("{long}"));
    assert!(uri.strip_prefix("climax://output/").is_some_and(is_named), "{uri}");
    let read = web.modern(&[], "resources/read", &json!({ "uri": uri })).json();
    assert!(read["result"]["contents"][0]["text"].as_str().is_some_and(|text| text.starts_with("line 1\n")), "{read}");
}

#[test]
fn replica_without_a_name_has_that_of_the_host() {
    let (_, host, _) = run(std::process::Command::new("uname").arg("-n"));
    let web = Web::start(&["--replica"]);
    assert_eq!(web.get("/readyz", &[]).header("Climax-Replica"), host.trim().split('.').next());
}

#[test]
fn names_of_replicas_are_checked() {
    for name in ["a.b", "a b", "\u{e9}", &"a".repeat(64)] {
        let (status, _, stderr) = run(climax().args(["--transport", "streamable-http", &format!("--replica={name}")]));
        assert!(status == 2 && stderr.contains("1 to 63 letters, digits, `-` or `_`"), "{name}: {stderr}");
    }
}
