//! The risk of a command, guessed from its words.

use climax_catalog::Risk;

use crate::command::Sure;

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

/// Returns the risk of a command: certain if its last word is a known verb, else guessed from its words and
/// description.
pub(super) fn of(words: &[String], about: &str) -> Sure<Risk> {
    let last = words.last().map_or("", String::as_str);
    if let Some(risk) = of_word(last) {
        return Sure::Said(risk);
    }
    // `delete-all`, `rm-cache`, and a verb that is not the last word.
    let parts = words.iter().rev().flat_map(|word| word.split(['-', '_', ':']));
    if let Some(risk) = parts.filter_map(of_word).max() {
        return Sure::Guessed(risk);
    }
    let verb = about.split(|c: char| !c.is_ascii_alphabetic()).find(|word| !word.is_empty()).unwrap_or_default();
    Sure::Guessed(of_word(&verb.to_ascii_lowercase()).unwrap_or(Risk::Write))
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
