//! Completions for fish: lines of `complete -c PROGRAM -s x -l long -r -d 'What it does' -n CONDITION`.
//!
//! Source: the manual page `complete` of fish 3.6.

use crate::command::{Flag, Value};

/// Reads the options that completions name, with the words of their subcommands.
pub(super) fn options(text: &str, program: &str) -> Vec<(Vec<String>, Flag)> {
    let text = text.replace("\\\n", " ");
    text.lines().filter_map(|line| option(line, program)).collect()
}

/// Reads a line.
fn option(line: &str, program: &str) -> Option<(Vec<String>, Flag)> {
    let line = line.trim().strip_prefix("complete ")?;
    let words = words(line);
    let mut flag = Flag::default();
    let mut of = None;
    let mut condition = None;
    let mut needs_value = false;
    let mut rest = words.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        let (name, attached) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let mut value = || attached.or_else(|| rest.next());
        match name {
            "-l" | "--long-option" => flag.spellings.insert(0, format!("--{}", value()?)),
            "-s" | "--short-option" | "-o" | "--old-option" => flag.spellings.push(format!("-{}", value()?)),
            "-d" | "--description" => value()?.clone_into(&mut flag.about),
            "-c" | "--command" => of = value(),
            "-n" | "--condition" => condition = value(),
            "-a" | "--arguments" | "-p" | "--path" | "-w" | "--wraps" => drop(value()),
            "-r" | "-x" | "-rf" | "-fr" | "-rF" | "-xf" | "--require-parameter" | "--exclusive" => needs_value = true,
            // Clusters that end in an option with a value: `-xa '…'`.
            _ if name.starts_with('-') && !name.starts_with("--") && name.ends_with('a') => {
                needs_value |= name.contains(['r', 'x']);
                value();
            }
            _ if name.starts_with('-') => {}
            word => {
                of.get_or_insert(word);
            }
        }
    }

    let is_plain = |spelling: &String| {
        let name = spelling.trim_start_matches('-');
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.#?".contains(c))
    };
    if of != Some(program) || flag.spellings.is_empty() || !flag.spellings.iter().all(is_plain) {
        return None;
    }
    // Text of a variable or a command that only fish knows.
    if flag.about.contains('$') || flag.about.contains('(') && flag.about.starts_with('(') {
        flag.about.clear();
    }
    let is_old = flag.spellings.iter().any(|spelling| spelling.len() > 2 && !spelling.starts_with("--"));
    flag.value = needs_value.then(|| Value { apart: is_old, ..Value::default() });

    Some((subcommand(condition)?, flag))
}

/// The subcommand that a condition speaks of; none for no condition. `None` for conditions of other kinds.
fn subcommand(condition: Option<&str>) -> Option<Vec<String>> {
    let Some(condition) = condition else { return Some(Vec::new()) };
    if matches!(condition, "__fish_use_subcommand" | "__fish_no_arguments") {
        return Some(Vec::new());
    }
    let rest = condition.strip_prefix("__fish_seen_subcommand_from ")?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words.as_slice() {
        [word] if !word.contains(['$', '(', ';', '&']) => Some(vec![(*word).to_owned()]),
        _ => None,
    }
}

/// Splits a line into words, with quotes and backslashes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = line.chars();
    while let Some(character) = rest.next() {
        match (character, quote) {
            ('\\', _) => word.get_or_insert_default().extend(rest.next()),
            (_, Some(open)) if character == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (' ' | '\t', None) => words.extend(word.take()),
            ('#', None) if word.is_none() => break,
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_options_of_a_program_and_of_its_subcommands() {
        let text = "complete -c soup -s h -l hot -d 'Serve it hot'\n\
                    complete -c soup -n '__fish_seen_subcommand_from cook' -l pot -x -a '(pots)' -d \"The pot\"\n\
                    complete -c soup -n 'test -f x' -l odd\n\
                    complete -c soup -o long -r\n\
                    complete -c stew -l other\n";
        let found: Vec<String> = options(text, "soup")
            .into_iter()
            .map(|(words, flag)| {
                let value = if flag.value.is_some() { " VALUE" } else { "" };
                format!("{}|{}{value}|{}", words.join(" "), flag.spellings.join(" "), flag.about)
            })
            .collect();
        assert_eq!(found, ["|--hot -h|Serve it hot", "cook|--pot VALUE|The pot", "|-long VALUE|"]);
    }
}
