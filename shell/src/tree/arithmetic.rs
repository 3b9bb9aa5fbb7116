//! Expressions of `$(( ))` and `(( ))`.

use super::{Joint, Part};

/// An arithmetic expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// A number.
    Number(i64),
    /// The value of a variable by its name.
    Value(Box<Part>),
    /// An expansion, whose text a shell puts into that of the expression before it reads it.
    Text(Box<Part>, Splice),
    /// A value with a sign or `!` or `~`.
    Unary(Unary, Box<Arithmetic>),
    /// Two values.
    Binary(Binary, Box<Arithmetic>, Box<Arithmetic>),
    /// `a && b`, `a || b`: the second is evaluated if it decides.
    Logic(Joint, Box<Arithmetic>, Box<Arithmetic>),
    /// `a ? b : c`
    Choice(Box<Arithmetic>, Box<Arithmetic>, Box<Arithmetic>),
    /// `x = a`, `x += a`
    Assign(String, Option<Binary>, Box<Arithmetic>),
    /// `++x` and `x++` with 1, `--x` and `x--` with -1; whether the value before counts.
    Step(String, i64, bool),
    /// `a, b`
    Sequence(Box<Arithmetic>, Box<Arithmetic>),
}

/// What stands around an expansion in arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Splice {
    /// Nothing: an empty text is 0.
    Whole,
    /// The name of a variable and a minus, which would become `--` before a negative number.
    BehindName,
    /// Operators or other values.
    Among,
    /// `10#`: the base of its digits.
    Digits(u32),
}

/// An operator before a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `!`
    Not,
    /// `~`
    Complement,
}

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `**`
    Power,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    ExclusiveOr,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}
