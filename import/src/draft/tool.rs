//! A tool of a draft: what is known of a command, and how it is written.

use std::collections::HashSet;
use std::fmt::Write as _;

use climax_catalog::Risk;

use super::args::{UNNAMED, args, command_line, groups};
use super::config::{Draft, directory};
use super::selection::Selection;
use crate::arg::DraftArg;
use crate::command::{Command, Flag, Operand};
use crate::rank::Ranking;
use crate::risk::{self, Assessed};
use crate::text::{identifier, sentence, unique};
use crate::yaml;

/// Longest tool name that every known client accepts.
const MAX_NAME_CHARS: usize = 64;
/// The most options of a program that are repeated whole for a command without a help of its own.
const MAX_REPEATED: usize = 40;

/// A tool of the draft, before it is written.
pub(super) struct Tool {
    command: Command,
    assessed: Assessed,
    risk: Risk,
    cage: Option<DraftCage>,
    pub(super) args: Vec<DraftArg>,
    groups: Vec<(&'static str, Vec<Vec<String>>)>,
    /// Its words, with the places of its args.
    line: String,
    /// Names of shared args that it does not have.
    pub(super) without: Vec<String>,
}

/// The cage of a drafted tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DraftCage {
    Read,
    Workspace,
}

impl Tool {
    pub(super) fn new(command: Command, about: &str, selection: &Selection, ranking: &Ranking) -> Self {
        let assessed = risk::of_command(&command, about);
        let may_be_caged = selection.uncaged.is_none();
        // A whole program that writes has more ways to do so than its description says.
        let cage = match assessed {
            Assessed::Unknown if may_be_caged => Some(DraftCage::Read),
            Assessed::Shown(Risk::Write) if command.words.is_empty() && may_be_caged => Some(DraftCage::Workspace),
            _ => None,
        };
        let is_read = cage == Some(DraftCage::Read);
        let risk = assessed.written(is_read);
        // What a cage holds can do no harm by any option.
        let floor = if cage.is_some() { Risk::Destructive } else { risk };
        let command = Some(&command).filter(|_| is_read).and_then(opened).unwrap_or(command);

        let mut args = args(&command, (risk, floor), selection, ranking);
        let groups = groups(&command, &mut args);
        let line = command_line(&command, &args);
        Self { command, assessed, risk, cage, args, groups, line, without: Vec::new() }
    }

    /// Whether a group of the tool names an arg.
    pub(super) fn groups_name(&self, name: &str) -> bool {
        self.groups.iter().flat_map(|(_, groups)| groups.iter().flatten()).any(|member| member == name)
    }

    pub(super) fn write(&self, out: &mut Draft, program: &str, selection: &Selection, names: &mut HashSet<String>) {
        self.write_names(out, program, names);
        let comment = match (self.assessed, selection.uncaged) {
            (Assessed::Stated(_), _) => String::new(),
            (Assessed::Shown(_), _) => out.comment(&["from its words"], None),
            (Assessed::Unknown, Some(why)) => out.comment(&["nothing says what it does"], Some(why)),
            (Assessed::Unknown, None) => out.comment(&["nothing says what it does, so a cage holds it"], None),
        };
        let _ = writeln!(out.text, "    risk: {}{comment}", self.risk.as_str());
        if let Some(cage) = self.cage {
            let kind = if cage == DraftCage::Read { "read" } else { "workspace" };
            let reaches = cage == DraftCage::Workspace && risk::reaches(&self.command);
            let network = if reaches { ", network: true" } else { "" };
            let own = directory(&selection.program).map(|own| format!(", read: [{}]", yaml::text(own)));
            let _ = writeln!(out.text, "    needs: {{cage: {kind}{network}{}}}", own.unwrap_or_default());
        }
        out.without(&self.without);
        out.count(self.risk, self.cage == Some(DraftCage::Read));
        for (key, members) in &self.groups {
            let lists = members.iter().map(|group| yaml::list(group)).collect::<Vec<_>>().join(", ");
            let _ = writeln!(out.text, "    {key}: [{lists}]");
        }

        if !self.args.is_empty() {
            out.text.push_str("    args:\n");
        }
        for arg in &self.args {
            out.arg(arg, "      ");
        }
    }

    /// Writes its name and description, and the words that start it.
    fn write_names(&self, out: &mut Draft, program: &str, names: &mut HashSet<String>) {
        let command = &self.command;
        let words: Vec<&str> = std::iter::once(program).chain(command.words.iter().map(String::as_str)).collect();
        let mut name = identifier(&words.join("_"));
        name.truncate(MAX_NAME_CHARS);
        let name = unique(&name, names);
        out.tools += 1;
        let mut guesses = command.guesses.clone();
        let description = if command.about.trim().is_empty() {
            guesses.push("the help does not say what it does");
            format!("Run {}", words.join(" "))
        } else {
            sentence(&command.about)
        };
        let comment = out.comment(&guesses, None);
        let _ = writeln!(out.text, "  - name: {}{comment}", yaml::text(&name));
        let _ = writeln!(out.text, "    description: {}", yaml::text(&description));
        if !self.line.is_empty() {
            let _ = writeln!(out.text, "    command: {}", yaml::text(&self.line));
        }
        if !command.aliases.is_empty() {
            let _ = writeln!(out.text, "    aliases: {}", yaml::list(&command.aliases));
        }
    }
}

/// A command of which nothing is known, with all words behind it as one rest: a cage holds whatever they do.
///
/// Its options are those of the command before it, and so stand before its own word: of many those with a letter, since
/// each such command repeats them.
fn opened(command: &Command) -> Option<Command> {
    let is_unknown = command.forms.as_deref() == Some("") && command.operands.is_empty() && !command.words.is_empty();
    let depth = command.words.len().saturating_sub(1);
    let has_letter = |flag: &&Flag| flag.spellings.iter().any(|spelling| spelling.len() == 2);
    let is_kept = |flag: &&Flag| command.options.len() <= MAX_REPEATED || has_letter(flag);
    let options = command.options.iter().filter(is_kept).map(|flag| (depth, Flag { required: false, ..flag.clone() }));
    let leading = command.leading.iter().cloned().chain(options).collect();
    let rest = Operand {
        name: "words".to_owned(),
        about: "Options and operands".to_owned(),
        rest: true,
        guesses: vec![UNNAMED],
        ..Operand::default()
    };
    is_unknown.then(|| Command { operands: vec![rest], options: Vec::new(), leading, forms: None, ..command.clone() })
}
