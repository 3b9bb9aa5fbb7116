//! Reads command lines into calls: the syntax of a line, then each command of it as a tool with its arguments.

mod about;
mod command;
mod command_words;
mod completion;
mod directories;
mod error;
mod fed;
mod finds;
mod forms;
mod grammar;
mod operands;
mod read_line;
mod reading;
mod resolve;
mod respelling;
mod said;
mod scan;
mod spelling;
mod survey;
mod unread;
mod variables;

pub use command_words::{CommandWords, NamesProgram, Undescribed, UnknownTool};
pub use completion::{Candidate, Completion, CompletionContext, complete};
pub(crate) use directories::changed;
pub use directories::directory_change;
pub use error::LineError;
pub(crate) use fed::{CommandInput, read_fed};
pub(crate) use finds::{first_state, prints_itself};
pub use forms::Builtin;
pub(crate) use forms::{
    Action, Actions, CommandText, FILLED, Filled, Find, Form, Most, Read, Separator, Set, Shopt, Signal, Target, Xargs,
    change_of, ended_by, is_of_shell, loop_count, printed_variable, shift_word, text_to_fill, unset_names,
};
pub use operands::OperandPlace;
pub use read_line::{CommandKey, Feed, ReadCall, ReadCommand, ReadLine};
pub(crate) use reading::with_useful_suggestions;
pub use reading::{FindSpelled, Reading, StartedCommand, read, read_started};
pub(crate) use resolve::ExpandedCommand;
pub use resolve::{Glob, LineContext, UnreadLine};
pub use survey::read_line;
pub(crate) use survey::{MAX_TEXTS, file_call, is_one_pipeline, native_reading, written};
pub use unread::Unread;
pub(crate) use variables::{READABLE, check_settable, is_inherited};
