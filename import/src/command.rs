//! A command of a help page: its options, operands and subcommands.

use climax_catalog::{Risk, Type};

/// A command of a program: the program itself, or a subcommand of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The subcommand's words; none for the program itself.
    pub words: Vec<String>,
    /// Other spellings of these words.
    pub aliases: Vec<String>,
    /// What it does, in the words of the help.
    pub about: String,
    /// Its options, in the order of the help.
    pub options: Vec<Flag>,
    /// Options of the program and of the commands before it, which stand before its own word: how many of its words stand
    /// before each.
    pub leading: Vec<(usize, Flag)>,
    /// Its operands, in their order on the command line.
    pub operands: Vec<Operand>,
    /// Its risk, if its author states it.
    pub risk: Option<Risk>,
    /// Whether its page says that it replaces what exists.
    pub replaces: bool,
    /// Groups of options and operands of which a call gives exactly one, or at most one.
    pub groups: Vec<Group>,
    /// Whether its options stand behind its operands.
    pub options_last: bool,
    /// Whether the command before it runs it where no command is named.
    pub is_default: bool,
    /// Its operands as usage lines show them, if these lines differ, or if none shows what the operands are.
    pub forms: Option<String>,
    /// Notes about the whole command, for readers of the draft.
    pub guesses: Vec<&'static str>,
}

impl Command {
    /// Takes the options of the commands before it, with the number of words that stand before each.
    ///
    /// Where its own page repeats one of them, they may stand behind its word too, and are options like its own.
    pub fn inherit(&mut self, options: &[(usize, Flag)]) {
        let is_own = |spelling: &String| has_option(self, spelling);
        let (shared, new): (Vec<_>, Vec<_>) = options
            .iter()
            .filter(|(_, flag)| !asks_for_text(flag))
            .partition(|(_, flag)| flag.spellings.iter().any(is_own));
        let new = new.into_iter().map(|(depth, flag)| (*depth, Flag { required: false, ..flag.clone() }));
        if shared.is_empty() {
            self.leading.extend(new);
        } else {
            self.options.extend(new.map(|(_, flag)| flag));
        }
    }
}

/// Adds what programs run where no command is named, with the words of the command before it.
pub fn add_defaults(commands: &mut Vec<Command>) {
    let defaults: Vec<Command> = commands.iter().filter(|command| command.is_default).cloned().collect();
    for default in defaults {
        let Some((_, words)) = default.words.split_last() else { continue };
        let own = default.leading.iter().filter(|(depth, _)| *depth == words.len()).map(|(_, flag)| flag.clone());
        let own: Vec<Flag> = own.collect();

        match commands.iter_mut().find(|command| command.words == words) {
            Some(command) => {
                let is_new = |flag: &&Flag| !flag.spellings.iter().any(|spelling| has_option(command, spelling));
                let new: Vec<Flag> = default.options.iter().filter(is_new).cloned().collect();
                command.options.extend(new);
                if command.operands.is_empty() {
                    command.operands = default.operands;
                }
            }
            None => commands.insert(
                0,
                Command {
                    words: words.to_vec(),
                    aliases: Vec::new(),
                    is_default: false,
                    options: default.options.into_iter().chain(own).collect(),
                    leading: default.leading.into_iter().filter(|(depth, _)| *depth < words.len()).collect(),
                    ..default
                },
            ),
        }
    }
}

fn has_option(command: &Command, spelling: &String) -> bool {
    command.options.iter().any(|flag| flag.spellings.contains(spelling))
}

/// Whether an option asks for help or for the version, which each command has for itself.
fn asks_for_text(flag: &Flag) -> bool {
    flag.spellings.iter().any(|spelling| matches!(spelling.trim_start_matches('-'), "help" | "version" | "h" | "V"))
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
    /// Whether the value is optional.
    pub optional: bool,
    /// Whether the value is attached to a flag of one letter: `-DNAME`.
    pub attached: bool,
    /// Whether the value is a separate word after a flag with one dash and several letters.
    pub apart: bool,
    /// Whether the help shows it behind a letter and `=`: `-n=NUM`.
    pub assigned: bool,
}

impl Value {
    /// Returns whether the value may be left out, and is the next word if it is not.
    pub(crate) fn may_be_apart(&self) -> bool {
        self.optional && !self.attached
    }
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subcommand {
    /// Its word.
    pub name: String,
    /// Other words for it.
    pub aliases: Vec<String>,
    /// Whether the program runs it where no command is named.
    pub is_default: bool,
    /// Its description; may be empty.
    pub about: String,
    /// Its usage lines, if the page shows them.
    pub usages: Vec<String>,
}
