//! Diagnostics as cargo directives.
//!
//! Source: The Cargo Book, "Build Scripts", `cargo::error` and `cargo::warning` (one line each).

use climax_catalog::{Diagnostic, Diagnostics};

/// The most errors, and the most warnings, that are printed. Of the rest only the number is printed.
const MAX_PRINTED: usize = 50;

/// Returns the directives that show the diagnostics in cargo, and fail the build if one is an error.
pub(crate) fn directives(diagnostics: &Diagnostics) -> Vec<String> {
    let mut lines = Vec::new();
    let warnings: Vec<_> = diagnostics.warnings().collect();
    for warning in warnings.iter().take(MAX_PRINTED) {
        lines.push(format!("cargo::warning={}", one_line(&warning.headline())));
    }

    if warnings.len() > MAX_PRINTED {
        lines.push(format!("cargo::warning=… and {} more warnings", warnings.len() - MAX_PRINTED));
    }

    let errors: Vec<_> = diagnostics.errors().collect();
    for error in errors.iter().take(MAX_PRINTED) {
        lines.extend(error_lines(error));
    }

    if errors.len() > MAX_PRINTED {
        lines.push(format!("cargo::error=… and {} more errors", errors.len() - MAX_PRINTED));
    }

    if !errors.is_empty() {
        let noun = if errors.len() == 1 { "error" } else { "errors" };
        lines.push(format!("cargo::error={} {noun} in the configs, no code generated", errors.len()));
    }

    lines
}

fn error_lines(error: &Diagnostic) -> Vec<String> {
    let mut lines = vec![format!("cargo::error={}", one_line(&error.headline()))];
    lines.extend(error.render_body().lines().map(|line| format!("cargo::error={line}")));
    lines
}

/// Replaces line breaks, which would end a directive.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
