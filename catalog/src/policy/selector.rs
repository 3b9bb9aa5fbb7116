//! Selectors: names, patterns of names and properties that choose tools.

use std::fmt;

use crate::model::{Risk, fits};
use crate::source::Span;
use crate::view::ResolvedTool;

/// The name of a tool, or a pattern in which each `*` stands for any characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern(String);

impl NamePattern {
    /// Makes the pattern of a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the one name that it stands for; `None` for a pattern.
    pub(crate) fn exact(&self) -> Option<&str> {
        (!self.0.contains('*')).then_some(&self.0)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether a name fits.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        fits(&self.0, name)
    }
}

/// Conditions that all hold for the tools that it selects. An absent condition holds for every tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(crate) name: Option<NamePattern>,
    pub(crate) cli: Option<String>,
    pub(crate) risk: Option<Risk>,
    pub(crate) tag: Option<String>,
    /// Its place in the policy file.
    pub(crate) span: Span,
}

impl Selector {
    /// Selects by name or pattern alone.
    pub(crate) fn of_name(name: &str, span: Span) -> Self {
        Self { name: Some(NamePattern::new(name)), cli: None, risk: None, tag: None, span }
    }

    /// Returns whether the selector selects a tool.
    ///
    /// `read` needs a written risk. A tool without one counts as `write`, as its annotations do.
    pub(crate) fn selects(&self, tool: ResolvedTool<'_>) -> bool {
        self.selects_at(tool, Risk::promised(tool.written_risk()))
    }

    /// Returns whether the selector would select a tool if its risk were `risk`.
    pub(crate) fn selects_at(&self, tool: ResolvedTool<'_>, risk: Risk) -> bool {
        let cli = tool.cli();
        self.name.as_ref().is_none_or(|name| name.matches(tool.name()))
            && self.cli.as_ref().is_none_or(|name| [cli.name(), cli.stem()].contains(&name.as_str()))
            && self.risk.is_none_or(|selected| selected == risk)
            && self.tag.as_ref().is_none_or(|tag| cli.tags().any(|known| known == tag))
    }

    /// Returns the four conditions as texts; an absent one is empty.
    pub(crate) fn to_texts(&self) -> [String; 4] {
        let name = self.name.as_ref().map(|name| name.as_str().to_owned());
        let risk = self.risk.map(|risk| risk.as_str().to_owned());
        [name, self.cli.clone(), risk, self.tag.clone()].map(Option::unwrap_or_default)
    }

    /// Reads the texts of [`Self::to_texts`].
    pub(crate) fn from_texts(texts: [&str; 4]) -> Self {
        let [name, cli, risk, tag] = texts.map(|text| Some(text).filter(|text| !text.is_empty()));
        Self {
            name: name.map(NamePattern::new),
            cli: cli.map(str::to_owned),
            risk: risk.and_then(|risk| risk.parse().ok()),
            tag: tag.map(str::to_owned),
            span: Span { start: 0, end: 0 },
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [name, cli, risk, tag] = self.to_texts();
        if [&cli, &risk, &tag].iter().all(|text| text.is_empty()) {
            return f.write_str(&name);
        }
        let keys = ["name", "cli", "risk", "tag"].into_iter().zip([name, cli, risk, tag]);
        let given = keys.filter(|(_, text)| !text.is_empty()).map(|(key, text)| format!("{key}: {text}"));
        write!(f, "{{{}}}", given.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_stands_for_any_characters() {
        for (pattern, name, matches) in [
            ("git_*", "git_log", true),
            ("git_*", "git_", true),
            ("git_*", "git", false),
            ("*_delete", "a_delete", true),
            ("*_delete", "a_delete_b", false),
            ("*_delete*", "a_delete_b", true),
            ("a*b*b", "ab", false),
            ("a*b*b", "abb", true),
            ("a*a", "a", false),
            ("*", "anything", true),
            ("git_log", "git_log", true),
            ("git_log", "git_logs", false),
        ] {
            assert_eq!(NamePattern::new(pattern).matches(name), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn texts_of_a_selector_give_it_back() {
        for selector in [
            Selector::of_name("git_*", Span { start: 0, end: 0 }),
            Selector::from_texts(["", "git", "read", ""]),
            Selector::from_texts(["", "", "", "team"]),
        ] {
            let texts = selector.to_texts();
            assert_eq!(Selector::from_texts([&texts[0], &texts[1], &texts[2], &texts[3]]), selector);
        }
    }
}
