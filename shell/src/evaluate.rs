//! Evaluates arithmetic expressions.
//!
//! Source: bash(1), "ARITHMETIC EVALUATION".

use std::ops::Range;

use crate::arithmetic::in_base;
use crate::error::SyntaxError;
use crate::expand::{ExpandError, Expander, Surroundings};
use crate::state::Value;
use crate::tree::{Arithmetic, Binary, Joint, Part, Splice, Unary};

impl<S: Surroundings> Expander<'_, S> {
    /// Evaluates an expression; `None` if it is not known yet.
    pub(crate) fn evaluate<'w>(
        &mut self,
        expression: &'w Arithmetic,
        place: &Range<usize>,
    ) -> Result<Option<i64>, ExpandError<'w>> {
        // A shell expands all of the text before it computes anything, also what it leaves out then.
        let mut expansions = Vec::new();
        expression.visit(&mut |one| {
            if let Arithmetic::Text(part, splice) = one {
                expansions.push((&**part, *splice));
            }
        });
        let mut texts = Vec::with_capacity(expansions.len());
        for (part, splice) in expansions {
            let number = self.joined(part)?.map(|text| spliced(&text, splice, place)).transpose()?;
            texts.push((part, number));
        }
        self.value_of_expression(expression, Terms { place, texts: &texts })
    }

    /// Evaluates an expression or a part of one, whose expansions have been expanded.
    fn value_of_expression<'w>(
        &mut self,
        expression: &'w Arithmetic,
        terms: Terms<'_>,
    ) -> Result<Option<i64>, ExpandError<'w>> {
        Ok(match expression {
            Arithmetic::Number(number) => Some(*number),
            Arithmetic::Value(part) => self.joined(part)?.map(|text| number(&text, terms.place)).transpose()?,
            Arithmetic::Text(part, _) => terms.number_of(part),
            Arithmetic::Unary(operator, value) => self.value_of_expression(value, terms)?.map(|value| match operator {
                Unary::Minus => value.wrapping_neg(),
                Unary::Plus => value,
                Unary::Not => i64::from(value == 0),
                Unary::Complement => !value,
            }),
            Arithmetic::Binary(operator, one, other) => {
                let (one, other) = (self.value_of_expression(one, terms)?, self.value_of_expression(other, terms)?);
                computed_if_known(*operator, one, other, terms.place)?
            }
            Arithmetic::Logic(joint, one, other) => match (self.value_of_expression(one, terms)?, joint) {
                (None, _) => None,
                (Some(0), Joint::And) => Some(0),
                (Some(1.. | ..=-1), Joint::Or) => Some(1),
                _ => self.value_of_expression(other, terms)?.map(|value| i64::from(value != 0)),
            },
            Arithmetic::Choice(condition, then, otherwise) => match self.value_of_expression(condition, terms)? {
                None => None,
                Some(0) => self.value_of_expression(otherwise, terms)?,
                Some(_) => self.value_of_expression(then, terms)?,
            },
            Arithmetic::Assign(name, operator, value) => self.assigned(name, *operator, value, terms)?,
            Arithmetic::Step(name, step, is_before) => {
                let before = self.number_of(name, terms.place)?;
                let after = before.map(|value| value.wrapping_add(*step));
                self.assign(name, after);
                if *is_before { before } else { after }
            }
            Arithmetic::Sequence(one, other) => {
                self.value_of_expression(one, terms)?;
                self.value_of_expression(other, terms)?
            }
        })
    }

    /// Assigns a value to a variable, or what an operator makes of the variable and the value. Returns what it has then.
    fn assigned<'w>(
        &mut self,
        name: &str,
        operator: Option<Binary>,
        value: &'w Arithmetic,
        terms: Terms<'_>,
    ) -> Result<Option<i64>, ExpandError<'w>> {
        let value = match operator {
            None => self.value_of_expression(value, terms)?,
            Some(operator) => {
                // The variable is read before the value, which may change it.
                let before = self.number_of(name, terms.place)?;
                let value = self.value_of_expression(value, terms)?;
                computed_if_known(operator, before, value, terms.place)?
            }
        };
        self.assign(name, value);
        Ok(value)
    }

    /// Sets a variable to a number; to a value that is not known yet for `None`.
    fn assign(&mut self, name: &str, value: Option<i64>) {
        self.state.set(name, value.map_or(Value::Open, |value| Value::Known(value.to_string())));
    }

    /// The number that a variable has; `None` if it is not known yet.
    fn number_of(&self, name: &str, place: &Range<usize>) -> Result<Option<i64>, SyntaxError> {
        match self.variable(name, place)? {
            Value::Known(text) => number(&text, place).map(Some),
            Value::Open => Ok(None),
            Value::Unset => Ok(Some(0)),
        }
    }
}

/// What stays the same for all parts of an expression.
#[derive(Clone, Copy)]
struct Terms<'t> {
    /// The place of the expression.
    place: &'t Range<usize>,
    /// The numbers of its expansions, as far as they are known.
    texts: &'t [(&'t Part, Option<i64>)],
}

impl Terms<'_> {
    /// The number of an expansion; `None` if it is not known yet.
    fn number_of(self, part: &Part) -> Option<i64> {
        self.texts.iter().find(|(own, _)| std::ptr::eq(*own, part)).and_then(|(_, number)| *number)
    }
}

/// Reads a value as a decimal number. It is never evaluated again.
fn number(text: &str, place: &Range<usize>) -> Result<i64, SyntaxError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(0);
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    is_decimal.then(|| text.parse().ok()).flatten().ok_or_else(|| {
        let problem = format!("`{}` is no decimal number", text.chars().take(40).collect::<String>());
        let is_padded = digits.len() > 1 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let remedy = if is_padded {
            "in arithmetic every value must be one; write `10#$NAME` for one that starts with 0"
        } else {
            "in arithmetic every value must be one"
        };
        SyntaxError::at(place.clone(), problem, remedy)
    })
}

/// Reads the text of an expansion, where it means the same as a number by itself.
fn spliced(text: &str, splice: Splice, place: &Range<usize>) -> Result<i64, SyntaxError> {
    if let Splice::Digits(base) = splice {
        return in_base(text, base).ok_or_else(|| {
            let problem = format!("`{}` has no digits of base {base}", text.chars().take(40).collect::<String>());
            SyntaxError::at(place.clone(), problem, "check the value before")
        });
    }
    let problem = match splice {
        Splice::Whole => None,
        _ if text.trim().is_empty() => Some("a value in arithmetic is empty"),
        Splice::BehindName if text.starts_with('-') => Some("a negative value stands behind a minus"),
        _ => None,
    };
    match problem {
        None => number(text, place),
        Some(problem) => {
            let remedy = "write the variable without `$`, or blanks around the operator";
            Err(SyntaxError::at(place.clone(), problem, remedy))
        }
    }
}

/// The error of a computation without a result.
fn no_result(place: &Range<usize>) -> SyntaxError {
    let problem = "this has no result: a division by 0, or a negative exponent";
    SyntaxError::at(place.clone(), problem, "check the values before")
}

/// Computes with two numbers; `None` if one is not known yet.
fn computed_if_known(
    operator: Binary,
    one: Option<i64>,
    other: Option<i64>,
    place: &Range<usize>,
) -> Result<Option<i64>, SyntaxError> {
    let (Some(one), Some(other)) = (one, other) else { return Ok(None) };
    computed(operator, one, other).map(Some).ok_or_else(|| no_result(place))
}

/// Computes with the rules of C for 64 bits; `None` where there is no result.
fn computed(operator: Binary, one: i64, other: i64) -> Option<i64> {
    let shift = u32::try_from(other & 63).ok()?;
    Some(match operator {
        Binary::Add => one.wrapping_add(other),
        Binary::Subtract => one.wrapping_sub(other),
        Binary::Multiply => one.wrapping_mul(other),
        Binary::Divide | Binary::Remainder if other == 0 => return None,
        Binary::Divide => one.wrapping_div(other),
        Binary::Remainder => one.wrapping_rem(other),
        Binary::Power => power(one, other)?,
        Binary::ShiftLeft => one.wrapping_shl(shift),
        Binary::ShiftRight => one.wrapping_shr(shift),
        Binary::And => one & other,
        Binary::Or => one | other,
        Binary::ExclusiveOr => one ^ other,
        Binary::Equal => i64::from(one == other),
        Binary::Unequal => i64::from(one != other),
        Binary::Less => i64::from(one < other),
        Binary::LessOrEqual => i64::from(one <= other),
        Binary::Greater => i64::from(one > other),
        Binary::GreaterOrEqual => i64::from(one >= other),
    })
}

/// Raises to a power, by squares.
fn power(base: i64, exponent: i64) -> Option<i64> {
    let mut left = u64::try_from(exponent).ok()?;
    let (mut result, mut square) = (1_i64, base);
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    Some(result)
}
