//! Expands words before a line runs, as far as they are known by then.

use std::ops::Range;

use climax_shell::{
    Arithmetic, ExpandError, Expander, Field, Globs, Origin, Part, State, Substituted, Surroundings, Value, Word,
};

use super::{Place, Survey};
use crate::call::line::error::LineError;
use crate::call::line::resolve::{LineContext, UnreadLine};
use crate::call::line::variables::{COMPUTED, READABLE};

/// What lies outside of a line before it runs.
struct Outside<'o, 'c> {
    context: LineContext<'c>,
    directory: &'o Place,
    /// Whether globs stay as they are.
    keeps_globs: bool,
}

impl Surroundings for Outside<'_, '_> {
    fn variable(&self, name: &str) -> Option<String> {
        READABLE.contains(&name).then(|| (self.context.env)(name)).flatten()
    }

    fn paths(&self, pattern: &str, globs: Globs) -> Result<Option<Vec<String>>, String> {
        match self.directory {
            Place::Known(directory) if !self.keeps_globs => {
                // Where there is none, the line itself may make some.
                let found = (self.context.glob)(pattern, directory.as_deref(), globs)?;
                Ok(Some(found).filter(|found| !found.is_empty()))
            }
            _ => Ok(None),
        }
    }

    fn substitution(&self, _: &Range<usize>) -> Substituted {
        Substituted::Open
    }
}

/// What stays the same for all fields of a command.
pub(super) struct Fields {
    pub(super) written: Vec<Field>,
    pub(super) expanded: Vec<Field>,
    pub(super) places: Vec<Range<usize>>,
    /// What stands for a value in a text of commands.
    pub(super) replaced: Option<String>,
}

impl Survey<'_, '_> {
    fn outside(&self, keeps_globs: bool) -> Outside<'_, '_> {
        Outside { context: self.context, directory: &self.directory, keeps_globs }
    }

    /// The error of words that are not expanded.
    fn unexpanded(&self, range: &Range<usize>, error: ExpandError<'_>) -> UnreadLine {
        match error {
            ExpandError::Refused(mut error) => {
                if error.range.is_empty() {
                    error.range = range.clone();
                }
                LineError::of_syntax(self.line, error).into()
            }
            ExpandError::Failed(message) => self.error(range, message, "give the variable a value"),
            ExpandError::Due(_, place) => self.error(&place, "this command cannot run first", "write its result out"),
        }
    }

    /// Expands something as far as it is known. Where the command may not run, a failure that depends on values is left to
    /// the time at which it does; `assigned` names the variables that it sets.
    fn expanded_in<'w, T>(
        &mut self,
        range: &Range<usize>,
        assigned: impl Fn() -> Vec<String>,
        expand: impl Fn(&mut Expander<'_, Outside<'_, '_>>) -> Result<T, ExpandError<'w>>,
    ) -> Result<T, UnreadLine> {
        let mut state = std::mem::take(&mut self.state);
        let before = self.may_not_run.then(|| state.clone());
        let outside = self.outside(false);
        let done = expand(&mut Expander { state: &mut state, surroundings: &outside });
        let done = match (done, before) {
            (Err(_), Some(before)) => {
                let again = expand(&mut Expander { state: &mut opened_state(&before), surroundings: &outside });
                state = before;
                for name in assigned() {
                    state.set(&name, Value::Open);
                }
                again
            }
            (done, _) => done,
        };
        let done = done.map_err(|error| self.unexpanded(range, error));
        self.state = state;
        done
    }

    /// Expands words as far as they are known.
    pub(super) fn fields(&mut self, words: &[Word], range: &Range<usize>) -> Result<Fields, UnreadLine> {
        let written = written(words, &self.state, self.context).map_err(|error| self.unexpanded(range, error))?;
        let assigned = || words.iter().flat_map(Word::assigned).collect();
        let expanded = self.expanded_in(range, assigned, |expander| expander.fields(words))?;
        let places = words.iter().map(|word| word.range.clone()).collect();
        Ok(Fields { written, expanded, places, replaced: None })
    }

    /// Expands a word that stays one.
    pub(super) fn text(&mut self, word: &Word) -> Result<Field, UnreadLine> {
        self.expanded_in(&word.range, || word.assigned(), |expander| expander.text(word))
    }

    /// Expands the value of an assignment.
    pub(super) fn value(&mut self, word: &Word) -> Result<Field, UnreadLine> {
        self.expanded_in(&word.range, || word.assigned(), |expander| expander.value(word))
    }

    /// Evaluates arithmetic as far as it is known.
    pub(super) fn arithmetic(&mut self, expression: &Arithmetic, range: &Range<usize>) -> Result<(), UnreadLine> {
        self.expanded_in(range, || expression.assigned(), |expander| expander.arithmetic(expression)).map(drop)
    }

    /// Reads the commands in words.
    pub(super) fn substitutions<'w>(&mut self, words: impl IntoIterator<Item = &'w Word>) -> Result<(), UnreadLine> {
        self.substitutions_in(words.into_iter().flat_map(|word| &word.parts))
    }

    /// Reads the commands in parts of words or of arithmetic.
    pub(super) fn substitutions_in<'p>(&mut self, parts: impl IntoIterator<Item = &'p Part>) -> Result<(), UnreadLine> {
        let mut lists = Vec::new();
        parts.into_iter().for_each(|part| part.add_lists(&mut lists));
        for list in lists {
            let around = self.around.clone();
            self.subshell(|survey| survey.list(list, &around))?;
        }
        Ok(())
    }
}

/// The fields of words with a placeholder for each expansion, and globs as they stand.
pub(crate) fn written<'w>(
    words: &'w [Word],
    state: &State,
    context: LineContext<'_>,
) -> Result<Vec<Field>, ExpandError<'w>> {
    if words.iter().all(|word| word.plain().is_some()) {
        let field = |(from, word): (usize, &Word)| Field {
            text: word.plain().unwrap_or_default().to_owned(),
            origin: Origin::Literal,
            is_open: false,
            from,
        };
        return Ok(words.iter().enumerate().map(field).collect());
    }
    let mut open = opened_state(state);
    let outside = Outside { context, directory: &Place::Open, keeps_globs: true };
    Expander { state: &mut open, surroundings: &outside }.fields(words)
}

/// A state in which no value is known.
fn opened_state(state: &State) -> State {
    let mut open = State { positions: None, status: None, background: Value::Open, ..state.clone() };
    for variable in open.variables.values_mut() {
        variable.value = Value::Open;
    }
    for name in READABLE.iter().chain(&COMPUTED) {
        open.set(name, Value::Open);
    }
    open
}
