//! Tools: their checked form and their rows.

use super::row::checked_and_row;
use super::text::{List, Rows, Str};
use crate::checked::{CheckedArg, CommandPart};
use crate::effects::Effects;
use crate::model::{GroupKind, Risk};
use crate::needs::Needs;
use crate::source::{Span, Spanned};

checked_and_row! {
    /// A tool.
    CheckedTool => ToolDef {
        /// Its name, unique in the catalog.
        name: String => Str,
        /// The name that is shown to users, if it differs from the tool's or prompt's name.
        title: Option<String> => Option<Str>,
        /// What it does and when to use it.
        description: String => Str,
        /// The subcommand. A NUL marks the place of an arg, or of all options.
        words: Vec<CommandPart> => List,
        /// Other spellings of the words of the command, each of quoted words.
        aliases: Vec<String> => List,
        /// Options that every call has.
        always: Vec<String> => List,
        /// Its args.
        args: Vec<CheckedArg> => Rows,
        /// The args that policies took away. Calls and lines that give one are refused by its name.
        withheld: Vec<CheckedArg> => Rows,
        /// Its groups of args.
        groups: Vec<CheckedGroup> => Rows,
        /// How long a call may take, in milliseconds.
        timeout_ms: u32 => u32,
        /// Whether calls usually outlast what clients wait for.
        is_long: bool => bool,
        /// How much the tool can change, if its config says so.
        risk: Option<Risk> => Option<Risk>,
        /// Whether every call prints secrets.
        is_sensitive: bool => bool,
        /// What it has to reach, if its config says so here: kinds and items by turns.
        needs: Option<Needs> => Option<List>,
        /// What its calls change and reach: kinds and items by turns.
        effects: Option<Effects> => Option<List>,
        /// The least risk of calls that need approval by the compiled-in policy.
        approval_from: Option<Risk> => Option<Risk>,
        /// The exit codes that are answers, and their meanings, by turns.
        exit_codes: Vec<(u8, String)> => List,
        /// Requests that the tool serves, in users' words. Only the ranked index reads them.
        phrases: Vec<String> => List,
        /// The media type of what it prints, if that is more than text.
        output: Option<String> => Option<Str>,
        /// The schema of the JSON values that it prints, as JSON.
        output_schema: Option<String> => Option<Str>,
        /// The URI template of the resource that it prints.
        resource: Option<Spanned<String>> => Option<Str>,
        /// The questions that the user answers before each call, in this order.
        questions: Vec<CheckedQuestion> => Rows,
        /// Template of the approval question.
        confirm_message: Option<String> => Option<Str>,
        /// The look-ups of readable names that the approval question needs.
        resolves: Vec<CheckedResolve> => Rows,
    }
    only CheckedTool {
        /// The location of the name, for diagnostics.
        name_span: Span,
    }
    only ToolDef {
        /// The row of [`Catalog::clis`](super::Catalog::clis) that it belongs to.
        cli: u32,
        /// The finished `ToolIndexEntry` as JSON; its last member is `input_schema`.
        entry: Str,
        /// Length in bytes of the schema at the end of `entry`, before the closing brace.
        schema_bytes: u32,
    }
}

impl CheckedTool {
    /// Returns the highest risk that a call can have, as annotations state it.
    pub(crate) fn promised_risk(&self) -> Risk {
        let args = self.args.iter().filter_map(|arg| arg.shape.highest_risk().max(arg.risk.highest()));
        args.chain([Risk::promised(self.risk)]).max().unwrap_or(Risk::Write)
    }
}

checked_and_row! {
    /// A group of args with a rule.
    CheckedGroup => GroupDef {
        /// The rule.
        kind: GroupKind => GroupKind,
        /// The names of the args.
        args: Vec<String> => List,
    }
    only CheckedGroup {}
    only GroupDef {}
}

checked_and_row! {
    /// A question that the user answers before a call.
    CheckedQuestion => QuestionDef {
        /// The question's name in the protocol.
        name: String => Str,
        /// The text that the user reads.
        message: String => Str,
        /// The names of the args that the user fills in.
        args: Vec<String> => List,
    }
    only CheckedQuestion {}
    only QuestionDef {}
}

checked_and_row! {
    /// A look-up of a readable name, by a subcommand of the program.
    CheckedResolve => ResolveDef {
        /// The placeholder that it fills.
        name: String => Str,
        /// The subcommand.
        words: Vec<String> => List,
        /// Names and templates by turns.
        args: Vec<(String, String)> => List,
        /// How long it may take, in milliseconds.
        timeout_ms: u32 => u32,
    }
    only CheckedResolve {}
    only ResolveDef {}
}
