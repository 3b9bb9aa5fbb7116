//! Texts with `{name}` placeholders: `confirm_message` and the args of `resolve`.

use std::ops::Range;

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text that stands for itself, `{{` and `}}` already undone.
    Literal(String),
    /// The name between braces.
    Placeholder(&'a str),
}

/// Why a text is no template: what is wrong, and the bytes of the text that it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// What is wrong.
    pub message: &'static str,
    /// The bytes it concerns.
    pub range: Range<usize>,
}

/// Splits a template into its pieces.
///
/// # Errors
/// A brace without its partner, or a placeholder that is no name (letters, digits, `_`, `-`, `.`).
pub fn parse(text: &str) -> Result<Vec<Piece<'_>>, TemplateError> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(['{', '}']) {
        let brace = at + found;
        literal.push_str(&text[at..brace]);
        let rest = &text[brace..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            literal.push_str(&rest[..1]);
            at = brace + 2;
            continue;
        }
        if rest.starts_with('}') {
            return Err(TemplateError {
                message: "`}` has no `{` before it; write `}}` for a brace",
                range: brace..brace + 1,
            });
        }
        let Some(end) = rest.find('}') else {
            return Err(TemplateError {
                message: "`{` has no `}` after it; write `{{` for a brace",
                range: brace..brace + 1,
            });
        };
        let name = &rest[1..end];
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c)) {
            let message = "a placeholder is the name of an arg in braces; write `{{` for a brace";
            return Err(TemplateError { message, range: brace..brace + end + 1 });
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
        }
        pieces.push(Piece::Placeholder(name));
        at = brace + end + 1;
    }
    literal.push_str(&text[at..]);
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(pieces)
}
