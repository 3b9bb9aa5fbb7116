//! The values of parameters, and what `${ }` does with them.
//!
//! Source: POSIX.1-2024, "Shell Command Language", 2.6.2; bash(1), "Parameter Expansion".

use std::ops::Range;

use crate::error::SyntaxError;
use crate::expand::{ExpandError, Expander, Known, MAX_VALUE_BYTES, Surroundings, too_long, too_slow};
use crate::matching::{Extent, MAX_PATTERN_STEPS, Matcher, TooManySteps};
use crate::pattern::Pattern;
use crate::state::{LARGEST_PROCESS, Value};
use crate::tree::{Arithmetic, Name, Operation, Parameter, Place, Trim, Word};

/// What a parameter stands for.
pub(crate) enum Found<'w> {
    One(Known),
    /// The word of `${x:-word}`, which stands for the value.
    Word(&'w Word),
    /// `$@`: each becomes a field.
    Several(Vec<String>),
}

impl<S: Surroundings> Expander<'_, S> {
    /// Returns what a parameter stands for.
    pub(crate) fn parameter<'w>(
        &mut self,
        parameter: &'w Parameter,
        place: &Range<usize>,
    ) -> Result<Found<'w>, ExpandError<'w>> {
        let Parameter { name, operation } = parameter;
        if matches!(name, Name::All | Name::Joined | Name::PipeStatuses | Name::JoinedPipeStatuses)
            && let Some(found) = self.several(name, operation, place)?
        {
            return Ok(found);
        }
        let is_open = matches!(name, Name::Variable(name) if self.state.unset_so_far.contains(name));
        let value = match operation {
            operation if self.has_no_value_yet(name, operation) => Value::Unset,
            operation if is_open && operation.asks_for_value() => Value::Open,
            _ => self.value_of(name, place)?,
        };
        if let Some(word) = chosen(&value, operation) {
            return Ok(Found::Word(word));
        }
        self.operated(value, name, operation, place).map(Found::One)
    }

    /// Whether an operation asks for the value of a variable that the line sets, but has not set so far.
    ///
    /// Others need a value. A variable that no command has set would be an empty text, as in `rm -r $x/lib`.
    fn has_no_value_yet(&self, name: &Name, operation: &Operation) -> bool {
        let Name::Variable(name) = name else { return false };
        operation.asks_for_value()
            && self.state.set_somewhere.contains(name)
            && !self.state.variables.contains_key(name)
            && self.surroundings.variable(name).is_none()
    }

    /// What an operation makes of each of several values; `None` if it is about all of them at once.
    fn several<'w>(
        &mut self,
        name: &Name,
        operation: &'w Operation,
        place: &Range<usize>,
    ) -> Result<Option<Found<'w>>, ExpandError<'w>> {
        let values = match name {
            Name::PipeStatuses | Name::JoinedPipeStatuses => {
                let statuses = || self.state.pipe_statuses.iter().map(i32::to_string).collect::<Vec<String>>();
                self.state.status.map(|_| statuses())
            }
            _ => self.state.positions.clone(),
        };
        let Some(values) = values else { return Ok(Some(Found::One(None))) };
        let values = match operation {
            Operation::Value => values,
            Operation::Length => return Ok(Some(Found::One(Some(values.len().to_string())))),
            Operation::Trim(..) | Operation::Replace(..) | Operation::Case(..) => {
                let mut all = Vec::with_capacity(values.len());
                for value in values {
                    match self.operated(Value::Known(value), name, operation, place)? {
                        Some(value) => all.push(value),
                        None => return Ok(Some(Found::One(None))),
                    }
                }
                all
            }
            Operation::Slice(from, length) => {
                let Some((from, length)) = self.part(from, length.as_ref(), place)? else {
                    return Ok(Some(Found::One(None)));
                };
                // The place 0 is `$0`.
                let own = std::iter::once(self.state.name.clone()).filter(|_| matches!(name, Name::All | Name::Joined));
                part_of(&own.chain(values).collect::<Vec<String>>(), from, length, place)?
            }
            // About the values as one text.
            _ if values.concat().is_empty() => return Ok(None),
            Operation::Alternative(..) => return Ok(None),
            _ => values,
        };
        let is_joined = matches!(name, Name::Joined | Name::JoinedPipeStatuses);
        Ok(Some(if is_joined { Found::One(Some(values.join(" "))) } else { Found::Several(values) }))
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
            // Made for names of files: the number of this process would let `kill $$` end it.
            Name::Process => Value::Known((LARGEST_PROCESS + u64::from(std::process::id())).to_string()),
            Name::Background => self.state.background.clone(),
            Name::PipeStatuses | Name::JoinedPipeStatuses => {
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
        let variable = self.state.variables.get(name).filter(|_| !self.state.unset_so_far.contains(name));
        if let Some(variable) = variable {
            return Ok(variable.value.clone());
        }
        self.surroundings.variable(name).map(Value::Known).ok_or_else(|| {
            let problem = format!("the line does not set the variable `{name}`");
            let remedy = of_shell(name)
                .map_or_else(|| format!("write `{name}=…` before it, or write the value out"), str::to_owned);
            SyntaxError::at(place.clone(), problem, remedy)
        })
    }

    /// Does with a value what stands behind its name, which may stand for one that is missing.
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
        if text.is_none() && !operation.asks_for_value() && self.state.options.fails_on_unset {
            return Err(ExpandError::Failed("a parameter has no value, and `set -u` holds".to_owned()));
        }

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

        self.changed(text, operation, place)
    }

    /// Does with a text what an operation does with every value.
    fn changed<'w>(
        &mut self,
        text: String,
        operation: &'w Operation,
        place: &Range<usize>,
    ) -> Result<Known, ExpandError<'w>> {
        // Each operation goes through the text once at least.
        self.state.pattern_steps += text.len() as u64;
        if self.state.pattern_steps > MAX_PATTERN_STEPS {
            return Err(too_slow(place).into());
        }

        Ok(match operation {
            Operation::Length => Some(text.chars().count().to_string()),
            Operation::Trim(trim, word) => {
                let pattern = self.pattern(word)?;
                let rest =
                    pattern.map(|pattern| trimmed(&text, *trim, &pattern, &mut self.state.pattern_steps)).transpose();
                rest.map_err(|TooManySteps| too_slow(place))?
            }
            Operation::Replace(where_, word, with) => {
                let (pattern, with) = (self.pattern(word)?, self.replacement(with)?);
                match pattern.zip(with) {
                    Some((pattern, with)) => {
                        let result = replaced(&text, *where_, (&pattern, &with), &mut self.state.pattern_steps);
                        Some(result.map_err(|TooManySteps| too_slow(place))?.ok_or_else(|| too_long(place))?)
                    }
                    None => None,
                }
            }
            Operation::Slice(from, length) => match self.part(from, length.as_ref(), place)? {
                Some((from, length)) => Some(slice(&text, from, length).ok_or_else(|| no_part(place))?),
                None => None,
            },
            Operation::Case(upper, all) => Some(in_case(&text, *upper, *all)),
            _ => Some(text),
        })
    }

    /// Evaluates where a part starts, and its length if one is given; `None` if this is not known yet.
    fn part<'w>(
        &mut self,
        from: &'w Arithmetic,
        length: Option<&'w Arithmetic>,
        place: &Range<usize>,
    ) -> Result<Option<(i64, Option<i64>)>, ExpandError<'w>> {
        let from = self.evaluate(from, place)?;
        let length = length.map(|length| self.evaluate(length, place)).transpose()?;
        Ok(match (from, length) {
            (Some(from), None) => Some((from, None)),
            (Some(from), Some(Some(length))) => Some((from, Some(length))),
            (None, _) | (_, Some(None)) => None,
        })
    }

    /// Expands the word that a match is replaced by, in which an unquoted `&` is the match.
    fn replacement<'w>(&mut self, word: &'w Word) -> Result<Option<Vec<Option<char>>>, ExpandError<'w>> {
        let (characters, is_open) = self.quoted_characters(word)?;
        let one = |(c, is_quoted): (char, bool)| if c == '&' && !is_quoted { None } else { Some(c) };
        Ok((!is_open).then(|| characters.into_iter().map(one).collect()))
    }

    /// Expands the word of an operation.
    fn operand<'w>(&mut self, word: &'w Word) -> Result<Known, ExpandError<'w>> {
        let field = self.text(word)?;
        Ok((!field.is_open).then_some(field.text))
    }
}

/// What to write for a variable to which bash gives a value of its own, and a line cannot.
fn of_shell(name: &str) -> Option<&'static str> {
    Some(match name {
        "SECONDS" | "EPOCHSECONDS" => "write `$(date +%s)`, and subtract two of them for a duration",
        "EPOCHREALTIME" => "write `$(date +%s.%N)`",
        "PIPESTATUS" => "write `${PIPESTATUS[0]}`, or another index",
        "BASH_REMATCH" => "take the part of the text by `sed -E`",
        "SRANDOM" => "write `$RANDOM`",
        "GROUPS" => "write `$(id -g)`",
        "OSTYPE" | "MACHTYPE" | "HOSTTYPE" => "write `$(uname -s)` or `$(uname -m)`",
        "DIRSTACK" => "write `$PWD`",
        "OLDPWD" => "it has no value before `cd`; write the directory out",
        "IFS" => "values are split at blanks and line breaks; write the characters out",
        "_" => "write the word out",
        "LINENO" | "PPID" | "BASHPID" | "FUNCNAME" | "SHLVL" | "HISTCMD" | "BASH_SUBSHELL" | "BASH_VERSION"
        | "BASH_SOURCE" | "BASH_COMMAND" | "BASH" | "SHELLOPTS" | "BASHOPTS" | "LD_LIBRARY_PATH" => {
            "such a variable of bash has no value here; write the value out, or leave it out"
        }
        _ => return None,
    })
}

/// Removes a match at the start or the end.
fn trimmed(text: &str, trim: Trim, pattern: &Pattern, steps: &mut u64) -> Result<String, TooManySteps> {
    let characters: Vec<char> = text.chars().collect();
    let rest = match trim {
        Trim::ShortestStart | Trim::LongestStart => {
            let extent = if trim == Trim::LongestStart { Extent::Longest } else { Extent::Shortest };
            &characters[Matcher::new(pattern, steps).at_start(&characters, extent)?.unwrap_or_default()..]
        }
        Trim::ShortestEnd | Trim::LongestEnd => {
            let extent = if trim == Trim::LongestEnd { Extent::Longest } else { Extent::Shortest };
            &characters[..at_end(&characters, pattern, extent, steps)?.unwrap_or(characters.len())]
        }
    };
    Ok(rest.iter().collect())
}

/// Returns where a match at the end of a text starts.
fn at_end(text: &[char], pattern: &Pattern, extent: Extent, steps: &mut u64) -> Result<Option<usize>, TooManySteps> {
    let backwards: Vec<char> = text.iter().rev().copied().collect();
    let length = Matcher::new(&pattern.backwards(), steps).at_start(&backwards, extent)?;
    Ok(length.map(|length| text.len() - length))
}

/// Replaces matches, the longest at each place; `None` if the result is too long.
///
/// # Errors
/// To find the matches would take too long.
fn replaced(
    text: &str,
    place: Place,
    (pattern, with): (&Pattern, &[Option<char>]),
    steps: &mut u64,
) -> Result<Option<String>, TooManySteps> {
    let characters: Vec<char> = text.chars().collect();
    let mut result = String::new();
    let replace = |result: &mut String, found: &[char]| {
        for one in with {
            match one {
                Some(c) => result.push(*c),
                None => result.extend(found),
            }
        }
    };

    let mut rest = characters.as_slice();
    match place {
        Place::Start => {
            if let Some(length) = Matcher::new(pattern, steps).at_start(rest, Extent::Longest)? {
                replace(&mut result, &rest[..length]);
                rest = &rest[length..];
            }
        }
        Place::End => {
            if let Some(start) = at_end(rest, pattern, Extent::Longest, steps)? {
                result.extend(&rest[..start]);
                replace(&mut result, &rest[start..]);
                rest = &[];
            }
        }
        // In an empty text there is one match, but none of a pattern that is empty itself.
        Place::First | Place::All if rest.is_empty() => {
            if pattern.matches("", steps)? && !pattern.is_empty() {
                replace(&mut result, &[]);
            }
        }
        Place::First | Place::All => {
            let mut matcher = Matcher::new(pattern, steps);
            while let Some((start, end)) = matcher.find(rest)? {
                result.extend(&rest[..start]);
                replace(&mut result, &rest[start..end]);
                rest = &rest[end..];
                if place == Place::First || result.len() > MAX_VALUE_BYTES {
                    break;
                }
            }
        }
    }
    result.extend(rest);
    *steps += result.len() as u64;
    Ok((result.len() <= MAX_VALUE_BYTES).then_some(result))
}

/// The part of a text from one character on. Negative numbers count from the end.
/// `None` if it would end before it starts.
fn slice(text: &str, from: i64, length: Option<i64>) -> Option<String> {
    let characters: Vec<char> = text.chars().collect();
    let count = i64::try_from(characters.len()).unwrap_or(i64::MAX);
    let from = if from < 0 { count.saturating_add(from) } else { from };
    if from < 0 || from > count {
        return Some(String::new());
    }
    let to = match length {
        None => count,
        Some(length) if length < 0 => count.saturating_add(length),
        Some(length) => from.saturating_add(length).min(count),
    };
    let place = |at: i64| usize::try_from(at).unwrap_or(0);
    (to >= from).then(|| characters.get(place(from)..place(to)).unwrap_or_default().iter().collect())
}

/// The values from one place on. Negative places count from the end.
fn part_of(
    values: &[String],
    from: i64,
    length: Option<i64>,
    place: &Range<usize>,
) -> Result<Vec<String>, SyntaxError> {
    let count = i64::try_from(values.len()).unwrap_or(i64::MAX);
    let from = if from < 0 { count.saturating_add(from) } else { from };
    let length = length.unwrap_or(count);
    if length < 0 {
        return Err(no_part(place));
    }
    if from < 0 || from > count {
        return Ok(Vec::new());
    }
    let at = |at: i64| usize::try_from(at).unwrap_or(0);
    Ok(values[at(from)..at(from.saturating_add(length).min(count))].to_vec())
}

/// The error of a part that ends before it starts.
fn no_part(place: &Range<usize>) -> SyntaxError {
    let problem = "the part of the value would end before it starts";
    SyntaxError::at(place.clone(), problem, "check the length before")
}

/// The word that stands for a value in `${x:-word}` and its kind; `None` if another operation, or none of the word.
fn chosen<'w>(value: &Value, operation: &'w Operation) -> Option<&'w Word> {
    let text = match value {
        Value::Open => return None,
        Value::Known(text) => Some(text),
        Value::Unset => None,
    };
    let is_missing = |counts_empty: bool| text.is_none_or(|text| counts_empty && text.is_empty());
    match operation {
        Operation::Default(word, empty) if is_missing(*empty) => Some(word),
        Operation::Alternative(word, empty) if !is_missing(*empty) => Some(word),
        _ => None,
    }
}

/// Turns the first letter of a text, or `all`, into capital or small ones.
fn in_case(text: &str, upper: bool, all: bool) -> String {
    // A letter that would become several stays.
    let one = |c: char, turned: String| if turned.chars().count() == 1 { turned } else { c.to_string() };
    let turned = |c: char| one(c, if upper { c.to_uppercase().collect() } else { c.to_lowercase().collect() });
    let count = if all { usize::MAX } else { 1 };
    text.chars().enumerate().map(|(at, c)| if at < count { turned(c) } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_replacements_counts_as_steps() {
        let (text, with) = ("a".repeat(1 << 10), vec![Some('b'); 1 << 10]);
        let pattern = Pattern::new(&[('a', false)]);
        let mut steps = 0;
        let mut again = || replaced(&text, Place::All, (&pattern, &with), &mut steps);
        let made = (0..1 << 10).take_while(|_| again().is_ok()).count() as u64;
        assert!(made <= MAX_PATTERN_STEPS >> 20, "{made} texts of 1 MiB");
    }
}
