//! CLIs: their checked form and their rows, and rows of prompts.

use super::row::{checked_and_row, row};
use super::text::{List, Rows, Str};
use super::tool::CheckedTool;
use crate::checked::{CheckedArg, CommandPart};
use crate::model::Risk;
use crate::needs::Needs;
use crate::prompt::Prompt;
use crate::source::{Span, Spanned};

checked_and_row! {
    /// A CLI: one config file.
    CheckedCli => CliDef {
        /// The name that results show and the `cli` filter matches.
        name: String => Str,
        /// The file name without extension, which selects the CLI too.
        stem: String => Str,
        /// What the program is for; may be empty.
        description: String => Str,
        /// Free text for discovery.
        category: Option<String> => Option<Str>,
        /// Words for discovery.
        tags: Vec<String> => List,
        /// The base command, not yet expanded. A NUL marks the place of an arg.
        words: Vec<CommandPart> => List,
        /// Other spellings of the program, each with the words that it stands for. Both are quoted words.
        programs: Vec<(String, String)> => List,
        /// Words that stand behind the base command in every call.
        always: Vec<String> => List,
        /// Whether the program reads `--flag=true` and `--flag=false` for each option without a value.
        has_boolean_values: bool => bool,
        /// Whether the program reads `-x=V` as `-x V`.
        has_letter_equals: bool => bool,
        /// The variables that its programs read, some with a `*` at their end; empty if nobody knows.
        variables: Vec<String> => List,
        /// Names and values of variables by turns, values as [`EnvValue`](crate::EnvValue) encodes them.
        env: Vec<(String, String)> => List,
        /// The needs of tools that say nothing of theirs: kinds and items by turns.
        needs: Option<Needs> => Option<List>,
        /// The child's directory.
        working_dir: Option<String> => Option<Str>,
        /// The args that are appended to every call.
        global_args: Vec<CheckedArg> => Rows,
    }
    only CheckedCli {
        /// The config's path, for diagnostics.
        path: String,
        /// The location of the name; `None` if the name is the file's stem.
        name_span: Option<Span>,
        /// Its tools.
        tools: Vec<CheckedTool>,
        /// Its prompts.
        prompts: Vec<Spanned<Prompt>>,
    }
    only CliDef {
        /// The highest promised risk of its tools.
        risk: Risk,
        /// Its tools.
        tools: Rows,
    }
}

row! {
    /// A prompt, as JSON that is parsed on request.
    pub struct PromptDef {
        /// The row of [`Catalog::clis`](super::Catalog::clis) that it belongs to.
        pub cli: u32,
        /// Its name, unique in the catalog.
        pub name: Str,
        /// Everything else, as JSON in a format of this crate.
        pub definition: Str,
    }
}
