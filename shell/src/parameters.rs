//! What stands behind a `$`.

use crate::error::SyntaxError;
use crate::parser::Parser;
use crate::tree::{Name, Operation, Parameter, Part, Place, Trim, Word};

/// Reads what stands behind an operator.
type Reader<'a> = fn(&mut Parser<'a>) -> Result<Operation, SyntaxError>;

impl<'a> Parser<'a> {
    /// Reads `$x` or `${…}`; `None` if the `$` means itself.
    pub(crate) fn parameter(&mut self) -> Result<Option<Parameter>, SyntaxError> {
        let start = self.at;
        if self.take("${") {
            return self.nested(|parser| parser.braced(start)).map(Some);
        }
        self.skip();
        self.check_joined(start)?;
        let name = self.name();
        if !name.is_empty() {
            let name = Name::Variable(name.to_owned());
            self.at = start + 1 + self.name().len();
            self.check_joined(start)?;
            return Ok(Some(Parameter { name, operation: Operation::Value }));
        }
        let special = self.peek().and_then(special);
        if special.is_some() {
            self.skip();
        } else {
            self.check_unread(start)?;
            self.at = start;
        }
        Ok(special.map(|name| Parameter { name, operation: Operation::Value }))
    }

    /// Refuses a name that goes on in the next line, which a shell joins before it looks for names.
    fn check_joined(&self, start: usize) -> Result<(), SyntaxError> {
        let next = self.rest().trim_start_matches("\\\n");
        let is_joined = next.len() < self.rest().len();
        if is_joined && next.starts_with(|c: char| c.is_ascii_alphanumeric() || "_{('\"?$#@*!-".contains(c)) {
            let range = start..self.at + 2;
            return Err(SyntaxError::at(range, "a name is split by the end of the line", "write it in one line"));
        }
        Ok(())
    }

    /// Refuses parameters that would be something else than their text.
    fn check_unread(&self, start: usize) -> Result<(), SyntaxError> {
        match self.peek() {
            Some('-') => Err(SyntaxError::unread(start..start + 2, "`$-` is not read", "leave it out")),
            _ => Ok(()),
        }
    }

    /// Reads what stands behind `${`.
    fn braced(&mut self, start: usize) -> Result<Parameter, SyntaxError> {
        let is_length = self.rest().starts_with('#') && !self.rest().starts_with("#}");
        if is_length {
            self.skip();
        }
        let name = self.parameter_name(start)?;
        let operation = if is_length { Operation::Length } else { self.operation(start)? };
        self.close(start, "${", "}")?;
        Ok(Parameter { name, operation })
    }

    fn parameter_name(&mut self, start: usize) -> Result<Name, SyntaxError> {
        let name = self.name();
        if name.is_empty() {
            let digits: String = self.rest().chars().take_while(char::is_ascii_digit).take(4).collect();
            if let Ok(position) = digits.parse() {
                self.at += digits.len();
                return Ok(Name::Position(position));
            }
            // `${!x}` and `${!#}` are the values of variables that others name.
            let is_read = |name: &Name| *name != Name::Background || self.rest().starts_with("!}");
            if let Some(name) = self.peek().and_then(special).filter(is_read) {
                self.skip();
                return Ok(name);
            }
            let problem = "this expansion is not read";
            return Err(SyntaxError::unread(
                start..self.at + 1,
                problem,
                "write the value out, or quote it in single quotes",
            ));
        }

        self.at += name.len();
        if !self.rest().starts_with('[') {
            return Ok(Name::Variable(name.to_owned()));
        }
        if name != "PIPESTATUS" {
            let range = start..self.at + 1;
            let remedy = match name {
                "BASH_REMATCH" => "take the part of the text by `sed -E`, as in `$(sed -E 's/REGEX/\\1/' <<< \"$x\")`",
                _ => "write the words out, or use one variable for each",
            };
            return Err(SyntaxError::unread(range, "arrays are not read", remedy));
        }
        self.skip();
        if self.take("@]") {
            return Ok(Name::PipeStatuses);
        }
        if self.take("*]") {
            return Ok(Name::JoinedPipeStatuses);
        }
        let index = self.whole_expression()?;
        self.close(start, "[", "]")?;
        Ok(Name::PipeStatus(Box::new(index)))
    }

    /// Reads what is done with the value.
    fn operation(&mut self, start: usize) -> Result<Operation, SyntaxError> {
        let operators: [(&str, Reader<'a>); 20] = [
            (":-", |parser| Ok(Operation::Default(parser.substitute()?, true))),
            (":=", |parser| Ok(Operation::Assign(parser.substitute()?, true))),
            (":+", |parser| Ok(Operation::Alternative(parser.substitute()?, true))),
            (":?", |parser| Ok(Operation::Required(parser.substitute()?, true))),
            ("-", |parser| Ok(Operation::Default(parser.substitute()?, false))),
            ("=", |parser| Ok(Operation::Assign(parser.substitute()?, false))),
            ("+", |parser| Ok(Operation::Alternative(parser.substitute()?, false))),
            ("?", |parser| Ok(Operation::Required(parser.substitute()?, false))),
            (":", Self::slice),
            ("##", |parser| Ok(Operation::Trim(Trim::LongestStart, parser.operand("}")?))),
            ("#", |parser| Ok(Operation::Trim(Trim::ShortestStart, parser.operand("}")?))),
            ("%%", |parser| Ok(Operation::Trim(Trim::LongestEnd, parser.operand("}")?))),
            ("%", |parser| Ok(Operation::Trim(Trim::ShortestEnd, parser.operand("}")?))),
            ("//", |parser| parser.replacement(Place::All)),
            ("/#", |parser| parser.replacement(Place::Start)),
            ("/%", |parser| parser.replacement(Place::End)),
            ("/", |parser| parser.replacement(Place::First)),
            ("^^}", |parser| Ok(parser.letters(true, true))),
            (",,}", |parser| Ok(parser.letters(false, true))),
            ("^}", |parser| Ok(parser.letters(true, false))),
        ];
        if self.rest().starts_with('}') {
            return Ok(Operation::Value);
        }
        if self.take(",}") {
            return Ok(self.letters(false, false));
        }
        if let Some((operator, read)) = operators.into_iter().find(|(operator, _)| self.rest().starts_with(operator)) {
            self.at += operator.len();
            return read(self);
        }
        let range = start..self.at + self.peek().map_or(0, char::len_utf8);
        Err(SyntaxError::unread(range, "this expansion is not read", "write the value out"))
    }

    /// The operation for letters. Its brace has been read, and is read again as the end.
    fn letters(&mut self, upper: bool, all: bool) -> Operation {
        self.at -= 1;
        Operation::Case(upper, all)
    }

    fn replacement(&mut self, place: Place) -> Result<Operation, SyntaxError> {
        // At the start and at the end, nothing stands for the place itself.
        if matches!(place, Place::First | Place::All) && self.rest().starts_with('/') {
            let remedy = "write `\\/` for a slash that is replaced";
            return Err(SyntaxError::at(self.at..self.at + 1, "nothing stands before this `/`", remedy));
        }
        let pattern = self.operand("/}")?;
        let with = if self.take("/") { self.operand("}")? } else { Word::default() };
        Ok(Operation::Replace(place, pattern, with))
    }

    fn slice(&mut self) -> Result<Operation, SyntaxError> {
        let from = self.expression_or_zero(":")?;
        let length = if self.take(":") { Some(self.expression_or_zero("}")?) } else { None };
        Ok(Operation::Slice(from, length))
    }

    /// Reads the word that stands for a value. In double quotes some characters have no meaning in it.
    fn substitute(&mut self) -> Result<Word, SyntaxError> {
        let keeps_quotes = self.is_in_double && !self.is_in_pattern;
        let before = std::mem::replace(&mut self.keeps_quotes, keeps_quotes);
        let word = self.word_up_to("}");
        self.keeps_quotes = before;
        let mut word = word?;
        if keeps_quotes && let Some(Part::Text(text)) = word.parts.first_mut().filter(|part| is_home(part)) {
            word.parts[0] = Part::Quoted(std::mem::take(text));
        }

        let differs = |part: &Part| matches!(part, Part::Quoted(_)) || is_home(part);
        if self.is_in_double && self.is_in_pattern && word.parts.iter().any(differs) {
            let problem = "quotes, `\\` and `~` mean themselves here, within double quotes";
            return Err(SyntaxError::at(word.range, problem, "give the text to a variable before"));
        }
        Ok(word)
    }

    /// Reads a pattern, or what replaces its match, up to one of these characters.
    fn operand(&mut self, ends: &str) -> Result<Word, SyntaxError> {
        let before = (self.keeps_quotes, self.is_in_pattern);
        (self.keeps_quotes, self.is_in_pattern) = (false, true);
        let word = self.word_up_to(ends);
        (self.keeps_quotes, self.is_in_pattern) = before;
        word
    }

    fn word_up_to(&mut self, ends: &str) -> Result<Word, SyntaxError> {
        let start = self.at;
        let ends: Vec<char> = ends.chars().collect();
        let parts = self.parts(&ends)?;
        Ok(Word { parts, range: start..self.at })
    }
}

/// Whether a part starts with `~`.
fn is_home(part: &Part) -> bool {
    matches!(part, Part::Text(text) if text.starts_with('~'))
}

/// The parameter that a character names.
fn special(c: char) -> Option<Name> {
    Some(match c {
        '0'..='9' => Name::Position(usize::from(c as u8 - b'0')),
        '?' => Name::Status,
        '#' => Name::Count,
        '@' => Name::All,
        '*' => Name::Joined,
        '$' => Name::Process,
        '!' => Name::Background,
        _ => return None,
    })
}
