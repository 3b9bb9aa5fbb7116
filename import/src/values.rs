//! Types, allowed values and defaults, from names and descriptions.

use climax_catalog::Type;

use super::shape;
use crate::command::{Several, Sure, Value};

/// Phrases that a list of all values follows.
const SAYING: [&str; 13] = [
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
    "either:",
];
/// Phrases that a list of quoted values often follows.
const HINTING: [&str; 6] = ["can be", "must be", "either", "modes:", "formats:", "values:"];
/// The end of a line above a table of all values.
const TABLE_TITLES: [&str; 12] = [
    "values:",
    "values are:",
    "flag are:",
    "option are:",
    "choices:",
    "one of:",
    "types:",
    "by type:",
    "formats:",
    "modes:",
    "can be:",
    "following:",
];
/// Alternatives that name kinds of text.
const KINDS: [&str; 42] = [
    "file",
    "path",
    "dir",
    "directory",
    "date",
    "dur",
    "duration",
    "time",
    "url",
    "uri",
    "name",
    "id",
    "number",
    "num",
    "n",
    "user",
    "uid",
    "group",
    "gid",
    "pattern",
    "string",
    "str",
    "expr",
    "size",
    "host",
    "port",
    "key",
    "value",
    "branch",
    "commit",
    "int",
    "bytes",
    "glob",
    "regex",
    "ms",
    "us",
    "ns",
    "s",
    "m",
    "h",
    "kb",
    "ki",
];

/// Completes `value` from its name and its description.
pub(super) fn complete(value: &mut Value, text: &[String]) {
    let joined = text.join(" ");
    if value.default.is_none() {
        value.default = default(&joined);
    }

    let lower = joined.to_ascii_lowercase();
    let may_be_absent = ["value is unspecified", "value is optional", "optional value", "if no value is"];
    value.optional |= value.several == Several::No && may_be_absent.iter().any(|phrase| lower.contains(phrase));
    value.pair |= value.values.is_none() && shape::speaks_of_pairs(&joined);
    if value.values.is_none() {
        let own = table(text).filter(|_| !is_composed(value, &joined));
        value.values = own.or_else(|| values(&joined, value)).or_else(|| at_end(text));
    }

    // `auto` is a number of jobs too, and a time or a size may have a unit.
    let has_other_forms = joined.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "auto")
        || ["bytes", "second", "minute", "percent", "%", "suffix", "duration", " size"]
            .iter()
            .any(|unit| joined.contains(unit));
    if value.kind.is_none() && value.values.is_none() && !has_other_forms {
        value.kind = kind_of_name(&value.name).or_else(|| value.default.as_deref().and_then(kind_of_default));
    }

    if value.several == Several::No {
        value.several = shape::in_text(&value.name, &joined);
    }
    // Of a list in one word, each may be a range or a name.
    if matches!(value.several, Several::Joined(_)) && matches!(value.kind, Some(Sure::Guessed(_))) {
        value.kind = None;
    }
}

/// Whether most values are kinds of text.
fn are_mostly_kinds(values: &[String]) -> bool {
    let kinds = values.iter().filter(|value| KINDS.contains(&value.to_ascii_lowercase().as_str())).count();
    2 * kinds > values.len()
}

/// Whether values are kinds of text rather than texts: `<path|url>`, `<sack.rye|sack.oat>`.
pub(super) fn are_kinds(values: &[String]) -> bool {
    let is_file = |value: &String| {
        value.split_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty() && ending.len() < 10 && ending.starts_with(|c: char| c.is_ascii_lowercase())
        })
    };
    values.len() > 1 && values.iter().all(is_file)
        || values.iter().any(|value| KINDS.contains(&value.to_ascii_lowercase().as_str()))
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
        let value = rest[..end].split(", ").next().unwrap_or_default();
        let value = unquoted(value.trim());
        let is_value = !value.is_empty() && !value.contains(' ') && !value.contains(['(', '[']);
        return is_value.then(|| value.to_owned());
    }

    None
}

fn unquoted(text: &str) -> &str {
    ['"', '\'', '`'].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(text)
}

/// Whether a value has parts, with values of their own: a pair, or a format.
fn is_composed(value: &Value, text: &str) -> bool {
    value.pair
        || value.name.contains('=')
        || text.to_ascii_lowercase().contains("mapping")
        || ["}:", "]:", "><"].iter().any(|sign| text.contains(sign))
}

/// All values that a description lists.
fn values(text: &str, value: &Value) -> Option<Sure<Vec<String>>> {
    let lower = text.to_ascii_lowercase();
    // A part of a pair or of a format has values of its own.
    let is_composed = is_composed(value, text);
    let behind = |phrase: &str, quoted: bool| {
        let at = lower.find(phrase)?;
        let before = &lower[..at];
        let starts_a_word = !before.ends_with(|c: char| c.is_ascii_alphanumeric());
        // "one of eight choices: …"
        let is_own = !before.trim_end().ends_with(|c: char| c.is_ascii_digit())
            && (phrase != "choices:" || starts_clause(before));
        let rest = &text[at + phrase.len()..];
        (starts_a_word && is_own).then(|| list(rest, quoted)).flatten()
    };
    if is_composed {
        return None;
    }

    SAYING
        .iter()
        .find_map(|phrase| behind(phrase, false).map(Sure::Said))
        .or_else(|| bracketed(text))
        .or_else(|| HINTING.iter().find_map(|phrase| behind(phrase, true).map(Sure::Guessed)))
        .or_else(|| {
            let lead = format!("{} is ", value.name.trim_matches(['<', '>', '[', ']', '=']));
            let at = text.find(&lead).filter(|_| lead.len() > 5)?;
            list(&text[at + lead.len()..], true).map(Sure::Guessed)
        })
}

/// Whether a text ends where a clause starts: at its start, or behind a bracket or a full stop.
fn starts_clause(before: &str) -> bool {
    let before = before.trim_end();
    before.is_empty() || before.ends_with(['(', '[', '.', ';', ','])
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
        let after = &inner[end + close.len_utf8()..];
        let inner = &inner[..end];
        // `[(user|uid)][:(group|gid)]` is a format.
        // `soup.(toml|yaml)` is a name of a file.
        if text[..at].ends_with(['[', ':', '{', '$', '=', ',', '.', '/', '-', '_'])
            || after.starts_with([']', '[', ':', '/'])
        {
            continue;
        }
        if let Some(values) = alternatives(inner, '|').or_else(|| spaced(inner).filter(|_| close == '}')) {
            return Some(Sure::Said(values)).filter(|values| !are_mostly_kinds(values.get()));
        }
        let is_quoted = inner.split(',').all(|item| unquoted(item.trim()) != item.trim());
        let is_file = |values: &Vec<String>| values.iter().any(|value| value.contains('.'));
        if let Some(values) = alternatives(inner, ',').filter(|values| is_quoted && !is_file(values)) {
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

/// The values in brackets at the end of a short description: `Format of the list (plain, json, csv)`.
fn at_end(text: &[String]) -> Option<Sure<Vec<String>>> {
    let [line] = text else { return None };
    let (before, inner) = line.trim_end_matches('.').strip_suffix(')')?.rsplit_once('(')?;
    let values = alternatives(inner, ',').filter(|values| values.len() > 2)?;
    let is_value = |value: &String| !value.contains('.') && value.starts_with(|c: char| c.is_ascii_lowercase());
    (before.len() <= 70 && values.iter().all(is_value) && !are_kinds(&values)).then_some(Sure::Guessed(values))
}

/// The first column of a table of all values, below a title such as `Possible values:`.
fn table(text: &[String]) -> Option<Sure<Vec<String>>> {
    let is_title = |line: &String| {
        let line = line.trim().to_ascii_lowercase();
        TABLE_TITLES.iter().any(|title| line.ends_with(title)) && !line.contains("format of")
    };
    let at = text.iter().position(is_title)?;
    let says = text[at].to_ascii_lowercase();
    let rows = text[at + 1..].iter().skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
    let rows: Vec<&String> = rows.collect();
    let values: Vec<String> = rows.iter().filter_map(|row| row_values(row)).flatten().collect();
    // The text below the title is no table.
    row_values(rows.first()?)?;
    let is_said = ["value", "choices", "one of"].iter().any(|word| says.contains(word));

    // `NUMBER` is the name of a value.
    let is_name =
        |value: &String| !value.contains(|c: char| c.is_lowercase()) && are_kinds(std::slice::from_ref(value));
    distinct(values).filter(|values| !values.iter().any(is_name)).map(if is_said { Sure::Said } else { Sure::Guessed })
}

/// The values of a row: `- wood: Lasts`, `wood   Lasts`, `'w' or 'wood':  Lasts`.
fn row_values(row: &str) -> Option<Vec<String>> {
    let bare = ["- ", "* ", "• "].iter().find_map(|bullet| row.strip_prefix(bullet));
    let (term, _) = match (bare, row.split_once("  ")) {
        (Some(bare), _) => bare.split_once(':').or_else(|| bare.split_once("  ")).unwrap_or((bare, "")),
        (None, Some(columns)) => columns,
        (None, None) => row.split_once(": ").filter(|(term, _)| !term.contains(' '))?,
    };
    let term = term.trim().trim_end_matches(':');
    let own = term.split(" or ").flat_map(|part| part.split(", ")).map(|part| unquoted(part.trim()).to_owned());
    let own: Vec<String> = own.collect();
    own.iter().all(|value| is_word(value)).then_some(own)
}

fn distinct(values: Vec<String>) -> Option<Vec<String>> {
    let mut seen = std::collections::HashSet::new();
    (values.len() > 1 && values.iter().all(|value| is_word(value) && seen.insert(value.as_str()))).then_some(values)
}

/// A list in prose: `a, b, or c`, `"a" | "b"`, `(a, b)`, up to the end of its sentence or bracket.
///
/// `quoted` demands that each value is in quotes.
fn list(text: &str, quoted: bool) -> Option<Vec<String>> {
    let mut rest = text.trim_start_matches([':', ' ']);
    rest = rest.strip_prefix(['(', '[', '{']).unwrap_or(rest);
    let mut values = Vec::new();
    loop {
        let (value, after) = item(rest).filter(|(value, _)| !quoted || !rest.starts_with(value))?;
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
    text.len() <= 60
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(is_word_char)
        && text != "etc"
        && !text.ends_with("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(name: &str, text: &str) -> Value {
        let mut value = Value { name: name.to_owned(), ..Value::default() };
        let lines: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
        complete(&mut value, &lines);
        value
    }

    #[test]
    fn values_are_listed_or_there_are_none() {
        let listed = |text| completed("KIND", text).values.map(|values| values.get().join(" "));
        for (text, expected) in [
            ("Kind of soup [possible values: hot, cold]", Some("hot cold")),
            ("Kind of soup (hot, cold, iced)", Some("hot cold iced")),
            ("How to serve it. It can be one of:\n\n- hot: at once\n- cold: later", Some("hot cold")),
            ("The possible values are:\n\nhot    at once\ncold   later", Some("hot cold")),
            ("Serve it:\nby type:\n'h' or 'hot':   at once\n'c' or 'cold':  later", Some("h hot c cold")),
            ("The values are:\n\nNUMBER  how many\nHEAD  the last", None),
            // Names of files, formats and units are no values.
            ("Path to it (default: soup.(toml|yaml))", None),
            ("Either a file (`soup.toml` or `meal.toml`), or a pair", None),
            ("Format: [(cook|cid)][:(guild|gid)]", None),
            ("Size as <+-><NUM><UNIT>. Allowed unit values:\n'g':  grams\n'k':  kilograms", None),
            ("Limited to one of 3 choices: red, green, blue. The format is {part}:{shade}", None),
            ("Time to cook (ms|s|m|h)", None),
        ] {
            assert_eq!(listed(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn descriptions_tell_how_many_values() {
        let several = |name, text| completed(name, text).several;
        assert_eq!(several("DISH", "Add a dish. Can be given multiple times"), Several::Each);
        assert_eq!(several("DISH", "Several dishes, separated by commas"), Several::Joined(','));
        assert_eq!(several("DISH", "Serve the given dishes"), Several::Each);
        assert_eq!(several("DISH", "Multiple rules are written as one text"), Several::No);
        assert!(completed("SET", "Settings, given as `KEY=VALUE` pairs").pair);
    }

    #[test]
    fn default_ends_at_a_comma() {
        assert_eq!(default("Dishes (default 3, that is few)").as_deref(), Some("3"));
    }
}
