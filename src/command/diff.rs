//! `climax diff`: lists the differences between two catalogs.

mod differences;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use climax_catalog::policy::Applied;
use climax_catalog::{Catalog, Diagnostics, Layer, Policy, ToolIndex};
use serde_json::json;

use self::differences::{Difference, ExportedCatalog, differences};
use crate::command::output::{FAILURE, print};
use crate::command::terminal;
use crate::identity;
use crate::serving::load::{self, LoadedTools};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// An export (`.json`), a config file or directory, or `-` for the compiled-in catalog
    pub(crate) old: PathBuf,
    /// The same, to compare with
    pub(crate) new: PathBuf,
    /// Apply this policy to both, and print only what it newly permits. An export must have been made with it
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Exit with status 1 if there is a difference; 2 means that one of the two cannot be read
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The exit status if a catalog cannot be read. Status 1 means that the catalogs differ. Source: POSIX, `diff`.
const INCOMPARABLE: u8 = 2;

/// Prints the differences. Exit status 1 with `--exit-code` if there are any, 2 if a catalog cannot be read.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let [old, new] = [&arguments.old, &arguments.new].map(|path| read(catalog, path, arguments.policy.as_deref()));
    let (Ok(old), Ok(new)) = (old, new) else { return ExitCode::from(INCOMPARABLE) };
    let mut found = differences(&old, &new);
    found.retain(|difference| arguments.policy.is_none() || difference.permits_more());
    let lines: Vec<String> = found.iter().map(Difference::to_string).collect();
    let differs = arguments.exit_code && !lines.is_empty();
    let code = if differs { ExitCode::from(FAILURE) } else { ExitCode::SUCCESS };

    match (arguments.json, lines.as_slice()) {
        (true, _) => print(&json!({ "differences": lines }).to_string(), code),
        (false, []) if arguments.policy.is_some() => print("the policy permits nothing new", code),
        (false, []) => print("no difference", code),
        (false, lines) => print(&lines.join("\n"), code),
    }
}

/// Reads the export in a `.json` file, or makes the export of config files, or with `-` of the compiled-in catalog.
fn read(catalog: &'static Catalog, path: &Path, policy: Option<&Path>) -> Result<ExportedCatalog, ()> {
    let (index, compiled_in) = if path == Path::new("-") {
        (ToolIndex::from_configs(vec![Layer::compiled(catalog)]), Policy::compiled_in(catalog))
    } else if path.extension().is_some_and(|extension| extension == "json") {
        return read_export(path).map_err(|error| terminal::complain(&error));
    } else {
        let compiled = load::read_configs(&[path.to_owned()], &|_| false).map_err(|found| terminal::report(&found))?;
        (ToolIndex::from_configs(vec![Layer::loaded(compiled.catalog)]), Policy::default())
    };
    let loaded = match policy {
        Some(policy) => permitted(policy, index, &compiled_in).map_err(|found| terminal::report(&found))?,
        None => LoadedTools { index, policy: compiled_in },
    };
    ExportedCatalog::new(super::export::exported(&loaded)).map_err(|error| terminal::complain(&error))
}

/// Applies a policy. Names that only one of the two catalogs has are no mistakes.
fn permitted(path: &Path, index: ToolIndex, compiled_in: &Policy) -> Result<LoadedTools, Diagnostics> {
    let policy = load::read_policy(path)?.narrowing(compiled_in)?;
    let Applied { policy, index, .. } = policy.apply(index, &|_| true)?;
    Ok(LoadedTools { index, policy })
}

fn read_export(path: &Path) -> Result<ExportedCatalog, String> {
    let path_text = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path_text}: {error}"))?;
    let remedy = format!("`{} export > FILE` writes one", identity::name());
    let json = serde_json::from_str(&text).map_err(|error| format!("{path_text} is no JSON: {error}; {remedy}"))?;
    ExportedCatalog::new(json).map_err(|error| format!("{path_text} is no export: {error}; {remedy}"))
}
