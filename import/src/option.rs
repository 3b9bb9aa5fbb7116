//! The left column of an option: `-f, --[no-]file <FILE>` → [`Flag`].

use climax_catalog::Type;

use super::values::{alternatives, are_kinds, kind_of_name};
use super::{refine, shape};
use crate::command::{Flag, Several, Sure, Value};
use crate::page::ListEntry;

/// The most spellings of one option.
const MAX_SPELLINGS: usize = 6;

/// The longest spelling, in bytes, without its dashes.
const MAX_SPELLING_BYTES: usize = 80;

/// The number of further values from which on a text is a sentence.
const MAX_MORE_VALUES: usize = 4;

/// An option, and the rest of its line if there is no second column.
pub(super) struct OptionTerm {
    pub(super) flag: Flag,
    pub(super) rest: String,
}

/// Reads a left column; `whole` means that it contains nothing but the option.
pub(super) fn term(text: &str, whole: bool) -> Option<OptionTerm> {
    let mut flag = Flag::default();
    let mut counts = false;
    let mut rest = text.trim();
    if let Some(after) = levels(rest) {
        flag.spellings.push("-#".to_owned());
        return Some(OptionTerm { flag, rest: after.trim_start_matches(',').trim().to_owned() });
    }
    loop {
        // `-<number>, -n <number>`
        if rest.starts_with("-<") {
            let (_, after) = group(rest);
            rest = after.trim_start_matches([' ', ',']);
        }
        let Spelling { text: own, off, after } = spelling(rest)?;
        flag.is_on |= after == "=true:";
        flag.off = flag.off.or(off);
        let is_angled = after.trim_start().starts_with('<');
        let is_assigned = after.starts_with('=');
        // `-d[ddd]` counts.
        let repeated = after.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let is_repeated = |inner: &str| !inner.is_empty() && inner.chars().all(|c| own.len() == 2 && own.ends_with(c));
        let is_counted = repeated.is_some_and(|(inner, _)| is_repeated(inner));
        let after = repeated.filter(|_| is_counted).map_or(after, |(_, rest)| rest);
        counts |= is_counted;
        flag.spellings.push(own.clone());
        let (other, after) = bracketed_spelling(after, &own);
        flag.spellings.extend(other);
        let (value, after) = value(after, &own, whole);
        if let Some(mut value) = value {
            // `<TEXT INTEGER>...` of click: so many words each time.
            let mut names = value.name.split(' ').map(str::to_owned).collect::<Vec<_>>();
            if names.len() > 1 && names.iter().all(|name| name.chars().all(|c| c.is_ascii_uppercase())) {
                value.name = names.remove(0);
                flag.more = names;
            }
            value.assigned = is_assigned && own.len() == 2;
            flag.value.get_or_insert(value);
        }
        let after = behind_alternatives(after);
        let (more, after) = if flag.value.is_some() {
            more_values(after, whole && !is_assigned, is_angled)
        } else {
            (Vec::new(), after)
        };
        if flag.more.is_empty() {
            flag.more = more;
        }
        // `-if[NUM] EXPR`: what may stand in one word with the option is no value of its own.
        if flag.value.as_ref().is_some_and(|value| value.attached && value.optional) && flag.more.len() == 1 {
            flag.value = Some(Value { apart: !own.starts_with("--"), ..named(&flag.more.remove(0)) });
        }
        // `--fast / --safe`
        if let Some(off) = opposite(after).filter(|_| flag.value.is_none()) {
            flag.off = flag.off.or_else(|| spelling(off).map(|off| off.text));
            rest = "";
            break;
        }
        match next_spelling(after, whole) {
            Some(next) if flag.spellings.len() < MAX_SPELLINGS => rest = next,
            _ => {
                rest = after.trim();
                break;
            }
        }
    }

    match &mut flag.value {
        Some(value) if value.several == Several::No && (rest.starts_with("...") || is_more(rest, &flag.spellings)) => {
            value.several = Several::Each;
        }
        // `--leave-out PATTERN [PATTERN ...]`
        Some(value) if value.several == Several::No && whole && rest.contains("...") => value.several = Several::Words,
        Some(_) => {}
        // `-v, --verbose...`
        None => flag.counts = counts || rest.starts_with("..."),
    }

    let mut rest = rest.trim_start_matches("...").trim();
    if let Some((alias, after)) = in_brackets(rest)
        && (alias.len() > 2 || flag.spellings[0].starts_with("--"))
    {
        flag.spellings.push(alias);
        rest = after;
    }
    let rest = rest.to_owned();
    part_glued(&mut flag);
    flag.spellings.sort_by_key(|spelling| !spelling.starts_with("--"));
    flag.spellings.dedup();
    if flag.value.is_some() {
        flag.off = None;
    }

    Some(OptionTerm { flag, rest })
}

/// Whether a text shows the option once more, with dots: `[ -e <event> ... ]`.
fn is_more(text: &str, spellings: &[String]) -> bool {
    let Some(inner) = text.strip_prefix('[').map(|inner| inside(inner).0.trim()) else { return false };
    let first = inner.split([' ', '|', ',', '=']).next();
    inner.ends_with("...") && spellings.iter().any(|own| Some(own.as_str()) == first)
}

/// A further spelling in brackets at the start of a text, and the text behind it: `(-number)`.
pub(super) fn in_brackets(text: &str) -> Option<(String, &str)> {
    let (alias, after) = text.strip_prefix("(-")?.split_once(')')?;
    let is_name = !alias.is_empty() && alias.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    is_name.then(|| (format!("-{alias}"), after.trim()))
}

/// Another spelling in brackets behind a spelling, and the text behind it: `-r [--revision] ARG`.
fn bracketed_spelling<'a>(text: &'a str, own: &str) -> (Option<String>, &'a str) {
    let Some((inner, after)) = text.strip_prefix(" [-").map(inside) else { return (None, text) };
    let bracketed = format!("-{inner}");
    let is_long = |text: &str| text.starts_with("--");
    let other = spelling(&bracketed).filter(|other| other.after.is_empty() && is_long(&other.text) != is_long(own));
    other.map_or((None, text), |other| (Some(other.text), after))
}

/// The text behind other forms of a value: ` | TOKEN` of `--auth USER | TOKEN, -a USER | TOKEN`.
fn behind_alternatives(text: &str) -> &str {
    let mut rest = text;
    while let Some(other) = rest.trim_start().strip_prefix("| ") {
        let (word, after) = group(other);
        if word.starts_with('-') || !looks_named(word) {
            break;
        }
        rest = after;
    }
    rest
}

/// The text behind a range of levels: `-0 to -9`, `-1 ... -9`, `-1..-9`.
fn levels(text: &str) -> Option<&str> {
    let is_digit = |c: char| c.is_ascii_digit();
    let rest = text.strip_prefix('-')?.strip_prefix(is_digit)?.trim_start();
    let rest = ["to", "...", "..", "through"].iter().find_map(|between| rest.strip_prefix(between))?;
    let rest = rest.trim_start();
    rest.strip_prefix('-').unwrap_or(rest).strip_prefix(is_digit).filter(|rest| !rest.starts_with(is_digit))
}

/// Parts a letter from the name of its value where another spelling has the same value: `-IPATH, --include=PATH`.
fn part_glued(flag: &mut Flag) {
    let Some(value) = &mut flag.value else { return };
    for spelling in &mut flag.spellings {
        let is_short = spelling.len() > 2 && !spelling.starts_with("--");
        if is_short && spelling.get(2..) == Some(value.name.as_str()) {
            spelling.truncate(2);
            value.optional = false;
        }
    }
}

/// Parts a letter from the name of its value where the description quotes that: `-Tv`, "Set the type to 'v'".
pub(super) fn part_quoted(flag: &mut Flag, text: &str) {
    let [spelling] = flag.spellings.as_slice() else { return };
    if spelling.starts_with("--") || !spelling.is_char_boundary(2) || spelling.len() < 3 {
        return;
    }
    let (letter, name) = spelling.split_at(2);
    let is_quoted = text.contains(&format!("'{name}'")) || text.contains(&format!("<{name}>"));
    if !is_quoted || name.starts_with(|c: char| !c.is_ascii_alphabetic()) {
        return;
    }
    let pair = flag.value.as_ref().map(|value| value.name.clone());
    let name = pair.map_or(name.to_owned(), |value| format!("{name}={value}"));
    // `-Gname=val` stands for each name, in one word with its value.
    let several = if name.contains('=') { Several::Each } else { Several::No };
    flag.value = Some(Value { attached: true, pair: false, several, ..named(&name) });
    flag.spellings = vec![letter.to_owned()];
}

/// Whether at least two options of a page are a letter with the name of its value, which their descriptions use.
pub(super) fn glues_names(entries: &[ListEntry]) -> bool {
    let is_glued = |entry: &&ListEntry| glued_name(&entry.term, &entry.text.join(" ")).is_some();
    entries.iter().filter(is_glued).count() > 1
}

/// Parts a letter from the name of its value where the description uses that: `-Tdev`, "use device dev".
pub(super) fn part_named(flag: &mut Flag, text: &str) {
    let [spelling] = flag.spellings.as_slice() else { return };
    let Some((letter, name)) = glued_name(spelling, text).filter(|_| flag.value.is_none()) else { return };
    flag.value = Some(Value { attached: true, ..named(name) });
    flag.spellings = vec![letter.to_owned()];
}

/// The letter of an option and the name of its value, if that is a word of the description.
fn glued_name<'a>(spelling: &'a str, text: &str) -> Option<(&'a str, &'a str)> {
    let (letter, name) = spelling.split_at_checked(2).filter(|(letter, _)| !letter.ends_with('-'))?;
    let is_name = name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_used = text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == name);
    (letter.starts_with('-') && is_name && is_used).then_some((letter, name))
}

/// The text from the next spelling on: `, --all`, ` | --all`, ` or --all`.
fn next_spelling(after: &str, whole: bool) -> Option<&str> {
    let trimmed = after.trim_start();
    let next = trimmed.trim_start_matches([' ', ',', '|', '/']);
    let next = ["or ", "(or "].iter().find_map(|start| next.strip_prefix(start)).unwrap_or(next);
    // `-a -b` without a comma is a list of spellings too, where the column holds nothing else.
    let is_list = next.len() != trimmed.len() || whole;
    (is_list && next.starts_with('-')).then_some(next)
}

/// The spelling that turns a switch off, behind ` / `.
fn opposite(after: &str) -> Option<&str> {
    after.strip_prefix(" / ").filter(|rest| rest.starts_with("--") && !rest.contains([' ', '=', '<']))
}

/// A spelling with its dashes.
struct Spelling<'a> {
    text: String,
    /// `--no-x` of `--[no-]x`.
    off: Option<String>,
    after: &'a str,
}

/// Splits off a spelling.
fn spelling(text: &str) -> Option<Spelling<'_>> {
    let body = text.trim_start_matches('-');
    let dashes = text.len() - body.len();
    if !matches!(dashes, 1 | 2) {
        return None;
    }

    let negation = ["[no-]", "[no]"].into_iter().find(|negation| body.starts_with(negation));
    let body = &body[negation.map_or(0, str::len)..];
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.?#@".contains(c);
    let end = body.find(|c: char| !is_name(c)).unwrap_or(body.len());
    // `--verbose...` ends before its dots.
    let end = body[..end].find("..").unwrap_or(end);
    let mut word = body[..end].trim_end_matches(['.', '-']);
    // `-b#`: a number behind the letter.
    if dashes == 1 && word.len() == 2 && word.ends_with('#') {
        word = &word[..1];
    }
    // `-proc:{none,only}` and `--define:K=V` take their values behind a colon.
    if body[word.len()..].strip_prefix(':').is_some_and(|rest| rest.starts_with(|c: char| !c.is_whitespace())) {
        word = &body[..=word.len()];
    }
    let dashes = &text[..dashes];

    (!word.is_empty() && word.len() <= MAX_SPELLING_BYTES).then(|| Spelling {
        text: format!("{dashes}{word}"),
        off: negation.map(|negation| format!("{dashes}{}{word}", negation.trim_matches(['[', ']']))),
        after: &body[word.len()..],
    })
}

/// Splits off the value after a spelling.
fn value<'a>(text: &'a str, spelling: &str, whole: bool) -> (Option<Value>, &'a str) {
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

    let (word, after) = group(rest);
    if is_remark(word) || is_aside(word) {
        return (None, after);
    }
    let is_alone = after.trim().is_empty() || after.trim_start().starts_with([',', '|']);
    if !whole && !is_alone && !looks_named(word) {
        return (None, text);
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

/// A value in one word with its option. A name with a value is such a word too, and each call may have several of them:
/// `-D<property>=<value>`.
fn glued_pair(value: Value) -> Value {
    if value.pair { Value { pair: false, several: Several::Each, ..value } } else { value }
}

/// Whether a word is the name of a value by its form: `<file>`, `FILE`.
fn looks_named(word: &str) -> bool {
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
fn more_values(text: &str, whole: bool, is_angled: bool) -> (Vec<String>, &str) {
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
fn inside(text: &str) -> (&str, &str) {
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
        value.values = alternatives(inner, ',').or_else(|| alternatives(inner, '|')).map(Sure::Said);
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

#[cfg(test)]
mod tests;
