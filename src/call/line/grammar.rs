//! The grammar of a tool: how its options are spelled, and where its operands stand.

use climax_catalog::{ArgView, FlagTemplate, Place, ResolvedTool, Shape, Spread, Type};

use super::command::{Command, Part, is_option};

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

/// A spelling of an option.
pub(super) struct Spelling<'a> {
    pub(super) arg: ArgView<'a>,
    pub(super) template: FlagTemplate,
    pub(super) meaning: Meaning,
    pub(super) zone: Zone,
    /// Whether a policy took its arg away.
    pub(super) is_withheld: bool,
    /// Whether the value is a word of its own here, though the flag of the config has it attached. Programs take the value
    /// of some such options attached only, so that a word behind the name is another option or an operand to them.
    pub(super) is_assumed: bool,
}

impl Spelling<'_> {
    /// Another spelling of the same arg.
    fn other(&self, template: FlagTemplate, meaning: Meaning) -> Self {
        let Self { arg, zone, is_withheld, .. } = *self;
        Self { arg, template, meaning, zone, is_withheld, is_assumed: false }
    }

    /// The words before the value, without the `=` that joins them.
    pub(super) fn name(&self) -> Option<&str> {
        self.template.name().map(|name| name.trim_end_matches('='))
    }
}

/// Where in a line an option may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    /// Between the program and its subcommand only, such as `-c` of `git -c x=y log`.
    Front,
    /// Everywhere.
    Any,
    /// As a letter of the word behind the program only, such as `x` of `tar xzf`.
    FirstWord,
}

/// What a spelling says about its arg.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The value stands in the words.
    Value,
    /// Always this value.
    Fixed(String),
    /// A boolean.
    Switch(bool),
    /// Once more.
    Count,
}

impl<'a> Grammar<'a> {
    /// Makes the grammar of a tool whose command has these parts.
    pub(super) fn new(tool: ResolvedTool<'a>, command: &Command) -> Self {
        let mut slots = Vec::new();
        let mut front_words = None;
        let mut options_at = None;
        let mut base_slots = 0;
        let mut constants = Vec::new();
        let mut added = Vec::new();

        for (at, part) in command.parts.iter().enumerate() {
            match part {
                Part::Word(word) => slots.push(Slot::Word(word.clone())),
                Part::Option(words) if at < command.base && !starts_another_program(words) => {
                    added.push(AddedOption { words: words.clone(), origin: Origin::Base });
                }
                Part::Option(words) => constants.push(words.clone()),
                Part::Dashes => slots.push(Slot::Dashes),
                Part::Options => {
                    front_words = Some(slots.len());
                    options_at = Some(slots.len());
                }
                Part::Arg(name) => {
                    slots.extend(tool.args().find(|arg| arg.name() == name).map(operand).unwrap_or_default());
                }
            }
            if at + 1 == command.base {
                base_slots = slots.len();
            }
        }

        let is_placed =
            |arg: &ArgView<'_>| command.parts.iter().any(|part| matches!(part, Part::Arg(name) if name == arg.name()));
        let placed = slots.len();
        slots.extend(tool.args().filter(|arg| !is_placed(arg)).flat_map(operand));
        let has_rest = tool.args().any(|arg| matches!(arg.shape(), Shape::Rest(_)));
        let slots_before_options = options_at.or(has_rest.then_some(placed));
        let of = |origin: Origin| move |words: Vec<String>| AddedOption { words, origin };
        added.extend(grouped(tool.cli().always()).into_iter().map(of(Origin::Cli)));
        added.extend(grouped(tool.always()).into_iter().map(of(Origin::Tool)));
        let spelled = |arg: ArgView<'a>| spellings(arg, command.zone(arg));
        let withheld = tool.withheld_args().flat_map(spelled).map(|one| Spelling { is_withheld: true, ..one });
        let mut options: Vec<Spelling<'a>> = tool.args().flat_map(spelled).chain(withheld).collect();
        let (bare, valued): (Vec<&Spelling<'a>>, Vec<_>) = options.iter().partition(|one| one.template.is_bare());
        let [bare, valued] = [bare, valued].map(|some| some.into_iter().filter_map(Spelling::name).collect::<Vec<_>>());
        let has_clusters = has_clusters(options.iter().filter(|one| !is_placed(&one.arg)).filter_map(Spelling::name));
        let stated = |one| stated(one, tool.cli().has_boolean_values(), &valued);
        let is_read =
            |one: &Spelling<'_>| has_clusters || !one.template.is_attached() || one.template.short().is_none();
        let equivalents = |one| equivalents(one, &bare).into_iter().filter(is_read);
        let more: Vec<Spelling<'a>> = options.iter().flat_map(|one| equivalents(one).chain(stated(one))).collect();
        options.extend(more);
        if tool.cli().has_letter_equals() {
            let valued = options.iter().filter(|one| one.meaning == Meaning::Value);
            let equals = valued.filter_map(|one| Some(one.other(one.template.with_equals()?, Meaning::Value)));
            let equals: Vec<Spelling<'a>> = equals.collect();
            options.extend(equals);
        }
        for option in &mut options {
            let is_apart = option.meaning == Meaning::Value && option.template.fixed_words() > 0;
            option.is_assumed = is_apart && option.arg.template().is_attached();
        }

        let leading = slots.iter().take_while(|slot| matches!(slot, Slot::Word(_))).count();
        let front_words = front_words.map_or(leading, |front| front.min(leading));

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

impl Command {
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

/// All spellings of an arg whose words are options.
fn spellings(arg: ArgView<'_>, zone: Zone) -> Vec<Spelling<'_>> {
    if arg.is_from_user() || arg.output().is_some() || arg.flag() == "--" {
        return Vec::new();
    }

    let fixed = |words: &[String], meaning: Meaning| Spelling {
        arg,
        template: FlagTemplate::new(words, Shape::Single, true),
        meaning,
        zone,
        is_withheld: false,
        is_assumed: false,
    };
    let choices = arg.choices().filter_map(|choice| Some((choice.words()?, choice.value.to_owned())));
    let mut all: Vec<Spelling<'_>> = choices
        .filter(|(words, _)| !words.is_empty())
        .map(|(words, value)| fixed(&words, Meaning::Fixed(value)))
        .collect();

    if matches!(arg.place(), Place::Option | Place::Cwd) {
        let shape = match arg.shape() {
            Shape::List(Spread::Joined) | Shape::Map(Spread::Joined) => Shape::Single,
            shape => shape,
        };
        let meaning = match arg.shape() {
            Shape::Count => Meaning::Count,
            _ if arg.is_bare() => Meaning::Switch(true),
            _ => Meaning::Value,
        };
        let alias_zone = |alias: &str| if is_letter(alias) { Zone::FirstWord } else { zone };
        // The places of keys and values are those of the flag.
        let places: Vec<String> = match arg.shape() {
            Shape::Map(_) => arg.flag_words().into_iter().skip(1).filter(|word| word.starts_with('{')).collect(),
            _ => Vec::new(),
        };
        let spelled = |alias: &str| [alias.to_owned()].into_iter().chain(places.clone()).collect();
        let aliases = arg.aliases().map(|alias| (spelled(alias), alias_zone(alias)));
        let own = Some(arg.flag_words()).filter(|words| arg.place() == Place::Option && !words.is_empty());
        let flags = own.map(|words| (words, zone)).into_iter().chain(aliases);
        all.extend(flags.map(|(words, zone)| Spelling {
            arg,
            template: FlagTemplate::new(&words, shape, arg.is_bare()),
            meaning: meaning.clone(),
            zone,
            is_withheld: false,
            is_assumed: false,
        }));
        all.extend(
            Some(arg.off_words()).filter(|words| !words.is_empty()).map(|words| fixed(&words, Meaning::Switch(false))),
        );
    }

    all
}

/// Whether a program with options of these names reads `-abc` as `-a -bc`. One whose long options have one dash, as those of
/// ffmpeg and terraform, reads it as one option, which may be missing here.
fn has_clusters<'n>(mut names: impl Iterator<Item = &'n str> + Clone) -> bool {
    // Not one such as `-vv`.
    let is_word = |name: &str| {
        let mut letters = name.strip_prefix('-').unwrap_or_default().chars();
        letters.next().is_some_and(|first| first.is_ascii_alphabetic() && letters.any(|other| other != first))
    };
    !names.clone().any(is_word) || names.any(|name| name.len() > 2 && name.starts_with("--") && name != "--help")
}

/// Whether an alias is a letter without a dash, as the options of `tar xzf` are.
fn is_letter(alias: &str) -> bool {
    alias.chars().count() == 1 && alias != "-"
}

/// The other forms of a spelling. An option that has a form without value takes its value attached only.
fn equivalents<'a>(spelling: &Spelling<'a>, bare: &[&str]) -> Vec<Spelling<'a>> {
    let has_bare = spelling.name().is_some_and(|name| bare.contains(&name));
    if spelling.zone == Zone::FirstWord || spelling.meaning == Meaning::Value && has_bare {
        return Vec::new();
    }

    let all = spelling.template.equivalents().into_iter();
    all.map(|template| spelling.other(template, spelling.meaning.clone())).collect()
}

/// The forms `--all=true` and `--all=false` of an option that never has a value, of which `--no-all` is another.
///
/// Programs that do not know the first refuse it. Some of them would take the second for the option itself, so it is read for
/// programs only that are known to read it.
fn stated<'a>(spelling: &Spelling<'a>, has_boolean_values: bool, valued: &[&str]) -> Vec<Spelling<'a>> {
    let Meaning::Switch(on) = spelling.meaning else { return Vec::new() };
    let name = spelling.name().filter(|name| spelling.template.is_bare() && !valued.contains(name));
    let is_long = |name: &&str| name.starts_with("--") || has_boolean_values && name.starts_with('-');
    let Some(name) = name.filter(is_long) else { return Vec::new() };
    let stated =
        |words: String, on: bool| spelling.other(FlagTemplate::new(&[words], Shape::Single, true), Meaning::Switch(on));
    if let Some((name, value)) = name.split_once('=') {
        let is_off = has_boolean_values && value == "false";
        let other = || [name.to_owned(), format!("{name}=true")].map(|words| stated(words, !on));
        return is_off.then(other).into_iter().flatten().collect();
    }
    if !has_boolean_values {
        return on.then(|| stated(format!("{name}=true"), true)).into_iter().collect();
    }
    let opposite = name.strip_prefix("--no-").map(|name| stated(format!("--{name}=false"), on));
    [stated(format!("{name}=true"), on), stated(format!("{name}=false"), !on)].into_iter().chain(opposite).collect()
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
