//! Words: their quotes, and what is expanded in them.

use crate::error::SyntaxError;
use crate::parser::Parser;
use crate::tree::{List, Part, Word};

/// The descriptor of the first `<(…)` of a command. Those of the others are below it.
///
/// Source: bash's process substitution, which takes the highest descriptors below 64.
const FIRST_PROCESS: u32 = 63;

/// Most `<(…)` of a command.
const MAX_PROCESSES: u32 = 8;

/// Characters that end a word outside quotes.
const ENDS: [char; 10] = [' ', '\t', '\n', '|', '&', ';', '(', ')', '<', '>'];

impl Parser<'_> {
    /// Reads the word that stands here; `None` if none does.
    pub(crate) fn word(&mut self) -> Result<Option<Word>, SyntaxError> {
        let start = self.at;
        let parts = self.parts(&ENDS)?;
        Ok((self.at > start).then_some(Word { parts, range: start..self.at }))
    }

    /// Reads parts up to one of these characters outside quotes.
    pub(crate) fn parts(&mut self, ends: &[char]) -> Result<Vec<Part>, SyntaxError> {
        let mut parts = Vec::new();
        let mut text = String::new();
        while let Some(c) = self.peek() {
            if c == '<' && self.takes_processes && self.rest().starts_with("<(") {
                let part = self.process()?;
                if !text.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut text)));
                }
                parts.push(part);
                continue;
            }
            if ends.contains(&c) {
                break;
            }
            if !matches!(c, '\'' | '"' | '\\' | '$' | '`') {
                text.push(c);
                self.skip();
                continue;
            }
            if self.take("\\\n") {
                self.check_split_descriptor(&text, parts.is_empty())?;
                continue;
            }
            let part = self.part(c)?;
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            parts.push(part);
        }
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(parts)
    }

    /// Refuses a number that a joined line makes the descriptor of a redirection.
    fn check_split_descriptor(&self, text: &str, is_start: bool) -> Result<(), SyntaxError> {
        let is_number = is_start && text.chars().all(|c| c.is_ascii_digit());
        if is_number && self.rest().starts_with(['<', '>']) {
            let range = self.at - 2..self.at;
            return Err(SyntaxError::at(
                range,
                "a redirection is split by the end of the line",
                "write it in one line",
            ));
        }
        Ok(())
    }

    /// Reads a quote or an expansion outside quotes, which starts with this character.
    fn part(&mut self, c: char) -> Result<Part, SyntaxError> {
        match c {
            '\'' => self.single(),
            '"' => self.double(),
            '\\' => {
                self.skip();
                let text = match self.peek() {
                    Some(c) if self.keeps_quotes && !"$`\"\\}".contains(c) => format!("\\{c}"),
                    Some(c) => c.to_string(),
                    None => "\\".to_owned(),
                };
                self.skip();
                Ok(Part::Quoted(text))
            }
            _ if self.keeps_quotes && (self.rest().starts_with("$'") || self.rest().starts_with("$\"")) => {
                self.at += 2;
                Err(self.quotes_kept(self.at - 2))
            }
            _ if self.rest().starts_with("$'") => self.escaped_quote(),
            _ if self.rest().starts_with("$\"") => {
                self.skip();
                self.double()
            }
            _ => {
                if let Some(part) = self.expansion()? {
                    return Ok(part);
                }
                self.skip();
                Ok(Part::Text(c.to_string()))
            }
        }
    }

    fn single(&mut self) -> Result<Part, SyntaxError> {
        let start = self.at;
        self.skip();
        let Some(end) = self.rest().find('\'') else { return Err(self.unclosed_quote(start, '\'')) };
        let text = &self.rest()[..end];
        self.at += end + 1;
        if !self.keeps_quotes {
            return Ok(Part::Quoted(text.to_owned()));
        }
        // The quotes are text, between which expansions go on.
        if text.contains(['$', '`', '\\', '"']) {
            return Err(self.quotes_kept(start));
        }
        Ok(Part::Quoted(format!("'{text}'")))
    }

    fn double(&mut self) -> Result<Part, SyntaxError> {
        let start = self.at;
        self.skip();
        let parts = self.nested(|parser| parser.protected_parts(Some('"')))?;
        if self.take("\"") { Ok(Part::Double(parts)) } else { Err(self.unclosed_quote(start, '"')) }
    }

    /// Reads parts in which only `$`, backquotes and backslashes have a meaning, up to a quote or the end.
    pub(crate) fn protected_parts(&mut self, quote: Option<char>) -> Result<Vec<Part>, SyntaxError> {
        let before = std::mem::replace(&mut self.is_in_double, true);
        let parts = self.parts_in_double(quote);
        self.is_in_double = before;
        parts
    }

    fn parts_in_double(&mut self, quote: Option<char>) -> Result<Vec<Part>, SyntaxError> {
        let mut parts = Vec::new();
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| Some(*c) != quote) {
            let part = match c {
                '\\' => {
                    self.skip();
                    match self.peek() {
                        Some('\n') => {}
                        Some(c @ ('$' | '`' | '\\')) => text.push(c),
                        Some(c) if Some(c) == quote => text.push(c),
                        Some(c) => text.extend(['\\', c]),
                        None => text.push('\\'),
                    }
                    self.skip();
                    continue;
                }
                '$' | '`' => self.expansion()?,
                _ => None,
            };
            let Some(part) = part else {
                text.push(c);
                self.skip();
                continue;
            };
            if !text.is_empty() {
                parts.push(Part::Quoted(std::mem::take(&mut text)));
            }
            parts.push(part);
        }
        if !text.is_empty() {
            parts.push(Part::Quoted(text));
        }
        Ok(parts)
    }

    /// Reads `$'…'`.
    ///
    /// Source: POSIX.1-2024, "Shell Command Language", 2.2.4.
    fn escaped_quote(&mut self) -> Result<Part, SyntaxError> {
        let start = self.at;
        self.at += 2;
        let mut text = String::new();
        loop {
            let Some(c) = self.peek() else { return Err(self.unclosed_quote(start, '\'')) };
            self.skip();
            match c {
                '\'' => return Ok(Part::Quoted(text)),
                '\\' => {
                    let at = self.at - 1;
                    match self.escape() {
                        Some(c) if c != '\0' => text.push(c),
                        _ => {
                            let remedy = "write the character itself";
                            return Err(SyntaxError::unread(at..self.at, "this escape is not read", remedy));
                        }
                    }
                }
                c => text.push(c),
            }
        }
    }

    /// Reads what stands behind a backslash in `$'…'`.
    fn escape(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.skip();
        Some(match c {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '?' => c,
            'x' => self.digits(16, 2).filter(char::is_ascii)?,
            'u' => self.digits(16, 4)?,
            'U' => self.digits(16, 8)?,
            '0'..='7' => {
                self.at -= 1;
                self.digits(8, 3).filter(char::is_ascii)?
            }
            _ => return None,
        })
    }

    fn digits(&mut self, radix: u32, most: usize) -> Option<char> {
        let rest = self.rest();
        let length = rest.chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let code = u32::from_str_radix(&rest[..length], radix).ok()?;
        self.at += length;
        char::from_u32(code)
    }

    /// Reads an expansion; `None` if the `$` means itself.
    pub(crate) fn expansion(&mut self) -> Result<Option<Part>, SyntaxError> {
        let start = self.at;
        let rest = self.rest();
        if rest.starts_with('`') {
            return self.backquotes().map(Some);
        }
        if rest.starts_with("$((")
            && let Some(expression) = self.arithmetic_expansion()?
        {
            return Ok(Some(Part::Arithmetic(expression, start..self.at)));
        }
        if self.take("$(") {
            let list = self.inner_list()?;
            self.close(start, "$(", ")")?;
            return Ok(Some(Part::Substitution(list, start..self.at)));
        }
        if rest.starts_with("$[") {
            return Err(SyntaxError::unread(start..start + 2, "`$[` is not read", "write `$((…))`"));
        }
        let parameter = self.parameter()?;
        Ok(parameter.map(|parameter| Part::Parameter(Box::new(parameter), start..self.at)))
    }

    /// Reads `<(…)`. Its number is the one that bash gives it.
    fn process(&mut self) -> Result<Part, SyntaxError> {
        let start = self.at;
        if self.processes == MAX_PROCESSES {
            let problem = format!("a command has more than {MAX_PROCESSES} `<(…)`");
            return Err(SyntaxError::at(start..start + 2, problem, "write what they print to files"));
        }
        let number = FIRST_PROCESS - self.processes;
        self.take("<(");
        let before = std::mem::replace(&mut self.takes_processes, false);
        let list = self.nested(Self::inner_list);
        self.takes_processes = before;
        let list = list?;
        self.close(start, "<(", ")")?;

        self.processes += 1;
        Ok(Part::Process(list, number))
    }

    /// Reads the commands of a substitution, for which the quotes around it do not count.
    fn inner_list(&mut self) -> Result<List, SyntaxError> {
        let before = (self.is_in_double, self.keeps_quotes, self.is_in_pattern);
        (self.is_in_double, self.keeps_quotes, self.is_in_pattern) = (false, false, false);
        let list = self.list();
        (self.is_in_double, self.keeps_quotes, self.is_in_pattern) = before;
        list
    }

    fn quotes_kept(&self, start: usize) -> SyntaxError {
        let problem = "quotes mean themselves here, within double quotes";
        SyntaxError::at(start..self.at, problem, "give the text to a variable before")
    }

    fn backquotes(&mut self) -> Result<Part, SyntaxError> {
        let start = self.at;
        self.skip();
        let rest = self.rest();
        let Some(length) = rest.find('`') else { return Err(self.unclosed_quote(start, '`')) };
        if rest[..length].contains('\\') {
            let range = start..self.at + length;
            return Err(SyntaxError::unread(range, "backslashes in backquotes are not read", "write `$(…)`"));
        }

        let end = std::mem::replace(&mut self.end, self.at + length);
        let here = self.here.take();
        let list = self.inner_list();
        let is_whole = self.at == self.end;
        (self.end, self.here) = (end, here);
        let list = list?;
        if !is_whole {
            return Err(self.peek().map_or_else(|| self.unclosed_quote(start, '`'), |found| self.unexpected(found)));
        }
        self.skip();
        Ok(Part::Substitution(list, start..self.at))
    }

    fn unclosed_quote(&self, start: usize, quote: char) -> SyntaxError {
        let problem = format!("the quote {quote} does not end");
        SyntaxError::at(
            start..self.end,
            problem,
            format!("close it with {quote}, or write \\{quote} for the character"),
        )
        .unfinished_if(true)
    }
}
