//! Answers command lines of `CLImax` 0.5, and words that are no command, with what to write instead.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use climax_catalog::did_you_mean;

use crate::identity;

/// The commands of `CLImax` 0.5 that climax does not have.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum RetiredCommand {
    #[command(hide = true)]
    Skill(AnyWords),
    #[command(hide = true)]
    TestDialog(AnyWords),
}

/// Arguments that are not looked at.
#[derive(clap::Args, Debug)]
pub(crate) struct AnyWords {
    #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
    words: Vec<String>,
}

impl RetiredCommand {
    /// Returns what to do instead.
    pub(crate) fn instead(&self) -> String {
        let program = identity::name();
        match self {
            Self::Skill(_) => format!(
                "there is no command `skill`: agents learn the tools from the server itself; `{program} schema` and \
                 `{program} validate` help to write configs"
            ),
            Self::TestDialog(_) => format!(
                "there is no command `test-dialog`: the client asks for approval (MCP elicitation); \
                 `{program} call TOOL --policy FILE` tries it at the terminal"
            ),
        }
    }
}

/// Words that people try as commands, and what does what they mean. `PROGRAM` stands for the name of this one.
const OTHER_WORDS: [(&str, &str); 3] = [
    ("describe", "`PROGRAM show TOOL` shows a tool with its args"),
    ("serve", "`PROGRAM` without a command starts the server, and so does `PROGRAM run`"),
    ("start", "`PROGRAM` without a command starts the server, and so does `PROGRAM run`"),
];

/// A word that stands where a command could stand, and was probably meant as one.
#[derive(Clone, Debug)]
pub(crate) struct ProbableCommand {
    pub(crate) word: String,
    /// Whether it is one, or names what one does. Else a CLI may be as near.
    pub(crate) is_command: bool,
    /// What to write instead.
    pub(crate) message: String,
}

impl ProbableCommand {
    /// Finds what `word` may have meant among the commands.
    pub(crate) fn of(word: &str, command: &Command) -> Option<Self> {
        let commands = command.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
        let program = identity::name();
        let near = did_you_mean(word, commands);
        let message = match (near, OTHER_WORDS.iter().find(|(other, _)| *other == word)) {
            (Some(same), _) if same == word => format!("the command stands before all options: `{program} {word} …`"),
            (Some(near), _) => format!("there is no command `{word}` either: did you mean `{program} {near}`?"),
            (None, Some((_, instead))) => {
                format!("there is no command `{word}` either: {}", instead.replace("PROGRAM", program))
            }
            (None, None) => return None,
        };
        Some(Self { word: word.to_owned(), is_command: near.is_none_or(|near| near == word), message })
    }
}

/// Adds to an error about an unknown command the one that was probably meant. `words` are those of the command line.
pub(crate) fn with_near_miss(mut error: clap::Error, command: &Command, words: &[String]) -> clap::Error {
    let is_unknown =
        error.kind() == ErrorKind::InvalidSubcommand && error.get(ContextKind::SuggestedSubcommand).is_none();
    let unknown = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) if is_unknown => word.clone(),
        _ => return error,
    };
    let before = words.iter().take_while(|word| **word != unknown);
    let parent = before.fold(command, |parent, word| parent.find_subcommand(word).unwrap_or(parent));
    if let Some(near) = did_you_mean(&unknown, parent.get_subcommands().map(Command::get_name)) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![near.to_owned()]));
    }

    error
}

/// Adds to an error about an option of `call` that it does not have how arguments of tools are written.
pub(crate) fn with_pair(mut error: clap::Error, command: &Command, words: &[String]) -> clap::Error {
    let is_unknown = error.kind() == ErrorKind::UnknownArgument && words.get(1).is_some_and(|word| word == "call");
    let option = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) if is_unknown => option.clone(),
        _ => return error,
    };
    let own = command.find_subcommand("call").into_iter().flat_map(Command::get_arguments);
    let own: Vec<&str> = own.filter_map(clap::Arg::get_long).collect();
    let Some(name) = option.strip_prefix("--").map(|option| option.split('=').next().unwrap_or(option)) else {
        return error;
    };
    if did_you_mean(name, own).is_some() {
        return error;
    }

    let value = words.iter().find_map(|word| word.strip_prefix("--")?.strip_prefix(name)?.strip_prefix('='));
    let pair = format!("{}={}", name.replace('-', "_"), value.unwrap_or("VALUE"));
    error.remove(ContextKind::SuggestedArg);
    // It names the suggested option.
    error.remove(ContextKind::Usage);
    let hint = format!("arguments of tools are words without dashes: `{pair}`");
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    error
}

/// Adds to an error about an option of `CLImax` 0.5 what to write instead.
pub(crate) fn explained(mut error: clap::Error) -> clap::Error {
    let given = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let hint = match (error.kind(), given(ContextKind::InvalidArg), given(ContextKind::InvalidValue)) {
        (ErrorKind::UnknownArgument, "--headless-approve", _) => {
            "write `approval: {headless: approve}` into a policy, and name its file with --policy; without a policy no \
             call needs approval"
        }
        (ErrorKind::InvalidValue, _, "sse") => {
            "`--transport streamable-http` replaces it; clients find it at /mcp instead of /sse"
        }
        _ => return error,
    };
    error.remove(ContextKind::SuggestedArg);
    // It names the suggested option.
    error.remove(ContextKind::Usage);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    error
}
