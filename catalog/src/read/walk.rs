//! Typed access to the nodes of a tree, with a diagnostic for each unexpected node.
//!
//! Knows the shapes of YAML, but not the config format.

use std::collections::HashMap;
use std::str::FromStr;

use strum::VariantNames;

use crate::diagnostic::{Code, Diagnostic};
use crate::read::yaml::{Meaning, Node, NodeKind, shorten};
use crate::source::{Source, Span, Spanned};
use crate::suggest::did_you_mean;

/// The prefix of keys that are ignored everywhere.
const EXTENSION_PREFIX: &str = "x-";

/// Reads nodes and reports those that cannot be read.
pub(crate) struct Walker<'a> {
    source: &'a Source,
    out: &'a mut Vec<Diagnostic>,
}

/// The fields of one mapping that have not been taken yet.
pub(crate) struct Fields<'n> {
    what: &'static str,
    span: Span,
    /// From the first key to the end of the last value. For an alias, this is the range of its target.
    extent: Span,
    truncated: bool,
    /// The keys that the mapping can have.
    keys: &'static [&'static str],
    /// Keys that a reported unknown key probably means. They are not reported as missing too.
    misspelt: Vec<&'static str>,
    entries: Vec<(&'n str, &'n Node)>,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(source: &'a Source, out: &'a mut Vec<Diagnostic>) -> Self {
        Self { source, out }
    }

    pub(crate) fn source(&self) -> &'a Source {
        self.source
    }

    /// Shortens a span to its first line.
    pub(crate) fn first_line(&self, span: Span) -> Span {
        first_line(self.source, span)
    }

    pub(crate) fn report(&mut self, code: Code, span: Span, message: String, help: &str) {
        self.out.push(self.source.diagnostic(code, span, message).help(help));
    }

    pub(crate) fn wrong_type(&mut self, node: &Node, what: &str, expected: &str, help: &str) {
        let what = if what.contains(' ') { what.to_owned() } else { format!("`{what}`") };
        let message = format!("{what} must be {expected}, found {}", node.describe());
        let found = self.source.diagnostic(Code::WrongType, first_line(self.source, node.span), message);
        self.out.push(found.label(format!("expected {expected}")).help(help));
    }

    /// Reads a mapping whose keys are all among `keys`; `what` names it in messages.
    pub(crate) fn mapping<'n>(
        &mut self,
        node: &'n Node,
        what: &'static str,
        keys: &'static [&'static str],
    ) -> Option<Fields<'n>> {
        let NodeKind::Mapping(mapping) = &node.kind else {
            let help = format!("write `key: value` lines; the keys of {what} are {}", keys.join(", "));
            self.wrong_type(node, what, "a mapping", &help);
            return None;
        };

        let entries = self.unique_entries(&mapping.entries);
        let mut misspelt = Vec::new();
        for (key, span, _) in &entries {
            if !keys.contains(key) && !key.starts_with(EXTENSION_PREFIX) {
                misspelt.extend(self.unknown_key(key, *span, what, keys));
            }
        }

        Some(Fields {
            what,
            span: node.span,
            extent: match mapping.entries[..mapping.own].first().zip(mapping.entries[..mapping.own].last()) {
                Some(((first, _), (_, last))) => Span { start: first.span.start, end: last.span.end },
                None => node.span,
            },
            truncated: mapping.truncated,
            keys,
            misspelt,
            entries: entries.into_iter().map(|(key, _, value)| (key, value)).collect(),
        })
    }

    /// Reports the key; returns the key that was probably meant.
    fn unknown_key(&mut self, key: &str, span: Span, what: &str, keys: &[&'static str]) -> Option<&'static str> {
        let message = format!("unknown key `{}` in {what}", shorten(key));
        let extended = |known: &&str| key.strip_prefix(*known).is_some_and(|rest| rest.starts_with('_'));
        let near = did_you_mean(key, keys.iter().copied()).or_else(|| keys.iter().copied().find(extended));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "the keys of {what} are {}; start the key with `{EXTENSION_PREFIX}` to have it ignored",
                keys.join(", ")
            ),
        };
        self.out.push(self.source.diagnostic(Code::UnknownKey, span, message).help(help));
        near
    }

    /// Returns the entries with string keys. Repeated keys are reported, and only the first counts.
    fn unique_entries<'n>(&mut self, entries: &'n [(Node, Node)]) -> Vec<(&'n str, Span, &'n Node)> {
        let mut unique: Vec<(&str, Span, &Node)> = Vec::with_capacity(entries.len());
        let mut seen: HashMap<&str, Span> = HashMap::with_capacity(entries.len());
        for (key, value) in entries {
            let NodeKind::Scalar(scalar) = &key.kind else {
                self.wrong_type(key, "a key", "a string", "write a plain word before the colon");
                continue;
            };
            let name = scalar.text.as_str();
            if let Some(first) = seen.get(name) {
                let message = format!("key `{}` stands twice", shorten(name));
                let duplicate = self.source.diagnostic(Code::DuplicateKey, key.span, message);
                self.out.push(duplicate.label("again here").also(*first, "first here").help("remove one of the two"));
                continue;
            }
            seen.insert(name, key.span);
            unique.push((name, key.span, value));
        }

        unique
    }

    pub(crate) fn string(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
        if let NodeKind::Scalar(scalar) = &node.kind {
            match scalar.meaning() {
                Meaning::Str(text) => return Some(Spanned { value: text.to_owned(), span: node.span }),
                Meaning::Null => {
                    self.wrong_type(node, what, "a string", "write a value, or \"\" for an empty text");
                    return None;
                }
                _ => {
                    self.wrong_type(node, what, "a string", &format!("quote it: \"{}\"", scalar.text));
                    return None;
                }
            }
        }

        self.wrong_type(node, what, "a string", "write one text, in quotes if it holds special characters");
        None
    }

    /// Reads a boolean, without its location.
    pub(crate) fn flag(&mut self, node: &Node, what: &str) -> Option<bool> {
        self.boolean(node, what).map(|value| value.value)
    }

    fn boolean(&mut self, node: &Node, what: &str) -> Option<Spanned<bool>> {
        if let NodeKind::Scalar(scalar) = &node.kind
            && let Meaning::Bool(value) = scalar.meaning()
        {
            return Some(Spanned { value, span: node.span });
        }

        self.wrong_type(
            node,
            what,
            "a boolean",
            "write true or false, without quotes: YAML 1.2 knows no other booleans",
        );
        None
    }

    /// Reads a key of a mapping that is a whole number.
    pub(crate) fn integer_key(&mut self, Spanned { value, span }: Spanned<String>, what: &str) -> Option<Spanned<i64>> {
        if let Ok(value) = value.parse() {
            return Some(Spanned { value, span });
        }
        let message = format!("{what} must be a whole number, found `{}`", shorten(&value));
        self.report(Code::WrongType, span, message, "write digits, such as 1");
        None
    }

    fn number(&mut self, node: &Node, what: &str) -> Option<Spanned<f64>> {
        if let NodeKind::Scalar(scalar) = &node.kind {
            match scalar.meaning() {
                #[expect(clippy::cast_precision_loss, reason = "seconds need no 64-bit precision")]
                Meaning::Int(value) => return Some(Spanned { value: value as f64, span: node.span }),
                Meaning::Float(value) => return Some(Spanned { value, span: node.span }),
                _ => {}
            }
        }

        self.wrong_type(node, what, "a number", "write a number such as 30 or 0.5, without quotes");
        None
    }

    pub(crate) fn list<T>(
        &mut self,
        node: &Node,
        what: &str,
        mut item: impl FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Vec<T> {
        let NodeKind::Sequence(items) = &node.kind else {
            let help = format!("write `{what}: []` for none, or one item per line, each starting with `- `");
            self.wrong_type(node, what, "a list", &help);
            return Vec::new();
        };
        items.iter().filter_map(|node| item(self, node)).collect()
    }

    /// Reads one of a few words.
    pub(crate) fn word<T: FromStr + VariantNames>(&mut self, node: &Node, key: &str) -> Option<T> {
        let text = self.string(node, key)?;
        let found = text.value.parse().ok();
        if found.is_none() {
            let names = T::VARIANTS;
            let message = format!("unknown {key} `{}`, expected one of {}", shorten(&text.value), names.join(", "));
            let help = match did_you_mean(&text.value, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write one of {}", names.join(", ")),
            };
            self.report(Code::UnknownValue, text.span, message, &help);
        }

        found
    }

    /// Reads a mapping with keys of the author's choice.
    pub(crate) fn entries<T>(
        &mut self,
        node: &Node,
        key: &str,
        mut entry: impl FnMut(&mut Self, Spanned<String>, &Node) -> Option<T>,
    ) -> Vec<T> {
        let NodeKind::Mapping(mapping) = &node.kind else {
            self.wrong_type(node, key, "a mapping", &format!("write `{key}: {{}}` for none, or `NAME: value` lines"));
            return Vec::new();
        };
        let entries = self.unique_entries(&mapping.entries);
        let entries = entries.into_iter().map(|(name, span, node)| (Spanned { value: name.to_owned(), span }, node));
        entries.filter_map(|(name, node)| entry(self, name, node)).collect()
    }
}

impl<'n> Fields<'n> {
    fn take(&mut self, key: &str) -> Option<&'n Node> {
        debug_assert!(self.keys.contains(&key), "`{key}` is read, and no key of {}", self.what);
        let at = self.entries.iter().position(|(name, _)| *name == key)?;
        Some(self.entries.swap_remove(at).1)
    }

    /// The fields that have not been taken, with the locations of their values.
    pub(crate) fn remaining(&self) -> impl Iterator<Item = (&'n str, Span)> {
        self.entries.iter().map(|(name, node)| (*name, node.span))
    }

    /// Where the mapping is written.
    pub(crate) fn extent(&self) -> Span {
        self.extent
    }

    /// Returns whether a field is present and not taken yet.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(name, _)| *name == key)
    }

    /// Takes a required field; `meaning` explains it in the message.
    pub(crate) fn required(&mut self, walker: &mut Walker<'_>, key: &str, meaning: &str) -> Option<&'n Node> {
        let node = self.take(key);
        if node.is_none() && !self.truncated && !self.misspelt.contains(&key) {
            let span = first_line(walker.source, self.span);
            let message = format!("missing key `{key}` in {}", self.what);
            walker.report(Code::MissingKey, span, message, &format!("add `{key}:`, {meaning}"));
        }
        node
    }

    /// Takes a field for which null means absent.
    pub(crate) fn optional(&mut self, key: &str) -> Option<&'n Node> {
        self.take(key).filter(|node| !node.is_null())
    }

    pub(crate) fn string(&mut self, walker: &mut Walker<'_>, key: &str) -> Option<Spanned<String>> {
        self.take(key).and_then(|node| walker.string(node, key))
    }

    pub(crate) fn optional_string(&mut self, walker: &mut Walker<'_>, key: &str) -> Option<Spanned<String>> {
        self.optional(key).and_then(|node| walker.string(node, key))
    }

    pub(crate) fn optional_number(&mut self, walker: &mut Walker<'_>, key: &str) -> Option<Spanned<f64>> {
        self.optional(key).and_then(|node| walker.number(node, key))
    }

    pub(crate) fn boolean(&mut self, walker: &mut Walker<'_>, key: &str) -> Option<Spanned<bool>> {
        self.take(key).and_then(|node| walker.boolean(node, key))
    }

    /// Takes a field whose value is one of a few words.
    pub(crate) fn word<T: FromStr + VariantNames>(&mut self, walker: &mut Walker<'_>, key: &str) -> Option<T> {
        self.take(key).and_then(|node| walker.word(node, key))
    }
    pub(crate) fn list<T>(
        &mut self,
        walker: &mut Walker<'_>,
        key: &str,
        item: impl FnMut(&mut Walker<'_>, &Node) -> Option<T>,
    ) -> Vec<T> {
        self.take(key).map_or_else(Vec::new, |node| walker.list(node, key, item))
    }

    /// Takes a mapping with keys of the author's choice.
    pub(crate) fn entries<T>(
        &mut self,
        walker: &mut Walker<'_>,
        key: &str,
        entry: impl FnMut(&mut Walker<'_>, Spanned<String>, &Node) -> Option<T>,
    ) -> Vec<T> {
        self.take(key).map_or_else(Vec::new, |node| walker.entries(node, key, entry))
    }

    pub(crate) fn string_map(&mut self, walker: &mut Walker<'_>, key: &str) -> Vec<(Spanned<String>, Spanned<String>)> {
        let what = format!("a value of `{key}`");
        self.entries(walker, key, |walker, name, node| Some((name, walker.string(node, &what)?)))
    }
}

/// Shortens a span to its first line, so that a message about a whole mapping or text does not underline all of it.
pub(crate) fn first_line(source: &Source, span: Span) -> Span {
    let text = &source.text()[span.start..span.end];
    let end = text.find(['\n', '\r']).map_or(span.end, |at| span.start + at);
    Span { start: span.start, end }
}
