//! Evidence that a tool changes something.

use std::fmt;

use super::opening;
use super::words::{HARMLESS_WORDS, READS, WRITES};
use crate::index::words;
use crate::model::Type;
use crate::read::config::{ArgConfig, ToolConfig};
use crate::source::Spanned;

/// The source of the evidence, with the word.
#[derive(Debug, PartialEq)]
pub(super) enum Evidence {
    Description(String),
    Command(String),
    Name(String),
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Description(word) => write!(f, "description (`{word}`)"),
            Self::Command(word) => write!(f, "command (`{word}`)"),
            Self::Name(word) => write!(f, "name (`{word}`)"),
        }
    }
}

/// Looks at the verb of the description. If that verb is in no list, looks at the last word of the command, then at the
/// last word of the name.
pub(super) fn evidence(tool: &ToolConfig) -> Option<Evidence> {
    let command = tool.command.as_ref().map_or("", |command| &command.value);
    if command.split_whitespace().any(|word| HARMLESS_WORDS.contains(&word)) {
        return None;
    }

    let verb = tool.description.as_ref().and_then(|text| opening::verb(&text.value)).unwrap_or_default();
    if WRITES.contains(&verb.as_str()) {
        return Some(Evidence::Description(verb));
    }
    if READS.contains(&verb.as_str()) {
        return None;
    }

    let last = command.split_whitespace().rfind(|word| !word.starts_with('-'));
    if let Some(word) = last.and_then(|word| words(word).last()).filter(|word| WRITES.contains(&word.as_str())) {
        return Some(Evidence::Command(word));
    }

    let last = words(&tool.name.as_ref()?.value).last();
    last.filter(|word| WRITES.contains(&word.as_str())).map(Evidence::Name)
}

/// Words in the names of args that name a program to run or a file to write.
const ARG_WORDS: &[&str] = &["exec", "command", "output", "outfile", "plugin", "pager", "hook", "editor"];

/// Returns the word in the name or flag of an arg by which it probably runs a program or writes a file.
///
/// A switch and an arg with an enum choose among what the program has.
pub(super) fn of_arg(arg: &ArgConfig) -> Option<String> {
    let is_set = |set: &Option<Spanned<bool>>| set.as_ref().is_some_and(|set| set.value);
    // A flag such as `--output=jsonpath=` chooses too.
    let is_chosen = arg.flag.as_ref().is_some_and(|flag| flag.value.matches('=').count() > 1);
    let is_choice = is_chosen || arg.values.is_some() || matches!(arg.kind, Some(kind) if kind != Type::String);

    if is_choice || arg.output.is_some() || is_set(&arg.cwd) || is_set(&arg.stdin) || is_set(&arg.positional) {
        return None;
    }

    let texts = [&arg.name, &arg.flag].into_iter().flatten().map(|text| text.value.as_str());
    // The last word is the noun: `output_delimiter` is no output.
    texts.filter_map(|text| words(text).last()).find(|word| ARG_WORDS.contains(&word.as_str()))
}
