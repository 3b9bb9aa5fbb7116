//! Words by which a described program is asked about itself, such as `git rebase --help`.

use climax_catalog::ToolIndex;

use super::command::Command;
use super::command_words::CommandWords;

/// The options by which programs are asked what they are.
const QUESTIONS: [&str; 4] = ["--help", "-h", "--version", "-V"];

/// Returns whether words ask a described program about itself or about one of its commands.
///
/// The words before the option are those of a command that is served. So `ssh HOST ls --help` asks nothing of `ssh`.
pub(super) fn asks_about_itself(index: &ToolIndex, command: CommandWords<'_>) -> bool {
    let [program, asked @ .., last] = command.words else { return false };
    let asked = match asked {
        asked if QUESTIONS.contains(last) => asked.to_vec(),
        ["help", asked @ ..] => [asked, &[*last]].concat(),
        [] if *last == "help" => Vec::new(),
        _ => return false,
    };

    let is_asked = |own: &Command| {
        let mut words = own.words();
        words.next().is_some_and(|word| (command.names_program)(program, word))
            && asked.iter().all(|asked| words.next() == Some(*asked))
    };
    let may_be_asked = |word: Option<&str>| word.is_none_or(|word| (command.names_program)(program, word));
    let groups = index.groups().filter(|(cli, _)| may_be_asked(cli.words().next()));
    groups.flat_map(|(_, tools)| tools).any(|tool| !tool.is_native() && Command::all(tool).iter().any(is_asked))
}
