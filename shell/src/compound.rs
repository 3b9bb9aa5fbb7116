//! Compound commands.

use crate::error::SyntaxError;
use crate::parser::Parser;
use crate::tree::{Arm, Body, Branch, Case, Count, For, If, List, Then, While};

/// Words at the start of a command that are not read, with what to write instead.
const REFUSED: [(&str, &str, &str); 3] = [
    ("function", "functions are not read", "write the commands where they are to run"),
    ("select", "`select` asks a person", "choose the value, and write it out"),
    ("coproc", "coprocesses are not read", "join the commands with `|`"),
];

impl Parser<'_> {
    /// Reads a compound command; `None` if a simple one stands here.
    pub(crate) fn compound(&mut self) -> Result<Option<Body>, SyntaxError> {
        if self.rest().starts_with("((") && self.ends_as_arithmetic(2) {
            return self.arithmetic_command().map(Body::Arithmetic).map(Some);
        }
        if self.rest().starts_with("(((") {
            let problem = "three parentheses are no arithmetic";
            return Err(SyntaxError::at(self.at..self.at + 3, problem, "write blanks between those of subshells"));
        }
        if self.peek() == Some('(') {
            return self.subshell().map(Some);
        }
        let Some(word) = self.reserved() else { return Ok(None) };
        if let Some((_, problem, remedy)) = REFUSED.iter().find(|(refused, ..)| *refused == word) {
            return Err(SyntaxError::unread(self.at..self.at + word.len(), *problem, *remedy));
        }

        Ok(Some(match word {
            "{" => self.group()?,
            "if" => self.if_command()?,
            "for" => self.for_command()?,
            "while" => self.while_command("while")?,
            "until" => self.while_command("until")?,
            "case" => self.case_command()?,
            "[[" => Body::Condition(self.condition_command()?),
            _ => return Ok(None),
        }))
    }

    fn subshell(&mut self) -> Result<Body, SyntaxError> {
        let start = self.at;
        self.skip();
        let list = self.list()?;
        self.not_empty(&list, start, "(")?;
        self.close(start, "(", ")")?;
        Ok(Body::Subshell(list))
    }

    fn group(&mut self) -> Result<Body, SyntaxError> {
        let start = self.at;
        self.take_reserved("{");
        let list = self.list()?;
        self.not_empty(&list, start, "{")?;
        self.closed_by(start, "{", "}")?;
        Ok(Body::Group(list))
    }

    fn if_command(&mut self) -> Result<Body, SyntaxError> {
        let start = self.at;
        self.take_reserved("if");
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.list()?;
            self.not_empty(&condition, start, "if")?;
            self.closed_by(start, "if", "then")?;
            let body = self.list()?;
            self.not_empty(&body, start, "then")?;
            branches.push(Branch { condition, body });
            if self.take_reserved("elif") {
                continue;
            }
            if self.take_reserved("else") {
                let list = self.list()?;
                self.not_empty(&list, start, "else")?;
                otherwise = Some(list);
            }
            self.closed_by(start, "if", "fi")?;
            return Ok(Body::If(If { branches, otherwise }));
        }
    }

    fn for_command(&mut self) -> Result<Body, SyntaxError> {
        let start = self.at;
        self.take_reserved("for");
        self.skip_blanks();
        if self.rest().starts_with("((") {
            return self.count_command(start);
        }
        let name = self.name();
        if name.is_empty() {
            return Err(SyntaxError::at(
                start..self.at,
                "`for` needs the name of a variable",
                "write `for x in …; do …; done`",
            ));
        }
        self.at += name.len();
        self.skip_lines();

        let words = if self.take_reserved("in") {
            let mut words = Vec::new();
            loop {
                self.skip_blanks();
                let Some(word) = self.word()? else { break };
                self.check_extended()?;
                self.add_word(&word, &mut words)?;
            }
            Some(words)
        } else {
            None
        };
        self.skip_blanks();
        self.take(";");
        let body = self.loop_body(start, "for")?;
        Ok(Body::For(For { name: name.to_owned(), words, body }))
    }

    fn count_command(&mut self, start: usize) -> Result<Body, SyntaxError> {
        let (first, condition, step) = self.three_expressions()?;
        self.skip_blanks();
        self.take(";");
        let body = self.loop_body(start, "for")?;
        Ok(Body::Count(Box::new(Count { start: first, condition, step, body })))
    }

    fn while_command(&mut self, word: &str) -> Result<Body, SyntaxError> {
        let start = self.at;
        self.take_reserved(word);
        let condition = self.list()?;
        self.not_empty(&condition, start, word)?;
        let body = self.loop_body(start, word)?;
        Ok(Body::While(While { is_until: word == "until", condition, body }))
    }

    /// Reads `do … done`.
    fn loop_body(&mut self, start: usize, word: &str) -> Result<List, SyntaxError> {
        self.skip_lines();
        self.closed_by(start, word, "do")?;
        let body = self.list()?;
        self.not_empty(&body, start, "do")?;
        self.closed_by(start, word, "done")?;
        Ok(body)
    }

    fn case_command(&mut self) -> Result<Body, SyntaxError> {
        let start = self.at;
        self.take_reserved("case");
        self.skip_blanks();
        let Some(word) = self.word()? else {
            return Err(SyntaxError::at(
                start..self.at,
                "`case` needs a word",
                "write `case WORD in PATTERN) …;; esac`",
            ));
        };
        self.skip_lines();
        self.closed_by(start, "case", "in")?;

        let mut arms = Vec::new();
        loop {
            self.skip_lines();
            if self.take_reserved("esac") {
                return Ok(Body::Case(Case { word, arms }));
            }
            arms.push(self.arm(start)?);
        }
    }

    fn arm(&mut self, start: usize) -> Result<Arm, SyntaxError> {
        self.take("(");
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            let Some(pattern) = self.word()? else {
                return Err(self.unclosed(start, "case", "esac"));
            };
            self.check_extended()?;
            patterns.push(pattern);
            self.skip_blanks();
            if !self.take("|") {
                break;
            }
        }
        self.close(start, "case", ")")?;

        let body = self.list()?;
        let then = if self.take(";;&") {
            Then::Test
        } else if self.take(";&") {
            Then::Next
        } else if self.take(";;") || self.reserved() == Some("esac") {
            Then::End
        } else {
            return Err(self.unclosed(start, "case", "esac"));
        };
        Ok(Arm { patterns, body, then })
    }

    fn not_empty(&self, list: &List, start: usize, word: &str) -> Result<(), SyntaxError> {
        if list.items.is_empty() {
            let problem = format!("no command stands behind `{word}`");
            let error = SyntaxError::at(start..self.at.max(start), problem, "write one");
            return Err(error.unfinished_if(self.peek().is_none()));
        }
        Ok(())
    }

    /// Reads the word that must stand here.
    fn closed_by(&mut self, start: usize, opening: &str, word: &str) -> Result<(), SyntaxError> {
        if self.take_reserved(word) { Ok(()) } else { Err(self.unclosed(start, opening, word)) }
    }

    /// Reads the text that must stand here.
    pub(crate) fn close(&mut self, start: usize, opening: &str, text: &str) -> Result<(), SyntaxError> {
        if self.take(text) { Ok(()) } else { Err(self.unclosed(start, opening, text)) }
    }

    pub(crate) fn unclosed(&self, start: usize, opening: &str, word: &str) -> SyntaxError {
        let found = self.reserved().or_else(|| self.rest().get(..1)).unwrap_or("the end");
        let found = if found.trim().is_empty() { "the end of a line" } else { found };
        let problem = format!("`{opening}` needs `{word}`, and {found} stands there");
        SyntaxError::at(start..self.at, problem, format!("write `{word}`")).unfinished_if(self.peek().is_none())
    }
}
