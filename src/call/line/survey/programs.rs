//! Programs before a line runs: each becomes a call of a tool.

use std::ops::Range;

use climax_shell::{Body, Command, Field, Part};

use super::{Place, Survey};
use crate::call::line::fed::{CommandInput, FedCommand, read_fed};
use crate::call::line::finds::holds_data;
use crate::call::line::read_line::{CommandKey, ReadCall, ReadCommand};
use crate::call::line::resolve::{ExpandedCommand, UnreadLine};

/// A program with its arguments.
#[derive(Clone, Copy)]
pub(super) struct ProgramWords<'w> {
    /// The fields with a placeholder for each expansion.
    pub(super) written: &'w [Field],
    pub(super) fields: &'w [Field],
    /// The places of the words, which the fields name.
    pub(super) places: &'w [Range<usize>],
}

/// What a command gets besides its words.
#[derive(Clone, Copy)]
pub(super) struct Given<'g> {
    /// The variables that stand before it.
    pub(super) variables: &'g [(String, String)],
    /// Whether a value is known only once the line runs: that of such a variable, or one that is put into the words.
    pub(super) is_open: bool,
    pub(super) input: CommandInput<'g>,
}

impl Survey<'_, '_> {
    /// Reads a program as a call of a tool.
    pub(super) fn program(
        &mut self,
        command: &Command,
        words: ProgramWords<'_>,
        given: Given<'_>,
    ) -> Result<(), UnreadLine> {
        let variables = self.variables_for(given);
        let ProgramWords { written, fields, places } = words;
        let expanded = ExpandedCommand {
            line: self.line,
            range: &command.range,
            places,
            written,
            fields,
            variables: &variables,
            started: self.started,
        };
        let read = match read_fed(self.index, expanded, given.input, self.context) {
            // It starts no program.
            Err(UnreadLine::Lacking { .. }) => return Ok(()),
            read => read?,
        };

        let FedCommand { reading, reads_input, feed, variables: program_variables } = read;
        let key = CommandKey {
            words: fields.iter().map(|field| field.text.clone()).collect(),
            variables,
            directory: self.directory.known(),
            feed: given.input.feed.clone(),
        };
        let read = ReadCommand {
            call: ReadCall::Tool(Box::new(reading)),
            is_open: given.is_open || self.directory == Place::Open || has_open(fields),
            key,
            feed,
            reads_input,
            carries_data: given.input.feed.is_data() || is_given_data(command, fields, given),
            variables: program_variables,
            text: self.source(&command.range),
            then: None,
        };
        self.add(read, &command.range)
    }

    /// The variables that a program gets: the exported ones, and its own in their place.
    fn variables_for(&self, given: Given<'_>) -> Vec<(String, String)> {
        let is_own = |name: &str| given.variables.iter().any(|(own, _)| own == name);
        let exported = self.state.exported().filter(|(name, _)| !is_own(name));
        let exported = exported.map(|(name, value)| (name.to_owned(), value.to_owned()));
        exported.chain(given.variables.iter().cloned()).collect()
    }
}

/// Whether the words of a program hold what the line has read, or name a `<(…)` to read.
fn is_given_data(command: &Command, fields: &[Field], given: Given<'_>) -> bool {
    let Body::Simple(simple) = &command.body else { return has_open(fields) };
    let mut parts = simple.words.iter().flat_map(|word| &word.parts);
    let reads_processes = parts.any(|part| matches!(part, Part::Process(..)));
    let is_own_text = !given.is_open && !simple.words.is_empty() && !simple.words.iter().any(holds_data);
    reads_processes || !is_own_text && has_open(fields)
}

/// Whether a field is known only once the line runs.
fn has_open(fields: &[Field]) -> bool {
    fields.iter().any(|field| field.is_open)
}
