//! Selects the tools of a command: by names, config files and a policy.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use climax_catalog::Catalog;
use climax_catalog::policy::{ConfineLevel, UnknownProgram};

use super::output::{FAILURE, usage};
use super::terminal;
use crate::serving::load::{self, LoadError, LoadedTools, Wanted};

/// The selected tools.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Selection {
    /// Names of the compiled-in CLIs to serve; default: all. The CLIs of --config are served in any case, and may be
    /// named too
    #[arg(id = "names", value_name = "NAME")]
    given_names: Vec<String>,
    #[command(flatten)]
    pub(crate) sources: Sources,
}

/// Files that add tools to the compiled-in ones, or remove tools.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Sources {
    /// Add a config file or a directory of them; its tools replace compiled-in ones of the same name
    #[arg(long = "config", value_name = "FILE")]
    pub(crate) configs: Vec<PathBuf>,
    /// Serve only the CLIs of --config, without the compiled-in ones
    #[arg(long, requires = "configs")]
    pub(crate) only: bool,
    /// Apply this policy: which tools are permitted, where they run, which calls need approval
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Which calls the kernel holds to the needs of their tools: none (off), those that only read (read, the default),
    /// or all. If the policy is stricter, the policy applies
    #[arg(long, value_name = "LEVEL", value_parser = confine_levels())]
    pub(crate) confine: Option<ConfineLevel>,
    /// What becomes of programs in command lines that no config describes: they are refused, or run in the cage read or
    /// workspace. Default: read, without a policy or with one that names no tools; else refuse. If the policy is
    /// stricter, the policy applies
    #[arg(long, value_name = "HOW", value_parser = unknown_programs())]
    pub(crate) unknown: Option<UnknownProgram>,
}

/// Parses what becomes of unknown programs.
fn unknown_programs() -> impl TypedValueParser<Value = UnknownProgram> {
    PossibleValuesParser::new(["refuse", "read", "workspace"])
        .try_map(|name| name.parse::<UnknownProgram>().map_err(|error| error.to_string()))
}

/// Parses a level of confinement.
fn confine_levels() -> impl TypedValueParser<Value = ConfineLevel> {
    PossibleValuesParser::new(["off", "read", "all"])
        .try_map(|name| name.parse::<ConfineLevel>().map_err(|error| error.to_string()))
}

impl Selection {
    /// Returns the names. Empty ones are left out: clients pass them for optional settings without a value.
    pub(crate) fn names(&self) -> Vec<String> {
        self.given_names.iter().filter(|name| !name.is_empty()).cloned().collect()
    }

    /// Returns the CLIs to load.
    pub(super) fn wanted(&self) -> Wanted {
        Wanted { names: self.names(), ..self.sources.wanted() }
    }

    /// Loads the selected tools. Reports warnings and errors on standard error.
    pub(super) fn load(&self, catalog: &'static Catalog) -> Result<LoadedTools, ExitCode> {
        load(catalog, &self.wanted(), &self.sources)
    }
}

impl Sources {
    /// Returns the same without the policy.
    pub(super) fn without_policy(&self) -> Self {
        Self { policy: None, ..self.clone() }
    }

    fn wanted(&self) -> Wanted {
        Wanted {
            configs: self.configs.clone(),
            configs_only: self.only,
            confine: self.confine,
            unknown: self.unknown,
            ..Wanted::default()
        }
    }

    /// Loads all tools. Reports warnings and errors on standard error.
    pub(super) fn load(&self, catalog: &'static Catalog) -> Result<LoadedTools, ExitCode> {
        self.load_for_line(catalog, None)
    }

    /// Loads the tools that a line may need, if it is the only one to be read; all for `None`. Reports warnings and errors on
    /// standard error.
    pub(super) fn load_for_line(&self, catalog: &'static Catalog, line: Option<&str>) -> Result<LoadedTools, ExitCode> {
        load(catalog, &Wanted { line: line.map(str::to_owned), ..self.wanted() }, self)
    }
}

fn load(catalog: &'static Catalog, wanted: &Wanted, sources: &Sources) -> Result<LoadedTools, ExitCode> {
    let loaded = load::load_tools(catalog, wanted, sources.policy.as_deref()).map_err(report_load_error)?;
    terminal::report(&loaded.warnings);
    Ok(loaded.served)
}

/// Reports on standard error why no tools could be loaded.
pub(super) fn report_load_error(error: LoadError) -> ExitCode {
    match error {
        LoadError::NotAFile(_) => return usage(&error.to_string()),
        LoadError::Files(diagnostics) => terminal::report(&diagnostics),
        LoadError::UnknownNames(names) => {
            for mut name in names {
                if is_config(Path::new(&name.name)) {
                    name.suggestions.push(format!("--config {}", name.name));
                }
                terminal::complain(&name);
            }
        }
        other => terminal::complain(&other),
    }
    ExitCode::from(FAILURE)
}

/// Whether an unknown name of a CLI is probably the path of a config.
fn is_config(path: &Path) -> bool {
    path.exists() || path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}
