//! A command of a help page: its options, operands and subcommands.

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
    /// Its risk, if its author states it.
    pub risk: Option<Risk>,
    /// Groups of options and operands of which a call gives exactly one, or at most one.
    pub groups: Vec<Group>,
    /// Whether its options stand behind its operands.
    pub options_last: bool,
    /// Its operands as usage lines show them, if these lines differ, or if none shows what the operands are.
    pub forms: Option<String>,
    /// Notes about the whole command, for readers of the draft.
    pub guesses: Vec<&'static str>,
}

/// Options and operands that exclude each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Whether one of them must be given.
    pub required: bool,
    /// A spelling of each option, and the name of each operand.
    pub members: Vec<String>,
}

/// An option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flag {
    /// All its spellings with their dashes, the long ones first; never empty.
    pub spellings: Vec<String>,
    /// Its value; `None` for a switch.
    pub value: Option<Value>,
    /// The names of the values behind the first one: `b` of `--pair a b`.
    pub more: Vec<String>,
    /// The spelling that turns the switch off.
    pub off: Option<String>,
    /// Whether it is a switch that counts how often it stands: `-vvv`.
    pub counts: bool,
    /// What it does.
    pub about: String,
    /// Whether the command needs it.
    pub required: bool,
    /// Whether it is a switch that is on by default, and `=false` turns off.
    pub is_on: bool,
    /// What names it, if that is not the help.
    pub source: Option<&'static str>,
}

/// The value of an option or operand.
#[allow(clippy::struct_excessive_bools, reason = "each is a trait of its own that help pages show")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// Its name in the help; may be empty.
    pub name: String,
    /// Its type, if the help suggests one.
    pub kind: Option<Sure<Type>>,
    /// The allowed values; `None` if any value is allowed.
    pub values: Option<Sure<Vec<String>>>,
    /// The default.
    pub default: Option<String>,
    /// How it takes several values.
    pub several: Several,
    /// Whether it is a name with a value, such as `KEY=VALUE`.
    pub pair: bool,
    /// Whether the value is optional. It is then attached.
    pub optional: bool,
    /// Whether the value is attached to a flag of one letter: `-DNAME`.
    pub attached: bool,
    /// Whether the value is a separate word after a flag with one dash and several letters.
    pub apart: bool,
}

/// How an option or operand takes several values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Several {
    /// It takes one value.
    #[default]
    No,
    /// The option stands before each value.
    Each,
    /// The option stands once, with a word for each value.
    Words,
    /// The option stands once, with the values in one word.
    Joined(char),
}

/// An operand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operand {
    /// Its name as the help writes it, without brackets.
    pub name: String,
    /// Its description.
    pub about: String,
    /// Whether the command needs it.
    pub required: bool,
    /// Whether it comes after `--`.
    pub behind_dashes: bool,
    /// Whether it takes all further words, with dashes too: those of another program.
    pub rest: bool,
    /// Its value.
    pub value: Value,
    /// Guesses, for comments in the draft.
    pub guesses: Vec<&'static str>,
}

/// A fact from a help page, with its certainty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sure<T> {
    /// The page states it.
    Said(T),
    /// It is likely.
    Guessed(T),
}

impl<T> Sure<T> {
    /// The value, certain or not.
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
    /// Its description; may be empty.
    pub about: String,
    /// Its usage lines, if the page shows them.
    pub usages: Vec<String>,
}
