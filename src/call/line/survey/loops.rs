//! Reads loops: once for each known word, or once with everything open that a turn may change.

use std::collections::BTreeSet;
use std::ops::Range;

use climax_shell::{Arithmetic, Count, For, List, Value, While};

use super::{MAX_COMMANDS, Place, Survey};
use crate::call::line::finds::{assigned, assigned_in_arithmetic};
use crate::call::line::read_line::Feed;
use crate::call::line::resolve::UnreadLine;
use crate::call::line::variables::READABLE;

/// Most known words for which the body of a loop is read once each.
const MAX_TURNS: usize = 32;

impl Survey<'_, '_> {
    /// Reads a loop that counts.
    pub(super) fn count_loop(&mut self, command: &Count, range: &Range<usize>, feed: &Feed) -> Result<(), UnreadLine> {
        let parts = [&command.start, &command.condition, &command.step];
        self.opened(parts.into_iter().flatten(), range)?;
        self.substitutions_in(parts.into_iter().flatten().flat_map(Arithmetic::parts))?;
        self.body(&command.body, feed)
    }

    /// Reads a loop with a condition, which runs once at least.
    pub(super) fn while_loop(&mut self, command: &While, feed: &Feed) -> Result<(), UnreadLine> {
        let unset = self.state.unset_so_far.clone();
        self.open_assigned(&command.condition);
        self.open_assigned(&command.body);
        let before = self.snapshot();
        self.list(&command.condition, feed)?;
        self.in_turn(|survey| survey.list(&command.body, feed))?;
        self.merge(before);
        self.state.unset_so_far = unset;
        Ok(())
    }

    /// Makes open what a loop with arithmetic may change.
    fn opened<'p>(
        &mut self,
        parts: impl Iterator<Item = &'p Arithmetic>,
        range: &Range<usize>,
    ) -> Result<(), UnreadLine> {
        for part in parts {
            let mut names = BTreeSet::new();
            assigned_in_arithmetic(part, &mut names);
            for name in names {
                self.settable(range, &name)?;
                self.state.set(&name, Value::Open);
            }
        }
        Ok(())
    }

    /// Reads the body of a loop, which may run any number of times.
    fn body(&mut self, body: &List, feed: &Feed) -> Result<(), UnreadLine> {
        let unset = self.state.unset_so_far.clone();
        self.open_assigned(body);
        let before = self.snapshot();
        self.in_turn(|survey| survey.list(body, feed))?;
        self.merge(before);
        self.state.unset_so_far = unset;
        Ok(())
    }

    /// Reads a loop over words: once for each if all are known and few, else once with its variable open.
    pub(super) fn for_loop(&mut self, command: &For, feed: &Feed) -> Result<(), UnreadLine> {
        self.settable(&(0..0), &command.name)?;
        let words = command.words.as_deref().unwrap_or_default();
        self.substitutions(words)?;
        let values = match &command.words {
            Some(words) => Some(self.fields(words, &(0..0))?.expanded),
            None => None,
        };
        let known = values.filter(|values| {
            let is_first_loop = self.commands.len() + values.len() * 4 < MAX_COMMANDS;
            values.iter().all(|value| !value.is_open) && values.len() <= MAX_TURNS && is_first_loop
        });
        let Some(values) = known else {
            self.state.set(&command.name, Value::Open);
            return self.body(&command.body, feed);
        };
        for value in values {
            self.state.set(&command.name, Value::Known(value.text));
            self.in_turn(|survey| survey.list(&command.body, feed))?;
        }
        Ok(())
    }

    /// Makes open what the commands of a list set, since they may run any number of times.
    fn open_assigned(&mut self, list: &List) {
        let mut names = BTreeSet::new();
        let changes = assigned(list, &mut names);
        for name in names {
            let is_unset = !self.state.variables.contains_key(&name) && !READABLE.contains(&name.as_str());
            self.state.set(&name, Value::Open);
            if is_unset {
                self.state.unset_so_far.insert(name);
            }
        }
        if changes {
            self.directory = Place::Open;
        }
    }
}
