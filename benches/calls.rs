//! The overhead of a call: time, memory with much output, and time from cancellation to the end of the processes.
//!
//! `cargo bench --bench calls` runs `/bin/true` in turn by `posix_spawn` alone, by the runner, and by the release
//! server over its standard streams, confined to needs and not. Then it runs programs of `climax_code`, floods the
//! server, and cancels calls. It prints medians and 99th percentiles.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measuring program prints, starts others, and stops at the first failure"
)]

mod calling;
mod client;

use std::collections::HashMap;
use std::future::pending;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use climax::catalog::policy::Executor;
use climax::exec::Invocation;
use climax::exec::Limits;
use climax::exec::{End, Runner};
use rustix::process::{Pid, test_kill_process_group};
use serde_json::json;

use client::{Output, Server};

const PROGRAM: &str = "/bin/true";
const ROUNDS: usize = 50;
/// Calls of one kind in one round, and the number in flight.
const LOADS: [(usize, usize); 2] = [(100, 1), (128, 32)];
const FLOOD: u64 = 1_000_000_000;
const CODE_RUNS: usize = 1_000;
const CANCELLED: usize = 100;
const CANCELLED_STUBBORN: usize = 5;

fn main() {
    let work = tempfile::tempdir().unwrap();
    let config = work.path().join("config.yaml");
    let pids = work.path().join("pids");
    let fakecli = calling::fakecli();
    let text = format!(
        "name: bench\ncommand: {}\nenv: {{FAKECLI_PIDS: {}}}\ntools:\n\
         \x20 - {{name: quiet, description: x, command: exit 0}}\n\
         \x20 - {{name: flood, description: x, command: flood {FLOOD}, timeout: 60}}\n\
         \x20 - {{name: willing, description: x, command: announce}}\n\
         \x20 - {{name: stubborn, description: x, command: stubborn}}\n",
        fakecli.display(),
        pids.display(),
    );
    std::fs::write(&config, text).unwrap();
    let small = work.path().join("small.yaml");
    std::fs::write(
        &small,
        format!(
            "command: {PROGRAM}\ntools:\n  - {{name: small, description: x}}\n  \
         - {{name: held, description: x, risk: read, needs: {{}}}}\n"
        ),
    )
    .unwrap();
    compare(&small);
    code(&small);
    flood(&config);
    cancel(&config, &pids);
}

/// Measures the four kinds in turn, so that other load on the machine affects all of them.
fn compare(config: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (mut server, mut output) = calling::start(config);
    println!(
        "{:>9}  {:22} {:>9} {:>9} {:>11} {:>11} {:>8}",
        "in flight", "way", "p50 ms", "p99 ms", "added p50", "added p99", "calls/s"
    );
    for (calls, in_flight) in LOADS {
        let names = ["posix_spawn and wait", "runner", "server over stdio", "the same, confined"];
        let mut ways = names.map(|name| (name, Times::default()));
        for round in 0..=ROUNDS {
            let measured = [
                Times::of(|| bare(calls, in_flight)),
                Times::of(|| runtime.block_on(runner(calls, in_flight))),
                Times::of(|| over_stdio(&mut server, &mut output, "small", calls, in_flight)),
                Times::of(|| over_stdio(&mut server, &mut output, "held", calls, in_flight)),
            ];
            // The first round warms up caches.
            if round > 0 {
                ways.iter_mut().zip(measured).for_each(|((_, all), new)| all.add(new));
            }
        }
        let base = [50, 99].map(|percent| ways[0].1.percentile(percent));
        for (name, times) in &mut ways {
            let [p50, p99] = [50, 99].map(|percent| times.percentile(percent));
            println!(
                "{in_flight:>9}  {name:22} {p50:>9.3} {p99:>9.3} {:>11.3} {:>11.3} {:>8.0}",
                p50 - base[0],
                p99 - base[1],
                times.per_second(),
            );
        }
    }
}

/// Measures programs of `climax_code`: one that makes no call, and one that makes a call.
fn code(config: &Path) {
    let config = config.display().to_string();
    let (mut server, mut output) = client::start_with(&["--meta", "call,code", "--config", &config], Path::new("."));
    println!("\n{:28} {:>6} {:>9} {:>9}", "climax_code", "runs", "p50 ms", "p99 ms");
    for (name, code) in [("no call", "1"), ("one call", "await tools.small()")] {
        let mut times = Times::default();
        for _ in 0..CODE_RUNS {
            let start = Instant::now();
            server.request("climax_code", &json!({ "code": code }), false);
            let answer = client::read(&mut output).unwrap();
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            times.single.push(start.elapsed());
        }
        println!("{name:28} {CODE_RUNS:>6} {:>9.3} {:>9.3}", times.percentile(50), times.percentile(99));
    }
    // The janitor is the one child that stays.
    let server = server.child.id();
    let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children")).unwrap();
    assert!(children.split_whitespace().count() <= 1, "processes are left: {children}");
}

/// The time of each call, and of all together.
#[derive(Default)]
struct Times {
    single: Vec<Duration>,
    total: Duration,
}

impl Times {
    fn of(measured: impl FnOnce() -> Vec<Duration>) -> Self {
        let start = Instant::now();
        let single = measured();
        Self { single, total: start.elapsed() }
    }

    fn add(&mut self, other: Self) {
        self.single.extend(other.single);
        self.total += other.total;
    }

    fn per_second(&self) -> f64 {
        f64::from(u32::try_from(self.single.len()).unwrap()) / self.total.as_secs_f64()
    }

    /// In milliseconds.
    fn percentile(&mut self, percent: usize) -> f64 {
        self.single.sort_unstable();
        self.single[(self.single.len() - 1) * percent / 100].as_secs_f64() * 1e3
    }
}

/// Starts programs by `posix_spawn`. With more than one in flight, each has a thread.
fn bare(calls: usize, in_flight: usize) -> Vec<Duration> {
    let one = || {
        let start = Instant::now();
        let mut command = Command::new(PROGRAM);
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(status.unwrap().success());
        start.elapsed()
    };
    let some = || (0..calls / in_flight).map(|_| one()).collect::<Vec<_>>();
    if in_flight == 1 {
        return some();
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..in_flight).map(|_| scope.spawn(some)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// Runs programs by the runner, on one thread as in the server.
async fn runner(calls: usize, in_flight: usize) -> Vec<Duration> {
    let invocation = Invocation::new(vec![PROGRAM.to_owned()], Duration::from_mins(1));
    let runner = Arc::new(Runner::new(Executor::Local, Limits::default(), 64));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..in_flight {
        let (runner, invocation) = (runner.clone(), invocation.clone());
        tasks.spawn(async move {
            let mut times = Vec::new();
            for _ in 0..calls / in_flight {
                let start = Instant::now();
                let outcome = runner.run(&invocation, None, pending()).await.unwrap();
                assert_eq!(outcome.end, End::Exited(0));
                times.push(start.elapsed());
            }
            times
        });
    }
    tasks.join_all().await.concat()
}

fn over_stdio(server: &mut Server, output: &mut Output, tool: &str, calls: usize, in_flight: usize) -> Vec<Duration> {
    let mut starts = HashMap::new();
    let mut times = Vec::new();
    for sent in 0..calls + in_flight {
        if sent >= in_flight {
            let answer = client::read(output).unwrap();
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            let start: Instant = starts.remove(&answer["id"].as_u64().unwrap()).unwrap();
            times.push(start.elapsed());
        }
        if sent < calls {
            let start = Instant::now();
            starts.insert(server.call(tool, false), start);
        }
    }
    times
}

/// Prints the server's peak memory before and after a call with more output than the limit.
fn flood(config: &Path) {
    let (mut server, mut output) = calling::start(config);
    let mut peak = |tool| {
        let start = Instant::now();
        server.call(tool, false);
        let answer = client::read(&mut output).unwrap();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        (server.memory_kib("VmHWM"), start.elapsed())
    };
    let (quiet, _) = peak("quiet");
    let (flooded, time) = peak("flood");
    println!(
        "\npeak memory: {quiet} KiB after a call that prints nothing, {flooded} KiB after one that prints {FLOOD} bytes \
         (in {:.1} s): {} KiB more",
        time.as_secs_f64(),
        flooded - quiet
    );
}

/// Prints the time from a cancellation until no process of the group is left, zombies included.
fn cancel(config: &Path, pids: &Path) {
    let (mut server, _output) = calling::start(config);
    println!("\n{:28} {:>6} {:>9} {:>9}", "cancelled", "calls", "p50 ms", "p99 ms");
    for (name, tool, calls) in
        [("ends on TERM", "willing", CANCELLED), ("ignores TERM (2 s of grace)", "stubborn", CANCELLED_STUBBORN)]
    {
        let mut times = Times::default();
        for _ in 0..calls {
            std::fs::write(pids, "").unwrap();
            let id = server.call(tool, false);
            let group = loop {
                let text = std::fs::read_to_string(pids).unwrap();
                if let Some(pid) = text.strip_suffix('\n') {
                    break Pid::from_raw(pid.parse().unwrap()).unwrap();
                }
                std::thread::sleep(Duration::from_millis(1));
            };
            let start = Instant::now();
            server.cancel(id);
            while test_kill_process_group(group).is_ok() {
                std::thread::sleep(Duration::from_micros(20));
            }
            times.single.push(start.elapsed());
        }
        println!("{name:28} {calls:>6} {:>9.3} {:>9.3}", times.percentile(50), times.percentile(99));
    }
}
