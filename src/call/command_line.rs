//! The command line of a call.
//!
//! Pure. Each value becomes one word or the end of one; nothing is split, quoted or joined into a shell line.

use std::path::PathBuf;
use std::time::Duration;

use climax_catalog::template::{self, Piece};
use climax_catalog::{ArgView, CliView, Place, ResolveView, ResolvedTool, Type};

use crate::call::arguments::{Bound, BoundValue};
use crate::exec::Invocation;
use climax_catalog::expansion::{self, Lookup};

/// Plans a call: base words, subcommand words, positionals, options, global args, in this order.
///
/// `env` is the server's environment, by which words of the config expand. A tool that is written in Rust has no command
/// line; what stands for it is made for those who are asked about the call.
#[must_use]
pub fn plan(tool: ResolvedTool<'_>, bound: &Bound<'_>, env: Lookup<'_>) -> Invocation {
    let timeout = Duration::from_millis(tool.timeout_ms().into());
    if tool.is_native() {
        let values = bound.iter().map(|(arg, value)| format!("{}={value}", arg.name()));
        let argv = std::iter::once(tool.name().to_owned()).chain(values).collect();
        return Invocation {
            argv,
            env: Vec::new(),
            program_dir: None,
            cwd: None,
            stdin: None,
            files_dir: None,
            timeout,
        };
    }
    let cli = tool.cli();
    let mut argv = command(cli, tool.words(), env);
    let mut options = Vec::new();
    let program_dir = cli.working_dir().map(PathBuf::from);
    let mut cwd = program_dir.clone();
    let mut stdin = None;
    for (arg, value) in bound.iter() {
        match arg.place() {
            Place::Positional => argv.push(value.to_string()),
            Place::Cwd => cwd = Some(value.to_string().into()),
            Place::Stdin => stdin = Some(value.to_string()),
            Place::Flag | Place::Joined | Place::Switch => option(&mut options, arg, value),
        }
    }
    argv.append(&mut options);
    for arg in cli.global_args() {
        if let Some(value) = global_value(arg, env) {
            option(&mut argv, arg, &value);
        }
    }
    Invocation {
        argv,
        env: cli.env().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        program_dir,
        cwd,
        stdin,
        files_dir: None,
        timeout,
    }
}

/// Plans a look-up of a tool's `resolve`: like the call, but for its own subcommand, args and time.
///
/// An arg whose template names an arg without a value is left out.
#[must_use]
pub fn resolve(
    tool: ResolvedTool<'_>,
    resolve: ResolveView<'_>,
    bound: &Bound<'_>,
    call: &Invocation,
    env: Lookup<'_>,
) -> Invocation {
    let mut argv = command(tool.cli(), resolve.words(), env);
    for (name, template) in resolve.args() {
        if let Some(value) = filled(template, bound) {
            argv.extend([format!("--{}", name.replace('_', "-")), value]);
        }
    }
    Invocation {
        argv,
        stdin: None,
        files_dir: None,
        timeout: Duration::from_millis(resolve.timeout_ms().into()),
        ..call.clone()
    }
}

/// The base command and a subcommand of it.
fn command<'a>(cli: CliView<'a>, subcommand: impl Iterator<Item = &'a str>, env: Lookup<'_>) -> Vec<String> {
    let mut words: Vec<String> = cli.words().map(|word| expansion::command_word(word, env)).collect();
    for word in subcommand {
        // Without a base command the first word of the subcommand names the program.
        words.push(if words.is_empty() { expansion::command_word(word, env) } else { word.to_owned() });
    }
    words
}

fn filled(template: &str, bound: &Bound<'_>) -> Option<String> {
    let pieces = template::parse(template).into_iter().map(|(range, piece)| match piece {
        Piece::Literal(text) => Some(text.to_owned()),
        Piece::Placeholder(name) => bound.get(name).map(ToString::to_string),
        Piece::Malformed(_) => Some(template[range].to_owned()),
    });
    pieces.collect()
}

fn option(words: &mut Vec<String>, arg: ArgView<'_>, value: &BoundValue) {
    match (arg.place(), value) {
        (_, BoundValue::Boolean(false)) => {}
        (Place::Switch, _) => words.push(arg.flag().to_owned()),
        (Place::Joined, _) => words.push(format!("{}{value}", arg.flag())),
        _ => words.extend([arg.flag().to_owned(), value.to_string()]),
    }
}

/// The value of a global arg: its default, expanded.
fn global_value(arg: ArgView<'_>, env: Lookup<'_>) -> Option<BoundValue> {
    let text = expansion::global_default(arg.default()?, env)?;
    Some(match arg.kind() {
        Type::Boolean => BoundValue::Boolean(matches!(text.as_str(), "true" | "True" | "1")),
        Type::String | Type::Integer | Type::Number => BoundValue::String(text),
    })
}
