//! Types, allowed values and defaults, from names and descriptions.

use climax_catalog::Type;

use crate::command::{Sure, Value};

/// Phrases that a list of all values follows.
const SAYING: [&str; 12] = [
    "possible values:",
    "possible values are",
    "allowed values:",
    "allowed values are",
    "valid values:",
    "valid values are",
    "accepted values:",
    "supported values:",
    "must be one of",
    "choices:",
    "one of",
    "choose from",
];
/// Phrases that a list of values often follows.
const HINTING: [&str; 6] = ["can be", "must be", "either", "modes:", "formats:", "values:"];

/// Completes `value` from its name and its description.
pub(super) fn complete(value: &mut Value, text: &[String]) {
    let joined = text.join(" ");
    if value.default.is_none() {
        value.default = default(&joined);
    }
    if value.values.is_none() {
        value.values = bulleted(text).map(Sure::Said).or_else(|| values(&joined, &value.name));
    }
    if value.kind.is_none() && value.values.is_none() {
        value.kind = kind_of_name(&value.name).or_else(|| value.default.as_deref().and_then(kind_of_default));
    }
    let name = value.name.to_ascii_lowercase();
    let lists = ["strings", "stringarray", "stringslice", "list", "stringtostring", "map", "intslice", "ints"];
    value.repeated |= name.ends_with("...") || lists.contains(&name.as_str());
    let lower = joined.to_ascii_lowercase();
    let several =
        ["can be used multiple times", "can be repeated", "may be repeated", "multiple times", "more than once"];
    value.repeated |= several.iter().any(|phrase| lower.contains(phrase));
}

/// Derives the type from the name of a value.
pub(super) fn kind_of_name(name: &str) -> Option<Sure<Type>> {
    let name = name.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_lowercase();
    match name.rsplit(['-', '_']).next().unwrap_or_default() {
        "int" | "integer" | "uint" | "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32"
        | "uint64" => Some(Sure::Said(Type::Integer)),
        "float" | "float32" | "float64" | "double" | "decimal" => Some(Sure::Said(Type::Number)),
        "n" | "num" | "number" | "count" | "depth" | "lines" | "port" | "width" | "columns" | "cols" | "jobs"
        | "limit" => Some(Sure::Guessed(Type::Integer)),
        _ => None,
    }
}

fn kind_of_default(default: &str) -> Option<Sure<Type>> {
    if default.parse::<i64>().is_ok_and(|number| number.to_string() == default) {
        Some(Sure::Guessed(Type::Integer))
    } else {
        let plain = default.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte));
        (plain && default.contains('.') && default.parse::<f64>().is_ok()).then_some(Sure::Guessed(Type::Number))
    }
}

/// Finds the default in `(default X)`, `[default: X]` and the like.
pub(super) fn default(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    for (open, close) in [("(default", ')'), ("[default", ']')] {
        let Some(at) = lower.find(open) else { continue };
        let rest = text[at + open.len()..].trim_start_matches([':', ' ', '=']);
        let rest = rest.strip_prefix("is ").unwrap_or(rest);
        let end = rest.find(close)?;
        let value = unquoted(rest[..end].trim());
        let is_value = !value.is_empty() && !value.contains(' ') && !value.contains(['(', '[']);
        return is_value.then(|| value.to_owned());
    }
    None
}

fn unquoted(text: &str) -> &str {
    ['"', '\'', '`'].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(text)
}

/// All values that a description lists.
fn values(text: &str, name: &str) -> Option<Sure<Vec<String>>> {
    let lower = text.to_ascii_lowercase();
    let behind = |phrase: &str| {
        let at = lower.find(phrase)?;
        let starts_a_word = !lower[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        starts_a_word.then(|| list(&text[at + phrase.len()..])).flatten()
    };
    SAYING
        .iter()
        .find_map(|phrase| behind(phrase).map(Sure::Said))
        .or_else(|| bracketed(text))
        .or_else(|| HINTING.iter().find_map(|phrase| behind(phrase).map(Sure::Guessed)))
        .or_else(|| {
            let lead = format!("{} is ", name.trim_matches(['<', '>', '[', ']', '=']));
            let at = text.find(&lead).filter(|_| lead.len() > 5)?;
            list(&text[at + lead.len()..]).map(Sure::Guessed)
        })
}

/// `{a|b}`, `(a|b)` and `("a", "b")` somewhere in a text.
fn bracketed(text: &str) -> Option<Sure<Vec<String>>> {
    let mut from = 0;
    while let Some(at) = text[from..].find(['{', '(', '[']).map(|at| from + at) {
        let close = match text.as_bytes()[at] {
            b'{' => '}',
            b'(' => ')',
            _ => ']',
        };
        let inner = &text[at + 1..];
        from = at + 1;
        let Some(end) = inner.find(close) else { continue };
        let inner = &inner[..end];
        if let Some(values) = alternatives(inner, '|').or_else(|| spaced(inner).filter(|_| close == '}')) {
            return Some(Sure::Said(values));
        }
        if let Some(values) = list(inner).filter(|_| inner.contains(" or ")) {
            return Some(Sure::Guessed(values));
        }
        let is_quoted = inner.split(',').all(|item| unquoted(item.trim()) != item.trim());
        if let Some(values) = alternatives(inner, ',').filter(|_| is_quoted) {
            return Some(Sure::Guessed(values));
        }
    }
    None
}

/// Splits a text at `separator`; `None` unless there are at least two parts, all of them words.
pub(super) fn alternatives(text: &str, separator: char) -> Option<Vec<String>> {
    let values: Vec<String> = text.split(separator).map(|item| unquoted(item.trim()).to_owned()).collect();
    distinct(values)
}

/// Values of a few words, between bars.
fn spaced(text: &str) -> Option<Vec<String>> {
    let values: Vec<String> = text.split('|').map(|item| item.trim().to_owned()).collect();
    let mut seen = std::collections::HashSet::new();
    let is_value = |value: &String| value.split(' ').count() <= 3 && value.split(' ').all(is_word);
    (values.len() > 1 && values.iter().all(|value| is_value(value) && seen.insert(value.clone()))).then_some(values)
}

/// Lines `- value: meaning` below `Possible values:`.
fn bulleted(text: &[String]) -> Option<Vec<String>> {
    let at = text.iter().position(|line| line.trim().eq_ignore_ascii_case("possible values:"))?;
    let bullets = text[at + 1..].iter().map_while(|line| line.strip_prefix("- "));
    distinct(bullets.map(|line| line.split(':').next().unwrap_or_default().trim().to_owned()).collect())
}

fn distinct(values: Vec<String>) -> Option<Vec<String>> {
    let mut seen = std::collections::HashSet::new();
    (values.len() > 1 && values.iter().all(|value| is_word(value) && seen.insert(value.as_str()))).then_some(values)
}

/// A list in prose: `a, b, or c`, `"a" | "b"`, `(a, b)`, up to the end of its sentence or bracket.
fn list(text: &str) -> Option<Vec<String>> {
    let mut rest = text.trim_start_matches([':', ' ']);
    rest = rest.strip_prefix(['(', '[', '{']).unwrap_or(rest);
    let mut values = Vec::new();
    loop {
        let (value, after) = item(rest)?;
        values.push(value.to_owned());
        let after = after.trim_start();
        let separated = after.strip_prefix([',', '|', '/']).map(str::trim_start);
        let joined = separated.unwrap_or(after);
        let joined = ["or ", "and "].iter().find_map(|word| joined.strip_prefix(word)).or(separated);
        match joined {
            Some(next) => rest = next,
            None if after.is_empty() || after.starts_with([')', ']', '}', '.', ';']) => break,
            None => return None,
        }
    }
    distinct(values)
}

/// The first item of a list, quoted or a word, and what follows.
fn item(text: &str) -> Option<(&str, &str)> {
    for (open, close) in [('"', '"'), ('\'', '\''), ('`', '`'), ('‘', '’'), ('“', '”')] {
        if let Some(rest) = text.strip_prefix(open) {
            let end = rest.find(close)?;
            return Some((&rest[..end], &rest[end + close.len_utf8()..]));
        }
    }
    let end = text.find(|c: char| !is_word_char(c)).unwrap_or(text.len());
    let word = text[..end].trim_end_matches('.');
    (!word.is_empty() && !text[word.len()..].starts_with("..")).then(|| (word, &text[word.len()..]))
}

fn is_word_char(character: char) -> bool {
    character.is_ascii_alphanumeric() || "._+-".contains(character)
}

fn is_word(text: &str) -> bool {
    text.len() <= 40
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(is_word_char)
        && text != "etc"
        && !text.ends_with("..")
}
