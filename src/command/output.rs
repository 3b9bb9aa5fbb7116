//! Standard output and the exit status of a command.

use std::io::{self, Write as _};
use std::process::ExitCode;

use super::terminal;

/// Exit status: the command failed.
pub(crate) const FAILURE: u8 = 1;
/// Exit status: the command line is wrong.
pub(crate) const USAGE: u8 = 2;

/// Writes the whole of a command's output, as lines.
pub(super) fn print(text: &str, code: ExitCode) -> ExitCode {
    let ending = if text.ends_with('\n') { "" } else { "\n" };
    print_bytes(format!("{text}{ending}").as_bytes(), code)
}

/// Writes the whole of a command's output; a reader that went away early is no failure.
pub(super) fn print_bytes(bytes: &[u8], code: ExitCode) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            terminal::error(&format!("climax: cannot write to standard output: {error}"));
            ExitCode::from(FAILURE)
        }
        _ => code,
    }
}

pub(super) fn usage(message: &str) -> ExitCode {
    terminal::error(&format!("climax: {message}"));
    ExitCode::from(USAGE)
}
