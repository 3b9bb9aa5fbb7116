//! Runs this process as a helper of a server, which has started this binary again: the janitor, or the child of the
//! sandbox.
//!
//! It does nothing else before, so that a call in the sandbox costs little more than another.

use std::ffi::OsString;
use std::io::{self, Write as _};

use super::confine::order::{self, Preparation};
use super::confine::{Failure, execute};
use super::process::janitor;

/// Runs this process as the helper that its arguments name: the sandbox's child or the janitor. Returns whether they
/// name one.
///
/// The child returns only if it fails, after writing the reason to standard error.
pub(crate) fn run_as_helper() -> Option<Helped> {
    let mut words = std::env::args_os().skip(1);
    let command = words.next()?;

    if command == janitor::COMMAND && words.len() == 0 {
        janitor::run();
        return Some(Helped::Done);
    }
    if command != order::COMMAND {
        return None;
    }

    let words: Vec<OsString> = words.collect();
    Some(match execute(Preparation::read(&words)?) {
        Ok(Some(status)) => Helped::Held(status),
        Ok(None) => Helped::Done,
        Err(Failure { password, problem }) => {
            let _ = writeln!(io::stderr(), "{}{problem}", password.display());
            Helped::Failed
        }
    })
}

/// How a helper ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Helped {
    /// It has done its work.
    Done,
    /// It has held a program, which ended with this status.
    Held(u8),
    /// It could not execute the program.
    Failed,
}
