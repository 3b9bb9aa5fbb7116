//! `climax list`: lists CLIs or tools.

use std::process::ExitCode;

use climax_catalog::{ArgView, Catalog, Place, ResolvedTool, Shape, ToolIndex, Type};
use serde_json::{Value, json};

use super::export;
use crate::command::output::{counted, print};
use crate::command::selection::Selection;
use crate::command::terminal;
use crate::identity;
use crate::serving::load;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Print JSON: every tool with its command line and args
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints the CLIs, or the tools of the named ones.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let index = match arguments.selection.load(catalog) {
        Ok(served) => served.index,
        Err(code) => return code,
    };
    let names = arguments.selection.names();
    // CLIs of --config are always served, but listed only by name.
    let is_selected =
        |tool: &ResolvedTool<'_>| names.is_empty() || names.iter().any(|name| load::is_named(tool.cli(), name));
    let selected = index.tools().filter(is_selected);
    let text = if arguments.json {
        json!({ "tools": selected.map(export::tool_json).collect::<Vec<Value>>() }).to_string()
    } else if names.is_empty() {
        clis(&index)
    } else {
        tools(selected)
    };

    print(&text, ExitCode::SUCCESS)
}

/// Formats the table of CLIs.
pub(super) fn clis(index: &ToolIndex) -> String {
    let rows = index.summary().map(|summary| {
        let cli = summary.cli;
        [
            cli.name().to_owned(),
            summary.tool_count.to_string(),
            cli.category().unwrap_or("").to_owned(),
            cli.description().to_owned(),
        ]
    });
    format!(
        "{}\n\n{}. `{} list NAME` shows those of one CLI.",
        terminal::table(["CLI", "Tools", "Category", "Description"], rows),
        counted(index.tools().count(), "tool"),
        identity::name()
    )
}

/// Formats the table of tools.
fn tools<'a>(tools: impl Iterator<Item = ResolvedTool<'a>>) -> String {
    let rows = tools.map(|tool| {
        let args: Vec<String> = tool.args().filter(|arg| arg.is_shown()).map(arg_text).collect();
        [tool.name().to_owned(), tool.risk().as_str().to_owned(), tool.description().to_owned(), args.join("\n")]
    });
    terminal::table(["Tool", "Risk", "Description", "Arguments"], rows)
}

/// Formats an arg as `count (integer, required)`.
fn arg_text(arg: ArgView<'_>) -> String {
    let notes = arg_notes(arg);
    if notes.is_empty() { arg.name().to_owned() } else { format!("{} ({})", arg.name(), notes.join(", ")) }
}

/// Returns what is special about an arg: its type, if that is no string, its values, its place.
pub(super) fn arg_notes(arg: ArgView<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if arg.kind() != Type::String {
        notes.push(arg.kind().as_str().to_owned());
    }
    if arg.shape() != Shape::Single {
        notes.push(arg.shape().as_str().to_owned());
    }
    if arg.is_from_user() {
        notes.push("asked of the user".to_owned());
    }
    if let Some(output) = arg.output() {
        notes.push(format!("file of {}", output.mime));
    }
    if arg.required() {
        notes.push("required".to_owned());
    }
    if let Some(default) = arg.default() {
        notes.push(format!("default {default}"));
    }
    if arg.values().len() > 0 {
        notes.push(arg.values().collect::<Vec<_>>().join("|"));
    }
    if matches!(arg.place(), Place::Stdin | Place::Cwd | Place::Variable) {
        notes.push(arg.place().as_str().to_owned());
    }
    notes
}
