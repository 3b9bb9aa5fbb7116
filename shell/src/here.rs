//! Here-documents and here-strings.

use crate::error::SyntaxError;
use crate::parser::Parser;
use crate::tree::{Name, Operation, Parameter, Part, Target, Word};

impl Parser<'_> {
    /// Reads the word of `<<<`, to which a line break is added.
    pub(crate) fn here_string(&mut self, start: usize) -> Result<Word, SyntaxError> {
        self.skip_blanks();
        let Some(mut word) = self.word()? else {
            return Err(SyntaxError::at(start..self.at, "`<<<` needs a word", "write the text behind it"));
        };
        // No field is split in a here-string, and nothing is a glob.
        let mut parts = std::mem::take(&mut word.parts);
        let is_whole = parts.len() == 1;
        if let Some(Part::Text(text)) = parts.first_mut()
            && let Some(rest) = text.strip_prefix('~')
        {
            if is_whole && !rest.is_empty() && !rest.starts_with('/') {
                let problem = "directories of other users are not expanded";
                return Err(SyntaxError::at(word.range, problem, "write the path out, or quote the word"));
            }
            if is_whole || rest.starts_with('/') {
                let home = Parameter { name: Name::Variable("HOME".to_owned()), operation: Operation::Value };
                *text = rest.to_owned();
                parts.insert(0, Part::Parameter(Box::new(home), word.range.clone()));
            }
        }
        word.parts = vec![Part::Double(parts.into_iter().map(quoted).collect()), Part::Quoted("\n".to_owned())];
        Ok(word)
    }

    /// Reads what stands behind `<<`. The text stands behind the line break that ends this line.
    ///
    /// Source: POSIX.1-2024, "Shell Command Language", 2.7.4.
    pub(crate) fn here_document(&mut self, start: usize, strips_tabs: bool) -> Result<Target, SyntaxError> {
        self.skip_blanks();
        let delimiter = self.word()?;
        let Some((text, word)) = delimiter.as_ref().and_then(|word| Some((word.literal()?, word))) else {
            return Err(SyntaxError::at(start..self.at, "`<<` needs a word", "write it as in `<<'EOF'`"));
        };
        let is_literal = word.plain().is_none();

        let first = match &self.here {
            Some(here) => here.end,
            None => self.end_of_line() + 1,
        };
        let unended = |parser: &Self| {
            let problem = format!("the here-document does not end with a line `{text}`");
            SyntaxError::at(start..parser.at, problem, format!("write `{text}` alone on a line behind its text"))
                .unfinished_if(true)
        };
        if first > self.end {
            return Err(unended(self));
        }

        let mut lines: Vec<(usize, usize)> = Vec::new();
        let mut at = first;
        let mut is_joined = false;
        loop {
            let rest = &self.text[at..self.end];
            let length = rest.find('\n').unwrap_or(rest.len());
            let tabs = if strips_tabs && !is_joined { rest.len() - rest.trim_start_matches('\t').len() } else { 0 };
            let line = &rest[tabs.min(length)..length];
            let next = at + length + 1;
            let is_end = line == text || line.strip_suffix(')').is_some_and(|line| line == text && next > self.end);
            // A line that a backslash joins to the one before is a part of it.
            if is_end && !is_joined {
                self.here = Some(self.here.as_ref().map_or(first, |here| here.start)..next.min(self.end));
                break;
            }
            if next > self.end {
                return Err(unended(self));
            }
            is_joined = !is_literal && line.chars().rev().take_while(|c| *c == '\\').count() % 2 == 1;
            lines.push((at + tabs.min(length), next));
            at = next;
        }

        let mut parts = Vec::new();
        if is_literal {
            let text = lines.iter().map(|(from, to)| &self.text[*from..*to]).collect();
            parts.push(Part::Quoted(text));
        } else if strips_tabs {
            for (from, to) in &lines {
                parts.extend(self.here_parts(*from, *to)?);
            }
        } else if let (Some((from, _)), Some((_, to))) = (lines.first(), lines.last()) {
            parts = self.here_parts(*from, *to)?;
        }
        Ok(Target::Text(Word { parts: vec![Part::Double(parts)], range: first..at }))
    }

    /// Reads a part of the text of a here-document, in which quotes have no meaning.
    fn here_parts(&mut self, from: usize, to: usize) -> Result<Vec<Part>, SyntaxError> {
        let (at, end, here) = (self.at, self.end, self.here.take());
        (self.at, self.end) = (from, to);
        let parts = self.nested(|parser| parser.protected_parts(None));
        (self.at, self.end, self.here) = (at, end, here);
        parts
    }

    /// The place of the line break that ends the commands of this line.
    fn end_of_line(&self) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        while at < self.end && bytes[at] != b'\n' {
            match bytes[at] {
                b'\\' => at += 1,
                quote @ (b'\'' | b'"') => {
                    at += 1;
                    while at < self.end && bytes[at] != quote {
                        at += if quote == b'"' && bytes[at] == b'\\' { 2 } else { 1 };
                    }
                }
                _ => {}
            }
            at += 1;
        }
        at.min(self.end)
    }
}

/// A part of a word as it stands in double quotes.
fn quoted(part: Part) -> Part {
    match part {
        Part::Text(text) => Part::Quoted(text),
        other => other,
    }
}
