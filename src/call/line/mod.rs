//! Reads command lines into calls: the syntax of a line, then each command of it as a tool with its arguments.

mod command;
mod completion;
mod grammar;
mod lexer;
mod operands;
mod quoting;
mod reading;
mod resolve;
mod respelling;
mod said;
mod scan;
mod script;
mod syntax;

pub use completion::{Candidate, Completion, CompletionContext, complete};
pub use operands::OperandPlace;
pub(crate) use reading::with_useful_suggestions;
pub use reading::{CommandWords, Reading, StartedCommand, UnknownTool, Unread, read, read_started};
pub use resolve::{Glob, LineContext, ReadLine, ReadStage, ReadStep, UnreadLine, directory_change, read_line};
pub use script::{Condition, LineError, Redirections, Script, Stage, Stderr, Stdout, Step, Word};
pub use syntax::parse;
