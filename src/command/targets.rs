//! The targets of `climax validate`: files, directories, glob patterns, and names of compiled-in CLIs.

use std::path::{Path, PathBuf};

use climax_catalog::{Catalog, Code, Diagnostic, Diagnostics};
use glob::{MatchOptions, Pattern};

use crate::command::terminal;
use crate::serving::load;

/// Targets by kind.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// Files and directories.
    pub(super) paths: Vec<PathBuf>,
    /// Compiled-in CLIs.
    pub(super) names: Vec<String>,
    /// Diagnostics of patterns that match no file.
    pub(super) unmatched: Diagnostics,
}

/// Determines the kind of each target. A target that is no file, no pattern and no name counts as a missing path.
pub(super) fn classify(catalog: &'static Catalog, targets: &[String]) -> Targets {
    let mut found = Targets::default();
    for target in targets {
        let exists = Path::new(target).exists();
        if !exists && target.contains(['*', '?', '[']) {
            match matched(target) {
                Ok(files) => found.paths.extend(files),
                Err(diagnostic) => found.unmatched.push(diagnostic),
            }
            continue;
        }
        match load::select(catalog, std::slice::from_ref(target)) {
            Ok(_) if !exists => found.names.push(target.clone()),
            Err(unknown) if !exists && !target.contains(['/', '.']) => {
                for name in unknown {
                    terminal::complain(&name);
                }
                found.paths.push(target.into());
            }
            _ => found.paths.push(target.into()),
        }
    }

    found
}

/// Returns the files that match a pattern, sorted. As in a shell, `*` does not match a leading dot.
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
