//! What a program does, in the words of its page.

use super::prose;

/// The start of lines that say something else.
const DULL: [&str; 28] = [
    "Licensed ",
    "For detailed",
    "***",
    "Error",
    "error",
    "ROOT:",
    "WARNING",
    "Warning",
    "Use \"",
    "Use '",
    "Use `",
    "Invalid",
    "Options",
    "Printing options",
    "If zero file",
    "Example",
    "Mandatory argument",
    "or:",
    "Usage",
    "Find more",
    "With no FILE",
    "Try '",
    "This is not the full help",
    "For all options",
    "See ",
    "Project home",
    "Copyright",
    "Report bugs",
];
/// Parts of messages of a program that does not know the option.
const COMPLAINTS: [&str; 5] =
    ["unknown option", "illegal option", "invalid option", "unrecognized option", "unrecognised option"];

/// The description of a command from the lines of its page that belong to no list.
pub(super) fn description(lines: &[String], is_manual: bool, words: &[String]) -> String {
    let lines: Vec<String> = lines.iter().filter(|line| !is_dull(line)).cloned().collect();
    if is_manual {
        let named =
            lines.iter().find_map(|line| [" - ", " -- ", " — ", " – "].iter().find_map(|dash| line.split_once(dash)));
        let about = named.map(|(_, about)| prose::shorten(&[about.to_owned()])).unwrap_or_default();
        return about
            .rfind(" (version ")
            .filter(|_| about.ends_with(')'))
            .map_or(about.as_str(), |at| &about[..at])
            .to_owned();
    }

    let lines: Vec<String> = lines.into_iter().skip_while(String::is_empty).collect();
    let text = prose::shorten(&lines);
    let text = without_name(&text, words);
    let text = text.split(" - http").next().unwrap_or(text);
    let text = match text.rfind(" [version") {
        Some(at) if text.ends_with(']') => &text[..at],
        _ => text,
    };

    let text = text.trim_start_matches(|c: char| !c.is_ascii() && !c.is_alphabetic()).trim();
    // A single word is a title.
    if text.contains(char::is_whitespace) { text.to_owned() } else { String::new() }
}

/// Whether a line says nothing about what the program does: a version, an author, an address, a complaint.
fn is_dull(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let is_address =
        |word: &str| word.contains("://") || word.starts_with("www.") || word.starts_with('<') && word.contains('@');
    let first = lower.split_whitespace().next().unwrap_or_default();
    // "Run `prog --help` for more", but not "Run a program".
    let is_hint =
        line.strip_prefix("Run ").is_some_and(|rest| rest.starts_with(['`', '\'', '"']) || rest.contains("help"));
    // "[sack] is the name of one".
    is_hint
        || line.starts_with('[')
        || DULL.iter().any(|start| line.starts_with(start))
        || COMPLAINTS.iter().any(|complaint| lower.contains(complaint))
        || is_version(line)
        || line.split_whitespace().last().is_some_and(|last| is_address(last) && line.split(' ').count() <= 6)
        || is_address(first)
}

/// Whether a line is the name of a program and its version: `prog 1.2.3`, `Prog version v2 (2024-01-01)`.
fn is_version(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let has_number = line.split_whitespace().take(8).any(is_number);
    lower.contains("copyright")
        || has_number && (lower.contains("version") || line.split_whitespace().count() <= 6 || lower.contains(", by "))
        || lower.contains("version:")
}

/// Whether a word is the number of a version.
fn is_number(word: &str) -> bool {
    let number = word.trim_start_matches(['v', 'V', '(', ',', '[']);
    number.starts_with(|c: char| c.is_ascii_digit()) && number.contains('.')
}

/// A text without the name before its dash: `prog - does it`.
fn without_name<'a>(text: &'a str, words: &[String]) -> &'a str {
    let Some((name, about)) = text.split_once(" - ").or_else(|| text.split_once(" -- ")) else { return text };
    let name = name.rsplit_once(' ').filter(|(_, last)| is_number(last)).map_or(name, |(name, _)| name);
    let is_name = name.split(['-', ' ']).count() <= words.len() + 1 && !name.contains('.');
    if is_name && about.len() > 8 && !about.starts_with("http") { about } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_versions_and_hints_are_no_descriptions() {
        let of = |line: &str| description(&[line.to_owned()], false, &[]);
        assert_eq!(of("Run a mill at night."), "Run a mill at night.");
        assert_eq!(of("mill 1.2.0 -- A mill for rye"), "A mill for rye");
        for line in ["General", "[sack] is what to grind", "Run `mill --help` for more", "Run mill help for more"] {
            assert_eq!(of(line), "", "{line}");
        }
        let manual = ["mill - grinds rye and oats to the flour of our town (version 3.1)".to_owned()];
        assert_eq!(description(&manual, true, &[]), "grinds rye and oats to the flour of our town");
    }
}
