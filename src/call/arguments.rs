//! Arguments of a call: JSON as a model wrote it → values that the tool's args allow.
//!
//! Pure. All violations are reported at once, so that a model can repair its call in one turn.

use std::fmt;

use climax_catalog::policy::{ArgRule, RuleViolation};
use climax_catalog::{ArgView, OutputFileView, Place, ResolvedTool, Risk, Type, near_misses};
use serde_json::{Map, Value};

/// Characters of a client's value that a message repeats.
const MAX_ECHOED_CHARS: usize = 200;

/// Unknown keys of a call for which near misses are looked for.
pub(crate) const MAX_UNKNOWN_KEYS: usize = 32;

/// Longest value of an argument, in bytes, but for standard input: what one word of a Linux command line can hold.
///
/// Source: `MAX_ARG_STRLEN`, execve(2), less the NUL at its end.
pub(crate) const MAX_ARGUMENT_BYTES: usize = (128 << 10) - 1;

/// Longest text for a program's standard input, in bytes.
pub(crate) const MAX_STDIN_BYTES: usize = 8 << 20;

/// A checked value.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundValue {
    /// Text without NUL.
    String(String),
    /// A whole number.
    Integer(i64),
    /// A finite number, in the notation that it was given in.
    Number(String),
    /// A truth value.
    Boolean(bool),
}

impl fmt::Display for BoundValue {
    /// Writes the value as it goes on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(text) | Self::Number(text) => f.write_str(text),
            Self::Integer(value) => value.fmt(f),
            Self::Boolean(value) => value.fmt(f),
        }
    }
}

/// The checked values of a call, defaults included; those without a value are left out.
#[derive(Clone, Debug)]
pub struct Bound<'a> {
    values: Vec<(ArgView<'a>, BoundValue)>,
}

impl<'a> Bound<'a> {
    /// The value of the arg of this name, if it has one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&BoundValue> {
        self.iter().find(|(arg, _)| arg.name() == name).map(|(_, value)| value)
    }

    /// Adds the paths of the files that the program writes, each where its arg stands.
    #[must_use]
    pub fn with_files(self, tool: ResolvedTool<'a>, path: impl Fn(OutputFileView<'a>) -> String) -> Self {
        let given: Vec<(ArgView<'a>, BoundValue)> = self.values;
        let value = |arg: ArgView<'a>| match arg.output() {
            Some(output) => Some(BoundValue::String(path(output))),
            None => given.iter().find(|(other, _)| other.name() == arg.name()).map(|(_, value)| value.clone()),
        };
        Self { values: tool.args().filter_map(|arg| Some((arg, value(arg)?))).collect() }
    }

    /// The args that have a value, in definition order.
    pub fn iter(&self) -> impl Iterator<Item = (ArgView<'a>, &BoundValue)> {
        self.values.iter().map(|(arg, value)| (*arg, value))
    }
}

/// Why an argument is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It is required and absent.
    Missing,
    /// There is no such argument, and it is nearly the name of one that has no value.
    Misspelt {
        /// That name.
        meant: String,
    },
    /// There is no such argument, and it asks for what the tool would do to be shown only.
    NoDryRun,
    /// It is of another type and cannot be converted.
    Type {
        /// The value, as JSON without the outer quotes of a string.
        value: String,
        /// The type that it should have.
        expected: &'static str,
    },
    /// It is none of the allowed values.
    NotInEnum {
        /// The allowed values.
        allowed: Vec<String>,
    },
    /// It holds a NUL, which ends a word on every command line.
    Nul,
    /// It is positional and starts with a dash, so the program would take it for an option.
    LeadingDash {
        /// The value, as JSON without the outer quotes of a string.
        value: String,
    },
    /// It is longer than a program can be given.
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The most that it could be.
        limit: usize,
    },
    /// The policy asks for values that match a pattern.
    Pattern {
        /// The value.
        value: String,
        /// The pattern, as the policy has it.
        pattern: String,
    },
    /// The policy asks for values that match a pattern, and it is too long to be checked.
    Uncheckable {
        /// Its length in bytes.
        bytes: usize,
        /// The pattern, as the policy has it.
        pattern: String,
    },
    /// The policy bounds it, and it is no number.
    NotANumber {
        /// The value.
        value: String,
    },
    /// It is less than the policy allows.
    BelowMinimum {
        /// The value.
        value: String,
        /// The least that is allowed.
        minimum: String,
    },
    /// It is more than the policy allows.
    AboveMaximum {
        /// The value.
        value: String,
        /// The most that is allowed.
        maximum: String,
    },
}

/// An argument that is refused, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The argument's name.
    pub argument: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// The texts are part of the contract (seed 000).
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.argument;
        match &self.problem {
            Problem::Missing => write!(f, "Missing required argument '{name}'"),
            Problem::Misspelt { meant } => {
                write!(f, "Unknown argument '{}': did you mean '{meant}'?", echo(name))
            }
            Problem::NoDryRun => {
                write!(f, "Unknown argument '{}': the tool cannot show what it would do without doing it", echo(name))
            }
            Problem::Type { value, expected } => write!(f, "Argument '{name}': cannot convert '{value}' to {expected}"),
            Problem::NotInEnum { allowed } => write!(f, "Argument '{name}' must be one of: {}", allowed.join(", ")),
            Problem::Nul => write!(f, "Argument '{name}': value contains a NUL character"),
            Problem::LeadingDash { value } => {
                write!(f, "Argument '{name}': value '{value}' would be read as an option")
            }
            Problem::TooLong { bytes, limit } => {
                write!(f, "Argument '{name}': value is {bytes} bytes long, the most is {limit}")
            }
            Problem::Pattern { value, pattern } => {
                write!(f, "Argument '{name}': value '{value}' does not match pattern '{pattern}'")
            }
            Problem::Uncheckable { bytes, pattern } => {
                write!(
                    f,
                    "Argument '{name}': value of {bytes} bytes is too long to be checked against pattern '{pattern}'"
                )
            }
            Problem::NotANumber { value } => write!(f, "Argument '{name}': value '{value}' is not a number"),
            Problem::BelowMinimum { value, minimum } => {
                write!(f, "Argument '{name}': value {value} is below minimum {minimum}")
            }
            Problem::AboveMaximum { value, maximum } => {
                write!(f, "Argument '{name}': value {value} exceeds maximum {maximum}")
            }
        }
    }
}

/// Checks and converts the arguments of one call; null counts as absent. What the user or the server gives is left out.
///
/// Unknown keys are ignored, but for those that are nearly the name of an arg without a value, and those that ask a tool
/// which changes something to show it only: without `dry_run`, or where it was given as `dryrun`, it would be done.
///
/// Of what a policy says only `allow_leading_dash` counts here; [`check`] looks at the rest.
///
/// # Errors
/// Every violation, in the order of the args' definition; then unknown keys.
pub fn bind<'a>(tool: ResolvedTool<'a>, arguments: &Map<String, Value>) -> Result<Bound<'a>, Vec<Violation>> {
    let bound =
        bind_args(tool, |arg| (!arg.is_from_user() && arg.output().is_none()).then(|| arguments.get(arg.name())));
    let unknown = unknown(tool, arguments);
    match bound {
        Ok(bound) if unknown.is_empty() => Ok(bound),
        Ok(_) => Err(unknown),
        Err(violations) => Err(violations.into_iter().chain(unknown).collect()),
    }
}

/// Unknown keys that cannot be ignored.
fn unknown(tool: ResolvedTool<'_>, arguments: &Map<String, Value>) -> Vec<Violation> {
    let given = |name: &str| arguments.get(name).is_some_and(|value| !value.is_null());
    let unknown = arguments.keys().filter(|key| given(key) && tool.args().all(|arg| arg.name() != key.as_str()));
    let problem = |key: &String| {
        let free = tool.agent_args().map(ArgView::name).filter(|name| !given(name));
        match near_misses(key, free, 1).first() {
            Some(meant) => Some(Problem::Misspelt { meant: (*meant).to_owned() }),
            None => (tool.risk() != Risk::Read && asks_for_dry_run(key, &arguments[key])).then_some(Problem::NoDryRun),
        }
    };
    let violation = |key: &String| Some(Violation { argument: key.clone(), problem: problem(key)? });
    unknown.take(MAX_UNKNOWN_KEYS).filter_map(violation).collect()
}

/// Whether a key that no arg has asks for what would be done to be shown only.
fn asks_for_dry_run(key: &str, value: &Value) -> bool {
    const NAMES: [&str; 6] = ["dryrun", "noact", "noop", "preview", "simulate", "whatif"];
    let name: String = key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let is_refused = coerce(value, Type::Boolean) == Ok(BoundValue::Boolean(false));
    NAMES.contains(&name.as_str()) && !is_refused
}

/// The same with what the user has given.
///
/// # Errors
/// As [`bind`], and what is wrong with what the user has given.
pub fn bind_answered<'a>(
    tool: ResolvedTool<'a>,
    arguments: &Map<String, Value>,
    given: &Map<String, Value>,
) -> Result<Bound<'a>, Vec<Violation>> {
    let values = |arg: ArgView<'_>| if arg.is_from_user() { given } else { arguments };
    bind_args(tool, |arg| arg.output().is_none().then(|| values(arg).get(arg.name())))
}

/// The names of those args of a question that what the user has given for them cannot be used for.
#[must_use]
pub fn unusable_answers(tool: ResolvedTool<'_>, names: &[&str], given: &Map<String, Value>) -> Vec<String> {
    let bound = bind_args(tool, |arg| names.contains(&arg.name()).then(|| given.get(arg.name())));
    let violations = bound.and_then(|bound| check(&bound)).err().unwrap_or_default();
    let mut names: Vec<String> = violations.into_iter().map(|violation| violation.argument).collect();
    names.dedup();
    names
}

/// Binds the args for which there is somebody who may give a value.
fn bind_args<'a, 'v>(
    tool: ResolvedTool<'a>,
    given: impl Fn(ArgView<'a>) -> Option<Option<&'v Value>>,
) -> Result<Bound<'a>, Vec<Violation>> {
    let after_dashes = tool.words().last() == Some("--");
    let mut values = Vec::new();
    let mut violations = Vec::new();
    for (arg, value) in tool.args().filter_map(|arg| Some((arg, given(arg)?))) {
        let dash_allowed = after_dashes || arg.leading_dash() == Some(true);
        match bind_one(arg, value, dash_allowed) {
            Ok(Some(value)) => values.push((arg, value)),
            Ok(None) => {}
            Err(problem) => violations.push(Violation { argument: arg.name().to_owned(), problem }),
        }
    }
    if violations.is_empty() { Ok(Bound { values }) } else { Err(violations) }
}

/// Checks values against the policies that the tool is under, defaults included.
///
/// # Errors
/// Every violation, in the order of the args' definition.
pub fn check(bound: &Bound<'_>) -> Result<(), Vec<Violation>> {
    let broken = bound.iter().flat_map(|(arg, value)| {
        let problems = arg.rules().filter_map(move |rule| problem(&rule.to_rule(), &value.to_string()));
        problems.map(move |problem| Violation { argument: arg.name().to_owned(), problem })
    });
    let violations: Vec<Violation> = broken.collect();
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

fn problem(rule: &ArgRule, word: &str) -> Option<Problem> {
    let value = echo(word);
    Some(match rule.check(word)? {
        RuleViolation::Pattern(pattern) => Problem::Pattern { value, pattern: pattern.to_owned() },
        RuleViolation::TooLong(pattern) => Problem::Uncheckable { bytes: word.len(), pattern: pattern.to_owned() },
        RuleViolation::NotANumber => Problem::NotANumber { value },
        RuleViolation::BelowMinimum(minimum) => Problem::BelowMinimum { value, minimum: minimum.to_string() },
        RuleViolation::AboveMaximum(maximum) => Problem::AboveMaximum { value, maximum: maximum.to_string() },
    })
}

fn bind_one(arg: ArgView<'_>, given: Option<&Value>, dash_allowed: bool) -> Result<Option<BoundValue>, Problem> {
    let Some(given) = given.filter(|value| !value.is_null()) else {
        return if arg.required() { Err(Problem::Missing) } else { Ok(default_value(arg)) };
    };
    let value = coerce(given, arg.kind())?;
    let word = value.to_string();
    if word.contains('\0') {
        return Err(Problem::Nul);
    }
    let limit = if arg.place() == Place::Stdin { MAX_STDIN_BYTES } else { MAX_ARGUMENT_BYTES };
    if word.len() > limit {
        return Err(Problem::TooLong { bytes: word.len(), limit });
    }
    if arg.values().len() > 0 && !arg.values().any(|allowed| allowed == word) {
        return Err(Problem::NotInEnum { allowed: arg.values().map(str::to_owned).collect() });
    }
    if arg.place() == Place::Positional && word.starts_with('-') && !dash_allowed {
        return Err(Problem::LeadingDash { value: json_text(given) });
    }
    Ok(Some(value))
}

/// Defaults were checked when the catalog was made, and are the config's own words.
fn default_value(arg: ArgView<'_>) -> Option<BoundValue> {
    let word = arg.default()?;
    Some(match arg.kind() {
        Type::Boolean => BoundValue::Boolean(word == "true"),
        Type::String | Type::Integer | Type::Number => BoundValue::String(word.to_owned()),
    })
}

/// Converts a JSON value to `kind`: the five coercions of the contract, and no others.
///
/// # Errors
/// [`Problem::Type`].
pub fn coerce(value: &Value, kind: Type) -> Result<BoundValue, Problem> {
    let converted = match (kind, value) {
        (Type::String, Value::String(text)) => Some(BoundValue::String(text.clone())),
        (Type::String, Value::Number(_) | Value::Bool(_)) => Some(BoundValue::String(value.to_string())),
        (Type::Integer, Value::Number(number)) => {
            number.as_i64().or_else(|| whole(&number.to_string())).map(BoundValue::Integer)
        }
        (Type::Integer, Value::String(text)) => text.trim().parse().ok().map(BoundValue::Integer),
        (Type::Number, Value::Number(number)) => finite(&number.to_string()).map(BoundValue::Number),
        (Type::Number, Value::String(text)) => finite(text).map(BoundValue::Number),
        (Type::Boolean, Value::Bool(value)) => Some(BoundValue::Boolean(*value)),
        (Type::Boolean, Value::String(text)) => truth(text).map(BoundValue::Boolean),
        _ => None,
    };
    converted.ok_or_else(|| type_problem(value, kind.as_str()))
}

/// The problem of a value that is not of the `expected` type.
#[must_use]
pub fn type_problem(value: &Value, expected: &'static str) -> Problem {
    Problem::Type { value: json_text(value), expected }
}

/// A value for a message: its JSON, without the outer quotes of a string, cut if it is long.
fn json_text(value: &Value) -> String {
    let json = value.to_string();
    match value {
        Value::String(_) => echo(&json[1..json.len() - 1]),
        _ => echo(&json),
    }
}

/// A client's text for a message, cut if it is longer than [`MAX_ECHOED_CHARS`].
#[must_use]
pub fn echo(text: &str) -> String {
    match text.char_indices().nth(MAX_ECHOED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The integer that a JSON number stands for: `3.0`, `1e16`. Exact: a float would round beyond 2⁵³.
fn whole(number: &str) -> Option<i64> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    if matches!(significant, "" | "-") {
        return Some(0);
    }
    // Digits between the last one that counts and the point; behind the point none may count.
    let point = exponent.parse::<isize>().ok()?.checked_add_unsigned(whole.len())?;
    let zeros = usize::try_from(point.checked_sub_unsigned(significant.len())?).ok()?;
    (zeros < 19).then(|| format!("{significant}{}", "0".repeat(zeros)).parse().ok())?
}

fn finite(text: &str) -> Option<String> {
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    // Rust's grammar of floats has words such as `inf`; those that are finite are digits, signs, `.` and `e`.
    is_number.then(|| text.to_owned())
}

fn truth(text: &str) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}
