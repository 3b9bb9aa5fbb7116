//! Options that share a line of a list, but are no spellings of each other.

use crate::page::ListEntry;

/// Parts entries whose options exclude each other: `-a | -b | -c  The mode`, `--top, --left, --end <sack>`.
pub(super) fn parted(entries: &[ListEntry]) -> Vec<ListEntry> {
    let part = |entry: &ListEntry| match terms(entry) {
        Some(terms) => terms.into_iter().map(|term| ListEntry { term, ..entry.clone() }).collect(),
        None => vec![entry.clone()],
    };
    entries.iter().flat_map(part).collect()
}

/// The options of an entry, if they are no spellings of one.
fn terms(entry: &ListEntry) -> Option<Vec<String>> {
    if !entry.term.starts_with('-') {
        return None;
    }
    letters(&entry.term).or_else(|| pair(&entry.term)).or_else(|| alternatives(entry))
}

/// Two options side by side: `-a/b, --rye/--oat SACK`.
fn pair(term: &str) -> Option<Vec<String>> {
    let (short, rest) = term.split_once(", --")?;
    let [dash, first, slash, second] = short.trim().trim_end_matches(',').as_bytes() else { return None };
    let is_letters = first.is_ascii_alphanumeric() && second.is_ascii_alphanumeric();
    let (long, other) = rest.split_once("/--")?;
    let end = other.find([' ', '=']).unwrap_or(other.len());
    let (other, value) = other.split_at(end);
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (*dash == b'-' && *slash == b'/' && is_letters && is_name(long) && is_name(other)).then(|| {
        let term = |letter: &u8, long: &str| format!("-{}, --{long}{value}", char::from(*letter));
        vec![term(first, long), term(second, other)]
    })
}

/// Three or more letters between bars, or digits: an option has two such spellings at most, as `-h | -?`.
fn letters(term: &str) -> Option<Vec<String>> {
    let parts: Vec<&str> = term.split('|').map(str::trim).collect();
    let is_letter = |part: &&str| part.starts_with('-') && part.len() == 2 && *part != "--";
    let is_digit = |part: &&str| part.ends_with(|c: char| c.is_ascii_digit());
    let are_others = parts.len() > 2 || parts.len() == 2 && parts.iter().all(is_digit);
    (are_others && parts.iter().all(is_letter)).then(|| parts.into_iter().map(str::to_owned).collect())
}

/// Long options of which the text says that one is chosen: "Use one of these options to …".
fn alternatives(entry: &ListEntry) -> Option<Vec<String>> {
    let text = entry.text.join(" ").to_ascii_lowercase();
    let parts: Vec<&str> = entry.term.split(", ").map(str::trim).collect();
    let is_long = |part: &&str| part.starts_with("--");
    if parts.len() < 2 || !parts.iter().all(is_long) || !text.contains("one of these ") {
        return None;
    }
    // The last one shows the value of all.
    let value = parts.last().and_then(|last| last.find([' ', '='])).map_or("", |at| &parts[parts.len() - 1][at..]);
    let with_value =
        |part: &&str| if part.contains([' ', '=']) { (*part).to_owned() } else { format!("{part}{value}") };
    Some(parts.iter().map(with_value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Section;

    fn terms_of(term: &str, text: &str) -> Vec<String> {
        let entry = ListEntry { section: Section::Options, term: term.to_owned(), text: vec![text.to_owned()] };
        parted(&[entry]).into_iter().map(|entry| entry.term).collect()
    }

    #[test]
    fn alternatives_are_options_of_their_own() {
        assert_eq!(terms_of("-F | -C | -S", "Mode: fine, coarse or sift"), ["-F", "-C", "-S"]);
        assert_eq!(terms_of("-4 | -6", "Which mill"), ["-4", "-6"]);
        let text = "Use one of these options to place a sack.";
        assert_eq!(terms_of("--top, --left, --end sack", text), ["--top sack", "--left sack", "--end sack"]);
    }

    #[test]
    fn pairs_share_their_value() {
        assert_eq!(terms_of("-r/o, --rye/--oat SACK", "Take or leave"), ["-r, --rye SACK", "-o, --oat SACK"]);
        assert_eq!(terms_of("-r/o, --rye/--oat", "Rye or oat"), ["-r, --rye", "-o, --oat"]);
        assert_eq!(terms_of("-r, --rye/oat", "Rye"), ["-r, --rye/oat"]);
    }

    #[test]
    fn spellings_stay_together() {
        assert_eq!(terms_of("-h | -?", "Show help"), ["-h | -?"]);
        assert_eq!(terms_of("--fine, --finely, --dust N", "Grind"), ["--fine, --finely, --dust N"]);
    }
}
