//! `[[ … ]]`
//!
//! Source: bash(1), "CONDITIONAL EXPRESSIONS".

use crate::error::SyntaxError;
use crate::parser::Parser;
use crate::tree::{Comparison, Condition, Joint, Part, Word};

/// The letters of the operators with one word.
const UNARY: &str = "abcdefghknoprstuvwxzLNOS";

/// The operators between two words.
const COMPARISONS: [(&str, Comparison); 15] = [
    ("==", Comparison::Matches),
    ("=", Comparison::Matches),
    ("!=", Comparison::Differs),
    ("=~", Comparison::Regex),
    ("<", Comparison::Before),
    (">", Comparison::After),
    ("-eq", Comparison::Equal),
    ("-ne", Comparison::Unequal),
    ("-lt", Comparison::Less),
    ("-le", Comparison::LessOrEqual),
    ("-gt", Comparison::Greater),
    ("-ge", Comparison::GreaterOrEqual),
    ("-nt", Comparison::Newer),
    ("-ot", Comparison::Older),
    ("-ef", Comparison::SameFile),
];

/// Returns whether an operator of `test` and `[[ ]]` compares numbers, which some shells evaluate.
#[must_use]
pub fn compares_numbers(operator: &str) -> bool {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Unequal};

    let known = COMPARISONS.iter().find(|(own, _)| *own == operator);
    known.is_some_and(|(_, comparison)| {
        matches!(comparison, Equal | Unequal | Less | LessOrEqual | Greater | GreaterOrEqual)
    })
}

impl Parser<'_> {
    /// Reads `[[ … ]]`.
    pub(crate) fn condition_command(&mut self) -> Result<Condition, SyntaxError> {
        let start = self.at;
        self.take_reserved("[[");
        let condition = self.any_condition()?;
        self.skip_lines();
        if self.take_reserved("]]") { Ok(condition) } else { Err(self.unclosed(start, "[[", "]]")) }
    }

    fn any_condition(&mut self) -> Result<Condition, SyntaxError> {
        let mut condition = self.all_conditions()?;
        loop {
            self.skip_lines();
            if !self.take("||") {
                return Ok(condition);
            }
            condition = Condition::Logic(Joint::Or, Box::new(condition), Box::new(self.all_conditions()?));
        }
    }

    fn all_conditions(&mut self) -> Result<Condition, SyntaxError> {
        let mut condition = self.one_condition()?;
        loop {
            self.skip_lines();
            if !self.take("&&") {
                return Ok(condition);
            }
            condition = Condition::Logic(Joint::And, Box::new(condition), Box::new(self.one_condition()?));
        }
    }

    fn one_condition(&mut self) -> Result<Condition, SyntaxError> {
        self.skip_lines();
        let start = self.at;
        if self.take_reserved("!") {
            return Ok(Condition::Not(Box::new(self.nested(Self::one_condition)?)));
        }
        if self.take("(") {
            let condition = self.nested(Self::any_condition)?;
            self.skip_lines();
            self.close(start, "(", ")")?;
            return Ok(condition);
        }

        let first = self.operand_of_condition(start)?;
        self.skip_blanks();
        if let Some(letter) = first.plain().and_then(unary)
            && !self.is_at_end_of_condition()
        {
            if self.comparison().is_some() {
                let problem = "an operator with one word stands before one between two";
                return Err(SyntaxError::at(start..self.at, problem, "quote the word that is compared"));
            }
            return Ok(Condition::Unary(letter, self.operand_of_condition(start)?));
        }
        let Some((text, comparison)) = self.comparison() else { return Ok(Condition::Word(first)) };
        self.at += text.len();
        self.skip_blanks();
        let second =
            if comparison == Comparison::Regex { self.regex(start)? } else { self.operand_of_condition(start)? };
        Ok(Condition::Binary(comparison, first, second))
    }

    fn is_at_end_of_condition(&self) -> bool {
        self.reserved() == Some("]]") || ["&&", "||", ")"].iter().any(|end| self.rest().starts_with(end))
    }

    fn comparison(&self) -> Option<(&'static str, Comparison)> {
        let rest = self.rest();
        let is_operator = |text: &str| {
            rest.strip_prefix(text).is_some_and(|rest| rest.starts_with([' ', '\t', '"', '\'', '$']) || rest.is_empty())
        };
        COMPARISONS.into_iter().find(|(text, _)| is_operator(text))
    }

    fn operand_of_condition(&mut self, start: usize) -> Result<Word, SyntaxError> {
        self.skip_blanks();
        let is_end = self.reserved() == Some("]]");
        let word = self.word()?.filter(|_| !is_end);
        self.check_extended()?;
        match word {
            Some(word) => Ok(word),
            None => {
                Err(SyntaxError::at(start..self.at, "a word is missing in `[[ ]]`", "write `[[ WORD OPERATOR WORD ]]`"))
            }
        }
    }

    /// Refuses a pattern such as `@(a|b)`, whose parenthesis stands here.
    pub(crate) fn check_extended(&self) -> Result<(), SyntaxError> {
        let before = &self.text[..self.at];
        if self.peek() != Some('(') || !before.ends_with(['@', '?', '*', '+', '!']) {
            return Ok(());
        }
        let problem = "extended patterns such as `@(a|b)` are not read";
        let remedy = "write each pattern out, as in `*.a *.b` and `[[ x == a || x == b ]]`";
        Err(SyntaxError::unread(self.at - 1..self.at + 1, problem, remedy))
    }

    /// Reads a regular expression, in which parentheses and `|` stand without quotes.
    fn regex(&mut self, start: usize) -> Result<Word, SyntaxError> {
        let at = self.at;
        let mut parts: Vec<Part> = Vec::new();
        let mut depth = 0_usize;
        loop {
            parts.extend(self.parts(&[' ', '\t', '\n', '(', ')'])?);
            match self.peek() {
                Some('(') => depth += 1,
                Some(')') if depth > 0 => depth -= 1,
                Some(' ' | '\t') if depth > 0 => {}
                _ => break,
            }
            parts.extend(self.peek().map(|c| Part::Text(c.to_string())));
            self.skip();
        }
        if parts.is_empty() {
            return Err(SyntaxError::at(start..self.at, "a regular expression is missing", "write one behind `=~`"));
        }
        Ok(Word { parts, range: at..self.at })
    }
}

/// The letter of an operator with one word.
fn unary(text: &str) -> Option<char> {
    let letter = text.strip_prefix('-').filter(|letter| letter.len() == 1)?;
    letter.chars().next().filter(|letter| UNARY.contains(*letter))
}
