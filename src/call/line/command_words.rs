//! The words of a command that is to be read.

use climax_catalog::ResolvedTool;

use crate::call::arguments::Input;

/// A command to read.
#[derive(Clone, Copy)]
pub struct CommandWords<'w> {
    /// The words, the program first.
    pub words: &'w [&'w str],
    /// Variables for the program, by name.
    pub variables: &'w [(&'w str, &'w str)],
    /// Its standard input.
    pub input: Input<'w>,
    /// Returns whether the first word names the program that a config names.
    pub names_program: NamesProgram<'w>,
    /// Returns the tool that runs words in a cage which no config describes; `None` if they do not run.
    pub unknown: UnknownTool<'w>,
    /// Whether an error says why, and what may be meant. To find that out takes as long as to read several commands, which
    /// callers that do not show the error save.
    pub explains: bool,
}

/// Returns the tool that runs words in a cage which no config describes.
pub type UnknownTool<'w> = &'w dyn Fn(Undescribed<'_>) -> Option<ResolvedTool<'static>>;

/// Words that no config describes.
#[derive(Clone, Copy, Debug)]
pub enum Undescribed<'w> {
    /// Of a program, if no config describes it at all.
    Program(&'w [&'w str]),
    /// A described program is asked about itself.
    Question,
}

/// Returns whether a word of a line names the program that a config names.
pub type NamesProgram<'w> = &'w dyn Fn(&str, &str) -> bool;
