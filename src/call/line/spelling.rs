//! How the options of a tool are spelled: by its config, and in the other forms that programs read.

use climax_catalog::{ArgView, FlagTemplate, Place, ResolvedTool, Shape, Spread};

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

impl<'a> Spelling<'a> {
    /// Makes a spelling of an arg that the agent may give.
    fn new(arg: ArgView<'a>, template: FlagTemplate, meaning: Meaning, zone: Zone) -> Self {
        Self { arg, template, meaning, zone, is_withheld: false, is_assumed: false }
    }

    /// These words, which have no place for a value.
    fn fixed(arg: ArgView<'a>, words: &[String], meaning: Meaning, zone: Zone) -> Self {
        Self::new(arg, FlagTemplate::new(words, Shape::Single, true), meaning, zone)
    }

    /// Another spelling of the same arg.
    fn other(&self, template: FlagTemplate, meaning: Meaning) -> Self {
        Self { is_withheld: self.is_withheld, ..Self::new(self.arg, template, meaning, self.zone) }
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

/// All spellings of an arg whose words are options, as its config has them.
pub(super) fn spellings(arg: ArgView<'_>, zone: Zone) -> Vec<Spelling<'_>> {
    if arg.is_from_user() || arg.output().is_some() || arg.flag() == "--" {
        return Vec::new();
    }

    let choices = arg.choices().filter_map(|choice| Some((choice.words()?, choice.value.to_owned())));
    let choices = choices.filter(|(words, _)| !words.is_empty());
    let mut all: Vec<Spelling<'_>> =
        choices.map(|(words, value)| Spelling::fixed(arg, &words, Meaning::Fixed(value), zone)).collect();
    if matches!(arg.place(), Place::Option | Place::Cwd) {
        all.extend(flags(arg, zone));
        let off = Some(arg.off_words()).filter(|words| !words.is_empty());
        all.extend(off.map(|words| Spelling::fixed(arg, &words, Meaning::Switch(false), zone)));
    }

    all
}

/// The spellings of an arg by its flag and by its aliases.
fn flags(arg: ArgView<'_>, zone: Zone) -> impl Iterator<Item = Spelling<'_>> {
    let shape = match arg.shape() {
        Shape::List(Spread::Joined) | Shape::Map(Spread::Joined) => Shape::Single,
        shape => shape,
    };
    let meaning = match arg.shape() {
        Shape::Count => Meaning::Count,
        _ if arg.is_bare() => Meaning::Switch(true),
        _ => Meaning::Value,
    };

    // The places of keys and values are those of the flag.
    let places: Vec<String> = match arg.shape() {
        Shape::Map(_) => arg.flag_words().into_iter().skip(1).filter(|word| word.starts_with('{')).collect(),
        _ => Vec::new(),
    };
    let aliases = arg.aliases().map(move |alias| {
        let words = [alias.to_owned()].into_iter().chain(places.clone()).collect();
        (words, if is_letter(alias) { Zone::FirstWord } else { zone })
    });
    let own = Some(arg.flag_words()).filter(|words| arg.place() == Place::Option && !words.is_empty());
    let all = own.map(|words| (words, zone)).into_iter().chain(aliases);
    all.map(move |(words, zone)| {
        Spelling::new(arg, FlagTemplate::new(&words, shape, arg.is_bare()), meaning.clone(), zone)
    })
}

/// Adds the other forms in which programs read the options of a tool.
pub(super) fn with_other_forms<'a>(
    mut options: Vec<Spelling<'a>>,
    tool: ResolvedTool<'a>,
    has_clusters: bool,
) -> Vec<Spelling<'a>> {
    let (bare, valued): (Vec<&Spelling<'a>>, Vec<_>) = options.iter().partition(|one| one.template.is_bare());
    let [bare, valued] = [bare, valued].map(|some| some.into_iter().filter_map(Spelling::name).collect::<Vec<_>>());
    let stated = |one| stated(one, tool.cli().has_boolean_values(), &valued);
    let is_read = |one: &Spelling<'_>| has_clusters || !one.template.is_attached() || one.template.short().is_none();
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

    options
}

/// Whether a program with options of these names reads `-abc` as `-a -bc`. One whose long options have one dash, as those of
/// ffmpeg and terraform, reads it as one option, which may be missing here.
pub(super) fn has_clusters<'n>(mut names: impl Iterator<Item = &'n str> + Clone) -> bool {
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
