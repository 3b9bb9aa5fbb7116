//! The sandbox shim: confines itself, then executes another program. The server starts this program again for it.
//!
//! It does nothing else before, so that a call in the sandbox costs little more than another.

use std::ffi::OsString;
use std::io::{self, Write as _};

use super::janitor;
use super::restrict::execute;
use super::shim_order::{COMMAND, ShimOrder};

/// Runs this process as the helper that its arguments name: the shim or the janitor. Returns whether they name one.
///
/// The shim returns only if it fails, after writing the reason to standard error.
pub(crate) fn run_as_helper() -> Option<Helped> {
    let mut words = std::env::args_os().skip(1);
    let command = words.next()?;
    if command == janitor::COMMAND && words.len() == 0 {
        janitor::run();
        return Some(Helped::Done);
    }
    if command != COMMAND {
        return None;
    }
    let words: Vec<OsString> = words.collect();
    let (order, command) = ShimOrder::read(&words)?;
    let Err(problem) = execute(&order, command);
    let _ = writeln!(io::stderr(), "{}{problem}", order.password.display());
    Some(Helped::Failed)
}

/// How a helper ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Helped {
    /// It has done its work.
    Done,
    /// It could not execute the program.
    Failed,
}
