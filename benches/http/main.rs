//! The server over HTTP: what calls cost (`cargo bench --bench http`), and whether its replicas can be restarted under load
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
