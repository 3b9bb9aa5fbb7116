//! Splits a command line into words and operators.

use std::ops::Range;

use super::script::{LineError, Redirection, Word};

/// A part of a command line.
pub(super) enum Token {
    Word(Word),
    Operator(Operator),
    Redirection(Redirection),
}

/// What ends a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `|`
    Pipe,
    /// `|&`
    PipeAll,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;` or a line break.
    End,
}

/// The redirections that are read, longest first.
const REDIRECTIONS: [(&str, Redirection); 4] = [
    ("2>&1", Redirection::StderrToStdout),
    ("&>", Redirection::BothToNull),
    ("2>", Redirection::StderrToNull),
    ("1>", Redirection::StdoutToNull),
];

/// Reads tokens one after the other.
pub(super) struct Lexer<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { line, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    /// Skips what may stand between a pipe and the next command.
    pub(super) fn skip_line_breaks(&mut self) {
        loop {
            self.skip_blanks();
            match self.rest().strip_prefix('\n') {
                Some(rest) => self.at = self.line.len() - rest.len(),
                None => return,
            }
        }
    }

    /// Skips blanks, joined lines and comments.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            if rest.starts_with([' ', '\t']) {
                self.at += 1;
            } else if rest.starts_with("\\\n") {
                self.at += 2;
            } else if rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                return;
            }
        }
    }

    /// Reads the next token; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(Token, Range<usize>)>, LineError> {
        self.skip_blanks();
        let start = self.at;
        if self.rest().is_empty() {
            return Ok(None);
        }

        let token = match self.redirection()? {
            Some(redirection) => Token::Redirection(redirection),
            None => match self.operator()? {
                Some(operator) => Token::Operator(operator),
                None => Token::Word(super::quoting::word(self.line, &mut self.at)?),
            },
        };

        Ok(Some((token, start..self.at)))
    }

    /// Reads a redirection that goes to `/dev/null` or to standard output.
    fn redirection(&mut self) -> Result<Option<Redirection>, LineError> {
        let rest = self.rest();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let is_redirection = rest[digits..].starts_with(['>', '<']) || rest.starts_with("&>");
        if !is_redirection {
            return Ok(None);
        }

        let found = REDIRECTIONS.iter().find(|(text, _)| rest.starts_with(text)).copied();
        let (text, redirection) = match found {
            Some(found) => found,
            None if rest.starts_with('>') => (">", Redirection::StdoutToNull),
            None => return Err(self.refused_redirection()),
        };
        if redirection == Redirection::StderrToStdout {
            let ends = rest[text.len()..].chars().next().is_none_or(|c| !c.is_ascii_digit() && c != '-');
            return if ends { Ok(Some(self.taken(text, redirection))) } else { Err(self.refused_redirection()) };
        }

        let behind = rest[text.len()..].strip_prefix('>').unwrap_or(&rest[text.len()..]);
        let target = behind.trim_start_matches([' ', '\t']);
        let ends = |rest: &str| rest.chars().next().is_none_or(|c| c.is_whitespace() || "|&;)<>".contains(c));

        match target.strip_prefix("/dev/null").filter(|rest| ends(rest)) {
            Some(behind) => {
                self.at = self.line.len() - behind.len();
                Ok(Some(redirection))
            }
            None => Err(self.refused_redirection()),
        }
    }

    fn taken<T>(&mut self, text: &str, token: T) -> T {
        self.at += text.len();
        token
    }

    /// The error for a redirection to or from a file.
    fn refused_redirection(&self) -> LineError {
        let rest = self.rest();
        let operator = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || "<>&|-".contains(c)).len();
        let target = rest[operator..].trim_start_matches([' ', '\t']);
        let blanks = rest[operator..].len() - target.len();
        let target = target.find(|c: char| c.is_whitespace() || "|&;()<>".contains(c)).unwrap_or(target.len());
        let range = self.at..self.at + operator + blanks + target;
        let (problem, remedy) = match rest[..operator].trim_start_matches(|c: char| c.is_ascii_digit()) {
            text if text.starts_with("<<") => {
                ("text in the line is not passed to a program", "pass it as `stdin`, or use `echo TEXT |`")
            }
            text if text.starts_with('<') => {
                ("input cannot come from a file here", "name the file as an argument, or use `cat FILE |`")
            }
            _ => (
                "output cannot go to a file here",
                "use `tee` if it is served, which writes, or let the result come back; `2>&1` and `>/dev/null` are read",
            ),
        };

        LineError::at(self.line, range, problem, remedy)
    }

    fn operator(&mut self) -> Result<Option<Operator>, LineError> {
        let rest = self.rest();
        for (text, operator) in [
            ("|&", Operator::PipeAll),
            ("||", Operator::Or),
            ("|", Operator::Pipe),
            ("&&", Operator::And),
            ("\n", Operator::End),
        ] {
            if rest.starts_with(text) {
                return Ok(Some(self.taken(text, operator)));
            }
        }

        let refused = |length: usize, problem: &str, remedy: &str| {
            Err(LineError::at(self.line, self.at..self.at + length, problem, remedy))
        };
        match rest.as_bytes()[0] {
            b';' if rest.starts_with(";;") => refused(2, "`;;` is a part of `case`", "write one `;`"),
            b';' => Ok(Some(self.taken(";", Operator::End))),
            b'&' => refused(1, "nothing runs in the background here", "write `&&`, or call it as a line of its own"),
            b'(' | b')' => {
                refused(1, "a subshell is not started here", "write the commands without `( )`, or quote the word")
            }
            _ => Ok(None),
        }
    }
}
