//! Plans the command line of a call.
//!
//! Pure. Each value becomes one word or the end of one. No value is split, and no shell is involved.

use std::path::{Path, PathBuf};
use std::time::Duration;

use climax_catalog::expansion::{self, Lookup};
use climax_catalog::template::{self, Piece};
use climax_catalog::{ArgView, CliView, Place, ResolveView, ResolvedTool, Type};

use crate::call::arguments::{Bound, BoundValue};
use crate::exec::Invocation;

/// Plans a call: base words, subcommand words, positionals, options, global args, in this order.
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

/// Describes a call of a native tool, in the form of a command line.
fn native(tool: ResolvedTool<'_>, bound: &Bound<'_>) -> Invocation {
    let values = bound.iter().map(|(arg, value)| format!("{}={value}", arg.name()));
    Invocation {
        argv: std::iter::once(tool.name().to_owned()).chain(values).collect(),
        env: Vec::new(),
        program_dir: None,
        cwd: None,
        stdin: None,
        files_dir: None,
        timeout: timeout(tool),
    }
}

/// Plans the command line of a program.
fn command(tool: ResolvedTool<'_>, bound: &Bound<'_>, env: Lookup<'_>) -> Invocation {
    let cli = tool.cli();
    let mut argv = words(cli, tool.words(), env);
    let mut options = Vec::new();
    let program_dir = cli.working_dir().map(PathBuf::from);
    let mut cwd = program_dir.clone();
    let mut stdin = None;
    for (arg, value) in bound.iter() {
        match arg.place() {
            Place::Positional => argv.push(value.to_string()),
            Place::Cwd => cwd = Some(directory(&value.to_string(), program_dir.as_deref(), env)),
            Place::Stdin => stdin = Some(value.to_string()),
            Place::Flag | Place::Joined | Place::Switch => option(&mut options, arg, value),
        }
    }
    argv.append(&mut options);
    global_options(&mut argv, cli, env);
    Invocation {
        argv,
        env: cli.env().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        program_dir,
        cwd,
        stdin,
        files_dir: None,
        timeout: timeout(tool),
    }
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
    global_options(&mut argv, tool.cli(), env);
    Invocation {
        argv,
        stdin: None,
        files_dir: None,
        timeout: Duration::from_millis(resolve.timeout_ms().into()),
        ..call.clone()
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

/// Adds the words of an option.
fn option(words: &mut Vec<String>, arg: ArgView<'_>, value: &BoundValue) {
    match (arg.place(), value) {
        (_, BoundValue::Boolean(false)) => {}
        (Place::Switch, _) => words.push(arg.flag().to_owned()),
        (Place::Joined, _) => words.push(format!("{}{value}", arg.flag())),
        _ => words.extend([arg.flag().to_owned(), value.to_string()]),
    }
}

/// Adds the words of the CLI's global args.
fn global_options(words: &mut Vec<String>, cli: CliView<'_>, env: Lookup<'_>) {
    for arg in cli.global_args() {
        if let Some(value) = global_value(arg, env) {
            option(words, arg, &value);
        }
    }
}

/// Returns the value of a global arg: its default, expanded. `None` if a variable in it is unset or empty.
fn global_value(arg: ArgView<'_>, env: Lookup<'_>) -> Option<BoundValue> {
    let text = expansion::global_default(arg.default()?, env)?;
    Some(match arg.kind() {
        Type::Boolean => BoundValue::Boolean(matches!(text.as_str(), "true" | "True" | "1")),
        Type::String | Type::Integer | Type::Number => BoundValue::String(text),
    })
}
