//! Escapes in the texts of `echo` and `printf`.
//!
//! Source: POSIX.1-2024, "printf" and "echo"; bash(1), "SHELL BUILTIN COMMANDS".

/// Where escapes stand, which differ a little.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// In the text of `echo -e`: octal numbers start with a 0.
    Echo,
    /// In a format.
    Format,
    /// In the argument of `%b`.
    Argument,
}

/// Replaces escapes. Returns whether what stands behind is printed, which `\c` ends.
pub(super) fn unescaped(text: &str, kind: Kind) -> (Vec<u8>, bool) {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend(rest[..at].bytes());
        rest = &rest[at + 1..];
        let Some(letter) = rest.chars().next() else {
            bytes.push(b'\\');
            return (bytes, true);
        };
        if letter == 'c' && kind != Kind::Format {
            return (bytes, false);
        }

        rest = &rest[letter.len_utf8()..];
        match named(letter, kind) {
            Some(byte) => bytes.push(byte),
            None => rest = add_numbered(letter, rest, kind, &mut bytes),
        }
    }
    bytes.extend(rest.bytes());
    (bytes, true)
}

/// Returns the character that a letter behind a backslash names.
fn named(letter: char, kind: Kind) -> Option<u8> {
    Some(match letter {
        'a' => 7,
        'b' => 8,
        'e' | 'E' => 27,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' => b'\\',
        '"' if kind == Kind::Format => b'"',
        '\'' if kind == Kind::Format => b'\'',
        '?' if kind == Kind::Format => b'?',
        _ => return None,
    })
}

/// Adds the character whose number stands behind a letter, or the letter with its backslash if no number does. Returns the
/// text behind it.
fn add_numbered<'t>(letter: char, rest: &'t str, kind: Kind, bytes: &mut Vec<u8>) -> &'t str {
    match letter {
        '0'..='7' if letter == '0' || kind != Kind::Echo => {
            let most = if letter == '0' && kind != Kind::Format { 3 } else { 2 };
            let (digits, rest) = split_digits(rest, most, 8);
            // Of a larger number the lowest eight bits count.
            let number = u32::from_str_radix(&format!("{letter}{digits}"), 8).unwrap_or(0);
            bytes.push(number.to_le_bytes()[0]);
            rest
        }
        'x' => {
            let (digits, rest) = split_digits(rest, 2, 16);
            match u8::from_str_radix(digits, 16) {
                Ok(byte) => bytes.push(byte),
                Err(_) => bytes.extend(b"\\x"),
            }
            rest
        }
        'u' | 'U' => {
            let (digits, rest) = split_digits(rest, if letter == 'u' { 4 } else { 8 }, 16);
            let found = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
            bytes.extend(found.map_or_else(|| format!("\\{letter}"), String::from).bytes());
            rest
        }
        letter => {
            bytes.extend(format!("\\{letter}").bytes());
            rest
        }
    }
}

/// Splits off the digits at the start of a text, `most` of them.
fn split_digits(text: &str, most: usize, radix: u32) -> (&str, &str) {
    text.split_at(text.bytes().take(most).take_while(|byte| char::from(*byte).is_digit(radix)).count())
}
