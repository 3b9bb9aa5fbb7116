//! The output of a program → plain lines.

/// The longest help page that is read, in bytes; the rest is cut.
pub const MAX_HELP_BYTES: usize = 1 << 20;

/// Longest line of a help page that is read, in bytes.
const MAX_HELP_LINE_BYTES: usize = 16 << 10;

/// Columns between two tab stops.
const TAB: usize = 8;

/// Removes escape sequences, overstrikes and control characters; tabs become spaces.
///
/// Cuts the page at [`MAX_HELP_BYTES`], and long lines too.
#[must_use]
pub fn clean(printed: &str) -> String {
    let mut text = String::new();
    for line in head(printed, MAX_HELP_BYTES).lines() {
        let line = plain(head(line, MAX_HELP_LINE_BYTES));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// At most `bytes` of the start of a text.
fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut columns = 0;
    let mut rest = line.chars().peekable();

    while let Some(character) = rest.next() {
        match character {
            '\u{1b}' => skip_escape(&mut rest),
            '\u{8}' => columns -= usize::from(out.pop().is_some()),
            '\t' => {
                let width = TAB - columns % TAB;
                out.extend(std::iter::repeat_n(' ', width));
                columns += width;
            }
            _ if is_shown(character) => {
                out.push(if character == '\u{a0}' { ' ' } else { character });
                columns += 1;
            }
            _ => {}
        }
    }

    out
}

/// Skips the rest of an escape sequence.
///
/// Source: ECMA-48 §5.4 (control sequences), §8.3.89 (operating system commands, ended by BEL or ST).
fn skip_escape(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match rest.next() {
        Some('[') => {
            rest.find(|character| ('\u{40}'..='\u{7e}').contains(character));
        }
        Some(']') => {
            while let Some(character) = rest.next() {
                if character == '\u{7}' || character == '\u{1b}' && rest.next_if_eq(&'\\').is_some() {
                    break;
                }
            }
        }
        Some('(' | ')') => {
            rest.next();
        }
        _ => {}
    }
}

/// Returns whether a character is printable: no control character, and none that changes the text direction.
fn is_shown(character: char) -> bool {
    let turns =
        matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    !character.is_control() && !turns && !matches!(character, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_everything_but_text() {
        assert_eq!(clean("N\u{8}NA\u{8}AME\r\n"), "NAME\n");
        assert_eq!(clean("\u{1b}[1;31m--red\u{1b}[0m\tit\u{0}\u{7}\n"), "--red   it\n");
        assert_eq!(clean("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{7}"), "link\n");
        assert_eq!(clean("_\u{8}a\u{8}\u{8}\u{8}\u{8}b\u{1b}"), "b\n");
    }

    #[test]
    fn cuts_long_pages_and_lines() {
        assert!(clean(&"é\n".repeat(MAX_HELP_BYTES)).len() <= MAX_HELP_BYTES + 1);
        assert!(clean(&"é".repeat(MAX_HELP_BYTES)).len() <= MAX_HELP_LINE_BYTES + 1);
    }
}
