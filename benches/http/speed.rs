//! The cost of a call over HTTP: of both revisions, over one connection and over many, direct and behind a proxy. Also the memory
//! of idle sessions and connections.
//!
//! `cargo bench --bench http` prints medians and 99th percentiles over rounds in which all ways take turns. Behind TLS
//! each connection of the client goes through an `openssl s_client`, whose cost is in the figures.

use std::time::{Duration, Instant};

use crate::web;
use crate::web::nginx::{self, Nginx};
use crate::web::{Call, Connection, Server, Target};

const ROUNDS: usize = 12;
/// Connections, and the calls of each in one round: of the search, and of the program.
const LOADS: [(usize, usize, usize); 2] = [(1, 200, 100), (64, 16, 4)];
/// Below the session limit of the server.
const SESSIONS: u32 = 900;
const CONNECTIONS: u32 = 2_000;

pub(crate) fn main() {
    web::open_many_descriptors();
    let work = tempfile::tempdir().unwrap();
    let server = Server::start(work.path(), 0);
    let mut ways = vec![("straight", Target::Plain(server.address))];
    let proxy = nginx::is_installed().then(|| Nginx::start(work.path(), &[server.address], nginx::RETRIES));
    match &proxy {
        Some(proxy) => ways.extend([("nginx", Target::Plain(proxy.plain)), ("nginx, TLS", Target::Tls(proxy.tls))]),
        None => println!("{}", nginx::MISSING),
    }
    println!(
        "{:>11}  {:6}  {:10}  {:10} {:>8} {:>9} {:>9}",
        "connections", "call", "era", "way", "calls/s", "p50 ms", "p99 ms"
    );
    for (connections, searches, programs) in LOADS {
        for (call, name, calls) in [(Call::Search, "search", searches), (Call::True, "true", programs)] {
            let mut measured: Vec<Measured> =
                ways.iter().flat_map(|(way, target)| both_eras(way, *target, call, connections)).collect();
            for round in 0..=ROUNDS {
                // The first round fills caches.
                for way in &mut measured {
                    way.round(call, calls, round > 0);
                }
            }
            for way in &mut measured {
                let [p50, p99] = [50, 99].map(|percent| way.percentile(percent));
                let (era, name_of_way, per_second) = (way.era, way.name, way.per_second());
                println!(
                    "{connections:>11}  {name:6}  {era:10}  {name_of_way:10} {per_second:>8.0} {p50:>9.3} {p99:>9.3}"
                );
            }
        }
    }
    drop(proxy);
    drop(server);
    memory(work.path());
}

/// Clients that connect in one way, and the times of their calls.
struct Measured {
    name: &'static str,
    era: &'static str,
    clients: Vec<(Connection, Vec<u8>)>,
    single: Vec<Duration>,
    total: Duration,
}

fn both_eras(name: &'static str, target: Target, call: Call, connections: usize) -> [Measured; 2] {
    let open = |era| {
        let client = |_| {
            let mut connection = Connection::open(target).unwrap();
            let request = if era == "2026-07-28" { call.modern() } else { call.legacy(&web::session(&mut connection)) };
            (connection, request)
        };
        let clients = (0..connections).map(client).collect();
        Measured { name, era, clients, single: Vec::new(), total: Duration::ZERO }
    };
    [open("2026-07-28"), open("2025-11-25")]
}

impl Measured {
    /// Each client makes this number of calls, one after the other.
    fn round(&mut self, call: Call, calls: usize, counts: bool) {
        let start = Instant::now();
        let one_client = |(connection, request): &mut (Connection, Vec<u8>)| {
            let one_call = |_| {
                let start = Instant::now();
                let response = connection.exchange(request).unwrap();
                assert!(call.succeeded(&response), "{} {:?}", response.status, String::from_utf8_lossy(&response.body));
                start.elapsed()
            };
            (0..calls).map(one_call).collect::<Vec<_>>()
        };
        let single: Vec<Duration> = std::thread::scope(|scope| {
            let threads: Vec<_> = self.clients.iter_mut().map(|client| scope.spawn(|| one_client(client))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        if counts {
            self.total += start.elapsed();
            self.single.extend(single);
        }
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

/// Prints the memory of sessions and connections that have made one call.
fn memory(directory: &std::path::Path) {
    println!("\n{:12} {:>6} {:>12} {:>9}", "idle", "number", "KiB before", "KiB each");
    let server = Server::start(directory, 0);
    let target = Target::Plain(server.address);
    let mut connection = Connection::open(target).unwrap();
    let mut one_session = || {
        let session = web::session(&mut connection);
        assert_eq!(connection.exchange(&Call::Search.legacy(&session)).unwrap().status, 200);
    };
    report("sessions", &server, SESSIONS, &mut one_session);
    let mut open = Vec::new();
    let mut one_connection = || {
        let mut connection = Connection::open(target).unwrap();
        assert_eq!(connection.exchange(&Call::Search.modern()).unwrap().status, 200);
        open.push(connection);
    };
    report("connections", &server, CONNECTIONS, &mut one_connection);
}

fn report(name: &str, server: &Server, number: u32, one: &mut dyn FnMut()) {
    // The first ones allocate memory that all share.
    (0..20).for_each(|_| one());
    let before = server.resident_kib();
    (0..number).for_each(|_| one());
    let each = f64::from(u32::try_from(server.resident_kib() - before).unwrap()) / f64::from(number);
    println!("{name:12} {number:>6} {before:>12} {each:>9.1}");
}
