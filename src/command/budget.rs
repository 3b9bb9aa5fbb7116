//! `climax budget`: counts the tokens of tool lists and search results (`o200k` encoding).

use std::path::PathBuf;
use std::process::ExitCode;

use climax_catalog::retrieval::{Request, RequestSet};
use climax_catalog::{Catalog, Filter, Strategy, ToolIndex};
use serde_json::{Value, json};
use tiktoken_rs::CoreBPE;

use crate::command::eval::read;
use crate::command::output::{FAILURE, print};
use crate::command::selection::Selection;
use crate::command::{terminal, value};
use crate::mcp::{self, DEFAULT_SEARCH_RESULTS, MetaSurface, MetaTool, Surface};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Fail if the tool list of the default mode takes more tokens
    #[arg(long, value_name = "TOKENS", value_parser = value::integer::<usize>)]
    pub(crate) max: Option<usize>,
    /// Count the answers to the requests of this file too, which has the form that `eval` takes
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A counted text and its number of tokens.
type TokenRow = (String, usize);

/// Prints numbers of tokens. Exit status 1 if the tool list of the default mode takes more than `--max`.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let index = match arguments.selection.load(catalog) {
        Ok(served) => served.index,
        Err(code) => return code,
    };
    let tokens = match tiktoken_rs::o200k_base() {
        Ok(tokens) => tokens,
        Err(error) => {
            terminal::complain(&format!("the tokenizer cannot be loaded: {error}"));
            return ExitCode::from(FAILURE);
        }
    };
    let queries = match arguments.queries.as_deref().map(read).transpose() {
        Ok(queries) => queries.unwrap_or_default(),
        Err(message) => {
            terminal::complain(&message);
            return ExitCode::from(FAILURE);
        }
    };
    let surface = surface(&index, &queries, &tokens);
    let clis = clis(&index, &tokens);
    let listed = surface[0].1;
    let is_over = arguments.max.is_some_and(|max| listed > max);
    let code = if is_over { ExitCode::from(FAILURE) } else { ExitCode::SUCCESS };
    if let Some(max) = arguments.max.filter(|_| is_over) {
        terminal::complain(&format!("the tool list takes {listed} tokens, {max} are allowed"));
    }

    let text = if arguments.json {
        json!({ "surface": rows_json(&surface), "clis": rows_json(&clis) }).to_string()
    } else {
        let table = |header, rows: &[TokenRow]| {
            terminal::table([header, "Tokens"], rows.iter().map(|(name, count)| [name.clone(), count.to_string()]))
        };
        format!("{}\n\n{}", table("What a model reads", &surface), table("Tools of a CLI, --classic", &clis))
    };

    print(&text, code)
}

/// Counts the tool list of each mode, the default mode first, then search results.
fn surface(index: &ToolIndex, queries: &RequestSet, tokens: &CoreBPE) -> Vec<TokenRow> {
    let limit = usize::try_from(DEFAULT_SEARCH_RESULTS).unwrap_or_default();
    let answer = |query: Option<&str>| {
        let filter = Filter { query, ..Filter::default() };
        count(tokens, &mcp::search_text(index, Strategy::default(), filter, limit))
    };
    let mut searches: Vec<usize> = index.summary().map(|summary| answer(Some(summary.cli.name()))).collect();
    searches.sort_unstable();
    let compact = |query: &str| {
        let filter = Filter { query: Some(query), ..Filter::default() };
        count(tokens, &mcp::compact_text(index, Strategy::default(), filter))
    };
    let list = |surface| count(tokens, &mcp::tool_list(index, &surface));
    let with_read = MetaSurface::of(["search", "read", "call"].into_iter().filter_map(MetaTool::of_word));

    let asked: Vec<&str> = queries.requests().iter().map(Request::text).collect();
    let mean = |of: &dyn Fn(&str) -> usize| asked.iter().map(|query| of(query)).sum::<usize>() / asked.len().max(1);
    let means = [
        ("search answer, mean over the queries".to_owned(), mean(&|query| answer(Some(query)))),
        ("the same, --answers compact".to_owned(), mean(&compact)),
    ];
    let means = means.into_iter().filter(|_| !asked.is_empty());

    let rows = vec![
        ("tools/list".to_owned(), list(Surface::default())),
        ("tools/list --meta search,read,call".to_owned(), list(Surface::Meta(with_read))),
        ("tools/list --extended".to_owned(), list(Surface::Meta(MetaSurface::extended()))),
        ("tools/list --classic".to_owned(), list(Surface::Classic)),
        ("summary".to_owned(), answer(None)),
        (
            "search answer, median over CLI names".to_owned(),
            searches.get(searches.len() / 2).copied().unwrap_or_default(),
        ),
    ];
    rows.into_iter().chain(means).collect()
}

/// Counts the tools of each CLI, as in the tool list of classic mode.
fn clis(index: &ToolIndex, tokens: &CoreBPE) -> Vec<TokenRow> {
    let mut rows: Vec<TokenRow> = Vec::new();
    for tool in index.tools() {
        let name = tool.cli().name();
        let taken = count(tokens, &mcp::tool_definition(tool));
        match rows.last_mut() {
            Some((last, total)) if last == name => *total += taken,
            _ => rows.push((name.to_owned(), taken)),
        }
    }

    rows
}

fn count(tokens: &CoreBPE, text: &str) -> usize {
    tokens.encode_ordinary(text).len()
}

fn rows_json(rows: &[TokenRow]) -> Value {
    rows.iter().map(|(name, count)| json!({ "name": name, "tokens": count })).collect()
}
