//! Completions for zsh: the specifications of `_arguments`, such as `'(-h --help)'{-h,--help}'[what it does]:value:'`.
//!
//! Source: the manual page `zshcompsys` of zsh 5.9, "Utility Functions".

use crate::command::{Flag, Value};

/// Reads the options of a program, if its completions are for the program alone.
pub(super) fn options(text: &str) -> Vec<Flag> {
    // States and subcommands have options of their own, which a text does not tell apart.
    if text.contains("->") || text.contains("_describe") || text.contains("case ") {
        return Vec::new();
    }
    text.lines().filter_map(|line| option(line.trim().trim_end_matches('\\').trim())).collect()
}

/// Reads a line with a specification.
fn option(line: &str) -> Option<Flag> {
    let at = line.find('[')?;
    let (head, rest) = line.split_at(at);
    let end = rest.find(']')?;
    let about = rest[1..end].replace("'\\''", "'");
    // What excludes the option, and that it may stand several times.
    let head = head.trim_start_matches(['\'', '"', '*', ' ']);
    let head = match head.strip_prefix('(') {
        Some(excluded) => excluded.split_once(')')?.1,
        None => head,
    };
    let head = head.replace(['\'', '"', '*', ' '], "");
    let names =
        head.strip_prefix('{').and_then(|inner| inner.split_once('}')).map_or(head.as_str(), |(inner, _)| inner);
    let mut spellings = Vec::new();
    let mut is_assigned = false;
    for name in names.split(',') {
        is_assigned |= name.ends_with('=');
        let name = name.trim_end_matches(['+', '=', '-']);
        let bare = name.trim_start_matches('-');
        let is_plain = bare.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if !matches!(name.len() - bare.len(), 1 | 2) || bare.is_empty() || !is_plain {
            return None;
        }
        spellings.push(name.to_owned());
    }
    spellings.sort_by_key(|spelling| !spelling.starts_with("--"));
    let has_value = rest[end + 1..].trim_start_matches(['\'', '"']).starts_with(':');
    let is_optional = rest[end + 1..].starts_with("::");
    let value = has_value.then(|| Value { apart: !is_assigned, optional: is_optional, ..Value::default() });

    Some(Flag { spellings, value, about, ..Flag::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_specifications_of_options() {
        let text = "_arguments \\\n  '(-h --hot)'{-h,--hot}'[serve it hot]' \\\n  '--pot=[the pot]:pot:_files' \\\n  \
                    '*-s[a spice]:spice' \\\n  '1:dish:'\n";
        let found: Vec<String> = options(text)
            .into_iter()
            .map(|flag| format!("{} {} {}", flag.spellings.join(" "), flag.value.is_some(), flag.about))
            .collect();
        assert_eq!(found, ["--hot -h false serve it hot", "--pot true the pot", "-s true a spice"]);
        assert!(options("case $state in\n'--pot[the pot]'\n").is_empty());
    }
}
