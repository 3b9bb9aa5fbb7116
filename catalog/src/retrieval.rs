//! How well search finds what requests want: requests with their right tools, and the ranks that these get.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::index::{Filter, Strategy, ToolIndex};

/// Results of a search that are looked at.
pub const TOP: usize = 10;

/// Requests with their right answers, and frames to put the requests in.
#[derive(Debug, Default)]
pub struct RequestSet {
    requests: Vec<Request>,
    frames: Vec<Frame>,
}

/// A request, and what a right answer to it is.
#[derive(Debug)]
pub struct Request {
    text: String,
    right: Right,
}

/// Which tools are right answers to a request.
#[derive(Debug)]
enum Right {
    /// These; none means that no tool serves the request.
    Tools(Vec<String>),
    /// Those with this word in their names.
    Word(String),
}

/// A text with a place for a request.
#[derive(Debug)]
struct Frame {
    kind: String,
    text: String,
}

/// How requests are put.
#[derive(Clone, Copy, Debug)]
pub enum RequestForm<'a> {
    /// As they are.
    Plain,
    /// With the name of the right tool's CLI in front.
    Named,
    /// With that CLI as the filter `cli`.
    Filtered,
    /// In the frames of this kind, one after the other.
    Framed(&'a str),
}

/// What a search answered to a request.
#[derive(Debug)]
pub struct Answer<'a> {
    /// The request.
    pub request: &'a Request,
    /// The place of the first right tool among the results, from 0 on.
    pub rank: Option<usize>,
    /// Whether there were no results.
    pub is_empty: bool,
    /// How long the search took.
    pub time: Duration,
}

impl RequestSet {
    /// Reads JSON lines: `{"query", "gold": [names of tools]}`, `{"word"}`, or `{"frame", "kind"}`.
    ///
    /// # Errors
    /// A line is none of these. The error is its number, from 1 on.
    pub fn parse(text: &str) -> Result<Self, usize> {
        let mut set = Self::default();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            set.add(line).ok_or(at + 1)?;
        }
        Ok(set)
    }

    fn add(&mut self, line: &str) -> Option<()> {
        let line: Value = serde_json::from_str(line).ok()?;
        let text = |key: &str| line[key].as_str().map(str::to_owned);

        if let Some(frame) = text("frame") {
            self.frames.push(Frame { kind: text("kind")?, text: frame });
        } else if let Some(word) = text("word") {
            self.requests.push(Request { text: word.clone(), right: Right::Word(word) });
        } else {
            let names = line.get("gold").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let gold = names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?;
            self.requests.push(Request { text: text("query")?, right: Right::Tools(gold) });
        }
        Some(())
    }

    /// All requests, in the order of their lines.
    #[must_use]
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// The forms in which the requests can be put: framed ones for each kind of frame.
    #[must_use]
    pub fn forms(&self) -> Vec<RequestForm<'_>> {
        let mut kinds: Vec<&str> = Vec::new();
        for frame in &self.frames {
            if !kinds.contains(&frame.kind.as_str()) {
                kinds.push(&frame.kind);
            }
        }
        let plain = [RequestForm::Plain, RequestForm::Named, RequestForm::Filtered];
        plain.into_iter().chain(kinds.into_iter().map(RequestForm::Framed)).collect()
    }

    /// Searches for each request.
    ///
    /// # Panics
    /// The form is that of a kind of frames that the set has not.
    #[must_use]
    pub fn ask(&self, index: &ToolIndex, strategy: Strategy, form: RequestForm<'_>) -> Vec<Answer<'_>> {
        let frames: Vec<_> = self.frames.iter().filter(|frame| form.is_of(&frame.kind)).collect();
        let mut answers = Vec::with_capacity(self.requests.len());

        for (at, request) in self.requests.iter().enumerate() {
            let cli = request.cli(index);
            let text = match (form, &cli) {
                (RequestForm::Framed(_), _) => frames[at % frames.len()].around(&request.text),
                (RequestForm::Named, Some((_, stem))) => format!("{stem} {}", request.text),
                _ => request.text.clone(),
            };
            let cli = cli.map(|(name, _)| name).filter(|_| matches!(form, RequestForm::Filtered));
            let filter = Filter { query: Some(&text), cli, category: None };

            let start = Instant::now();
            let found = index.search_by(strategy, filter, TOP);
            let time = start.elapsed();

            let rank = found.iter().position(|entry| request.is_served_by(entry.tool_name()));
            answers.push(Answer { request, rank, is_empty: found.is_empty(), time });
        }
        answers
    }
}

impl Request {
    /// What is asked for.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of the right tools; empty if there is none, or if any tool with a certain word is right.
    #[must_use]
    pub fn gold(&self) -> &[String] {
        match &self.right {
            Right::Tools(names) => names,
            Right::Word(_) => &[],
        }
    }

    /// The name and the stem of the CLI whose tools are right.
    fn cli<'a>(&self, index: &'a ToolIndex) -> Option<(&'a str, &'a str)> {
        let cli = index.get(self.gold().first()?)?.cli();
        Some((cli.name(), cli.stem()))
    }

    fn is_served_by(&self, tool: &str) -> bool {
        match &self.right {
            Right::Tools(names) => names.iter().any(|name| name == tool),
            Right::Word(word) => tool.split(|c: char| !c.is_alphanumeric()).any(|part| part.eq_ignore_ascii_case(word)),
        }
    }
}

impl Frame {
    /// The text with a request in it: `{query}` goes on in small letters, `{Query}` starts with a capital.
    fn around(&self, request: &str) -> String {
        let request = request.trim().trim_end_matches('.');
        let mut rest = request.chars();
        let Some(first) = rest.next() else { return self.text.clone() };

        let is_name = rest.clone().next().is_some_and(char::is_uppercase);
        let small = if is_name { request.to_owned() } else { first.to_lowercase().chain(rest.clone()).collect() };
        let capital: String = first.to_uppercase().chain(rest).collect();
        self.text.replace("{query}", &small).replace("{Query}", &capital)
    }
}

impl RequestForm<'_> {
    fn is_of(self, kind: &str) -> bool {
        matches!(self, RequestForm::Framed(own) if own == kind)
    }

    /// The form's name in a table.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            RequestForm::Plain => "query".to_owned(),
            RequestForm::Named => "CLI name, query".to_owned(),
            RequestForm::Filtered => "query, cli given".to_owned(),
            RequestForm::Framed(kind) => format!("query, {kind}"),
        }
    }
}

/// The figures of some answers, in percent.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Requests with a right tool in the first place.
    pub r1: f64,
    /// Requests with a right tool among the first five.
    pub r5: f64,
    /// Requests with a right tool among the first ten.
    pub r10: f64,
    /// The mean of the reciprocal ranks.
    pub mrr: f64,
    /// Requests without results.
    pub empty: f64,
}

impl Figures {
    /// Counts some answers.
    #[must_use]
    pub fn of(answers: &[Answer<'_>]) -> Self {
        let percent = |part: f64| 100.0 * part / count(answers.len().max(1));
        let share = |is_counted: &dyn Fn(&Answer<'_>) -> bool| {
            percent(count(answers.iter().filter(|answer| is_counted(answer)).count()))
        };
        let within = |places: usize| share(&|answer| answer.rank.is_some_and(|rank| rank < places));

        let ranks = answers.iter().filter_map(|answer| answer.rank);
        let mrr = percent(ranks.map(|rank| 1.0 / count(rank + 1)).sum());
        let empty = share(&|answer| answer.is_empty);
        Self { r1: within(1), r5: within(5), r10: within(TOP), mrr, empty }
    }
}

#[expect(clippy::cast_precision_loss, reason = "requests and ranks are counted in thousands")]
fn count(number: usize) -> f64 {
    number as f64
}
