//! Two replicas behind a proxy, one of which is restarted again and again while clients make 10,000 calls.
//!
//! `cargo bench --bench http -- replicas` measures with the proxy settings of `docs/guides/nginx.md`, where no call may
//! fail, and with the defaults of nginx. It prints the errors of the clients.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::web::nginx::{self, Nginx};
use crate::web::{Call, Connection, Server, Target};

const CALLS: usize = 10_000;
const CLIENTS: usize = 16;
/// How long both replicas serve between two restarts.
const PAUSE: Duration = Duration::from_millis(300);

pub(crate) fn main() {
    if !nginx::is_installed() {
        println!("{}", nginx::MISSING);
        return;
    }
    let work = tempfile::tempdir().unwrap();
    println!(
        "{:32} {:>6} {:>8} {:>9} {:>9} {:>6}",
        "proxy_next_upstream", "calls", "restarts", "p99 ms", "slowest", "failed"
    );
    for retries in [nginx::RETRIES, "error timeout"] {
        let failed = measure(work.path(), retries);
        assert!(failed == 0 || retries != nginx::RETRIES, "{failed} calls failed at the clients");
    }
}

/// Makes the calls, prints a line, and returns the number of failed calls.
fn measure(directory: &Path, retries: &str) -> usize {
    let mut replicas = [Server::start(directory, 0), Server::start(directory, 0)];
    let addresses = replicas.each_ref().map(|replica| replica.address);
    let proxy = Nginx::start(directory, &addresses, retries);
    let left = AtomicUsize::new(CALLS);
    let (restarts, results) = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| client(Target::Plain(proxy.plain), &left))).collect();
        let mut restarts = 0;
        while left.load(Ordering::Relaxed) > 0 {
            std::thread::sleep(PAUSE);
            restart(directory, &mut replicas[restarts % 2]);
            restarts += 1;
        }
        let results: Vec<_> = clients.into_iter().map(|client| client.join().unwrap()).collect();
        (restarts, results)
    });
    let (mut times, mut failures) = (Vec::new(), BTreeMap::<String, usize>::new());
    for (single, failed) in results {
        times.extend(single);
        for failure in failed {
            *failures.entry(failure).or_default() += 1;
        }
    }
    times.sort_unstable();
    let [p99, slowest] = [times.len() * 99 / 100, times.len() - 1].map(|at| times[at].as_secs_f64() * 1e3);
    let failed = failures.values().sum();
    println!("{retries:32} {CALLS:>6} {restarts:>8} {p99:>9.3} {slowest:>9.3} {failed:>6}");
    for (failure, times) in failures {
        println!("  {times} × {failure}");
    }
    failed
}

/// Restarts a replica as an operator does: TERM, then wait for its calls, then another server on its port.
fn restart(directory: &Path, replica: &mut Server) {
    let pid = Pid::from_child(&replica.child);
    kill_process(pid, Signal::TERM).unwrap();
    assert!(replica.child.wait().unwrap().success());
    let port = replica.address.port();
    *replica = Server::start(directory, port);
}

/// Makes calls until none are left. Returns the time of each, and the errors.
fn client(target: Target, left: &AtomicUsize) -> (Vec<Duration>, Vec<String>) {
    let requests = [Call::Search, Call::True].map(|call| (call, call.modern()));
    let (mut times, mut failures) = (Vec::new(), Vec::new());
    let mut connection = None;
    for (call, request) in requests.iter().cycle() {
        let next = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if next.is_err() {
            break;
        }
        let start = Instant::now();
        let mut open = connection.take().unwrap_or_else(|| Connection::open(target).unwrap());
        match open.exchange(request) {
            Ok(response) => {
                if !call.succeeded(&response) {
                    let text = String::from_utf8_lossy(&response.body);
                    failures.push(format!("{} {}", response.status, text.lines().next().unwrap_or_default()));
                }
                connection = (!response.closes).then_some(open);
            }
            Err(error) => failures.push(error.to_string()),
        }
        times.push(start.elapsed());
    }
    (times, failures)
}
