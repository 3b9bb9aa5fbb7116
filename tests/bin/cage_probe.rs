//! Attacks the cage that it runs in, and prints `CLASS NAME held` or `CLASS NAME ESCAPED` for each attempt.
//!
//! The arguments are `KEY=VALUE`: the paths, the port and the process outside that the attempts are for.

#[cfg(target_os = "linux")]
#[path = "cage_probe/attempts.rs"]
mod attempts;

fn main() {
    #[cfg(target_os = "linux")]
    attempts::run();
}
