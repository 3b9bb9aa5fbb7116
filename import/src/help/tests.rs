//! Tests of reading help pages.

mod commands;
mod operands;
mod options;

use super::*;

/// The options of a page, one a line: spellings, value, how many.
fn shown(page: &str) -> Vec<String> {
    let page = read(page, &[]);
    let option = |flag: &Flag| {
        let value = flag.value.as_ref().map_or(String::new(), |value| format!(" {}:{:?}", value.name, value.several));
        let off = flag.off.as_ref().map_or(String::new(), |off| format!(" off {off}"));
        format!("{}{value}{off}", flag.spellings.join(" "))
    };
    let operand = |operand: &Operand| {
        let mark = if operand.required { "!" } else { "" };
        format!("{}{mark}:{:?}", operand.name, operand.value.several)
    };
    page.command.options.iter().map(option).chain(page.command.operands.iter().map(operand)).collect()
}

/// The subcommands of a page, each with its aliases and description.
fn commands(page: &str) -> Vec<String> {
    let shown = |command: Subcommand| {
        let words = [vec![command.name], command.aliases].concat().join(" ");
        if command.about.is_empty() { words } else { format!("{words}: {}", command.about) }
    };
    read(page, &[]).subcommands.into_iter().map(shown).collect()
}
