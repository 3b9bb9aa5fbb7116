//! What is known of the risks of a command and of its options: what their source states, and what their verbs show.

use climax_catalog::{Risk, Type};

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

/// Verbs that change nothing. As the name of a command they say so against the words of its description; a cage holds the
/// command all the same.
const READING: [&str; 39] = [
    "list", "ls", "show", "get", "status", "view", "log", "logs", "info", "inspect", "describe", "search", "find",
    "diff", "print", "cat", "version", "history", "stats", "tree", "whoami", "explain", "query", "verify", "validate",
    "blame", "grep", "doctor", "outdated", "read", "count", "du", "df", "display", "lint", "stat", "head", "tail",
    "check",
];

/// Verbs that remove or stop what is there.
const DELETING: [&str; 48] = [
    "recreate",
    "delete",
    "remove",
    "rm",
    "rmi",
    "prune",
    "purge",
    "destroy",
    "drop",
    "clean",
    "cleanup",
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
    "unlink",
    "autoremove",
    "autoclean",
    "flush",
    "expire",
    "gc",
    "abort",
    "undo",
    "undeploy",
    "deregister",
    "detach",
    "disable",
    "overwrite",
    "rollback",
    "revert",
    "downgrade",
    "shutdown",
    "reboot",
    "halt",
    "mkfs",
];

/// Verbs whose result may replace a file that exists.
const REPLACING: [&str; 30] = [
    "replace",
    "restore",
    "cp",
    "copy",
    "mv",
    "move",
    "rename",
    "convert",
    "transform",
    "compress",
    "decompress",
    "encrypt",
    "decrypt",
    "extract",
    "unpack",
    "strip",
    "patch",
    "optimize",
    "optimise",
    "minify",
    "split",
    "format",
    "reformat",
    "partition",
    "flash",
    "burn",
    "mirror",
    "sync",
    "synchronize",
    "synchronise",
];

/// Verbs that write.
const WRITING: [&str; 61] = [
    "add",
    "create",
    "new",
    "init",
    "initialize",
    "initialise",
    "set",
    "unset",
    "update",
    "upgrade",
    "edit",
    "write",
    "commit",
    "install",
    "reinstall",
    "start",
    "stop",
    "restart",
    "reload",
    "pause",
    "resume",
    "apply",
    "import",
    "export",
    "enable",
    "merge",
    "rebase",
    "tag",
    "label",
    "annotate",
    "comment",
    "close",
    "reopen",
    "build",
    "save",
    "load",
    "scale",
    "lock",
    "unlock",
    "configure",
    "migrate",
    "generate",
    "make",
    "mount",
    "umount",
    "attach",
    "append",
    "backup",
    "archive",
    "bump",
    "fix",
    "amend",
    "assign",
    "rotate",
    "pin",
    "unpin",
    "link",
    "setup",
    "register",
    "record",
    "store",
];

/// Verbs that reach another machine.
const REACHING: [&str; 35] = [
    "fetch",
    "download",
    "clone",
    "pull",
    "push",
    "upload",
    "publish",
    "deploy",
    "login",
    "logout",
    "connect",
    "send",
    "post",
    "request",
    "ping",
    "trace",
    "traceroute",
    "scan",
    "resolve",
    "ssh",
    "browse",
    "mail",
    "notify",
    "submit",
    "subscribe",
    "unsubscribe",
    "rpc",
    "telnet",
    "transfer",
    "transfers",
    "tunnel",
    "listen",
    "serve",
    "invite",
    "fork",
];

/// Words in the first sentence of a program's description that show that it reaches other machines.
const REMOTE: [&str; 20] = [
    "network",
    "networks",
    "internet",
    "dns",
    "url",
    "urls",
    "host",
    "hosts",
    "hostname",
    "socket",
    "sockets",
    "tcp",
    "udp",
    "icmp",
    "web",
    "downloader",
    "whois",
    "proxy",
    "router",
    "routers",
];

/// Words there that show that it makes other machines do what its operands say.
const COMMANDING: [&str; 22] = [
    "http",
    "https",
    "ftp",
    "sftp",
    "server",
    "servers",
    "remote",
    "remotely",
    "ssh",
    "cloud",
    "api",
    "client",
    "smtp",
    "ldap",
    "database",
    "databases",
    "sql",
    "kubernetes",
    "cluster",
    "github",
    "gitlab",
    "mqtt",
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

/// Parts of the names of options that leave out a question or a check.
const FORCING: [&str; 5] = ["force", "forced", "hard", "clobber", "replace"];

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
        Some(risk) => Assessed::Shown(risk),
        None => match (reach(about), named) {
            (Some(_), Some(_)) => Assessed::Shown(Risk::Write),
            (Some(_), None) if !is_program => Assessed::Shown(Risk::Destructive),
            _ => Assessed::Unknown,
        },
    }
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
    let verb =
        words().take(if is_program { 12 } else { 2 }).filter_map(of_verb).filter(|risk| *risk > Risk::Read).max();
    let risk = verb.max(reach(about).filter(|_| is_program))?;
    let destroys = words().any(|word| of_verb(word) == Some(Risk::Destructive));

    Some(if destroys { Risk::Destructive } else { risk })
}

/// Returns whether the description of a program shows that it needs the network.
pub(super) fn reaches(command: &Command) -> bool {
    let about = command.about.to_ascii_lowercase();
    let mut words = about.split(|c: char| !c.is_ascii_alphabetic());
    reach(&command.about).is_some() || words.any(|word| REACHING.contains(&word.trim_end_matches('s')))
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
mod tests {
    use super::*;

    fn assessed(words: &str, about: &str, program: &str) -> Assessed {
        let words = words.split_whitespace().map(str::to_owned).collect();
        of_command(&Command { words, about: about.to_owned(), ..Command::default() }, program)
    }

    #[test]
    fn what_nothing_shows_is_unknown() {
        for (words, about) in [
            ("list", "List the jars"),
            ("show", "Show a jar and delete nothing"),
            ("frobnicate", "Frobnicates jars"),
            ("inspect", ""),
            ("", "Search jars for a lid"),
            ("version", "Show or bump the version"),
        ] {
            assert_eq!(assessed(words, about, "Keeps jars"), Assessed::Unknown, "{words}: {about}");
        }
    }

    #[test]
    fn verbs_show_what_writes_reaches_out_or_destroys() {
        for (words, about, risk) in [
            ("install", "", Risk::Write),
            ("lid add", "", Risk::Write),
            ("push", "", Risk::Write),
            ("open", "Creates a jar", Risk::Write),
            ("remove", "", Risk::Destructive),
            ("lid-delete", "", Risk::Destructive),
            ("add", "Add a lid and delete the old one", Risk::Destructive),
            ("", "Copy a file, converting and formatting according to the operands", Risk::Destructive),
            ("", "Convert between image formats", Risk::Destructive),
            ("", "Network exploration tool", Risk::Write),
            ("", "HTTP client", Risk::Destructive),
        ] {
            assert_eq!(assessed(words, about, ""), Assessed::Shown(risk), "{words}: {about}");
        }
    }

    #[test]
    fn commands_of_programs_that_reach_out_are_no_work_for_a_cage() {
        assert_eq!(assessed("jar list", "List jars", "Client of the jar cloud"), Assessed::Shown(Risk::Write));
        assert_eq!(assessed("jar call", "Call it", "Client of the jar cloud"), Assessed::Shown(Risk::Destructive));
    }

    #[test]
    fn options_of_what_no_cage_holds_have_their_own_risk() {
        let text = |spelling: &str, name: &str, about: &str| {
            let value = Some(crate::command::Value { name: name.to_owned(), ..crate::command::Value::default() });
            Flag { spellings: vec![spelling.to_owned()], value, about: about.to_owned(), ..Flag::default() }
        };
        for (spelling, name, about) in [
            ("--plate", "FILE", "Write the result to this file"),
            ("--exec", "CMD", "Execute it"),
            ("-z", "postrotate-command", ""),
        ] {
            assert_eq!(of_option(&text(spelling, name, about)), Some(Risk::Destructive), "{spelling}");
        }
        assert_eq!(of_option(&text("--sort", "KEY", "Sort by it")), None);
        for spelling in ["--force", "--delete", "--hard"] {
            let switch = Flag { spellings: vec![spelling.to_owned()], ..Flag::default() };
            assert_eq!(of_option(&switch), Some(Risk::Destructive), "{spelling}");
        }
    }
}
