//! What stands behind an option in its left column: `=<FILE>`, `[WHEN]`, `NUM NUM` → [`Value`].

use climax_catalog::Type;

use super::values::{alternatives, are_kinds, kind_of_name};
use super::{refine, shape};
use crate::command::{Several, Sure, Value};

/// The number of further values from which on a text is a sentence.
const MAX_MORE_VALUES: usize = 4;

/// Splits off the value after a spelling.
pub(super) fn value<'a>(text: &'a str, spelling: &str, whole: bool) -> (Option<Value>, &'a str) {
    let is_short = !spelling.starts_with("--") && spelling.len() == 2;
    if spelling.ends_with(':') {
        let (word, after) = group(text);
        // What stands there may be an example, one of several values, or a list of them.
        let several = shape::of_name(word);
        return (Some(Value { attached: true, pair: false, values: None, several, ..named(word) }), after);
    }
    // `--list[-full]` is two spellings, of which the shorter one is taken.
    if let Some(inner) = text.strip_prefix("[-") {
        return (None, inside(inner).1);
    }
    if let Some(after) = text.strip_prefix('#').filter(|_| is_short) {
        let kind = Some(Sure::Guessed(Type::Integer));
        return (Some(Value { name: "number".to_owned(), attached: true, kind, ..Value::default() }), after);
    }
    // `-ext[+] EXT`: the sign is part of the spelling.
    let text = text.strip_prefix("[+]").unwrap_or(text);
    if let Some(inner) = text.strip_prefix("[=").or_else(|| text.strip_prefix("[ ")) {
        let (inner, after) = inside(inner);
        let attached = text.starts_with("[=");
        return (Some(Value { optional: true, attached, ..named(inner) }), after);
    }

    if let Some(rest) = text.strip_prefix('=') {
        return assigned(rest);
    }

    if text.starts_with(['<', '{']) || (text.starts_with('[') && !text.starts_with("[,")) {
        let (word, after) = group(text);
        // `-u[MODE]`: the value must be attached, and is optional. So it is in `-lm[NAME]`, in one word without a sign.
        let is_attached = !spelling.starts_with("--");
        let is_optional = is_attached && word.starts_with('[');
        // Programs that show `-lf<FILE>` take the next word as well.
        let apart = is_attached && !is_short && !is_optional;
        let value = Value { attached: is_attached, optional: is_optional, apart, ..named(word) };
        return (Some(if is_attached { glued_pair(value) } else { value }), after);
    }

    let Some(rest) = text.strip_prefix(' ') else { return (None, text) };
    let rest = rest.trim_start();
    // `-w or --whole`, `-w (or --whole)`; `-d (-r)` speaks of two switches.
    if ["or -", "(or -", "(-"].iter().any(|start| rest.starts_with(start)) {
        return (None, text);
    }
    if let Some(after) = rest.strip_prefix('#').filter(|after| after.is_empty() || after.starts_with(' ')) {
        return (
            Some(Value { name: "number".to_owned(), apart: !spelling.starts_with("--"), ..Value::default() }),
            after,
        );
    }
    if rest.is_empty()
        || rest.starts_with(['-', ',', '|', '/'])
        || ["...", "[-"].iter().any(|start| rest.starts_with(start))
    {
        return (None, text);
    }

    if let Some((value, after)) = quoted(rest) {
        return (Some(value), after);
    }
    let (word, after) = group(rest);
    if is_remark(word) || is_aside(word) {
        return (None, after);
    }
    let is_alone = after.trim().is_empty() || after.trim_start().starts_with([',', '|']);
    if !whole && !is_alone && !looks_named(word) {
        return (None, text);
    }

    if let Some(value) = with_default(word) {
        return (Some(value), after);
    }
    let mut value = named(word);
    // `[String]` is a list of strings in the help of some JavaScript programs.
    if matches!(word, "[String]" | "[Int]" | "[Number]") {
        value.several = Several::Each;
        return (Some(value), after);
    }

    // `<FILE...>`: the dots are part of what each of the words is.
    if word.ends_with("...>") && value.several == Several::Each {
        value.several = Several::Words;
    }
    // `[HOST:]PORT` is one value of two parts, `[PORT]` one that may be absent, `[FILE...]` any number of them.
    if is_bracketed(word) && value.several == Several::Each {
        value.several = Several::Words;
    }
    value.optional =
        is_bracketed(word) && matches!(value.several, Several::No | Several::Words) && value.values.is_none();

    value.apart = !spelling.starts_with("--");
    (Some(value), after)
}

/// A value shown by an example in quotes, with nothing of its line behind it: `-e "stir; serve; ..."`.
fn quoted(text: &str) -> Option<(Value, &str)> {
    let (example, after) = text.strip_prefix('"')?.split_once('"')?;
    let word = example.split(|c: char| !c.is_ascii_alphabetic()).find(|word| !word.is_empty())?;
    let value = Value { name: word.to_ascii_lowercase(), apart: true, ..Value::default() };
    (after.is_empty() || after.starts_with(',')).then_some((value, after))
}

/// A value that may be absent, behind its type: `string[="true"]`.
///
/// Source: `FlagUsages` of the library pflag, which shows so what an option alone stands for.
fn with_default(word: &str) -> Option<Value> {
    let (name, default) = word.strip_suffix(']')?.split_once("[=")?;
    let is_type = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let is_literal = default.starts_with(|c: char| c == '"' || c == '+' || c.is_ascii_digit())
        || matches!(default, "true" | "false");
    (is_type && is_literal).then(|| Value { optional: true, attached: true, ..named(name) })
}

/// A value in one word with its option. A name with a value is such a word too, and each call may have several of them:
/// `-D<property>=<value>`.
fn glued_pair(value: Value) -> Value {
    if value.pair { Value { pair: false, several: Several::Each, ..value } } else { value }
}

/// Whether a word is the name of a value by its form: `<file>`, `FILE`.
pub(super) fn looks_named(word: &str) -> bool {
    word.starts_with(['<', '[', '{', '('])
        || word.len() > 1
            && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || "_-|=:,./[]".contains(c))
}

/// Whether brackets hold a sentence: `[if it has been built with it]`.
fn is_remark(word: &str) -> bool {
    let Some(inner) = word.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) else { return false };
    let mut words = inner.split(' ');
    let is_plain = |word: &str| word != "or" && word.chars().all(|c| c.is_ascii_lowercase());
    words.clone().count() > 2 && words.all(is_plain)
}

/// Whether round brackets hold one plain word: `-v (verbose)`.
fn is_aside(word: &str) -> bool {
    let inner = word.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
    inner.is_some_and(|inner| !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// Whether brackets enclose a whole word: `[PORT]`.
fn is_bracketed(word: &str) -> bool {
    word.strip_prefix('[').is_some_and(|inner| inside(inner).1.trim_start_matches(['.', '…']).is_empty())
}

/// Splits off the names of further values: `<b>` of `--pair <a> <b>`.
///
/// Values have one form: behind `<a>` only `<b>` is a value.
///
/// `[FILE ...]` behind the name is no further one, and stays for the reader of dots.
pub(super) fn more_values(text: &str, whole: bool, is_angled: bool) -> (Vec<String>, &str) {
    let mut rest = text;
    let mut names = Vec::new();
    while names.len() < MAX_MORE_VALUES {
        let next = rest.trim_start();
        let (word, after) = group(next);
        let is_plain = |word: &str| word.len() <= 12 && word.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
        let is_named = looks_named(word) && (!is_angled || word.starts_with('<')) && !word.contains("...");

        // `INTEGER RANGE` is one name.
        if word == "RANGE" && text.len() == rest.len() {
            rest = after;
            continue;
        }
        // `--tabs Boolean (no if unset)`, `--dscp N or --dscp name`
        if word.is_empty()
            || word.starts_with('(')
            || word == "or" && after.trim_start().starts_with('-')
            || next.len() == rest.len()
            || !(is_named || whole && !is_angled && is_plain(word))
            || is_bracketed(word)
        {
            break;
        }

        names.push(word.trim_matches(['<', '>', '{', '}']).to_owned());
        rest = after;
    }

    // `COMMA SEPARATED LIST` is one name.
    if names.iter().any(|name| name == "SEPARATED") {
        return (Vec::new(), rest);
    }
    // A sentence, not the names of values.
    if names.len() == MAX_MORE_VALUES { (Vec::new(), text) } else { (names, rest) }
}

/// Splits a text at the bracket that closes it.
pub(super) fn inside(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' if depth == 0 => return (&text[..at], &text[at + 1..]),
            ']' => depth -= 1,
            _ => {}
        }
    }

    (text, "")
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

    // `--time="15:04 MST"`: a default of several words.
    if let Some((quoted, after)) = text.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        return (Some(Value { default: Some(quoted.to_owned()), ..Value::default() }), after);
    }

    let (word, after) = group(text);
    (Some(named(word)), after)
}

/// Derives a value from its default, for help that shows `--flag=default:`.
fn by_default(text: &str) -> Option<Value> {
    let mut value = Value::default();
    if text == "[]" {
        value.several = Several::Each;
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
pub(super) fn group(text: &str) -> (&str, &str) {
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
pub(super) fn named(word: &str) -> Value {
    let bare = word.trim_end_matches(':');
    // `FILE1,FILE2..`
    let is_short_list = bare.ends_with("..") && !bare.ends_with("...") && bare.contains(',');
    let several = if is_short_list { Several::Joined(',') } else { shape::of_name(bare) };
    // `NAME[=VALUE]` is one word, and each call may have several of them.
    let several = if takes_more(bare) && several == Several::No { Several::Each } else { several };
    let bare = bare.trim_end_matches("...");
    let inner = bare.trim_matches(['<', '>', '[', ']', '{', '}', '(', ')', '=']).trim_end_matches("...");
    let brackets: &[char] = &['<', '>', '[', ']', '{', '}', '(', ')', '='];
    let core = core(bare);
    let is_part = core != bare && !bare.starts_with('[');
    let name = core.trim_matches(brackets).trim_end_matches(['.', ' ']).trim_end_matches(brackets).to_owned();
    let mut value = Value { name, several, pair: shape::is_pair(inner), ..Value::default() };

    if is_part || bare.starts_with('[') && !is_bracketed(bare) {
        // `[HOST:]PORT` is no number.
        value.kind = Some(Sure::Said(Type::String));
    }

    if matches!(value.several, Several::Each) && refine::is_program(&value.name) {
        value.several = Several::Words;
    }
    if let Some((first, _)) = inner.split_once("[,").or_else(|| inner.split_once(",...")) {
        first.trim_end_matches(['>', ',']).clone_into(&mut value.name);
    }

    if bare.starts_with('{') {
        let own = alternatives(inner, ',').or_else(|| alternatives(inner, '|'));
        value.values = own.filter(|values| !are_examples(values)).map(Sure::Said);
    } else if inner.chars().any(|c| c.is_ascii_lowercase()) && !inner.contains(['<', '[']) {
        value.values = alternatives(inner, '|').filter(|values| !are_kinds(values)).map(Sure::Guessed);
    }

    if value.values.is_some() {
        value.name = String::new();
    }
    // `{keep,no,INTEGER}`: one of the values is a kind.
    let is_shouted = |value: &&String| value.len() > 1 && value.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_kind = |own: &String| are_kinds(std::slice::from_ref(own)) || kind_of_name(own).is_some();
    value.values.take_if(|values| {
        let shouted: Vec<&String> = values.get().iter().filter(is_shouted).collect();
        shouted.len() < values.get().len() && shouted.into_iter().any(is_kind)
    });

    value
}

/// Whether values are letters in the order of the alphabet, which stand for any names: `{a,b,c}`.
fn are_examples(values: &[String]) -> bool {
    let follows =
        |pair: &[String]| matches!((pair[0].as_bytes(), pair[1].as_bytes()), ([one], [next]) if *next == one + 1);
    values.len() > 2 && values.windows(2).all(follows)
}

/// Whether a name is followed by a value that may be absent: `NAME[=VALUE]`, `KEY[:VALUE]`.
fn takes_more(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_key = ["key[:", "name[:", "var[:", "property[:"].iter().any(|start| lower.starts_with(start));
    name.contains("[=") && !name.starts_with("[=") || is_key
}

/// A name without its parts in brackets: `PORT` of `[HOST:]PORT`.
pub(super) fn core(name: &str) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    for character in name.chars() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(character),
            _ => {}
        }
    }

    let is_name = out.chars().any(char::is_alphanumeric);
    if is_name { out } else { name.to_owned() }
}
