//! Selects the tools of a command: by names, config files and a policy.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use climax_catalog::Catalog;

use super::output::FAILURE;
use super::terminal;
use crate::serving::load::{self, LoadError, LoadedTools};

/// The selected tools.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Selection {
    /// Compiled-in CLIs to serve, by name; default: all. With --config also names of its CLIs, which are served in
    /// any case
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) sources: Sources,
}

/// Files that add tools to the compiled-in ones, or remove tools.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Sources {
    /// Add a config file or a directory of them; its tools replace compiled-in ones of the same name
    #[arg(long = "config", value_name = "FILE")]
    pub(crate) configs: Vec<PathBuf>,
    /// Apply this policy: which tools are permitted, where they run, which calls need approval
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

/// Loads the selected tools. Reports warnings and errors on standard error.
pub(super) fn load(catalog: &'static Catalog, names: &[String], sources: &Sources) -> Result<LoadedTools, ExitCode> {
    let (tools, warnings) =
        load::load_tools(catalog, names, &sources.configs, sources.policy.as_deref()).map_err(report_load_error)?;
    terminal::report(&warnings);
    Ok(tools)
}

/// Reports on standard error why no tools could be loaded.
pub(super) fn report_load_error(error: LoadError) -> ExitCode {
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

/// Whether an unknown name of a CLI is probably the path of a config.
fn is_config(path: &Path) -> bool {
    path.exists() || path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}
