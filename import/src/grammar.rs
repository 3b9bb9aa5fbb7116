//! The brackets, bars and dots of usage lines.

/// The most levels of nested brackets.
const MAX_DEPTH: usize = 12;

/// A piece of a usage line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UsageItem {
    /// Text outside of angle brackets.
    Word(String),
    /// `<text>`.
    Angle(String),
    /// `-f`, `--flag`, `--flag=<value>`.
    Flag(String),
    /// `{a,b}`.
    Choice(String),
    /// `[…]` or `(…)`.
    Group { optional: bool, alternatives: Vec<Vec<UsageItem>> },
    /// `...` behind an item.
    Dots,
}

/// The items of a usage line; bars outside brackets part nothing.
pub(super) fn items(usage: &str) -> Vec<UsageItem> {
    Parser { rest: usage }.sequence(0).into_iter().flatten().collect()
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    /// Items up to a closing bracket or the end, by alternatives.
    fn sequence(&mut self, depth: usize) -> Vec<Vec<UsageItem>> {
        let mut all = vec![Vec::new()];
        loop {
            self.rest = self.rest.trim_start();
            let Some(first) = self.rest.chars().next() else { return all };
            match first {
                ']' | ')' | '}' => {
                    self.rest = &self.rest[1..];
                    if depth > 0 {
                        return all;
                    }
                }
                '|' => {
                    self.rest = &self.rest[1..];
                    all.push(Vec::new());
                }
                '[' | '(' | '{' if depth < MAX_DEPTH && !self.is_choice() && !self.is_part() => {
                    self.rest = &self.rest[1..];
                    let group = UsageItem::Group { optional: first == '[', alternatives: self.sequence(depth + 1) };
                    push(&mut all, group);
                }
                _ => {
                    let item = self.item(first);
                    push(&mut all, item);
                }
            }
        }
    }

    /// Whether `{a,b}` follows, and not `{<a> | <b>}` or `{[-a] | -b}`.
    fn is_choice(&self) -> bool {
        let inner = self.rest.split('}').next().unwrap_or_default();
        let Some(start) = inner.strip_prefix('{').map(str::trim_start) else { return false };
        !inner.contains('<') && !start.starts_with('-') && !start.starts_with("[-")
    }

    /// Whether brackets hold a part of a word: `[HOST:]PORT`.
    fn is_part(&self) -> bool {
        let Some((inner, after)) = self.rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
            return false;
        };
        let ends_in_mark = inner.ends_with([':', '@', '/', '=', '+', '-', '.']) && !inner.ends_with("..");
        !inner.contains(['[', '(', '{', ' ', '|', '<']) && ends_in_mark && after.starts_with(char::is_alphanumeric)
    }

    fn item(&mut self, first: char) -> UsageItem {
        if self.rest.starts_with("...") || first == '…' {
            self.rest = self.rest.trim_start_matches(['.', '…']);
            return UsageItem::Dots;
        }

        if let (Some(close), true) = (self.rest.find('}'), first == '{') {
            let inner = self.take(close + 1);
            return UsageItem::Choice(inner[1..close].to_owned());
        }

        if let (Some(close), true) = (matching(self.rest), first == '<') {
            let inner = self.take(close + 1);
            // `<file>|<directory>`: one operand, named after its first form.
            while let Some(other) = self.rest.strip_prefix("|<").and_then(|rest| rest.find('>')) {
                self.take(other + "|<>".len());
            }
            let name = inner[1..close].to_owned();
            // `<NAME|--file <FILE>>`: an option may stand in place of the operand.
            return match name.split_once("|-") {
                Some((name, _)) => {
                    let alternatives = vec![vec![UsageItem::Angle(name.to_owned())]];
                    UsageItem::Group { optional: true, alternatives }
                }
                None => UsageItem::Angle(name),
            };
        }

        let end = self.word_end(first == '-');
        let word = self.take(end.max(first.len_utf8()));

        if word.starts_with('-') && word.len() > 1 && word != "--" {
            UsageItem::Flag(word)
        } else {
            UsageItem::Word(word)
        }
    }

    /// Where a word ends. Brackets that follow without a space belong to it: `TYPE[.VERSION]`, `--mirror=<fetch|push>`.
    fn word_end(&self, is_flag: bool) -> usize {
        let mut depth = 0_usize;
        for (at, character) in self.rest.char_indices() {
            match character {
                ' ' | '|' | ']' | '>' | ')' | '}' if depth == 0 => return at,
                // What follows without a space belongs to the word: `TYPE[.GROUP]`.
                '[' | '<' | '(' | '{' if at > 0 || self.is_part() => depth += 1,
                ']' | '>' | ')' | '}' => depth -= 1,
                '.' if depth == 0 && self.rest[at..].starts_with("...") && !is_flag => return at,
                _ => {}
            }
        }

        self.rest.len()
    }

    fn take(&mut self, length: usize) -> String {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken.to_owned()
    }
}

/// Where the angle bracket at the start of a text is closed.
fn matching(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            '>' if depth <= 1 => return Some(at),
            '>' => depth -= 1,
            _ => {}
        }
    }
    text.find('>')
}

fn push(all: &mut [Vec<UsageItem>], item: UsageItem) {
    if let Some(last) = all.last_mut() {
        last.push(item);
    }
}
