//! The help of the program: one screen for `-h`, all options in groups for `--help`.

use clap::{Arg, Command};

use crate::identity;

/// The options that `-h` shows. `--help` shows all.
const SHORT: [&str; 6] = ["names", "configs", "only", "policy", "help", "version"];

/// Options by the heading under which `--help` shows them.
const GROUPS: [(&str, &[&str]); 3] = [
    ("What agents see", &["classic", "extended", "meta", "answers", "call_name", "search", "max_output", "raw_output"]),
    ("Running", &["max_concurrency", "detach_after", "transport", "watch", "no_notify"]),
    ("Records", &["audit", "log_level", "log_file"]),
];

/// Arranges the help, and names the program in it.
pub(crate) fn arranged(command: Command) -> Command {
    let name = identity::name();
    let examples = format!(
        "Examples:\n  {name} install claude-code          tell a client about the server\n  \
         {name} search \"commit history\"      find a tool, as an agent does\n  \
         {name} call git_log max_count=3     call it"
    );
    let more = format!(
        "{examples}\n\nExit status: 0 success, 1 the command failed, 2 usage.\n\nWithout a command the server runs: it \
         speaks MCP on standard input and output and serves every compiled-in CLI, or those that are named. `{name} list` \
         shows them."
    );
    let command = command.name(name).bin_name(name).after_help(examples).after_long_help(more);
    command.mut_args(arranged_argument)
}

fn arranged_argument(arg: Arg) -> Arg {
    let id = arg.get_id().as_str().to_owned();
    let arg = if SHORT.contains(&id.as_str()) { arg } else { arg.hide_short_help(true) };
    match GROUPS.iter().find(|(_, ids)| ids.contains(&id.as_str())) {
        Some((heading, _)) => arg.help_heading(*heading),
        None => arg,
    }
}
