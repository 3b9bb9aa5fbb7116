//! What each command does. Commands print; the rest of the library does not.

use std::io::{self, Write};
use std::process::ExitCode;

use climax_catalog::{Catalog, Strategy, ToolIndex};

use crate::cli::{FAILURE, SearchStrategy, Selection, USAGE};
use crate::load::{self, LoadError};
use crate::terminal;

#[cfg(feature = "budget")]
pub(crate) mod budget;
pub(crate) mod call;
pub(crate) mod completions;
pub(crate) mod eval;
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

/// The search strategy: what the command line says, else what `CLIMAX_SEARCH_STRATEGY` says.
fn strategy(argument: Option<SearchStrategy>) -> Result<Strategy, ExitCode> {
    const VARIABLE: &str = "CLIMAX_SEARCH_STRATEGY";
    if let Some(strategy) = argument {
        return Ok(strategy.into());
    }
    let Some(name) = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty()) else {
        return Ok(Strategy::default());
    };
    let found = Strategy::ALL.into_iter().find(|strategy| strategy.as_str() == name);
    found.ok_or_else(|| usage(&format!("{VARIABLE} is `{name}`, expected lexical, bm25 or auto")))
}

fn usage(message: &str) -> ExitCode {
    terminal::error(&format!("climax: {message}"));
    ExitCode::from(USAGE)
}

/// The single-threaded runtime that every command uses: it starts faster and serves faster than several threads.
fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
