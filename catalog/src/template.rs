//! Texts with `{name}` placeholders: `confirm_message`, the args of `resolve`, prompts, the URIs of resources.

use std::ops::Range;

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Literal text, with `{{` and `}}` unescaped.
    Literal(&'a str),
    /// The name between braces.
    Placeholder(&'a str),
    /// An unmatched brace or an invalid placeholder, with the help to show.
    Malformed(&'static str),
}

/// Splits a template into pieces, each with its byte range.
#[must_use]
pub fn parse(text: &str) -> Vec<(Range<usize>, Piece<'_>)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (length, piece) = match rest.find(['{', '}']) {
            None => (rest.len(), Piece::Literal(rest)),
            Some(0) => brace(rest),
            Some(end) => (end, Piece::Literal(&rest[..end])),
        };
        pieces.push((at..at + length, piece));
        at += length;
    }

    pieces
}

/// Replaces the placeholders by values.
#[must_use]
pub fn filled<'a>(text: &'a str, value: impl Fn(&'a str) -> String) -> String {
    let pieces = parse(text).into_iter().map(|(range, piece)| match piece {
        Piece::Literal(literal) => literal.to_owned(),
        Piece::Placeholder(name) => value(name),
        Piece::Malformed(_) => text[range].to_owned(),
    });
    pieces.collect()
}

/// Parses the piece at the brace that `text` starts with. Returns its length too.
fn brace(text: &str) -> (usize, Piece<'_>) {
    if text.starts_with("{{") || text.starts_with("}}") {
        return (2, Piece::Literal(&text[..1]));
    }
    if text.starts_with('}') {
        return (1, Piece::Malformed("`}` has no `{` before it; write `}}` for a brace"));
    }

    match text[1..].find(['{', '}']) {
        Some(end) if text[1 + end..].starts_with('}') => {
            let name = &text[1..=end];
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
            let malformed = Piece::Malformed("a placeholder is the name of an arg in braces; write `{{` for a brace");
            (end + 2, if is_name { Piece::Placeholder(name) } else { malformed })
        }
        _ => (1, Piece::Malformed("`{` has no `}` after it; write `{{` for a brace")),
    }
}
