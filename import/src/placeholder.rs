//! The names by which usage lines stand for operands, subcommands and options.

/// Names of operands that stand for several words.
pub(super) const PLURALS: [&str; 23] = [
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
    "devices",
    "images",
    "regions",
    "volumes",
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

/// Returns a usage line where `[mill options]` is `[options]`.
pub(super) fn with_plain_options(usage: &str) -> String {
    let mut plain = String::with_capacity(usage.len());
    let mut rest = usage;
    while let Some(at) = rest.find('[') {
        let (before, group) = rest.split_at(at);
        plain.push_str(before);
        let inner = group[1..].split(']').next().unwrap_or_default();
        let is_plain = inner.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' ');
        let is_kind = is_plain && inner.split_once(' ').is_some_and(|(_, noun)| matches!(noun, "options" | "flags"));
        plain.push_str(if is_kind { "[options" } else { &group[..=inner.len()] });
        rest = &group[1 + inner.len()..];
    }
    plain + rest
}
