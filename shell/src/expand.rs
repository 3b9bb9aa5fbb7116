//! Expands words into fields, each with where its characters come from.
//!
//! A character is literal, or it comes from an expansion: a variable, a command, arithmetic, a glob. Whoever reads the
//! fields as a command must not let the second kind become an option. Pure: the caller answers what lies outside.
//!
//! Source: POSIX.1-2024, "Shell Command Language", 2.6.

use std::ops::Range;

use crate::error::SyntaxError;
use crate::pattern::Pattern;
use crate::state::{State, Value};
use crate::tree::{Arithmetic, Binary, Joint, List, Name, Operation, Parameter, Part, Place, Trim, Unary, Word};

/// The text of an expansion that is not known yet. It can be read as a word, a path and a number.
pub const PLACEHOLDER: &str = "1";

/// Most bytes that an expansion may make of a value, so that no line fills the memory.
const MAX_VALUE_BYTES: usize = 8 << 20;

/// Where a field comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The line has every character of it.
    Literal,
    /// It starts with characters of the line, and others come from an expansion.
    Mixed,
    /// Its first character comes from an expansion.
    Value,
    /// A glob found it.
    Path,
}

/// A word after expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The text.
    pub text: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether a part of it will be known once the line runs, and [`PLACEHOLDER`] stands for it.
    pub is_open: bool,
    /// The place of its word among the words.
    pub from: usize,
}

/// The output of a command in a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Substituted {
    /// The output.
    Known(String),
    /// It will be known once the line runs.
    Open,
    /// The command must run first; [`ExpandError::Due`] asks for it.
    Due,
}

/// What expansions need to know of what lies outside.
pub trait Surroundings {
    /// Returns a variable that the line may read though it has not set it.
    fn variable(&self, name: &str) -> Option<String>;

    /// Returns the paths that match a glob, sorted. A backslash takes a character's meaning.
    ///
    /// # Errors
    /// The reason why they cannot be listed.
    fn paths(&self, pattern: &str) -> Result<Vec<String>, String>;

    /// Returns the output of the command at a place.
    fn substitution(&self, place: &Range<usize>) -> Substituted;
}

/// The reason why words are not expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpandError<'w> {
    /// This command must run first.
    Due(&'w List, Range<usize>),
    /// The line is refused.
    Refused(SyntaxError),
    /// `${x?…}` found no value: the line ends with this message.
    Failed(String),
}

impl From<SyntaxError> for ExpandError<'_> {
    fn from(error: SyntaxError) -> Self {
        Self::Refused(error)
    }
}

/// Expands words.
#[derive(Debug)]
pub struct Expander<'e, S> {
    /// What the line has set. `${x=w}` and arithmetic change it.
    pub state: &'e mut State,
    /// What lies outside.
    pub surroundings: &'e S,
}

/// A character with where it comes from.
#[derive(Clone, Copy)]
struct Character {
    c: char,
    is_quoted: bool,
    is_value: bool,
}

/// The text of a value; `None` if it is not known yet.
type Known = Option<String>;

/// What a parameter stands for.
enum Found {
    One(Known),
    /// `$@`: each becomes a field.
    Several(Vec<String>),
}

/// Fields as they grow.
#[derive(Default)]
struct Fields {
    done: Vec<(Vec<Character>, bool)>,
    open: Vec<Character>,
    /// Whether quotes make a field even if nothing stands in them.
    has_quotes: bool,
    is_open: bool,
}

impl Fields {
    fn end(&mut self) {
        if !self.open.is_empty() || self.has_quotes {
            self.done.push((std::mem::take(&mut self.open), self.is_open));
        }
        (self.has_quotes, self.is_open) = (false, false);
    }

    fn literal(&mut self, text: &str, is_quoted: bool) {
        self.open.extend(text.chars().map(|c| Character { c, is_quoted, is_value: false }));
    }

    /// Adds a value. Outside of quotes it is split at white space.
    fn value(&mut self, known: Option<&str>, is_quoted: bool) {
        self.is_open |= known.is_none();
        for c in known.unwrap_or(PLACEHOLDER).chars() {
            if !is_quoted && matches!(c, ' ' | '\t' | '\n') {
                self.end();
            } else {
                self.open.push(Character { c, is_quoted, is_value: true });
            }
        }
    }
}

impl<S: Surroundings> Expander<'_, S> {
    /// Expands the words of a command.
    ///
    /// # Errors
    /// A command must run first, or the line is refused.
    pub fn fields<'w>(&mut self, words: &'w [Word]) -> Result<Vec<Field>, ExpandError<'w>> {
        let mut all = Vec::with_capacity(words.len());
        let mut size = 0;
        for (from, word) in words.iter().enumerate() {
            // The fast way for most words.
            if let [Part::Text(text)] = word.parts.as_slice()
                && !text.contains(['*', '?', '[', '~'])
            {
                all.push(Field { text: text.clone(), origin: Origin::Literal, is_open: false, from });
                continue;
            }

            let mut fields = Fields::default();
            self.parts(&word.parts, false, &mut fields)?;
            fields.end();
            size += fields.done.iter().map(|(characters, _)| characters.len()).sum::<usize>();
            if size > MAX_VALUE_BYTES {
                return Err(too_long(&word.range).into());
            }
            for (characters, is_open) in fields.done {
                self.add_field(&characters, is_open, from, word, &mut all)?;
            }
        }
        Ok(all)
    }

    /// Expands a word that stays one, as in an assignment or behind `<`. The flag says whether all of it is known, and
    /// the origin where it comes from.
    ///
    /// # Errors
    /// As for [`Expander::fields`].
    pub fn text<'w>(&mut self, word: &'w Word) -> Result<Field, ExpandError<'w>> {
        let (characters, is_open) = self.characters(word)?;
        let origin = origin(&characters);
        Ok(Field { text: characters.iter().map(|one| one.c).collect(), origin, is_open, from: 0 })
    }

    /// Expands a word to a pattern; `None` if it is not known yet.
    ///
    /// # Errors
    /// As for [`Expander::fields`].
    pub fn pattern<'w>(&mut self, word: &'w Word) -> Result<Option<Pattern>, ExpandError<'w>> {
        let (characters, is_open) = self.characters(word)?;
        let characters: Vec<(char, bool)> = characters.iter().map(|one| (one.c, one.is_quoted)).collect();
        Ok((!is_open).then(|| Pattern::new(&characters)))
    }

    /// Expands a word to a regular expression, in which quoted characters stand for themselves; `None` if it is not known
    /// yet.
    ///
    /// # Errors
    /// As for [`Expander::fields`].
    pub fn regex<'w>(&mut self, word: &'w Word) -> Result<Known, ExpandError<'w>> {
        let (characters, is_open) = self.characters(word)?;
        let escaped = |one: &Character| {
            let is_special = one.is_quoted && r"\.+*?()|[]{}^$".contains(one.c);
            is_special.then_some('\\').into_iter().chain([one.c])
        };
        Ok((!is_open).then(|| characters.iter().flat_map(escaped).collect()))
    }

    /// The characters of a word that is not split.
    fn characters<'w>(&mut self, word: &'w Word) -> Result<(Vec<Character>, bool), ExpandError<'w>> {
        let mut fields = Fields::default();
        self.unsplit(&word.parts, &mut fields)?;
        Ok((fields.open, fields.is_open))
    }

    /// Adds parts of a word that is not split. Unquoted text keeps its meaning in patterns.
    fn unsplit<'w>(&mut self, parts: &'w [Part], fields: &mut Fields) -> Result<(), ExpandError<'w>> {
        for (at, part) in parts.iter().enumerate() {
            match part {
                Part::Text(text) => {
                    let rest = if at == 0 { self.home(text, fields)? } else { text };
                    fields.literal(rest, false);
                }
                Part::Quoted(text) => fields.literal(text, true),
                Part::Double(parts) => self.unsplit_quoted(parts, fields)?,
                part => {
                    let value = self.joined(part)?;
                    fields.is_open |= value.is_none();
                    let text = value.as_deref().unwrap_or(PLACEHOLDER);
                    if fields.open.len() + text.len() > MAX_VALUE_BYTES {
                        return Err(too_long(&(0..0)).into());
                    }
                    fields.open.extend(text.chars().map(|c| Character { c, is_quoted: false, is_value: true }));
                }
            }
        }
        Ok(())
    }

    fn unsplit_quoted<'w>(&mut self, parts: &'w [Part], fields: &mut Fields) -> Result<(), ExpandError<'w>> {
        for part in parts {
            match part {
                Part::Text(text) | Part::Quoted(text) => fields.literal(text, true),
                part => {
                    let value = self.joined(part)?;
                    if fields.open.len() + value.as_ref().map_or(0, String::len) > MAX_VALUE_BYTES {
                        return Err(too_long(&(0..0)).into());
                    }
                    fields.value(value.as_deref(), true);
                }
            }
        }
        Ok(())
    }

    /// Adds parts of a word. Values outside of quotes are split.
    fn parts<'w>(&mut self, parts: &'w [Part], in_quotes: bool, fields: &mut Fields) -> Result<(), ExpandError<'w>> {
        for (at, part) in parts.iter().enumerate() {
            match part {
                Part::Text(text) if !in_quotes => {
                    let rest = if at == 0 { self.home(text, fields)? } else { text };
                    fields.literal(rest, false);
                }
                Part::Text(text) | Part::Quoted(text) => {
                    fields.has_quotes |= !in_quotes;
                    fields.literal(text, true);
                }
                Part::Double(parts) => {
                    let only_all = matches!(parts.as_slice(), [Part::Parameter(parameter, _)]
                        if parameter.name == Name::All && parameter.operation == Operation::Value);
                    fields.has_quotes |= !only_all;
                    self.parts(parts, true, fields)?;
                }
                Part::Parameter(parameter, place) => match self.parameter(parameter, place)? {
                    Found::One(value) => fields.value(value.as_deref(), in_quotes),
                    Found::Several(values) => {
                        for (at, value) in values.iter().enumerate() {
                            if at > 0 {
                                fields.end();
                            }
                            fields.has_quotes |= in_quotes;
                            fields.value(Some(value), in_quotes);
                        }
                    }
                },
                part => {
                    let value = self.joined(part)?;
                    fields.value(value.as_deref(), in_quotes);
                }
            }
            if fields.open.len() > MAX_VALUE_BYTES {
                return Err(too_long(&(0..0)).into());
            }
        }
        Ok(())
    }

    /// Adds the home directory for a leading `~`, and returns what stands behind it.
    fn home<'t>(&self, text: &'t str, fields: &mut Fields) -> Result<&'t str, SyntaxError> {
        let Some(rest) = text.strip_prefix('~') else { return Ok(text) };
        if !rest.is_empty() && !rest.starts_with('/') {
            let problem = "directories of other users are not expanded".to_owned();
            return Err(SyntaxError {
                range: 0..0,
                problem,
                remedy: "write the path out, or quote the word".to_owned(),
            });
        }
        match self.surroundings.variable("HOME") {
            Some(home) => {
                fields.literal(&home, true);
                Ok(rest)
            }
            None => Ok(text),
        }
    }

    /// Adds a field, or the paths that it matches.
    fn add_field(
        &self,
        characters: &[Character],
        is_open: bool,
        from: usize,
        word: &Word,
        all: &mut Vec<Field>,
    ) -> Result<(), SyntaxError> {
        let text: String = characters.iter().map(|one| one.c).collect();
        let is_glob = characters.iter().any(|one| !one.is_quoted && matches!(one.c, '*' | '?' | '['));
        if is_glob && !is_open {
            let pattern: String = characters
                .iter()
                .flat_map(|one| {
                    let is_plain = one.is_quoted && matches!(one.c, '*' | '?' | '[' | ']' | '\\');
                    is_plain.then_some('\\').into_iter().chain([one.c])
                })
                .collect();
            let paths = self.surroundings.paths(&pattern).map_err(|problem| SyntaxError {
                range: word.range.clone(),
                problem,
                remedy: "name the paths, or quote the word".to_owned(),
            })?;
            if !paths.is_empty() {
                let safe = |path: String| if path.starts_with('-') { format!("./{path}") } else { path };
                let field = |path| Field { text: safe(path), origin: Origin::Path, is_open: false, from };
                all.extend(paths.into_iter().map(field));
                return Ok(());
            }
        }

        all.push(Field { text, origin: origin(characters), is_open, from });
        Ok(())
    }

    /// The value of an expansion as one text.
    fn joined<'w>(&mut self, part: &'w Part) -> Result<Known, ExpandError<'w>> {
        Ok(match part {
            Part::Text(text) | Part::Quoted(text) => Some(text.clone()),
            Part::Double(parts) => {
                let mut fields = Fields::default();
                self.unsplit_quoted(parts, &mut fields)?;
                (!fields.is_open).then(|| fields.open.iter().map(|one| one.c).collect())
            }
            Part::Parameter(parameter, place) => match self.parameter(parameter, place)? {
                Found::One(value) => value,
                Found::Several(values) => Some(values.join(" ")),
            },
            Part::Substitution(list, place) => match self.surroundings.substitution(place) {
                Substituted::Known(text) => Some(text.trim_end_matches('\n').to_owned()),
                Substituted::Open => None,
                Substituted::Due => return Err(ExpandError::Due(list, place.clone())),
            },
            Part::Arithmetic(expression, place) => self.evaluate(expression, place)?.map(|number| number.to_string()),
        })
    }

    /// Evaluates `(( … ))`; `None` if it is not known yet.
    ///
    /// # Errors
    /// As for [`Expander::fields`].
    pub fn arithmetic<'w>(&mut self, expression: &'w Arithmetic) -> Result<Option<i64>, ExpandError<'w>> {
        self.evaluate(expression, &(0..0))
    }

    fn parameter<'w>(&mut self, parameter: &'w Parameter, place: &Range<usize>) -> Result<Found, ExpandError<'w>> {
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
    fn variable(&self, name: &str, place: &Range<usize>) -> Result<Value, SyntaxError> {
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

    /// Evaluates an expression; `None` if it is not known yet.
    fn evaluate<'w>(
        &mut self,
        expression: &'w Arithmetic,
        place: &Range<usize>,
    ) -> Result<Option<i64>, ExpandError<'w>> {
        Ok(match expression {
            Arithmetic::Number(number) => Some(*number),
            Arithmetic::Value(part) => match self.joined(part)? {
                Some(text) => Some(number(&text, place)?),
                None => None,
            },
            Arithmetic::Unary(operator, value) => self.evaluate(value, place)?.map(|value| match operator {
                Unary::Minus => value.wrapping_neg(),
                Unary::Plus => value,
                Unary::Not => i64::from(value == 0),
                Unary::Complement => !value,
            }),
            Arithmetic::Binary(operator, one, other) => {
                match self.evaluate(one, place)?.zip(self.evaluate(other, place)?) {
                    Some((one, other)) => Some(computed(*operator, one, other).ok_or_else(|| no_result(place))?),
                    None => None,
                }
            }
            Arithmetic::Logic(joint, one, other) => match (self.evaluate(one, place)?, joint) {
                (None, _) => None,
                (Some(0), Joint::And) => Some(0),
                (Some(1.. | ..=-1), Joint::Or) => Some(1),
                _ => self.evaluate(other, place)?.map(|value| i64::from(value != 0)),
            },
            Arithmetic::Choice(condition, then, otherwise) => match self.evaluate(condition, place)? {
                None => None,
                Some(0) => self.evaluate(otherwise, place)?,
                Some(_) => self.evaluate(then, place)?,
            },
            Arithmetic::Assign(name, operator, value) => {
                let value = self.evaluate(value, place)?;
                let value = match operator {
                    None => value,
                    Some(operator) => match self.number_of(name, place)?.zip(value) {
                        Some((one, other)) => Some(computed(*operator, one, other).ok_or_else(|| no_result(place))?),
                        None => None,
                    },
                };
                self.assign(name, value);
                value
            }
            Arithmetic::Step(name, step, is_before) => {
                let before = self.number_of(name, place)?;
                let after = before.map(|value| value.wrapping_add(*step));
                self.assign(name, after);
                if *is_before { before } else { after }
            }
            Arithmetic::Sequence(one, other) => {
                self.evaluate(one, place)?;
                self.evaluate(other, place)?
            }
        })
    }

    fn assign(&mut self, name: &str, value: Option<i64>) {
        self.state.set(name, value.map_or(Value::Open, |value| Value::Known(value.to_string())));
    }

    fn number_of(&self, name: &str, place: &Range<usize>) -> Result<Option<i64>, SyntaxError> {
        match self.variable(name, place)? {
            Value::Known(text) => number(&text, place).map(Some),
            Value::Open => Ok(None),
            Value::Unset => Ok(Some(0)),
        }
    }
}

/// Where a field comes from.
fn origin(characters: &[Character]) -> Origin {
    match characters.first() {
        Some(first) if first.is_value => Origin::Value,
        _ if characters.iter().any(|one| one.is_value) => Origin::Mixed,
        _ => Origin::Literal,
    }
}

/// Reads a value as a decimal number. It is never evaluated again.
fn number(text: &str, place: &Range<usize>) -> Result<i64, SyntaxError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(0);
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    is_decimal.then(|| text.parse().ok()).flatten().ok_or_else(|| SyntaxError {
        range: place.clone(),
        problem: format!("`{}` is no decimal number", text.chars().take(40).collect::<String>()),
        remedy: "in arithmetic every value must be one".to_owned(),
    })
}

fn no_result(place: &Range<usize>) -> SyntaxError {
    let problem = "this has no result: a division by 0, or a negative exponent".to_owned();
    SyntaxError { range: place.clone(), problem, remedy: "check the values before".to_owned() }
}

fn too_long(place: &Range<usize>) -> SyntaxError {
    let problem = format!("the value would have more than {MAX_VALUE_BYTES} bytes");
    SyntaxError { range: place.clone(), problem, remedy: "let a program make it, such as sed".to_owned() }
}

/// Computes with the rules of C for 64 bits; `None` where there is no result.
fn computed(operator: Binary, one: i64, other: i64) -> Option<i64> {
    let shift = u32::try_from(other & 63).ok()?;
    Some(match operator {
        Binary::Add => one.wrapping_add(other),
        Binary::Subtract => one.wrapping_sub(other),
        Binary::Multiply => one.wrapping_mul(other),
        Binary::Divide | Binary::Remainder if other == 0 => return None,
        Binary::Divide => one.wrapping_div(other),
        Binary::Remainder => one.wrapping_rem(other),
        Binary::Power => power(one, other)?,
        Binary::ShiftLeft => one.wrapping_shl(shift),
        Binary::ShiftRight => one.wrapping_shr(shift),
        Binary::And => one & other,
        Binary::Or => one | other,
        Binary::ExclusiveOr => one ^ other,
        Binary::Equal => i64::from(one == other),
        Binary::Unequal => i64::from(one != other),
        Binary::Less => i64::from(one < other),
        Binary::LessOrEqual => i64::from(one <= other),
        Binary::Greater => i64::from(one > other),
        Binary::GreaterOrEqual => i64::from(one >= other),
    })
}

/// Raises to a power, by squares.
fn power(base: i64, exponent: i64) -> Option<i64> {
    let mut left = u64::try_from(exponent).ok()?;
    let (mut result, mut square) = (1_i64, base);
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    Some(result)
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
