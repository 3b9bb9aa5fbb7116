//! `climax validate`: every mistake in configs, without a build.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use climax_catalog::{Catalog, Compiled, Diagnostics, Layer, ToolIndex};

use super::annotate;
use crate::cli::{FAILURE, Format, ValidateArguments};
use crate::{load, terminal};

/// What one run found.
struct Found {
    diagnostics: Diagnostics,
    valid: bool,
    /// Tools in the files, if there are files and all are valid.
    tools: Option<usize>,
    /// Whether there is a policy among the files.
    policy: bool,
}

impl Found {
    fn refuse(&mut self, diagnostics: Diagnostics) {
        self.diagnostics.extend(diagnostics);
        self.valid = false;
    }
}

/// Checks all targets together, as a build would.
pub(crate) fn run(catalog: &'static Catalog, arguments: &ValidateArguments) -> ExitCode {
    let targets = match arguments.targets.as_slice() {
        [] if arguments.policy.is_none() => &["configs".to_owned()][..],
        targets => targets,
    };
    let (paths, names) = split(catalog, targets);
    let mut found =
        Found { diagnostics: Diagnostics::default(), tools: None, policy: arguments.policy.is_some(), valid: true };
    let mut layers = vec![Layer::compiled(catalog)];
    if !paths.is_empty() {
        match load::read_configs(&paths, &|_| false) {
            Ok(Compiled { catalog, warnings }) => {
                found.tools = Some(catalog.tools.len());
                found.diagnostics.extend(warnings);
                layers.push(Layer::loaded(catalog));
            }
            Err(diagnostics) => found.refuse(diagnostics),
        }
    }
    match arguments.policy.as_deref().map(load::read_policy) {
        Some(Ok(policy)) => {
            found.diagnostics.extend(policy.apply(ToolIndex::from_configs(layers), &|_| false).warnings);
        }
        Some(Err(diagnostics)) => found.refuse(diagnostics),
        None => {}
    }
    if arguments.strict && !found.diagnostics.is_empty() {
        found.valid = false;
    }
    let code = if found.valid { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) };
    let text = match if arguments.json { Format::Json } else { arguments.format } {
        Format::Human => {
            terminal::report(&found.diagnostics);
            conclusion(&found, &names)
        }
        Format::Json => annotate::json(found.valid, found.tools.filter(|_| found.valid), &found.diagnostics),
        Format::Sarif => annotate::sarif(&found.diagnostics),
        Format::Github => annotate::github(&found.diagnostics) + &conclusion(&found, &names),
    };
    super::print(&text, code)
}

/// Files and directories, and names of compiled-in CLIs. What is no such name is a path, if only one that is not there.
fn split(catalog: &'static Catalog, targets: &[String]) -> (Vec<PathBuf>, Vec<String>) {
    let mut paths = Vec::new();
    let mut names = Vec::new();
    for target in targets {
        match load::select(catalog, std::slice::from_ref(target)) {
            Ok(_) if !Path::new(target).exists() => names.push(target.clone()),
            Err(unknown) if !Path::new(target).exists() && !target.contains(['/', '.']) => {
                for name in unknown {
                    terminal::error(&format!("climax: {name}"));
                }
                paths.push(target.into());
            }
            _ => paths.push(target.into()),
        }
    }
    (paths, names)
}

fn conclusion(found: &Found, names: &[String]) -> String {
    let mut text = String::new();
    for name in names {
        let _ = writeln!(text, "{name}: valid, it was checked when it was compiled in");
    }
    let warnings = counted(found.diagnostics.warnings().count(), "warning");
    match found.tools.filter(|_| found.valid) {
        Some(tools) => drop(writeln!(text, "valid: {}, {warnings}", counted(tools, "tool"))),
        None if found.valid && found.policy => drop(writeln!(text, "valid: the policy, {warnings}")),
        None => {}
    }
    if !found.valid {
        let _ = writeln!(text, "invalid: {}, {warnings}", counted(found.diagnostics.errors().count(), "error"));
    }
    text
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
