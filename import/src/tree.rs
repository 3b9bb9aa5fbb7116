//! Subcommands in a tree → those of one command.
//!
//! Source: the compact template of the library kingpin, whose pages show all commands below their own by indentation alone.

use crate::page_line::indent_of;

/// What the usage line of a command with subcommands ends with.
const MARK: &str = "<command> [<args> ...]";

/// Leaves the names of the subcommands of the command `words` of a tree; any other page stays as it is.
pub(super) fn flattened(text: &str, words: &[String]) -> String {
    let is_tree = text.lines().any(|line| line.starts_with("usage: ") && line.ends_with(MARK));
    let Some((before, tree)) = text.split_once("\nCommands:\n").filter(|_| is_tree) else { return text.to_owned() };
    let mut lines = tree.lines().take_while(|line| line.starts_with(' ')).peekable();
    // The command itself stands above them.
    lines.next_if(|line| !words.is_empty() && line.split_whitespace().eq(words.iter().map(String::as_str)));
    let Some(indent) = lines.peek().map(|line| indent_of(line)) else { return text.to_owned() };
    let own = lines.filter(|line| indent_of(line) == indent);
    let names: Vec<&str> = own.filter_map(|line| line.split_whitespace().next()).collect();
    format!("{before}\nCommands:\n  {}\n", names.join("\n  "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_the_subcommands_of_a_command() {
        let page = "usage: mill [<flags>] <command> [<args> ...]\n\nCommands:\n  help [<command>...]\n  sack\n    \
                    list* [<flags>]\n    mend [<sacks>...]\n  grind --stone=STONE <sack>\n\n";
        assert!(flattened(page, &[]).ends_with("\nCommands:\n  help\n  sack\n  grind\n"), "{}", flattened(page, &[]));
        let words = ["sack".to_owned(), "old".to_owned()];
        let page = "usage: mill sack old <command> [<args> ...]\n\nCommands:\n  sack old\n      list*\n      mend\n        all\n\n";
        assert!(flattened(page, &words).ends_with("\nCommands:\n  list*\n  mend\n"), "{}", flattened(page, &words));
        assert_eq!(flattened("Commands:\n  sack\n", &[]), "Commands:\n  sack\n");
    }
}
