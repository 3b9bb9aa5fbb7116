//! Descriptions, shortened for an agent's context.

/// The approximate length of a description, in characters.
const MAX_CHARS: usize = 200;

/// Notes in brackets that are dropped, or become keys of the arg.
const NOTES: [&str; 9] = [
    "[possible values:",
    "[choices:",
    "[env:",
    "[aliases:",
    "[alias:",
    "[short aliases:",
    "(required)",
    "[required]",
    "[boolean]",
];

/// The first paragraph of a text in one line. A long one is cut at the end of a sentence.
pub(super) fn shorten(lines: &[String]) -> String {
    let mut words: Vec<&str> = Vec::new();
    for line in lines.iter().skip_while(|line| line.is_empty()) {
        // A quote in the middle of a sentence starts no list.
        let ends = words.last().is_none_or(|word| word.ends_with([':', '.', ';']));
        let is_list = ["- ", "* ", "• "].iter().any(|bullet| line.starts_with(bullet))
            || ends && line.starts_with(['\'', '$', '`']);
        if line.is_empty() || is_list && !words.is_empty() {
            break;
        }
        words.extend(line.split_whitespace());
    }

    let text = without_notes(&words.join(" "));
    // A sentence that leads to a list says nothing without it.
    let text = match text.rfind(". ") {
        Some(end) if text.ends_with(':') => &text[..=end],
        _ => &text,
    };
    let text = text.trim().trim_end_matches([':', ',']);
    let Some((limit, _)) = text.char_indices().nth(MAX_CHARS) else { return text.to_owned() };
    if let Some(end) = text[..limit].rfind(". ") {
        return text[..=end].to_owned();
    }

    let end = text[..limit].rfind(' ').unwrap_or(limit);
    format!("{}…", text[..end].trim_end_matches([',', ';', ' ']))
}

fn without_notes(text: &str) -> String {
    let mut text = text.to_owned();
    for note in NOTES {
        while let Some(at) = text.to_ascii_lowercase().find(note) {
            let close = if note.starts_with('[') { ']' } else { ')' };
            let Some(length) = text[at..].find(close) else { break };
            text.replace_range(at..=at + length, "");
        }
    }

    // One way to write a default: `(default X)`.
    if let Some(at) = text.find("[default: ")
        && let Some(length) = text[at..].find(']')
    {
        text.replace_range(at + length..=at + length, ")");
        text.replace_range(at..at + "[default: ".len(), "(default ");
    }

    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
