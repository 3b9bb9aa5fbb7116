//! `climax_code`: programs in JavaScript that call tools.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Server, announced, climax, fake_config, fakecli, is_running, text, until};
use crate::web::Web;

const TOOLS: &str = "
  - {name: words, description: W, command: argv, risk: read, args: [{name: word, positional: true, list: true, description: The words}]}
  - {name: counts, description: C, command: lines, args: [{name: lines, positional: true, required: true}, {name: pause, positional: true, default: '50'}]}
  - {name: fails, description: F, command: exit 3, args: [{name: said, positional: true, required: true}]}
  - {name: slow, description: S, command: sleep, timeout: 0.2}
  - {name: sleeper, description: S, command: family}
  - {name: asked, description: A, command: argv, risk: destructive, args: [{name: word, positional: true, required: true}]}
  - {name: secret, description: S, command: argv}
  - {name: form, description: F, command: argv, args: [{name: who}], ask: [{name: who, message: Who?, args: [who]}]}
  - {name: seeks, description: S, command: exit 3, exit_codes: {3: no match}}
  - name: make
    description: M
    command: make
    args:
      - {name: what, positional: true, required: true}
      - {name: picture, positional: true, output: {mime: image/png, file: chart.png}}
      - {name: table, positional: true, output: {mime: text/csv}}
";

const POLICY: &str = "default: enabled\ndeny: [secret]\ntools: {asked: {require_approval: true}, coreutils_tee: {require_approval: false}}\n";

/// A server of these tools whose clients can run programs.
struct Client {
    server: Server,
    capabilities: Value,
    dir: tempfile::TempDir,
}

/// Starts a server of revision 2026-07-28 with these options.
fn command(dir: &Path, args: &[&str]) -> std::process::Command {
    let [pids, config, policy] = ["pids", "fake.yaml", "policy.yaml"].map(|name| dir.join(name));
    fs::write(&config, format!("{}env: {{FAKECLI_PIDS: {}}}\n", fake_config(TOOLS), pids.display())).unwrap();
    fs::write(&policy, POLICY).unwrap();
    let mut command = climax();
    command.args(["--meta", "search,call,run,code"]).arg("--policy").arg(&policy);
    command.arg("--config").arg(&config).args(args);
    command
}

impl Client {
    fn start(args: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::spawn(&mut command(dir.path(), args));
        Self { server, capabilities: json!({ "elicitation": {} }), dir }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn params(&self, mut params: Value) -> Value {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        params
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let params = self.params(params);
        self.server.request(method, params)
    }

    fn post(&mut self, code: &str) -> u64 {
        let params = self.params(json!({ "name": "climax_code", "arguments": { "code": code } }));
        self.server.post("tools/call", params)
    }

    fn run_with(&mut self, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": "climax_code", "arguments": arguments }));
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Runs a program. Returns whether it failed, and the text of the result.
    fn run(&mut self, code: &str) -> (bool, String) {
        let result = self.run_with(json!({ "code": code }));
        (result["isError"] == true, text(&result).to_owned())
    }

    fn succeeds(&mut self, code: &str) -> String {
        let (failed, text) = self.run(code);
        assert!(!failed, "{code}: {text}");
        text
    }

    fn fails(&mut self, code: &str) -> String {
        let (failed, text) = self.run(code);
        assert!(failed, "{code}: {text}");
        text
    }

    /// Answers the question of a result, with the same program.
    fn answer(&mut self, code: &str, asked: &Value, action: &str) -> Value {
        let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap();
        let responses = json!({ key: { "action": action, "content": {} } });
        self.request(
            "tools/call",
            json!({ "name": "climax_code", "arguments": { "code": code }, "inputResponses": responses, "requestState": asked["requestState"] }),
        )
    }

    /// The guests that run.
    fn guests(&self) -> Vec<u32> {
        guests(self.server.child.id())
    }
}

/// The children of a process that are guests.
fn guests(server: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{server}/task/{server}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|pid| pid.parse().ok());
    let is_guest =
        |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == b"climax\0code-guest\0");
    children.filter(is_guest).collect()
}

#[test]
fn programs_call_tools_and_return_what_they_make_of_the_results() {
    let mut client = Client::start(&[]);
    for (code, expected) in [
        ("1 + 1", "2"),
        ("const r = await tools.words({word: ['a', 'b c']}); r.stdout", "<a>\n<b c>"),
        ("(await run(`echo '[1,{\"a\":2}]'`)).json[1]", "{\"a\":2}"),
        ("(await run('seq 3')).json", "[1,2,3]"),
        ("(await run('seq 5 | wc -l')).stdout.trim()", "5"),
        ("(await run('wc -w', {stdin: 'a b c'})).stdout.trim()", "3"),
        ("(await run('pwd', {cwd: '/'})).stdout.trim()", "/"),
        ("await tools.fails({said: 'no'})", r#"{"exit_code":3,"stderr":"","stdout":"no"}"#),
        ("(await run('cat /nonexistent')).exit_code", "1"),
        ("(await search('count lines'))[0].input_schema", "(no output)"),
        ("(await search('show the commit history', {cli: 'git'}))[0].tool_name", "git_log"),
        ("console.log('a', {b: [1, undefined]}, null); console.error(2n)", "a {\"b\":[1,undefined]} null\n2n"),
        // Half of a character is none.
        ("'😀x'.slice(0, 1)", "\u{fffd}"),
        ("console.log('a\\\\ud800 😀'.slice(0, 9))", "a\\ud800 \u{fffd}"),
        ("(await tools.words({word: ['😀'.slice(1)]})).stdout", "<\u{fffd}>"),
        ("'a'.repeat((1 << 20) - 1).concat('😀').slice(-2)", "😀"),
        ("", "(no output)"),
        ("let total = 0; for (const n of [1, 2, 3]) total += n; return total", "6"),
        ("// a comment\nreturn await (async () => 7)()", "7"),
        ("new Date(0).toISOString() + (Date.now() > 1.7e12)", "1970-01-01T00:00:00.000Ztrue"),
    ] {
        assert_eq!(client.succeeds(code), expected, "{code}");
    }
    assert_eq!(
        client.succeeds("await describe('words')"),
        "/** W (risk: read) */\ntools.words(args: {\n  /** The words */\n  word?: string[],\n}) // → {exit_code, stdout, stderr}"
    );
}

#[test]
fn the_program_of_the_guide_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/guides/code.md")).unwrap();
    let (_, rest) = page.split_once("```js\n").unwrap();
    let (code, _) = rest.split_once("```").unwrap();
    let mut command = climax();
    let mut server = Server::spawn(command.args(["--meta", "code"]).current_dir(root));
    server.initialize("2025-11-25");
    let result = server.tool("climax_code", json!({ "code": code }));
    let found: Vec<(String, u32)> = serde_json::from_str(text(&result)).unwrap_or_else(|_| panic!("{result}"));
    assert!(found.len() == 3 && found.iter().all(|(file, _)| file.starts_with("docs/guides/")), "{found:?}");
}

#[test]
fn errors_say_where_they_are_and_what_to_do() {
    let mut client = Client::start(&[]);
    for (code, expected) in [
        ("let x = ;", "line 1, column 9: SyntaxError"),
        ("1;\n  null.a", "line 2, column 3: TypeError: cannot read property 'a' of null"),
        ("1;\nnull.a; return 1", "line 2, column 1: TypeError"),
        ("null.a; return 1", "line 1, column 1: TypeError"),
        ("return null.a", "[error]\nTypeError"),
        ("throw 'no'", "[error]\nno"),
        ("const x: string = 1", "SyntaxError: missing initializer for variable; write JavaScript, without types"),
        ("import fs from 'fs'", "write JavaScript, without types, import and export"),
        ("Object.keys(tools)", "tools has no list: find tools by await search(query)"),
        ("require('fs')", "require is not defined; there are tools.NAME(args)"),
        ("await tools.wrods({})", "line 1, column 12: Error: Unknown tool: wrods. Did you mean: words"),
        (
            "\nawait tools.words({word: {}})",
            "line 2, column 13: Error: words: Argument 'word[0]': cannot convert '{}' to string",
        ),
        ("await tools.words('a')", "words: Argument 'args': cannot convert 'a' to an object of arguments"),
        ("await tools.words({word: {}, colour: 1})", "to string; it has no such arguments: colour"),
        ("await tools.words({word: ['-e']})", "would be read as an option"),
        ("await run('git log <> x')", "line 1, column 6: Error"),
        ("await run('sudo frobnicate')", "Error: sudo frobnicate: Command line not read"),
        ("await run('rm -rf $UNSET/lib')", "line 1, column 6: Error"),
        ("await describe('nothing')", "Unknown tool: nothing"),
        ("await search({})", "query"),
        ("tools.words({}).stdout", "tools.words returns a promise: write (await tools.words(…)).stdout"),
        ("`${tools.words({})}`", "write await before tools.words(…)"),
        ("await tools.words({word: [1n]})", "the arguments of tools.words are not JSON"),
        ("const x = {}; x.x = x; await tools.words(x)", "the arguments of tools.words are not JSON"),
        ("await tools.slow({})", "slow timed out after 0.2 s"),
        ("await new Promise(() => {})", "the code awaits a promise that nothing resolves"),
        ("for (;;) await run('true')", "the code made more than 256 calls"),
    ] {
        let text = client.fails(code);
        assert!(text.contains(expected), "{code}: {text}");
    }
    let caught = client.succeeds("try { await tools.wrods({}) } catch (e) { return [e.code, e.suggestions[0]] }");
    assert_eq!(caught, r#"["unknown_tool","words"]"#);
    let result = client.run_with(json!({ "code": "\n\nnull.a" }));
    let error = &result["structuredContent"]["error"];
    let place = json!([{ "line": 3, "column": 1, "stdout": "" }]);
    assert_eq!((&error["code"], &error["details"]), (&json!("command_failed"), &place));
}

#[test]
fn arguments_are_checked() {
    let mut client = Client::start(&[]);
    for (arguments, expected) in [
        (json!({}), "Missing required argument 'code'"),
        (json!({ "code": "1", "timeout": 301 }), "a number of seconds from 1 to 300"),
        (json!({ "code": "1", "timeout": -1 }), "a number of seconds from 1 to 300"),
        (json!({ "code": "1", "timeuot": 1 }), "timeout"),
        (json!({ "code": " ".repeat(300 << 10) }), "307200 bytes"),
    ] {
        let result = client.run_with(arguments.clone());
        assert!(result["isError"] == true && text(&result).contains(expected), "{arguments}: {result}");
    }
    assert_eq!(text(&client.run_with(json!({ "source": "5", "timeout": 0 }))), "5");
}

#[test]
fn ignored_arguments_are_named_once() {
    let mut client = Client::start(&[]);
    let code = "await tools.words({word: ['a'], colour: 1}); (await tools.words({word: ['b'], colour: 1})).stdout";
    let note = "[ignored: 'colour' is no argument of words]";
    assert_eq!(client.succeeds(code), format!("<b>\n\n{note}"));
    let code = "(await tools.words({word: ['a'], colour: 1})).ignored[0]";
    assert_eq!(client.succeeds(code), format!("colour\n\n{note}"));
    let failed = client.fails("await tools.words({word: ['a'], colour: 1}); null.a");
    assert!(failed.ends_with(&format!("\n\n{note}")), "{failed}");

    let both = "await tools.words({colour: 1}); await tools.fails({said: '', size: 2, colour: 1}); 5";
    let result = client.run_with(json!({ "code": both, "label": "x" }));
    let expected = "5\n\n[ignored: 'colour' is no argument of words; 'size', 'colour' are no arguments of fails; \
                    'label' is no argument of climax_code]";
    assert_eq!(text(&result), expected);
    assert_eq!(result["_meta"]["climax/ignored"], json!(["colour", "size", "colour", "label"]));

    // The call is not made again after the answer, and what it ignored is told all the same.
    let code = "await tools.words({colour: 1}); (await tools.asked({word: 'x'})).stdout";
    let asked = client.run_with(json!({ "code": code }));
    let done = client.answer(code, &asked, "accept");
    assert_eq!(text(&done["result"]), format!("<x>\n\n{note}"));
}

#[test]
fn structures_of_failed_programs_hold_what_they_printed() {
    let mut client = Client::start(&[]);
    for (code, printed) in [
        ("console.log('seen'); null.a", "seen"),
        ("console.log('seen'); tools.words({}); await new Promise(() => {})", "seen"),
        ("console.log('seen'); for (;;) {}", "seen"),
        ("let x = ;", ""),
    ] {
        let result = client.run_with(json!({ "code": code, "timeout": 1 }));
        let details = &result["structuredContent"]["error"]["details"];
        assert_eq!((details.as_array().unwrap().len(), &details[0]["stdout"]), (1, &json!(printed)), "{result}");
    }
    let result = client.run_with(json!({ "code": "throw 'x'.repeat(100000)" }));
    assert!(result.to_string().len() < 20_000, "{}", result.to_string().len());
}

#[test]
fn missing_forms_are_an_error_of_the_protocol() {
    let mut client = Client::start(&[]);
    client.capabilities = json!({});
    let code = "try { await tools.form({}) } catch (error) { error.code }";
    let answer = client.request("tools/call", json!({ "name": "climax_code", "arguments": { "code": code } }));
    assert_eq!(answer["error"]["code"], -32021, "{answer}");
    // Until 2025-11-25 there is no such error.
    let mut server = Server::spawn(&mut command(client.dir.path(), &[]));
    server.initialize("2025-11-25");
    assert_eq!(text(&server.tool("climax_code", json!({ "code": code }))), "approval_denied");
}

#[test]
fn refusals_read_as_those_of_calls() {
    let mut client = Client::start(&[]);
    client.capabilities = json!({});
    let denied = "this client cannot ask anybody: asked (policy: approval.headless is deny)";
    assert!(client.fails("await tools.asked({word: 'x'})").ends_with(denied));
}

#[test]
fn errors_of_calls_hold_what_was_printed_before() {
    let mut client = Client::start(&[]);
    let slow = format!("{} sleep", fakecli().display());
    let code = format!("try {{ await run('seq 2; {slow}; seq 9') }} catch (e) {{ return [e.code, e.stdout] }}");
    assert_eq!(client.succeeds(&code), r#"["timed_out","1\n2\n"]"#);
}

#[test]
fn integers_that_numbers_cannot_hold_are_strings() {
    let mut client = Client::start(&[]);
    for (printed, expected) in [
        (r#"{"id": 9007199254740993, "s": "9007199254740993"}"#, r#"{"id":"9007199254740993","s":"9007199254740993"}"#),
        (
            "[9007199254740991, 0.12345678901234567891, -1234567890123456789]",
            r#"[9007199254740991,0.12345678901234568,"-1234567890123456789"]"#,
        ),
    ] {
        assert_eq!(client.succeeds(&format!("(await run(`echo '{printed}'`)).json")), expected);
    }
}

#[test]
fn results_have_answers_and_files() {
    let mut client = Client::start(&[]);
    assert_eq!(client.succeeds("(await tools.seeks({})).answer"), "no match");
    let files = client.succeeds("JSON.stringify((await tools.make({what: 'large'})).files)");
    let files: Value = serde_json::from_str(&files).unwrap();
    assert_eq!(files[0]["mime"], "image/png", "{files}");
    assert!(files[0]["bytes"] == 9 << 20 && files[0]["text"].is_null(), "{files}");
    assert_eq!((&files[1]["mime"], &files[1]["text"]), (&json!("text/csv"), &json!("a,b\n")));
}

#[test]
fn calls_that_nobody_awaits_run_and_are_named() {
    let mut client = Client::start(&[]);
    let log = client.file("log");
    let code = format!("run('tee -a {} ', {{stdin: 'a'}}); 5", log.display());
    let text = client.succeeds(&code);
    assert!(text.starts_with("5\n\n[without await, so the results are lost: run("), "{text}");
    assert_eq!(fs::read_to_string(&log).unwrap(), "a");
}

#[test]
fn calls_run_at_once() {
    let mut client = Client::start(&[]);
    let fifo = client.file("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let fifo = fifo.display();
    // Each waits for the other.
    let code =
        format!("const [r] = await Promise.all([run('cat {fifo}'), run('tee {fifo}', {{stdin: 'met'}})]); r.stdout");
    assert_eq!(client.succeeds(&code), "met");
}

#[test]
fn the_time_of_calls_does_not_count() {
    let mut client = Client::start(&[]);
    let code = "for (const n of [1, 2, 3]) await tools.counts({lines: '10', pause: '50'}); 'done'";
    assert_eq!(text(&client.run_with(json!({ "code": code, "timeout": 1 }))), "done");
}

#[test]
fn output_beyond_the_limit_can_be_read_later() {
    let mut client = Client::start(&["--max-output", "1000"]);
    let result = client.run_with(json!({ "code": "for (let i = 0; i < 9999; i++) console.log(i); 'end'" }));
    assert!(text(&result).starts_with("0\n1\n") && text(&result).ends_with("9998\nend"), "{result}");
    let link = &result["content"][1];
    assert_eq!(
        (&link["type"], link["uri"].as_str().unwrap().starts_with("climax://output/")),
        (&json!("resource_link"), true)
    );
    let whole = client.request("resources/read", json!({ "uri": link["uri"] }));
    let whole = whole["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(whole.contains("\n5000\n") && whole.len() > 40_000);
    // A program gets all of an output whose text would be cut.
    assert_eq!(client.succeeds("(await run('seq 9999')).stdout.length"), "48888");
}

/// Runs a program that fails with this text.
fn fails(client: &mut Client, code: &str, seconds: u64, expected: &str) {
    let result = client.run_with(json!({ "code": code, "timeout": seconds }));
    let said: String = text(&result).chars().take(200).collect();
    assert!(result["isError"] == true && text(&result).contains(expected), "{code}: {said}");
}

#[test]
fn hostile_programs_harm_nothing_but_themselves() {
    let mut client = Client::start(&[]);
    for code in [
        "for (;;) {}",
        "try { for (;;) {} } catch { } finally { for (;;) {} }",
        "for (;;) { await null; }",
        "for (;;) console.log('flood');",
        "/(a+)+b/.exec('a'.repeat(50))",
    ] {
        fails(&mut client, code, 1, "computed for more than 1 s");
    }
    // However slow the machine is, these reach another limit before that of time.
    for (code, expected) in [
        ("const a = []; for (;;) a.push(new Array(1e5).fill(a.length))", "out of memory"),
        ("'x'.repeat(2 ** 29)", "out of memory"),
        ("new ArrayBuffer(2 ** 31)", "Error"),
        ("const f = () => f(); f()", "Maximum call stack size exceeded"),
        ("JSON.parse('['.repeat(1e6))", "Error"),
        ("throw {get message() { throw 1 }, toString() { throw 2 }}", "[error]"),
        ("throw new (class extends Error { get message() { throw 1 } })()", "an error that cannot be shown"),
        ("throw new Proxy({}, {get() { throw 1 }, ownKeys() { throw 2 }})", "[error]"),
        (
            "JSON.stringify = JSON.parse = Array.prototype.map = Promise.prototype.then = null; await run('true')",
            "[error]",
        ),
    ] {
        fails(&mut client, code, 300, expected);
    }
    for (code, expected) in [
        ("const x = {list: []}; x.list.push(x); x", r#"{"list":[[circular]]}"#),
        ("({get a() { throw new Error('no') }, b: 1})", r#"{"a":"[error: no]","b":1}"#),
        ("Function('return typeof this.process + typeof std + typeof os')()", "undefinedundefinedundefined"),
        ("(async () => {}).constructor('return typeof globalThis.send + typeof performance')()", "undefinedundefined"),
        ("Object.prototype.toJSON = () => ({returned: 'x'}); await tools.words({})", "(no output)"),
        ("Math.random = 5; Date.now = 5; try { tools.x = 5 } catch {} typeof tools.x", "function"),
    ] {
        assert_eq!(client.succeeds(code), expected, "{code}");
    }
    until("the guests to be gone", || client.guests().is_empty());
}

#[test]
fn guests_can_only_compute() {
    let mut client = Client::start(&[]);
    client.post("await tools.sleeper({})");
    let pids = client.file("pids");
    until("the program", || !announced(&pids).is_empty());
    let guests = client.guests();
    let [guest] = guests.as_slice() else { panic!("{guests:?}") };
    let of = |file: &str| fs::read_to_string(format!("/proc/{guest}/{file}")).unwrap();
    let status = of("status");
    for expected in ["Seccomp:\t2", "NoNewPrivs:\t1", "CapEff:\t0000000000000000", "Threads:\t1"] {
        assert!(status.contains(expected), "{status}");
    }
    assert_eq!(of("environ"), "");
    assert!(of("limits").lines().any(|line| line.starts_with("Max address space") && line.contains("536870912")));
    let mut open: Vec<_> =
        fs::read_dir(format!("/proc/{guest}/fd")).unwrap().map(|file| file.unwrap().file_name()).collect();
    open.sort();
    assert_eq!(open, ["0", "1", "2"]);
    assert_eq!(fs::read_link(format!("/proc/{guest}/cwd")).unwrap(), Path::new("/"));
}

#[test]
fn guests_end_with_their_request_and_with_the_server() {
    let mut client = Client::start(&[]);
    let pids = client.file("pids");
    let id = client.post("await tools.sleeper({})");
    until("the program", || !announced(&pids).is_empty());
    client
        .server
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    until("both to be gone", || client.guests().is_empty() && announced(&pids).iter().all(|pid| !is_running(*pid)));
    fs::remove_file(&pids).unwrap();
    client.post("await Promise.all([tools.sleeper({}), tools.sleeper({})]); for (;;) {}");
    until("the programs", || announced(&pids).len() == 2);
    let guests = client.guests();
    assert_eq!(guests.len(), 1);
    client.server.child.kill().unwrap();
    let all = [guests, announced(&pids)].concat();
    until("all to be gone", || all.iter().all(|pid| !is_running(*pid)));
}

/// A program that appends to a file, then makes a call that needs approval.
fn appends_then_asks(log: &Path) -> String {
    format!(
        "const luck = String(Math.random()), time = String(Date.now());
         const [first] = await Promise.all([run('tee -a {0}', {{stdin: 'first\\n'}}), tools.words({{word: [luck, time]}})]);
         const answer = await tools.asked({{word: first.stdout.trim()}});
         await run('tee -a {0}', {{stdin: 'last\\n'}});
         answer.stdout",
        log.display()
    )
}

#[test]
fn programs_go_on_when_the_user_has_answered_and_do_nothing_twice() {
    let mut client = Client::start(&[]);
    let log = client.file("log");
    let code = appends_then_asks(&log);
    let asked = client.run_with(json!({ "code": code }));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(fs::read_to_string(&log).unwrap(), "first\n");
    let other = client.answer(&format!("{code};"), &asked, "accept");
    assert_eq!(other["error"]["code"], -32602, "the state is for another program: {other}");
    let asked = client.run_with(json!({ "code": code }));
    let done = client.answer(&code, &asked, "accept");
    assert_eq!(text(&done["result"]), "<first>", "{done}");
    assert_eq!(fs::read_to_string(&log).unwrap(), "first\nfirst\nlast\n");
    let again = client.answer(&code, &asked, "accept");
    assert_eq!(again["error"]["code"], -32602, "a state is for one answer: {again}");
    let asked = client.run_with(json!({ "code": code }));
    let denied = client.answer(&code, &asked, "decline");
    assert!(text(&denied["result"]).contains("Tool execution denied by user: asked"), "{denied}");
    assert_eq!(fs::read_to_string(&log).unwrap(), "first\nfirst\nlast\nfirst\n");
}

#[test]
fn each_of_several_questions_is_asked_once() {
    let mut client = Client::start(&[]);
    let code = "const all = await Promise.all(['a', 'b', 'c'].map(word => tools.asked({word}).catch(e => e.code)));
        tools.asked({word: 'd'});
        all.map(one => one.stdout ?? one)";
    let mut result = client.run_with(json!({ "code": code }));
    for action in ["accept", "decline", "accept", "accept"] {
        assert_eq!(result["resultType"], "input_required", "{result}");
        result = client.answer(code, &result, action)["result"].clone();
    }
    let expected = "[\"<a>\",\"approval_denied\",\"<c>\"]\n\n[without await, so the results are lost: tools.asked]";
    assert_eq!(text(&result), expected);
}

#[test]
fn clients_of_earlier_revisions_are_asked_while_the_program_runs() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::spawn(&mut command(dir.path(), &[]));
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} }, "clientInfo": { "name": "t", "version": "0" } });
    server.request("initialize", params);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let code = "(await tools.asked({word: 'x'})).stdout";
    let id = server.post("tools/call", json!({ "name": "climax_code", "arguments": { "code": code } }));
    let question = server.receive();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": {} } }));
    let answer = server.receive();
    assert_eq!((&answer["id"], text(&answer["result"])), (&json!(id), "<x>"));
}

#[test]
fn a_client_that_is_killed_between_the_rounds_causes_nothing_twice() {
    let mut client = Client::start(&[]);
    let log = client.file("log");
    let code = appends_then_asks(&log);
    let asked = client.run_with(json!({ "code": code }));
    client.server = Server::spawn(&mut command(client.dir.path(), &[]));
    let lost = client.answer(&code, &asked, "accept");
    assert_eq!(lost["error"]["code"], -32602, "{lost}");
    assert_eq!(fs::read_to_string(&log).unwrap(), "first\n");
    // Over HTTP the next connection of the same caller goes on.
    fs::remove_file(&log).unwrap();
    let files = ["fake.yaml", "policy.yaml"].map(|name| client.file(name).display().to_string());
    let web = Web::start(&["--config", &files[0], "--policy", &files[1], "--meta", "code"]);
    let send = |params: &Value| web.modern_of(&json!({ "elicitation": {} }), &[], "tools/call", params).json();
    let mut params = json!({ "name": "climax_code", "arguments": { "code": code } });
    let asked = send(&params)["result"].clone();
    let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap();
    params["inputResponses"] = json!({ key: { "action": "accept", "content": {} } });
    params["requestState"] = asked["requestState"].clone();
    assert_eq!(text(&send(&params)["result"]), "<first>");
    assert_eq!(fs::read_to_string(&log).unwrap(), "first\nlast\n");
}

#[test]
fn calls_of_programs_are_held_to_the_policy_and_audited() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let mut client = Client::start(&["--audit", audit.to_str().unwrap()]);
    assert!(client.fails("await tools.secret({})").contains("Unknown tool: secret"));
    assert!(client.fails("await describe('secret')").contains("Unknown tool: secret"));
    assert_eq!(client.succeeds("(await search('secret')).filter(one => one.tool_name === 'secret').length"), "0");
    client.succeeds("await tools.words({}); await run('seq 2 | wc -l'); 1");
    client.capabilities = json!({});
    assert!(client.fails("await tools.asked({word: 'x'})").contains("asked"));
    let lines = fs::read_to_string(&audit).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen: Vec<_> = lines.iter().map(|line| (line["tool"].as_str().unwrap(), &line["code"], &line["via"])).collect();
    let of = |run: u64| (json!(run), json!("code"));
    let [first, fourth, fifth] = [of(0), of(3), of(4)];
    let expected = [
        ("secret", &first.0, &first.1),
        ("words", &fourth.0, &fourth.1),
        ("coreutils_seq", &fourth.0, &fourth.1),
        ("coreutils_wc", &fourth.0, &fourth.1),
        ("asked", &fifth.0, &fifth.1),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn programs_go_on_as_jobs() {
    let mut client = Client::start(&["--detach-after", "0.1"]);
    let result = client.run_with(json!({ "code": "await tools.counts({lines: '10'}); 'all'" }));
    let (_, rest) = text(&result).split_once("\"job\":\"").expect("an id");
    let job = json!({ "tool_name": "climax_job", "args": { "job": rest[..32], "wait": 30 } });
    let ended = client.request("tools/call", json!({ "name": "climax_call", "arguments": job }));
    assert_eq!(text(&ended["result"]), "all");
}

#[test]
fn the_list_of_tools_says_when_not_to_run_code() {
    let listed = |meta: &str| {
        let mut server = Server::start(&["--meta", meta]);
        let tools = server.request("tools/list", json!({}))["result"]["tools"].clone();
        tools.as_array().unwrap().iter().find(|tool| tool["name"] == "climax_code").unwrap().clone()
    };
    let tool = listed("search,call,run,code");
    let description = tool["description"].as_str().unwrap();
    assert!(description.contains("Not for one or two calls: climax_call; a pipeline: climax_run."), "{description}");
    assert_eq!(tool["annotations"]["destructiveHint"], true);
    // 4.5 bytes are a token, rather more than fewer.
    assert!(description.len() * 2 / 9 <= 150, "{} bytes", description.len());
    assert!(!listed("code")["description"].as_str().unwrap().contains("climax_call"));
}
