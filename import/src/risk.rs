//! The risks of a command and of its options, guessed from their words.

use climax_catalog::{Risk, Type};

use super::refine;
use crate::command::{Command, Flag, Operand, Sure};

const READING: [&str; 61] = [
    "list",
    "ls",
    "show",
    "get",
    "status",
    "view",
    "log",
    "logs",
    "info",
    "inspect",
    "describe",
    "search",
    "find",
    "diff",
    "print",
    "cat",
    "version",
    "ps",
    "history",
    "stats",
    "events",
    "tree",
    "metadata",
    "whoami",
    "explain",
    "query",
    "verify",
    "validate",
    "blame",
    "grep",
    "doctor",
    "port",
    "outdated",
    "read",
    "count",
    "du",
    "df",
    "display",
    "output",
    "lint",
    "top",
    "images",
    "checks",
    "shortlog",
    "reflog",
    "who",
    "stat",
    "head",
    "tail",
    "locate",
    "dump",
    "peek",
    "cluster-info",
    "api-resources",
    "api-versions",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "can-i",
    "displays",
    "shows",
];
const DESTROYING: [&str; 29] = [
    "delete",
    "remove",
    "rm",
    "rmi",
    "prune",
    "purge",
    "destroy",
    "drop",
    "clean",
    "kill",
    "uninstall",
    "erase",
    "wipe",
    "reset",
    "evict",
    "drain",
    "unpublish",
    "revoke",
    "terminate",
    "rmdir",
    "shred",
    "truncate",
    "forget",
    "discard",
    "del",
    "clear",
    "deletes",
    "removes",
    "unlink",
];

const WRITING: [&str; 42] = [
    "add", "create", "new", "init", "set", "update", "upgrade", "edit", "write", "push", "pull", "commit", "install",
    "start", "stop", "restart", "apply", "import", "rename", "move", "mv", "cp", "copy", "upload", "download",
    "enable", "disable", "merge", "tag", "label", "annotate", "comment", "close", "reopen", "publish", "build", "save",
    "load", "clone", "fetch", "scale", "lock",
];

/// Parts of the names of options that name a program to run.
const RUNNING: [&str; 17] = [
    "exec",
    "command",
    "cmd",
    "run",
    "hook",
    "plugin",
    "pager",
    "editor",
    "shell",
    "program",
    "script",
    "preprocessor",
    "opener",
    "chooser",
    "askpass",
    "rsh",
    "eval",
];
/// Phrases of options that run a program.
const RUNS: [&str; 16] = [
    "execute a command",
    "execute the given command",
    "execute the command",
    "execute cmd",
    "execute command",
    "execute this command",
    "run a command",
    "run the command",
    "run this command",
    "run the given command",
    "run command",
    "run cmd",
    "command to run",
    "command to execute",
    "program to run",
    "binary at",
];
/// Parts of the names of options that name a file to write.
const FILING: [&str; 12] =
    ["output", "out", "outfile", "outdir", "save", "export", "dump", "log", "logfile", "write", "store", "tee"];
/// Phrases of options that write a file.
const FILES: [&str; 20] = [
    "write to file",
    "write to this file",
    "write to a file",
    "write output to",
    "write the output",
    "written to",
    "write to the",
    "output to file",
    "output to a file",
    "output to this file",
    "save to",
    "saved to",
    "save the",
    "save output",
    "export the",
    "in-place",
    "in place",
    "overwrite",
    "write the result",
    "write log",
];

/// Words of options that delete something.
const DELETES: [&str; 6] = ["delete", "remove", "destroy", "kill", "erase", "wipe"];

/// Returns the risk of a command: certain if its last word is a known verb, else guessed from its words and
/// description.
pub(super) fn guessed(command: &Command) -> Sure<Risk> {
    let words = &command.words;
    let has_rest = command.operands.iter().any(|operand| operand.rest);
    let starts = |operand: &Operand| refine::is_program(&operand.name);
    let runs = words.last().is_some_and(|word| matches!(word.as_str(), "run" | "exec"));
    if has_rest && (runs || command.operands.iter().any(starts)) {
        return Sure::Guessed(Risk::Destructive);
    }

    let risk = of_words(command);
    // Further words can be options that the page does not show.
    if has_rest && *risk.get() == Risk::Read { Sure::Guessed(Risk::Write) } else { risk }
}

/// The risk by the words and the description.
fn of_words(command: &Command) -> Sure<Risk> {
    let words = &command.words;
    let last = words.last().map_or("", String::as_str);
    if let Some(risk) = of_word(last) {
        return Sure::Said(risk);
    }

    // `delete-all`, `rm-cache`, and a verb that is not the last word.
    let parts = words.iter().rev().flat_map(|word| word.split(['-', '_', ':']));
    if let Some(risk) = parts.filter_map(of_word).max() {
        return Sure::Guessed(risk);
    }

    Sure::Guessed(of_about(&command.about, words.is_empty()).unwrap_or(Risk::Write))
}

/// The risk by the first word of the description. That of a program says the verb later: the highest of all counts.
fn of_about(about: &str, is_program: bool) -> Option<Risk> {
    let sentence = about.split(". ").next().unwrap_or_default().to_ascii_lowercase();
    let mut verbs = sentence.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let first = verbs.next().and_then(of_verb);
    first.or_else(|| verbs.filter_map(of_verb).max().filter(|_| is_program))
}

/// The risk of a verb, also in the third person: `searches`, `copies`.
fn of_verb(word: &str) -> Option<Risk> {
    let stems = [Some(word), word.strip_suffix('s'), word.strip_suffix("es")];
    stems.into_iter().flatten().find_map(of_word)
}

/// Guesses the risk that an option adds to its command's.
///
/// A switch has no value that names a program or a file, so only what it deletes counts.
pub(super) fn of_option(flag: &Flag) -> Option<Risk> {
    let name = flag.spellings[0].trim_start_matches('-').to_ascii_lowercase();
    let parts: Vec<&str> = name.split(['-', '_', '.']).collect();
    let about = flag.about.to_ascii_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| about.contains(phrase));
    let takes_text = flag.value.as_ref().is_some_and(|value| {
        value.values.is_none() && value.kind.as_ref().is_none_or(|kind| *kind.get() == Type::String)
    });
    if !takes_text {
        let deletes =
            says(&DELETES) && parts.iter().any(|part| DESTROYING.contains(part)) && !about.starts_with("do not");
        let writes = says(&["in-place", "in place", "overwrite"])
            || parts.first() == Some(&"fix")
            || parts.first() == Some(&"write");
        let is_free = flag.value.is_none();
        return match (deletes, writes) {
            (true, _) if is_free && parts.first() != Some(&"no") => Some(Risk::Destructive),
            (_, true) if is_free => Some(Risk::Write),
            _ => None,
        };
    }
    let value = flag.value.as_ref().map(|value| value.name.to_ascii_lowercase()).unwrap_or_default();
    let is_program = |word: &str| matches!(word, "cmd" | "command" | "program" | "executable" | "shell_command");
    // The last part is the noun: `exec-batch` is no `batch`, and `command-name` no command.
    let runs = parts.first() == Some(&"exec") || parts.last().is_some_and(|last| RUNNING.contains(last));
    if runs || is_program(&value) || says(&RUNS) {
        return Some(Risk::Destructive);
    }
    let is_path = ["file", "path", "dir", "directory", "folder"].iter().any(|end| value.ends_with(end));
    let is_filing = parts.iter().any(|part| FILING.contains(part));
    (says(&FILES) || is_filing && (is_path || parts.last().is_some_and(|last| FILING.contains(last))))
        .then_some(Risk::Write)
}

fn of_word(word: &str) -> Option<Risk> {
    if DESTROYING.contains(&word) {
        Some(Risk::Destructive)
    } else if WRITING.contains(&word) {
        Some(Risk::Write)
    } else {
        READING.contains(&word).then_some(Risk::Read)
    }
}
