//! Redirections.

use crate::error::SyntaxError;
use crate::parser::Parser;
use crate::tree::{Descriptor, Redirection, Target, Word};

/// The operators, longest first where one starts like another.
const OPERATORS: [&str; 13] = ["<<<", "<<-", "<<", "<>", "<&", "<(", "<", ">>", ">|", ">&", ">(", ">", "&>"];

impl Parser<'_> {
    /// Reads a redirection; `None` if none stands here.
    pub(crate) fn redirection(&mut self) -> Result<Option<Redirection>, SyntaxError> {
        let start = self.at;
        let rest = self.rest();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Some(operator) = OPERATORS.iter().copied().find(|operator| rest[digits..].starts_with(operator)) else {
            return Ok(None);
        };
        if operator == "&>" && digits > 0 || operator == "<(" && self.takes_processes {
            return Ok(None);
        }
        let number = &rest[..digits];
        self.at += digits + operator.len();

        let descriptor = match (number, operator.starts_with('<')) {
            ("", true) | ("0", _) => Descriptor::Input,
            ("", false) | ("1", _) => Descriptor::Output,
            ("2", _) => Descriptor::Errors,
            _ => {
                let remedy = "standard input, output and error are 0, 1 and 2";
                return Err(SyntaxError::at(start..self.at, "only these streams are redirected: 0, 1, 2", remedy));
            }
        };
        let before = std::mem::replace(&mut self.takes_processes, false);
        let target = self.target(start, operator, (descriptor, number.is_empty()));
        self.takes_processes = before;
        let (descriptor, target) = target?;
        Ok(Some(Redirection { descriptor, target, range: start..self.at }))
    }

    /// Reads what stands behind an operator.
    fn target(
        &mut self,
        start: usize,
        operator: &str,
        (descriptor, has_no_number): (Descriptor, bool),
    ) -> Result<(Descriptor, Target), SyntaxError> {
        Ok(match operator {
            "<<<" => (descriptor, Target::Text(self.here_string(start)?)),
            "<<" | "<<-" => (descriptor, self.here_document(start, operator == "<<-")?),
            "<(" | ">(" => {
                let remedy = "join the commands with `|`, or write to a file and read it";
                let problem = format!("`{operator}` is not read here");
                return Err(SyntaxError::unread(start..self.at, problem, remedy));
            }
            "<>" => {
                return Err(SyntaxError::unread(
                    start..self.at,
                    "`<>` is not read",
                    "write `<` to read or `>` to write",
                ));
            }
            "<" => (descriptor, Target::Read(self.with_processes(|parser| parser.file(start))?)),
            ">" | ">|" => (descriptor, Target::Write(self.file(start)?)),
            ">>" => (descriptor, Target::Append(self.file(start)?)),
            "&>" => {
                let appends = self.take(">");
                let word = self.file(start)?;
                (Descriptor::Both, if appends { Target::Append(word) } else { Target::Write(word) })
            }
            _ => self.copied(start, descriptor, has_no_number && operator == ">&")?,
        })
    }

    /// Reads what stands behind `>&` and `<&`.
    fn copied(
        &mut self,
        start: usize,
        descriptor: Descriptor,
        may_be_file: bool,
    ) -> Result<(Descriptor, Target), SyntaxError> {
        let word = self.file(start)?;
        Ok(match word.plain() {
            Some("-") if descriptor == Descriptor::Output => {
                let problem = "a program without standard output fails when it prints";
                return Err(SyntaxError::at(start..self.at, problem, "write `>/dev/null`"));
            }
            Some("-") if descriptor == Descriptor::Input => {
                let problem = "a program without standard input fails when it reads";
                return Err(SyntaxError::at(start..self.at, problem, "write `</dev/null`"));
            }
            Some("-") => (descriptor, Target::Closed),
            Some("0") => (descriptor, Target::Same(Descriptor::Input)),
            Some("1") => (descriptor, Target::Same(Descriptor::Output)),
            Some("2") => (descriptor, Target::Same(Descriptor::Errors)),
            Some(text) if text.chars().all(|c| c.is_ascii_digit() || c == '-') => {
                let remedy = "standard input, output and error are 0, 1 and 2";
                return Err(SyntaxError::at(start..self.at, "only these streams are redirected: 0, 1, 2", remedy));
            }
            _ if may_be_file => (Descriptor::Both, Target::Write(word)),
            _ => return Err(SyntaxError::at(start..self.at, "a stream must stand here", "write `&1` or `&2`")),
        })
    }

    /// Reads what may be `<(…)`.
    pub(crate) fn with_processes<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        let before = std::mem::replace(&mut self.takes_processes, true);
        let read = read(self);
        self.takes_processes = before;
        read
    }

    fn file(&mut self, start: usize) -> Result<Word, SyntaxError> {
        self.skip_blanks();
        match self.word()? {
            Some(word) => self.braces(&word).map(|_| word),
            None if self.text[self.at..].starts_with(">(") => Err(SyntaxError::at(
                start..self.at + 2,
                "`>(` gives output to a command in the background",
                "pipe it into the command: `… | COMMAND`",
            )),
            None => Err(SyntaxError::at(start..self.at, "a redirection without a file", "write the file behind it")),
        }
    }
}
