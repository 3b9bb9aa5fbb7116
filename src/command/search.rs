//! `climax search`: searches tools as an agent does.

mod explain;

use std::num::NonZero;
use std::process::ExitCode;

use climax_catalog::{Catalog, Filter, Strategy, ToolIndex};

use super::list;
use crate::command::output::print;
use crate::command::selection::Sources;
use crate::command::strategy::{strategies, strategy};
use crate::command::{terminal, value};
use crate::identity;
use crate::mcp;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What to do, in words; several words need no quotes
    #[arg(num_args = 0..)]
    pub(crate) query: Vec<String>,
    /// How tools are found: by substring, in the order of definition (lexical); by words, best first (bm25); or by both,
    /// best first (auto, the default)
    #[arg(long = "search", value_name = "STRATEGY", value_parser = strategies())]
    pub(crate) strategy: Option<Strategy>,
    /// Search only CLIs of this category
    #[arg(long)]
    pub(crate) category: Option<String>,
    /// Search only the CLI of this name
    #[arg(long)]
    pub(crate) cli: Option<String>,
    /// How many results are shown at most
    #[arg(long, default_value = "10", value_parser = value::positive)]
    pub(crate) limit: NonZero<usize>,
    #[command(flatten)]
    pub(crate) sources: Sources,
    /// Say how the score of each result came about
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print the JSON that an agent gets; with --explain, the explanation
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints the tools that match, or all CLIs if there is no query and no filter.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let index = match arguments.sources.load(catalog) {
        Ok(served) => served.index,
        Err(code) => return code,
    };
    let strategy = match strategy(arguments.strategy) {
        Ok(strategy) => strategy,
        Err(code) => return code,
    };
    let query = arguments.query.join(" ");
    let filter = Filter {
        query: (!arguments.query.is_empty()).then_some(&query),
        category: arguments.category.as_deref(),
        cli: arguments.cli.as_deref(),
    };
    if arguments.explain {
        let found = index.explain(strategy, filter, arguments.limit.get());
        let text = match (arguments.json, found.is_empty()) {
            (true, _) => explain::json(&found).to_string(),
            (false, true) => nothing(&index, filter),
            (false, false) => explain::text(&found),
        };
        return print(&text, ExitCode::SUCCESS);
    }
    if arguments.json {
        return print(&mcp::search_text(&index, strategy, filter, arguments.limit.get()), ExitCode::SUCCESS);
    }
    if let Filter { query: None, category: None, cli: None } = filter {
        return print(&list::clis(&index), ExitCode::SUCCESS);
    }

    let found = index.search_by(strategy, filter, arguments.limit.get());
    if found.is_empty() {
        return print(&nothing(&index, filter), ExitCode::SUCCESS);
    }

    let rows = found
        .iter()
        .map(|entry| [entry.tool_name().to_owned(), entry.cli_name().to_owned(), entry.description().to_owned()]);

    print(&terminal::table(["Tool", "CLI", "Description"], rows), ExitCode::SUCCESS)
}

/// Says what to do where no tool was found.
fn nothing(index: &ToolIndex, filter: Filter<'_>) -> String {
    let program = identity::name();
    let has_cli = |name: &str| index.tools().any(|tool| tool.cli().name() == name);
    match filter.cli.filter(|name| !has_cli(name)) {
        Some(name) => format!("No CLI is named `{name}`. `{program} list` shows those that are served."),
        None => format!("No tool serves this. Say it in other words, or look through `{program} list`."),
    }
}
