//! Attacks the cage that it runs in, and prints one line for each attempt: class, name, `held` or `ESCAPED`, and
//! what the kernel said. `tests/it/cage_escapes.rs` prepares what there is to attack, and names it on the command line.
//!
//! Each attempt runs in a process of its own, so that one which is killed, or waits, ends no other.

#![expect(
    unsafe_code,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::exit,
    reason = "attacks are system calls that no library makes, and a test drives them: a panic is a failed test"
)]

#[cfg(target_os = "linux")]
#[path = "cage_escapes/files.rs"]
mod files;
#[cfg(target_os = "linux")]
#[path = "cage_escapes/harness.rs"]
mod harness;
#[cfg(target_os = "linux")]
#[path = "cage_escapes/kernel.rs"]
mod kernel;
#[cfg(target_os = "linux")]
#[path = "cage_escapes/network.rs"]
mod network;
#[cfg(target_os = "linux")]
#[path = "cage_escapes/processes.rs"]
mod processes;

fn main() {
    #[cfg(target_os = "linux")]
    match std::env::args().nth(1).as_deref() {
        Some("leave") => processes::leave_daemons(),
        Some("bomb") => processes::bomb(),
        Some("prepare") => processes::prepare(true),
        Some("remove") => processes::prepare(false),
        Some("try") => {
            let path = std::env::args().nth(2).unwrap();
            std::process::exit(i32::from(std::fs::read(path).is_err()));
        }
        Some("sleep") => std::thread::sleep(std::time::Duration::from_mins(1)),
        _ => {
            let target = harness::Target::from_arguments();
            files::attack(&target);
            network::attack(&target);
            processes::attack(&target);
            kernel::attack(&target);
        }
    }
}
