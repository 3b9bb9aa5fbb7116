//! Converts JSON values to the types of args.

use std::fmt;

use climax_catalog::Type;
use serde_json::Value;

use super::violation::{Problem, type_problem};

/// A checked value of an arg.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundValue {
    /// Text without NUL.
    String(String),
    /// An integer.
    Integer(i64),
    /// A finite number, in the notation of the client.
    Number(String),
    /// A boolean.
    Boolean(bool),
    /// The values of a list, as on the command line.
    List(Vec<String>),
    /// The names of a map with their values, as on the command line. A name may occur several times.
    Map(Vec<(String, String)>),
}

impl BoundValue {
    /// Returns the texts in it: of a map its values. Numbers and booleans have none.
    #[must_use]
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::String(text) => vec![text],
            Self::List(items) => items.iter().map(String::as_str).collect(),
            Self::Map(pairs) => pairs.iter().map(|(_, value)| value.as_str()).collect(),
            Self::Boolean(_) | Self::Integer(_) | Self::Number(_) => Vec::new(),
        }
    }
}

impl fmt::Display for BoundValue {
    /// Writes the value as on the command line; a list or map as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(text) | Self::Number(text) => f.write_str(text),
            Self::Integer(value) => value.fmt(f),
            Self::Boolean(value) => value.fmt(f),
            Self::List(words) => Value::from(words.clone()).fmt(f),
            Self::Map(pairs) => {
                let pairs = pairs.iter().map(|(name, value)| [name.clone(), value.clone()].to_vec());
                pairs.collect::<Value>().fmt(f)
            }
        }
    }
}

impl BoundValue {
    /// Returns the words of the value: one, or those of a list or map.
    pub fn words(&self) -> impl Iterator<Item = String> {
        let words: Vec<String> = match self {
            Self::List(words) => words.clone(),
            Self::Map(pairs) => pairs.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            single => vec![single.to_string()],
        };
        words.into_iter()
    }
}

/// Converts a JSON value to `kind`.
///
/// Five coercions are supported: text to integer, number or boolean; an integral number such as `3.0` to integer; a
/// number or boolean to text.
///
/// # Errors
/// [`Problem::Type`].
///
/// Source: `docs/contract.md`, "Arguments".
pub fn coerce(value: &Value, kind: Type) -> Result<BoundValue, Problem> {
    let converted = match (kind, value) {
        (Type::String, Value::String(text)) => Some(BoundValue::String(text.clone())),
        (Type::String, Value::Number(_) | Value::Bool(_)) => Some(BoundValue::String(value.to_string())),
        (Type::Integer, Value::Number(number)) => {
            number.as_i64().or_else(|| exact_integer(&number.to_string())).map(BoundValue::Integer)
        }
        (Type::Integer, Value::String(text)) => text.trim().parse().ok().map(BoundValue::Integer),
        (Type::Number, Value::Number(number)) => finite_number(&number.to_string()).map(BoundValue::Number),
        (Type::Number, Value::String(text)) => finite_number(text.trim()).map(BoundValue::Number),
        (Type::Boolean, Value::Bool(value)) => Some(BoundValue::Boolean(*value)),
        (Type::Boolean, Value::String(text)) => parse_boolean(text).map(BoundValue::Boolean),
        _ => None,
    };
    converted.ok_or_else(|| type_problem(value, kind.as_str()))
}

/// Converts the text of a JSON number such as `3.0` or `1e16` to an integer, without rounding.
///
/// A conversion by way of a float would round beyond 2⁵³.
fn exact_integer(number: &str) -> Option<i64> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{integer}{fraction}");
    let significant = digits.trim_end_matches('0');
    if matches!(significant, "" | "-") {
        return Some(0);
    }

    // Zeros between the last significant digit and the point. A significant digit after the point makes it negative.
    let point = exponent.parse::<isize>().ok()?.checked_add_unsigned(integer.len())?;
    let zeros = usize::try_from(point.checked_sub_unsigned(significant.len())?).ok()?;

    (zeros < 19).then(|| format!("{significant}{}", "0".repeat(zeros)).parse().ok())?
}

/// Returns the text of a finite number.
fn finite_number(text: &str) -> Option<String> {
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    // Rust also parses words such as `inf`. Finite numbers have digits, signs, `.` and `e` only.
    is_number.then(|| text.to_owned())
}

/// Parses `true` or `false` in any case.
fn parse_boolean(text: &str) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}
