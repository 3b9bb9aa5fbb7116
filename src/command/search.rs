//! `climax search`: discovery as an agent sees it.

use std::process::ExitCode;

use climax_catalog::{Catalog, Filter};

use super::list;
use crate::cli::SearchArguments;
use crate::{mcp, terminal};

/// Tools that match; CLIs if nothing is asked for.
pub(crate) fn run(catalog: &'static Catalog, arguments: &SearchArguments) -> ExitCode {
    let index = match super::load(catalog, &[], &arguments.sources) {
        Ok(served) => served.index,
        Err(code) => return code,
    };
    let strategy = match super::strategy(arguments.strategy) {
        Ok(strategy) => strategy,
        Err(code) => return code,
    };
    let query = arguments.query.join(" ");
    let filter = Filter {
        query: (!arguments.query.is_empty()).then_some(&query),
        category: arguments.category.as_deref(),
        cli: arguments.cli.as_deref(),
    };
    if arguments.json {
        return super::print(&mcp::search_text(&index, strategy, filter, arguments.limit), ExitCode::SUCCESS);
    }
    if let Filter { query: None, category: None, cli: None } = filter {
        return super::print(&list::clis(&index), ExitCode::SUCCESS);
    }
    let found = index.search_by(strategy, filter, arguments.limit);
    if found.is_empty() {
        return super::print(
            "No tool serves this. Say it in other words, or look through `climax list`.",
            ExitCode::SUCCESS,
        );
    }
    let rows = found
        .iter()
        .map(|entry| [entry.tool_name().to_owned(), entry.cli_name().to_owned(), entry.description().to_owned()]);
    super::print(&terminal::table(["Tool", "CLI", "Description"], rows).to_string(), ExitCode::SUCCESS)
}
