//! Formats diagnostics for code hosts and editors: GitHub annotations, SARIF, JSON.

use climax_catalog::{Code, Diagnostic, Diagnostics, Explanation, Severity};
use serde_json::{Value, json};

use crate::identity;

/// Formats diagnostics as workflow commands of GitHub Actions, which annotate lines of a pull request.
///
/// Source: GitHub Docs, "Workflow commands for GitHub Actions", setting an error or warning message.
pub(super) fn github(diagnostics: &Diagnostics) -> String {
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let line = |one: &Diagnostic| {
        let position = one.position();
        let help = one.help_text().map(|help| format!("\n{help}")).unwrap_or_default();
        format!(
            "::{} file={},line={},col={},title={}::{}\n",
            one.severity().as_str(),
            property(one.path()),
            position.line,
            position.column,
            property(one.code().as_str()),
            data(&format!("{}{help}", one.message())),
        )
    };
    diagnostics.iter().map(line).collect::<Vec<_>>().concat()
}

/// Escapes the message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Formats diagnostics as the log of one run (OASIS SARIF 2.1.0).
pub(super) fn sarif(diagnostics: &Diagnostics) -> String {
    let rules: Vec<Value> = Code::ALL.iter().map(|code| rule(*code)).collect();
    let results: Vec<Value> = diagnostics.iter().map(result).collect();
    let driver = json!({ "name": identity::name(), "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "results": results }],
    })
    .to_string()
}

fn rule(code: Code) -> Value {
    let Explanation { meaning, why, remedy, .. } = code.explanation();
    json!({
        "id": code.as_str(),
        "shortDescription": { "text": meaning },
        "fullDescription": { "text": why },
        "help": { "text": remedy },
        "defaultConfiguration": { "level": level(code.severity()) },
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn result(diagnostic: &Diagnostic) -> Value {
    let position = diagnostic.position();
    let text = match diagnostic.help_text() {
        Some(help) => format!("{}. Help: {help}", diagnostic.message()),
        None => diagnostic.message().to_owned(),
    };
    json!({
        "ruleId": diagnostic.code().as_str(),
        "level": level(diagnostic.severity()),
        "message": { "text": text },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": diagnostic.path() },
                "region": { "startLine": position.line, "startColumn": position.column },
            },
        }],
    })
}

/// Formats the result of a run and its diagnostics as JSON.
pub(super) fn json(valid: bool, tools: Option<usize>, diagnostics: &Diagnostics) -> String {
    let all: Vec<Value> = diagnostics.iter().map(json_diagnostic).collect();
    json!({ "valid": valid, "tools": tools, "diagnostics": all }).to_string()
}

fn json_diagnostic(diagnostic: &Diagnostic) -> Value {
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
