//! What a help page says of a command: its options, operands and subcommands.

use climax_catalog::{Risk, Type};

/// A command of a program: the program itself, or a subcommand of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The subcommand's words; none for the program itself.
    pub words: Vec<String>,
    /// What it does, in the words of the help.
    pub about: String,
    /// Its options, in the order of the help.
    pub options: Vec<Flag>,
    /// Its operands, in their order on the command line.
    pub operands: Vec<Operand>,
    /// What it may do, if its author says so.
    pub risk: Option<Risk>,
    /// What a reader of the draft should know about the whole command.
    pub guesses: Vec<&'static str>,
}

/// An option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flag {
    /// All its spellings with their dashes, the long ones first; never empty.
    pub spellings: Vec<String>,
    /// Its value; `None` for a switch.
    pub value: Option<Value>,
    /// What it does.
    pub about: String,
    /// Whether the command needs it.
    pub required: bool,
    /// Whether it is a switch that is on unless it is turned off by `=false`.
    pub is_on: bool,
}

/// The value of an option or operand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// What the help calls it; may be empty.
    pub name: String,
    /// Its type, if there is a sign of it.
    pub kind: Option<Sure<Type>>,
    /// All values that are allowed; none if any is.
    pub values: Option<Sure<Vec<String>>>,
    /// What holds without it.
    pub default: Option<String>,
    /// Whether the program takes several.
    pub repeated: bool,
    /// Whether the option also stands without it.
    pub optional: bool,
    /// Whether the help shows it as a word of its own behind a flag of one dash and several letters.
    pub apart: bool,
}

/// An operand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operand {
    /// Its name as the help writes it, without brackets.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Whether the command needs it.
    pub required: bool,
    /// Whether it stands behind `--`.
    pub behind_dashes: bool,
    /// What is known of its value.
    pub value: Value,
    /// What the help leaves open.
    pub guesses: Vec<&'static str>,
}

/// Something read off a help page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sure<T> {
    /// The page says so.
    Said(T),
    /// It is likely.
    Guessed(T),
}

impl<T> Sure<T> {
    /// What was read, however sure.
    pub fn get(&self) -> &T {
        match self {
            Self::Said(value) | Self::Guessed(value) => value,
        }
    }
}

/// A subcommand that a page names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subcommand {
    /// Its word.
    pub name: String,
    /// What the page says of it; may be empty.
    pub about: String,
    /// Its usage lines, if the page shows them.
    pub usages: Vec<String>,
}
