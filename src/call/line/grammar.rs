//! The grammar of a tool: its options, and where its operands stand.

use climax_catalog::{ArgView, Place, ResolvedTool, Shape, Type};

use super::command::{Command, Part, is_option};
use super::spelling::{Spelling, Zone, has_clusters, spellings, with_other_forms};

/// The grammar of one spelling of a tool's command.
pub(super) struct Grammar<'a> {
    pub(super) tool: ResolvedTool<'a>,
    /// Words and operands, in the order of the command line.
    pub(super) slots: Vec<Slot<'a>>,
    /// Whether letters behind one dash may be several options, or an option and its value.
    pub(super) has_clusters: bool,
    /// Options of the command with their values, which every line of the tool has.
    pub(super) constants: Vec<Vec<String>>,
    /// Options that the config adds to a line that lacks them.
    pub(super) added: Vec<AddedOption>,
    /// The options that a line may have.
    pub(super) options: Vec<Spelling<'a>>,
    /// The number of words at the start of the command, before its options.
    pub(super) front_words: usize,
    /// The number of slots of the config's base command.
    pub(super) base_slots: usize,
    /// The number of slots before the place of the options; `None` if they have no place of their own.
    pub(super) slots_before_options: Option<usize>,
}

/// An option that the config adds to a line that lacks it.
#[derive(Clone, Debug)]
pub(super) struct AddedOption {
    /// The option, and its value if a word follows that is no option.
    pub(super) words: Vec<String>,
    pub(super) origin: Origin,
}

/// The key of a config that an added option comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The base `command`.
    Base,
    /// `always` of the config.
    Cli,
    /// `always` of the tool.
    Tool,
}

impl AddedOption {
    /// Whether the words of a line start with this option, with its value in a word of its own or behind `=`. Without a
    /// value it may stand with `=true`, which programs that do not know it refuse.
    pub(super) fn count_in(&self, line: &[&str]) -> Option<usize> {
        let is_start = line.len() >= self.words.len() && line.iter().zip(&self.words).all(|(word, own)| word == own);
        let joined = || self.words.join("=");
        match self.words.as_slice() {
            _ if is_start => Some(self.words.len()),
            [name, _] if name.starts_with("--") && line.first() == Some(&joined().as_str()) => Some(1),
            [name] if line.first().and_then(|word| word.strip_suffix("=true")) == Some(name) => Some(1),
            _ => None,
        }
    }

    /// Whether a word of a line is this option with another value.
    pub(super) fn names(&self, word: &str) -> bool {
        let name = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
        self.words.first().is_some_and(|own| name(own) == name(word))
    }
}

/// A place for operands.
#[derive(Clone, Debug)]
pub(super) enum Slot<'a> {
    /// This word of the command.
    Word(String),
    /// `--`, behind which there are operands only.
    Dashes,
    /// The values of an arg.
    Arg(ArgView<'a>),
}

impl Slot<'_> {
    /// The word of the command.
    pub(super) fn word(&self) -> Option<&str> {
        if let Self::Word(word) = self { Some(word) } else { None }
    }
}

impl<'a> Grammar<'a> {
    /// Makes the grammar of a tool whose command has these parts.
    pub(super) fn new(tool: ResolvedTool<'a>, command: &Command) -> Self {
        let Layout { mut slots, options_at, base_slots, constants, mut added } = Layout::of(tool, command);
        let placed = slots.len();
        slots.extend(tool.args().filter(|arg| !command.places(arg)).flat_map(operand));
        let has_rest = tool.args().any(|arg| matches!(arg.shape(), Shape::Rest(_)));
        let slots_before_options = options_at.or(has_rest.then_some(placed));
        let leading = slots.iter().take_while(|slot| matches!(slot, Slot::Word(_))).count();
        let front_words = options_at.map_or(leading, |front| front.min(leading));

        let of = |origin: Origin| move |words: Vec<String>| AddedOption { words, origin };
        added.extend(grouped(tool.cli().always()).into_iter().map(of(Origin::Cli)));
        added.extend(grouped(tool.always()).into_iter().map(of(Origin::Tool)));

        let spelled = |arg: ArgView<'a>| spellings(arg, command.zone(arg));
        let withheld = tool.withheld_args().flat_map(spelled).map(|one| Spelling { is_withheld: true, ..one });
        let written: Vec<Spelling<'a>> = tool.args().flat_map(spelled).chain(withheld).collect();
        let has_clusters =
            has_clusters(written.iter().filter(|one| !command.places(&one.arg)).filter_map(Spelling::name));
        let options = with_other_forms(written, tool, has_clusters);

        Self { tool, slots, has_clusters, constants, added, options, front_words, base_slots, slots_before_options }
    }

    /// Whether `--` has a place among the operands.
    pub(super) fn has_dashes(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot, Slot::Dashes))
    }

    /// Whether `--` stands between operands of different meaning, such as revisions and paths of git.
    pub(super) fn separates(&self) -> bool {
        let dashes = self.slots.iter().position(|slot| matches!(slot, Slot::Dashes));
        dashes.is_some_and(|at| self.slots[..at].iter().any(|slot| matches!(slot, Slot::Arg(_))))
    }

    /// The names of the options that an agent gives, for suggestions.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        let given = |option: &&Spelling<'_>| {
            !option.is_withheld && option.arg.fixed().is_none() && option.zone != Zone::FirstWord
        };
        self.options.iter().filter(given).filter_map(Spelling::name)
    }

    /// The number of places for operands before a rest; `None` without a rest.
    pub(super) fn rest(&self) -> Option<Rest> {
        let shape = |slot: &Slot<'_>| if let Slot::Arg(arg) = slot { Some(arg.shape()) } else { None };
        let at = self.slots.iter().position(|slot| matches!(shape(slot), Some(Shape::Rest(_))))?;
        let is_map = |slot: &Slot<'_>| matches!(shape(slot), Some(Shape::Map(_)));
        let has_map = self.slots[..at].iter().any(is_map);
        let before = self.slots[..at].iter().filter(|slot| !matches!(slot, Slot::Dashes) && !is_map(slot)).count();
        let needs_dashes = matches!(at.checked_sub(1).map(|at| &self.slots[at]), Some(Slot::Dashes)) || has_map;
        let is_command = shape(&self.slots[at]) == Some(Shape::Rest(climax_catalog::Rest::Command));
        Some(Rest { before, needs_dashes, is_command, has_map })
    }

    /// Whether a number below zero may be an operand. Programs read it as an option where they expect no number.
    pub(super) fn takes_numbers(&self) -> bool {
        let is_number = |arg: &ArgView<'_>| matches!(arg.kind(), Type::Integer | Type::Number);
        self.slots.iter().any(|slot| matches!(slot, Slot::Arg(arg) if is_number(arg)))
    }

    /// Whether some options may stand in front of the subcommand only.
    pub(super) fn has_front(&self) -> bool {
        self.options.iter().any(|option| option.zone == Zone::Front)
    }
}

/// The parts of a command, by what they are for the words of a line.
#[derive(Default)]
struct Layout<'a> {
    slots: Vec<Slot<'a>>,
    /// The number of slots before the place of the options, if they have one.
    options_at: Option<usize>,
    base_slots: usize,
    constants: Vec<Vec<String>>,
    added: Vec<AddedOption>,
}

impl<'a> Layout<'a> {
    /// Sorts the parts of a tool's command.
    fn of(tool: ResolvedTool<'a>, command: &Command) -> Self {
        let mut layout = Self::default();
        for (at, part) in command.parts.iter().enumerate() {
            match part {
                Part::Word(word) => layout.slots.push(Slot::Word(word.clone())),
                Part::Option(words) if at < command.base && !starts_another_program(words) => {
                    layout.added.push(AddedOption { words: words.clone(), origin: Origin::Base });
                }
                Part::Option(words) => layout.constants.push(words.clone()),
                Part::Dashes => layout.slots.push(Slot::Dashes),
                Part::Options => layout.options_at = Some(layout.slots.len()),
                Part::Arg(name) => {
                    layout.slots.extend(tool.args().find(|arg| arg.name() == name).map(operand).unwrap_or_default());
                }
            }
            if at + 1 == command.base {
                layout.base_slots = layout.slots.len();
            }
        }
        layout
    }
}

impl Command {
    /// Whether the command has a place for an arg.
    fn places(&self, arg: &ArgView<'_>) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Arg(name) if name == arg.name()))
    }

    /// Returns where an option may stand: in front of a subcommand if the command has its place there.
    fn zone(&self, arg: ArgView<'_>) -> Zone {
        let place = self.parts.iter().position(|part| matches!(part, Part::Arg(name) if name == arg.name()));
        let is_front = place.is_some_and(|place| self.parts[place..].iter().any(|part| matches!(part, Part::Word(_))));
        if is_front || arg.place() == Place::Cwd { Zone::Front } else { Zone::Any }
    }
}

/// Where the rest of a command line starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// The operands before it.
    pub(super) before: usize,
    /// Whether the command has `--` before it.
    pub(super) needs_dashes: bool,
    /// Whether it is a command. All words behind its program belong to it.
    pub(super) is_command: bool,
    /// Whether words with `=` before it go to a map.
    pub(super) has_map: bool,
}

/// The places of an arg whose words are operands.
fn operand(arg: ArgView<'_>) -> Vec<Slot<'_>> {
    if arg.is_from_user() || arg.output().is_some() {
        return Vec::new();
    }
    match arg.place() {
        Place::Positional => vec![Slot::Arg(arg)],
        Place::Option if arg.flag() == "--" => vec![Slot::Dashes, Slot::Arg(arg)],
        Place::Option | Place::Stdin | Place::Cwd | Place::Variable => Vec::new(),
    }
}

/// Whether an option of a base command names what the program runs, such as `-m pip` of `python3`. A line has to have it:
/// the program without it is another one.
fn starts_another_program(option: &[String]) -> bool {
    match option {
        // `-c NAME=VALUE` is a setting, as of git.
        [name, value] if name == "-c" => !value.contains('='),
        [name, ..] => matches!(name.as_str(), "-m" | "-jar" | "-c" | "-e"),
        [] => false,
    }
}

/// Groups words into options with their values: a word behind an option is its value.
fn grouped<'w>(words: impl Iterator<Item = &'w str>) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
    for word in words {
        match groups.last_mut() {
            Some(group) if !is_option(word) && group.len() == 1 => group.push(word.to_owned()),
            _ => groups.push(vec![word.to_owned()]),
        }
    }
    groups
}
