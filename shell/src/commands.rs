//! Lists, pipelines and simple commands.

use std::ops::Range;

use crate::error::SyntaxError;
use crate::parser::Parser;
use crate::tree::{
    Arithmetic, Assignment, Body, Chain, Command, Descriptor, Joint, List, Part, Pipeline, Redirection, Simple, Target,
    Times, Word,
};

/// Words that end a list, where a command could stand.
const CLOSING: [&str; 8] = ["then", "else", "elif", "fi", "do", "done", "esac", "}"];

impl Parser<'_> {
    /// Reads commands up to what ends a list.
    pub(crate) fn list(&mut self) -> Result<List, SyntaxError> {
        self.nested(|parser| {
            let mut list = List::default();
            loop {
                parser.skip_lines();
                if parser.is_at_end_of_list() {
                    return Ok(list);
                }
                let chain = parser.chain()?;
                let is_in_background = chain.background.is_some();
                list.items.push(chain);
                if !is_in_background && !parser.is_separated() {
                    return Ok(list);
                }
            }
        })
    }

    /// Reads what stands between two commands; whether there is something.
    fn is_separated(&mut self) -> bool {
        self.skip_blanks();
        !self.is_at_end_of_arm() && (self.take(";") || self.line_break())
    }

    /// Whether what ends an arm of `case` stands here.
    fn is_at_end_of_arm(&self) -> bool {
        self.rest().starts_with(";;") || self.rest().starts_with(";&")
    }

    fn is_at_end_of_list(&self) -> bool {
        match self.peek() {
            None | Some(')') => true,
            Some(';') => self.is_at_end_of_arm(),
            Some(_) => self.reserved().is_some_and(|word| CLOSING.contains(&word)),
        }
    }

    /// Returns the word that stands here if nothing in it is quoted or expanded.
    pub(crate) fn reserved(&self) -> Option<&str> {
        let rest = self.rest();
        let end = rest.find([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>']).unwrap_or(rest.len());
        let word = &rest[..end];
        (!word.is_empty() && !word.contains(['\'', '"', '\\', '$', '`'])).then_some(word)
    }

    /// Moves behind a reserved word, if it stands here.
    pub(crate) fn take_reserved(&mut self, word: &str) -> bool {
        let stands = self.reserved() == Some(word);
        if stands {
            self.at += word.len();
        }
        stands
    }

    /// Reads pipelines that `&&` and `||` join.
    fn chain(&mut self) -> Result<Chain, SyntaxError> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let joint = if self.take("&&") {
                Joint::And
            } else if self.take("||") {
                Joint::Or
            } else {
                break;
            };
            self.skip_lines();
            rest.push((joint, self.pipeline()?));
        }

        let at = self.at;
        let background = self.take("&").then_some(at..at + 1);
        Ok(Chain { first, rest, background })
    }

    /// Reads commands that pipes join.
    fn pipeline(&mut self) -> Result<Pipeline, SyntaxError> {
        let start = self.at;
        let (mut is_negated, mut times) = (false, None);
        loop {
            self.skip_blanks();
            if self.take_reserved("!") {
                is_negated = !is_negated;
            } else if self.take_reserved("time") {
                self.skip_blanks();
                times = Some(if self.take_reserved("-p") { Times::Seconds } else { Times::Minutes });
            } else {
                break;
            }
        }

        let mut commands: Vec<Command> = Vec::new();
        loop {
            commands.push(self.command()?);
            self.skip_blanks();
            if self.rest().starts_with("||") || !self.rest().starts_with('|') {
                break;
            }
            let at = self.at;
            self.skip();
            if self.take("&") {
                let merged = Redirection {
                    descriptor: Descriptor::Errors,
                    target: Target::Same(Descriptor::Output),
                    range: at..self.at,
                };
                commands.iter_mut().next_back().into_iter().for_each(|last| last.redirections.push(merged.clone()));
            }
            self.skip_lines();
        }

        let end = commands.last().map_or(self.at, |last| last.range.end);
        let start =
            commands.first().filter(|_| !is_negated && times.is_none()).map_or(start, |first| first.range.start);
        Ok(Pipeline { is_negated, times, commands, range: start..end })
    }

    /// Reads a command with its redirections.
    fn command(&mut self) -> Result<Command, SyntaxError> {
        let around = (std::mem::take(&mut self.takes_processes), std::mem::take(&mut self.processes));
        let command = self.whole_command();
        (self.takes_processes, self.processes) = around;
        command
    }

    fn whole_command(&mut self) -> Result<Command, SyntaxError> {
        self.skip_blanks();
        let start = self.at;
        let Some(body) = self.compound()? else { return self.simple(start) };

        let mut redirections = Vec::new();
        let mut end = self.at;
        loop {
            self.skip_blanks();
            let Some(redirection) = self.redirection()? else { break };
            redirections.push(redirection);
            end = self.at;
        }
        if self.peek().is_some_and(|c| !matches!(c, '\n' | ';' | '&' | '|' | ')')) && self.reserved().is_none() {
            return Err(self.missing_separator());
        }
        if let Some(word) = self.reserved().filter(|word| !CLOSING.contains(word)) {
            let range = self.at..self.at + word.len();
            return Err(SyntaxError::at(
                range,
                "a word stands behind a whole command",
                "write `;` or a line break before it",
            ));
        }
        Ok(Command { body, redirections, range: start..end })
    }

    fn missing_separator(&self) -> SyntaxError {
        SyntaxError::at(self.at..self.at, "a word stands behind a whole command", "write `;` or a line break before it")
    }

    /// Reads a simple command.
    fn simple(&mut self, start: usize) -> Result<Command, SyntaxError> {
        let mut simple = Simple::default();
        let mut redirections = Vec::new();
        let mut end = start;
        loop {
            self.skip_blanks();
            if let Some(redirection) = self.with_processes(Self::redirection)? {
                redirections.push(redirection);
            } else if simple.words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                simple.assignments.push(assignment);
            } else if let Some(word) = self.with_processes(Self::word)? {
                self.add_word(&word, &mut simple.words)?;
                self.check_function(&simple)?;
                self.check_extended()?;
            } else {
                break;
            }
            end = self.at;
        }

        if simple.words.is_empty() && simple.assignments.is_empty() && redirections.is_empty() {
            return Err(match self.peek() {
                None | Some('\n' | '&' | '|' | ';' | ')') => self.missing_command(),
                Some(found) => self.unexpected(found),
            });
        }
        let body = match self.let_command(&simple)? {
            Some(expression) => Body::Arithmetic(expression),
            None => Body::Simple(simple),
        };
        Ok(Command { body, redirections, range: start..end })
    }

    /// Reads `let EXPRESSION…` as `((EXPRESSION, …))`, if its words stand in one pair of quotes each or in none.
    fn let_command(&mut self, simple: &Simple) -> Result<Option<Arithmetic>, SyntaxError> {
        let Some((name, words)) = simple.words.split_first() else { return Ok(None) };
        if name.plain() != Some("let") || !simple.assignments.is_empty() {
            return Ok(None);
        }
        let Some(ranges) = words.iter().map(|word| self.unquoted(&word.range)).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let mut all: Option<Arithmetic> = None;
        for range in ranges {
            let own = self.expression_at(range)?;
            all = Some(match all {
                None => own,
                Some(before) => Arithmetic::Sequence(Box::new(before), Box::new(own)),
            });
        }
        Ok(all)
    }

    /// The place of the text of a word without its quotes; `None` if it has other quotes, or could be a glob.
    fn unquoted(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let text = self.text.get(range.clone())?;
        let inner = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
        let (inner, not_read) = match (inner('"'), inner('\'')) {
            (Some(inner), _) => (Some(inner), "\"\\"),
            (_, Some(inner)) => (Some(inner), "'\"\\$`"),
            _ => (None, "'\"\\*?[{~"),
        };
        let is_read = !inner.unwrap_or(text).contains(|c| not_read.contains(c));
        let cut = usize::from(inner.is_some());
        is_read.then_some(range.start + cut..range.end - cut)
    }

    fn missing_command(&self) -> SyntaxError {
        let length = self.peek().map_or(0, char::len_utf8);
        let range = self.at..self.at + length;
        SyntaxError::at(range, "a command is missing here", "write one on each side of `|`, `&&` and `||`")
            .unfinished_if(length == 0)
    }

    /// Refuses the definition of a function.
    fn check_function(&self, simple: &Simple) -> Result<(), SyntaxError> {
        let is_function = simple.words.len() == 1 && self.rest().trim_start_matches([' ', '\t']).starts_with('(');
        if !is_function {
            return Ok(());
        }
        let end = self.rest().find(')').map_or(self.at + 1, |at| self.at + at + 1);
        Err(SyntaxError::unread(self.at..end, "functions are not read", "write the commands where they are to run"))
    }

    /// Reads `NAME=value`, if it stands here.
    pub(crate) fn assignment(&mut self) -> Result<Option<Assignment>, SyntaxError> {
        let start = self.at;
        let name = self.name();
        let behind = &self.rest()[name.len()..];
        if name.is_empty() || !(behind.starts_with('=') || behind.starts_with("+=")) {
            if !name.is_empty() && behind.starts_with('[') && behind.contains("]=") {
                let range = start..start + name.len() + 1;
                return Err(SyntaxError::unread(
                    range,
                    "arrays are not read",
                    "write the words out, or use one variable for each",
                ));
            }
            return Ok(None);
        }

        let appends = behind.starts_with('+');
        self.at += name.len() + if appends { 2 } else { 1 };
        if self.rest().starts_with('(') {
            let range = start..self.at + 1;
            return Err(SyntaxError::unread(
                range,
                "arrays are not read",
                "write the words out, or use one variable for each",
            ));
        }
        let at = self.at;
        let value = self.word()?.unwrap_or(Word { parts: Vec::new(), range: at..at });
        if self.rest().starts_with("<(") {
            let range = self.at..self.at + 2;
            return Err(SyntaxError::unread(
                range,
                "`<(` is not read in a value",
                "write it as an argument of the command",
            ));
        }
        Ok(Some(Assignment { name: name.to_owned(), appends, value, range: start..self.at }))
    }
}

/// Returns whether a text can name a variable.
#[must_use]
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Word {
    /// Reads a word as an assignment, as `export NAME=value` and `export NAME+=value` have it.
    #[must_use]
    pub fn assignment(&self) -> Option<Assignment> {
        let Some(Part::Text(first)) = self.parts.first() else { return None };
        let (name, start) = first.split_once('=')?;
        let length = name.len() + 1;
        let (name, appends) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
        if !is_name(name) {
            return None;
        }

        let mut parts = vec![Part::Text(start.to_owned())];
        parts.extend(self.parts[1..].iter().cloned());
        parts.retain(|part| *part != Part::Text(String::new()));
        let value = Word { parts, range: self.range.start + length..self.range.end };
        Some(Assignment { name: name.to_owned(), appends, value, range: self.range.clone() })
    }
}
