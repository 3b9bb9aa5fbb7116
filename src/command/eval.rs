//! `climax eval`: how well search finds what queries are known to want.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use climax_catalog::retrieval::{Answer, Figures, RequestForm, RequestSet};
use climax_catalog::{Catalog, Strategy};
use serde_json::{Value, json};
use strum::VariantArray as _;

use crate::command::output::{FAILURE, print};
use crate::command::selection::Selection;
use crate::command::terminal;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// JSON lines `{"query", "gold": [tool names]}`, `{"word"}` of a name, or `{"frame": "… {query} …", "kind"}`
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The figures of one strategy for one form of the queries.
struct Row<'a> {
    strategy: Strategy,
    form: RequestForm<'a>,
    queries: usize,
    figures: Figures,
    median_micros: f64,
}

/// Prints the figures of each strategy, for each form of the queries.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let index = match arguments.selection.load(catalog) {
        Ok(served) => served.index,
        Err(code) => return code,
    };
    let set = match read(&arguments.queries) {
        Ok(set) => set,
        Err(message) => {
            terminal::complain(&message);
            return ExitCode::from(FAILURE);
        }
    };

    let mut rows = Vec::new();
    for strategy in Strategy::VARIANTS.iter().copied() {
        for form in set.forms() {
            rows.push(Row::new(strategy, form, &set.ask(&index, strategy, form)));
        }
    }
    let text = if arguments.json { json(&rows).to_string() } else { table(&rows) };
    print(&text, ExitCode::SUCCESS)
}

/// Reads a file of requests.
///
/// # Errors
/// The file cannot be read, or one of its lines.
pub(super) fn read(path: &Path) -> Result<RequestSet, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    RequestSet::parse(&text).map_err(|line| {
        let path = path.display();
        format!("{path}:{line}: expected {{\"query\", \"gold\"}}, {{\"word\"}} or {{\"frame\", \"kind\"}}")
    })
}

impl<'a> Row<'a> {
    fn new(strategy: Strategy, form: RequestForm<'a>, answers: &[Answer<'_>]) -> Self {
        let mut times: Vec<_> = answers.iter().map(|answer| answer.time).collect();
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();

        let figures = Figures::of(answers);
        Self { strategy, form, queries: answers.len(), figures, median_micros: median.as_secs_f64() * 1e6 }
    }
}

fn table(rows: &[Row<'_>]) -> String {
    let header = ["Strategy", "Query", "R@1", "R@5", "R@10", "MRR", "Empty", "µs"];
    let lines = rows.iter().map(|row| {
        let Figures { r1, r5, r10, mrr, empty } = row.figures;
        let [r1, r5, r10, mrr, empty, micros] =
            [r1, r5, r10, mrr, empty, row.median_micros].map(|value| format!("{value:.1}"));
        [row.strategy.as_str().to_owned(), row.form.name(), r1, r5, r10, mrr, empty, micros]
    });
    terminal::table(header, lines)
}

fn json(rows: &[Row<'_>]) -> Value {
    let objects = rows.iter().map(|row| {
        let Figures { r1, r5, r10, mrr, empty } = row.figures;
        json!({
            "strategy": row.strategy.as_str(), "form": row.form.name(), "queries": row.queries,
            "r1": r1, "r5": r5, "r10": r10, "mrr": mrr, "empty": empty, "micros_per_query": row.median_micros,
        })
    });
    objects.collect()
}
