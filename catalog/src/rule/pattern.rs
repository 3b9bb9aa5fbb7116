//! Patterns: regular expressions that match whole values in linear time.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

use regex_automata::nfa::thompson::{self, NFA, pikevm::PikeVM};
use regex_syntax::ast::{self, Ast, Visitor};
use regex_syntax::hir::{Hir, Look};

use super::portable::is_portable;

/// The memory limit of a compiled pattern. Nested repetitions grow exponentially.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// The step limit of one match: states of the pattern times bytes of the value. About half a second.
const MAX_STEPS: usize = 1 << 25;

/// Most patterns of catalogs that stay compiled.
const MAX_KEPT_PATTERNS: usize = 256;

/// The patterns of catalogs that were used, compiled. Many args share one, and every call reads its rules anew.
static KEPT_PATTERNS: LazyLock<Mutex<HashMap<String, PikeVM>>> = LazyLock::new(Mutex::default);

/// A regular expression that matches whole values. Its syntax is that of the `regex` crate.
///
/// It is compiled when it is first used, because a catalog has thousands of patterns and a server needs few.
#[derive(Clone)]
pub struct Pattern {
    text: String,
    machine: OnceLock<PikeVM>,
}

/// The reason why a text is not a usable pattern.
#[derive(Debug)]
pub(crate) struct BadPattern {
    /// The problem.
    pub(crate) problem: String,
    /// The range of the problem, in bytes of the text; the whole text if unknown.
    pub(crate) at: Range<usize>,
}

impl Pattern {
    /// Takes a pattern of a catalog, which was compiled when the catalog was made.
    pub(crate) fn of_catalog(text: &str) -> Self {
        Self { text: text.to_owned(), machine: OnceLock::new() }
    }

    /// Compiles a pattern.
    ///
    /// # Errors
    /// The text is not a regular expression, or its matching time has no bound.
    pub(crate) fn new(text: &str) -> Result<Self, BadPattern> {
        Ok(Self { text: text.to_owned(), machine: compiled(text)?.into() })
    }

    /// Returns whether all of `value` matches; `None` if matching would take more than the step limit.
    ///
    /// # Panics
    /// Panics if a pattern of a catalog does not compile. This crate puts only compiled patterns into catalogs.
    #[must_use]
    pub fn matches(&self, value: &str) -> Option<bool> {
        let machine = self.machine.get_or_init(|| kept(&self.text));
        let steps = machine.get_nfa().states().len().saturating_mul(value.len());
        (steps <= MAX_STEPS).then(|| machine.is_match(&mut machine.create_cache(), value))
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The pattern for JSON Schema, anchored: there, patterns match any part of a value. `None` if JavaScript, whose
    /// patterns JSON Schema has, refuses it or reads it otherwise.
    #[must_use]
    pub fn json_schema(&self) -> Option<String> {
        let tree = ast::parse::Parser::new().parse(&self.text).ok()?;
        is_portable(&tree).then(|| format!("^(?:{})$", self.text))
    }
}

/// Returns the machine of a pattern of a catalog.
fn kept(text: &str) -> PikeVM {
    let mut machines = KEPT_PATTERNS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(machine) = machines.get(text) {
        return machine.clone();
    }

    let machine = compiled(text).expect("patterns in catalogs have been compiled before");
    if machines.len() >= MAX_KEPT_PATTERNS {
        machines.clear();
    }
    machines.insert(text.to_owned(), machine.clone());

    machine
}

fn compiled(text: &str) -> Result<PikeVM, BadPattern> {
    let bad = |problem: String, at: Range<usize>| BadPattern { problem, at };
    let place = |span: &ast::Span| span.start.offset..span.end.offset;
    let tree =
        ast::parse::Parser::new().parse(text).map_err(|error| bad(error.kind().to_string(), place(error.span())))?;
    if ast::visit(&tree, FindsVerbose(false)).unwrap_or_else(|never| match never {}) {
        // A comment would hide the end of the pattern in the JSON Schema.
        let problem = "the flag `x` is not allowed: write the pattern without white space and comments";
        return Err(bad(problem.to_owned(), 0..text.len()));
    }
    let hir = regex_syntax::hir::translate::Translator::new()
        .translate(text, &tree)
        .map_err(|error| bad(error.kind().to_string(), place(error.span())))?;
    // The parsed expression is anchored instead of its text, so that `a)|(b` remains an error.
    let whole = Hir::concat(vec![Hir::look(Look::Start), hir, Hir::look(Look::End)]);
    let config = thompson::Config::new().nfa_size_limit(Some(MAX_COMPILED_BYTES));
    let compiled = NFA::compiler().configure(config).build_from_hir(&whole);
    let machine = compiled.and_then(PikeVM::new_from_nfa);

    machine.map_err(|_| bad("it takes more than 1 MiB when compiled".to_owned(), 0..text.len()))
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.text)
    }
}

/// Finds the flag `x`, which permits comments in a pattern.
struct FindsVerbose(bool);

impl Visitor for FindsVerbose {
    type Output = bool;
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<bool, Self::Err> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, tree: &Ast) -> Result<(), Self::Err> {
        let flags = match tree {
            Ast::Flags(set) => Some(&set.flags),
            Ast::Group(group) => group.flags(),
            _ => None,
        };
        self.0 |= flags.is_some_and(|flags| flags.flag_state(ast::Flag::IgnoreWhitespace) == Some(true));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_values_only() {
        let pattern = Pattern::new("a|b").unwrap();
        for (value, matches) in [
            ("a", true),
            ("b", true),
            ("ab", false),
            ("xa", false),
            ("bx", false),
            ("a\n", false),
            ("\nb", false),
            ("", false),
        ] {
            assert_eq!(pattern.matches(value), Some(matches), "{value:?}");
        }
        assert_eq!(Pattern::new("").unwrap().matches(""), Some(true));
        assert_eq!(Pattern::new("(?m)^a$").unwrap().matches("a\na"), Some(false));
    }

    #[test]
    fn word_boundaries_are_unicode() {
        let pattern = Pattern::new(r"\bgröße\b.*").unwrap();
        assert_eq!(pattern.matches("größe 2"), Some(true));
        assert_eq!(pattern.matches("größen"), Some(false));
    }

    #[test]
    fn rejects_patterns_without_bound_or_schema_form() {
        for text in ["a)|(b", "(", "[z-a]", "(?=a)", r"(a)\1", "(?x) a # b", "(?x: a # b)", "((a{1000}){1000}){1000}"] {
            assert!(Pattern::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn hostile_patterns_take_bounded_time() {
        let pattern = Pattern::new("(a*)*b").unwrap();
        assert_eq!(pattern.matches(&"a".repeat(1 << 16)), Some(false));
        assert_eq!(Pattern::new("[01]*1[01]{400}x").unwrap().matches(&"01".repeat(1 << 20)), None);
    }
}
