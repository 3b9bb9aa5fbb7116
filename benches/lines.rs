//! The cost of command lines: one command beside a call; pipelines and loops beside bash.
//!
//! `cargo bench --bench lines` runs each pair in turn and prints medians. The last pair passes 1 GB through three
//! programs, and prints the server's peak memory.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measuring program prints, starts others, and stops at the first failure"
)]

mod client;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use client::{Output, Server};
use serde_json::{Value, json};

const ROUNDS: usize = 500;
const LOOP_ROUNDS: usize = 20;
const LARGE_ROUNDS: usize = 5;
/// Named by its path, since `true` alone is a builtin.
const ONE: &str = "/bin/true";
const TWO: &str = "seq 3 | wc -l";
const BUILTINS: &str = "for ((i=0; i<10000; i++)); do true; done";
const PROGRAMS: &str = "for i in {1..200}; do /bin/true; done";
const SUBSTITUTION: &str = "x=$(seq 3); echo $x";
const LARGE: &str = "head -c 1000000000 /dev/zero | cat | wc -c";

fn main() {
    let (mut server, mut output) = client::start_with(&["--meta", "search,call,run"], Path::new("/"));
    println!("{:44} {:>9} {:>9} {:>9}", "", "p50 ms", "of", "added");
    let call = json!({ "tool_name": "coreutils_true" });
    let line = json!({ "command": ONE });
    let (mut lines, mut calls) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        lines.push(timed(|| ask(&mut server, &mut output, "climax_run", &line)));
        calls.push(timed(|| ask(&mut server, &mut output, "climax_call", &call)));
    }
    print_pair("`/bin/true`: climax_run beside climax_call", median(lines), median(calls));
    let mut both = |text: &str, rounds: usize| {
        let line = json!({ "command": text });
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            ours.push(timed(|| ask(&mut server, &mut output, "climax_run", &line)));
            theirs.push(timed(|| bash(text)));
        }
        (median(ours), median(theirs))
    };
    let (ours, theirs) = both(TWO, ROUNDS);
    print_pair("`seq 3 | wc -l`: climax_run beside bash -c", ours, theirs);
    let (ours, theirs) = both(SUBSTITUTION, ROUNDS);
    print_pair("`x=$(seq 3); echo $x` beside bash -c", ours, theirs);
    let (ours, theirs) = both(BUILTINS, LOOP_ROUNDS);
    print_pair("10,000 turns of `true` beside bash -c", ours, theirs);
    let (ours, theirs) = both(PROGRAMS, LOOP_ROUNDS);
    print_pair("200 turns of `/bin/true` beside bash -c", ours, theirs);
    let (ours, theirs) = both(LARGE, LARGE_ROUNDS);
    print_pair("1 GB through 3 programs beside bash -c", ours, theirs);
    println!("peak memory of the server: {} KiB", server.memory_kib("VmHWM"));
}

fn timed(one: impl FnOnce()) -> Duration {
    let start = Instant::now();
    one();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ask(server: &mut Server, output: &mut Output, tool: &str, arguments: &Value) {
    server.request(tool, arguments, false);
    let answer = client::read(output).unwrap();
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

fn bash(line: &str) {
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", line]).stdin(Stdio::null()).stderr(Stdio::null());
    assert!(command.output().unwrap().status.success());
}

fn print_pair(name: &str, ours: Duration, base: Duration) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("{name:44} {:>9.3} {:>9.3} {:>9.3}", ms(ours), ms(base), ms(ours) - ms(base));
}
