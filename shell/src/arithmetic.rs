//! Arithmetic expressions.
//!
//! Source: bash(1), "ARITHMETIC EVALUATION"; POSIX.1-2024, "Shell Command Language", 2.6.4.

use std::ops::Range;

use crate::error::SyntaxError;
use crate::parser::Parser;
use crate::tree::{Arithmetic, Binary, Joint, Name, Operation, Parameter, Part, Splice, Unary};

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
        if !self.ends_as_arithmetic(3) {
            return Ok(None);
        }
        self.at += 3;
        let expression = self.nested(|parser| parser.expression_or_zero("))"))?;
        self.close(start, "$((", "))")?;
        Ok(Some(expression))
    }

    /// Whether what opens with two parentheses, of which the second ends here plus `length`, closes with two side by side.
    /// If not it is a command in parentheses, as `((ls); ls)`.
    ///
    /// It must be known before it is read: what only fails as arithmetic is no command, whose first word would be run.
    pub(crate) fn ends_as_arithmetic(&self, length: usize) -> bool {
        let bytes = &self.text.as_bytes()[self.at + length..self.end];
        let (mut depth, mut at) = (0_usize, 0);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                quote @ (b'\'' | b'"' | b'`') => {
                    at += 1;
                    while bytes.get(at).is_some_and(|byte| byte != quote) {
                        at += if *quote != b'\'' && bytes[at] == b'\\' { 2 } else { 1 };
                    }
                }
                b'(' => depth += 1,
                b')' if depth == 0 => return bytes.get(at + 1) == Some(&b')'),
                b')' => depth -= 1,
                _ => {}
            }
            at += 1;
        }

        // Nothing closes it: the error of arithmetic says so.
        true
    }

    /// Reads `(( … ))`.
    pub(crate) fn arithmetic_command(&mut self) -> Result<Arithmetic, SyntaxError> {
        let start = self.at;
        self.at += 2;
        let expression = self.nested(|parser| parser.expression_or_zero("))"))?;
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
            let part = if parser.rest().starts_with(end) { None } else { Some(parser.nested(Self::whole_expression)?) };
            parser.close(start, "for ((", end)?;
            Ok(part)
        };
        Ok((part(self, ";")?, part(self, ";")?, part(self, "))")?))
    }

    /// Reads the expression that is all of a place in the text.
    pub(crate) fn expression_at(&mut self, range: Range<usize>) -> Result<Arithmetic, SyntaxError> {
        let around = (self.at, self.end);
        (self.at, self.end) = (range.start, range.end);
        let expression = self.nested(Self::whole_expression);
        self.skip_space();
        let is_whole = self.at == self.end;
        (self.at, self.end) = around;
        let expression = expression?;
        if is_whole {
            return Ok(expression);
        }
        Err(SyntaxError::at(range, "this is no whole expression", "write `NAME=$((…))`"))
    }

    /// Reads an expression up to this text; an empty one is 0.
    pub(crate) fn expression_or_zero(&mut self, end: &str) -> Result<Arithmetic, SyntaxError> {
        self.skip_space();
        if self.rest().starts_with(end) { Ok(Arithmetic::Number(0)) } else { self.whole_expression() }
    }

    /// Reads an expression that nothing stands around. One that is a single value may be empty.
    pub(crate) fn whole_expression(&mut self) -> Result<Arithmetic, SyntaxError> {
        self.skip_space();
        let is_parenthesis = self.rest().starts_with('(');
        let mut expression = self.expression()?;
        if let Arithmetic::Text(_, splice) = &mut expression
            && !is_parenthesis
            && !matches!(splice, Splice::Digits(_))
        {
            *splice = Splice::Whole;
        }
        Ok(expression)
    }

    /// Reads an expression with `,`.
    fn expression(&mut self) -> Result<Arithmetic, SyntaxError> {
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
        // No assignment: a shell reads `a ? b : c = d` as `(a ? b : c) = d`, which is an error.
        let otherwise = self.nested(Self::choice)?;
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
            if self.is_at_step(is_name_start) {
                return Err(self.misplaced_step());
            }
            self.at += text.len();
            value = Arithmetic::Binary(*operator, Box::new(value), Box::new(self.level(level + 1)?));
        }
    }

    /// Whether `++` or `--` stands here, before such a character.
    fn is_at_step(&self, is_next: fn(char) -> bool) -> bool {
        let rest = self.rest();
        rest.strip_prefix("++").or_else(|| rest.strip_prefix("--")).is_some_and(|rest| rest.starts_with(is_next))
    }

    /// `4--n` is no subtraction: a shell reads the longest operator.
    fn misplaced_step(&self) -> SyntaxError {
        let problem = "this is read as a step of a variable";
        SyntaxError::at(self.at..self.at + 2, problem, "write blanks between both operators")
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
            if self.rest().starts_with(text) && self.is_at_step(is_name_start) {
                self.at += 2;
                let name = self.name().to_owned();
                self.at += name.len();
                self.skip_space();
                if self.is_at_step(|_| true) {
                    return Err(self.misplaced_step());
                }
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
            return if let Some(based) = self.value_with_base()? { Ok(based) } else { self.number() };
        }
        if self.take("\"") {
            let value = self.value()?;
            self.close(start, "\"", "\"")?;
            return Ok(value);
        }
        let part = if matches!(self.peek(), Some('$' | '`')) { self.nested(Self::expansion)? } else { None };
        if let Some(part) = part {
            let splice = if is_behind_decrement(&self.text[..start]) { Splice::BehindName } else { Splice::Among };
            return Ok(Arithmetic::Text(Box::new(part), splice));
        }
        let range = start..start + self.peek().map_or(0, char::len_utf8);
        Err(SyntaxError::at(range, "a number or a variable is missing here", "write one"))
    }

    /// Reads what stands behind the name of a variable.
    fn named(&mut self, name: String, start: usize) -> Result<Arithmetic, SyntaxError> {
        if self.rest().starts_with('[') {
            let range = start..self.at + 1;
            return Err(SyntaxError::unread(range, "arrays are not read", "use one variable for each value"));
        }
        let end = self.at;
        self.skip_space();
        for (text, step) in [("++", 1), ("--", -1)] {
            if self.take(text) {
                return Ok(Arithmetic::Step(name, step, true));
            }
        }
        self.at = end;
        let parameter = Parameter { name: Name::Variable(name), operation: Operation::Value };
        Ok(Arithmetic::Value(Box::new(Part::Parameter(Box::new(parameter), start..self.at))))
    }

    /// Reads `10#$x`; `None` if no expansion stands behind the base.
    fn value_with_base(&mut self) -> Result<Option<Arithmetic>, SyntaxError> {
        let start = self.at;
        let rest = self.rest();
        let base = rest.split_once("#$").map(|(base, _)| base).filter(|base| base.bytes().all(|c| c.is_ascii_digit()));
        let Some(base) = base.and_then(|base| base.parse().ok()).filter(|base| (2..=64).contains(base)) else {
            return Ok(None);
        };
        self.at += rest.find('#').unwrap_or_default() + 1;
        let Some(part) = self.nested(Self::expansion)? else {
            self.at = start;
            return Ok(None);
        };
        if self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || "_@#$`".contains(c)) {
            let problem = "digits stand behind the value of a number with a base";
            return Err(SyntaxError::at(start..self.at, problem, "give the whole number to a variable before"));
        }
        Ok(Some(Arithmetic::Text(Box::new(part), Splice::Digits(base))))
    }

    fn number(&mut self) -> Result<Arithmetic, SyntaxError> {
        let start = self.at;
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"#@_".contains(c)).unwrap_or(rest.len());
        let text = &rest[..end];
        let (digits, radix) = match text.split_once('#') {
            Some((base, digits)) => (digits, base.parse().unwrap_or(0)),
            None if text.starts_with("0x") || text.starts_with("0X") => (&text[2..], 16),
            None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
            None => (text, 10),
        };
        let value = in_base(digits, radix);
        self.at += end;
        value.map(Arithmetic::Number).ok_or_else(|| {
            let decimal = text.trim_start_matches('0');
            if radix == 8 && text == format!("0{digits}") && decimal.bytes().all(|byte| byte.is_ascii_digit()) {
                let problem = format!("`{text}` is no number of base 8, which it would have for the 0 at its start");
                return SyntaxError::at(start..self.at, problem, format!("write `{decimal}` or `10#{text}`"));
            }
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

/// Reads digits of a base; `None` if they are none, or none of 64 bits.
pub(crate) fn in_base(digits: &str, radix: u32) -> Option<i64> {
    match radix {
        2..=36 if digits.starts_with(|c: char| c.is_ascii_alphanumeric()) => i64::from_str_radix(digits, radix).ok(),
        37..=64 => in_large_base(digits, radix),
        _ => None,
    }
}

/// Reads digits of a base above 36, in which large letters are other digits than small ones.
fn in_large_base(digits: &str, radix: u32) -> Option<i64> {
    let digit = |c: char| {
        let digit = match c {
            '0'..='9' => u32::from(c) - u32::from('0'),
            'a'..='z' => u32::from(c) - u32::from('a') + 10,
            'A'..='Z' => u32::from(c) - u32::from('A') + 36,
            '@' => 62,
            '_' => 63,
            _ => return None,
        };
        Some(digit).filter(|digit| *digit < radix)
    };
    let add = |value: i64, c: char| value.checked_mul(i64::from(radix))?.checked_add(i64::from(digit(c)?));
    if digits.is_empty() { None } else { digits.chars().try_fold(0, add) }
}

/// Whether a text ends with the name of a variable and a minus.
fn is_behind_decrement(text: &str) -> bool {
    let Some(text) = text.strip_suffix('-').map(str::trim_end) else { return false };
    let before = text.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    text[before.len()..].starts_with(is_name_start) && !before.ends_with('$')
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}
