//! Reading the arguments of a meta-tool.

use climax_catalog::Type;
use serde_json::{Map, Value};

use super::decode::is_bounded;
use crate::call::arguments::MAX_UNKNOWN_KEYS;
use crate::call::arguments::{BoundValue, Problem, Violation, coerce, echo, type_problem};

/// Search results that a request gets if it does not say.
pub(crate) const DEFAULT_SEARCH_RESULTS: i64 = 10;

/// Search results that a request can get.
pub(crate) const MAX_SEARCH_RESULTS: i64 = 100;

/// Reads the arguments of a meta-tool by the rules for every other tool's.
pub(super) struct Reader<'a> {
    arguments: &'a Map<String, Value>,
    violations: Vec<Violation>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(arguments: &'a Map<String, Value>) -> Self {
        Self { arguments, violations: Vec::new() }
    }

    fn given(&self, name: &str) -> Option<&'a Value> {
        self.arguments.get(name).filter(|value| !value.is_null())
    }

    fn refuse(&mut self, name: &str, problem: Problem) {
        self.violations.push(Violation { argument: name.to_owned(), problem });
    }

    fn coerced(&mut self, name: &str, kind: Type) -> Option<BoundValue> {
        match coerce(self.given(name)?, kind) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.refuse(name, problem);
                None
            }
        }
    }

    pub(super) fn string(&mut self, name: &str) -> Option<String> {
        self.coerced(name, Type::String).map(|value| value.to_string())
    }

    pub(super) fn required_string(&mut self, name: &str) -> String {
        if self.given(name).is_none() {
            self.refuse(name, Problem::Missing);
        }
        self.string(name).unwrap_or_default()
    }

    pub(super) fn integer(&mut self, name: &str) -> Option<i64> {
        match self.coerced(name, Type::Integer)? {
            BoundValue::Integer(value) => Some(value),
            _ => None,
        }
    }

    /// The limit, from 0 to [`MAX_SEARCH_RESULTS`]; a number that is too large for an integer is larger than any limit.
    pub(super) fn limit(&mut self) -> Option<i64> {
        let limit = match self.given("limit")?.as_f64() {
            Some(number) if number >= 1e18 => i64::MAX,
            _ => self.integer("limit")?,
        };
        Some(limit.clamp(0, MAX_SEARCH_RESULTS))
    }

    /// One of a few words; the first if none is given.
    pub(super) fn word(&mut self, name: &str, words: &[&'static str]) -> &'static str {
        let Some(given) = self.string(name) else { return words[0] };
        if let Some(word) = words.iter().find(|word| **word == given) {
            return word;
        }
        let allowed = words.iter().map(|word| (*word).to_owned()).collect();
        self.refuse(name, Problem::NotInEnum { allowed });
        words[0]
    }

    /// One to `max` names.
    pub(super) fn names(&mut self, name: &str, max: usize) -> Vec<String> {
        let Some(given) = self.given(name) else {
            self.refuse(name, Problem::Missing);
            return Vec::new();
        };
        let names: Option<Vec<String>> = match given {
            Value::String(one) => Some(vec![one.clone()]),
            Value::Array(all) => all.iter().map(|one| one.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        names.filter(|names| (1..=max).contains(&names.len())).unwrap_or_else(|| {
            self.refuse(name, type_problem(given, "a list of 1 to 10 tool names"));
            Vec::new()
        })
    }

    /// An object, or a string that holds one: some models serialise nested arguments.
    pub(super) fn object(&mut self, name: &str) -> Map<String, Value> {
        let Some(value) = self.given(name) else { return Map::new() };
        let text = value.as_str().filter(|text| is_bounded(text));
        let parsed = text.and_then(|text| serde_json::from_str(text).ok());
        if let Value::Object(object) = parsed.as_ref().unwrap_or(value) {
            object.clone()
        } else {
            self.refuse(name, type_problem(value, "object"));
            Map::new()
        }
    }

    /// Refuses what stands where `name` should hold it: other keys than `known`, where `name` is not there.
    ///
    /// Without the arguments that a model has put there, or under another name, a tool would do something else.
    pub(super) fn refuse_unless_given(&mut self, name: &str, known: &[&str]) {
        if self.given(name).is_some() {
            return;
        }
        let given: &'a Map<String, Value> = self.arguments;
        for (key, value) in given
            .iter()
            .filter(|(key, value)| !known.contains(&key.as_str()) && !value.is_null())
            .take(MAX_UNKNOWN_KEYS)
        {
            let meant = if value.is_object() { name.to_owned() } else { format!("{name}.{}", echo(key)) };
            self.refuse(key, Problem::Misspelt { meant });
        }
    }

    pub(super) fn finish(self) -> Result<(), Vec<Violation>> {
        if self.violations.is_empty() { Ok(()) } else { Err(self.violations) }
    }
}
