//! Completes the word at the cursor of a command line, out of the served tools.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use climax_catalog::{ArgView, ResolvedTool, Shape, ToolIndex, quoted_words};

use super::command::{Command, is_option};
use super::grammar::{Grammar, Slot};
use super::respelling::{Respelled, spellings};
use super::scan::scan;
use super::spelling::Zone;

/// What a completion needs to know of its surroundings.
#[derive(Clone, Copy)]
pub struct CompletionContext<'c> {
    /// Returns whether a word of a line names the program that a config names.
    pub names_program: &'c dyn Fn(&str, &str) -> bool,
    /// Returns the paths that start with a text. A directory ends in `/`.
    pub paths: &'c dyn Fn(&str) -> Vec<String>,
}

/// What may replace a part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The part, in bytes of the line. It ends at the cursor.
    pub range: Range<usize>,
    /// What may stand there, sorted.
    pub candidates: Vec<Candidate>,
}

/// A text that may stand at the cursor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// The word, without quotes.
    pub text: String,
    /// What it means; may be empty.
    pub description: String,
    /// Whether the word is complete. A directory and an option with an attached value are not.
    pub is_whole: bool,
}

impl Candidate {
    /// The word as a line holds it: quoted where it needs that, with a space behind a complete one.
    #[must_use]
    pub fn written(&self) -> String {
        let is_plain = |c: char| c.is_alphanumeric() || "-_=./:@%+,~^".contains(c);
        let word = match self.text.as_str() {
            "" => Cow::from("''"),
            text if text.chars().all(is_plain) => Cow::from(text),
            text => Cow::from(format!("'{}'", text.replace('\'', "'\\''"))),
        };
        if self.is_whole { format!("{word} ") } else { word.into_owned() }
    }
}

/// Returns what may stand at the cursor, a place in bytes: programs, subcommands, options, values, paths.
///
/// There are no candidates where the line before the cursor cannot be read.
#[must_use]
pub fn complete(index: &ToolIndex, line: &str, cursor: usize, context: CompletionContext<'_>) -> Completion {
    let before = line.get(..cursor).unwrap_or(line);
    let Some((words, open)) = command_at_end(before) else {
        return Completion { range: cursor..cursor, candidates: Vec::new() };
    };
    let range = open.as_ref().map_or(before.len()..before.len(), |word| word.range.clone());
    let open = open.map_or_else(String::new, |word| word.text);
    let written: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let respelled = Respelled::of(index, &written, context.names_program);
    let words = respelled.as_ref().map_or_else(|| written.clone(), Respelled::words);
    let finder = Finder { words: &words, open: &open, context, found: BTreeMap::new() };
    let found = match words.as_slice() {
        [] if open.contains('/') => finder.paths(""),
        [] => finder.programs(index),
        ["cd"] => finder.directories(),
        _ => finder.arguments(index),
    };
    let candidate = |(text, (description, is_whole))| Candidate { text, description, is_whole };

    Completion { range, candidates: found.into_iter().map(candidate).collect() }
}

/// A word of a line: its text, and its place in bytes.
struct WrittenWord {
    text: String,
    range: Range<usize>,
}

/// Reads the words of the last command, and the word that the text ends in. Variables before the program are left out.
fn command_at_end(text: &str) -> Option<(Vec<WrittenWord>, Option<WrittenWord>)> {
    let written = |word: climax_shell::Word| Some(WrittenWord { text: word.literal()?, range: word.range });
    let (words, open) = climax_shell::last_command(text)?;
    let words = words.into_iter().map(written).collect::<Option<Vec<_>>>()?;
    match open {
        None => Some((words, None)),
        Some(open) => Some((words, Some(written(open)?))),
    }
}

/// Candidates by their text, each with its description and whether it is complete.
type Found = BTreeMap<String, (String, bool)>;

/// Finds candidates for the open word.
struct Finder<'f> {
    /// The words of the command before the open one.
    words: &'f [&'f str],
    /// The word at the cursor, up to it.
    open: &'f str,
    context: CompletionContext<'f>,
    found: Found,
}

/// A tool whose command starts with words of the line.
struct Fit<'a> {
    tool: ResolvedTool<'a>,
    command: Command,
    /// The number of its words in the line.
    depth: usize,
}

impl Fit<'_> {
    /// Whether the line has all words of the command.
    fn is_complete(&self) -> bool {
        self.command.words().nth(self.depth).is_none()
    }
}

impl Finder<'_> {
    /// Adds a candidate if it starts with the open word. The first of a text stays.
    fn add(&mut self, text: &str, description: &str, is_whole: bool) {
        if text.starts_with(self.open) {
            let entry = self.found.entry(text.to_owned());
            entry.or_insert_with(|| (description.to_owned(), is_whole));
        }
    }

    /// Adds the programs of all tools.
    fn programs(mut self, index: &ToolIndex) -> Found {
        for tool in index.tools().filter(|tool| !tool.is_native()) {
            let is_of_config = tool.cli().words().next().is_some();
            let description = if is_of_config { tool.cli().description() } else { tool.description() };
            for command in Command::all(tool) {
                let program = command.words().next().and_then(|word| word.rsplit('/').next());
                self.add(program.unwrap_or_default(), description, true);
            }
        }

        for (cli, (spelling, _)) in spellings(index) {
            let program = quoted_words(spelling).into_iter().next();
            self.add(&program.unwrap_or_default(), cli.description(), true);
        }

        self.add("cd", "Change the directory", true);
        self.found.remove("");

        self.found
    }

    /// Adds the paths that start with the open word behind `prefix`.
    fn paths(mut self, prefix: &str) -> Found {
        for path in (self.context.paths)(self.open.strip_prefix(prefix).unwrap_or_default()) {
            let is_whole = !path.ends_with('/');
            self.add(&format!("{prefix}{path}"), "", is_whole);
        }
        self.found
    }

    /// Adds the directories that start with the open word.
    fn directories(self) -> Found {
        let mut found = self.paths("");
        found.retain(|_, (_, is_whole)| !*is_whole);
        found
    }

    /// Adds subcommands, or what the tools whose commands are complete take.
    fn arguments(mut self, index: &ToolIndex) -> Found {
        let fits = self.fits(index);
        let grammars: Vec<(Grammar<'_>, bool)> =
            fits.iter().map(|fit| (Grammar::new(fit.tool, &fit.command), fit.is_complete())).collect();
        let is_behind_dashes = self.words.contains(&"--");
        if !is_behind_dashes && let Some((arg, prefix)) = grammars.iter().find_map(|(grammar, _)| self.value(grammar)) {
            return self.values(arg, &prefix);
        }

        if !is_behind_dashes && self.open.starts_with('-') {
            for (grammar, is_complete) in &grammars {
                self.options(grammar, *is_complete);
            }
            return self.found;
        }

        for fit in &fits {
            if let Some(word) = fit.command.words().nth(fit.depth) {
                self.add(word, fit.tool.description(), true);
            }
        }

        let complete = grammars.iter().filter(|(_, is_complete)| *is_complete);
        let operands: Vec<ArgView<'_>> = complete.filter_map(|(grammar, _)| self.operand(grammar)).collect();
        for arg in &operands {
            self.choices(*arg, "");
        }

        if operands.iter().any(|arg| arg.values().len() == 0) { self.paths("") } else { self.found }
    }

    /// Returns the tools of which most words stand in the line.
    fn fits<'a>(&self, index: &'a ToolIndex) -> Vec<Fit<'a>> {
        let tools = index.tools().filter(|tool| !tool.is_native());
        let all = tools.flat_map(|tool| Command::all(tool).into_iter().map(move |command| (tool, command)));
        let all = all.map(|(tool, command)| Fit { depth: self.depth(&command), tool, command });
        let mut fits: Vec<Fit<'_>> = all.filter(|fit| fit.depth > 0).collect();
        let deepest = fits.iter().map(|fit| fit.depth).max();
        fits.retain(|fit| Some(fit.depth) == deepest);
        fits
    }

    /// The number of words of a command that stand in the line one after the other, options with a value aside.
    fn depth(&self, command: &Command) -> usize {
        let mut at = 0;
        for (depth, word) in command.words().enumerate() {
            let is_same = |place: usize| match place {
                0 => (self.context.names_program)(self.words[0], word),
                _ => self.words[place] == word,
            };
            let may_skip =
                |place: usize| place > 0 && (is_option(self.words[place]) || is_option(self.words[place - 1]));
            while at < self.words.len() && !is_same(at) && may_skip(at) {
                at += 1;
            }
            if at == self.words.len() || !is_same(at) {
                return depth;
            }
            at += 1;
        }

        command.words().count()
    }

    /// Returns the arg whose value the open word is, and the part of the word before the value.
    fn value<'a>(&self, grammar: &Grammar<'a>) -> Option<(ArgView<'a>, String)> {
        let mut valued = grammar.options.iter().filter(|option| !option.is_withheld && !option.template.is_bare());
        let previous = self.words.last().copied();
        let detached =
            valued.clone().find(|option| option.template.fixed_words() == 1 && option.template.name() == previous);
        let attached = || {
            valued.find_map(|option| {
                let name = option.template.name().filter(|name| name.ends_with('=') && self.open.starts_with(name))?;
                Some((option.arg, name.to_owned()))
            })
        };

        detached.map(|option| (option.arg, String::new())).or_else(attached)
    }

    /// Adds the values of an arg behind `prefix`: its choices, or else paths.
    fn values(mut self, arg: ArgView<'_>, prefix: &str) -> Found {
        self.choices(arg, prefix);
        if arg.values().len() == 0 { self.paths(prefix) } else { self.found }
    }

    /// Adds the choices of an arg that are values behind `prefix`.
    fn choices(&mut self, arg: ArgView<'_>, prefix: &str) {
        for choice in arg.choices().filter(|choice| choice.words().is_none()) {
            self.add(&format!("{prefix}{}", choice.value), choice.title.unwrap_or_default(), true);
        }
    }

    /// Adds the options of a tool. Before its command is complete, these are the ones that may stand there.
    fn options(&mut self, grammar: &Grammar<'_>, is_complete: bool) {
        let options = grammar.options.iter().filter(|option| !option.is_withheld);
        let options = options.filter(|option| is_complete || option.zone == Zone::Front);
        // An option whose value may be a word of its own is listed so.
        let (detached, attached): (Vec<_>, Vec<_>) = options.partition(|option| option.template.fixed_words() > 0);

        for option in &detached {
            let name = option.template.name().filter(|name| !name.contains('=') && !self.is_given(option.arg, name));
            if let Some(name) = name {
                self.add(name, option.arg.description(), true);
            }
        }

        for option in &attached {
            let name = option.template.name().filter(|name| name.starts_with('-') && name.len() > 1);
            let name =
                name.filter(|name| !detached.iter().any(|other| other.name() == Some(name.trim_end_matches('='))));
            if let Some(name) = name {
                self.add(name, option.arg.description(), false);
            }
        }

        for constant in grammar.constants.iter().filter_map(|words| words.first()) {
            self.add(constant, grammar.tool.description(), true);
        }
    }

    /// Whether the line has an option of one value already.
    fn is_given(&self, arg: ArgView<'_>, name: &str) -> bool {
        arg.shape() == Shape::Single && self.words.contains(&name)
    }

    /// Returns the arg that takes the open word as an operand.
    fn operand<'a>(&self, grammar: &Grammar<'a>) -> Option<ArgView<'a>> {
        let operands = scan(grammar, self.words).map_or(0, |scanned| scanned.operands.len());
        let slots = grammar.slots.iter().filter(|slot| !matches!(slot, Slot::Dashes));
        let is_arg = |slot: &Slot<'a>| if let Slot::Arg(arg) = slot { Some(*arg) } else { None };
        let at_place = slots.clone().nth(operands).and_then(is_arg);
        at_place.or_else(|| slots.filter_map(is_arg).next_back().filter(|arg| arg.shape() != Shape::Single))
    }
}
