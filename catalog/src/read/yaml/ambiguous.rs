//! Plain scalars that YAML 1.1 and YAML 1.2 read differently.

/// Returns the meaning of a plain scalar in YAML 1.1, if YAML 1.2 differs.
///
/// Source: yaml.org/type (bool, int, float, timestamp) against YAML 1.2.2 §10.3.2. `y` and `n` are left out: no
/// common reader of YAML 1.1 takes them for booleans, and they are good names of args.
pub(super) fn yaml_1_1_reading(text: &str) -> Option<&'static str> {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned {
        "yes" | "Yes" | "YES" | "no" | "No" | "NO" | "on" | "On" | "ON" | "off" | "Off" | "OFF" => {
            return (unsigned == text).then_some("a boolean");
        }
        _ => {}
    }

    let first = unsigned.bytes().next()?;
    if !first.is_ascii_digit() {
        return None;
    }
    if unsigned.contains(':') && unsigned.split(':').all(digits) {
        return Some("a number in base 60");
    }
    if unsigned.starts_with("0o") && unsigned[2..].bytes().all(|b| b.is_ascii_digit()) {
        return Some("a string");
    }
    if unsigned.starts_with("0b")
        && unsigned.len() > 2
        && unsigned[2..].bytes().all(|b| matches!(b, b'0' | b'1' | b'_'))
    {
        return Some("a number in base 2");
    }
    if unsigned.len() > 1 && first == b'0' && unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return Some("a number in base 8");
    }
    if unsigned.contains('_') && unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'_' | b'.')) {
        return Some("a number");
    }

    let is_date = unsigned == text && text.len() >= 8 && is_timestamp(text.as_bytes());
    is_date.then_some("a date")
}

/// Returns whether the text is `YYYY-M-D`, alone or followed by a time.
fn is_timestamp(text: &[u8]) -> bool {
    let mut parts = text.splitn(3, |byte| *byte == b'-');
    let digits = |part: &[u8], lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&part.len()) && part.iter().all(u8::is_ascii_digit)
    };
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let day_end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (day, time) = rest.split_at(day_end);

    digits(year, 4..=4)
        && digits(month, 1..=2)
        && digits(day, 1..=2)
        && (time.is_empty() || (b"Tt \t".contains(&time[0]) && time.contains(&b':')))
}
