//! What is known of the risks of a command and of its options: what their source states, and what their verbs show.

mod words;

use climax_catalog::{Risk, Type};

use self::words::{
    ADDRESSES, COMMANDING, DELETES, DELETING, EXECUTED, EXECUTING, FILES, FILING, FORCING, PROMPTING, REACHING,
    READING, REMOTE, REPLACING, RUNNING, RUNS, WARNINGS, WRITING,
};
use crate::command::{Command, Flag};

/// What is known of the risk of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assessed {
    /// The source states it.
    Stated(Risk),
    /// A verb shows it.
    Shown(Risk),
    /// Nothing shows what it does, so a cage has to hold it.
    Unknown,
}

impl Assessed {
    /// Returns the risk that the draft states.
    pub(super) fn written(self, is_caged: bool) -> Risk {
        match self {
            Self::Stated(risk) | Self::Shown(risk) => risk,
            Self::Unknown if is_caged => Risk::Read,
            Self::Unknown => Risk::Destructive,
        }
    }
}

/// Returns what the source of a command, its verb and its description show of its risk.
///
/// What they do not show is unknown, also where the words sound harmless: a page that says "list" may start programs that
/// a directory names.
///
/// A command of a program that reaches other machines, as `about` says, would do nothing in a cage.
pub(super) fn of_command(command: &Command, about: &str) -> Assessed {
    if let Some(risk) = command.risk {
        return Assessed::Stated(risk);
    }

    let words = &command.words;
    let is_program = words.is_empty();
    let named = of_words(words);
    let described = of_about(&command.about, is_program);
    let shown = match (named, described) {
        (Some(named), Some(described)) if named > Risk::Read => Some(named.max(described)),
        // `list` and the like, whatever else the description speaks of.
        (Some(_), _) => None,
        (None, described) => described,
    };
    match shown.or_else(|| named.filter(|risk| *risk > Risk::Read)) {
        // Whoever starts any words elsewhere starts what no cage holds.
        Some(_) if command.operands.iter().any(|operand| operand.rest) => Assessed::Shown(Risk::Destructive),
        Some(_) if does_anything(command) || command.replaces => Assessed::Shown(Risk::Destructive),
        Some(risk) => Assessed::Shown(risk),
        None => match (reach(about), named) {
            (Some(_), _) if does_anything(command) => Assessed::Shown(Risk::Destructive),
            (Some(_), Some(_)) => Assessed::Shown(Risk::Write),
            (Some(_), None) if !is_program => Assessed::Shown(Risk::Destructive),
            _ if has_address(command) => Assessed::Shown(Risk::Write),
            _ => Assessed::Unknown,
        },
    }
}

/// Whether a command takes commands of its own, or executes a text: `shell`, "Execute SQL query".
fn does_anything(command: &Command) -> bool {
    let sentence = command.about.split(". ").next().unwrap_or_default().to_ascii_lowercase();
    let words = || sentence.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let executes = words().take(2).any(|word| EXECUTING.contains(&word.trim_end_matches('s')));
    let is_prompt = command.words.last().is_some_and(|word| PROMPTING.contains(&word.as_str()));
    is_prompt || executes && words().any(|word| EXECUTED.contains(&word))
}

/// The risk by the words of a subcommand: the last one is its verb, the others count if it is none.
fn of_words(words: &[String]) -> Option<Risk> {
    let last = words.last().and_then(|last| of_word(last));
    // `delete-all`, `rm-cache`, and a verb that is not the last word.
    let parts = || words.iter().rev().flat_map(|word| word.split(['-', '_', ':']));
    last.or_else(|| parts().filter_map(of_word).max())
}

/// The risk by the first words of the description, and what else its first sentence says of deleting.
fn of_about(about: &str, is_program: bool) -> Option<Risk> {
    let sentence = about.split(". ").next().unwrap_or_default().to_ascii_lowercase();
    let words = || sentence.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    // "Interactively edit", "Tool to copy".
    let of = |word| of_verb(word).or_else(|| if is_program { of_noun(word) } else { None });
    let verb = words().take(if is_program { 12 } else { 2 }).filter_map(of).filter(|risk| *risk > Risk::Read).max();
    let risk = verb.max(reach(about).filter(|_| is_program))?;
    let destroys = words().any(|word| of_verb(word) == Some(Risk::Destructive));

    Some(if destroys { Risk::Destructive } else { risk })
}

/// Returns whether the description of a program shows that it needs the network.
pub(super) fn reaches(command: &Command) -> bool {
    let about = command.about.to_ascii_lowercase();
    let mut words = about.split(|c: char| !c.is_ascii_alphabetic());
    reach(&command.about).is_some()
        || has_address(command)
        || words.any(|word| REACHING.contains(&word.trim_end_matches('s')))
}

/// Whether an operand is a place on a network.
fn has_address(command: &Command) -> bool {
    command.operands.iter().any(|operand| ADDRESSES.contains(&operand.name.to_ascii_lowercase().as_str()))
}

/// The risk of a program that reaches other machines by its description; `None` if it does not say so.
fn reach(about: &str) -> Option<Risk> {
    let sentence = about.split(". ").next().unwrap_or_default().to_ascii_lowercase();
    let has = |list: &[&str]| sentence.split(|c: char| !c.is_ascii_alphabetic()).any(|word| list.contains(&word));
    if has(&COMMANDING) { Some(Risk::Destructive) } else { has(&REMOTE).then_some(Risk::Write) }
}

/// The risk of a verb, also in the third person and as a noun of who does it: `searches`, `copies`, `copying`.
fn of_verb(word: &str) -> Option<Risk> {
    let stems = [Some(word), word.strip_suffix('s'), word.strip_suffix("es"), word.strip_suffix("ing")];
    let copies = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    let moving = word.strip_suffix("ing").map(|stem| format!("{stem}e"));
    stems.into_iter().flatten().chain(copies.as_deref()).chain(moving.as_deref()).find_map(of_word)
}

/// The risk by a noun of who does it or of what is done, and by verbs that start other programs: `converter`, `runner`,
/// `encryption`.
fn of_noun(word: &str) -> Option<Risk> {
    let endings = ["er", "or", "ing", "ation", "ion", "s", ""];
    let stems = endings.iter().filter_map(|ending| word.strip_suffix(ending)).filter(|stem| stem.len() > 2);
    let is_doubled = |stem: &str| stem.len() > 3 && stem.as_bytes()[stem.len() - 1] == stem.as_bytes()[stem.len() - 2];
    let forms = |stem: &str| {
        let single = if is_doubled(stem) { &stem[..stem.len() - 1] } else { stem };
        [stem.to_owned(), format!("{stem}e"), single.to_owned()]
    };
    stems.flat_map(forms).find_map(|stem| {
        let runs = EXECUTING.contains(&stem.as_str());
        if runs { Some(Risk::Destructive) } else { of_word(&stem) }
    })
}

/// Returns the risk that an option adds to that of its command, where no cage holds it.
///
/// A switch has no value that names a program or a file, so only what it deletes or rewrites counts.
pub(super) fn of_option(flag: &Flag) -> Option<Risk> {
    let name = flag.spellings[0].trim_start_matches('-').to_ascii_lowercase();
    let parts: Vec<&str> = name.split(['-', '_', '.']).collect();
    let about = flag.about.to_ascii_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| about.contains(phrase));
    let takes_text = flag.value.as_ref().is_some_and(|value| {
        value.values.is_none() && value.kind.as_ref().is_none_or(|kind| *kind.get() == Type::String)
    });
    let deletes = parts.first() != Some(&"no")
        && !about.starts_with("do not")
        && (parts.iter().any(|part| DELETING.contains(part) || FORCING.contains(part)) || says(&DELETES));
    let overwrites = parts.first() != Some(&"no") && parts.contains(&"overwrite");
    if overwrites || says(&WARNINGS) {
        return Some(Risk::Destructive);
    }
    if !takes_text {
        let rewrites = says(&["in-place", "in place", "overwrite"])
            || parts.first().is_some_and(|first| matches!(*first, "fix" | "write" | "inplace"));
        return (flag.value.is_none() && (deletes || rewrites)).then_some(Risk::Destructive);
    }
    let value = flag.value.as_ref().map(|value| value.name.to_ascii_lowercase()).unwrap_or_default();
    let is_program =
        |word: &str| ["cmd", "command", "program", "executable", "script"].iter().any(|end| word.ends_with(end));
    // The last part is the noun: `exec-batch` is no `batch`, and `command-name` no command.
    let runs = parts.first() == Some(&"exec") || deletes || parts.last().is_some_and(|last| RUNNING.contains(last));
    if runs || is_program(&value) || says(&RUNS) {
        return Some(Risk::Destructive);
    }
    let is_path = ["file", "path", "dir", "directory", "folder"].iter().any(|end| value.ends_with(end));
    let starts_to_write = ["write", "save", "output", "append", "store"].iter().any(|start| about.starts_with(start));
    let is_filing = starts_to_write && is_path || parts.iter().any(|part| FILING.contains(part));
    (says(&FILES) || is_filing && (is_path || parts.last().is_some_and(|last| FILING.contains(last))))
        .then_some(Risk::Destructive)
}

/// Returns whether a switch deletes what is there, by its name or the start of its description.
pub(super) fn deletes(flag: &Flag) -> bool {
    let name = flag.spellings[0].trim_start_matches('-').to_ascii_lowercase();
    let about = flag.about.to_ascii_lowercase();
    let is_deleting = |word: &str| DELETES.contains(&word);
    let first = about.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    // What else is removed is a part of what is printed: "Remove comments".
    let removes = || ["file", "director", "folder", "cache"].iter().any(|noun| about.contains(noun));
    flag.value.is_none()
        && (name.split(['-', '_', '.']).next().is_some_and(is_deleting)
            || is_deleting(first) && (first != "remove" || removes())
            || WARNINGS.iter().any(|warning| about.contains(warning)))
}

fn of_word(word: &str) -> Option<Risk> {
    if DELETING.contains(&word) || REPLACING.contains(&word) {
        Some(Risk::Destructive)
    } else if WRITING.contains(&word) || REACHING.contains(&word) {
        Some(Risk::Write)
    } else {
        READING.contains(&word).then_some(Risk::Read)
    }
}

#[cfg(test)]
mod tests;
