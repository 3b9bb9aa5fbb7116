//! Replaces lone surrogates in JSON text before it is parsed.
//!
//! Pure. RFC 8259, section 8.2, permits them in strings, and JavaScript and Python write them; Rust's strings cannot hold them.

use std::borrow::Cow;

use memchr::memchr;

/// The length of an escape of four hexadecimal digits.
const ESCAPE_BYTES: usize = "\\uXXXX".len();

/// Replaces the escape of each surrogate that is not part of a pair by that of U+FFFD.
///
/// A pair is a high surrogate that a low one follows. Takes one pass over the bytes.
pub(crate) fn replace_lone(json: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(json);
    let mut at = 0;
    while let Some(found) = json.get(at..).and_then(|rest| memchr(b'\\', rest)) {
        at += found;
        at += match (unit(json, at), unit(json, at + ESCAPE_BYTES)) {
            // Not an escape of digits: a backslash and one character.
            (None, _) => 2,
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 2 * ESCAPE_BYTES,
            (Some(0xD800..=0xDFFF), _) => {
                text.to_mut()[at..at + ESCAPE_BYTES].copy_from_slice(b"\\ufffd");
                ESCAPE_BYTES
            }
            (Some(_), _) => ESCAPE_BYTES,
        };
    }

    text
}

/// The UTF-16 unit that is escaped at `at`.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE_BYTES)?.strip_prefix(b"\\u")?;
    // `from_str_radix` would take a sign too.
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The string that a JSON string stands for, by the rules of UTF-16.
    fn decoded(units: &[u16]) -> String {
        char::decode_utf16(units.iter().copied()).map(|unit| unit.unwrap_or('\u{fffd}')).collect()
    }

    #[test]
    fn only_surrogates_without_a_partner_are_replaced() {
        for (written, read) in [
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\uD83D\uDE00""#, "😀"),
            (r#""\ud800""#, "\u{fffd}"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ud83d\ude00x""#, "\u{fffd}😀x"),
            (r#""\ud83dx\ude00""#, "\u{fffd}x\u{fffd}"),
            (r#""\\ud800 \\\ud800""#, "\\ud800 \\\u{fffd}"),
            (r#""\u0041\n\"""#, "A\n\""),
        ] {
            let text = replace_lone(written.as_bytes());
            assert_eq!(serde_json::from_slice::<String>(&text).unwrap(), read, "{written}");
        }
        for unchanged in [&b"\"\\u+123\""[..], b"\\", b"\\u", b"\\ud80", b"\"plain\""] {
            assert!(matches!(replace_lone(unchanged), Cow::Borrowed(text) if text == unchanged));
        }
    }

    proptest! {
        #[test]
        fn any_units_are_read_as_utf_16(units in proptest::collection::vec(prop_oneof![0xD7FE_u16..0xE002, 0x20_u16..0x7F], 0..12)) {
            let escapes = units.iter().fold(String::new(), |escapes, unit| format!("{escapes}\\u{unit:04x}"));
            let json = format!("\"{escapes}\"");
            prop_assert_eq!(serde_json::from_slice::<String>(&replace_lone(json.as_bytes())).unwrap(), decoded(&units));
        }

        #[test]
        fn any_bytes_have_the_same_length_afterwards(bytes in proptest::collection::vec(prop_oneof![Just(b'\\'), Just(b'u'), Just(b'd'), any::<u8>()], 0..32)) {
            prop_assert_eq!(replace_lone(&bytes).len(), bytes.len());
        }
    }
}
