//! Text that a person sees as a model reads it: without terminal escapes, control characters and invisible Unicode.
//!
//! Pure. A program prints what its input makes it print. So a file, a commit message or a web page can put text before a
//! model that no person sees.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstream::adapter::strip_str;
use serde_json::Value;

/// How the text of a program is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextForm {
    /// As a person sees it ([`visible`]).
    #[default]
    Visible,
    /// As the program printed it.
    Raw,
}

impl TextForm {
    /// Returns the text in this form.
    #[must_use]
    pub fn apply(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Visible => visible(text),
            Self::Raw => Cow::Borrowed(text),
        }
    }

    /// Returns the JSON with each of its strings in this form.
    #[must_use]
    pub fn apply_to_json(self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.apply(&text).into_owned()),
            Value::Array(items) => items.into_iter().map(|item| self.apply_to_json(item)).collect(),
            Value::Object(members) => {
                let shown =
                    |(name, member): (String, Value)| (self.apply(&name).into_owned(), self.apply_to_json(member));
                Value::Object(members.into_iter().map(shown).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }
}

/// Removes terminal escapes and control characters, and shows invisible characters as `\u{…}`.
///
/// Tabs and newlines stay. `\r\n` is a newline, and so is a lone carriage return. A backspace removes the character
/// before it, as manual pages print bold text. An escape that its line does not end ends with the line, so it hides
/// nothing behind it. Joiners and variation selectors stay within emoji and within scripts that are written with them.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n')) {
        return Cow::Borrowed(text);
    }

    let mut shown = String::with_capacity(text.len());
    for line in text.replace("\r\n", "\n").replace('\r', "\n").split_inclusive('\n') {
        let (line, newline) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let line = c1_as_escapes(line);
        show_invisible(&strip_str(&without_backspaces(&line)).to_string(), &mut shown);
        shown.push_str(newline);
    }

    Cow::Owned(shown)
}

/// Whether a character shows as itself.
///
/// Source: Unicode 16, `DerivedCoreProperties.txt`, `Default_Ignorable_Code_Point`; with controls, format characters, line
/// separators and the blank Braille pattern.
#[must_use]
pub fn is_visible(c: char) -> bool {
    let hides = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    !c.is_control() && !hides
}

/// The 8-bit control characters that start escapes, as their 7-bit forms.
///
/// Source: ECMA-48, section 5.3, table 2a.
fn c1_as_escapes(line: &str) -> Cow<'_, str> {
    if !line.contains(|c| matches!(c, '\u{80}'..='\u{9f}')) {
        return Cow::Borrowed(line);
    }

    let seven_bit = |c: char| match c {
        '\u{80}'..='\u{9f}' => {
            ['\u{1b}', char::from(u8::try_from(u32::from(c)).unwrap_or(0x80) - 0x40)].iter().collect()
        }
        _ => String::from(c),
    };
    Cow::Owned(line.chars().map(seven_bit).collect())
}

fn without_backspaces(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{8}') {
        return Cow::Borrowed(line);
    }

    let mut kept = String::with_capacity(line.len());
    for c in line.chars() {
        if c == '\u{8}' {
            kept.pop();
        } else {
            kept.push(c);
        }
    }

    Cow::Owned(kept)
}

/// Appends `line` to `shown`, with its invisible characters written out.
fn show_invisible(line: &str, shown: &mut String) {
    let mut before = None;
    for (at, c) in line.char_indices() {
        let rest = &line[at + c.len_utf8()..];
        if c == '\t' || is_visible(c) || belongs(before, c, rest) {
            shown.push(c);
        } else {
            // Writing to memory does not fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        }
        before = Some(c);
    }
}

/// Whether an invisible character is a part of what stands around it.
///
/// Source: Unicode 16, UTS 51 (emoji sequences), UAX 31, section 2.3 (joiners in scripts).
fn belongs(before: Option<char>, c: char, rest: &str) -> bool {
    let Some(before) = before else { return false };
    let joins =
        |c: char| !c.is_ascii() && !c.is_whitespace() && (is_visible(c) || matches!(c, '\u{fe0e}' | '\u{fe0f}'));
    match c {
        '\u{200c}' | '\u{200d}' => {
            joins(before) && rest.chars().next().is_some_and(|next| joins(next) && is_visible(next))
        }
        // Text or emoji style, also of the keys 0 to 9, # and *.
        '\u{fe0e}' | '\u{fe0f}' => joins(before) && is_visible(before) || matches!(before, '0'..='9' | '#' | '*'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(visible("a\tb\nc"), Cow::Borrowed("a\tb\nc")));
    }

    #[test]
    fn terminal_escapes_are_removed() {
        for (text, seen) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]8;;https://a.example\u{7}link\u{1b}]8;;\u{7}", "link"),
            ("\u{1b}]8;;https://a.example\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{9b}31mred\u{9b}0m", "red"),
            ("\u{9d}0;title\u{9c}text", "text"),
            ("\u{1b}P1$r0m\u{1b}\\text\u{1b}_hidden\u{1b}\\", "text"),
            ("a\u{7}b\0c\u{1b}", "abc"),
        ] {
            assert_eq!(visible(text), seen, "{text:?}");
        }
    }

    #[test]
    fn an_unfinished_escape_hides_no_other_line() {
        assert_eq!(visible("a\u{1b}]0;hidden\nb\u{1b}[\nc"), "a\nb\nc");
    }

    #[test]
    fn carriage_returns_and_backspaces_read_as_a_person_reads_them() {
        assert_eq!(visible("one\r\ntwo\rthree"), "one\ntwo\nthree");
        assert_eq!(visible("N\u{8}NA\u{8}A"), "NA");
    }

    #[test]
    fn invisible_characters_are_written_out() {
        for (text, seen) in [
            ("a\u{202e}b", "a\\u{202e}b"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
            ("\u{e0041}\u{e0042}", "\\u{e0041}\\u{e0042}"),
            ("\u{feff}text", "\\u{feff}text"),
            ("ASCII\u{200d}joined", "ASCII\\u{200d}joined"),
            ("hidden\u{fe01}", "hidden\\u{fe01}"),
            ("é\u{fe0f}\u{fe0f}", "é\u{fe0f}\\u{fe0f}"),
        ] {
            assert_eq!(visible(text), seen, "{text:?}");
        }
    }

    #[test]
    fn emoji_and_joined_scripts_stay() {
        for text in [
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "日本語",
            "naïve — “ok”",
        ] {
            assert_eq!(visible(text), text);
        }
    }
}
