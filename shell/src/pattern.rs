//! Patterns of `case`, `[[ == ]]` and `${x%p}`.
//!
//! Source: POSIX.1-2024, "Shell Command Language", 2.14.

use crate::matching::{Extent, Matcher, TooManySteps};

/// A pattern in which `*`, `?` and `[…]` have their meaning unless they were quoted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern(Vec<Element>);

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// `*`: any characters, or none.
    Any,
    /// `?`: one character.
    One,
    Character(char),
    /// The ranges and classes, and whether the character must lie outside of them.
    Set(Vec<(char, char)>, Vec<&'static str>, bool),
}

impl Pattern {
    /// Makes a pattern of characters, each with whether it is quoted.
    #[must_use]
    pub fn new(characters: &[(char, bool)]) -> Self {
        let mut elements = Vec::with_capacity(characters.len());
        // Behind it no set ends, so that brackets there are not looked at one after the other.
        let last_end = characters.iter().rposition(|one| *one == (']', false)).unwrap_or_default();
        let mut at = 0;
        while let Some((c, is_quoted)) = characters.get(at) {
            at += 1;
            let element = match c {
                '*' if !is_quoted => Element::Any,
                '?' if !is_quoted => Element::One,
                // One of a value; those of the line are quotes.
                '\\' if !is_quoted && at < characters.len() => {
                    at += 1;
                    Element::Character(characters[at - 1].0)
                }
                '[' if !is_quoted && at <= last_end => match set(&characters[at..]) {
                    Some((set, length)) => {
                        at += length;
                        set
                    }
                    None => Element::Character('['),
                },
                c => Element::Character(*c),
            };
            if element != Element::Any || elements.last() != Some(&Element::Any) {
                elements.push(element);
            }
        }
        Self(elements)
    }

    /// Its parts in their order.
    pub(crate) fn elements(&self) -> &[Element] {
        &self.0
    }

    /// Returns the pattern of the same texts read backwards.
    pub(crate) fn backwards(&self) -> Self {
        Self(self.0.iter().rev().cloned().collect())
    }

    /// Whether it has nothing to match.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the pattern matches all of a text. `steps` counts those of the line.
    ///
    /// # Errors
    /// It would take too long.
    pub fn matches(&self, text: &str, steps: &mut u64) -> Result<bool, TooManySteps> {
        let text: Vec<char> = text.chars().collect();
        let longest = Matcher::new(self, steps).at_start(&text, Extent::Longest)?;
        Ok(longest == Some(text.len()))
    }
}

impl Element {
    /// The steps that [`Element::takes`] takes at most.
    pub(crate) fn steps(&self) -> u64 {
        match self {
            Self::Any | Self::One | Self::Character(_) => 1,
            Self::Set(ranges, classes, _) => (1 + ranges.len() + classes.len()) as u64,
        }
    }

    /// Whether it may stand for a character.
    pub(crate) fn takes(&self, c: char) -> bool {
        match self {
            Self::Any | Self::One => true,
            Self::Character(own) => *own == c,
            Self::Set(ranges, classes, is_outside) => {
                let is_inside = ranges.iter().any(|(from, to)| (*from..=*to).contains(&c))
                    || (!c.is_ascii() && classes.iter().any(|class| is_beyond_ascii(c, class)));
                is_inside != *is_outside
            }
        }
    }
}

/// The characters of the classes such as `[:digit:]`.
pub(crate) const CLASSES: [(&str, &[(char, char)]); 12] = [
    ("alpha", &[('a', 'z'), ('A', 'Z')]),
    ("digit", &[('0', '9')]),
    ("alnum", &[('a', 'z'), ('A', 'Z'), ('0', '9')]),
    ("upper", &[('A', 'Z')]),
    ("lower", &[('a', 'z')]),
    ("space", &[(' ', ' '), ('\t', '\r')]),
    ("blank", &[(' ', ' '), ('\t', '\t')]),
    ("punct", &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
    ("xdigit", &[('0', '9'), ('a', 'f'), ('A', 'F')]),
    ("print", &[(' ', '~')]),
    ("graph", &[('!', '~')]),
    ("cntrl", &[('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')]),
];

/// Whether a character that is not ASCII belongs to a class, in the locales of UTF-8.
fn is_beyond_ascii(c: char, class: &str) -> bool {
    let is_blank = c.is_whitespace() && !"\u{85}\u{a0}\u{2007}\u{202f}".contains(c);
    match class {
        "alpha" | "alnum" => c.is_alphanumeric(),
        "upper" => c.is_uppercase(),
        "lower" => c.is_lowercase(),
        "space" | "blank" => is_blank,
        "punct" => !c.is_alphanumeric() && !is_blank && !c.is_control(),
        "print" => !c.is_control(),
        "graph" => !c.is_control() && !is_blank,
        "cntrl" => c.is_control(),
        _ => false,
    }
}

/// Reads a set behind its bracket, with the number of its characters; `None` if it does not end.
fn set(characters: &[(char, bool)]) -> Option<(Element, usize)> {
    let is_outside = matches!(characters.first(), Some(('!' | '^', false)));
    let start = usize::from(is_outside);
    let (mut ranges, mut classes) = (Vec::new(), Vec::new());
    let mut at = start;
    loop {
        let (c, is_quoted) = *characters.get(at)?;
        if c == ']' && !is_quoted && at > start {
            return Some((Element::Set(ranges, classes, is_outside), at + 1));
        }
        if let Some((name, class)) = CLASSES.iter().find(|(name, _)| starts_with_class(&characters[at..], name)) {
            ranges.extend_from_slice(class);
            classes.push(*name);
            at += name.len() + 4;
            continue;
        }
        let (c, length) = named(&characters[at..]).unwrap_or((c, 1));
        at += length - 1;
        match (characters.get(at + 1), characters.get(at + 2)) {
            (Some(('-', false)), Some((end, _))) if *end != ']' => {
                ranges.push((c, *end));
                at += 3;
            }
            _ => {
                ranges.push((c, c));
                at += 1;
            }
        }
    }
}

/// Whether characters start with `[:NAME:]`, of which nothing is quoted.
fn starts_with_class(characters: &[(char, bool)], name: &str) -> bool {
    let mut found = characters.iter();
    ["[:", name, ":]"].iter().all(|part| part.chars().all(|c| found.next() == Some(&(c, false))))
}

/// The character that `[.c.]` or `[=c=]` names, with the number of characters.
fn named(characters: &[(char, bool)]) -> Option<(char, usize)> {
    let [('[', false), (mark @ ('.' | '='), false), (c, _), (end, false), (']', false), ..] = characters else {
        return None;
    };
    (mark == end).then_some((*c, 5))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::new(&text.chars().map(|c| (c, false)).collect::<Vec<_>>())
    }

    #[test]
    fn brackets_without_an_end_are_characters() {
        let brackets = "[".repeat(100_000);
        assert_eq!(pattern(&brackets).matches(&brackets, &mut 0), Ok(true));
        assert_eq!(pattern(&format!("[]a]{brackets}")).matches(&format!("]{brackets}"), &mut 0), Ok(true));
        let open = pattern("[[:digit:]");
        let found = ["[d", "7"].map(|text| open.matches(text, &mut 0));
        assert_eq!(found, [Ok(true), Ok(false)], "a bracket, and a set of `:digt`");
    }

    #[test]
    fn stars_sets_and_classes_match_as_in_a_shell() {
        for (text, yes, no) in [
            ("*.rs", "a.rs", "a.rs.bak"),
            ("a*b*c", "axxbyybzc", "axxbyyb"),
            ("[!a-c]x", "dx", "bx"),
            ("[[:digit:]]*", "7up", "up7"),
            ("[]]", "]", "["),
            ("a[", "a[", "ab"),
        ] {
            assert_eq!(pattern(text).matches(yes, &mut 0), Ok(true), "{text} {yes}");
            assert_eq!(pattern(text).matches(no, &mut 0), Ok(false), "{text} {no}");
        }
        assert_eq!(Pattern::new(&[('*', true)]).matches("x", &mut 0), Ok(false), "a quoted star is itself");
    }
}
