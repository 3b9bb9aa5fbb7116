//! What a program does, in the words of its page.

use super::prose;

/// The start of lines that say something else.
const DULL: [&str; 29] = [
    "Licensed ",
    "For detailed",
    "***",
    "Error",
    "error",
    "ROOT:",
    "WARNING",
    "Warning",
    "Run ",
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
        return named.map(|(_, about)| prose::shorten(&[about.to_owned()])).unwrap_or_default();
    }

    let lines: Vec<String> = lines.into_iter().skip_while(String::is_empty).collect();
    let text = prose::shorten(&lines);
    let text = without_name(&text, words);
    let text = text.split(" - http").next().unwrap_or(text);
    let text = match text.rfind(" [version") {
        Some(at) if text.ends_with(']') => &text[..at],
        _ => text,
    };

    text.trim_start_matches(|c: char| !c.is_ascii() && !c.is_alphabetic()).trim().to_owned()
}

/// Whether a line says nothing about what the program does: a version, an author, an address, a complaint.
fn is_dull(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let is_address =
        |word: &str| word.contains("://") || word.starts_with("www.") || word.starts_with('<') && word.contains('@');
    let first = lower.split_whitespace().next().unwrap_or_default();
    DULL.iter().any(|start| line.starts_with(start))
        || COMPLAINTS.iter().any(|complaint| lower.contains(complaint))
        || is_version(line)
        || line.split_whitespace().last().is_some_and(|last| is_address(last) && line.split(' ').count() <= 6)
        || is_address(first)
}

/// Whether a line is the name of a program and its version: `prog 1.2.3`, `Prog version v2 (2024-01-01)`.
fn is_version(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let is_number = |word: &str| {
        let number = word.trim_start_matches(['v', 'V', '(', ',', '[']);
        number.starts_with(|c: char| c.is_ascii_digit()) && number.contains('.')
    };
    let has_number = line.split_whitespace().take(8).any(is_number);
    lower.contains("copyright")
        || has_number && (lower.contains("version") || line.split_whitespace().count() <= 6 || lower.contains(", by "))
        || lower.contains("version:")
}

/// A text without the name before its dash: `prog - does it`.
fn without_name<'a>(text: &'a str, words: &[String]) -> &'a str {
    let Some((name, about)) = text.split_once(" - ").or_else(|| text.split_once(" -- ")) else { return text };
    let is_name = name.split(['-', ' ']).count() <= words.len() + 1 && !name.contains('.');
    if is_name && about.len() > 8 && !about.starts_with("http") { about } else { text }
}
