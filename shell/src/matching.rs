//! Finds what a pattern matches in a text: at its start, at its end, and anywhere.
//!
//! A pattern is walked with all the places where it may stand at once, so that a text of any length takes as many steps as
//! it has characters, for each of these places.

use std::fmt;

use crate::pattern::{Element, Pattern};

/// Most steps that the matches of a line may take: places of the patterns, for each character of the texts. A set counts
/// for each of its ranges, and a replacement for each byte of its result.
pub(crate) const MAX_PATTERN_STEPS: u64 = 1 << 26;

/// To match a pattern would take too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManySteps;

impl fmt::Display for TooManySteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "to match the patterns of the line would take more than {MAX_PATTERN_STEPS} steps")
    }
}

impl std::error::Error for TooManySteps {}

/// Which of the matches at one place is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Shortest,
    Longest,
}

/// What a pattern matches at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match {
    /// This many characters.
    Of(usize),
    Nothing,
    /// Nothing, and at no later place of the text either: what stands before the first `*` has matched, and the rest of the
    /// pattern occurs nowhere behind it.
    NothingLater,
}

/// Walks a pattern, and counts the steps.
#[derive(Debug)]
pub(crate) struct Matcher<'p> {
    elements: &'p [Element],
    first_star: usize,
    /// The places of the pattern that the next character may stand for, in ascending order.
    open: Vec<usize>,
    next: Vec<usize>,
    steps: &'p mut u64,
}

impl<'p> Matcher<'p> {
    pub(crate) fn new(pattern: &'p Pattern, steps: &'p mut u64) -> Self {
        let elements = pattern.elements();
        let first_star = elements.iter().position(|element| *element == Element::Any).unwrap_or(usize::MAX);
        Self { elements, first_star, open: Vec::new(), next: Vec::new(), steps }
    }

    /// Returns the number of characters at the start of a text that the pattern matches; `None` if it matches none.
    ///
    /// # Errors
    /// It would take too long.
    pub(crate) fn at_start(&mut self, text: &[char], extent: Extent) -> Result<Option<usize>, TooManySteps> {
        Ok(match self.start(text, extent)? {
            Match::Of(length) => Some(length),
            Match::Nothing | Match::NothingLater => None,
        })
    }

    /// Returns the first match that is not empty, the longest at its place.
    ///
    /// # Errors
    /// It would take too long.
    pub(crate) fn find(&mut self, text: &[char]) -> Result<Option<(usize, usize)>, TooManySteps> {
        for at in 0..text.len() {
            match self.start(&text[at..], Extent::Longest)? {
                Match::Of(length) if length > 0 => return Ok(Some((at, at + length))),
                Match::NothingLater => return Ok(None),
                Match::Of(_) | Match::Nothing => {}
            }
        }
        Ok(None)
    }

    fn start(&mut self, text: &[char], extent: Extent) -> Result<Match, TooManySteps> {
        self.open.clear();
        add(&mut self.open, self.elements, 0);
        let (mut found, mut has_star) = (Match::Nothing, false);
        for at in 0..=text.len() {
            has_star |= self.open.last().is_some_and(|last| *last >= self.first_star);
            if self.open.last() == Some(&self.elements.len()) {
                found = Match::Of(at);
                if extent == Extent::Shortest {
                    break;
                }
            }
            let Some(c) = text.get(at).filter(|_| !self.open.is_empty()) else { break };
            self.take(*c)?;
        }
        Ok(if found == Match::Nothing && has_star { Match::NothingLater } else { found })
    }

    /// Goes on by one character.
    fn take(&mut self, c: char) -> Result<(), TooManySteps> {
        self.next.clear();
        for place in &self.open {
            let Some(element) = self.elements.get(*place) else { continue };
            *self.steps += element.steps();
            match element {
                Element::Any => add(&mut self.next, self.elements, *place),
                element if element.takes(c) => add(&mut self.next, self.elements, place + 1),
                _ => {}
            }
        }
        if *self.steps > MAX_PATTERN_STEPS {
            return Err(TooManySteps);
        }
        std::mem::swap(&mut self.open, &mut self.next);
        Ok(())
    }
}

/// Adds a place, and the one behind it if it is a `*`, which may stand for nothing. Places come in ascending order.
fn add(places: &mut Vec<usize>, elements: &[Element], place: usize) {
    if places.last().is_none_or(|last| *last < place) {
        places.push(place);
    }
    if elements.get(place) == Some(&Element::Any) && places.last() == Some(&place) {
        places.push(place + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::new(&text.chars().map(|c| (c, false)).collect::<Vec<_>>())
    }

    /// Whether a pattern matches all of a text, by trying each length of a `*`.
    fn fits(elements: &[Element], text: &[char]) -> bool {
        match elements.split_first() {
            None => text.is_empty(),
            Some((Element::Any, rest)) => (0..=text.len()).any(|at| fits(rest, &text[at..])),
            Some((element, rest)) => text.split_first().is_some_and(|(c, text)| element.takes(*c) && fits(rest, text)),
        }
    }

    /// The match at the start of a text, and the first one in it, by trying each part of it.
    fn tried(pattern: &Pattern, text: &[char], extent: Extent) -> (Option<usize>, Option<(usize, usize)>) {
        let is_match = |from: usize, to: usize| fits(pattern.elements(), &text[from..to]);
        let mut lengths = (0..=text.len()).filter(|length| is_match(0, *length));
        let at_start = if extent == Extent::Longest { lengths.next_back() } else { lengths.next() };
        let longest = |from: usize| (from + 1..=text.len()).rev().find(|to| is_match(from, *to)).map(|to| (from, to));
        (at_start, (0..text.len()).find_map(longest))
    }

    #[test]
    fn matches_are_those_that_trying_all_parts_finds() {
        let patterns =
            ["a", "ab", "*", "a*", "*a", "a*b", "a*b*a", "?", "?*", "[ab]*b", "*?b", "", "b?", "*ab*", "a?*b"];
        for length in 0..7_u32 {
            for number in 0..3_usize.pow(length) {
                let text: Vec<char> = (0..length).map(|at| ['a', 'b', 'c'][number / 3_usize.pow(at) % 3]).collect();
                for pattern in patterns.map(pattern) {
                    for extent in [Extent::Shortest, Extent::Longest] {
                        let mut steps = 0;
                        let mut matcher = Matcher::new(&pattern, &mut steps);
                        let found = (matcher.at_start(&text, extent), matcher.find(&text));
                        let (at_start, first) = tried(&pattern, &text, extent);
                        assert_eq!(found, (Ok(at_start), Ok(first)), "{pattern:?} {text:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn long_texts_take_few_steps() {
        let text = vec!['a'; 1 << 20];
        for (written, first) in [("b", None), ("a*b", None), ("*b", None), ("a*", Some((0, text.len())))] {
            assert_eq!(Matcher::new(&pattern(written), &mut 0).find(&text), Ok(first), "{written}");
        }
        let many = pattern(&format!("*{}b", "a".repeat(1 << 12)));
        assert_eq!(Matcher::new(&many, &mut 0).find(&text), Err(TooManySteps));
    }

    #[test]
    fn the_steps_of_all_matches_of_a_line_are_counted() {
        let (set, text) = (pattern(&format!("[{}]b", "xyz".repeat(100))), vec!['a'; 1 << 16]);
        let mut steps = 0;
        let found: Vec<_> = (0..4).map(|_| Matcher::new(&set, &mut steps).find(&text)).collect();
        assert_eq!(found, [Ok(None), Ok(None), Ok(None), Err(TooManySteps)]);
    }
}
