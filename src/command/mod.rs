//! What each command does. Commands print; the rest of the library does not.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use climax_catalog::{Catalog, Strategy};

use crate::audit::Audit;
use crate::cli::{FAILURE, Sources, USAGE};
use crate::load::{self, LoadError, Served};
use crate::terminal;

mod annotate;
#[cfg(feature = "budget")]
pub(crate) mod budget;
pub(crate) mod call;
pub(crate) mod completions;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod eval;
mod explain;
pub(crate) mod export;
#[cfg(feature = "import")]
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod search;
mod targets;
pub(crate) mod validate;
pub(crate) mod version;

/// Loads what was asked for; if that fails, says why on standard error.
fn load(catalog: &'static Catalog, names: &[String], sources: &Sources) -> Result<Served, ExitCode> {
    let (served, warnings) =
        load::served(catalog, names, &sources.configs, sources.policy.as_deref()).map_err(failed)?;
    terminal::report(&warnings);
    Ok(served)
}

/// Says on standard error why nothing is served.
fn failed(error: LoadError) -> ExitCode {
    match error {
        LoadError::Files(diagnostics) => terminal::report(&diagnostics),
        LoadError::UnknownNames(names) => {
            for mut name in names {
                if is_config(Path::new(&name.name)) {
                    name.suggestions.push(format!("--config {}", name.name));
                }
                terminal::error(&format!("climax: {name}"));
            }
        }
        other => terminal::error(&format!("climax: {other}")),
    }
    ExitCode::from(FAILURE)
}

/// Whether what was taken for a name of a CLI is rather a file or directory of configs.
fn is_config(path: &Path) -> bool {
    path.exists() || path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Writes the whole of a command's output, as lines.
fn print(text: &str, code: ExitCode) -> ExitCode {
    let ending = if text.ends_with('\n') { "" } else { "\n" };
    print_bytes(format!("{text}{ending}").as_bytes(), code)
}

/// Writes the whole of a command's output; a reader that went away early is no failure.
fn print_bytes(bytes: &[u8], code: ExitCode) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            terminal::error(&format!("climax: cannot write to standard output: {error}"));
            ExitCode::from(FAILURE)
        }
        _ => code,
    }
}

/// The search strategy: what the command line says, else what `CLIMAX_SEARCH_STRATEGY` says.
fn strategy(argument: Option<Strategy>) -> Result<Strategy, ExitCode> {
    const VARIABLE: &str = "CLIMAX_SEARCH_STRATEGY";
    if let Some(strategy) = argument {
        return Ok(strategy);
    }
    let Some(name) = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty()) else {
        return Ok(Strategy::default());
    };
    let found = Strategy::ALL.into_iter().find(|strategy| strategy.as_str() == name);
    found.ok_or_else(|| usage(&format!("{VARIABLE} is `{name}`, expected lexical, bm25 or auto")))
}

/// Opens the audit file, if one is named; if that fails, says why.
fn audit(path: Option<&Path>) -> Result<Option<Arc<Audit>>, ExitCode> {
    path.map(|path| Audit::open(path).map(Arc::new)).transpose().map_err(|error| {
        let path = path.unwrap_or(Path::new("")).display();
        terminal::error(&format!("climax: cannot open the audit file {path}: {error}"));
        ExitCode::from(FAILURE)
    })
}

fn usage(message: &str) -> ExitCode {
    terminal::error(&format!("climax: {message}"));
    ExitCode::from(USAGE)
}

/// The single-threaded runtime that every command uses: it starts faster and serves faster than several threads.
fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
