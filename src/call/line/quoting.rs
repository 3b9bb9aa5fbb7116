//! Reads one word of a command line: its quotes, and what a shell would expand in it.

use super::script::{LineError, Word};

/// What ends a word outside quotes.
const ENDS: &[char] = &[' ', '\t', '\n', '|', '&', ';', '(', ')', '<', '>'];

/// Reads the word at `at`, and moves `at` behind it.
///
/// # Errors
/// A quote that does not end, and everything that a shell would replace by other text.
pub(super) fn word(line: &str, at: &mut usize) -> Result<Word, LineError> {
    let mut reader = Reader { line, at: *at, start: *at, text: String::new(), pattern: String::new(), has_glob: false };
    reader.read()?;
    *at = reader.at;
    let Reader { start, text, pattern, has_glob, .. } = reader;
    let range = start..*at;
    let written = &line[range.clone()];

    if let Some(braces) = braces(written) {
        let range = start + braces.start..start + braces.end;
        return Err(LineError::at(line, range, "braces are not expanded here", "write each word out, or quote them"));
    }

    let is_home = written == "~" || written.starts_with("~/");
    if written.starts_with('~') && !is_home {
        let remedy = "write the path out, or `~/` for the own home directory";
        return Err(LineError::at(line, range, "directories of other users are not expanded here", remedy));
    }

    Ok(Word { text, is_home, glob: has_glob.then_some(pattern), range })
}

struct Reader<'a> {
    line: &'a str,
    at: usize,
    start: usize,
    text: String,
    /// The word as a glob: quoted characters with a meaning are escaped.
    pattern: String,
    has_glob: bool,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), LineError> {
        while let Some(c) = self.line[self.at..].chars().next() {
            match c {
                _ if ENDS.contains(&c) => break,
                '\0' => {
                    let range = self.at..self.at + 1;
                    return Err(LineError::at(self.line, range, "NUL stands in the line", "remove it"));
                }
                '\'' => self.single()?,
                '"' => self.double()?,
                '\\' => self.escaped()?,
                '$' | '`' => self.dollar(c)?,
                _ => {
                    self.has_glob |= matches!(c, '*' | '?' | '[');
                    self.text.push(c);
                    self.pattern.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        Ok(())
    }

    /// Adds a character that has no meaning of its own.
    fn literal(&mut self, c: char) {
        self.text.push(c);
        if matches!(c, '*' | '?' | '[' | ']' | '\\') {
            self.pattern.push('\\');
        }
        self.pattern.push(c);
    }

    fn escaped(&mut self) -> Result<(), LineError> {
        self.at += 1;
        match self.line[self.at..].chars().next() {
            Some('\n') => self.joined()?,
            Some(c) => {
                self.literal(c);
                self.at += c.len_utf8();
            }
            None => self.literal('\\'),
        }

        Ok(())
    }

    /// Reads the end of a line that a backslash joins to the next one.
    ///
    /// A shell joins lines before it reads words, so the characters on both sides could mean something together, as
    /// `$` and `a` do. Between words they cannot.
    fn joined(&mut self) -> Result<(), LineError> {
        let is_apart = |c: Option<char>| c.is_none_or(|c| matches!(c, ' ' | '\t' | '\n'));
        let backslash = self.at - 1;
        if is_apart(self.line[..backslash].chars().next_back()) || is_apart(self.line[self.at + 1..].chars().next()) {
            self.at += 1;
            return Ok(());
        }
        let range = backslash..self.at + 1;
        Err(LineError::at(self.line, range, "a backslash joins two lines within a word", "write the word on one line"))
    }

    fn single(&mut self) -> Result<(), LineError> {
        let rest = &self.line[self.at + 1..];
        let Some(end) = rest.find('\'') else { return Err(self.unclosed('\'')) };
        self.check_nul(self.at + 1..self.at + 1 + end)?;
        rest[..end].chars().for_each(|c| self.literal(c));
        self.at += end + 2;
        Ok(())
    }

    fn double(&mut self) -> Result<(), LineError> {
        let open = self.at;
        self.at += 1;
        loop {
            let rest = &self.line[self.at..];
            let mut chars = rest.chars();
            match (chars.next(), chars.next()) {
                (None, _) => {
                    self.at = open;
                    return Err(self.unclosed('"'));
                }
                (Some('"'), _) => {
                    self.at += 1;
                    return Ok(());
                }
                (Some('\\'), Some('\n')) => {
                    self.at += 1;
                    self.joined()?;
                }
                (Some('\\'), Some(c @ ('$' | '`' | '"' | '\\'))) => {
                    self.literal(c);
                    self.at += 2;
                }
                (Some(c @ ('$' | '`')), next) => {
                    if c == '$' && matches!(next, Some('\'' | '"') | None) {
                        self.literal('$');
                        self.at += 1;
                    } else {
                        self.dollar(c)?;
                    }
                }
                (Some('\0'), _) => self.check_nul(self.at..self.at + 1)?,
                (Some(c), _) => {
                    self.literal(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    /// Reads `$` or a backquote: an error, unless a shell would leave the `$` as it is.
    fn dollar(&mut self, c: char) -> Result<(), LineError> {
        let rest = &self.line[self.at..];
        let next = rest[1..].chars().next();
        let name = rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len() - 1);
        let close = |end: char| rest.find(end).map_or(rest.len(), |end| end + 1);
        let remedy = "write the value out; in single quotes `$` is an ordinary character";
        let (length, problem, remedy) = match (c, next) {
            ('`', _) => (1, "commands in words are not run", "run it as a line of its own, and write its result out"),
            (_, Some('(')) => {
                (close(')'), "commands in words are not run", "run it as a line of its own, and write its result out")
            }
            (_, Some('[')) => (close(']'), "arithmetic is not done here", remedy),
            (_, Some('{')) => (close('}'), "variables are not expanded here", remedy),
            (_, Some('\'' | '"')) => (2, "`$` before a quote is not read here", "write the characters themselves"),
            (_, Some(c)) if c.is_ascii_alphabetic() || c == '_' => {
                (1 + name, "variables are not expanded here", remedy)
            }
            (_, Some(c)) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                (2, "variables are not expanded here", remedy)
            }
            _ => {
                self.literal('$');
                self.at += 1;
                return Ok(());
            }
        };
        Err(LineError::at(self.line, self.at..self.at + length, problem, remedy))
    }

    fn check_nul(&self, range: std::ops::Range<usize>) -> Result<(), LineError> {
        if self.line[range.clone()].contains('\0') {
            return Err(LineError::at(self.line, range, "NUL stands in the line", "remove it"));
        }
        Ok(())
    }

    fn unclosed(&self, quote: char) -> LineError {
        let range = self.at..self.line.len();
        let problem = format!("the quote {quote} does not end");
        LineError::at(self.line, range, problem, format!("close it with {quote}, or write \\{quote} for the character"))
    }
}

/// Returns the place of a brace expansion: `{a,b}` or `{1..3}` outside quotes.
fn braces(written: &str) -> Option<std::ops::Range<usize>> {
    let bytes = written.as_bytes();
    let mut at = 0;
    let mut open: Option<usize> = None;
    let mut is_list = false;

    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            quote @ (b'\'' | b'"') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if quote == b'"' && bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'{' => (open, is_list) = (Some(at), false),
            b',' => is_list |= open.is_some(),
            b'.' if bytes.get(at + 1) == Some(&b'.') => is_list |= open.is_some(),
            b'}' => match open {
                Some(open) if is_list => return Some(open..at + 1),
                _ => open = None,
            },
            _ => {}
        }
        at += 1;
    }

    None
}
