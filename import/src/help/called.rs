//! Subcommands that a page lists by whole calls, each above its description.

use crate::command::Subcommand;
use crate::command_word::is_command_word;
use crate::page_line::indent_of;
use crate::prose;

/// How many commands at least such a list has.
const MIN_COMMANDS: usize = 3;

/// Reads a list of calls: `prog sack mend [options] <sack>` with a description below it.
///
/// `parents` are the program, and the words of the command of the page.
pub(super) fn called_commands(text: &str, parents: &[String]) -> Vec<Subcommand> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut found: Vec<Subcommand> = Vec::new();
    let mut described = 0;
    for (at, line) in lines.iter().enumerate() {
        let Some((name, is_leaf)) = called(line, parents) else { continue };
        let below =
            lines.get(at + 1).filter(|next| indent_of(next) > indent_of(line) && called(next, parents).is_none());
        described += usize::from(below.is_some());
        let known = found.iter_mut().find(|known| known.name == name);
        let about = below.filter(|_| is_leaf).map(|next| prose::shorten(&[next.trim().to_owned()])).unwrap_or_default();
        match known {
            Some(known) if known.about.is_empty() => known.about = about,
            Some(_) => {}
            None => found.push(Subcommand { name: name.to_owned(), about, ..Subcommand::default() }),
        }
    }

    if found.len() >= MIN_COMMANDS && described >= MIN_COMMANDS { found } else { Vec::new() }
}

/// The subcommand of an indented call, and whether no further plain word follows it.
fn called<'a>(line: &'a str, parents: &[String]) -> Option<(&'a str, bool)> {
    if indent_of(line) == 0 {
        return None;
    }
    let mut words = line.split_whitespace();
    if !parents.iter().all(|own| words.next() == Some(own)) {
        return None;
    }
    let name = words.next().filter(|name| is_command_word(name) && *name != "help")?;
    let is_leaf = words.next().is_none_or(|next| !is_command_word(next));
    Some((name, is_leaf))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_calls_are_subcommands() {
        let page = "usage: mill [global] <group> <command> [<args>]\n\n    mill sack add [options] <sack>\n        Add one\n    \
                    mill sack drop <sack>\n        Drop it\n\n    mill grind [options] <sack> <bag>\n    mill grind --all\n        \
                    Grind it\n\n    mill sift <bag>\n        Sift it\n";
        let names = |parents: &[&str]| {
            let parents: Vec<String> = parents.iter().map(|&own| own.to_owned()).collect();
            let found = called_commands(page, &parents);
            found.into_iter().map(|own| format!("{}: {}", own.name, own.about)).collect::<Vec<_>>()
        };
        assert_eq!(names(&["mill"]), ["sack: ", "grind: Grind it", "sift: Sift it"]);
        assert_eq!(names(&["mill", "sack"]), [""; 0], "two are too few for a list");
        assert_eq!(names(&["oven"]), [""; 0]);
    }
}
