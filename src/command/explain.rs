//! `climax validate --explain CODE`: explains a diagnostic code.

use std::process::ExitCode;

use climax_catalog::{Code, Explanation, Phase, Severity};

use crate::command::output::print;

/// Prints the explanation.
pub(crate) fn run(code: Code) -> ExitCode {
    print(&text(code), ExitCode::SUCCESS)
}

/// Formats the explanation for a terminal.
fn text(code: Code) -> String {
    let Explanation { meaning, why, example, remedy } = code.explanation();
    let kind = match (code.severity(), code.phase()) {
        (Severity::Error, _) => "error",
        (Severity::Warning, Phase::Check) => "warning",
        (Severity::Warning, Phase::Lint) => "warning, with --lint",
    };
    let example: Vec<String> = example.lines().map(|line| format!("    {line}")).collect();
    let silence = match code.severity() {
        Severity::Error => "An error cannot be silenced.".to_owned(),
        Severity::Warning => format!(
            "To silence it: `x-allow: [{code}]` in the config, the tool or the arg that it is about, or `--allow {code}`."
        ),
    };
    format!("{code} ({kind})\n\n{meaning}\n\n{why}\n\nExample:\n\n{}\n\n{remedy}\n\n{silence}\n", example.join("\n"))
}
