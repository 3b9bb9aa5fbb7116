//! Converts and checks the value of one arg: a single value, a count, a list or a map.

use climax_catalog::{ArgView, FlagTemplate, Place, RuleView, Shape, Spread, Type};
use serde_json::{Map, Value};

use super::coercion::{BoundValue, coerce};
use super::rules::{self, RuleOrigin};
use super::violation::{Problem, Violation, echo, json_text, type_problem};

/// Maximum length of an argument, in bytes, except for standard input: the limit of Linux for one word.
///
/// Source: `MAX_ARG_STRLEN`, execve(2), less the NUL at its end.
pub(crate) const MAX_ARGUMENT_BYTES: usize = (128 << 10) - 1;

/// Maximum length of the text for a program's standard input, in bytes.
pub(crate) const MAX_STDIN_BYTES: usize = 8 << 20;

/// Maximum items of a list or map whose config sets no `max_items`.
pub(super) const MAX_ITEMS: usize = 1_000;

/// Maximum of a count whose config sets no `max`.
const MAX_COUNT: i64 = 10;

/// The value of an arg that a call does not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// Its default.
    Default,
    /// None.
    Omitted,
}

/// Converts and checks the value of one arg; `None` if it has none.
///
/// # Errors
/// All violations. Those of a list name the item, such as `paths[3]`.
pub(super) fn bind(
    arg: ArgView<'_>,
    given: Option<&Value>,
    absent: Absent,
    dash_allowed: bool,
) -> Result<Option<BoundValue>, Vec<Violation>> {
    let whole = |problem: Problem| vec![Violation { argument: arg.name().to_owned(), problem }];
    let Some(given) = given.filter(|value| !value.is_null()) else {
        return match absent {
            _ if arg.required() => Err(whole(Problem::Missing)),
            Absent::Default => Ok(default_value(arg)),
            // Variables of the environment harden a program in every call.
            Absent::Omitted if arg.place() == Place::Variable => Ok(default_value(arg)),
            Absent::Omitted => Ok(None),
        };
    };
    let item = ItemRules { arg, dash_allowed, may_be_empty: absent == Absent::Omitted, template: arg.template() };
    let value = match arg.shape() {
        Shape::Single => item.single(given).map_err(whole)?,
        Shape::Count => item.count(given).map_err(whole)?,
        Shape::List(_) | Shape::Rest(_) => item.list(given)?,
        Shape::Map(_) => item.map(given)?,
    };
    let violations = rules::violations(arg, &value, RuleOrigin::Config);

    if violations.is_empty() { Ok(Some(value)) } else { Err(violations) }
}

/// Returns the default of an arg, which was checked when the catalog was compiled.
fn default_value(arg: ArgView<'_>) -> Option<BoundValue> {
    let word = arg.default()?;
    Some(match (arg.kind(), arg.shape()) {
        (Type::Boolean, _) => BoundValue::Boolean(word == "true"),
        (Type::Integer, Shape::Count) => BoundValue::Integer(word.parse().unwrap_or_default()),
        (Type::String | Type::Integer | Type::Number, _) => BoundValue::String(word.to_owned()),
    })
}

/// The rules for each value of an arg.
struct ItemRules<'a> {
    arg: ArgView<'a>,
    dash_allowed: bool,
    /// Whether an item of a list may be empty, as a word of a line may.
    may_be_empty: bool,
    template: FlagTemplate,
}

impl ItemRules<'_> {
    fn single(&self, given: &Value) -> Result<BoundValue, Problem> {
        let value = coerce(given, self.arg.kind())?;
        self.check(&value.to_string(), &value.to_string(), given)?;
        Ok(value)
    }

    fn count(&self, given: &Value) -> Result<BoundValue, Problem> {
        let count = match coerce(given, Type::Integer)? {
            BoundValue::Integer(count) => count,
            _ => 0,
        };
        let limit = self.arg.rules().filter_map(RuleView::max).reduce(f64::min);
        if count < 0 {
            return Err(Problem::BelowMinimum { value: count.to_string(), minimum: "0".to_owned() });
        }
        if limit.is_none() && count > MAX_COUNT {
            return Err(Problem::AboveMaximum { value: count.to_string(), maximum: MAX_COUNT.to_string() });
        }

        Ok(BoundValue::Integer(count))
    }

    /// Converts a list. A single value is a list of one, and text that holds a JSON array is that array: models send
    /// both.
    fn list(&self, given: &Value) -> Result<BoundValue, Vec<Violation>> {
        let parsed = embedded(given, Value::is_array);
        let items = match parsed.as_ref().unwrap_or(given) {
            Value::Array(items) => items.as_slice(),
            single => std::slice::from_ref(single),
        };
        self.check_count(items.len())?;
        let mut words = Vec::with_capacity(items.len());
        let mut violations = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match self.item(item, None) {
                Ok(word) => words.push(word),
                Err(problem) => violations.push(self.violation(&format!("[{at}]"), problem)),
            }
        }

        if violations.is_empty() { Ok(BoundValue::List(words)) } else { Err(violations) }
    }

    /// Converts a map. The value of a name may be a list, and `["NAME=VALUE"]` is accepted too.
    fn map(&self, given: &Value) -> Result<BoundValue, Vec<Violation>> {
        let parsed = embedded(given, Value::is_object);
        let given = parsed.as_ref().unwrap_or(given);
        let members = match given {
            Value::Object(members) => members.clone(),
            Value::Array(pairs) => self.pairs(pairs)?,
            other => return Err(vec![self.violation("", type_problem(other, "object"))]),
        };
        let items = |value: &Value| value.as_array().map_or(1, Vec::len);
        self.check_count(members.values().map(items).sum())?;
        let mut pairs = Vec::with_capacity(members.len());
        let mut violations = Vec::new();
        for (key, value) in &members {
            let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            for value in values {
                match self.check_key(key).and_then(|()| self.item(value, Some(key))) {
                    Ok(word) => pairs.push((key.clone(), word)),
                    Err(problem) => violations.push(self.violation(&format!(".{}", echo(key)), problem)),
                }
            }
        }

        if violations.is_empty() { Ok(BoundValue::Map(pairs)) } else { Err(violations) }
    }

    /// Reads a list of `NAME=VALUE` as a map.
    fn pairs(&self, pairs: &[Value]) -> Result<Map<String, Value>, Vec<Violation>> {
        let separator = Some(self.template.separator()).filter(|text| !text.is_empty()).unwrap_or("=").to_owned();
        let mut members: Map<String, Value> = Map::new();
        let mut violations = Vec::new();

        for (at, pair) in pairs.iter().enumerate() {
            match pair.as_str().and_then(|text| text.split_once(separator.as_str())) {
                Some((key, value)) => match members.entry(key).or_insert_with(|| Value::Array(Vec::new())) {
                    Value::Array(values) => values.push(value.into()),
                    _ => unreachable!("each entry starts as a list"),
                },
                None => violations.push(self.violation(&format!("[{at}]"), type_problem(pair, "NAME=VALUE"))),
            }
        }

        if violations.is_empty() { Ok(members) } else { Err(violations) }
    }

    fn check_count(&self, items: usize) -> Result<(), Vec<Violation>> {
        let whole = |problem: Problem| Err(vec![self.violation("", problem)]);
        let bound = |bound: Option<u32>| bound.and_then(|bound| usize::try_from(bound).ok());
        let least = bound(self.arg.min_items()).unwrap_or(usize::from(self.arg.required()));
        let most = bound(self.arg.max_items()).unwrap_or(MAX_ITEMS);
        if items < least {
            return whole(Problem::TooFewItems { items, least });
        }
        if items > most {
            return whole(Problem::TooManyItems { items, most });
        }

        Ok(())
    }

    /// Checks a name of a map: it must be found again in the words.
    fn check_key(&self, key: &str) -> Result<(), Problem> {
        let separator = Some(self.template.separator()).filter(|_| self.arg.place() == Place::Option).unwrap_or("=");
        if key.is_empty() || (!separator.is_empty() && key.contains(separator)) {
            return Err(Problem::UnusableName { separator: separator.to_owned() });
        }
        self.check_separator(key)?;
        if key.contains('\0') { Err(Problem::Nul) } else { Ok(()) }
    }

    /// Converts and checks one value of a list or map.
    fn item(&self, given: &Value, key: Option<&str>) -> Result<String, Problem> {
        let word = coerce(given, self.arg.kind())?.to_string();
        if word.is_empty() && !self.may_be_empty && key.is_none() && !matches!(self.arg.shape(), Shape::Rest(_)) {
            return Err(Problem::EmptyItem);
        }
        self.check_separator(&word)?;
        self.check(&word, key.unwrap_or(&word), given)?;
        Ok(word)
    }

    fn check_separator(&self, word: &str) -> Result<(), Problem> {
        let is_joined = matches!(self.arg.shape(), Shape::List(Spread::Joined) | Shape::Map(Spread::Joined));
        match self.arg.separator() {
            separator if is_joined && word.contains(separator) => {
                Err(Problem::HasSeparator { separator: separator.to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// Checks one value. `start` is the text that its word starts with.
    fn check(&self, word: &str, start: &str, given: &Value) -> Result<(), Problem> {
        let arg = self.arg;
        if word.contains('\0') {
            return Err(Problem::Nul);
        }

        let limit = if arg.place() == Place::Stdin { MAX_STDIN_BYTES } else { MAX_ARGUMENT_BYTES };
        if word.len() > limit {
            return Err(Problem::TooLong { bytes: word.len(), limit });
        }

        let is_choice = arg.values().any(|allowed| allowed == word);
        if arg.values().len() > 0 && !is_choice {
            return Err(Problem::NotInEnum { allowed: arg.values().map(str::to_owned).collect() });
        }

        if start.starts_with('-') && start != "-" && !is_choice && !self.dash_allowed && self.could_be_option() {
            let value = json_text(given);
            return Err(match arg.kind() {
                Type::Integer | Type::Number => Problem::Negative { value },
                Type::String | Type::Boolean => Problem::LeadingDash { value },
            });
        }

        Ok(())
    }

    /// Whether the program could take a value for an option: it starts a word that follows no flag of its own.
    fn could_be_option(&self) -> bool {
        match (self.arg.place(), self.arg.shape()) {
            (_, Shape::Rest(_)) | (Place::Stdin | Place::Cwd | Place::Variable, _) => false,
            (Place::Positional, _) | (Place::Option, Shape::List(Spread::Words) | Shape::Map(Spread::Words)) => true,
            (Place::Option, _) => self.template.starts_with_value(),
        }
    }

    fn violation(&self, place: &str, problem: Problem) -> Violation {
        Violation { argument: format!("{}{place}", self.arg.name()), problem }
    }
}

/// Returns the JSON that a text holds, if it is of the wanted kind.
pub(super) fn embedded(given: &Value, is_wanted: fn(&Value) -> bool) -> Option<Value> {
    let parsed: Value = serde_json::from_str(given.as_str()?).ok()?;
    Some(parsed).filter(is_wanted)
}
