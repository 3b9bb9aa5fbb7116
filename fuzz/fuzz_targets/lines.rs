//! Asserts, for any input of a client, that each line of the server is JSON-RPC, that each response belongs to a
//! request, and that the server ends with its input. The first byte selects the mode, and whether the client waits
//! after each line: `0` to `5`.

#![no_main]

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use climax::call::Toolbox;
use climax::call::visible::TextForm;
use climax::catalog::Strategy;
use climax::catalog::policy::Applied;
use climax::exec::Limits;
use climax::exec::Runner;
use climax::mcp::decode::{Decoded, Methods, decode};
use climax::mcp::{Changes, MetaSurface, MetaTool, Options, Server, Surface};
use climax::transport::stdio::serve;
use climax::transport::streams::Streams;
use climax_fuzz::{object, restricted};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex, split};
use tokio_util::sync::CancellationToken;

/// The program does not exist, so no call starts a process.
const TOOLS: &str = r#"
name: nothing
command: /dev/null/none
category: tests
tags: [one, two]
tools:
  - {name: say, description: Says words. Twice, args: [{name: word, positional: true, required: true}, {name: times, type: integer}]}
  - name: drop
    description: Drops a table
    risk: destructive
    confirm_message: "Drop {title} ({id})?"
    resolve: {title: {command: show, args: {id: "{id}"}}}
    args: [{name: id, type: integer, required: true}, {name: force, type: boolean}]
  - {name: ask, description: Asks first, risk: write}
"#;

const POLICY: &str = r#"
default: enabled
tools: {say: {args: {word: {pattern: "[a-z]+"}, times: {min: 1, max: 9}}}}
approval: {global: write, headless: approve}
"#;

static TOOLBOX: LazyLock<Arc<Toolbox>> = LazyLock::new(|| {
    let Applied { policy, index, .. } = restricted(TOOLS, POLICY);
    let runner = Runner::new(policy.executor().clone(), Limits::default(), 1);
    Arc::new(Toolbox::new(index, policy, runner, None))
});

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, input)) = bytes.split_first() else { return };
    let lines = || input.split(|byte| *byte == b'\n');
    lines().for_each(decoded);
    let surface = match *choice % 3 {
        0 => Surface::Meta(MetaSurface::of(["search", "call", "read"].into_iter().filter_map(MetaTool::of_word))),
        1 => Surface::Meta(MetaSurface::extended()),
        _ => Surface::Classic,
    };
    let pause = Duration::from_millis(u64::from(*choice % 6 / 3));
    let output = String::from_utf8(conversation(surface, pause, input)).expect("the output is UTF-8");
    assert!(output.is_empty() || output.ends_with('\n'), "{output}");
    let messages: Vec<Value> = output.lines().map(object).collect();
    assert!(messages.iter().all(is_json_rpc), "{output}");
    let answers = messages.iter().filter(|message| message.get("method").is_none()).count();
    assert!(answers <= lines().filter(|line| !line.is_empty()).count(), "{output}");
});

/// Asserts that a message that cannot be decoded gets a response with its own id.
fn decoded(line: &[u8]) {
    let Decoded::Error(answer) = decode(line, Methods::Skills) else { return };
    let answer = serde_json::to_value(*answer).expect("an answer is JSON");
    assert!(is_json_rpc(&answer) && answer["error"].is_object(), "{answer}");
    let given = serde_json::from_slice(line).unwrap_or(Value::Null);
    // A number may come back in another notation: 1.0 as 1.
    let [given, back] = [&given["id"], &answer["id"]];
    let is_given = back == given || back.as_f64().is_some_and(|number| given.as_f64() == Some(number));
    assert!(back.is_null() || is_given, "{answer}");
}

/// Asserts that a message is a request, a notification, or a response with either a result or an error.
///
/// Source: JSON-RPC 2.0, "Request object" and "Response object".
fn is_json_rpc(message: &Value) -> bool {
    let keys = ["method", "result", "error"].into_iter().filter(|key| message.get(key).is_some());
    message["jsonrpc"] == "2.0" && keys.count() == 1
}

/// Returns the output of a server until its input has ended. The clock is paused, so timers take no time.
fn conversation(surface: Surface, pause: Duration, input: &[u8]) -> Vec<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime starts").block_on(async {
        let shutdown = CancellationToken::new();
        let options = Options {
            surface,
            strategy: Strategy::Auto,
            text_form: TextForm::Visible,
            changes: Changes::Never,
            detach_after: None,
            replica: None,
        };
        let server = Server::new(TOOLBOX.clone(), options, shutdown.clone());
        let (ours, theirs) = duplex(1 << 16);
        let (read, write) = split(theirs);
        let (mut answers, mut requests) = split(ours);
        let mut output = Vec::new();
        let feed = async {
            // The write fails if the server has ended.
            for line in input.split_inclusive(|byte| *byte == b'\n') {
                let _ = requests.write_all(line).await;
                tokio::time::sleep(pause).await;
            }
            let _ = requests.shutdown().await;
        };
        // Tasks of the SDK may hold the output open after the server has ended.
        let listen = tokio::time::timeout(Duration::from_hours(1), answers.read_to_end(&mut output));
        let _ = tokio::join!(Box::pin(serve(server, Streams::new(read, write), shutdown)), feed, listen);
        output
    })
}
