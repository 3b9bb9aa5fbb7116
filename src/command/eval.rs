//! `climax eval`: how well search finds what queries are known to want.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use climax_catalog::{Catalog, Filter, Strategy, ToolIndex, ToolIndexEntry};
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

/// Results that are looked at.
const TOP: usize = 10;

/// A file of queries, and of frames to put them in.
#[derive(Default)]
struct Set {
    queries: Vec<EvalQuery>,
    frames: Vec<Frame>,
}

/// A request, and what a right answer is.
struct EvalQuery {
    text: String,
    right: Right,
}

/// Which tools are right answers to a request.
enum Right {
    /// These; none means that no tool serves the request.
    Tools(Vec<String>),
    /// Those with this word in their names.
    Word(String),
}

/// A text with a place for a request.
struct Frame {
    kind: String,
    text: String,
}

/// How queries are asked.
#[derive(Clone, Copy)]
enum QueryForm<'a> {
    Plain,
    /// With the CLI's name in front.
    Named,
    /// With the filter `cli`.
    Filtered,
    /// In the frames of this kind, one after the other.
    Framed(&'a str),
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

/// Prints the figures of each strategy, for each form of the queries.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let index = match arguments.selection.load(catalog) {
        Ok(served) => served.index,
        Err(code) => return code,
    };
    let set = match Set::read(&arguments.queries) {
        Ok(set) => set,
        Err(message) => {
            terminal::complain(&message);
            return ExitCode::from(FAILURE);
        }
    };
    let mut rows = Vec::new();
    for strategy in Strategy::VARIANTS.iter().copied() {
        for form in set.forms() {
            rows.push((strategy, form, set.measure(&index, strategy, form)));
        }
    }
    let text = if arguments.json { json(&rows).to_string() } else { table(&rows) };
    print(&text, ExitCode::SUCCESS)
}

impl Set {
    /// Reads JSON lines: `{"query", "gold": [names]}`, `{"word"}`, or `{"frame", "kind"}`.
    fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let mut set = Self::default();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let expected = || {
                let at = at + 1;
                format!(
                    "{}:{at}: expected {{\"query\", \"gold\"}}, {{\"word\"}} or {{\"frame\", \"kind\"}}",
                    path.display()
                )
            };
            set.add(line).ok_or_else(expected)?;
        }
        Ok(set)
    }

    fn add(&mut self, line: &str) -> Option<()> {
        let line: Value = serde_json::from_str(line).ok()?;
        let text = |key: &str| line[key].as_str().map(str::to_owned);
        if let Some(frame) = text("frame") {
            self.frames.push(Frame { kind: text("kind")?, text: frame });
        } else if let Some(word) = text("word") {
            self.queries.push(EvalQuery { text: word.clone(), right: Right::Word(word) });
        } else {
            let names = line.get("gold").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let gold = names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?;
            self.queries.push(EvalQuery { text: text("query")?, right: Right::Tools(gold) });
        }
        Some(())
    }

    fn forms(&self) -> Vec<QueryForm<'_>> {
        let mut kinds: Vec<&str> = Vec::new();
        for frame in &self.frames {
            if !kinds.contains(&frame.kind.as_str()) {
                kinds.push(&frame.kind);
            }
        }
        [QueryForm::Plain, QueryForm::Named, QueryForm::Filtered]
            .into_iter()
            .chain(kinds.into_iter().map(QueryForm::Framed))
            .collect()
    }

    fn measure(&self, index: &ToolIndex, strategy: Strategy, form: QueryForm<'_>) -> Figures {
        let mut figures = Figures { queries: self.queries.len(), ..Figures::default() };
        let frames: Vec<_> = self.frames.iter().filter(|frame| form.is_of(&frame.kind)).collect();
        for (at, query) in self.queries.iter().enumerate() {
            let cli = query.cli(index);
            let text = match (form, &cli) {
                (QueryForm::Framed(_), _) => frames[at % frames.len()].around(&query.text),
                (QueryForm::Named, Some((_, stem))) => format!("{stem} {}", query.text),
                _ => query.text.clone(),
            };
            let cli = cli.map(|(name, _)| name).filter(|_| matches!(form, QueryForm::Filtered));
            let filter = Filter { query: Some(&text), cli, category: None };
            let start = Instant::now();
            let found = index.search_by(strategy, filter, TOP);
            figures.times.push(start.elapsed());
            figures.count(&found, query);
        }
        figures.times.sort_unstable();
        figures
    }
}

impl EvalQuery {
    /// The name and the stem of the CLI whose tools are right.
    fn cli<'a>(&self, index: &'a ToolIndex) -> Option<(&'a str, &'a str)> {
        let Right::Tools(names) = &self.right else { return None };
        let cli = index.get(names.first()?)?.cli();
        Some((cli.name(), cli.stem()))
    }

    fn is_right(&self, tool: &str) -> bool {
        match &self.right {
            Right::Tools(names) => names.iter().any(|name| name == tool),
            Right::Word(word) => tool.split(|c: char| !c.is_alphanumeric()).any(|part| part.eq_ignore_ascii_case(word)),
        }
    }
}

impl Frame {
    /// The text with a request in it: `{query}` goes on in small letters, `{Query}` starts with a capital.
    fn around(&self, query: &str) -> String {
        let query = query.trim().trim_end_matches('.');
        let mut rest = query.chars();
        let Some(first) = rest.next() else { return self.text.clone() };
        let is_name = rest.clone().next().is_some_and(char::is_uppercase);
        let small = if is_name { query.to_owned() } else { first.to_lowercase().chain(rest.clone()).collect() };
        let capital: String = first.to_uppercase().chain(rest).collect();
        self.text.replace("{query}", &small).replace("{Query}", &capital)
    }
}

impl QueryForm<'_> {
    fn is_of(self, kind: &str) -> bool {
        matches!(self, QueryForm::Framed(own) if own == kind)
    }

    fn words(self) -> String {
        match self {
            QueryForm::Plain => "query".to_owned(),
            QueryForm::Named => "CLI name, query".to_owned(),
            QueryForm::Filtered => "query, cli given".to_owned(),
            QueryForm::Framed(kind) => format!("query, {kind}"),
        }
    }
}

impl Figures {
    fn count(&mut self, found: &[ToolIndexEntry<'_>], query: &EvalQuery) {
        self.empty += usize::from(found.is_empty());
        let Some(rank) = found.iter().position(|entry| query.is_right(entry.tool_name())) else { return };
        self.first += usize::from(rank < 1);
        self.among_five += usize::from(rank < 5);
        self.among_ten += 1;
        #[expect(clippy::cast_precision_loss, reason = "ranks are below ten")]
        let reciprocal = 1.0 / (rank + 1) as f64;
        self.reciprocal_ranks += reciprocal;
    }

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

type Row<'a> = (Strategy, QueryForm<'a>, Figures);

fn table(rows: &[Row<'_>]) -> String {
    let header = ["Strategy", "Query", "R@1", "R@5", "R@10", "MRR", "Empty", "µs"];
    let lines = rows.iter().map(|(strategy, form, figures)| {
        let [first, five, ten, mrr, empty, micros] = figures.values().map(|value| format!("{value:.1}"));
        [strategy.as_str().to_owned(), form.words(), first, five, ten, mrr, empty, micros]
    });
    terminal::table(header, lines)
}

fn json(rows: &[Row<'_>]) -> Value {
    let rows: Vec<Value> = rows
        .iter()
        .map(|(strategy, form, figures)| {
            let [first, five, ten, mrr, empty, micros] = figures.values();
            json!({
                "strategy": strategy.as_str(), "form": form.words(), "queries": figures.queries,
                "r1": first, "r5": five, "r10": ten, "mrr": mrr, "empty": empty, "micros_per_query": micros,
            })
        })
        .collect();
    Value::from(rows)
}
