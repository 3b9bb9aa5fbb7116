//! Writes the standard output of commands, and defines their exit status.

use std::io::{self, Write as _};
use std::process::ExitCode;

use super::terminal;

/// Exit status: the command failed.
pub(crate) const FAILURE: u8 = 1;
/// Exit status: the command line is wrong.
pub(crate) const USAGE: u8 = 2;

/// Writes a command's output and a final newline, and returns the exit status.
pub(super) fn print(text: &str, code: ExitCode) -> ExitCode {
    let ending = if text.ends_with('\n') { "" } else { "\n" };
    print_bytes(format!("{text}{ending}").as_bytes(), code)
}

/// Writes a command's output, and returns the exit status. A closed pipe is not an error.
pub(super) fn print_bytes(bytes: &[u8], code: ExitCode) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            terminal::complain(&format!("cannot write to standard output: {error}"));
            ExitCode::from(FAILURE)
        }
        _ => code,
    }
}

/// Reports a usage error.
pub(crate) fn usage(message: &str) -> ExitCode {
    terminal::complain(message);
    ExitCode::from(USAGE)
}

/// Formats a number of things: `1 tool`, `2 tools`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
