//! What programs have and their configs lack, and the other way round: what a newer version has changed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use climax_catalog::{ArgView, Catalog, Layer, Place, ResolvedTool, Source, ToolIndex, Type, compile};

use crate::command::output::{FAILURE, print};
use crate::command::runtime::runtime;
use crate::command::selection::report_load_error;
use crate::command::{import, terminal};
use crate::serving::load::{self, Wanted};

/// Prints the differences. Exit status 1 if there are any, or if a program has no help.
pub(super) fn run(catalog: &'static Catalog, files: &[PathBuf]) -> ExitCode {
    let wanted = Wanted { configs: files.to_vec(), configs_only: true, ..Wanted::default() };
    let index = match load::load_tools(catalog, &wanted, None) {
        Ok(loaded) => loaded.served.index,
        Err(error) => return report_load_error(error),
    };
    let Ok(runtime) = runtime() else { return ExitCode::from(FAILURE) };
    let runner = import::ScratchRunner::new();

    let mut lines = Vec::new();
    let mut has_failed = false;
    for (cli, tools) in index.groups() {
        let program = cli.words().collect::<Vec<_>>().join(" ");
        let own: Vec<ResolvedTool<'_>> = tools.collect();
        let drafted = runtime.block_on(import::drafted(&runner, &import::Args::of(&program), true));
        match drafted.and_then(|drafted| index_of(drafted.draft.text)) {
            Ok(now) => lines.extend(differences(&program, &own, &now.tools().collect::<Vec<_>>())),
            Err(message) => {
                terminal::complain(&message);
                has_failed = true;
            }
        }
    }

    let code = if lines.is_empty() && !has_failed { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) };
    if lines.is_empty() {
        lines.push("the configs have what the programs have".to_owned());
    }
    print(&lines.join("\n"), code)
}

fn index_of(text: String) -> Result<ToolIndex, String> {
    let source = Source::new("draft.yaml", text.into_bytes()).map_err(|_| "the draft is too large".to_owned())?;
    let compiled = compile(&[source]).map_err(|_| "the draft is no valid config".to_owned())?;
    Ok(ToolIndex::from_configs(vec![Layer::loaded(compiled.catalog)]))
}

/// Compares the tools of a config with those of a new draft: `+` is new, `-` is gone, `~` has changed.
fn differences(program: &str, own: &[ResolvedTool<'_>], now: &[ResolvedTool<'_>]) -> Vec<String> {
    // Several tools may serve one command.
    let mut known: BTreeMap<String, Vec<ResolvedTool<'_>>> = BTreeMap::new();
    for tool in own {
        known.entry(words(*tool)).or_default().push(*tool);
    }

    let mut lines = Vec::new();
    let mut seen = Vec::new();
    for tool in now {
        let words = words(*tool);
        let command = format!("{program} {words}").trim_end().to_owned();
        match known.get(&words) {
            None => lines.push(format!("+ {command}: {}", tool.description())),
            Some(own) => lines.extend(of_command(&command, own, *tool)),
        }
        seen.push(words);
    }
    let gone = known.keys().filter(|words| !seen.contains(words));
    lines.extend(gone.map(|words| format!("- {}", format!("{program} {words}").trim_end())));
    lines
}

fn of_command(command: &str, own: &[ResolvedTool<'_>], now: ResolvedTool<'_>) -> Vec<String> {
    let known: Vec<ArgView<'_>> = own.iter().flat_map(|tool| options(*tool)).collect();
    let mut lines = Vec::new();
    for arg in options(now) {
        let spellings = spellings(arg);
        let Some(other) = known.iter().find(|other| self::spellings(**other).iter().any(|own| spellings.contains(own)))
        else {
            lines.push(format!("+ {command} {}: {}", spellings[0], arg.description()));
            continue;
        };
        match (takes_value(*other), takes_value(arg)) {
            (false, true) => lines.push(format!("~ {command} {}: takes a value now", spellings[0])),
            (true, false) => lines.push(format!("~ {command} {}: takes no value any more", spellings[0])),
            _ => {}
        }
    }
    let current: Vec<String> = options(now).flat_map(spellings).collect();
    for arg in known {
        let spellings = spellings(arg);
        if !spellings.iter().any(|own| current.contains(own)) {
            lines.push(format!("- {command} {}", spellings[0]));
        }
    }

    let required = |tool: ResolvedTool<'_>| tool.positionals().filter(|arg| arg.required()).count();
    if own.iter().all(|tool| required(*tool) != required(now)) {
        lines.push(format!("~ {command}: takes {} required operands now", required(now)));
    }
    lines
}

/// The words of a command behind its program, up to the first option among them.
fn words(tool: ResolvedTool<'_>) -> String {
    let words: Vec<&str> = tool.words().take_while(|word| !word.starts_with(['-', '{'])).collect();
    words.join(" ")
}

fn options(tool: ResolvedTool<'_>) -> impl Iterator<Item = ArgView<'_>> {
    tool.args().filter(|arg| arg.place() == Place::Option)
}

/// All words that may start an option.
fn spellings(arg: ArgView<'_>) -> Vec<String> {
    let own = arg.flag_words().into_iter().take(1).chain(arg.aliases().map(str::to_owned));
    let own = own.chain(arg.off_words().into_iter().take(1));
    own.map(|word| word.split(['=', '{']).next().unwrap_or_default().to_owned()).collect()
}

fn takes_value(arg: ArgView<'_>) -> bool {
    arg.kind() != Type::Boolean && !arg.is_bare()
}
