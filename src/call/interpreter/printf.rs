//! What `echo` and `printf` print.
//!
//! Source: POSIX.1-2024, "printf" and "echo"; bash(1) for the options of `echo`.

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

/// Returns what `printf` prints, and its status.
///
/// # Errors
/// The format is wrong, with the status, or not read.
pub(super) fn printed(words: &[&str]) -> Result<(Vec<u8>, i32), (Option<i32>, String)> {
    let has_end = words.first() == Some(&"--");
    let Some((format, mut arguments)) = words[usize::from(has_end)..].split_first() else {
        return Err((Some(2), "usage: printf format [arguments]".into()));
    };
    if format.starts_with("-v") && !has_end {
        return Err((None, "`-v` is not read: write `NAME=$(printf …)`".to_owned()));
    }
    if format.len() > 1 && format.starts_with('-') && !has_end {
        return Err((Some(2), format!("{format}: invalid option; write `printf --` before it")));
    }

    let (mut output, mut status) = (Vec::new(), 0);
    loop {
        let before = arguments.len();
        let goes_on =
            print_once(format, &mut arguments, &mut output, &mut status).map_err(|message| (None, message))?;
        if !goes_on || arguments.is_empty() || arguments.len() == before {
            return Ok((output, status));
        }
    }
}

/// Prints a format once. Returns whether the rest is printed.
fn print_once(format: &str, arguments: &mut &[&str], output: &mut Vec<u8>, status: &mut i32) -> Result<bool, String> {
    let mut next = || match arguments.split_first() {
        Some((first, rest)) => {
            *arguments = rest;
            Some(*first)
        }
        None => None,
    };
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

        let (flags, behind) = split(rest, |c| "-+ 0#".contains(c));
        let (width, behind) = number(behind, &mut next);
        let (precision, behind) = match behind.strip_prefix('.') {
            Some(behind) => {
                let (precision, behind) = number(behind, &mut next);
                (Some(precision.unwrap_or(0)), behind)
            }
            None => (None, behind),
        };
        let Some(kind) = behind.chars().next() else { return Err("`%`: missing format character".to_owned()) };
        rest = &behind[kind.len_utf8()..];
        let value = next();
        let shape = Shape { flags, width: width.unwrap_or(0), precision };
        match kind {
            's' => shape.text(value.unwrap_or_default(), output),
            'c' => shape.text(value.unwrap_or_default().get(..1).unwrap_or_default(), output),
            'b' => {
                let (bytes, goes_on) = unescaped(value.unwrap_or_default(), Kind::Argument);
                if (width.is_some() || precision.is_some()) && !bytes.is_ascii() {
                    return Err("`%b` with a width is read for ASCII alone".to_owned());
                }
                match String::from_utf8(bytes) {
                    Ok(text) => shape.text(&text, output),
                    Err(error) => output.extend(error.into_bytes()),
                }
                if !goes_on {
                    return Ok(false);
                }
            }
            'q' if value.is_some_and(|value| value.chars().any(char::is_control)) => {
                return Err("`%q` of a line break or another control character is not read".to_owned());
            }
            'q' => shape.text(&quoted(value.unwrap_or_default()), output),
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' => {
                let (number, is_number) = integer(value.unwrap_or("0"));
                if !is_number {
                    *status = 1;
                }
                shape.integer(kind, number, output);
            }
            'f' | 'F' | 'e' | 'g' => {
                let number: f64 = value.unwrap_or("0").parse().unwrap_or_else(|_| {
                    *status = 1;
                    0.0
                });
                if kind != 'f' && kind != 'F' {
                    return Err(format!("`%{kind}` is not read: write %f"));
                }
                shape.float(number, output);
            }
            kind => return Err(format!("`%{kind}` is not read")),
        }
    }
    let (bytes, goes_on) = unescaped(rest, Kind::Format);
    output.extend(bytes);
    Ok(goes_on)
}

/// How a value is printed.
struct Shape<'f> {
    flags: &'f str,
    width: i64,
    precision: Option<i64>,
}

impl Shape<'_> {
    /// Adds a text, filled up to the width.
    fn fill(&self, text: &str, fill: char, output: &mut Vec<u8>) {
        const MAX_WIDTH: u64 = 100_000;

        let width = usize::try_from(self.width.unsigned_abs().min(MAX_WIDTH)).unwrap_or(0);
        let missing = width.saturating_sub(text.chars().count());
        if self.flags.contains('-') || self.width < 0 {
            output.extend(text.bytes());
            output.extend(std::iter::repeat_n(b' ', missing));
        } else if fill == '0' {
            let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
            let (sign, digits) = match text.as_bytes().first() {
                Some(b'-' | b'+' | b' ') => text.split_at(1),
                _ => text.split_at(if is_hexadecimal { 2 } else { 0 }),
            };
            output.extend(sign.bytes());
            output.extend(std::iter::repeat_n(b'0', missing));
            output.extend(digits.bytes());
        } else {
            output.extend(std::iter::repeat_n(b' ', missing));
            output.extend(text.bytes());
        }
    }

    fn text(&self, text: &str, output: &mut Vec<u8>) {
        let most = self.precision.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
        self.fill(&text.chars().take(most).collect::<String>(), ' ', output);
    }

    fn integer(&self, kind: char, number: i64, output: &mut Vec<u8>) {
        let alternate = self.flags.contains('#');
        let text = match kind {
            'x' => format!("{number:x}"),
            'X' => format!("{number:X}"),
            'o' => format!("{number:o}"),
            'u' => number.cast_unsigned().to_string(),
            _ if number >= 0 && self.flags.contains('+') => format!("+{number}"),
            _ if number >= 0 && self.flags.contains(' ') => format!(" {number}"),
            _ => number.to_string(),
        };
        let (sign, digits) = text.split_at(usize::from(text.starts_with(['-', '+', ' '])));
        let least = self.precision.and_then(|count| usize::try_from(count).ok()).unwrap_or(0).min(1_000);
        let sign = match kind {
            'x' if alternate && number != 0 => "0x",
            'X' if alternate && number != 0 => "0X",
            'o' if alternate && number != 0 && least <= digits.len() => "0",
            _ => sign,
        };
        let digits = if self.precision == Some(0) && number == 0 { "" } else { digits };
        let text = format!("{sign}{digits:0>least$}");
        let fill = if self.flags.contains('0') && self.precision.is_none() { '0' } else { ' ' };
        self.fill(&text, fill, output);
    }

    fn float(&self, number: f64, output: &mut Vec<u8>) {
        let places = self.precision.and_then(|count| usize::try_from(count).ok()).unwrap_or(6).min(100);
        let sign = match () {
            () if number < 0.0 => "",
            () if self.flags.contains('+') => "+",
            () if self.flags.contains(' ') => " ",
            () => "",
        };
        let fill = if self.flags.contains('0') { '0' } else { ' ' };
        self.fill(&format!("{sign}{number:.places$}"), fill, output);
    }
}

fn split(text: &str, is_part: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}

/// Reads a width or a precision; `*` takes an argument.
fn number<'t>(text: &'t str, next: &mut impl FnMut() -> Option<&'t str>) -> (Option<i64>, &'t str) {
    if let Some(behind) = text.strip_prefix('*') {
        return (next().and_then(|text| text.parse().ok()), behind);
    }
    let (digits, behind) = split(text, |c| c.is_ascii_digit());
    (digits.parse().ok(), behind)
}

/// Reads a number, and whether all of the text is one. A quote stands before a character whose number is meant.
fn integer(text: &str) -> (i64, bool) {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix(['\'', '"']) {
        return (rest.chars().next().map_or(0, |c| i64::from(u32::from(c))), true);
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        None => (digits, 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let number = i64::from_str_radix(&digits[..end], radix).ok();
    (number.unwrap_or(0) * sign, (number.is_some() && end == digits.len()) || text.is_empty())
}

/// Where escapes stand, which differ a little.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// In the text of `echo -e`: octal numbers start with a 0.
    Echo,
    /// In a format.
    Format,
    /// In the argument of `%b`.
    Argument,
}

/// Replaces escapes. Returns whether what stands behind is printed, which `\c` ends.
fn unescaped(text: &str, kind: Kind) -> (Vec<u8>, bool) {
    let is_b = kind != Kind::Format;
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend(rest[..at].bytes());
        rest = &rest[at + 1..];
        let Some(c) = rest.chars().next() else {
            bytes.push(b'\\');
            return (bytes, true);
        };
        rest = &rest[c.len_utf8()..];
        let simple = match c {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' => b'\\',
            'c' if is_b => return (bytes, false),
            '"' if kind == Kind::Format => b'"',
            '\'' if kind == Kind::Format => b'\'',
            '?' if kind == Kind::Format => b'?',
            '0'..='7' if c == '0' || kind != Kind::Echo => {
                let most = if c == '0' && is_b { 3 } else { 2 };
                let digits: String = rest.chars().take(most).take_while(|c| c.is_digit(8)).collect();
                rest = &rest[digits.len()..];
                let all = format!("{c}{digits}");
                bytes.push(u8::try_from(u32::from_str_radix(&all, 8).unwrap_or(0) & 0xff).unwrap_or(0));
                continue;
            }
            'x' => {
                let digits: String = rest.chars().take(2).take_while(char::is_ascii_hexdigit).collect();
                rest = &rest[digits.len()..];
                match u8::from_str_radix(&digits, 16) {
                    Ok(byte) => bytes.push(byte),
                    Err(_) => bytes.extend(b"\\x"),
                }
                continue;
            }
            'u' | 'U' => {
                let most = if c == 'u' { 4 } else { 8 };
                let digits: String = rest.chars().take(most).take_while(char::is_ascii_hexdigit).collect();
                rest = &rest[digits.len()..];
                let found = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                bytes.extend(found.map_or_else(|| format!("\\{c}"), String::from).bytes());
                continue;
            }
            c => {
                bytes.push(b'\\');
                bytes.extend(c.to_string().bytes());
                continue;
            }
        };
        bytes.push(simple);
    }
    bytes.extend(rest.bytes());
    (bytes, true)
}

/// A text as a shell reads it back, for `%q`.
fn quoted(text: &str) -> String {
    if text.is_empty() {
        return "''".to_owned();
    }
    let is_plain = |at: usize, c: char| c.is_alphanumeric() || "_-./:=@%+".contains(c) || (at > 0 && "#~".contains(c));
    text.chars().enumerate().flat_map(|(at, c)| (!is_plain(at, c)).then_some('\\').into_iter().chain([c])).collect()
}
