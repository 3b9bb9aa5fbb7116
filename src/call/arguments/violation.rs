//! Describes invalid arguments, in texts that repeat at most a part of a long value.

use std::fmt;

use climax_catalog::Risk;
use serde_json::Value;

/// Maximum characters of a client's value that a message repeats.
const MAX_ECHOED_CHARS: usize = 200;

/// The reason why an argument is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It is required and absent.
    Missing,
    /// A policy took it away.
    Withheld,
    /// It has a default and a rule of the policy, and a line leaves it out.
    Unstated {
        /// The option that says it.
        option: String,
    },
    /// It is unknown, and resembles the name of an arg without a value.
    Misspelt {
        /// The name that it resembles.
        meant: String,
    },
    /// It is unknown, in a call that names no unknown arguments.
    Unknown {
        /// The names that the tool's arguments have, some of them.
        known: Vec<String>,
        /// The number of the other arguments.
        more: usize,
    },
    /// It is unknown, and requests a dry run that the tool does not support.
    NoDryRun,
    /// It is unknown, and names a directory to run in, which the tool does not take.
    NoDirectory,
    /// It names a tool that may change something, in a call that may only read.
    NotReading {
        /// The tool.
        tool: String,
        /// The risk that its config states.
        risk: Option<Risk>,
        /// The meta-tool that calls it, if one is served.
        caller: Option<&'static str>,
    },
    /// It has another type and cannot be converted.
    Type {
        /// The value, as JSON without the outer quotes of a string.
        value: String,
        /// The type that it should have.
        expected: &'static str,
    },
    /// It is not one of the allowed values.
    NotInEnum {
        /// The allowed values.
        allowed: Vec<String>,
    },
    /// It contains NUL, which no word of a command line can contain.
    Nul,
    /// It is positional and starts with a dash, so the program would take it for an option.
    LeadingDash {
        /// The value, as JSON without the outer quotes of a string.
        value: String,
    },
    /// It is a positional number below zero, so the program would take it for an option.
    Negative {
        /// The value, as JSON without the outer quotes of a string.
        value: String,
    },
    /// It is an empty item of a list.
    EmptyItem,
    /// It contains the separator of its list or map.
    HasSeparator {
        /// The separator.
        separator: String,
    },
    /// It is a name of a map that the command line cannot hold.
    UnusableName {
        /// The text between name and value.
        separator: String,
    },
    /// It has too few items.
    TooFewItems {
        /// The number of items.
        items: usize,
        /// The minimum.
        least: usize,
    },
    /// It has too many items.
    TooManyItems {
        /// The number of items.
        items: usize,
        /// The maximum.
        most: usize,
    },
    /// It is an operand that stands before another one.
    NeededBefore {
        /// The name of the other operand.
        next: String,
    },
    /// It is one of a group of which a call gives exactly one.
    NotExactlyOne {
        /// The names of the group.
        names: Vec<String>,
    },
    /// It is one of a group of which a call gives at most one.
    SeveralOfOne {
        /// The names of the group.
        names: Vec<String>,
    },
    /// It is one of a group that belongs together, and some are absent.
    NotTogether {
        /// The names of the group.
        names: Vec<String>,
    },
    /// It is the longest argument of a command line that is too long.
    LineTooLong {
        /// The length of all arguments in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// It is longer than the limit.
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// It does not match a pattern of the policy.
    Pattern {
        /// The value.
        value: String,
        /// The pattern.
        pattern: String,
    },
    /// It is too long to be checked against a pattern of the policy.
    Uncheckable {
        /// Its length in bytes.
        bytes: usize,
        /// The pattern.
        pattern: String,
    },
    /// It refers to the result of a step of a chain, and the reference names nothing.
    Reference {
        /// The reason.
        reason: String,
    },
    /// It is an option whose order counts, and stands beside `steps`.
    OutsideSteps,
    /// It is a command that no tool takes.
    UnreadCommand {
        /// The reason.
        reason: String,
    },
    /// It is an absent `cwd`, and the policy forbids the directory that the call would run in.
    ForbiddenDirectory {
        /// The reason.
        because: Box<Violation>,
    },
    /// It is not one of the values that the policy permits.
    NotPermitted {
        /// The value.
        value: String,
        /// The permitted values.
        allowed: Vec<String>,
    },
    /// The policy sets it, and the agent gives another value.
    FixedByPolicy,
    /// It is a path outside of the directories that the policy permits.
    Outside {
        /// The value.
        value: String,
        /// The directories.
        directories: Vec<String>,
    },
    /// It is a path that cannot be found, so nobody knows whether the policy permits it.
    Unresolvable {
        /// The value.
        value: String,
        /// The reason.
        reason: String,
    },
    /// The policy sets a minimum or maximum, and it is not a number.
    NotANumber {
        /// The value.
        value: String,
    },
    /// It is below the minimum of the policy.
    BelowMinimum {
        /// The value.
        value: String,
        /// The minimum.
        minimum: String,
    },
    /// It is above the maximum of the policy.
    AboveMaximum {
        /// The value.
        value: String,
        /// The maximum.
        maximum: String,
    },
}

/// An invalid argument, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The argument's name.
    pub argument: String,
    /// The reason.
    pub problem: Problem,
}

/// The texts are part of `docs/contract.md`, "Arguments".
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.argument;
        match &self.problem {
            Problem::Missing => write!(f, "Missing required argument '{name}'"),
            Problem::Withheld => write!(f, "Argument '{name}': not permitted by the policy"),
            Problem::Unstated { option } => write!(
                f,
                "Argument '{name}': the policy has a rule for it, and what the program takes by itself is unknown; give \
                 `{option}`"
            ),
            Problem::Misspelt { .. } | Problem::Unknown { .. } | Problem::NoDryRun | Problem::NoDirectory => {
                write!(f, "Unknown argument '{}': {}", echo(name), unknown(&self.problem))
            }
            Problem::NotReading { tool, risk, caller } => not_reading(f, name, (tool, *risk, *caller)),
            Problem::Type { value, expected } => write!(f, "Argument '{name}': cannot convert '{value}' to {expected}"),
            Problem::NotInEnum { allowed } => write!(f, "Argument '{name}' must be one of: {}", allowed.join(", ")),
            Problem::Nul => write!(f, "Argument '{name}': value contains a NUL character"),
            Problem::LeadingDash { value } => {
                write!(f, "Argument '{name}': value '{value}' would be read as an option")
            }
            Problem::Negative { value } => write!(
                f,
                "Argument '{name}': value '{value}' would be read as an option; only the operator can permit it, by \
                 `allow_leading_dash: true` in the policy or `--` at the end of the tool's command"
            ),
            Problem::TooLong { bytes, limit } => {
                write!(f, "Argument '{name}': value is {bytes} bytes long, the most is {limit}")
            }
            Problem::EmptyItem => write!(f, "Argument '{name}': an item of a list cannot be empty"),
            Problem::HasSeparator { separator } => {
                write!(f, "Argument '{name}': value contains '{separator}', which separates the values")
            }
            Problem::UnusableName { separator } => {
                write!(f, "Argument '{name}': a name cannot be empty or contain '{separator}'")
            }
            Problem::TooFewItems { items, least } => {
                write!(f, "Argument '{name}': {items} items, the least is {least}")
            }
            Problem::TooManyItems { items, most } => write!(f, "Argument '{name}': {items} items, the most is {most}"),
            Problem::NeededBefore { next } => {
                write!(f, "Argument '{name}' must be given: without it the program would take '{next}' for it")
            }
            Problem::NotExactlyOne { names } => write!(f, "Give exactly one of: {}", names.join(", ")),
            Problem::SeveralOfOne { names } => write!(f, "Give at most one of: {}", names.join(", ")),
            Problem::NotTogether { names } => write!(f, "Give together or not at all: {}", names.join(", ")),
            Problem::LineTooLong { bytes, limit } => write!(
                f,
                "Argument '{name}': the arguments are {bytes} bytes long together, the most is {limit}; split the call"
            ),
            Problem::Pattern { value, pattern } => {
                write!(f, "Argument '{name}': value '{value}' does not match pattern '{pattern}'")
            }
            Problem::Uncheckable { bytes, pattern } => {
                write!(
                    f,
                    "Argument '{name}': value of {bytes} bytes is too long to be checked against pattern '{pattern}'"
                )
            }
            Problem::OutsideSteps => {
                write!(
                    f,
                    "Argument '{name}' belongs into 'steps', since its order counts: {{\"steps\": [{{\"{name}\": …}}]}}"
                )
            }
            Problem::Reference { reason } | Problem::UnreadCommand { reason } => {
                write!(f, "Argument '{name}': {reason}")
            }
            Problem::ForbiddenDirectory { because } => {
                write!(f, "{because}: it is the directory of calls without '{name}', so give '{name}'")
            }
            Problem::NotPermitted { value, allowed } => {
                write!(f, "Argument '{name}': value '{value}' is not one of: {}", allowed.join(", "))
            }
            Problem::FixedByPolicy => write!(f, "Argument '{name}': the policy sets its value, so leave it out"),
            Problem::Outside { value, directories } => {
                write!(f, "Argument '{name}': path '{value}' is outside of {}", directories.join(" and "))
            }
            Problem::Unresolvable { value, reason } => {
                write!(f, "Argument '{name}': path '{value}' cannot be checked: {reason}")
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

/// Says what is known of an unknown argument.
fn unknown(problem: &Problem) -> String {
    match problem {
        Problem::Misspelt { meant } => format!("did you mean '{meant}'?"),
        Problem::Unknown { known, .. } if known.is_empty() => "the tool has no arguments".to_owned(),
        Problem::Unknown { known, more: 0 } => format!("the tool has {}", known.join(", ")),
        Problem::Unknown { known, more } => format!("the tool has {} and {more} more", known.join(", ")),
        Problem::NoDryRun => "the tool has no dry run, so nothing was run".to_owned(),
        _ => "the tool takes no directory to run in; give absolute paths".to_owned(),
    }
}

/// Writes that a tool may change something, in a call that may only read.
fn not_reading(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    (tool, risk, caller): (&str, Option<Risk>, Option<&str>),
) -> fmt::Result {
    write!(f, "Argument '{name}': '{}' ", echo(tool))?;
    match risk {
        Some(risk) => write!(f, "has risk {}", risk.as_str())?,
        None => f.write_str("states no risk")?,
    }
    f.write_str(", and this call may only read")?;
    caller.map_or(Ok(()), |caller| write!(f, "; call it with {caller}"))
}

/// Describes a value that is not of the `expected` type.
#[must_use]
pub fn type_problem(value: &Value, expected: &'static str) -> Problem {
    Problem::Type { value: json_text(value), expected }
}

/// Formats a value for a message: its JSON, without the outer quotes of a string, shortened by [`echo`].
pub(super) fn json_text(value: &Value) -> String {
    let json = value.to_string();
    match value {
        Value::String(_) => echo(&json[1..json.len() - 1]),
        _ => echo(&json),
    }
}

/// Shortens a client's text for a message to 200 characters.
#[must_use]
pub fn echo(text: &str) -> String {
    match text.char_indices().nth(MAX_ECHOED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
