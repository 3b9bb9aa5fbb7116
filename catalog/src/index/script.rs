//! Scripts that are written without spaces between words.

/// Whether a character belongs to a script that is written without spaces.
pub(super) fn is_unspaced(c: char) -> bool {
    is_kana(c) || matches!(c, '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}')
}

/// Whether a character is hiragana or katakana.
pub(super) fn is_kana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}')
}
