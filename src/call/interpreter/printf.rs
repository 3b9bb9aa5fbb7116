//! What `echo` and `printf` print.
//!
//! Source: POSIX.1-2024, "printf" and "echo"; bash(1) for the options of `echo`.

mod escapes;
mod numbers;

use self::escapes::{Kind, unescaped};
use self::numbers::Float;

/// Most columns that a value is filled up to.
const MAX_SIZE: u64 = 100_000;

/// Returns what `echo` prints.
pub(super) fn echoed(words: &[&str]) -> Vec<u8> {
    let is_options = |word: &&&str| {
        word.strip_prefix('-').is_some_and(|letters| !letters.is_empty() && letters.chars().all(|c| "neE".contains(c)))
    };
    let options = words.iter().take_while(is_options).count();
    let letters: String = words[..options].iter().flat_map(|word| word.chars()).collect();
    let escapes = letters.rfind('e').is_some_and(|at| letters.rfind('E').is_none_or(|other| at > other));

    let text = words[options..].join(" ");
    let (mut bytes, goes_on) = if escapes { unescaped(&text, Kind::Echo) } else { (text.into_bytes(), true) };
    if goes_on && !letters.contains('n') {
        bytes.push(b'\n');
    }
    bytes
}

/// Why `printf` prints nothing.
pub(super) enum PrintfError {
    /// It fails as in a shell, with this status and message.
    Failed(i32, String),
    /// Its words are not read.
    Unread(String),
}

/// Returns what `printf` prints, and its status.
///
/// # Errors
/// There is no format, or a part of it is not read.
pub(super) fn printed(words: &[&str]) -> Result<(Vec<u8>, i32), PrintfError> {
    let has_end = words.first() == Some(&"--");
    let Some((format, mut arguments)) = words[usize::from(has_end)..].split_first() else {
        return Err(PrintfError::Failed(2, "usage: printf format [arguments]".to_owned()));
    };
    if format.starts_with("-v") && !has_end {
        return Err(PrintfError::Unread("`-v` is not read: write `NAME=$(printf …)`".to_owned()));
    }
    if format.len() > 1 && format.starts_with('-') && !has_end {
        return Err(PrintfError::Failed(2, format!("{format}: invalid option; write `printf --` before it")));
    }

    let (mut output, mut status) = (Vec::new(), 0);
    loop {
        let before = arguments.len();
        let goes_on = print_once(format, &mut arguments, &mut output, &mut status).map_err(PrintfError::Unread)?;
        if !goes_on || arguments.is_empty() || arguments.len() == before {
            return Ok((output, status));
        }
    }
}

/// Prints a format once. Returns whether the rest is printed.
fn print_once<'w>(
    format: &str,
    arguments: &mut &'w [&'w str],
    output: &mut Vec<u8>,
    status: &mut i32,
) -> Result<bool, String> {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let (bytes, goes_on) = unescaped(&rest[..at], Kind::Format);
        output.extend(bytes);
        if !goes_on {
            return Ok(false);
        }
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('%') {
            output.push(b'%');
            rest = behind;
            continue;
        }

        let mut given = Arguments { left: arguments, status };
        let (shape, behind) = Shape::read(rest, &mut given)?;
        let Some(kind) = behind.chars().next() else { return Err("`%`: missing format character".to_owned()) };
        rest = &behind[kind.len_utf8()..];
        if !shape.convert(kind, &mut given, output)? {
            return Ok(false);
        }
    }
    let (bytes, goes_on) = unescaped(rest, Kind::Format);
    output.extend(bytes);
    Ok(goes_on)
}

/// The arguments that are left, and the status, which a wrong number changes.
struct Arguments<'a, 'w> {
    left: &'a mut &'w [&'w str],
    status: &'a mut i32,
}

impl<'w> Arguments<'_, 'w> {
    /// The next argument; empty if none is left, which is 0 as a number.
    fn next(&mut self) -> &'w str {
        let Some((first, rest)) = self.left.split_first() else { return "" };
        *self.left = rest;
        first
    }

    /// Notes whether all of an argument was a number.
    fn note(&mut self, is_whole: bool) {
        if !is_whole {
            *self.status = 1;
        }
    }

    /// Takes an argument as an integer: whether it is negative, and its amount.
    fn integer(&mut self) -> (bool, u64) {
        let (is_negative, amount, is_whole) = numbers::integer(self.next());
        self.note(is_whole);
        (is_negative, amount)
    }

    /// Takes an argument as an integer within 64 bits.
    fn signed(&mut self) -> i64 {
        let (is_negative, amount) = self.integer();
        match i64::try_from(amount) {
            Ok(amount) if is_negative => -amount,
            Ok(amount) => amount,
            Err(_) if is_negative => i64::MIN,
            Err(_) => i64::MAX,
        }
    }

    /// Reads a width or a precision; `*` takes an argument.
    fn size<'t>(&mut self, text: &'t str) -> Result<(Option<i64>, &'t str), String> {
        let (size, behind) = if let Some(behind) = text.strip_prefix('*') {
            (Some(self.signed()), behind)
        } else {
            let (digits, behind) = split(text, |c| c.is_ascii_digit());
            ((!digits.is_empty()).then(|| digits.parse().unwrap_or(i64::MAX)), behind)
        };
        if size.is_some_and(|size| size.unsigned_abs() > MAX_SIZE) {
            return Err(format!("a width above {MAX_SIZE} is not read"));
        }
        Ok((size, behind))
    }
}

/// How a value is printed. Lengths are those of bytes, as in the shell's own.
struct Shape<'f> {
    flags: &'f str,
    width: usize,
    is_left: bool,
    precision: Option<usize>,
}

impl<'f> Shape<'f> {
    /// Reads what stands between `%` and the letter of the conversion.
    fn read(text: &'f str, given: &mut Arguments<'_, '_>) -> Result<(Self, &'f str), String> {
        let (flags, behind) = split(text, |c| "-+ 0#".contains(c));
        let (width, behind) = given.size(behind)?;
        let (precision, behind) = match behind.strip_prefix('.') {
            Some(behind) => {
                let (precision, behind) = given.size(behind)?;
                (Some(precision.unwrap_or(0)), behind)
            }
            None => (None, behind),
        };
        let width = width.unwrap_or(0);
        let shape = Self {
            flags,
            width: usize::try_from(width.unsigned_abs()).unwrap_or(0),
            is_left: width < 0 || flags.contains('-'),
            // A negative one counts as none.
            precision: precision.and_then(|precision| usize::try_from(precision).ok()),
        };
        Ok((shape, behind.trim_start_matches(|c| "hjlLtz".contains(c))))
    }

    /// Prints a value. Returns whether the rest is printed.
    fn convert(&self, kind: char, given: &mut Arguments<'_, '_>, output: &mut Vec<u8>) -> Result<bool, String> {
        match kind {
            's' => self.text(given.next().as_bytes(), output),
            // One byte, also of a longer character; NUL if there is none.
            'c' => self.fill(&[given.next().bytes().next().unwrap_or(0)], output),
            'b' => {
                let (bytes, goes_on) = unescaped(given.next(), Kind::Argument);
                self.text(&bytes, output);
                return Ok(goes_on);
            }
            'q' => {
                let value = given.next();
                if value.chars().any(char::is_control) {
                    return Err("`%q` of a line break or another control character is not read".to_owned());
                }
                self.text(quoted(value).as_bytes(), output);
            }
            'd' | 'i' => {
                let number = given.signed();
                self.integer(kind, number < 0, number.unsigned_abs(), output);
            }
            'u' | 'x' | 'X' | 'o' => {
                let (is_negative, amount) = given.integer();
                let is_turned = is_negative && amount != u64::MAX;
                self.integer(kind, false, if is_turned { amount.wrapping_neg() } else { amount }, output);
            }
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' => {
                let (is_negative, number, is_whole) = numbers::float(given.next())?;
                given.note(is_whole);
                self.float(kind, is_negative, &number, output);
            }
            kind => return Err(format!("`%{kind}` is not read")),
        }
        Ok(true)
    }

    /// Adds a text, filled up to the width with blanks.
    fn fill(&self, text: &[u8], output: &mut Vec<u8>) {
        let missing = std::iter::repeat_n(b' ', self.width.saturating_sub(text.len()));
        if self.is_left {
            output.extend(text);
            output.extend(missing);
        } else {
            output.extend(missing);
            output.extend(text);
        }
    }

    /// Adds a number, filled up to the width with zeros behind its sign if that is wanted.
    fn fill_number(&self, sign: &str, digits: &str, has_zeros: bool, output: &mut Vec<u8>) {
        let zeros = if has_zeros && self.flags.contains('0') && !self.is_left {
            self.width.saturating_sub(sign.len() + digits.len())
        } else {
            0
        };
        self.fill(format!("{sign}{}{digits}", "0".repeat(zeros)).as_bytes(), output);
    }

    /// Prints a text, of which the precision is the most bytes.
    fn text(&self, text: &[u8], output: &mut Vec<u8>) {
        self.fill(&text[..self.precision.unwrap_or(text.len()).min(text.len())], output);
    }

    /// The sign of a number.
    fn sign(&self, is_negative: bool) -> &'static str {
        match () {
            () if is_negative => "-",
            () if self.flags.contains('+') => "+",
            () if self.flags.contains(' ') => " ",
            () => "",
        }
    }

    /// Prints an integer.
    fn integer(&self, kind: char, is_negative: bool, amount: u64, output: &mut Vec<u8>) {
        let digits = match kind {
            _ if amount == 0 && self.precision == Some(0) => String::new(),
            'x' => format!("{amount:x}"),
            'X' => format!("{amount:X}"),
            'o' => format!("{amount:o}"),
            _ => amount.to_string(),
        };
        let least = self.precision.unwrap_or(0);
        let digits = format!("{digits:0>least$}");
        let is_alternate = self.flags.contains('#');
        let sign = match kind {
            'd' | 'i' => self.sign(is_negative),
            'x' if is_alternate && amount != 0 => "0x",
            'X' if is_alternate && amount != 0 => "0X",
            'o' if is_alternate && !digits.starts_with('0') => "0",
            _ => "",
        };
        self.fill_number(sign, &digits, self.precision.is_none(), output);
    }

    /// Prints a number with a point.
    fn float(&self, kind: char, is_negative: bool, number: &Float, output: &mut Vec<u8>) {
        let (text, has_zeros) = match number {
            Float::Word(word) => ((*word).to_owned(), false),
            Float::Digits(digits, behind) => (self.digits(kind.to_ascii_lowercase(), digits, *behind), true),
        };
        let text = if kind.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text };
        self.fill_number(self.sign(is_negative), &text, has_zeros, output);
    }

    /// The digits of a number as `%f`, `%e` or `%g` writes them.
    fn digits(&self, kind: char, digits: &[u8], behind: usize) -> String {
        let precision = self.precision.unwrap_or(6);
        let has_point = self.flags.contains('#');
        if kind == 'f' {
            return pointed(&numbers::rounded(digits, behind, precision), precision, has_point);
        }
        let is_short = kind == 'g';
        let count = if is_short { precision.max(1) } else { precision + 1 };
        let (mut found, exponent) = significant(digits, behind, count);
        if !is_short {
            return format!("{}{}", pointed(&found, count - 1, has_point), written_exponent(exponent));
        }
        // The shorter of both, without zeros at its end.
        let is_fixed = (-4..i64::try_from(count).unwrap_or(i64::MAX)).contains(&exponent);
        let before = if is_fixed { exponent + 1 } else { 1 };
        let mut places = usize::try_from(i64::try_from(count).unwrap_or(0) - before).unwrap_or(0);
        if before < 1 {
            let zeros = usize::try_from(1 - before).unwrap_or(0);
            found.splice(0..0, std::iter::repeat_n(b'0', zeros));
        }
        while !has_point && places > 0 && found.last() == Some(&b'0') {
            found.pop();
            places -= 1;
        }
        let text = pointed(&found, places, has_point);
        if is_fixed { text } else { format!("{text}{}", written_exponent(exponent)) }
    }
}

/// Writes digits with a point before the last of them.
fn pointed(digits: &[u8], places: usize, has_point: bool) -> String {
    let (before, behind) = digits.split_at(digits.len() - places);
    let point = if places > 0 || has_point { "." } else { "" };
    format!("{}{point}{}", String::from_utf8_lossy(before), String::from_utf8_lossy(behind))
}

/// Writes a power of ten, with two digits at least.
fn written_exponent(exponent: i64) -> String {
    format!("e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// Rounds to this many digits, and returns the power of ten of the first.
fn significant(digits: &[u8], behind: usize, count: usize) -> (Vec<u8>, i64) {
    if digits.is_empty() {
        return (vec![b'0'; count], 0);
    }
    let signed = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let exponent = signed(digits.len()) - signed(behind) - 1;
    // The digits behind the first are those behind a point.
    let mut found = numbers::rounded(digits, digits.len() - 1, count - 1);
    let has_grown = found.len() > count;
    found.truncate(count);
    (found, exponent + i64::from(has_grown))
}

/// Splits a text before the first character that is not of its first part.
fn split(text: &str, is_part: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}

/// A text as a shell reads it back, for `%q`.
fn quoted(text: &str) -> String {
    if text.is_empty() {
        return "''".to_owned();
    }
    let is_plain = |at: usize, c: char| c.is_alphanumeric() || "_-./:=@%+".contains(c) || (at > 0 && "#~".contains(c));
    text.chars().enumerate().flat_map(|(at, c)| (!is_plain(at, c)).then_some('\\').into_iter().chain([c])).collect()
}
