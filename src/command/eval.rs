//! `climax eval`: measures the quality of search with queries whose results are known.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use climax_catalog::{Catalog, Filter, Strategy, ToolIndex};
use serde_json::{Value, json};

use crate::command::output::{FAILURE, print};
use crate::command::selection::{Selection, load};
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

/// A query and the tools that are right for it; empty if no tool is.
struct EvalQuery {
    text: String,
    gold: Vec<String>,
}

/// The metrics of one strategy.
#[derive(Default)]
struct SearchMetrics {
    queries: usize,
    first: usize,
    among_five: usize,
    among_ten: usize,
    reciprocal_ranks: f64,
    empty: usize,
    times: Vec<Duration>,
}

/// Prints the metrics of each strategy, for plain queries and for queries that start with the CLI's name.
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
fn read(path: &Path) -> Result<Vec<EvalQuery>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            query(line).ok_or_else(|| format!("{}:{}: expected {{\"query\", \"gold\"}}", path.display(), at + 1))
        })
        .collect()
}

fn query(line: &str) -> Option<EvalQuery> {
    let line: Value = serde_json::from_str(line).ok()?;
    let names = line.get("gold").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let gold = names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    Some(EvalQuery { text: line["query"].as_str()?.to_owned(), gold })
}

/// Searches for each query and counts the ranks of right tools.
fn measure(index: &ToolIndex, strategy: Strategy, queries: &[EvalQuery], named: bool) -> SearchMetrics {
    const TOP: usize = 10;
    let mut metrics = SearchMetrics { queries: queries.len(), ..SearchMetrics::default() };
    for query in queries {
        let cli = query.gold.first().and_then(|name| index.get(name)).map(|tool| tool.cli().stem());
        let text = match cli.filter(|_| named) {
            Some(cli) => format!("{cli} {}", query.text),
            None => query.text.clone(),
        };
        let filter = Filter { query: Some(&text), ..Filter::default() };
        let start = Instant::now();
        let found = index.search_by(strategy, filter, TOP);
        metrics.times.push(start.elapsed());
        metrics.empty += usize::from(found.is_empty());
        let Some(rank) = found.iter().position(|entry| query.gold.iter().any(|gold| gold == entry.tool_name())) else {
            continue;
        };
        metrics.first += usize::from(rank < 1);
        metrics.among_five += usize::from(rank < 5);
        metrics.among_ten += 1;
        #[expect(clippy::cast_precision_loss, reason = "ranks are below ten")]
        let reciprocal = 1.0 / (rank + 1) as f64;
        metrics.reciprocal_ranks += reciprocal;
    }
    metrics.times.sort_unstable();
    metrics
}

impl SearchMetrics {
    /// Returns R@1, R@5, R@10, MRR and the share of empty results in percent, then the median time in microseconds.
    #[expect(clippy::cast_precision_loss, reason = "queries are counted in thousands")]
    fn values(&self) -> [f64; 6] {
        let count = self.queries.max(1) as f64;
        let percent = |part: usize| 100.0 * part as f64 / count;
        let [first, five, ten, empty] = [self.first, self.among_five, self.among_ten, self.empty].map(percent);
        let median = self.times.get(self.times.len() / 2).copied().unwrap_or_default();
        [first, five, ten, 100.0 * self.reciprocal_ranks / count, empty, median.as_secs_f64() * 1e6]
    }
}

/// The strategy, whether queries start with the CLI's name, and the metrics.
type StrategyRow = (Strategy, bool, SearchMetrics);

fn table(rows: &[StrategyRow]) -> String {
    let header = ["Strategy", "Query", "R@1", "R@5", "R@10", "MRR", "Empty", "µs"];
    let lines = rows.iter().map(|(strategy, named, metrics)| {
        let [first, five, ten, mrr, empty, micros] = metrics.values().map(|value| format!("{value:.1}"));
        let query = if *named { "CLI name, query" } else { "query" };
        [strategy.as_str().to_owned(), query.to_owned(), first, five, ten, mrr, empty, micros]
    });
    terminal::table(header, lines).to_string()
}

fn json(rows: &[StrategyRow]) -> Value {
    let rows: Vec<Value> = rows
        .iter()
        .map(|(strategy, named, metrics)| {
            let [first, five, ten, mrr, empty, micros] = metrics.values();
            json!({
                "strategy": strategy.as_str(), "cli_name_in_front": named, "queries": metrics.queries,
                "r1": first, "r5": five, "r10": ten, "mrr": mrr, "empty": empty, "micros_per_query": micros,
            })
        })
        .collect();
    Value::from(rows)
}
