//! What `climax validate` is asked to check: files, directories, patterns of files, and names of compiled-in CLIs.

use std::path::{Path, PathBuf};

use climax_catalog::{Catalog, Code, Diagnostic, Diagnostics};
use glob::{MatchOptions, Pattern};

use crate::command::terminal;
use crate::serving::load;

/// Targets, sorted by what they are.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// Files and directories.
    pub(super) paths: Vec<PathBuf>,
    /// Compiled-in CLIs.
    pub(super) names: Vec<String>,
    /// Patterns that stand for no file.
    pub(super) unmatched: Diagnostics,
}

/// Sorts targets. What is no file, no pattern and no name of a CLI is a path that is not there.
pub(super) fn sort(catalog: &'static Catalog, targets: &[String]) -> Targets {
    let mut sorted = Targets::default();
    for target in targets {
        let exists = Path::new(target).exists();
        if !exists && target.contains(['*', '?', '[']) {
            match matched(target) {
                Ok(files) => sorted.paths.extend(files),
                Err(diagnostic) => sorted.unmatched.push(diagnostic),
            }
            continue;
        }
        match load::select(catalog, std::slice::from_ref(target)) {
            Ok(_) if !exists => sorted.names.push(target.clone()),
            Err(unknown) if !exists && !target.contains(['/', '.']) => {
                for name in unknown {
                    terminal::error(&format!("climax: {name}"));
                }
                sorted.paths.push(target.into());
            }
            _ => sorted.paths.push(target.into()),
        }
    }
    sorted
}

/// The files that a pattern stands for, sorted; `*` stands for no dot at the start of a name, as in a shell.
fn matched(pattern: &str) -> Result<Vec<PathBuf>, Diagnostic> {
    const OPTIONS: MatchOptions =
        MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };
    let failure = |message: String, help: &str| Diagnostic::file(Code::NoConfigs, pattern, message, help);
    if let Err(error) = Pattern::new(pattern) {
        return Err(failure(
            format!("no pattern of files: {error}"),
            "write `*`, `?`, `[abc]`, or `**` for directories",
        ));
    }
    let found = glob::glob_with(pattern, OPTIONS).into_iter().flatten();
    let files: Vec<PathBuf> = found.filter_map(Result::ok).filter(|path| path.is_file()).collect();
    if files.is_empty() {
        let help = "correct the pattern; it starts at the current directory";
        return Err(failure("no file matches the pattern".to_owned(), help));
    }
    Ok(files)
}
