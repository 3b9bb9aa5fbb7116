//! `climax validate`: every mistake in configs, without a build.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use climax_catalog::{Catalog, Diagnostic, Diagnostics};
use serde_json::{Value, json};

use crate::cli::{FAILURE, ValidateArguments};
use crate::{load, terminal};

/// What one run found.
struct Found {
    diagnostics: Diagnostics,
    tools: Option<usize>,
}

/// Checks all targets together, as a build would.
pub(crate) fn run(catalog: &'static Catalog, arguments: &ValidateArguments) -> ExitCode {
    let (paths, names) = split(&arguments.targets);
    if let Err(unknown) = load::select(catalog, &names) {
        for name in unknown {
            terminal::error(&format!("climax: {name}, and there is no such file"));
        }
        return ExitCode::from(FAILURE);
    }
    let found = if paths.is_empty() {
        Found { diagnostics: Diagnostics::default(), tools: Some(0) }
    } else {
        match load::read_configs(&paths) {
            Ok(compiled) => Found { tools: Some(compiled.catalog.tools.len()), diagnostics: compiled.warnings },
            Err(diagnostics) => Found { diagnostics, tools: None },
        }
    };
    let code = if found.tools.is_some() { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) };
    if arguments.json {
        return super::print(&json(&found).to_string(), code);
    }
    terminal::report(&found.diagnostics);
    super::print(&conclusion(&found, &names), code)
}

/// Files and directories, and names of compiled-in CLIs. What looks like a path is one.
fn split(targets: &[String]) -> (Vec<PathBuf>, Vec<String>) {
    if targets.is_empty() {
        return (vec!["configs".into()], Vec::new());
    }
    let is_path = |target: &&String| {
        let extension = Path::new(target.as_str()).extension();
        target.contains('/')
            || extension.is_some_and(|e| e == "yaml" || e == "yml")
            || Path::new(target.as_str()).exists()
    };
    let (paths, names): (Vec<&String>, Vec<&String>) = targets.iter().partition(is_path);
    (paths.into_iter().map(PathBuf::from).collect(), names.into_iter().cloned().collect())
}

fn conclusion(found: &Found, names: &[String]) -> String {
    let mut text = String::new();
    for name in names {
        let _ = writeln!(text, "{name}: valid, it was checked when it was compiled in");
    }
    let warnings = counted(found.diagnostics.warnings().count(), "warning");
    match found.tools {
        Some(0) => {}
        Some(tools) => {
            let _ = writeln!(text, "valid: {}, {warnings}", counted(tools, "tool"));
        }
        None => {
            let _ = writeln!(text, "invalid: {}, {warnings}", counted(found.diagnostics.errors().count(), "error"));
        }
    }
    text
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn json(found: &Found) -> Value {
    json!({
        "valid": found.tools.is_some(),
        "tools": found.tools,
        "diagnostics": found.diagnostics.iter().map(diagnostic).collect::<Vec<_>>(),
    })
}

fn diagnostic(diagnostic: &Diagnostic) -> Value {
    let position = diagnostic.position();
    json!({
        "severity": diagnostic.severity().as_str(),
        "code": diagnostic.code().as_str(),
        "path": diagnostic.path(),
        "line": position.line,
        "column": position.column,
        "message": diagnostic.message(),
        "help": diagnostic.help_text(),
    })
}
