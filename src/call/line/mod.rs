//! Reads command lines into calls: the syntax of a line, then each command of it as a tool with its arguments.

mod command;
mod completion;
mod error;
mod forms;
mod grammar;
mod operands;
mod reading;
mod resolve;
mod respelling;
mod said;
mod scan;
mod survey;
mod variables;

pub use completion::{Candidate, Completion, CompletionContext, complete};
pub use error::LineError;
pub use forms::Builtin;
pub(crate) use forms::{Find, Form, Separator, Xargs};
pub use operands::OperandPlace;
pub(crate) use reading::with_useful_suggestions;
pub use reading::{CommandWords, Reading, StartedCommand, UnknownTool, Unread, read, read_started};
pub(crate) use resolve::ExpandedCommand;
pub use resolve::{Glob, LineContext, UnreadLine};
pub use survey::{CommandKey, Feed, ReadCall, ReadCommand, ReadLine, directory_change, read_line};
pub(crate) use survey::{MAX_TEXTS, READABLE, changed, native_reading, read_fed, unsettable, written};
