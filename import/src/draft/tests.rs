//! Tests of drafts.

use super::*;
use crate::read;

fn drafted(page: &str) -> String {
    let command = read(page, &[]).command;
    draft("mill", &command.about.clone(), &[command], "a page", &Selection::default()).text
}

#[test]
fn an_option_that_deletes_is_destructive_in_the_cage_of_a_program_that_writes() {
    let page = "Update the sacks.\n\nUsage: mill [OPTION]... SACK\n\nOptions:\n  --delete      leave no sack\n  \
                --out=FILE    write to this file\n";
    let text = drafted(page);
    assert!(text.contains("cage: workspace"), "{text}");
    assert_eq!(text.matches("risk: destructive").count(), 1, "{text}");
}

#[test]
fn a_command_without_a_help_takes_all_words_in_a_cage() {
    let drafted = |word: &str, about: &str| {
        let unnamed = Command {
            words: vec![word.to_owned()],
            about: about.to_owned(),
            options: read("Usage: mill COMMAND\n\n  --force  do it\n", &[]).command.options,
            forms: Some(String::new()),
            ..Command::default()
        };
        draft("mill", "", &[unnamed], "a page", &Selection::default()).text
    };
    let text = drafted("sift", "Sift the flour");
    assert!(text.contains("cage: read") && text.contains("rest: true"), "{text}");
    // What stands behind its word is part of the rest.
    assert!(text.contains("command: \"{force} sift\""), "{text}");
    let text = drafted("delete", "Delete the flour");
    assert!(!text.contains("rest: true") && text.contains("--force"), "{text}");
}

#[test]
fn a_letter_that_is_shown_with_a_sign_is_read_with_and_without_it() {
    let text = drafted("Usage: mill [OPTION]... SACK\n\nOptions:\n  -n=NUM, --number=NUM  how many\n  -w WAY  how\n");
    assert!(text.contains("aliases: [-n, -n=]"), "{text}");
    assert!(!text.contains("-w="), "{text}");
}

#[test]
fn options_that_most_commands_share_are_written_once() {
    let command = |at: usize| {
        let shared = if at == 0 { "" } else { "  --speed=N     how fast\n  --wind=WAY    from where\n" };
        let page = format!("Usage: mill sift{at} [options] SACK\n\nOptions:\n  --own{at}        its own\n{shared}");
        read(&page, &[format!("sift{at}")]).command
    };
    let commands: Vec<Command> = (0..12).map(command).collect();
    let selection = Selection { main: 0, has_help: true, ..Selection::default() };
    let text = draft("mill", "", &commands, "a page", &selection).text;
    assert_eq!(text.matches("flag: --wind=").count(), 1, "{text}");
    assert_eq!(text.matches("without: [speed, wind]").count(), 2, "the command that lacks them, and the help: {text}");
    assert!(text.find("--wind=") < text.find("tools:"), "{text}");
    assert_eq!(text.matches("flag: --own").count(), 12, "{text}");

    let few = draft("mill", "", &commands[..5], "a page", &selection).text;
    assert_eq!(few.matches("flag: --wind=").count(), 4, "{few}");
}
