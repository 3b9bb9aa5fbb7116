//! Plans the command line of a call.
//!
//! Pure. Each value becomes one word or a part of one. No value is split, and no shell is involved.

use std::path::{Path, PathBuf};
use std::time::Duration;

use climax_catalog::expansion::{self, Lookup};
use climax_catalog::template::{self, Piece};
use climax_catalog::{ArgView, CliView, CommandPart, EnvValue, Place, ResolveView, ResolvedTool, Rest, Shape, Type};

use crate::call::arguments::{Bound, BoundValue};
use crate::call::typed_words::TypedWords;
use crate::call::words;
use crate::exec::{Invocation, Rights, SecretSource};

/// Plans a call: the words of its command line, its environment, directory and standard input.
///
/// `env` looks up variables of the server's environment, which expand words of the config. A native tool has no command
/// line; its plan is a description for the user who approves the call.
///
/// Source: `docs/contract.md`, "Command line".
///
/// ```
/// use climax::call::{arguments, command_line};
/// use climax::catalog::{Layer, ToolIndex};
/// use serde_json::{Map, json};
///
/// let index = ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]);
/// let git_log = index.get("git_log").expect("this package compiles it in");
/// let arguments = Map::from_iter([("max_count".to_owned(), json!(3))]);
/// let bound = arguments::bind(git_log, &arguments).expect("the arguments are valid");
///
/// let invocation = command_line::plan(git_log, &bound, &climax::exec::variable);
/// assert_eq!(invocation.argv[..2], ["git", "log"]);
/// ```
#[must_use]
pub fn plan(tool: ResolvedTool<'_>, bound: &Bound<'_>, env: Lookup<'_>) -> Invocation {
    if tool.is_native() { native(tool, bound) } else { command(tool, bound, env) }
}

/// Plans a command that was read from a line: its words as they were typed, with what the config and the policy add.
///
/// Added are, where a call has them, the options of the base command, `always`, `global_args` and values that a policy
/// fixes. `is_typed` returns whether the line gives an arg, by its name. Environment, standard input and timeout are those
/// of a call. The directory is too; where an option of the line names one, the caller leaves it to the program.
#[must_use]
pub fn plan_line(
    tool: ResolvedTool<'_>,
    bound: &Bound<'_>,
    typed: &TypedWords,
    is_typed: &dyn Fn(&str) -> bool,
    env: Lookup<'_>,
) -> Invocation {
    let planned = command(tool, bound, env);
    let cli = tool.cli();
    let expanded = |words: &[String]| words.iter().map(|word| expansion::command_word(word, env)).collect();
    let mut added = vec![
        (typed.base_at, expanded(&typed.base_options)),
        (typed.base_at, typed.base_always.clone()),
        (typed.options_at, typed.always.clone()),
    ];
    let fixed = bound.iter().filter(|(arg, _)| arg.fixed().is_some() && !is_typed(arg.name()));
    for (arg, value) in fixed {
        let at = match arg.place() {
            Place::Positional => place_of_operand(tool, arg, typed).unwrap_or(typed.operands_end),
            _ if cli.parts().any(|part| part == CommandPart::Arg(arg.name())) => typed.base_at,
            _ => typed.options_at,
        };
        added.push((at, words::words_of_argument(tool, arg, value)));
    }
    added.push((typed.options_at, global_words(tool, env)));

    let mut argv = typed.with(added);
    // The program is the one that the config names, by its path if it has one.
    if let (Some(first), Some(program)) = (argv.first_mut(), planned.argv.first()) {
        first.clone_from(program);
    }
    Invocation { argv, ..planned }
}

/// The place of the first operand that stands behind those of an arg; `None` if there is none.
fn place_of_operand(tool: ResolvedTool<'_>, arg: ArgView<'_>, typed: &TypedWords) -> Option<usize> {
    let behind: Vec<&str> =
        tool.positionals().skip_while(|other| other.name() != arg.name()).skip(1).map(ArgView::name).collect();
    typed.operands.iter().filter(|(_, name)| behind.contains(&name.as_str())).map(|(at, _)| *at).min()
}

/// Returns the directory of a command whose line starts in `line`; `None` if it is that of this process.
#[must_use]
pub fn directory_of_line(tool: ResolvedTool<'_>, line: Option<&str>) -> Option<PathBuf> {
    let own = tool.cli().working_dir().map(PathBuf::from);
    match (own, line) {
        (own, None) => own,
        (None, Some(line)) => Some(line.into()),
        (Some(own), Some(line)) => Some(own.join(line)),
    }
}

/// Describes a call of a native tool, in the form of a command line.
fn native(tool: ResolvedTool<'_>, bound: &Bound<'_>) -> Invocation {
    let values = bound.iter().map(|(arg, value)| format!("{}={value}", arg.name()));
    let argv = std::iter::once(tool.name().to_owned()).chain(values).collect();
    Invocation::new(argv, timeout(tool))
}

/// Plans the command line of a program.
fn command(tool: ResolvedTool<'_>, bound: &Bound<'_>, env: Lookup<'_>) -> Invocation {
    let cli = tool.cli();
    let mut invocation = Invocation {
        env: literal_variables(cli),
        secrets: secrets(cli, env),
        program_dir: cli.working_dir().map(PathBuf::from),
        cwd: directory_of_call(tool, bound, env),
        ..Invocation::new(line(tool, bound, env), timeout(tool))
    };

    for (arg, value) in bound.iter() {
        match arg.place() {
            Place::Stdin => invocation.stdin = Some(value.to_string()),
            Place::Variable => invocation.env.extend(arg.variable().map(|name| (name.to_owned(), value.to_string()))),
            Place::Positional | Place::Option | Place::Cwd => {}
        }
    }

    invocation
}

/// Returns the variables of a CLI whose values its config writes.
#[must_use]
pub fn literal_variables(cli: CliView<'_>) -> Vec<(String, String)> {
    let literal = |(name, value): (&str, EnvValue<'_>)| match value {
        EnvValue::Literal(text) => Some((name.to_owned(), text.to_owned())),
        EnvValue::From(_) | EnvValue::File(_) => None,
    };
    cli.env().filter_map(literal).collect()
}

/// Returns the variables of a CLI whose values come from elsewhere.
pub(crate) fn secrets(cli: CliView<'_>, env: Lookup<'_>) -> Vec<(String, SecretSource)> {
    let secret = |(name, value): (&str, EnvValue<'_>)| {
        let source = match value {
            EnvValue::Literal(_) => return None,
            EnvValue::From(variable) => SecretSource::Variable(variable.to_owned()),
            EnvValue::File(path) => SecretSource::File(expansion::policy_path(path, env)),
        };
        Some((name.to_owned(), source))
    };
    cli.env().filter_map(secret).collect()
}

/// Returns the words of a command line: the parts of the command in order, then what has no place of its own.
///
/// Without places these are positionals, then options. With a rest they are options, then positionals.
fn line(tool: ResolvedTool<'_>, bound: &Bound<'_>, env: Lookup<'_>) -> Vec<String> {
    let cli = tool.cli();
    let parts: Vec<CommandPart<'_>> = cli.parts().chain(tool.parts()).collect();
    let given = |name: &str| bound.iter().find(|(arg, _)| arg.name() == name);
    let words_of =
        |name: &str| given(name).map(|(arg, value)| words::words_of_argument(tool, arg, value)).unwrap_or_default();
    let unplaced = |place: Place| {
        let own = bound.iter().filter(move |(arg, _)| arg.place() == place);
        let own = own.filter(|(arg, _)| !parts.contains(&CommandPart::Arg(arg.name())));
        own.flat_map(|(arg, value)| words::words_of_argument(tool, arg, value))
    };
    let options = || tool.always().map(str::to_owned).chain(unplaced(Place::Option)).chain(global_words(tool, env));
    let mut argv = Vec::new();
    let mut dashes = None;
    let base = cli.parts().count();

    for (at, part) in parts.iter().enumerate() {
        if at == base {
            argv.extend(cli.always().map(str::to_owned));
        }
        match *part {
            CommandPart::Word("--") if matches!(parts.get(at + 1), Some(CommandPart::Arg(_))) => {
                dashes = Some(argv.len());
                argv.push("--".to_owned());
            }
            // The first word names the program.
            CommandPart::Word(word) if at < base || argv.is_empty() => argv.push(expansion::command_word(word, env)),
            CommandPart::Word(word) => argv.push(word.to_owned()),
            CommandPart::Arg(name) => argv.extend(words_of(name)),
            CommandPart::Options => argv.extend(options()),
        }
    }

    if parts.len() == base {
        argv.extend(cli.always().map(str::to_owned));
    }

    let has_place = parts.contains(&CommandPart::Options);
    let has_rest = tool.args().any(|arg| matches!(arg.shape(), Shape::Rest(_)));
    if !has_place && has_rest {
        argv.extend(options());
    }

    argv.extend(unplaced(Place::Positional));
    if !has_place && !has_rest {
        argv.extend(options());
    }

    // Without a word behind it, a `--` before a place says nothing.
    argv.truncate(dashes.filter(|dashes| dashes + 1 == argv.len()).unwrap_or(argv.len()));

    argv
}

/// Puts the planned words of a command that the program starts in the place of those that were given, with its
/// environment and standard input. The longer timeout holds.
pub fn start(invocation: &mut Invocation, bound: &Bound<'_>, started: &Invocation) {
    let given = bound.iter().find(|(arg, _)| arg.shape() == Shape::Rest(Rest::Command));
    // The words of a rest end the command line.
    let words = given.map_or(0, |(_, value)| value.words().count());
    invocation.argv.truncate(invocation.argv.len() - words);
    invocation.argv.extend(started.argv.iter().cloned());
    invocation.env.extend(started.env.iter().cloned());
    invocation.secrets.extend(started.secrets.iter().cloned());
    let is_caged = |one: &Invocation| one.confinement.as_ref().is_some_and(|rights| rights.cage.is_some());
    match (is_caged(invocation), is_caged(started)) {
        // A cage holds whatever starts in it, and whatever starts it.
        (false, true) => {
            invocation.inherited.clone_from(&started.inherited);
            invocation.confinement.clone_from(&started.confinement);
        }
        (true, false) => {}
        (false, false) | (true, true) => {
            invocation.inherited = both(invocation.inherited.take(), started.inherited.as_ref(), Extend::extend);
            invocation.confinement = both(invocation.confinement.take(), started.confinement.as_ref(), Rights::widen);
        }
    }
    invocation.names_this_machine = started.names_this_machine;
    invocation.stdin = started.stdin.clone().or(invocation.stdin.take());
    invocation.timeout = invocation.timeout.max(started.timeout);
}

/// Joins what two programs may reach. `None` is all there is.
fn both<T: Clone>(own: Option<T>, other: Option<&T>, join: impl Fn(&mut T, T)) -> Option<T> {
    let (mut own, other) = (own?, other?.clone());
    join(&mut own, other);
    Some(own)
}

/// Returns the words of the global args.
fn global_words(tool: ResolvedTool<'_>, env: Lookup<'_>) -> Vec<String> {
    let given = tool.cli().global_args().filter_map(|arg| Some((arg, global_value(arg, env)?)));
    given.flat_map(|(arg, value)| words::words_of_argument(tool, arg, &value)).collect()
}

fn timeout(tool: ResolvedTool<'_>) -> Duration {
    Duration::from_millis(tool.timeout_ms().into())
}

/// Plans a look-up of a tool's `resolve`. It differs from the call in its subcommand, args and timeout.
///
/// The CLI's global args belong to it, because an account or a server may stand in them.
/// An arg of the look-up is left out if its template names an arg without a value.
#[must_use]
pub fn resolve(
    tool: ResolvedTool<'_>,
    resolve: ResolveView<'_>,
    bound: &Bound<'_>,
    call: &Invocation,
    env: Lookup<'_>,
) -> Invocation {
    let mut argv = words(tool.cli(), resolve.words(), env);
    for (name, template) in resolve.args() {
        if let Some(value) = filled(template, bound) {
            argv.extend([format!("--{}", name.replace('_', "-")), value]);
        }
    }

    argv.extend(global_words(tool, env));
    Invocation {
        argv,
        stdin: None,
        files_dir: None,
        timeout: Duration::from_millis(resolve.timeout_ms().into()),
        ..call.clone()
    }
}

/// Returns the directory of a call; `None` if it is that of this process.
#[must_use]
pub fn directory_of_call(tool: ResolvedTool<'_>, bound: &Bound<'_>, env: Lookup<'_>) -> Option<PathBuf> {
    let own = tool.cli().working_dir().map(Path::new);
    let given = bound.iter().filter(|(arg, _)| arg.place() == Place::Cwd).last();
    match given {
        Some((_, value)) => Some(directory(&value.to_string(), own, env)),
        None => own.map(Path::to_owned),
    }
}

/// Returns the directory that the value of a `cwd` arg names.
///
/// A leading `~` is the home directory. A relative path starts at the config's `working_dir`.
fn directory(value: &str, working_dir: Option<&Path>, env: Lookup<'_>) -> PathBuf {
    let path = PathBuf::from(expansion::home(value, env));
    match working_dir {
        Some(base) => base.join(path),
        None => path,
    }
}

/// Returns the words of the base command and of a subcommand.
fn words<'a>(cli: CliView<'a>, subcommand: impl Iterator<Item = &'a str>, env: Lookup<'_>) -> Vec<String> {
    let mut words: Vec<String> = cli.words().map(|word| expansion::command_word(word, env)).collect();
    words.extend(cli.always().map(str::to_owned));
    for word in subcommand {
        // Without a base command the first word of the subcommand names the program.
        words.push(if words.is_empty() { expansion::command_word(word, env) } else { word.to_owned() });
    }
    words
}

/// Fills in a template; `None` if it names an arg without a value.
fn filled(template: &str, bound: &Bound<'_>) -> Option<String> {
    let pieces = template::parse(template).into_iter().map(|(range, piece)| match piece {
        Piece::Literal(text) => Some(text.to_owned()),
        Piece::Placeholder(name) => bound.get(name).map(ToString::to_string),
        Piece::Malformed(_) => Some(template[range].to_owned()),
    });
    pieces.collect()
}

/// Returns the value of a global arg: its default, expanded. `None` if a variable in it is unset or empty.
fn global_value(arg: ArgView<'_>, env: Lookup<'_>) -> Option<BoundValue> {
    let text = expansion::global_default(arg.default()?, env)?;
    Some(match arg.kind() {
        Type::Boolean => BoundValue::Boolean(matches!(text.as_str(), "true" | "True" | "1")),
        Type::String | Type::Integer | Type::Number => BoundValue::String(text),
    })
}
