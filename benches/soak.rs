//! 10,000 calls, 64 in flight: a third cancelled at random moments, a third that time out, a third that end.
//!
//! `cargo bench --bench soak` makes them twice, the second time with progress for every other call. It fails at the
//! first response that is wrong, missing or duplicate, and if a process, descriptor or memory is left. `-- N` makes N
//! calls.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measuring program prints, starts others, and stops at the first failure"
)]

mod calling;
mod client;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use client::Server;
use climax::mcp::MAX_STORED_BYTES;

const CALLS: usize = 10_000;
const WARM_UP: usize = 200;
const IN_FLIGHT: usize = 64;
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
/// Maximum time from a call to its cancellation.
const MAX_PATIENCE_MS: usize = 150;
/// Number of calls whose stored outputs reach the limit of the output store, [`MAX_STORED_BYTES`].
const KEPT_CALLS: usize = MAX_STORED_BYTES / KEPT_OUTPUT_BYTES + 1;
const KEPT_OUTPUT_BYTES: usize = 2_000_000;
/// Limit for growth of the memory after the warm-up, which the allocator may hold for reuse.
const MAX_GROWTH_KIB: u64 = 4 << 10;
/// Limit for the memory of the server without stored outputs.
const MAX_BESIDES_KIB: u64 = 24 << 10;
/// A timeout that no call reaches.
const HANG: Duration = Duration::from_secs(30);
/// Time to wait for unexpected messages of the idle server.
const QUIET: Duration = Duration::from_millis(500);

/// A tool, its behaviour and its weight among the tools of its third.
struct Tool {
    command: &'static str,
    timeout: f64,
    weight: usize,
    /// The error code of calls that are not cancelled.
    code: Option<&'static str>,
}

const fn tool(command: &'static str, timeout: f64, weight: usize, code: Option<&'static str>) -> Tool {
    Tool { command, timeout, weight, code }
}

const CANCELLED: &[Tool] = &[
    tool("announce", 30.0, 40, None),
    tool("family", 30.0, 30, None),
    tool("flood 100000000000", 30.0, 10, None),
    tool("exit 0", 30.0, 19, None),
    tool("stubborn", 30.0, 1, None),
];
const TIMING_OUT: &[Tool] = &[
    tool("announce", 0.05, 30, Some("timed_out")),
    tool("announce", 0.2, 30, Some("timed_out")),
    tool("family", 0.15, 30, Some("timed_out")),
    tool("flood 100000000000", 0.1, 9, Some("timed_out")),
    tool("stubborn", 0.1, 1, Some("timed_out")),
];
const ENDING: &[Tool] = &[
    tool("exit 0 done", 30.0, 30, None),
    tool("exit 3 failed", 30.0, 20, Some("command_failed")),
    tool("abort", 30.0, 15, Some("command_failed")),
    tool("lines 10 5", 30.0, 15, None),
    tool("leave-behind", 30.0, 15, None),
    tool("flood 2000000", 30.0, 5, None),
];
const THIRDS: [&[Tool]; 3] = [CANCELLED, TIMING_OUT, ENDING];
/// The third and the index in it of the tool that prints [`KEPT_OUTPUT_BYTES`].
const KEPT: (usize, usize) = (2, 5);

fn main() {
    let work = tempfile::tempdir().unwrap();
    let (config, pids) = (work.path().join("config.yaml"), work.path().join("pids"));
    fs::write(&config, yaml(&pids)).unwrap();
    let calls = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(CALLS);
    for watched in [false, true] {
        let told = if watched { "half of them" } else { "none" };
        println!("{calls} calls, {IN_FLIGHT} in flight, progress for {told}");
        soak(&config, &pids, calls, watched);
    }
}

fn yaml(pids: &Path) -> String {
    let mut yaml = format!("name: fake\ncommand: {}\n", calling::fakecli().display());
    let _ = writeln!(yaml, "env: {{FAKECLI_PIDS: {}}}\ntools:", pids.display());
    for (third, tools) in THIRDS.iter().enumerate() {
        for (at, Tool { command, timeout, .. }) in tools.iter().enumerate() {
            let name = name(third, at);
            let _ = writeln!(yaml, "  - {{name: {name}, description: x, command: {command}, timeout: {timeout:?}}}");
        }
    }
    yaml
}

fn name(third: usize, at: usize) -> String {
    format!("tool_{third}_{at}")
}

fn soak(config: &Path, pids: &Path, calls: usize, watched: bool) {
    let _ = fs::remove_file(pids);
    let (server, mut output) = calling::start(config);
    let (sender, messages) = channel();
    std::thread::spawn(move || {
        while let Some(message) = client::read(&mut output) {
            let _ = sender.send(message);
        }
    });
    let mut client =
        Client { server, messages, random: Random(SEED), watched, open: BTreeMap::new(), counts: Counts::default() };
    client.run(WARM_UP, Random::tool);
    client.run(KEPT_CALLS, |_| KEPT);
    client.settle(pids);
    let (descriptors, memory) = client.resources();
    client.counts = Counts::default();
    let start = Instant::now();
    client.run(calls, Random::tool);
    let took = start.elapsed();
    client.settle(pids);
    let (descriptors_after, memory_after) = client.resources();
    let Counts { answered, cancelled, raced, progress } = client.counts;
    println!("  {answered} answered, {cancelled} cancelled and {raced} both, in {:.1} s", took.as_secs_f64());
    let announced = fs::read_to_string(pids).unwrap().lines().count();
    println!("  {progress} progress notifications; {announced} processes announced themselves, none is left");
    let kept = (MAX_STORED_BYTES >> 10) as u64;
    println!("  {descriptors} descriptors after the warm-up, {descriptors_after} at the end");
    println!("  {memory} KiB resident after the warm-up, {memory_after} KiB at the end; up to {kept} KiB are outputs");
    assert_eq!(descriptors_after, descriptors, "descriptors leak");
    assert!(memory_after < memory + MAX_GROWTH_KIB, "memory leaks");
    assert!(memory_after < kept + MAX_BESIDES_KIB, "memory stays that nothing needs");
}

/// A request without a response so far.
struct Request {
    tool: &'static Tool,
    cancellation: Cancellation,
}

enum Cancellation {
    Never,
    At(Instant),
    Sent,
}

impl Request {
    fn cancel_at(&self) -> Option<Instant> {
        match self.cancellation {
            Cancellation::At(at) => Some(at),
            Cancellation::Never | Cancellation::Sent => None,
        }
    }
}

#[derive(Default)]
struct Counts {
    answered: usize,
    cancelled: usize,
    /// Cancelled when the response may have been sent already.
    raced: usize,
    progress: usize,
}

struct Client {
    server: Server,
    messages: Receiver<Value>,
    random: Random,
    watched: bool,
    open: BTreeMap<u64, Request>,
    counts: Counts,
}

impl Client {
    /// Makes so many calls and waits for the end of each. `tool` returns a third and an index in it.
    fn run(&mut self, calls: usize, tool: impl Fn(&mut Random) -> (usize, usize)) {
        let mut left = calls;
        while left > 0 || !self.open.is_empty() {
            while left > 0 && self.open.len() < IN_FLIGHT {
                let (third, at) = tool(&mut self.random);
                self.call(third, at);
                left -= 1;
            }
            self.cancel_what_is_due();
            let next = self.open.values().filter_map(Request::cancel_at).min();
            let pause = next.map_or(HANG, |next| next.saturating_duration_since(Instant::now()));
            match self.messages.recv_timeout(pause) {
                Ok(message) => self.take(&message),
                Err(RecvTimeoutError::Timeout) => assert!(next.is_some(), "{} not answered", self.open.len()),
                Err(RecvTimeoutError::Disconnected) => panic!("the server has ended"),
            }
        }
    }

    fn call(&mut self, third: usize, at: usize) {
        let patience = Duration::from_millis(self.random.below(MAX_PATIENCE_MS) as u64);
        let watched = self.watched && self.random.below(2) == 0;
        let cancellation = if third == 0 { Cancellation::At(Instant::now() + patience) } else { Cancellation::Never };
        let id = self.server.call(&name(third, at), watched);
        self.open.insert(id, Request { tool: &THIRDS[third][at], cancellation });
    }

    /// Sends a cancellation and a ping. The response to the ping shows that the cancellation has been processed.
    fn cancel_what_is_due(&mut self) {
        let now = Instant::now();
        for (id, request) in &mut self.open {
            if request.cancel_at().is_some_and(|at| at <= now) {
                request.cancellation = Cancellation::Sent;
                self.server.cancel(*id);
                self.server.send(&json!({ "jsonrpc": "2.0", "id": format!("after {id}"), "method": "ping" }));
                self.counts.cancelled += 1;
            }
        }
    }

    fn take(&mut self, message: &Value) {
        if message["method"] == "notifications/progress" {
            let token = message["params"]["progressToken"].as_u64().unwrap();
            assert!(self.open.contains_key(&token), "progress of what is over: {message}");
            self.counts.progress += 1;
        } else if let Some(id) = message["id"].as_u64() {
            let request = self.open.remove(&id).unwrap_or_else(|| panic!("one answer too many: {message}"));
            if matches!(request.cancellation, Cancellation::Sent) {
                self.counts.raced += 1;
                return;
            }
            let code = message["result"]["structuredContent"]["error"]["code"].as_str();
            assert_eq!(code, request.tool.code, "{message}");
            self.counts.answered += 1;
        } else {
            let id = message["id"].as_str().and_then(|id| id.strip_prefix("after ")).unwrap();
            self.open.remove(&id.parse().unwrap());
        }
    }

    /// Waits until nothing runs. Fails if the server sends a message after that.
    fn settle(&mut self, pids: &Path) {
        let start = Instant::now();
        loop {
            let left = left_behind(&self.server, pids);
            if left.is_empty() {
                break;
            }
            assert!(start.elapsed() < HANG, "left behind:\n{}", left.join("\n"));
            std::thread::sleep(Duration::from_millis(20));
        }
        if let Ok(message) = self.messages.recv_timeout(QUIET) {
            panic!("one message too many: {message}");
        }
    }

    /// Returns the number of open descriptors of the server, and its memory in KiB.
    fn resources(&self) -> (usize, u64) {
        let descriptors = fs::read_dir(format!("/proc/{}/fd", self.server.child.id())).unwrap();
        (descriptors.count(), self.server.memory_kib("VmRSS"))
    }
}

/// Returns the processes with the variable of the config, and the server's children except the janitor, zombies
/// included.
fn left_behind(server: &Server, pids: &Path) -> Vec<String> {
    let variable = format!("FAKECLI_PIDS={}", pids.display());
    let server = server.child.id().to_string();
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let process = entry.unwrap().path();
        let stat = fs::read_to_string(process.join("stat")).ok()?;
        // proc(5): the name in parentheses, then the state and the parent.
        let parent = stat.rsplit(") ").next()?.split(' ').nth(1)?;
        let words = |file| String::from_utf8_lossy(&fs::read(process.join(file)).unwrap_or_default()).into_owned();
        let is_ours = words("environ").split('\0').any(|word| word == variable);
        let is_child = parent == server && words("cmdline") != "climax\0janitor\0";
        (is_ours || is_child).then_some(stat)
    });
    processes.collect()
}

/// Marsaglia's xorshift generator, with the same numbers in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
    /// Chooses a tool of a third, by its weight.
    fn tool(&mut self) -> (usize, usize) {
        let third = self.below(3);
        let tools = THIRDS[third];
        let mut left = self.below(tools.iter().map(|tool| tool.weight).sum());
        let at = tools.iter().position(|tool| {
            let found = left < tool.weight;
            left = left.saturating_sub(tool.weight);
            found
        });
        (third, at.unwrap())
    }
}
