//! `climax search --explain`: how each result came to its place.

use std::fmt::Write as _;

use climax_catalog::{FoundTool, Match, Score, TermShare};
use serde_json::{Value, json};

use crate::command::terminal;

/// Prints each result with its score, the terms that it is made of, and the fields that have them.
pub(super) fn text(found: &[FoundTool<'_>]) -> String {
    let tools: Vec<_> = found.iter().zip(1..).map(|(tool, place)| tool_text(tool, place)).collect();
    tools.join("\n\n")
}

fn tool_text(tool: &FoundTool<'_>, place: usize) -> String {
    let head = format!("{place}. {} ({}", tool.entry.tool_name(), found_as(tool.found_as));
    let Some(score) = &tool.score else { return format!("{head})") };

    let rows = score.terms.iter().map(|term| {
        let [weight, gain] = [term.weight, term.gain].map(|value| format!("{value:.3}"));
        let impact = term.impact.to_string();
        [term.stem.clone(), term.origin.to_owned(), weight, impact, gain, fields(term)]
    });
    let table = terminal::table(["Term", "Origin", "Weight", "Impact", "Gain", "Fields"], rows);
    format!("{head}, score {:.3})\n{table}\n{}", score.total, sum(score))
}

fn found_as(found_as: Match) -> &'static str {
    match found_as {
        Match::Name => "the query is its name",
        Match::NameWord => "the query is a part of its name",
        Match::Field => "a field holds the query",
        Match::Rank => "by rank alone",
    }
}

/// The fields that have a term, each with what it contributes to the impact.
fn fields(term: &TermShare) -> String {
    let fields: Vec<_> = term.fields.iter().map(|(name, frequency)| format!("{name} {frequency:.2}")).collect();
    fields.join(", ")
}

/// How the score follows from the gains.
fn sum(score: &Score) -> String {
    let gains: f64 = score.terms.iter().map(|term| term.gain).sum();
    let mut text = format!("terms {gains:.3}");
    if score.mention > 0.0 {
        let _ = write!(text, " + its CLI is named {:.3}", score.mention);
    }
    if score.unsaid > 0.0 {
        let _ = write!(text, " - its name says more {:.3}", score.unsaid);
    }
    if score.changes > 0.0 {
        let _ = write!(text, " - it changes something, and the request asks {:.3}", score.changes);
    }
    if score.phrase > 0.0 {
        let _ = write!(text, " + a phrase is like the request {:.3}", score.phrase);
    }
    if (score.factor - 1.0).abs() > f64::EPSILON {
        let _ = write!(text, ", × sentence {:.3}", score.factor);
    }

    format!("{text} = {:.3}; covers {:.2}, the floor is {:.2}", score.total, score.covered, score.needed)
}

/// The same as JSON.
pub(super) fn json(found: &[FoundTool<'_>]) -> Value {
    let tools = found.iter().map(|tool| {
        let found_as: &str = tool.found_as.into();
        json!({
            "tool_name": tool.entry.tool_name(),
            "found_as": found_as,
            "score": tool.score.as_ref().map(score_json),
        })
    });
    json!({ "results": tools.collect::<Vec<_>>() })
}

fn score_json(score: &Score) -> Value {
    let terms = score.terms.iter().map(|term| {
        let fields: serde_json::Map<_, _> =
            term.fields.iter().map(|(name, frequency)| ((*name).to_owned(), json!(frequency))).collect();
        json!({
            "term": term.stem, "origin": term.origin, "weight": term.weight, "impact": term.impact,
            "gain": term.gain, "fields": fields,
        })
    });
    json!({
        "total": score.total,
        "sentence": score.sentence,
        "terms": terms.collect::<Vec<_>>(),
        "mention": score.mention,
        "unsaid": score.unsaid,
        "changes": score.changes,
        "phrase": score.phrase,
        "factor": score.factor,
        "covered": score.covered,
        "needed": score.needed,
    })
}
