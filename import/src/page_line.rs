//! What a line of a help page is, by its form: a heading, the start of an entry, columns.

use crate::command_word::{is_command_word, listed_names};

/// Words of sentences, which are no names of commands.
const SENTENCE: [&str; 8] = ["see", "the", "for", "to", "of", "a", "in", "with"];

/// The content of a section, by its heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// Unknown: above the first heading, or below an unknown heading.
    Other,
    Usage,
    Commands,
    Operands,
    Options,
    /// Options which all take a value.
    Valued,
    /// Examples and the like, which contain no entries.
    Prose,
}

/// Whether each bracket of a text is closed.
pub(super) fn is_balanced(text: &str) -> bool {
    text.matches(['[', '(', '{']).count() == text.matches([']', ')', '}']).count()
}

pub(super) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The text after `usage:`, case-insensitive.
pub(super) fn usage_start(trimmed: &str, indent: usize) -> Option<&str> {
    if indent > 4 {
        return None;
    }

    if let Some(rest) = ["syntax:", "synopsis:"].iter().find_map(|start| behind_word(trimmed, start)) {
        return Some(rest.trim());
    }
    if let Some(rest) = trimmed.strip_prefix("Use: ") {
        return Some(rest.trim());
    }
    let word = trimmed.get(..5)?;
    if !word.eq_ignore_ascii_case("usage") {
        return None;
    }

    let rest = trimmed[5..].trim_start();
    let rest = rest.strip_prefix("summary").unwrap_or(rest).trim_start();
    if let Some(rest) = rest.strip_prefix(':') {
        return Some(rest.trim());
    }

    rest.is_empty().then_some("")
}

/// A usage line without its number in a list of them: `2. prog FILE`.
pub(super) fn without_number(usage: &str) -> &str {
    let rest = usage.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == usage.len() { usage } else { rest.strip_prefix(". ").map_or(usage, str::trim_start) }
}

/// The text behind a word in small letters or capitals.
fn behind_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    start.eq_ignore_ascii_case(word).then_some(rest)
}

/// An option in brackets with its description: `[--way WAY]    How to grind`.
pub(super) fn bracketed_option(trimmed: &str) -> Option<(&str, &str)> {
    let (term, text) = trimmed.split_once("  ")?;
    let inner = term.strip_prefix('[')?.strip_suffix(']')?;
    let text = text.trim_start();
    let is_one = starts_option(inner) && !inner.contains(['[', '|']) && is_balanced(inner);
    (is_one && !text.starts_with(['[', '<', '-', '{', '('])).then_some((inner, text))
}

/// The section that a line starts, if it is a heading.
pub(super) fn heading(trimmed: &str, indent: usize, next_indent: usize, seen_heading: bool) -> Option<Section> {
    let shouted = trimmed.len() > 2 && trimmed.chars().all(|c| c.is_ascii_uppercase() || " -&/()".contains(c));
    let marked = trimmed.ends_with(':') || shouted;
    // `[group]` parts a list.
    let is_bracketed = trimmed.starts_with('[') && trimmed.ends_with(']');
    let is_heading = !starts_option(trimmed)
        && !trimmed.contains(" = ")
        && !is_bracketed
        && trimmed.len() <= 100
        && match indent {
            // Headings without a colon occur among the sections only: "Commit options".
            0 => marked || (seen_heading && next_indent > 0 && !trimmed.ends_with('.')),
            1..=4 => {
                shouted && next_indent > indent || trimmed.ends_with(':') && next_indent > indent && is_title(trimmed)
            }
            _ => false,
        };
    is_heading.then(|| section(trimmed))
}

/// The names of commands behind their heading in one line: `Valid commands: add, remove,`.
pub(super) fn commands_behind(trimmed: &str) -> Option<String> {
    let (title, list) = trimmed.split_once(':')?;
    let lower = title.to_ascii_lowercase();
    if !lower.contains("commands") || title.split(' ').count() > 4 || section(title) != Section::Commands {
        return None;
    }
    let names: Vec<&str> =
        if list.contains(',') { listed_names(list).collect() } else { list.split_whitespace().collect() };
    let is_name = |name: &&str| is_command_word(name) && !SENTENCE.contains(name);
    (names.len() > 1 && names.iter().all(is_name)).then(|| names.join(", ") + ",")
}

/// Whether a line is the name of a command with its description in a second column.
pub(super) fn starts_with_command(trimmed: &str) -> bool {
    let (term, text) = split_columns(trimmed);
    text.is_some() && is_command_word(term)
}

/// Whether a line is a command, perhaps with other names, with its description in a second column: `remove, rm  Remove it`.
pub(super) fn lists_commands(line: &str) -> bool {
    let (term, text) = split_columns(line.trim());
    text.is_some() && term.split(", ").all(is_command_word)
}

/// Whether an indented line is a heading rather than an entry: `Output options:`.
fn is_title(trimmed: &str) -> bool {
    let title = trimmed.trim_end_matches(':');
    title.starts_with(|c: char| c.is_ascii_uppercase()) && !title.contains("  ") && title.split(' ').count() <= 5
}

/// The section of a heading, by its words.
pub(super) fn section(title: &str) -> Section {
    let title = title.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| title.contains(word));

    if has(&[
        "example",
        "environment",
        "see also",
        "learn more",
        "topics",
        "author",
        "exit status",
        "exit code",
        "files:",
        "alias",
        "copyright",
        "reporting bugs",
        "report bugs",
        "notes",
        "resources:",
    ]) && !has(&["option"])
        && !title.starts_with("these are")
        && !title.contains("(see also")
    {
        Section::Prose
    } else if has(&["synopsis"]) || title == "syntax" {
        Section::Usage
    } else if has(&["command", "subcommand"]) && !has(&["option", "flag"]) {
        Section::Commands
    } else if has(&["option", "flag", "switches"]) {
        let is_valued = has(&["take argument", "take an argument", "take a value", "with argument", "with value"]);
        if is_valued { Section::Valued } else { Section::Options }
    } else if has(&["argument", "positional", "operands", "parameters"]) {
        Section::Operands
    } else {
        Section::Other
    }
}

pub(super) fn starts_option(trimmed: &str) -> bool {
    let rest = trimmed.trim_start_matches('-');
    let dashes = trimmed.len() - rest.len();
    // The end of `(as with\n-9).`
    let is_closed = rest.split(' ').next().is_some_and(|word| word.contains(')') && !word.contains('('));
    !is_closed
        && matches!(dashes, 1 | 2)
        && rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "[<?#@".contains(c))
}

/// Whether a line is an option with its description in a second column, or with several spellings.
pub(super) fn is_listed_option(trimmed: &str) -> bool {
    let is_spelled = || trimmed.starts_with("--") && trimmed.contains(", -");
    starts_option(trimmed) && (split_columns(trimmed).1.is_some() || is_spelled())
}

/// Whether a line may start an entry of a section.
pub(super) fn starts_entry(trimmed: &str, section: Section) -> bool {
    match section {
        Section::Operands | Section::Commands => true,
        Section::Other if starts_option(trimmed) => true,
        Section::Other => {
            let (term, text) = split_columns(trimmed);
            text.is_some() && !term.contains(' ')
        }
        _ => starts_option(trimmed),
    }
}

/// Options of one letter that share a line, each with a word of description: `-c Create  -r Add/Replace`.
pub(super) fn options_in_columns(trimmed: &str) -> Option<Vec<(&str, &str)>> {
    let cells = trimmed.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    let cells: Vec<(&str, &str)> = cells.map(|cell| cell.split_once(' ')).collect::<Option<_>>()?;
    let is_letter = |term: &str| starts_option(term) && term.chars().count() == 2;
    let is_text = |text: &str| text.starts_with(char::is_uppercase) && text.contains(char::is_lowercase);
    let is_own = |(term, text): &(&str, &str)| is_letter(term) && is_text(text);
    (cells.len() > 1 && cells.iter().all(is_own)).then_some(cells)
}

/// Whether a column holds the name of a value alone: `#`, `<host>`, `FILE`.
fn is_value_name(column: &str) -> bool {
    column == "#"
        || is_braced(column)
        || column.starts_with('<') && column.ends_with('>') && !column.contains("> ")
        || column.len() > 1
            && column.len() <= 12
            && column.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// Whether a text is a choice in braces alone: `{on|off}`.
fn is_braced(text: &str) -> bool {
    text.starts_with('{') && text.find('}') == Some(text.len() - 1) && text.contains('|')
}

/// Whether a column between a lone option and its description holds a plain name: `-n  name  sets the name`.
fn is_plain_name(line: &str, column: &str) -> bool {
    let is_lone = line.split("  ").next().is_some_and(|term| !term.contains(' '));
    let is_mark =
        ["yes", "no", "true", "false", "bool", "boolean", "flag", "none", "default", "switch"].contains(&column);
    is_lone
        && !is_mark
        && column.len() > 2
        && column.len() <= 12
        && column.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Writes alternatives behind an option in braces, in as many bytes: `md5 |(sha1)| sha256`.
///
/// The one in brackets is the default.
pub(super) fn with_braces(trimmed: &str) -> Option<String> {
    let (term, rest) = trimmed.split_once("  ").filter(|(term, _)| starts_option(term) && !term.contains(' '))?;
    let rest = rest.trim_start();
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_()".contains(c);
    let mut width = 0;
    let mut words = Vec::new();
    loop {
        let next = rest[width..].trim_start_matches([' ', '|']);
        let end = next.find(|c| !is_word(c)).unwrap_or(next.len());
        words.push(next[..end].trim_matches(['(', ')']));
        width = rest.len() - next.len() + end;
        if !next[end..].trim_start().starts_with('|') {
            break;
        }
    }
    if !rest[..width].contains('(') || words.len() < 2 || words.iter().any(|word| word.is_empty()) {
        return None;
    }
    let before = trimmed.len() - rest.len();
    let braced = format!("{{{}}}", words.join("|"));
    Some(format!("{term:before$}{braced:width$}{}", &rest[width..]).trim_end().to_owned())
}

/// Splits a line into two columns at two or more spaces.
pub(super) fn split_columns(line: &str) -> (&str, Option<&str>) {
    let mut from = 0;
    while let Some(at) = line[from..].find("  ").map(|at| from + at) {
        let rest = line[at..].trim_start();
        // `-x,  --long  text` has its spellings in columns too.
        let is_spelling = starts_option(line) && starts_option(rest) && !rest.starts_with("- ");
        // `--port      #         the port` has its value in a column of its own.
        let is_value = starts_option(line)
            && (is_braced(rest)
                || rest.split_once("  ").is_some_and(|(value, _)| is_value_name(value) || is_plain_name(line, value)));
        if !is_spelling && !is_value {
            return (&line[..at], Some(rest));
        }
        from = line.len() - rest.len();
    }

    let colon = starts_option(line).then(|| colon_of(line)).flatten();
    colon.map_or((line, None), |(term, text)| (term, Some(text)))
}

/// Splits an option from its description at a colon: `-g directives : set them`, `--pot=<pots>: the pots`.
fn colon_of(line: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, character) in line.char_indices() {
        match character {
            '<' | '[' | '{' | '(' => depth += 1,
            '>' | ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && line[at + 1..].starts_with(' ') => {
                let (term, text) = (line[..at].trim_end(), line[at + 1..].trim_start());
                // A sentence that starts with an option has more words before its colon.
                return (term.split(' ').count() <= 3 && !text.is_empty()).then_some((term, text));
            }
            _ => {}
        }
    }
    None
}
