//! Sorts the words of a command line into options and operands, by the grammar of one tool.

use std::collections::BTreeMap;

use climax_catalog::{ArgView, FlagMatch, Place, Shape, Spread, Type};

use super::command::is_option;
use super::grammar::{AddedOption, Grammar, Rest};
use super::spelling::{Meaning, Spelling, Zone};
use crate::call::arguments;

/// The words of a command line, sorted.
pub(super) struct Scanned<'a, 'w> {
    /// What options say, by the name of the arg, in the order of the line.
    pub(super) given: BTreeMap<&'a str, Given<'a>>,
    /// The options whose order counts, in the order of the line.
    pub(super) steps: Vec<Given<'a>>,
    /// The operands, each with its place among the words.
    pub(super) operands: Vec<(usize, &'w str)>,
    /// The places of the options' first words.
    pub(super) options: Vec<usize>,
    /// The first `--`, if there is one.
    pub(super) dashes: Option<Dashes>,
    /// The number of words that options without a dash take, such as `xzf a.tgz` of `tar xzf a.tgz`, and the program.
    pub(super) letters_end: usize,
    /// The options that the config adds, since the line lacks them.
    pub(super) missing: Vec<AddedOption>,
}

/// The place of `--` in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dashes {
    /// Its place among the words.
    pub(super) at: usize,
    /// The number of operands before it.
    pub(super) operands: usize,
}

/// What a line says about an arg.
#[derive(Clone, Debug)]
pub(super) struct Given<'a> {
    pub(super) arg: ArgView<'a>,
    /// Keys with values, in the order of the line. Keys are empty except for maps.
    pub(super) values: Vec<(String, String)>,
    /// What a boolean is, each time it stands in the line.
    pub(super) switches: Vec<bool>,
    pub(super) count: u32,
}

/// The reason why a tool does not take the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    /// The place of the word; the number of words if one is missing.
    pub(super) at: usize,
    pub(super) problem: String,
    pub(super) kind: MisfitKind,
}

/// The kind of a misfit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MisfitKind {
    /// An option that the tool does not have.
    UnknownOption(String),
    /// An option of the tool's command that the line lacks.
    MissingConstant,
    /// An arg that a policy took away.
    Withheld,
    /// An operand that no arg takes.
    ExtraOperand,
    /// Any other.
    Other,
}

impl<'a> Given<'a> {
    /// Makes one that says nothing yet.
    pub(super) fn of(arg: ArgView<'a>) -> Self {
        Self { arg, values: Vec::new(), switches: Vec::new(), count: 0 }
    }

    /// Adds a value with its key.
    pub(super) fn add(&mut self, key: &str, value: &str) {
        self.values.push((key.to_owned(), value.to_owned()));
    }
}

impl Misfit {
    /// Makes a misfit of no special kind.
    pub(super) fn new(at: usize, problem: impl Into<String>) -> Self {
        Self { at, problem: problem.into(), kind: MisfitKind::Other }
    }

    /// Makes the misfit of a word that gives an arg which a policy took away. `given` is the option or the arg's name.
    pub(super) fn withheld(at: usize, given: &str, tool: &str) -> Self {
        let problem = format!("the policy does not permit `{given}` of {tool}");
        Self { at, problem, kind: MisfitKind::Withheld }
    }
}

/// Sorts words.
///
/// # Errors
/// The first option that the tool does not have or that lacks its value, or a constant that the line lacks.
pub(super) fn scan<'a, 'w>(grammar: &Grammar<'a>, words: &[&'w str]) -> Result<Scanned<'a, 'w>, Misfit> {
    let mut scanner = Scanner {
        grammar,
        words,
        at: 0,
        constants: vec![false; grammar.constants.len()],
        added: vec![false; grammar.added.len()],
        found: Scanned {
            given: BTreeMap::new(),
            steps: Vec::new(),
            operands: Vec::new(),
            options: Vec::new(),
            dashes: None,
            letters_end: 1,
            missing: Vec::new(),
        },
    };
    scanner.run()?;

    let missing = scanner.constants.iter().position(|seen| !seen);
    if let Some(missing) = missing {
        let problem = format!("`{}` is missing", grammar.constants[missing].join(" "));
        return Err(Misfit { kind: MisfitKind::MissingConstant, ..Misfit::new(0, problem) });
    }

    let added = grammar.added.iter().zip(&scanner.added);
    scanner.found.missing = added.filter(|(_, seen)| !**seen).map(|(option, _)| option.clone()).collect();
    Ok(scanner.found)
}

/// The state of sorting.
struct Scanner<'g, 'a, 'w> {
    grammar: &'g Grammar<'a>,
    words: &'g [&'w str],
    /// The place of the next word.
    at: usize,
    /// Which constants of the grammar have been seen.
    constants: Vec<bool>,
    /// Which options that the config adds have been seen.
    added: Vec<bool>,
    found: Scanned<'a, 'w>,
}

impl<'g, 'a, 'w> Scanner<'g, 'a, 'w> {
    /// Sorts all words.
    fn run(&mut self) -> Result<(), Misfit> {
        let rest = self.grammar.rest();
        while let Some(word) = self.words.get(self.at).copied() {
            if rest.is_some_and(|rest| self.is_of_rest(rest, word)) || self.found.dashes.is_some() {
                self.operand(word);
            } else if word == "--" {
                self.found.dashes = Some(Dashes { at: self.at, operands: self.found.operands.len() });
                self.at += 1;
            } else if is_option(word) {
                self.option(word)?;
            } else if self.found.operands.is_empty() || !(self.letters(word)? || self.spelled()?) {
                self.operand(word);
            }
        }

        Ok(())
    }

    /// Whether a word belongs to the rest of the command line.
    fn is_of_rest(&self, rest: Rest, word: &str) -> bool {
        let found = &self.found.operands;
        let operands =
            if rest.has_map { found.iter().filter(|(_, word)| !word.contains('=')).count() } else { found.len() };
        if rest.is_command && operands > rest.before {
            return true;
        }
        let may_start = !rest.needs_dashes || self.found.dashes.is_some() || !is_option(word);
        operands >= rest.before && may_start
    }

    /// Takes the word at this place as an operand.
    fn operand(&mut self, word: &'w str) {
        self.found.operands.push((self.at, word));
        self.at += 1;
    }

    /// Reads an option at this place.
    fn option(&mut self, word: &'w str) -> Result<(), Misfit> {
        let at = self.at;
        if self.constant() || self.added() || self.spelled()? || self.cluster(word)? {
            self.found.options.push(at);
            return Ok(());
        }

        if is_negative_number(word) && self.grammar.takes_numbers() {
            self.operand(word);
            return Ok(());
        }

        Err(self.unknown(word))
    }

    /// Reads an option of the command.
    fn constant(&mut self) -> bool {
        let constants = self.grammar.constants.iter().zip(&self.constants);
        let found =
            constants.enumerate().find(|(_, (words, seen))| !**seen && self.starts_with(words)).map(|(at, _)| at);
        let Some(at) = found else { return false };
        self.constants[at] = true;
        self.at += self.grammar.constants[at].len();
        true
    }

    /// Whether an option may stand at this place.
    fn may_stand(&self, option: &Spelling<'_>) -> bool {
        let is_front = self.found.operands.len() < self.grammar.front_words;
        match option.zone {
            Zone::Front => is_front,
            // A program with options of its own there takes no others there.
            Zone::Any => !is_front || !self.grammar.has_front(),
            Zone::FirstWord => false,
        }
    }

    /// Whether the arg of an option has no value yet or takes several, and takes this one.
    fn is_free(&self, option: &Spelling<'_>, read: &FlagMatch<'_>) -> bool {
        let is_given = self.found.given.contains_key(option.arg.name());
        (!is_given || option.arg.shape() != Shape::Single)
            && (option.meaning != Meaning::Value || arguments::accepts(option.arg, read.key, read.value))
    }

    /// Whether the words at this place start with these.
    fn starts_with(&self, words: &[String]) -> bool {
        let rest = &self.words[self.at..];
        rest.len() >= words.len() && rest.iter().zip(words).all(|(word, own)| word == own)
    }

    /// Reads an option that the config adds itself.
    fn added(&mut self) -> bool {
        let rest = &self.words[self.at..];
        let mut added = self.grammar.added.iter().enumerate();
        let Some((at, words)) = added.find_map(|(at, option)| Some((at, option.count_in(rest)?))) else { return false };
        self.added[at] = true;
        self.at += words;
        true
    }

    /// Reads a whole option with its value. The spelling with the most fixed text wins.
    fn spelled(&mut self) -> Result<bool, Misfit> {
        let (options, rest) = (&self.grammar.options, &self.words[self.at..]);
        let found = options.iter().filter_map(|option| Some((option, option.template.read(rest)?)));
        let found = found.filter(|(option, read)| is_plausible(option, read) && self.may_stand(option));
        let found = found.map(|(option, read)| Found { option, read, is_free: self.is_free(option, &read) });
        let Some(Found { option, read, .. }) = found.reduce(more_specific) else {
            let takes_value =
                is_option(rest[0]) && options.iter().any(|option| option.template.name() == Some(rest[0]));
            if takes_value && rest.len() == 1 {
                return Err(Misfit::new(self.words.len(), format!("`{}` takes a value, and the line ends", rest[0])));
            }
            return Ok(false);
        };
        self.check_value(option, read.value)?;
        self.give(option, &read)?;
        self.at += read.words;
        if option.meaning == Meaning::Value && takes_words(option.arg) && option.template.fixed_words() > 0 {
            self.further_values(option)?;
        }

        Ok(true)
    }

    /// Refuses a value that the program could take for an option, because it may not belong to the option before it.
    fn check_value(&self, option: &Spelling<'a>, value: &str) -> Result<(), Misfit> {
        // Digits, such as `-2G` of `truncate -s -2G`, are no option that does harm.
        let starts_with_digit =
            value.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if !option.is_assumed || !is_option(value) || starts_with_digit {
            return Ok(());
        }

        let spelled =
            option.arg.template().described(option.arg.name()).replace(&format!("<{}>", option.arg.name()), value);
        let problem = format!("the program could take `{value}` for an option; write `{spelled}`");
        Err(Misfit::new(self.at, problem))
    }

    /// Reads the further values of an option that takes several words, up to the next option or the most that it takes.
    fn further_values(&mut self, option: &Spelling<'a>) -> Result<(), Misfit> {
        let Some(name) = option.template.name() else { return Ok(()) };
        let most = option.arg.max_items().and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
        let mut taken = 1;
        while taken < most && self.words.get(self.at).is_some_and(|word| !is_option(word)) {
            taken += 1;
            let words = [&[name], &self.words[self.at..]].concat();
            let Some(read) = option.template.read(&words) else { return Ok(()) };
            self.give(option, &read)?;
            self.at += read.words - 1;
        }
        Ok(())
    }

    /// Reads options that are letters without a dash in the word behind the program, such as `czf` of `tar czf a.tgz x`.
    /// Their values are the next words, in the order of the letters.
    fn letters(&mut self, word: &'w str) -> Result<bool, Misfit> {
        if self.at != 1 || word.is_empty() {
            return Ok(false);
        }

        let named = |letter: char| {
            let is_letter = |one: &&Spelling<'a>| {
                one.zone == Zone::FirstWord && one.name().is_some_and(|name| name.chars().eq([letter]))
            };
            self.grammar.options.iter().find(is_letter)
        };
        let Some(options) = word.chars().map(named).collect::<Option<Vec<_>>>() else { return Ok(false) };
        let mut used = 1;

        for option in options {
            if option.template.is_bare() {
                self.give(option, &FlagMatch { key: "", value: "", words: 1, literal_bytes: 0 })?;
                continue;
            }
            let Some(value) = self.words.get(self.at + used) else {
                let problem = format!("`{}` takes a value, and the line ends", option.name().unwrap_or_default());
                return Err(Misfit::new(self.words.len(), problem));
            };
            self.give(option, &FlagMatch { key: "", value, words: 1, literal_bytes: 0 })?;
            used += 1;
        }

        self.at += used;
        self.found.letters_end = self.at;

        Ok(true)
    }

    /// Reads short options in one word, such as `-la` or `-vn5`. The last may take a value.
    fn cluster(&mut self, word: &'w str) -> Result<bool, Misfit> {
        if word.starts_with("--") || word.chars().count() < 3 || !self.grammar.has_clusters {
            return Ok(false);
        }
        let Some(Cluster { options, constants, words }) = self.split_cluster(word)? else { return Ok(false) };

        for (option, key, value) in options {
            self.give(option, &FlagMatch { key: &key, value: &value, words, literal_bytes: 0 })?;
        }
        for at in constants {
            self.constants[at] = true;
        }
        self.at += words;
        Ok(true)
    }

    /// Splits a word into short options; `None` if one of its letters is none.
    fn split_cluster(&self, word: &'w str) -> Result<Option<Cluster<'g, 'a>>, Misfit> {
        let mut cluster = Cluster { options: Vec::new(), constants: Vec::new(), words: 1 };
        for (start, short) in word.char_indices().skip(1) {
            // A letter that the command has as an option of its own, such as `-r` of `rm -rf`.
            let is_constant = |words: &Vec<String>| words.len() == 1 && words[0] == format!("-{short}");
            if let Some(at) = self.grammar.constants.iter().position(is_constant) {
                cluster.constants.push(at);
                continue;
            }

            let named: Vec<&'g Spelling<'a>> = self
                .grammar
                .options
                .iter()
                .filter(|one| one.template.short() == Some(short) && self.may_stand(one))
                .collect();
            // Where a value may be attached, the rest of the word is that value, as of `-i.bak` for `-i`.
            let may_be_attached = named.iter().any(|option| option.template.is_attached());
            let is_last = start + short.len_utf8() == word.len();
            let spelled = format!("-{}", &word[start..]);
            let words = [&[spelled.as_str()], &self.words[self.at + 1..]].concat();
            if let Some(bare) = named.iter().find(|option| option.template.is_bare())
                && (is_last || !may_be_attached)
                && !(is_last && self.takes_next(&named, &words))
            {
                cluster.options.push((bare, String::new(), String::new()));
                continue;
            }

            // Behind several letters, a program that leaves out the `=` of `-x=V` need not do so.
            let takes_equals = |one: &Spelling<'a>| {
                one.template.name().is_some_and(|name| name.ends_with('=') && spelled.starts_with(name))
            };
            if self.grammar.options.iter().any(takes_equals) {
                return Ok(None);
            }
            let read = named.iter().find_map(|option| Some((*option, option.template.read(&words)?)));
            let Some((option, read)) = read else { return Ok(None) };
            self.check_value(option, read.value)?;
            cluster.options.push((option, read.key.to_owned(), read.value.to_owned()));
            cluster.words = read.words;
            break;
        }
        Ok(Some(cluster))
    }

    /// Whether one of several options takes the word behind it as its value, as `-j` of make takes a number.
    fn takes_next(&self, options: &[&Spelling<'a>], words: &[&str]) -> bool {
        let mut reads = options.iter().filter_map(|option| Some((option, option.template.read(words)?)));
        reads.any(|(option, read)| read.words > 1 && is_plausible(option, &read) && self.is_free(option, &read))
    }

    /// Records what an option at this place says.
    fn give(&mut self, option: &Spelling<'a>, read: &FlagMatch<'_>) -> Result<(), Misfit> {
        let at = self.at;
        let name = || option.name().unwrap_or(self.words[at]);
        if option.is_withheld {
            return Err(Misfit::withheld(at, name(), self.grammar.tool.name()));
        }

        if option.arg.place() == Place::Cwd && self.found.given.contains_key(option.arg.name()) {
            let problem = format!("`{}` stands twice, and the second starts in the first", name());
            return Err(Misfit::new(at, problem));
        }

        if option.arg.place() == Place::Cwd && read.value.starts_with('~') {
            // A call expands it, and the program does not.
            let problem =
                format!("`{}` stands in quotes, so it names no home directory; write the path out", read.value);
            return Err(Misfit::new(at, problem));
        }

        if option.arg.is_ordered() {
            self.found.steps.push(Given::of(option.arg));
        }

        let given = match self.found.steps.last_mut() {
            Some(step) if option.arg.is_ordered() => step,
            _ => self.found.given.entry(option.arg.name()).or_insert_with(|| Given::of(option.arg)),
        };
        match &option.meaning {
            Meaning::Value => given.add(read.key, read.value),
            Meaning::Fixed(value) => given.add("", value),
            Meaning::Switch(on) => given.switches.push(*on),
            Meaning::Count => given.count = given.count.saturating_add(1),
        }

        Ok(())
    }

    /// The misfit of an option that the tool does not have.
    fn unknown(&self, word: &str) -> Misfit {
        let name = word.split('=').next().unwrap_or(word);
        if let Some(added) = self.grammar.added.iter().find(|added| added.names(word)) {
            let problem = format!("the config adds `{}` to every call; leave `{name}` out", added.words.join(" "));
            return Misfit::new(self.at, problem);
        }
        let problem = format!("`{name}` is no option here");
        Misfit { kind: MisfitKind::UnknownOption(name.to_owned()), ..Misfit::new(self.at, problem) }
    }
}

/// Short options in one word.
struct Cluster<'g, 'a> {
    /// The options, each with its key and value, which are empty but for the last.
    options: Vec<(&'g Spelling<'a>, String, String)>,
    /// The options of the command, by their places in the grammar.
    constants: Vec<usize>,
    /// The number of words that they take.
    words: usize,
}

/// Whether a value belongs to an option that is a dash and a number, such as `-5`. Others match every option.
fn is_plausible(option: &Spelling<'_>, read: &FlagMatch<'_>) -> bool {
    let is_dash = option.template.name() == Some("-");
    !is_dash || (option.arg.kind() == Type::Integer && read.value.parse::<u64>().is_ok())
}

/// Whether a word is a number below zero in digits.
fn is_negative_number(word: &str) -> bool {
    let is_number = |digits: &str| digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    word.strip_prefix('-').is_some_and(is_number) && word.parse::<f64>().is_ok()
}

/// Whether one flag of an arg takes several words.
fn takes_words(arg: ArgView<'_>) -> bool {
    matches!(arg.shape(), Shape::List(Spread::Words) | Shape::Map(Spread::Words))
}

/// A spelling and its match.
struct Found<'g, 'a, 'w> {
    option: &'g Spelling<'a>,
    read: FlagMatch<'w>,
    /// Whether its arg can take the value.
    is_free: bool,
}

/// Returns the match whose template holds more of the words. Of equals it is that which may stand in front only, then that
/// whose arg can take the value, then the first.
fn more_specific<'g, 'a, 'w>(best: Found<'g, 'a, 'w>, other: Found<'g, 'a, 'w>) -> Found<'g, 'a, 'w> {
    // `--host --open`: what looks like an option is no value of one that also stands alone.
    let is_value = |found: &Found<'_, '_, '_>| !is_option(found.read.value) || found.read.words < 2;
    let rank = |found: &Found<'_, '_, '_>| {
        (found.read.literal_bytes, found.option.zone == Zone::Front, found.is_free, is_value(found))
    };
    if rank(&other) > rank(&best) { other } else { best }
}
