//! Reads the words of a command back into a tool and its arguments: the inverse of planning a command line.

use std::cmp::Reverse;

use climax_catalog::expansion::Lookup;
use climax_catalog::{ArgView, CommandPart, Place, ResolvedTool, Risk, ToolIndex, Type, quoted_words};
use serde_json::{Map, Value};

use super::about::asks_about_itself;
use super::command::{Command, is_option};
use super::command_words::{CommandWords, Undescribed};
use super::grammar::{Grammar, Slot};
use super::operands::OperandPlace;
use super::respelling::Respelled;
use super::said::{Said, Typed, said};
use super::scan::{Misfit, MisfitKind};
use super::unread::{Failure, Unread, unread};
use super::variables::check_set_by_env;
use crate::call::arguments::{Bound, Input, Problem, Violation, bind_line};
use crate::call::command_line;
use crate::call::refusal::Refusal;
use crate::call::risk;
use crate::call::typed_words::TypedWords;
use crate::exec::Invocation;

/// Maximum commands that start one another in one command.
pub(crate) const MAX_STARTED_DEPTH: usize = 8;

/// A command, read.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    /// The tool.
    pub tool: ResolvedTool<'a>,
    /// Its arguments. Of an option of one value that stands several times, the last.
    pub arguments: Map<String, Value>,
    /// The values of options that stand again further on. The program may let the last win; checks are for all of them.
    pub repeated: Vec<(String, Value)>,
    /// The words that run.
    pub typed: TypedWords,
    /// The typed words that are operands, with their args.
    pub operands: Vec<OperandPlace>,
    /// The command that it starts, such as `git log` of `timeout 5 git log`.
    pub started: Option<Box<StartedCommand<'a>>>,
    /// The words of another spelling that the line has for the program alone, such as `pip3` or `python3 -m pip`.
    pub spelling: Option<Vec<String>>,
    /// The variables that the line gives a program which no config describes; `None` if one does.
    pub unknown: Option<Vec<(String, String)>>,
}

/// Returns the program that the words of another spelling name, in place of that of the config; `None` if there is no other.
pub type FindSpelled<'f> = &'f dyn Fn(&[String], &str) -> Option<String>;

/// A command that stands among the words of another one.
#[derive(Clone, Debug)]
pub struct StartedCommand<'a> {
    /// The place of its program among the typed words of the other one.
    pub first_word: usize,
    /// The tool and its arguments.
    pub reading: Reading<'a>,
}

/// Reads a command.
///
/// Of the tools that take all words, the one with the most words of its command in the line wins. Between equals, fewest
/// added words win, then the lower risk, then the order of definition. Defaults do not apply.
///
/// # Errors
/// The problem of the tool that takes most of the words.
pub fn read<'a>(index: &'a ToolIndex, command: CommandWords<'_>) -> Result<Reading<'a>, Unread> {
    let useful = |unread| if command.explains { with_useful_suggestions(index, command, unread) } else { unread };
    read_at(index, command, 0).map_err(useful)
}

/// Leaves out the suggestions with which no tool would take more of the words.
pub(crate) fn with_useful_suggestions(index: &ToolIndex, command: CommandWords<'_>, mut unread: Unread) -> Unread {
    let at = unread.word;
    let Some(word) = command.words.get(at) else { return unread };
    let value = word.split_once('=').map(|(_, value)| value).filter(|_| is_option(word));
    let is_useful = |near: &String| {
        let spelled = value.map_or_else(|| near.clone(), |value| format!("{near}={value}"));
        let mut words = command.words.to_vec();
        words[at] = &spelled;
        // Whoever reads a line tries the command without its input too.
        [command.input, Input::Nothing].into_iter().any(|input| {
            match read_at(index, CommandWords { words: &words, input, ..command }, 0) {
                Ok(_) => true,
                // Another program must at least seem to be meant by the words behind it.
                Err(next) => next.word > at && (at > 0 || next.tool.is_some() || !next.suggestions.is_empty()),
            }
        })
    };
    unread.suggestions.retain(is_useful);

    unread
}

/// Reads a command that stands in `depth` others.
fn read_at<'a>(index: &'a ToolIndex, command: CommandWords<'_>, depth: usize) -> Result<Reading<'a>, Unread> {
    if depth > MAX_STARTED_DEPTH {
        let problem = format!("more than {MAX_STARTED_DEPTH} commands start one another");
        return Err(Unread { word: 0, problem, suggestions: Vec::new(), tool: None, is_withheld: false });
    }
    read_spelled(index, command, depth).or_else(|unread| {
        let is_question = !unread.is_withheld && asks_about_itself(index, command);
        let tool = if is_question { (command.unknown)(Undescribed::Question) } else { None };
        tool.map(|tool| unknown_program(tool, command)).ok_or(unread)
    })
}

/// Reads a command by the tools of its program, in each of the spellings that the program has.
fn read_spelled<'a>(index: &'a ToolIndex, command: CommandWords<'_>, depth: usize) -> Result<Reading<'a>, Unread> {
    let read = match Respelled::of(index, command.words, command.names_program) {
        None => {
            return match (command.unknown)(Undescribed::Program(command.words)) {
                Some(tool) => Ok(unknown_program(tool, command)),
                None => read_words(index, command, depth),
            };
        }
        Some(respelled) => {
            let words = respelled.words();
            let read = read_words(index, CommandWords { words: &words, ..command }, depth)
                .map(|reading| Reading { spelling: respelled.of_program(), ..reading })
                .map_err(|unread| Unread { word: respelled.place(unread.word), ..unread });
            if respelled.has_several_words() {
                return read;
            }
            read
        }
    };
    // The program may have a config of its own.
    read.or_else(|unread| read_words(index, command, depth).map_err(|_| unread))
}

/// Makes the reading of words that no config describes, by the tool that runs them. Nothing is known of them.
fn unknown_program(tool: ResolvedTool<'static>, command: CommandWords<'_>) -> Reading<'static> {
    let words: Vec<String> = command.words.iter().map(|word| (*word).to_owned()).collect();
    let mut arguments = Map::new();
    arguments.insert("program".to_owned(), words[0].as_str().into());
    if words.len() > 1 {
        arguments.insert("arguments".to_owned(), words[1..].into());
    }
    let variables = command.variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));

    let typed = TypedWords { words, ..TypedWords::default() };
    let operands = Vec::new();
    Reading {
        tool,
        arguments,
        repeated: Vec::new(),
        typed,
        operands,
        started: None,
        spelling: None,
        unknown: Some(variables.collect()),
    }
}

impl Reading<'_> {
    /// Returns whether the line gives an arg.
    #[must_use]
    pub fn gives(&self, arg: ArgView<'_>) -> bool {
        self.arguments.contains_key(arg.name())
    }

    /// Plans the command that was read, without the one that it starts. `bound` are its checked arguments, and `find` returns
    /// the program that another spelling names.
    #[must_use]
    pub fn plan(&self, bound: &Bound<'_>, env: Lookup<'_>, find: FindSpelled<'_>) -> Invocation {
        if let Some(variables) = &self.unknown {
            let planned = command_line::plan(self.tool, bound, env);
            return Invocation { argv: self.typed.words.clone(), env: variables.clone(), ..planned };
        }
        let is_typed = |name: &str| self.arguments.contains_key(name);
        let mut planned = command_line::plan_line(self.tool, bound, &self.typed, &is_typed, env);
        // A config that names its program by a path means that file.
        if let (Some(spelling), Some(program)) = (&self.spelling, planned.argv.first_mut())
            && !program.contains('/')
            && let Some(found) = find(spelling, program)
        {
            *program = found;
        }
        planned
    }

    /// Converts and checks the arguments, those of repeated options too.
    ///
    /// # Errors
    /// All violations.
    pub fn bind(&self, input: Input<'_>) -> Result<Bound<'_>, Vec<Violation>> {
        bind_line(self.tool, &self.arguments, input)?.with_repeated(self.tool, &self.repeated)
    }

    /// Converts and checks the arguments, whether or not the command has a standard input.
    ///
    /// # Errors
    /// All violations without one.
    pub(crate) fn bind_with_any_input(&self) -> Result<Bound<'_>, Vec<Violation>> {
        self.bind(Input::Pipe).or_else(|_| self.bind(Input::Nothing))
    }
}

/// Reads a command as it stands.
fn read_words<'a>(index: &'a ToolIndex, command: CommandWords<'_>, depth: usize) -> Result<Reading<'a>, Unread> {
    let candidates = candidates(index, command);
    let separates = candidates.iter().any(|candidate| candidate.grammar.separates());
    let mut best: Option<(Rank, Reading<'a>)> = None;
    let mut failed: Vec<Box<Failure<'a>>> = Vec::new();

    for candidate in candidates {
        match read_as(index, candidate, (command, separates), depth) {
            Ok((rank, reading)) if best.as_ref().is_none_or(|(other, _)| rank > *other) => best = Some((rank, reading)),
            Ok(_) => {}
            Err(failure) => failed.push(failure),
        }
    }

    best.map(|(_, reading)| reading).ok_or_else(|| unread(index, command, &failed))
}

/// A tool whose command the line may have, in one of its spellings.
struct Candidate<'a> {
    grammar: Grammar<'a>,
    /// The number of words of its command, with those of options.
    command_words: usize,
    /// The words of its command that are no options.
    plain_words: usize,
}

impl<'a> Candidate<'a> {
    /// Makes the candidate of a tool whose command is spelled like this. `program` is the first word of the line, which
    /// names the program, perhaps by its path.
    fn new(tool: ResolvedTool<'a>, command: &Command, program: &str) -> Self {
        let mut grammar = Grammar::new(tool, command);
        if let Some(Slot::Word(first)) = grammar.slots.first_mut() {
            program.clone_into(first);
        }
        Self { grammar, command_words: command.len(), plain_words: command.words().count() }
    }
}

/// The order of readings: more words of the command, fewer added words, lower risk.
type Rank = (usize, Reverse<usize>, Reverse<Risk>);

/// Returns the tools whose command words stand in the line in this order.
fn candidates<'a>(index: &'a ToolIndex, command: CommandWords<'_>) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    let runs = |parts: &mut dyn Iterator<Item = CommandPart<'_>>| match parts.next() {
        Some(CommandPart::Word(word)) => (command.names_program)(command.words[0], word),
        _ => true,
    };
    for (cli, tools) in index.groups() {
        if !runs(&mut cli.parts()) {
            continue;
        }
        for tool in tools.filter(|tool| !tool.is_native() && may_fit(*tool, command)) {
            let spellings = Command::all(tool).into_iter();
            let fitting = spellings.filter(|spelling| has_words(spelling, command));
            found.extend(fitting.map(|spelling| Candidate::new(tool, &spelling, command.words[0])));
        }
    }

    found
}

/// Whether the first own word of a tool, in one of its spellings, stands in the line.
///
/// Most tools of a program fail here, before the spellings of their commands are made.
fn may_fit(tool: ResolvedTool<'_>, command: CommandWords<'_>) -> bool {
    let stands = |word: &str| command.words.contains(&word) || (command.names_program)(command.words[0], word);
    let own = tool.parts().find_map(|part| match part {
        CommandPart::Word(word) if !is_option(word) => Some(word),
        _ => None,
    });
    own.is_none_or(stands) || tool.aliases().filter_map(selecting_word).any(|word| stands(&word))
}

/// Returns the word of a spelling by which a line selects it: the first that is no option, or else its first option, such
/// as `--version`.
fn selecting_word(alias: &str) -> Option<String> {
    let words = quoted_words(alias);
    words.iter().find(|word| !is_option(word)).or(words.first()).cloned()
}

/// Whether the words of a command stand in the line, in this order, the program first.
fn has_words(own: &Command, command: CommandWords<'_>) -> bool {
    let mut line = command.words.iter();
    let mut own = own.words();
    let (Some(program), Some(first)) = (own.next(), line.next()) else { return false };
    (command.names_program)(first, program) && own.all(|word| line.any(|other| *other == word))
}

/// Reads a command as one of a tool.
fn read_as<'a>(
    index: &'a ToolIndex,
    Candidate { grammar, command_words, plain_words }: Candidate<'a>,
    (command, separates): (CommandWords<'_>, bool),
    depth: usize,
) -> Result<(Rank, Reading<'a>), Box<Failure<'a>>> {
    let tool = grammar.tool;
    let given = Typed { words: command.words, variables: command.variables, input: command.input };
    let Said { arguments, repeated, operands, typed } = match said(&grammar, given, separates) {
        Ok(found) => found,
        Err(misfit) => {
            return Err(Box::new(Failure::new(grammar, plain_words, misfit)));
        }
    };
    let added_words = typed.base_options.len() + typed.base_always.len() + typed.always.len();
    let bound = bind_line(tool, &arguments, command.input).and_then(|bound| bound.with_repeated(tool, &repeated));
    let rank = match bound {
        Ok(bound) => (command_words, Reverse(added_words), Reverse(risk::of_call(tool, &bound))),
        Err(violations) => {
            // A switch that a tool cannot do without tells it from others, as an option in its command does.
            let is_switch = |name: &str| tool.args().any(|arg| arg.name() == name && arg.kind() == Type::Boolean);
            let lacks_switch =
                violations.iter().any(|found| matches!(found.problem, Problem::Missing) && is_switch(&found.argument));
            let misfit = if lacks_switch {
                Misfit { kind: MisfitKind::MissingConstant, ..Misfit::new(0, "a switch is missing") }
            } else {
                Misfit::new(command.words.len() + 1, "an argument cannot be used")
            };
            let misnamed = operands.iter().find_map(|operand| allowed_values(operand, &violations));
            return Err(Box::new(Failure { violations, misnamed, ..Failure::new(grammar, plain_words, misfit) }));
        }
    };

    match started(index, tool, &operands, command, depth) {
        Ok(started) => {
            Ok((rank, Reading { tool, arguments, repeated, typed, operands, started, spelling: None, unknown: None }))
        }
        Err(unread) => {
            let misfit = Misfit::new(unread.word, unread.problem.clone());
            Err(Box::new(Failure { started: Some(unread), ..Failure::new(grammar, plain_words, misfit) }))
        }
    }
}

/// Returns the place of an operand and the values of its arg if it is none of these.
fn allowed_values(operand: &OperandPlace, violations: &[Violation]) -> Option<(usize, Vec<String>)> {
    violations.iter().filter(|violation| violation.argument == operand.arg).find_map(|violation| {
        match &violation.problem {
            Problem::NotInEnum { allowed } => Some((operand.word, allowed.clone())),
            _ => None,
        }
    })
}

/// Reads a command that another one starts. It runs in the directory of that one.
///
/// # Errors
/// No tool takes the words, or they name a directory.
pub fn read_started<'a>(index: &'a ToolIndex, command: CommandWords<'_>, depth: usize) -> Result<Reading<'a>, Unread> {
    if let Err(Refusal { problem, remedy }) = check_set_by_env(command.words.iter().copied()) {
        let problem = format!("{problem}; {remedy}");
        return Err(Unread { word: 0, problem, suggestions: Vec::new(), tool: None, is_withheld: false });
    }
    let reading = read_at(index, command, depth)?;
    let cwd = reading.tool.args().find(|arg| arg.place() == Place::Cwd);
    match cwd.filter(|cwd| reading.arguments.contains_key(cwd.name())) {
        None => Ok(reading),
        Some(cwd) => {
            let problem = format!("`{}` gives it a directory of its own; give it to the whole line", cwd.name());
            Err(Unread { word: 0, problem, suggestions: Vec::new(), tool: None, is_withheld: false })
        }
    }
}

/// Reads the command that a tool starts; `None` if it starts none.
fn started<'a>(
    index: &'a ToolIndex,
    tool: ResolvedTool<'a>,
    operands: &[OperandPlace],
    command: CommandWords<'_>,
    depth: usize,
) -> Result<Option<Box<StartedCommand<'a>>>, Unread> {
    let Some(arg) = tool.started_command() else { return Ok(None) };
    let Some(first_word) = operands.iter().find(|place| place.arg == arg.name()).map(|place| place.word) else {
        return Ok(None);
    };
    let words = CommandWords { words: &command.words[first_word..], variables: &[], ..command };

    match read_started(index, words, depth + 1) {
        Ok(reading) => Ok(Some(Box::new(StartedCommand { first_word, reading }))),
        Err(unread) => Err(Unread { word: first_word + unread.word, ..unread }),
    }
}
