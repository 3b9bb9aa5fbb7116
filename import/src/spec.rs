//! Specifications of `usage` (usage.jdx.dev) → commands.

use std::path::Path;

use climax_catalog::Risk;
use usage::error::UsageErr;
use usage::spec::effect::SpecCommandEffect;
use usage::{Spec, SpecArg, SpecCommand, SpecFlag};

use super::draft::{Draft, Selection, draft};
use super::{prose, values};
use crate::command::{Command, Flag, Operand, Several, Sure, Value};

/// Drafts a config from a specification file.
///
/// # Errors
/// The file cannot be read or parsed, or it describes no command that can be called.
pub fn draft_of(file: &Path) -> Result<Draft, String> {
    let spec = Spec::parse_file(file).map_err(|error| {
        let detail = match &error {
            UsageErr::InvalidInput(message, span, source) => {
                let before = source.inner().get(..span.offset()).unwrap_or_default();
                format!("line {}: {message}", before.lines().count().max(1))
            }
            other => other.to_string(),
        };
        format!("cannot read {}: {detail}", file.display())
    })?;
    let commands = commands(&spec);
    if commands.is_empty() {
        return Err(format!(
            "{} describes no command that could be called: it has neither flags nor args",
            file.display()
        ));
    }

    let program = if spec.bin.is_empty() { &spec.name } else { &spec.bin };
    let about = spec.about.as_deref().unwrap_or_default();

    Ok(draft(program, about, &commands, &format!("the usage specification {}", file.display()), &Selection::default()))
}

/// The commands of a specification that run something, in its order.
fn commands(spec: &Spec) -> Vec<Command> {
    let mut commands = Vec::new();
    add(&mut commands, &spec.cmd, &[], &[]);
    commands
}

/// Adds a command and its subcommands; `global` holds the inherited options.
fn add(commands: &mut Vec<Command>, command: &SpecCommand, words: &[String], global: &[Flag]) {
    if command.hide {
        return;
    }

    let wanted = || command.flags.iter().filter(|flag| !flag.hide);
    let mut options: Vec<Flag> = wanted().filter_map(flag).collect();
    let mut below: Vec<Flag> = wanted().filter(|flag| flag.global).filter_map(flag).collect();
    let new = |known: &[Flag], flag: &&Flag| !known.iter().any(|own| own.spellings == flag.spellings);
    below.extend(global.iter().filter(|flag| new(&below, flag)).cloned().collect::<Vec<_>>());
    options.extend(global.iter().filter(|flag| new(&options, flag)).cloned().collect::<Vec<_>>());
    let operands: Vec<Operand> = command.args.iter().filter(|arg| !arg.hide).map(operand).collect();
    let is_group = !command.subcommands.is_empty() && (command.subcommand_required || operands.is_empty());
    if !is_group {
        let about = command.help.clone().or_else(|| command.help_long.clone()).unwrap_or_default();
        let about = prose::shorten(&lines(&about));
        let risk = command.effect.map(risk);
        commands.push(Command { words: words.to_vec(), about, options, operands, risk, ..Command::default() });
    }

    for (name, subcommand) in &command.subcommands {
        let words: Vec<String> = words.iter().cloned().chain([name.clone()]).collect();
        add(commands, subcommand, &words, &below);
    }
}

fn risk(effect: SpecCommandEffect) -> Risk {
    match effect {
        SpecCommandEffect::Read => Risk::Read,
        SpecCommandEffect::Write => Risk::Write,
        SpecCommandEffect::Destructive => Risk::Destructive,
    }
}

fn flag(flag: &SpecFlag) -> Option<Flag> {
    let long = flag.long.iter().map(|name| format!("--{name}"));
    let spellings: Vec<String> = long.chain(flag.short.iter().map(|letter| format!("-{letter}"))).collect();
    if spellings.is_empty() {
        return None;
    }

    let text = lines(flag.help.as_deref().or(flag.help_long.as_deref()).unwrap_or_default());
    let value = flag.arg.as_ref().map(|arg| {
        let mut value = value(arg, &text);
        value.default = value.default.or_else(|| flag.default.first().cloned());
        if flag.var && value.several == Several::No {
            value.several = Several::Each;
        }
        value.optional |= flag.value_optional;
        value
    });
    let off = flag.negate.clone().filter(|_| value.is_none() && !flag.count);
    let about = prose::shorten(&text);

    Some(Flag { spellings, value, off, about, counts: flag.count, required: flag.required, ..Flag::default() })
}

fn operand(arg: &SpecArg) -> Operand {
    let text = lines(arg.help.as_deref().or(arg.help_long.as_deref()).unwrap_or_default());
    Operand {
        name: arg.name.clone(),
        about: prose::shorten(&text),
        required: arg.required,
        value: value(arg, &text),
        ..Operand::default()
    }
}

fn value(arg: &SpecArg, text: &[String]) -> Value {
    let choices = arg.choices.as_ref().map(|choices| choices.choices.clone()).filter(|choices| !choices.is_empty());
    let mut value = Value {
        name: arg.name.clone(),
        values: choices.map(Sure::Said),
        default: arg.default.first().cloned(),
        several: if arg.var { Several::Each } else { Several::No },
        ..Value::default()
    };
    values::complete(&mut value, text);
    value
}

fn lines(text: &str) -> Vec<String> {
    super::clean(text).lines().map(|line| line.trim().to_owned()).collect()
}
