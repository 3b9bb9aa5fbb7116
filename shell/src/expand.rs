//! Expands words into fields, each with where its characters come from.
//!
//! A character is literal, or it comes from an expansion: a variable, a command, arithmetic, a glob. Whoever reads the
//! fields as a command must not let the second kind become an option. Pure: the caller answers what lies outside.
//!
//! Source: POSIX.1-2024, "Shell Command Language", 2.6.

use std::ops::Range;

use crate::commands::is_name;
use crate::error::SyntaxError;
use crate::fields::{Character, Field, Fields, Origin, PLACEHOLDER, is_glob, origin};
use crate::matching::TooManySteps;
use crate::pattern::Pattern;
use crate::regex::escaped;
use crate::state::{Globs, State};
use crate::tree::{Arithmetic, List, Name, Operation, Part, Word};
use crate::values::Found;

/// Most bytes that an expansion may make of a value, so that no line fills the memory.
pub(crate) const MAX_VALUE_BYTES: usize = 8 << 20;

/// Most characters of a regular expression: its brackets may be looked at once for each of them.
const MAX_REGEX_CHARACTERS: usize = 32 << 10;

/// The output of a command in a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Substituted {
    /// The output, and the status of the command.
    Known(String, i32),
    /// It will be known once the line runs.
    Open,
    /// The command must run first; [`ExpandError::Due`] asks for it.
    Due,
}

/// What expansions need to know of what lies outside.
pub trait Surroundings {
    /// Returns a variable that the line may read though it has not set it.
    fn variable(&self, name: &str) -> Option<String>;

    /// Returns the paths that match a glob, sorted; `None` if they are not known. A backslash takes a character's meaning.
    ///
    /// # Errors
    /// The reason why they cannot be listed.
    fn paths(&self, pattern: &str, globs: Globs) -> Result<Option<Vec<String>>, String>;

    /// Returns what the command at a place has printed.
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

/// The text of a value; `None` if it is not known yet.
pub(crate) type Known = Option<String>;

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

    /// Expands the value of an assignment, in which `~` is the home directory behind each `:` too.
    ///
    /// # Errors
    /// As for [`Expander::fields`].
    pub fn value<'w>(&mut self, word: &'w Word) -> Result<Field, ExpandError<'w>> {
        let mut fields = Fields::default();
        for (at, part) in word.parts.iter().enumerate() {
            match part {
                Part::Text(text) => self.value_text(text, (at == 0, at + 1 == word.parts.len()), &mut fields)?,
                Part::Parameter(parameter, place) => {
                    let value = match self.parameter(parameter, place)? {
                        Found::One(value) => value,
                        // It is a part of the value, in which `~` has the same meaning.
                        Found::Word(word) => {
                            let field = self.value(word)?;
                            (!field.is_open).then_some(field.text)
                        }
                        Found::Several(values) => Some(values.join(" ")),
                    };
                    fields.value(value.as_deref(), true);
                }
                part => self.unsplit(std::slice::from_ref(part), &mut fields)?,
            }
            if fields.open.len() > MAX_VALUE_BYTES {
                return Err(too_long(&word.range).into());
            }
        }
        let origin = origin(&fields.open);
        let text = fields.open.iter().map(|one| one.c).collect();
        Ok(Field { text, origin, is_open: fields.is_open, from: 0 })
    }

    /// Expands a word to a pattern; `None` if it is not known yet.
    ///
    /// # Errors
    /// As for [`Expander::fields`].
    pub fn pattern<'w>(&mut self, word: &'w Word) -> Result<Option<Pattern>, ExpandError<'w>> {
        let (characters, is_open) = self.quoted_characters(word)?;
        Ok((!is_open).then(|| Pattern::new(&characters)))
    }

    /// Expands a word to a regular expression, in which quoted characters stand for themselves; `None` if it is not known
    /// yet.
    ///
    /// # Errors
    /// As for [`Expander::fields`].
    pub fn regex<'w>(&mut self, word: &'w Word) -> Result<Known, ExpandError<'w>> {
        let (characters, is_open) = self.quoted_characters(word)?;
        if characters.len() > MAX_REGEX_CHARACTERS {
            let problem = format!("the regular expression has more than {MAX_REGEX_CHARACTERS} characters");
            return Err(SyntaxError::at(word.range.clone(), problem, "let a program do it, such as grep").into());
        }
        Ok((!is_open).then(|| escaped(&characters)))
    }

    /// The characters of a word that is not split, each with whether it is quoted.
    pub(crate) fn quoted_characters<'w>(
        &mut self,
        word: &'w Word,
    ) -> Result<(Vec<(char, bool)>, bool), ExpandError<'w>> {
        let (characters, is_open) = self.characters(word)?;
        Ok((characters.iter().map(|one| (one.c, one.is_quoted)).collect(), is_open))
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
                    let rest = if at == 0 { self.home(text, parts.len() == 1, fields)? } else { text };
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
        let is_value = matches!(parts.first(), Some(Part::Text(text)) if !in_quotes && !assigned(text).0.is_empty());
        for (at, part) in parts.iter().enumerate() {
            match part {
                Part::Text(text) if !in_quotes => {
                    let (is_start, is_end) = (at == 0, at + 1 == parts.len());
                    if is_value {
                        let (name, value) = if is_start { assigned(text) } else { ("", text.as_str()) };
                        fields.literal(name, false);
                        self.value_text(value, (is_start, is_end), fields)?;
                        continue;
                    }
                    let rest = if is_start { self.home(text, is_end, fields)? } else { text };
                    fields.literal(rest, false);
                }
                Part::Text(text) | Part::Quoted(text) => {
                    fields.has_quotes |= !in_quotes;
                    fields.literal(text, true);
                }
                Part::Double(parts) => {
                    fields.has_quotes |= !is_all(parts);
                    self.parts(parts, true, fields)?;
                }
                Part::Parameter(parameter, place) => match self.parameter(parameter, place)? {
                    Found::One(value) => fields.value(value.as_deref(), in_quotes),
                    Found::Word(word) => self.word_of_operation(&word.parts, in_quotes, fields)?,
                    Found::Several(values) => fields.several(&values, in_quotes),
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

    /// Adds the word of `${x:-word}`: a value, of which what is quoted is not split.
    fn word_of_operation<'w>(
        &mut self,
        parts: &'w [Part],
        in_quotes: bool,
        fields: &mut Fields,
    ) -> Result<(), ExpandError<'w>> {
        for (at, part) in parts.iter().enumerate() {
            match part {
                Part::Text(text) => {
                    let mut home = Fields::default();
                    let is_home = at == 0 && !in_quotes;
                    let rest = if is_home { self.home(text, parts.len() == 1, &mut home)? } else { text };
                    let home: String = home.open.iter().map(|one| one.c).collect();
                    if !home.is_empty() {
                        fields.value(Some(&home), true);
                    }
                    fields.value(Some(rest), in_quotes);
                }
                Part::Quoted(text) => {
                    fields.has_quotes |= !in_quotes;
                    fields.value(Some(text), true);
                }
                Part::Double(parts) => {
                    fields.has_quotes |= !in_quotes && !is_all(parts);
                    self.word_of_operation(parts, true, fields)?;
                }
                Part::Parameter(parameter, place) => match self.parameter(parameter, place)? {
                    Found::Word(word) => self.word_of_operation(&word.parts, in_quotes, fields)?,
                    Found::One(value) => fields.value(value.as_deref(), in_quotes),
                    Found::Several(values) => fields.several(&values, in_quotes),
                },
                part => {
                    let value = self.joined(part)?;
                    fields.value(value.as_deref(), in_quotes);
                }
            }
        }
        Ok(())
    }

    /// Adds text of the value of an assignment, in which `~` has its meaning at the start and behind each `:`. `ends` says
    /// whether the value starts and ends with the text.
    fn value_text(&self, text: &str, ends: (bool, bool), fields: &mut Fields) -> Result<(), SyntaxError> {
        let mut segments = text.split(':').enumerate().peekable();
        while let Some((at, segment)) = segments.next() {
            if at > 0 {
                fields.literal(":", false);
            }
            let is_whole = ends.1 || segments.peek().is_some();
            let rest = if at > 0 || ends.0 { self.home(segment, is_whole, fields)? } else { segment };
            fields.literal(rest, false);
        }
        Ok(())
    }

    /// Adds the home directory for a leading `~`, and returns what stands behind it.
    fn home<'t>(&self, text: &'t str, is_whole: bool, fields: &mut Fields) -> Result<&'t str, SyntaxError> {
        let Some(rest) = text.strip_prefix('~') else { return Ok(text) };
        // A name of a user that is quoted or a value is none.
        if !is_whole && !rest.contains('/') {
            return Ok(text);
        }
        if !rest.is_empty() && !rest.starts_with('/') {
            let problem = "directories of other users are not expanded";
            return Err(SyntaxError::at(0..0, problem, "write the path out, or quote the word"));
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
        let globs = self.state.options.globs;
        if is_glob(characters) && !is_open && !globs.are_off {
            let pattern: String = characters
                .iter()
                .flat_map(|one| {
                    let is_plain = one.is_quoted && r"*?[]\!^-:.=".contains(one.c);
                    is_plain.then_some('\\').into_iter().chain([one.c])
                })
                .collect();
            let paths = self
                .surroundings
                .paths(&pattern, globs)
                .map_err(|problem| SyntaxError::at(word.range.clone(), problem, "name the paths, or quote the word"))?;
            if let Some(paths) = paths.filter(|paths| !paths.is_empty() || globs.vanish) {
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
    pub(crate) fn joined<'w>(&mut self, part: &'w Part) -> Result<Known, ExpandError<'w>> {
        Ok(match part {
            Part::Text(text) | Part::Quoted(text) => Some(text.clone()),
            Part::Double(parts) => {
                let mut fields = Fields::default();
                self.unsplit_quoted(parts, &mut fields)?;
                (!fields.is_open).then(|| fields.open.iter().map(|one| one.c).collect())
            }
            Part::Parameter(parameter, place) => match self.parameter(parameter, place)? {
                Found::One(value) => value,
                Found::Word(word) => {
                    let field = self.text(word)?;
                    (!field.is_open).then_some(field.text)
                }
                Found::Several(values) => Some(values.join(" ")),
            },
            Part::Process(_, number) => Some(format!("/dev/fd/{number}")),
            Part::Substitution(list, place) => match self.surroundings.substitution(place) {
                Substituted::Known(text, status) => {
                    self.state.status = Some(status);
                    Some(text.trim_end_matches('\n').to_owned())
                }
                Substituted::Open => {
                    self.state.status = None;
                    None
                }
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
}

/// Splits `NAME=…` behind the `=`, where a shell expands `~` too; also `NAME+=…`.
fn assigned(text: &str) -> (&str, &str) {
    match text.split_once('=') {
        Some((name, _)) if is_name(name.strip_suffix('+').unwrap_or(name)) => text.split_at(name.len() + 1),
        _ => ("", text),
    }
}

/// Whether what stands in quotes is `"$@"` alone, which is no field where there are no positions.
fn is_all(parts: &[Part]) -> bool {
    matches!(parts, [Part::Parameter(parameter, _)]
        if parameter.name == Name::All && parameter.operation != Operation::Length)
}

/// The refusal of a value that would fill the memory.
pub(crate) fn too_long(place: &Range<usize>) -> SyntaxError {
    let problem = format!("the value would have more than {MAX_VALUE_BYTES} bytes");
    SyntaxError::at(place.clone(), problem, "let a program make it, such as sed")
}

/// The refusal of a pattern that would keep the line busy.
pub(crate) fn too_slow(place: &Range<usize>) -> SyntaxError {
    SyntaxError::at(place.clone(), TooManySteps.to_string(), "let a program do it, such as sed")
}
