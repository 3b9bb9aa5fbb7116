//! Reads the arguments of the meta-tools.

use climax_catalog::Type;
use serde_json::{Map, Value};

use super::decode::is_bounded;
use crate::call::arguments::MAX_UNKNOWN_KEYS;
use crate::call::arguments::{BoundValue, Problem, Violation, coerce, echo, type_problem};

/// The search results that a request gets by default.
pub(crate) const DEFAULT_SEARCH_RESULTS: i64 = 10;

/// The most search results that a request can get.
pub(crate) const MAX_SEARCH_RESULTS: i64 = 100;

/// Reads the arguments of a meta-tool by the rules for the arguments of any tool, and collects the violations.
pub(super) struct ArgumentReader<'a> {
    arguments: &'a Map<String, Value>,
    violations: Vec<Violation>,
}

impl<'a> ArgumentReader<'a> {
    pub(super) fn new(arguments: &'a Map<String, Value>) -> Self {
        Self { arguments, violations: Vec::new() }
    }

    /// The value of an argument. A null value counts as absent.
    fn get(&self, name: &str) -> Option<&'a Value> {
        self.arguments.get(name).filter(|value| !value.is_null())
    }

    fn add_violation(&mut self, name: &str, problem: Problem) {
        self.violations.push(Violation { argument: name.to_owned(), problem });
    }

    fn converted(&mut self, name: &str, kind: Type) -> Option<BoundValue> {
        match coerce(self.get(name)?, kind) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.add_violation(name, problem);
                None
            }
        }
    }

    pub(super) fn string(&mut self, name: &str) -> Option<String> {
        self.converted(name, Type::String).map(|value| value.to_string())
    }

    pub(super) fn required_string(&mut self, name: &str) -> String {
        if self.get(name).is_none() {
            self.add_violation(name, Problem::Missing);
        }
        self.string(name).unwrap_or_default()
    }

    pub(super) fn integer(&mut self, name: &str) -> Option<i64> {
        match self.converted(name, Type::Integer)? {
            BoundValue::Integer(value) => Some(value),
            _ => None,
        }
    }

    /// The argument `limit`, from 0 to [`MAX_SEARCH_RESULTS`]. A number beyond the 64 bits of an integer is read too.
    pub(super) fn limit(&mut self) -> Option<i64> {
        let limit = match self.get("limit")?.as_f64() {
            Some(number) if number >= 1e18 => i64::MAX,
            _ => self.integer("limit")?,
        };
        Some(limit.clamp(0, MAX_SEARCH_RESULTS))
    }

    /// One of `choices`; the first by default.
    pub(super) fn choice(&mut self, name: &str, choices: &[&'static str]) -> &'static str {
        let Some(value) = self.string(name) else { return choices[0] };
        if let Some(choice) = choices.iter().find(|choice| **choice == value) {
            return choice;
        }
        let allowed = choices.iter().map(|choice| (*choice).to_owned()).collect();
        self.add_violation(name, Problem::NotInEnum { allowed });
        choices[0]
    }

    /// 1 to `max` names: a list of strings, or one string.
    pub(super) fn names(&mut self, name: &str, max: usize) -> Vec<String> {
        let Some(value) = self.get(name) else {
            self.add_violation(name, Problem::Missing);
            return Vec::new();
        };
        let names: Option<Vec<String>> = match value {
            Value::String(name) => Some(vec![name.clone()]),
            Value::Array(names) => names.iter().map(|name| name.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        names.filter(|names| (1..=max).contains(&names.len())).unwrap_or_else(|| {
            self.add_violation(name, type_problem(value, "a list of 1 to 10 tool names"));
            Vec::new()
        })
    }

    /// An object, or a string that holds one: some models serialize nested arguments.
    pub(super) fn object(&mut self, name: &str) -> Map<String, Value> {
        let Some(value) = self.get(name) else { return Map::new() };
        let text = value.as_str().filter(|text| is_bounded(text));
        let parsed = text.and_then(|text| serde_json::from_str(text).ok());
        if let Value::Object(object) = parsed.as_ref().unwrap_or(value) {
            object.clone()
        } else {
            self.add_violation(name, type_problem(value, "object"));
            Map::new()
        }
    }

    /// If the argument `name` is absent, rejects all keys but those in `known`.
    ///
    /// A model may put the members of `name` beside it, or write its name differently. Without them the tool would do
    /// something else.
    pub(super) fn reject_other_keys_without(&mut self, name: &str, known: &[&str]) {
        if self.get(name).is_some() {
            return;
        }
        let arguments: &'a Map<String, Value> = self.arguments;
        for (key, value) in arguments
            .iter()
            .filter(|(key, value)| !known.contains(&key.as_str()) && !value.is_null())
            .take(MAX_UNKNOWN_KEYS)
        {
            let meant = if value.is_object() { name.to_owned() } else { format!("{name}.{}", echo(key)) };
            self.add_violation(key, Problem::Misspelt { meant });
        }
    }

    /// Returns the violations, if there are any.
    pub(super) fn finish(self) -> Result<(), Vec<Violation>> {
        if self.violations.is_empty() { Ok(()) } else { Err(self.violations) }
    }
}
