//! The left column of an option: `-f, --[no-]file <FILE>` → [`Flag`].

use climax_catalog::Type;

use super::values::alternatives;
use crate::command::{Flag, Sure, Value};

/// An option, and the rest of its line if there is no second column.
pub(super) struct OptionTerm {
    pub(super) flag: Flag,
    pub(super) rest: String,
}

/// Reads a left column; `whole` means that it contains nothing but the option.
pub(super) fn term(text: &str, whole: bool) -> Option<OptionTerm> {
    let mut flag = Flag::default();
    let mut rest = text.trim();
    loop {
        // `-<number>, -n <number>`
        if rest.starts_with("-<") {
            let (_, after) = group(rest);
            rest = after.trim_start_matches([' ', ',']);
        }
        let (name, after) = name(rest)?;
        flag.spellings.push(name);
        flag.is_on |= after == "=true:";
        let (value, after) = value(after, flag.spellings.last().map_or("", String::as_str), whole);
        if let Some(value) = value {
            flag.value.get_or_insert(value);
        }
        let next = after.trim_start_matches([' ', ',', '|', '/']);
        let next = next.strip_prefix("or ").unwrap_or(next);
        // `-a -b` without a comma is a list of spellings too, where the column holds nothing else.
        let is_list =
            after.trim_start().starts_with([',', '|', '/']) || next.len() != after.trim_start().len() || whole;
        if next.starts_with('-') && is_list && flag.spellings.len() < 6 {
            rest = next;
        } else {
            rest = after.trim();
            break;
        }
    }
    if whole && let Some(value) = &mut flag.value {
        value.repeated |= rest.contains("...");
    }
    // `-v, --verbose...`: a switch that may stand several times is a switch here.
    let rest = rest.trim_start_matches("...").trim().to_owned();
    flag.spellings.sort_by_key(|spelling| !spelling.starts_with("--"));
    flag.spellings.dedup();
    Some(OptionTerm { flag, rest })
}

/// Splits off a spelling with its dashes; `--[no-]x` is `--x`.
fn name(text: &str) -> Option<(String, &str)> {
    let body = text.trim_start_matches('-');
    let dashes = text.len() - body.len();
    if !matches!(dashes, 1 | 2) {
        return None;
    }
    let body = body.strip_prefix("[no-]").or_else(|| body.strip_prefix("[no]")).unwrap_or(body);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.?#@".contains(c);
    let end = body.find(|c: char| !is_name(c)).unwrap_or(body.len());
    // `--verbose...` ends before its dots.
    let end = body[..end].find("..").unwrap_or(end);
    let word = body[..end].trim_end_matches(['.', '-']);
    (!word.is_empty() && word.len() <= 80).then(|| (format!("{}{word}", &text[..dashes]), &body[word.len()..]))
}

/// Splits off the value after a spelling.
fn value<'a>(text: &'a str, spelling: &str, whole: bool) -> (Option<Value>, &'a str) {
    let is_short = !spelling.starts_with("--") && spelling.len() == 2;
    if let Some(inner) = text.strip_prefix("[=").or_else(|| text.strip_prefix("[ ")) {
        let end = inner.find(']').unwrap_or(inner.len());
        let after = inner.get(end + 1..).unwrap_or_default();
        let value = Value { optional: true, ..named(&inner[..end]) };
        return (Some(value), after);
    }
    if let Some(rest) = text.strip_prefix('=') {
        return assigned(rest);
    }
    if text.starts_with(['<', '{']) || (text.starts_with('[') && !text.starts_with("[,")) {
        let (word, after) = group(text);
        // `-u[MODE]`: the value must be attached, and is optional.
        let is_optional = is_short && word.starts_with('[');
        return ((!is_optional).then(|| named(word)), after);
    }
    let Some(rest) = text.strip_prefix(' ') else { return (None, text) };
    let rest = rest.trim_start();
    if rest.is_empty() || rest.starts_with(['-', ',', '|']) {
        return (None, text);
    }
    let (word, after) = group(rest);
    let is_alone = after.trim().is_empty() || after.trim_start().starts_with([',', '|']);
    let looks_named = word.starts_with(['<', '[', '{', '('])
        || word.len() > 1
            && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || "_-|=:,./[]".contains(c));
    if !whole && !is_alone && !looks_named {
        return (None, text);
    }
    let mut value = named(word);
    value.apart = !spelling.starts_with("--");
    (Some(value), after)
}

/// A value behind `=`: a name, or (`--all=false:`) the default.
fn assigned(text: &str) -> (Option<Value>, &str) {
    if let Some(default) = text.strip_suffix(':') {
        if matches!(default, "true" | "false") {
            return (None, "");
        }
        if let Some(value) = by_default(default) {
            return (Some(value), "");
        }
    }
    let (word, after) = group(text);
    (Some(named(word)), after)
}

/// Derives a value from its default, for help that shows `--flag=default:`.
fn by_default(text: &str) -> Option<Value> {
    let mut value = Value::default();
    if text == "[]" {
        value.repeated = true;
        return Some(value);
    }
    let quoted = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    if quoted.is_none() && text.parse::<i64>().is_ok() {
        value.kind = Some(Sure::Said(Type::Integer));
    } else if quoted.is_none() && !text.starts_with(|c: char| c.is_ascii_digit() || "[-".contains(c)) {
        return None;
    }
    value.default = Some(quoted.unwrap_or(text).to_owned()).filter(|default| !default.is_empty());
    Some(value)
}

/// The first word, with brackets and their content.
fn group(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '<' | '[' | '{' | '(' => depth += 1,
            '>' | ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => return (&text[..at], &text[at..]),
            ',' if depth == 0 && text[at + 1..].trim_start().starts_with('-') => return (&text[..at], &text[at..]),
            _ => {}
        }
    }
    (text, "")
}

/// Reads a value: its name, or its allowed values from `{a,b}` and `<a|b>`.
fn named(word: &str) -> Value {
    let repeated = word.contains("...");
    let bare = word.trim_end_matches("...").trim_end_matches(':');
    let inner = bare.trim_matches(['<', '>', '[', ']', '{', '}', '(', ')', '=']);
    let mut value = Value { name: inner.to_owned(), repeated, ..Value::default() };
    if bare.starts_with('{') {
        value.values = alternatives(inner, ',').or_else(|| alternatives(inner, '|')).map(Sure::Said);
    } else if inner.chars().any(|c| c.is_ascii_lowercase()) && !inner.contains(['<', '[']) {
        value.values = alternatives(inner, '|').map(Sure::Guessed);
    }
    if value.values.is_some() {
        value.name = String::new();
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> (Vec<String>, Option<String>, String) {
        let term = term(text, true).unwrap();
        (term.flag.spellings, term.flag.value.map(|value| value.name), term.rest)
    }

    #[test]
    fn reads_spellings_and_values_of_every_style() {
        let cases = [
            ("-a, --all", "--all -a", None),
            ("-f, --[no-]file <file>", "--file -f", Some("file")),
            ("-n NUM, --lines=NUM", "--lines -n", Some("NUM")),
            ("--color[=WHEN]", "--color", Some("WHEN")),
            ("    --limit int", "--limit", Some("int")),
            ("-s|--short", "--short -s", None),
            ("-v, --verbose...", "--verbose -v", None),
            ("-R, --repo [HOST/]OWNER/REPO", "--repo -R", Some("HOST/]OWNER/REPO")),
            ("-input=true", "-input", Some("true")),
            ("-u[<mode>]", "-u", None),
            ("-p, --package [<SPEC>]", "--package -p", Some("SPEC")),
        ];
        for (text, spellings, value) in cases {
            let found = spelled(text);
            assert_eq!(found.0.join(" "), spellings, "{text}");
            assert_eq!(found.1.as_deref(), value, "{text}");
        }
    }

    #[test]
    fn text_without_a_second_column_is_not_a_value() {
        let found = term("--[no-]cleanup <mode> how to strip spaces", false).unwrap();
        assert_eq!(found.rest, "how to strip spaces");
        let found = term("--keep all of them", false).unwrap();
        assert_eq!((found.flag.value, found.rest.as_str()), (None, "all of them"));
    }

    #[test]
    fn default_determines_the_type() {
        assert_eq!(term("--all=false:", true).unwrap().flag.value, None);
        let tail = term("--tail=-1:", true).unwrap().flag.value.unwrap();
        assert_eq!((tail.kind, tail.default.as_deref()), (Some(Sure::Said(Type::Integer)), Some("-1")));
        assert!(term("--file=[]:", true).unwrap().flag.value.unwrap().repeated);
        let print = term("--print=true:", true).unwrap().flag;
        assert!(print.is_on && print.value.is_none());
    }
}
