//! The server over HTTP: the cost of calls (`cargo bench --bench http`), and restarts of replicas under load
//! (`cargo bench --bench http -- replicas`).

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measuring program prints, starts others, and stops at the first failure"
)]

mod replicas;
mod speed;
mod web;

fn main() {
    if std::env::args().any(|argument| argument == "replicas") {
        replicas::main();
    } else {
        speed::main();
    }
}
