//! The values of parameters, and what `${ }` does with them.
//!
//! Source: POSIX.1-2024, "Shell Command Language", 2.6.2; bash(1), "Parameter Expansion".

use std::ops::Range;

use crate::error::SyntaxError;
use crate::expand::{ExpandError, Expander, Known, MAX_VALUE_BYTES, Surroundings, too_long};
use crate::pattern::Pattern;
use crate::state::Value;
use crate::tree::{Name, Operation, Parameter, Place, Trim, Word};

/// What a parameter stands for.
pub(crate) enum Found {
    One(Known),
    /// `$@`: each becomes a field.
    Several(Vec<String>),
}

impl<S: Surroundings> Expander<'_, S> {
    /// Returns what a parameter stands for.
    pub(crate) fn parameter<'w>(
        &mut self,
        parameter: &'w Parameter,
        place: &Range<usize>,
    ) -> Result<Found, ExpandError<'w>> {
        let Parameter { name, operation } = parameter;
        if let (Name::All | Name::Joined, Operation::Value) = (name, operation) {
            return Ok(match (&self.state.positions, name) {
                (None, _) => Found::One(None),
                (Some(values), Name::All) => Found::Several(values.clone()),
                (Some(values), _) => Found::One(Some(values.join(" "))),
            });
        }
        let value = self.value_of(name, place)?;
        self.operated(value, name, operation, place).map(Found::One)
    }

    /// The value of a parameter.
    fn value_of<'w>(&mut self, name: &'w Name, place: &Range<usize>) -> Result<Value, ExpandError<'w>> {
        let known = |text: Option<String>| text.map_or(Value::Open, Value::Known);
        Ok(match name {
            Name::Variable(name) => return self.variable(name, place).map_err(ExpandError::Refused),
            Name::Position(0) => Value::Known(self.state.name.clone()),
            Name::Position(number) => match &self.state.positions {
                None => Value::Open,
                Some(values) => values.get(number - 1).map_or(Value::Unset, |text| Value::Known(text.clone())),
            },
            Name::Status => known(self.state.status.map(|status| status.to_string())),
            Name::Count => known(self.state.positions.as_ref().map(|values| values.len().to_string())),
            Name::All | Name::Joined => known(self.state.positions.as_ref().map(|values| values.join(" "))),
            Name::Process => Value::Known(std::process::id().to_string()),
            Name::PipeStatuses => {
                let statuses: Vec<String> = self.state.pipe_statuses.iter().map(i32::to_string).collect();
                known(self.state.status.map(|_| statuses.join(" ")))
            }
            Name::PipeStatus(index) => match (self.evaluate(index, place)?, self.state.status) {
                (Some(index), Some(_)) => {
                    let status = usize::try_from(index).ok().and_then(|at| self.state.pipe_statuses.get(at));
                    status.map_or(Value::Unset, |status| Value::Known(status.to_string()))
                }
                _ => Value::Open,
            },
        })
    }

    /// The value of a variable, which the line must have set or may read.
    pub(crate) fn variable(&self, name: &str, place: &Range<usize>) -> Result<Value, SyntaxError> {
        if let Some(variable) = self.state.variables.get(name) {
            return Ok(variable.value.clone());
        }
        self.surroundings.variable(name).map(Value::Known).ok_or_else(|| SyntaxError {
            range: place.clone(),
            problem: format!("the line does not set the variable `{name}`"),
            remedy: format!("write `{name}=…` before it, or write the value out"),
        })
    }

    /// Does with a value what stands behind its name.
    fn operated<'w>(
        &mut self,
        value: Value,
        name: &Name,
        operation: &'w Operation,
        place: &Range<usize>,
    ) -> Result<Known, ExpandError<'w>> {
        let text = match value {
            Value::Open => return Ok(None),
            Value::Known(text) => Some(text),
            Value::Unset => None,
        };
        let is_missing = |counts_empty: bool| text.as_ref().is_none_or(|text| counts_empty && text.is_empty());
        let text = match operation {
            Operation::Default(word, empty) if is_missing(*empty) => return self.operand(word),
            Operation::Assign(word, empty) if is_missing(*empty) => {
                let value = self.operand(word)?;
                if let Name::Variable(name) = name {
                    self.state.set(name, value.clone().map_or(Value::Open, Value::Known));
                }
                return Ok(value);
            }
            Operation::Alternative(_, empty) if is_missing(*empty) => return Ok(Some(String::new())),
            Operation::Alternative(word, _) => return self.operand(word),
            Operation::Required(word, empty) if is_missing(*empty) => {
                let message = self.operand(word)?.unwrap_or_default();
                return Err(ExpandError::Failed(message));
            }
            _ => text.unwrap_or_default(),
        };

        Ok(match operation {
            Operation::Length => Some(text.chars().count().to_string()),
            Operation::Trim(trim, word) => self.pattern(word)?.map(|pattern| trimmed(&text, *trim, &pattern)),
            Operation::Replace(where_, word, with) => {
                let (pattern, with) = (self.pattern(word)?, self.operand(with)?);
                match pattern.zip(with) {
                    Some((pattern, with)) => {
                        Some(replaced(&text, *where_, &pattern, &with).ok_or_else(|| too_long(place))?)
                    }
                    None => None,
                }
            }
            Operation::Slice(from, length) => {
                let from = self.evaluate(from, place)?;
                let length = length.as_ref().map(|length| self.evaluate(length, place)).transpose()?;
                match (from, length) {
                    (None, _) | (_, Some(None)) => None,
                    (Some(from), length) => Some(slice(&text, from, length.flatten())),
                }
            }
            Operation::Case(upper, all) => Some(in_case(&text, *upper, *all)),
            _ => Some(text),
        })
    }

    /// Expands the word of an operation.
    fn operand<'w>(&mut self, word: &'w Word) -> Result<Known, ExpandError<'w>> {
        let field = self.text(word)?;
        Ok((!field.is_open).then_some(field.text))
    }
}

/// Removes a match at the start or the end.
fn trimmed(text: &str, trim: Trim, pattern: &Pattern) -> String {
    let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    if matches!(trim, Trim::LongestStart | Trim::ShortestEnd) {
        places.reverse();
    }
    let found = match trim {
        Trim::ShortestStart | Trim::LongestStart => {
            places.iter().find(|at| pattern.matches(&text[..**at])).map(|at| &text[*at..])
        }
        Trim::ShortestEnd | Trim::LongestEnd => {
            places.iter().find(|at| pattern.matches(&text[**at..])).map(|at| &text[..*at])
        }
    };
    found.unwrap_or(text).to_owned()
}

/// Replaces matches, the longest at each place; `None` if the result is too long.
fn replaced(text: &str, place: Place, pattern: &Pattern, with: &str) -> Option<String> {
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let longest = |from: usize| {
        ends.iter().rev().take_while(|end| **end >= from).find(|end| pattern.matches(&text[from..**end])).copied()
    };
    match place {
        Place::Start => {
            return Some(longest(0).map_or_else(|| text.to_owned(), |end| format!("{with}{}", &text[end..])));
        }
        Place::End => {
            let start = ends.iter().find(|start| pattern.matches(&text[**start..]));
            return Some(start.map_or_else(|| text.to_owned(), |start| format!("{}{with}", &text[..*start])));
        }
        Place::First | Place::All => {}
    }

    let mut result = String::new();
    let mut at = 0;
    while at < text.len() {
        if let Some(end) = longest(at).filter(|end| *end > at) {
            result.push_str(with);
            at = end;
            if place == Place::First {
                break;
            }
        } else {
            let c = text[at..].chars().next()?;
            result.push(c);
            at += c.len_utf8();
        }
        if result.len() > MAX_VALUE_BYTES {
            return None;
        }
    }
    result.push_str(&text[at..]);
    Some(result)
}

/// The part of a text from one character on. Negative numbers count from the end.
fn slice(text: &str, from: i64, length: Option<i64>) -> String {
    let characters: Vec<char> = text.chars().collect();
    let count = i64::try_from(characters.len()).unwrap_or(i64::MAX);
    let from = if from < 0 { count.saturating_add(from) } else { from };
    if from < 0 || from > count {
        return String::new();
    }
    let to = match length {
        None => count,
        Some(length) if length < 0 => count.saturating_add(length),
        Some(length) => from.saturating_add(length).min(count),
    };
    let place = |at: i64| usize::try_from(at).unwrap_or(0);
    characters.get(place(from)..place(to.max(from))).unwrap_or_default().iter().collect()
}

fn in_case(text: &str, upper: bool, all: bool) -> String {
    let turned = |c: char| -> String { if upper { c.to_uppercase().collect() } else { c.to_lowercase().collect() } };
    let count = if all { usize::MAX } else { 1 };
    text.chars().enumerate().map(|(at, c)| if at < count { turned(c) } else { c.to_string() }).collect()
}
