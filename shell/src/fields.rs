//! Fields of a command: words after expansion, each with where its characters come from.

/// The text of an expansion that is not known yet. It can be read as a word, a path and a number.
pub const PLACEHOLDER: &str = "1";

/// Where a field comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The line has every character of it.
    Literal,
    /// It starts with characters of the line, and others come from an expansion.
    Mixed,
    /// Its first character comes from an expansion.
    Value,
    /// A glob found it.
    Path,
}

/// A word after expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The text.
    pub text: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether a part of it will be known once the line runs, and [`PLACEHOLDER`] stands for it.
    pub is_open: bool,
    /// The place of its word among the words.
    pub from: usize,
}

/// A character with where it comes from.
#[derive(Clone, Copy)]
pub(crate) struct Character {
    pub(crate) c: char,
    pub(crate) is_quoted: bool,
    pub(crate) is_value: bool,
}

/// Fields as they grow.
#[derive(Default)]
pub(crate) struct Fields {
    pub(crate) done: Vec<(Vec<Character>, bool)>,
    pub(crate) open: Vec<Character>,
    /// Whether quotes make a field even if nothing stands in them.
    pub(crate) has_quotes: bool,
    pub(crate) is_open: bool,
}

impl Fields {
    /// Ends the open field, if there is one.
    pub(crate) fn end(&mut self) {
        if !self.open.is_empty() || self.has_quotes {
            self.done.push((std::mem::take(&mut self.open), self.is_open));
        }
        (self.has_quotes, self.is_open) = (false, false);
    }

    /// Adds characters of the line.
    pub(crate) fn literal(&mut self, text: &str, is_quoted: bool) {
        self.open.extend(text.chars().map(|c| Character { c, is_quoted, is_value: false }));
    }

    /// Adds values, each of which starts a field.
    pub(crate) fn several(&mut self, values: &[String], is_quoted: bool) {
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.end();
            }
            self.has_quotes |= is_quoted;
            self.value(Some(value), is_quoted);
        }
    }

    /// Adds a value. Outside of quotes it is split at white space.
    pub(crate) fn value(&mut self, known: Option<&str>, is_quoted: bool) {
        self.is_open |= known.is_none();
        for c in known.unwrap_or(PLACEHOLDER).chars() {
            if !is_quoted && matches!(c, ' ' | '\t' | '\n') {
                self.end();
            } else {
                self.open.push(Character { c, is_quoted, is_value: true });
            }
        }
    }
}

/// Whether a field is a pattern of paths: `[` alone is none.
pub(crate) fn is_glob(characters: &[Character]) -> bool {
    let mut plain = characters.iter().filter(|one| !one.is_quoted).map(|one| one.c);
    match plain.find(|c| matches!(c, '*' | '?' | '[')) {
        Some('[') => plain.any(|c| matches!(c, '*' | '?' | ']')),
        found => found.is_some(),
    }
}

/// Where a field comes from.
pub(crate) fn origin(characters: &[Character]) -> Origin {
    match characters.first() {
        Some(first) if first.is_value => Origin::Value,
        _ if characters.iter().any(|one| one.is_value) => Origin::Mixed,
        _ => Origin::Literal,
    }
}
