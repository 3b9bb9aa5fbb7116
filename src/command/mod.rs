//! What each command does. Commands print; the rest of the library does not.

use std::io::{self, Write};
use std::process::ExitCode;

use climax_catalog::{Catalog, ToolIndex};

use crate::cli::{FAILURE, Selection, USAGE};
use crate::load::{self, LoadError};
use crate::terminal;

pub(crate) mod call;
pub(crate) mod completions;
pub(crate) mod list;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod validate;

/// Loads what was asked for; if that fails, says why on standard error.
fn load(catalog: &'static Catalog, selection: &Selection) -> Result<ToolIndex, ExitCode> {
    match load::index(catalog, &selection.names, &selection.configs) {
        Ok((index, warnings)) => {
            terminal::report(&warnings);
            Ok(index)
        }
        Err(LoadError::Configs(diagnostics)) => {
            terminal::report(&diagnostics);
            Err(ExitCode::from(FAILURE))
        }
        Err(LoadError::UnknownNames(names)) => {
            for name in names {
                terminal::error(&format!("climax: {name}"));
            }
            Err(ExitCode::from(FAILURE))
        }
    }
}

/// Writes the whole of a command's output; a reader that went away early is no failure.
fn print(text: &str, code: ExitCode) -> ExitCode {
    let mut out = io::stdout().lock();
    let ending = if text.ends_with('\n') { "" } else { "\n" };
    match out.write_all(text.as_bytes()).and_then(|()| out.write_all(ending.as_bytes())).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            terminal::error(&format!("climax: cannot write to standard output: {error}"));
            ExitCode::from(FAILURE)
        }
        _ => code,
    }
}

fn usage(message: &str) -> ExitCode {
    terminal::error(&format!("climax: {message}"));
    ExitCode::from(USAGE)
}

/// The single-threaded runtime that every command uses: it starts faster and serves faster than several threads.
fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
