//! Arithmetic expressions.
//!
//! Source: bash(1), "ARITHMETIC EVALUATION"; POSIX.1-2024, "Shell Command Language", 2.6.4.

use crate::error::SyntaxError;
use crate::parser::Parser;
use crate::tree::{Arithmetic, Binary, Joint, Name, Operation, Parameter, Part, Unary};

/// Operators between two values by how strongly they bind, from the weakest to the strongest. Of those that start alike,
/// the longer stands first.
const LEVELS: [&[(&str, Binary)]; 8] = [
    &[("|", Binary::Or)],
    &[("^", Binary::ExclusiveOr)],
    &[("&", Binary::And)],
    &[("==", Binary::Equal), ("!=", Binary::Unequal)],
    &[("<=", Binary::LessOrEqual), (">=", Binary::GreaterOrEqual), ("<", Binary::Less), (">", Binary::Greater)],
    &[("<<", Binary::ShiftLeft), (">>", Binary::ShiftRight)],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply), ("/", Binary::Divide), ("%", Binary::Remainder)],
];

/// Operators of assignments.
const ASSIGNING: [(&str, Option<Binary>); 11] = [
    ("=", None),
    ("+=", Some(Binary::Add)),
    ("-=", Some(Binary::Subtract)),
    ("*=", Some(Binary::Multiply)),
    ("/=", Some(Binary::Divide)),
    ("%=", Some(Binary::Remainder)),
    ("<<=", Some(Binary::ShiftLeft)),
    (">>=", Some(Binary::ShiftRight)),
    ("&=", Some(Binary::And)),
    ("^=", Some(Binary::ExclusiveOr)),
    ("|=", Some(Binary::Or)),
];

impl Parser<'_> {
    /// Reads `$((…))`; `None` if it is a command in parentheses.
    pub(crate) fn arithmetic_expansion(&mut self) -> Result<Option<Arithmetic>, SyntaxError> {
        let start = self.at;
        self.at += 3;
        let read = self.nested(Self::expression);
        match read {
            Ok(expression) if self.take("))") => Ok(Some(expression)),
            Ok(_) => {
                self.at = start;
                Ok(None)
            }
            Err(error) if !self.has_second_way() => Err(error),
            Err(error) => {
                self.at = start;
                // `$((ls); ls)` is a command. What ends with two parentheses is arithmetic.
                if self.rest().find("))").is_some_and(|end| !self.rest()[..end].contains([';', '\n', '|'])) {
                    return Err(error);
                }
                Ok(None)
            }
        }
    }

    /// Reads `(( … ))`.
    pub(crate) fn arithmetic_command(&mut self) -> Result<Arithmetic, SyntaxError> {
        let start = self.at;
        self.at += 2;
        let expression = self.nested(Self::expression)?;
        self.close(start, "((", "))")?;
        Ok(expression)
    }

    /// Reads `((…; …; …))` of `for`.
    #[allow(clippy::type_complexity, reason = "three parts that have no name of their own")]
    pub(crate) fn three_expressions(
        &mut self,
    ) -> Result<(Option<Arithmetic>, Option<Arithmetic>, Option<Arithmetic>), SyntaxError> {
        let start = self.at;
        self.at += 2;
        let part = |parser: &mut Self, end: &str| {
            parser.skip_space();
            let part = if parser.rest().starts_with(end) { None } else { Some(parser.nested(Self::expression)?) };
            parser.close(start, "for ((", end)?;
            Ok(part)
        };
        Ok((part(self, ";")?, part(self, ";")?, part(self, "))")?))
    }

    /// Reads an expression with `,`.
    pub(crate) fn expression(&mut self) -> Result<Arithmetic, SyntaxError> {
        let mut value = self.assigned()?;
        while self.operator(",") {
            value = Arithmetic::Sequence(Box::new(value), Box::new(self.assigned()?));
        }
        Ok(value)
    }

    fn assigned(&mut self) -> Result<Arithmetic, SyntaxError> {
        self.skip_space();
        let start = self.at;
        let name = self.name();
        if !name.is_empty() {
            self.at += name.len();
            self.skip_space();
            let found = ASSIGNING.iter().find(|(text, _)| self.rest().starts_with(text));
            if let Some((text, operator)) = found.filter(|_| !self.rest().starts_with("==")) {
                self.at += text.len();
                let value = self.nested(Self::assigned)?;
                return Ok(Arithmetic::Assign(name.to_owned(), *operator, Box::new(value)));
            }
            self.at = start;
        }
        self.choice()
    }

    fn choice(&mut self) -> Result<Arithmetic, SyntaxError> {
        let condition = self.either()?;
        if !self.operator("?") {
            return Ok(condition);
        }
        let then = self.nested(Self::expression)?;
        let start = self.at;
        if !self.operator(":") {
            return Err(self.unclosed(start, "?", ":"));
        }
        let otherwise = self.nested(Self::assigned)?;
        Ok(Arithmetic::Choice(Box::new(condition), Box::new(then), Box::new(otherwise)))
    }

    fn either(&mut self) -> Result<Arithmetic, SyntaxError> {
        let mut value = self.both()?;
        while self.operator("||") {
            value = Arithmetic::Logic(Joint::Or, Box::new(value), Box::new(self.both()?));
        }
        Ok(value)
    }

    fn both(&mut self) -> Result<Arithmetic, SyntaxError> {
        let mut value = self.level(0)?;
        while self.operator("&&") {
            value = Arithmetic::Logic(Joint::And, Box::new(value), Box::new(self.level(0)?));
        }
        Ok(value)
    }

    /// Reads values that operators of a level or of stronger ones join.
    fn level(&mut self, level: usize) -> Result<Arithmetic, SyntaxError> {
        let Some(operators) = LEVELS.get(level) else { return self.power() };
        let mut value = self.level(level + 1)?;
        loop {
            self.skip_space();
            let rest = self.rest();
            let is_other = rest.starts_with("&&") || rest.starts_with("||") || rest.starts_with("**");
            let is_shift = level == 4 && (rest.starts_with("<<") || rest.starts_with(">>"));
            let found = operators.iter().find(|(text, _)| rest.starts_with(text)).filter(|_| !is_other && !is_shift);
            let Some((text, operator)) = found else { return Ok(value) };
            self.at += text.len();
            value = Arithmetic::Binary(*operator, Box::new(value), Box::new(self.level(level + 1)?));
        }
    }

    fn power(&mut self) -> Result<Arithmetic, SyntaxError> {
        let value = self.unary()?;
        if !self.operator("**") {
            return Ok(value);
        }
        let exponent = self.nested(Self::power)?;
        Ok(Arithmetic::Binary(Binary::Power, Box::new(value), Box::new(exponent)))
    }

    fn unary(&mut self) -> Result<Arithmetic, SyntaxError> {
        self.skip_space();
        for (text, step) in [("++", 1), ("--", -1)] {
            let name = self.rest().strip_prefix(text).is_some_and(|rest| rest.starts_with(is_name_start));
            if name {
                self.at += 2;
                let name = self.name().to_owned();
                self.at += name.len();
                return Ok(Arithmetic::Step(name, step, false));
            }
        }
        let operator = match self.peek() {
            Some('-') => Unary::Minus,
            Some('+') => Unary::Plus,
            Some('!') => Unary::Not,
            Some('~') => Unary::Complement,
            _ => return self.value(),
        };
        self.skip();
        let value = self.nested(Self::unary)?;
        Ok(Arithmetic::Unary(operator, Box::new(value)))
    }

    fn value(&mut self) -> Result<Arithmetic, SyntaxError> {
        let start = self.at;
        if self.take("(") {
            let value = self.nested(Self::expression)?;
            self.skip_space();
            self.close(start, "(", ")")?;
            return Ok(value);
        }
        let name = self.name();
        if !name.is_empty() {
            self.at += name.len();
            return self.named(name.to_owned(), start);
        }
        if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return self.number();
        }
        if self.take("\"") {
            let value = self.value()?;
            self.close(start, "\"", "\"")?;
            return Ok(value);
        }
        let part = if matches!(self.peek(), Some('$' | '`')) { self.nested(Self::expansion)? } else { None };
        if let Some(part) = part {
            return Ok(Arithmetic::Value(Box::new(part)));
        }
        let range = start..start + self.peek().map_or(0, char::len_utf8);
        Err(SyntaxError::at(range, "a number or a variable is missing here", "write one"))
    }

    /// Reads what stands behind the name of a variable.
    fn named(&mut self, name: String, start: usize) -> Result<Arithmetic, SyntaxError> {
        if self.rest().starts_with('[') {
            let range = start..self.at + 1;
            return Err(SyntaxError::at(range, "arrays are not read", "use one variable for each value"));
        }
        for (text, step) in [("++", 1), ("--", -1)] {
            if self.take(text) {
                return Ok(Arithmetic::Step(name, step, true));
            }
        }
        let parameter = Parameter { name: Name::Variable(name), operation: Operation::Value };
        Ok(Arithmetic::Value(Box::new(Part::Parameter(Box::new(parameter), start..self.at))))
    }

    fn number(&mut self) -> Result<Arithmetic, SyntaxError> {
        let start = self.at;
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '#').unwrap_or(rest.len());
        let text = &rest[..end];
        let (digits, radix) = match text.split_once('#') {
            Some((base, digits)) => (digits, base.parse().unwrap_or(0)),
            None if text.starts_with("0x") || text.starts_with("0X") => (&text[2..], 16),
            None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
            None => (text, 10),
        };
        let value = if (2..=36).contains(&radix) { i64::from_str_radix(digits, radix).ok() } else { None };
        self.at += end;
        value.map(Arithmetic::Number).ok_or_else(|| {
            SyntaxError::at(start..self.at, "this is no number of 64 bits", "write a decimal number, or one with 0x")
        })
    }

    /// Moves behind an operator, if it stands here.
    fn operator(&mut self, text: &str) -> bool {
        self.skip_space();
        self.take(text)
    }

    fn skip_space(&mut self) {
        while self.take(" ") || self.take("\t") || self.take("\n") || self.take("\\\n") {}
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}
