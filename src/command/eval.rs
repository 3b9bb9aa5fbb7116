//! `climax eval`: how well search finds what queries are known to want.

use crate::command::output::{FAILURE, print};
use crate::command::selection::Selection;
use crate::command::selection::load;
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use climax_catalog::{Catalog, Filter, Strategy, ToolIndex};
use serde_json::{Value, json};

use crate::command::terminal;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// JSON lines `{"query", "gold": [tool names]}`
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A request and the tools that serve it; none means that no tool does.
struct Query {
    text: String,
    gold: Vec<String>,
}

/// The figures of one strategy.
#[derive(Default)]
struct Figures {
    queries: usize,
    first: usize,
    among_five: usize,
    among_ten: usize,
    reciprocal_ranks: f64,
    empty: usize,
    times: Vec<Duration>,
}

/// Prints the figures of each strategy, for the queries as they are and with the CLI's name in front.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let index = match load(catalog, &arguments.selection.names, &arguments.selection.sources) {
        Ok(served) => served.index,
        Err(code) => return code,
    };
    let queries = match read(&arguments.queries) {
        Ok(queries) => queries,
        Err(message) => {
            terminal::error(&format!("climax: {message}"));
            return ExitCode::from(FAILURE);
        }
    };
    let mut rows = Vec::new();
    for strategy in Strategy::ALL {
        for named in [false, true] {
            rows.push((strategy, named, measure(&index, strategy, &queries, named)));
        }
    }
    let text = if arguments.json { json(&rows).to_string() } else { table(&rows) };
    print(&text, ExitCode::SUCCESS)
}

/// Reads JSON lines `{"query", "gold": [names]}`.
fn read(path: &Path) -> Result<Vec<Query>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            query(line).ok_or_else(|| format!("{}:{}: expected {{\"query\", \"gold\"}}", path.display(), at + 1))
        })
        .collect()
}

fn query(line: &str) -> Option<Query> {
    let line: Value = serde_json::from_str(line).ok()?;
    let names = line.get("gold").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let gold = names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    Some(Query { text: line["query"].as_str()?.to_owned(), gold })
}

fn measure(index: &ToolIndex, strategy: Strategy, queries: &[Query], named: bool) -> Figures {
    const TOP: usize = 10;
    let mut figures = Figures { queries: queries.len(), ..Figures::default() };
    for query in queries {
        let cli = query.gold.first().and_then(|name| index.get(name)).map(|tool| tool.cli().stem());
        let text = match cli.filter(|_| named) {
            Some(cli) => format!("{cli} {}", query.text),
            None => query.text.clone(),
        };
        let filter = Filter { query: Some(&text), ..Filter::default() };
        let start = Instant::now();
        let found = index.search_by(strategy, filter, TOP);
        figures.times.push(start.elapsed());
        figures.empty += usize::from(found.is_empty());
        let Some(rank) = found.iter().position(|entry| query.gold.iter().any(|gold| gold == entry.tool_name())) else {
            continue;
        };
        figures.first += usize::from(rank < 1);
        figures.among_five += usize::from(rank < 5);
        figures.among_ten += 1;
        #[expect(clippy::cast_precision_loss, reason = "ranks are below ten")]
        let reciprocal = 1.0 / (rank + 1) as f64;
        figures.reciprocal_ranks += reciprocal;
    }
    figures.times.sort_unstable();
    figures
}

impl Figures {
    /// R@1, R@5, R@10, MRR and the share of empty answers, in percent, then the median of microseconds per query.
    #[expect(clippy::cast_precision_loss, reason = "queries are counted in thousands")]
    fn values(&self) -> [f64; 6] {
        let count = self.queries.max(1) as f64;
        let percent = |part: usize| 100.0 * part as f64 / count;
        let [first, five, ten, empty] = [self.first, self.among_five, self.among_ten, self.empty].map(percent);
        let median = self.times.get(self.times.len() / 2).copied().unwrap_or_default();
        [first, five, ten, 100.0 * self.reciprocal_ranks / count, empty, median.as_secs_f64() * 1e6]
    }
}

type Row = (Strategy, bool, Figures);

fn table(rows: &[Row]) -> String {
    let header = ["Strategy", "Query", "R@1", "R@5", "R@10", "MRR", "Empty", "µs"];
    let lines = rows.iter().map(|(strategy, named, figures)| {
        let [first, five, ten, mrr, empty, micros] = figures.values().map(|value| format!("{value:.1}"));
        let query = if *named { "CLI name, query" } else { "query" };
        [strategy.as_str().to_owned(), query.to_owned(), first, five, ten, mrr, empty, micros]
    });
    terminal::table(header, lines).to_string()
}

fn json(rows: &[Row]) -> Value {
    let rows: Vec<Value> = rows
        .iter()
        .map(|(strategy, named, figures)| {
            let [first, five, ten, mrr, empty, micros] = figures.values();
            json!({
                "strategy": strategy.as_str(), "cli_name_in_front": named, "queries": figures.queries,
                "r1": first, "r5": five, "r10": ten, "mrr": mrr, "empty": empty, "micros_per_query": micros,
            })
        })
        .collect();
    Value::from(rows)
}
