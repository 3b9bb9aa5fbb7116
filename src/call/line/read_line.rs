//! A line whose commands have been read.

use climax_shell::Script;

use super::forms::Builtin;
use super::reading::Reading;
use crate::call::arguments::Input;

/// A line whose commands are calls.
#[derive(Clone, Debug)]
pub struct ReadLine<'a> {
    /// Its syntax.
    pub script: Script,
    /// Its commands and redirections, in order, with what is known of them.
    pub commands: Vec<ReadCommand<'a>>,
    /// Whether it starts commands in the background.
    pub has_background: bool,
}

/// A command or redirection of a line.
#[derive(Clone, Debug)]
pub struct ReadCommand<'a> {
    /// What it is.
    pub call: ReadCall<'a>,
    /// Whether a part of it is known only once the line runs.
    pub is_open: bool,
    /// How it is told from others.
    pub key: CommandKey,
    /// Whether it reads the standard input that it has.
    pub reads_input: bool,
    /// The standard input that its arguments are bound with.
    pub feed: Feed,
    /// Whether it gets what the line has read: from a pipe, a file, or the output of a command.
    pub carries_data: bool,
    /// The variables that its program gets as they are.
    pub variables: Vec<(String, String)>,
    /// The command as it is written.
    pub text: String,
    /// What joins it to the next one; `None` for the last.
    pub then: Option<&'static str>,
}

/// What a command is.
#[derive(Clone, Debug)]
pub enum ReadCall<'a> {
    /// A call of a tool.
    Tool(Box<Reading<'a>>),
    /// A builtin, by its name.
    Builtin(Builtin),
}

/// What makes two commands the same: words, variables, directory, input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CommandKey {
    /// The words.
    pub words: Vec<String>,
    /// The variables before it, with those that were exported.
    pub variables: Vec<(String, String)>,
    /// Where it runs, from where the line starts.
    pub directory: Option<String>,
    /// Its standard input.
    pub feed: Feed,
}

/// The standard input of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Feed {
    /// None.
    #[default]
    Nothing,
    /// A text that is known.
    Text(String),
    /// A pipe or a file.
    Pipe,
    /// What stands before the line, which it need not read.
    Inherited,
    /// The pipe or file of a command of the line around it, which it need not read.
    Inner,
}

impl Feed {
    /// Returns it as an input of calls.
    pub(crate) fn input(&self) -> Input<'_> {
        match self {
            Self::Nothing => Input::Nothing,
            Self::Text(text) => Input::Text(text),
            Self::Pipe | Self::Inherited | Self::Inner => Input::Pipe,
        }
    }

    /// Whether it is what the line has read.
    pub(crate) fn is_data(&self) -> bool {
        matches!(self, Self::Pipe | Self::Inner)
    }
}

impl<'a> ReadLine<'a> {
    /// Returns the calls of tools, those of programs and of files.
    pub fn calls(&self) -> impl Iterator<Item = (&ReadCommand<'a>, &Reading<'a>)> {
        self.commands.iter().filter_map(|command| match &command.call {
            ReadCall::Tool(reading) => Some((command, &**reading)),
            ReadCall::Builtin(_) => None,
        })
    }
}
