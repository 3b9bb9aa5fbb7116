//! The layout of a help page: sections, and the entries in them.

use crate::beside;
use crate::command_word::is_command_word;
pub(super) use crate::page_line::Section;
use crate::page_line::{
    bracketed_option, commands_behind, heading, indent_of, is_balanced, is_listed_option, lists_commands,
    options_in_columns, split_columns, starts_entry, starts_option, starts_with_command, usage_start, with_braces,
    without_number,
};

/// How many columns behind its option the text of a manual starts.
///
/// Source: man(7) of groff, whose paragraphs are indented by 7.2n.
const TAG_WIDTH: usize = 7;

/// How many words of a subcommand stand before its options in a usage line without a heading.
const MAX_COMMAND_WORDS: usize = 3;

/// The length from which on a line of text is one that goes on in the next line.
const FULL_LINE: usize = 65;

/// An entry of a section, with its description: an option, operand or command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListEntry {
    pub(super) section: Section,
    /// The left column.
    pub(super) term: String,
    /// The right column, or the lines below, unindented.
    pub(super) text: Vec<String>,
}

/// A page in its parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// Usage lines, each with its continuation.
    pub(super) usages: Vec<String>,
    pub(super) entries: Vec<ListEntry>,
    /// Lines above the first heading, and those of a section DESCRIPTION.
    pub(super) prose: Vec<String>,
}

/// The current entry.
struct OpenSection {
    entry: ListEntry,
    indent: usize,
    /// Where its text starts, once that is known.
    column: Option<usize>,
}

/// Takes a clean page apart.
pub(super) fn layout(text: &str) -> Layout {
    let out = Layout::default();
    let mut reader = PageReader {
        out,
        open: None,
        column: None,
        section: Section::Other,
        seen_heading: false,
        next_indent: 0,
        next_lists: false,
    };
    // One character for three dots.
    let text = beside::parted(&without_underlines(&text.replace('…', "...")));
    let mut lines = text.iter().map(String::as_str);
    while let Some(line) = lines.next() {
        let next = lines.clone().find(|line| !line.trim().is_empty()).unwrap_or_default();
        reader.next_lists = lists_commands(next);
        reader.line(line, indent_of(next));
    }

    reader.close();
    reader.out.find_usages();
    reader.out.part_usages();
    reader.out
}

/// Leaves out what leads to an option, and replaces the dots that lead from an option to its description by spaces: `-v ........ say more`.
fn without_leader(line: &str) -> String {
    let is_leader =
        |word: &str| word.chars().count() > 3 && (word.chars().all(|c| c == '.') || word.chars().all(|c| c == '·'));
    // `[!] -p proto` may be negated.
    if let Some(rest) = line.strip_prefix("[!] ") {
        return rest.to_owned();
    }
    match line.split(' ').find(|word| is_leader(word)) {
        Some(leader) => line.replacen(leader, &" ".repeat(leader.chars().count()), 1),
        None => line.to_owned(),
    }
}

/// Leaves out lines that are drawn, and marks the headings that they underline with a colon.
fn without_underlines(text: &str) -> Vec<String> {
    let is_drawn = |line: &str| line.chars().count() > 2 && line.chars().all(|c| "=-~─━═".contains(c));
    let is_title = |line: &str| line.starts_with(|c: char| c.is_alphabetic()) && line.len() <= 40;
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        if !is_drawn(line.trim()) {
            lines.push(without_leader(line));
        } else if let Some(title) = lines.last_mut().filter(|title| is_title(title) && !title.ends_with([':', '.'])) {
            title.push(':');
        }
    }
    lines
}

impl Layout {
    /// Parts usage lines that share one: `prog [file] | prog <command>`.
    fn part_usages(&mut self) {
        let part = |usage: String| {
            let program = usage.split(' ').next().unwrap_or_default().to_owned();
            let mark = format!(" | {program} ");
            let parts: Vec<String> = usage.split(&mark).map(str::to_owned).collect();
            let rest: Vec<String> = parts[1..].iter().map(|rest| format!("{program} {rest}")).collect();
            [parts[0].clone()].into_iter().chain(rest)
        };
        self.usages = std::mem::take(&mut self.usages).into_iter().flat_map(part).collect();
    }

    /// Finds usage lines without a heading: `prog [options] FILE`.
    fn find_usages(&mut self) {
        if self.usages.is_empty() {
            let is_usage = |line: &mut String| {
                // `prog sack mend [OPTION]...`
                let mut words = line.split_whitespace().skip(1).take(MAX_COMMAND_WORDS + 1);
                words.find(|word| !is_command_word(word)).is_some_and(|word| {
                    let word = word.trim_end_matches('.').to_ascii_lowercase();
                    let places = ["[options]", "[option]", "[opts]", "[flags]", "[subcommand]", "[command]"];
                    places.contains(&word.as_str())
                })
            };
            self.usages = self.prose.extract_if(.., is_usage).collect();
        }
        if self.usages.is_empty() {
            let name = self.frequent_start();
            let is_own = |line: &mut String| name.as_deref().is_some_and(|name| starts_usage(line, name));
            self.usages = self.prose.extract_if(.., is_own).collect();
        }
    }
}

impl Layout {
    /// Finds the usage line of the command `words` without a heading, with which its page starts: `prog sack [-a] NAME`.
    pub(super) fn find_usage_of(&mut self, words: &[String]) {
        let Some(at) = self.prose.iter().position(|line| !line.is_empty()) else { return };
        let mut line = self.prose[at].split_whitespace().skip(1);
        let is_own = !words.is_empty() && words.iter().all(|own| line.next() == Some(own));
        let mut is_shaped = || {
            line.next().is_some_and(|next| {
                next.starts_with(['[', '<', '-']) || next.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'.')
            })
        };
        if self.usages.is_empty() && is_own && is_shaped() {
            self.usages.push(self.prose.remove(at));
        }
    }
}

impl Layout {
    /// The word that three lines at least start with, each with an option or a bracket behind it: the program.
    fn frequent_start(&self) -> Option<String> {
        let mut names = self.prose.iter().filter_map(|line| line.split_whitespace().next());
        let is_frequent = |name: &&str| self.prose.iter().filter(|line| starts_usage(line, name)).count() > 2;
        names.find(is_frequent).map(str::to_owned)
    }
}

/// Adds a line to a usage line, which may break inside of `[--sack=<sack>]`.
fn go_on(usage: &mut String, line: &str) {
    if !usage.ends_with(['=', '[']) {
        usage.push(' ');
    }
    usage.push_str(line);
}

/// Whether a line below a usage line says what that does, rather than to go on: plain words, four at least.
fn is_description(trimmed: &str) -> bool {
    let is_plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphabetic() || b"/,.'".contains(&byte));
    let has_sentence = trimmed.bytes().filter(u8::is_ascii_uppercase).count() < 2;
    trimmed.split(' ').count() > 3
        && trimmed.split(' ').all(is_plain)
        && has_sentence
        && !trimmed.contains("..")
        && !trimmed.starts_with("or ")
}

/// Whether a line is the call of a program: `prog -x FILE`, `prog [FILE]`.
fn starts_usage(line: &str, name: &str) -> bool {
    let rest = line.trim_start().strip_prefix(name).and_then(|rest| rest.strip_prefix(' '));
    name.starts_with(|c: char| c.is_ascii_lowercase()) && rest.is_some_and(|rest| rest.starts_with(['[', '<', '-']))
}

struct PageReader {
    out: Layout,
    open: Option<OpenSection>,
    /// Where the text of the last entry in two columns starts.
    column: Option<usize>,
    section: Section,
    seen_heading: bool,
    /// The indentation of the next line that is not empty.
    next_indent: usize,
    /// Whether that line is a command with its description.
    next_lists: bool,
}

impl PageReader {
    /// Reads a line; `next_indent` is the indentation of the next line that is not empty.
    fn line(&mut self, line: &str, next_indent: usize) {
        let trimmed = line.trim();
        self.next_indent = next_indent;
        if trimmed.is_empty() {
            if self.section == Section::Usage && !self.out.usages.is_empty() {
                self.section = Section::Other;
            }
            self.text_line("");
            return;
        }

        let indent = indent_of(line);
        if let Some(rest) = usage_start(trimmed, indent) {
            let rest = without_number(rest.strip_prefix("$ ").unwrap_or(rest));
            self.close();
            self.section = Section::Usage;
            self.seen_heading = true;
            if !rest.is_empty() {
                self.out.usages.push(rest.to_owned());
            }
            return;
        }

        // "Create an image.  Usage:"
        let is_before = self.section == Section::Other || self.section == Section::Usage && self.out.usages.is_empty();
        if let Some(about) = trimmed.strip_suffix("Usage:").filter(|about| is_before && !about.is_empty()) {
            self.close();
            self.out.prose.push(about.trim().to_owned());
            self.section = Section::Usage;
            self.seen_heading = true;
            return;
        }

        if let Some(names) = commands_behind(trimmed) {
            self.close();
            self.section = Section::Commands;
            self.seen_heading = true;
            let entry = ListEntry { section: self.section, term: names, text: Vec::new() };
            self.open = Some(OpenSection { entry, indent, column: None });
            return;
        }

        if let Some(section) = heading(trimmed, indent, next_indent, self.seen_heading) {
            self.close();
            self.section = section;
            self.seen_heading = true;
            return;
        }

        match self.section {
            Section::Usage => self.usage(line, trimmed, indent),
            // Headings mislead; a line in two columns is an option all the same.
            Section::Prose if !is_listed_option(trimmed) => {}
            _ => self.body(line, trimmed, indent),
        }
    }

    fn usage(&mut self, line: &str, trimmed: &str, indent: usize) {
        // The line before it ends inside of brackets.
        let is_inside = trimmed.contains([']', ')', '}']) && split_columns(trimmed).1.is_none();
        if let Some(last) = self.out.usages.last_mut().filter(|last| is_inside && !is_balanced(last)) {
            return go_on(last, trimmed);
        }

        // A list of options right under the usage line.
        let has_placeholder = || self.out.usages.iter().any(|usage| usage.to_ascii_lowercase().contains("[option"));
        if starts_option(trimmed) && (split_columns(trimmed).1.is_some() || has_placeholder()) {
            self.section = Section::Options;
            return self.body(line, trimmed, indent);
        }

        if let Some((term, text)) = bracketed_option(trimmed) {
            let entry = ListEntry { section: Section::Options, term: term.to_owned(), text: vec![text.to_owned()] };
            self.out.entries.push(entry);
            return;
        }

        let trimmed = without_number(trimmed.strip_prefix("$ ").unwrap_or(trimmed));
        // A list right under a usage line that has ended: `-a makes an array`, `word is a key`.
        let has_ended = self.out.usages.last().is_some_and(|usage| is_balanced(usage) && usage.contains('['));
        let is_prose = !trimmed.contains(['[', '<', '{', '|', '(']) && trimmed.split_whitespace().count() > 2;
        if has_ended && is_prose && indent > 0 && !trimmed.contains("...") && !trimmed.starts_with("or") {
            if starts_option(trimmed) {
                self.section = Section::Options;
                return self.body(line, trimmed, indent);
            }
            if trimmed.split_whitespace().all(|word| !word.starts_with('-')) && !self.is_own(trimmed) {
                return;
            }
        }

        if indent > 0 && is_description(trimmed) && !self.is_own(trimmed) {
            return;
        }

        let first_word = self.out.usages.last().and_then(|usage| usage.split_whitespace().next()).map(str::to_owned);
        let own = trimmed.split_whitespace().next();
        let other = ["or:", "or ", "OR "].iter().find_map(|start| trimmed.strip_prefix(start)).map(str::trim);
        if let Some(rest) =
            other.filter(|rest| trimmed.starts_with("or:") || rest.split(' ').next() == first_word.as_deref())
        {
            self.out.usages.push(rest.to_owned());
        } else if first_word.is_none() || own == first_word.as_deref() {
            self.out.usages.push(trimmed.to_owned());
        } else if indent == 0 {
            // Text right under the usage line.
            self.section = Section::Other;
            self.out.prose.push(trimmed.to_owned());
        } else if let Some(last) = self.out.usages.last_mut() {
            go_on(last, trimmed);
        }
    }

    /// Whether a line starts as the usage lines do.
    fn is_own(&self, trimmed: &str) -> bool {
        let first = |text: &str| text.split_whitespace().next().map(str::to_owned);
        self.out.usages.iter().any(|usage| first(usage) == first(trimmed))
    }

    /// Whether a line is a title in a list of commands: `image:` or `-- Images` above deeper ones.
    fn is_group(&self, trimmed: &str, indent: usize) -> bool {
        let title = trimmed.strip_suffix(':').or_else(|| trimmed.strip_prefix("-- ")).filter(|title| !title.is_empty());
        let is_word = title.is_some_and(|title| title.split(' ').count() < 4 && !title.starts_with('-'));
        self.section == Section::Commands && self.next_lists && self.next_indent > indent && is_word
    }

    fn body(&mut self, line: &str, trimmed: &str, indent: usize) {
        if self.is_group(trimmed, indent) {
            return self.close();
        }
        if let Some(cells) = options_in_columns(trimmed) {
            self.close();
            let entry = |(term, text): (&str, &str)| ListEntry {
                section: self.section,
                term: term.to_owned(),
                text: vec![text.to_owned()],
            };
            self.out.entries.extend(cells.into_iter().map(entry));
            return;
        }
        if let Some(open) = &mut self.open {
            let starts_another = starts_option(trimmed) && indent <= open.indent;
            // ` cache` above `  cache clear  Clear it`: a title of commands of two words.
            let is_titled = open.entry.section == Section::Commands
                && open.column.is_none()
                && trimmed.strip_prefix(open.entry.term.as_str()).is_some_and(|rest| rest.starts_with(' '))
                && split_columns(trimmed).1.is_some();
            let is_text = !starts_another
                && !is_titled
                && match open.column {
                    // Bullets of a text start with a dash too.
                    Some(column) => {
                        indent + 2 >= column || indent > open.indent && !starts_entry(trimmed, open.entry.section)
                    }
                    None if starts_option(trimmed) => {
                        // A long option below `-x, --long`.
                        let is_aligned = indent == open.indent + 4 && open.entry.term[2..].starts_with(", --");
                        indent >= open.indent + 4 && !(is_aligned && trimmed.starts_with("--"))
                    }
                    None => indent > open.indent,
                };
            if is_text {
                open.column.get_or_insert(indent);
                open.entry.text.push(trimmed.to_owned());
                return;
            }
            self.close();
        }

        // A sentence goes on with an option at the start of a line.
        let is_text = indent == 0
            && self.section == Section::Other
            && self.out.entries.is_empty()
            && split_columns(trimmed).1.is_none()
            && self.out.prose.last().is_some_and(|line| !line.is_empty() && !line.ends_with(['.', ':']));
        if is_text {
            self.out.prose.push(trimmed.to_owned());
            return;
        }

        let braced = with_braces(trimmed);
        let trimmed = braced.as_deref().unwrap_or(trimmed);
        let is_command = self.section == Section::Commands && starts_with_command(trimmed);
        if starts_option(trimmed) || is_command || (indent > 0 && starts_entry(trimmed, self.section)) {
            let (mut term, mut text) = split_columns(trimmed);
            if let (Section::Commands, None, Some((name, about))) = (self.section, text, trimmed.split_once(" - ")) {
                (term, text) = (name, Some(about));
            }
            if let Some(columns) = self.hanging(line, text).filter(|_| starts_option(trimmed)) {
                (term, text) = columns;
            }
            // The longest name leaves one space before the column of the others.
            if let (Section::Commands, None, Some((name, about))) = (self.section, text, trimmed.split_once(' '))
                && self.column == Some(line.len() - about.len())
            {
                (term, text) = (name, Some(about));
            }
            let column = text.is_some().then(|| line.len() - text.unwrap_or_default().len());
            self.column = column.or(self.column);
            let text =
                text.map(|text| ["- ", ": ", "= "].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text));
            let text = text.map(str::to_owned).into_iter().collect();
            let entry = ListEntry { section: self.section, term: term.to_owned(), text };
            self.open = Some(OpenSection { entry, indent, column });
        } else if self.out.entries.is_empty() && (!self.seen_heading || self.section == Section::Other) {
            self.out.prose.push(trimmed.to_owned());
        }
    }

    /// Splits a line of a manual where its text starts, if the option leaves one space before that: `-T kind Set it to kind.`
    fn hanging<'a>(&self, line: &'a str, text: Option<&str>) -> Option<(&'a str, Option<&'a str>)> {
        let indent = indent_of(line);
        let column = indent + TAG_WIDTH;
        let is_before = text.is_none_or(|text| line.len() - text.len() > column);
        // A short line is an option with a long value, above its text.
        if self.next_indent != column || !is_before || line.len() < FULL_LINE {
            return None;
        }
        let (term, rest) = line.split_at_checked(column)?;
        let term = term.strip_suffix(' ').filter(|term| !term.ends_with(' '))?;
        (!rest.starts_with(' ')).then_some((&term[indent..], Some(rest)))
    }

    fn text_line(&mut self, line: &str) {
        match &mut self.open {
            Some(open) => open.entry.text.push(line.to_owned()),
            None if self.section == Section::Other && self.out.entries.is_empty() => {
                self.out.prose.push(line.to_owned());
            }
            None => {}
        }
    }

    fn close(&mut self) {
        if let Some(mut open) = self.open.take() {
            while open.entry.text.last().is_some_and(String::is_empty) {
                open.entry.text.pop();
            }
            self.out.entries.push(open.entry);
        }
    }
}
