//! The left column of an option: `-f, --[no-]file <FILE>` → [`Flag`].

use super::option_value::{group, inside, looks_named, more_values, named, value};
use crate::command::{Flag, Several, Value};
use crate::page::ListEntry;

/// The most spellings of one option.
const MAX_SPELLINGS: usize = 6;

/// The longest spelling, in bytes, without its dashes.
const MAX_SPELLING_BYTES: usize = 80;

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
        let Spelling { text: own, off, after, short } = spelling(rest)?;
        flag.is_on |= after == "=true:";
        flag.off = flag.off.or(off);
        let is_angled = after.trim_start().starts_with('<');
        let is_assigned = after.starts_with('=');
        // `-d[ddd]` counts.
        let repeated = after.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let is_letter = |inner: &str| !inner.is_empty() && inner.chars().all(|c| own.len() == 2 && own.ends_with(c));
        let is_counted = repeated.is_some_and(|(inner, _)| is_letter(inner));
        let after = repeated.filter(|_| is_counted).map_or(after, |(_, rest)| rest);
        counts |= is_counted;
        flag.spellings.push(own.clone());
        flag.spellings.extend(short);
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
        // `-s --sack SACK mend it` needs no column of its own.
        let is_pair = own.len() == 2 && after.starts_with(" --");
        match next_spelling(after, whole || is_pair) {
            Some(next) if flag.spellings.len() < MAX_SPELLINGS => rest = next,
            _ => {
                rest = after.trim();
                break;
            }
        }
    }

    // `SACK [+]` of a page that says "[+] can be repeated".
    if let (Some(value), Some(after)) = (&mut flag.value, rest.strip_prefix("[+]")) {
        value.several = Several::Each;
        rest = after.trim();
    }
    match &mut flag.value {
        Some(value) if value.several == Several::No && (is_repeated(rest) || is_more(rest, &flag.spellings)) => {
            value.several = Several::Each;
        }
        // `--leave-out PATTERN [PATTERN ...]`
        Some(value) if value.several == Several::No && whole && rest.contains("...") => value.several = Several::Words,
        Some(_) => {}
        // `-v, --verbose...`
        None => flag.counts = counts || is_repeated(rest),
    }

    let mut rest = rest.trim_start_matches("...").trim();
    if let Some((alias, after)) = in_brackets(rest)
        && (alias.len() > 2 || flag.spellings[0].starts_with("--"))
    {
        flag.spellings.push(alias);
        rest = after;
        // `-v (--value) <value>`
        if rest.starts_with('<') && flag.value.is_none() {
            let (word, after) = group(rest);
            flag.value = Some(named(word));
            rest = after.trim();
        }
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

/// Whether a text starts with dots that stand for more values, rather than for the words before a sentence: `...of rye`.
fn is_repeated(text: &str) -> bool {
    text.strip_prefix("...").is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_lowercase()))
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
    /// `--sack-file` of `--sack[s]-file`.
    short: Option<String>,
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
    if let Some((inner, tail)) = letters_inside(&body[word.len()..]).filter(|_| dashes == "--") {
        return Some(Spelling {
            text: format!("--{word}{inner}{tail}"),
            off: None,
            after: &body[word.len() + inner.len() + 2 + tail.len()..],
            short: Some(format!("--{word}{tail}")),
        });
    }

    (!word.is_empty() && word.len() <= MAX_SPELLING_BYTES).then(|| Spelling {
        text: format!("{dashes}{word}"),
        off: negation.map(|negation| format!("{dashes}{}{word}", negation.trim_matches(['[', ']']))),
        after: &body[word.len()..],
        short: None,
    })
}

/// The letters that a spelling may leave out, and what of it is behind them: `s` and `-file` of `[s]-file`.
fn letters_inside(text: &str) -> Option<(&str, &str)> {
    let (inner, rest) = text.strip_prefix('[')?.split_once(']')?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
    let is_inside = !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_inside && end > 1).then(|| (inner, &rest[..end]))
}

#[cfg(test)]
mod tests;
