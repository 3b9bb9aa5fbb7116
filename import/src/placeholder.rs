//! The names by which usage lines stand for operands, subcommands and options.

/// Names of operands that stand for several words.
pub(super) const PLURALS: [&str; 19] = [
    "files",
    "filenames",
    "paths",
    "directories",
    "dirs",
    "folders",
    "urls",
    "uris",
    "hosts",
    "args",
    "arguments",
    "parameters",
    "targets",
    "packages",
    "names",
    "expression",
    "expr",
    "words",
    "mods",
];

/// Returns whether a name stands for several words: `files`, `<dot files>`.
pub(super) fn is_plural(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let last = name.rsplit(['-', '_', ' ', '/']).next().unwrap_or_default();
    PLURALS.contains(&last.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()))
}

/// Returns whether a name is a placeholder for a subcommand.
pub(super) fn is_command(lower: &str) -> bool {
    matches!(lower, "command" | "subcommand" | "cmd" | "commands" | "sub-command")
}

/// Returns whether a name is a placeholder for options or for further words.
pub(super) fn is_rest(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    matches!(
        word,
        "options"
            | "option"
            | "flags"
            | "flag"
            | "opts"
            | "switches"
            | "global-opts"
            | "global-options"
            | "command-options"
            | "command-opts"
            | "option_args"
    ) || word.ends_with("-options")
        || word.ends_with(" options")
}
