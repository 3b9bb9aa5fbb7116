//! The numbers of `printf`: integers, and decimal fractions to the last bit of a `long double`, with which bash counts.
//!
//! Source: C17, 7.22.1.3 and 7.22.1.7, as POSIX.1-2024, "printf" demands; the exact digits are those of long arithmetic.

use num_bigint::BigUint;

/// The bits of the mantissa of a `long double` where bash runs.
const BITS: u64 = if cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
    64
} else if cfg!(target_os = "linux") {
    113
} else {
    53
};

/// Most digits of a number that `printf` reads.
const MAX_DIGITS: usize = 1_000;

/// Largest power of a number that `printf` reads; the types of C end soon behind it.
const MAX_EXPONENT: i64 = 4_000;

/// The nearest number with a mantissa of a `long double` to a fraction: the mantissa, and the power of two.
fn nearest(mut over: BigUint, mut under: BigUint) -> (BigUint, i64) {
    if over.bits() == 0 {
        return (over, 0);
    }
    // The quotient has two or three bits more than the mantissa.
    let wanted = BITS + 2 + under.bits();
    let shift = wanted.cast_signed() - over.bits().cast_signed();
    if shift >= 0 {
        over <<= shift;
    } else {
        under <<= -shift;
    }
    let mut quotient = &over / &under;
    let has_rest = over % under != BigUint::ZERO;

    let dropped = quotient.bits().saturating_sub(BITS);
    let is_more = has_rest || quotient.trailing_zeros().is_some_and(|zeros| zeros + 1 < dropped);
    let is_half = dropped > 0 && quotient.bit(dropped - 1);
    let is_odd = quotient.bit(dropped);
    quotient >>= dropped;
    if is_half && (is_more || is_odd) {
        quotient += 1_u32;
    }
    (quotient, dropped.cast_signed() - shift)
}

/// The digits of a number; none of zero.
fn decimal(number: &BigUint) -> Vec<u8> {
    if number.bits() == 0 { Vec::new() } else { number.to_string().into_bytes() }
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A number that `%f` and its kind print.
pub(super) enum Float {
    /// `inf` or `nan`.
    Word(&'static str),
    /// The exact digits, and how many of them stand behind the point.
    Digits(Vec<u8>, usize),
}

/// Reads the start of a text as a number, with its sign and whether all of the text is one.
///
/// # Errors
/// It has more digits than are read.
pub(super) fn float(text: &str) -> Result<(bool, Float, bool), String> {
    let zero = || Float::Digits(Vec::new(), 0);
    if let Some(character) = character(text) {
        return Ok((false, Float::Digits(character.to_string().into_bytes(), 0), true));
    }
    let (is_negative, rest) = sign(text);
    let lower = rest.to_ascii_lowercase();
    for (word, value) in [("infinity", "inf"), ("inf", "inf"), ("nan", "nan")] {
        if lower.starts_with(word) {
            let is_whole = rest.len() == word.len();
            if value == "nan" && !is_whole {
                return Err("a number that starts with `nan` is not read".to_owned());
            }
            return Ok((is_negative, Float::Word(value), is_whole));
        }
    }
    let hexadecimal = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
    let hexadecimal =
        hexadecimal.filter(|rest| rest.trim_start_matches('.').starts_with(|c: char| c.is_ascii_hexdigit()));
    let (base, powers, rest) = match hexadecimal {
        Some(rest) => (16, ['p', 'P'], rest),
        None => (10, ['e', 'E'], rest),
    };
    let Some((digits, places, rest)) = mantissa(rest, base) else { return Ok((false, zero(), text.is_empty())) };
    let (power, rest) = exponent(rest, powers);
    if digits.len() > MAX_DIGITS || power.abs() > MAX_EXPONENT {
        return Err("a number with so many digits is not read".to_owned());
    }

    let mut over = digits.into_iter().fold(BigUint::ZERO, |over, digit| over * base + digit);
    let mut under = BigUint::from(1_u32);
    let power = if base == 16 { power - 4 * signed(places) } else { power - signed(places) };
    let scaled = if power < 0 { &mut under } else { &mut over };
    *scaled *= BigUint::from(if base == 16 { 2_u32 } else { 10 }).pow(u32::try_from(power.abs()).unwrap_or(0));
    let (mantissa, power) = nearest(over, under);
    let count = usize::try_from(power.abs()).unwrap_or(0);
    if power >= 0 {
        return Ok((is_negative, Float::Digits(decimal(&(mantissa << count)), 0), rest.is_empty()));
    }
    let digits = mantissa * BigUint::from(5_u32).pow(u32::try_from(count).unwrap_or(0));
    Ok((is_negative, Float::Digits(decimal(&digits), count), rest.is_empty()))
}

/// Splits off digits with a point: them, how many stand behind it, and the rest. `None` if there are none.
fn mantissa(text: &str, base: u32) -> Option<(Vec<u32>, usize, &str)> {
    let (mut digits, mut point) = (Vec::new(), None);
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        if c == '.' && point.is_none() {
            point = Some(digits.len());
        } else if let Some(digit) = c.to_digit(base) {
            digits.push(digit);
        } else {
            end = at;
            break;
        }
    }
    let places = point.map_or(0, |point| digits.len() - point);
    (!digits.is_empty()).then(|| (digits, places, &text[end..]))
}

/// Splits off an exponent.
fn exponent(text: &str, letters: [char; 2]) -> (i64, &str) {
    let Some(behind) = text.strip_prefix(letters) else { return (0, text) };
    let digits = behind.strip_prefix(['+', '-']).unwrap_or(behind);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if end == 0 {
        return (0, text);
    }
    let number = digits[..end].parse().unwrap_or(i64::MAX / 2);
    (if behind.starts_with('-') { -number } else { number }, &digits[end..])
}

/// The sign of a number, and what stands behind it.
fn sign(text: &str) -> (bool, &str) {
    let text = text.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// The number of the character behind a quote.
fn character(text: &str) -> Option<u32> {
    let rest = text.strip_prefix(['\'', '"'])?;
    Some(rest.chars().next().map_or(0, u32::from))
}

/// Reads the start of a text as an integer: its sign, its amount, which is the largest one if it is too large, and whether
/// all of the text is one.
pub(super) fn integer(text: &str) -> (bool, u64, bool) {
    if let Some(character) = character(text) {
        return (false, u64::from(character), true);
    }
    let (is_negative, rest) = sign(text);
    let hexadecimal = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
    let (digits, radix) = match hexadecimal.filter(|rest| rest.starts_with(|c: char| c.is_ascii_hexdigit())) {
        Some(digits) => (digits, 16),
        None if rest.starts_with('0') => (rest, 8),
        None => (rest, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let amount = if end == 0 { 0 } else { u64::from_str_radix(&digits[..end], radix).unwrap_or(u64::MAX) };
    (is_negative, amount, text.is_empty() || (end > 0 && end == digits.len()))
}

/// Rounds digits to a number of them behind the point, half to even. There is at least one before it.
pub(super) fn rounded(digits: &[u8], behind: usize, places: usize) -> Vec<u8> {
    let missing = (behind + 1).saturating_sub(digits.len());
    let mut all: Vec<u8> = std::iter::repeat_n(b'0', missing).chain(digits.iter().copied()).collect();
    if places >= behind {
        all.extend(std::iter::repeat_n(b'0', places - behind));
        return all;
    }
    let dropped = all.split_off(all.len() - (behind - places));
    let is_odd = all.last().is_some_and(|digit| digit % 2 == 1);
    let is_more = dropped[1..].iter().any(|digit| *digit != b'0');
    if dropped[0] > b'5' || (dropped[0] == b'5' && (is_more || is_odd)) {
        increase(&mut all);
    }
    all
}

fn increase(digits: &mut Vec<u8>) {
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
    digits.insert(0, b'1');
}
