//! Reads the arguments of the meta-tools.

use climax_catalog::{Type, near_misses};
use serde_json::{Map, Number, Value};

use super::decode::nested;
use crate::call::arguments::MAX_UNKNOWN_KEYS;
use crate::call::arguments::{BoundValue, Problem, Violation, coerce, echo, type_problem};

/// The search results that a request gets by default.
pub(crate) const DEFAULT_SEARCH_RESULTS: i64 = 10;

/// The most search results that a request can get.
pub(crate) const MAX_SEARCH_RESULTS: i64 = 100;

/// Names that other tools have for the arguments of these, in lower case and without separators.
const OTHER_NAMES: [(&str, &[&str]); 5] = [
    ("query", &["q", "keyword", "keywords", "search", "searchquery", "term", "terms", "text"]),
    ("cwd", &["cwd", "dir", "directory", "workdir", "workingdir", "workingdirectory"]),
    ("stdin", &["input", "standardinput", "stdin"]),
    ("timeout", &["timeout", "timeoutms", "timeoutsec", "timeoutsecs", "timeoutseconds"]),
    ("tools", &["names", "toolname", "toolnames"]),
];

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

    pub(super) fn add_violation(&mut self, name: &str, problem: Problem) {
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

    /// A string under the first of `names` that has a value. It is required under the first name.
    pub(super) fn required_string(&mut self, names: &[&str]) -> String {
        let name = self.first_given(names);
        if self.get(name).is_none() {
            self.add_violation(name, Problem::Missing);
        }
        self.string(name).unwrap_or_default()
    }

    /// The first of `names` that has a value, else the first.
    pub(super) fn first_given<'n>(&self, names: &[&'n str]) -> &'n str {
        names.iter().find(|name| self.get(name).is_some()).unwrap_or(&names[0])
    }

    pub(super) fn integer(&mut self, name: &str) -> Option<i64> {
        match self.converted(name, Type::Integer)? {
            BoundValue::Integer(value) => Some(value),
            _ => None,
        }
    }

    /// A number of seconds from 1 to `most`, which `expected` says in words, or the default. Some clients fill in every argument, so 0 is the default too.
    pub(super) fn seconds(&mut self, name: &str, (default, most): (i64, i64), expected: &'static str) -> i64 {
        let seconds = self.integer(name).filter(|seconds| *seconds != 0).unwrap_or(default);
        if !(1..=most).contains(&seconds) {
            let value = seconds.to_string();
            self.add_violation(name, Problem::Type { value, expected });
        }
        seconds
    }

    /// The argument `limit`, from 0 to [`MAX_SEARCH_RESULTS`]. A number beyond the 64 bits of an integer is read too.
    ///
    /// Some clients fill in every argument, so 0 is the default. A limit below 0 gives no results.
    pub(super) fn limit(&mut self) -> i64 {
        let limit = match self.get("limit") {
            Some(Value::Number(number)) if is_huge(number) => {
                Some(if number.as_str().starts_with('-') { i64::MIN } else { i64::MAX })
            }
            _ => self.integer("limit"),
        };
        limit.filter(|limit| *limit != 0).unwrap_or(DEFAULT_SEARCH_RESULTS).clamp(0, MAX_SEARCH_RESULTS)
    }

    /// A filter of a search. Some clients fill in every argument, so an empty text counts as absent.
    pub(super) fn filter(&mut self, name: &str) -> Option<String> {
        self.string(name).filter(|text| !text.is_empty())
    }

    /// The argument `offset`: the number of results to skip.
    pub(super) fn offset(&mut self) -> usize {
        let Some(offset) = self.integer("offset") else { return 0 };
        usize::try_from(offset).unwrap_or_else(|_| {
            let value = offset.to_string();
            self.add_violation("offset", Problem::Type { value, expected: "an integer of 0 or more" });
            0
        })
    }

    /// Rejects keys that nearly have the name of one of `known`, or that other tools give to it, each with the right name.
    ///
    /// Without its query a search would answer with a summary of everything, and a line would run in another directory.
    pub(super) fn reject_misspelt(&mut self, known: &[&'static str]) {
        let arguments: &'a Map<String, Value> = self.arguments;
        let unknown = arguments.keys().filter(|key| !known.contains(&key.as_str()));
        for key in unknown.take(MAX_UNKNOWN_KEYS) {
            let near = || near_misses(key, known.iter().copied(), 1).first().copied();
            if let Some(meant) = meant_by(key, known).or_else(near) {
                self.add_violation(key, Problem::Misspelt { meant: meant.to_owned() });
            }
        }
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

    /// 1 to `max` items of a list, or of a string that holds one.
    pub(super) fn items(&mut self, name: &str, max: usize) -> Vec<Value> {
        let Some(value) = self.get(name) else {
            self.add_violation(name, Problem::Missing);
            return Vec::new();
        };
        let parsed = value.as_str().and_then(nested);
        match parsed.as_ref().unwrap_or(value) {
            Value::Array(items) if items.len() > max => {
                self.add_violation(name, Problem::TooManyItems { items: items.len(), most: max });
            }
            Value::Array(items) if items.is_empty() => {
                self.add_violation(name, Problem::TooFewItems { items: 0, least: 1 });
            }
            Value::Array(items) => return items.clone(),
            value => self.add_violation(name, type_problem(value, "list")),
        }

        Vec::new()
    }

    /// An object, or a string that holds one: some models serialize nested arguments.
    pub(super) fn object(&mut self, name: &str) -> Map<String, Value> {
        let Some(value) = self.get(name) else { return Map::new() };
        let parsed = value.as_str().and_then(nested);
        if let Value::Object(object) = parsed.as_ref().unwrap_or(value) {
            object.clone()
        } else {
            self.add_violation(name, type_problem(value, "object"));
            Map::new()
        }
    }

    /// Whether an argument has a value.
    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The arguments that have a value and no name in `known`.
    pub(super) fn others(&self, known: &[&str]) -> Vec<(&'a str, &'a Value)> {
        let given = self.arguments.iter().filter(|(key, value)| !known.contains(&key.as_str()) && !value.is_null());
        given.map(|(key, value)| (key.as_str(), value)).take(MAX_UNKNOWN_KEYS).collect()
    }

    /// Rejects an argument that belongs into the object `name`, or is that object by another name.
    ///
    /// A model may put the members of `name` beside it, or write its name differently. Without them the tool would do
    /// something else.
    pub(super) fn reject_beside(&mut self, name: &str, key: &str, value: &Value) {
        let meant = if value.is_object() { name.to_owned() } else { format!("{name}.{}", echo(key)) };
        self.add_violation(key, Problem::Misspelt { meant });
    }

    /// Returns the violations, if there are any.
    pub(super) fn finish(self) -> Result<(), Vec<Violation>> {
        if self.violations.is_empty() { Ok(()) } else { Err(self.violations) }
    }
}

/// Returns which of `known` is meant by a name that other tools have for it.
fn meant_by(key: &str, known: &[&'static str]) -> Option<&'static str> {
    let key: String = key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let (meant, _) = OTHER_NAMES.iter().find(|(_, names)| names.contains(&key.as_str()))?;
    known.iter().copied().find(|name| name == meant)
}

/// Whether a number is beyond the 64 bits of an integer. Of one that is beyond a float too, `as_f64` returns `None`.
fn is_huge(number: &Number) -> bool {
    number.as_f64().is_none_or(|number| number.abs() >= 1e18)
}
