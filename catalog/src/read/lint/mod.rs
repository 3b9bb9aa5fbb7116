//! Lints: advice on valid configs, for agents and for those who supervise them.
//!
//! Reads configs as written, because checked configs have defaults filled in. A lint reports nothing unless it is
//! certain.

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Code, Diagnostic};
use crate::index::stems;
use crate::model::{Rest, Risk, Type};
use crate::read::config::{ArgConfig, Config, ToolConfig};
use crate::read::walk::first_line;
use crate::read::yaml::shorten;
use crate::source::{Source, Span, Spanned};
use crate::table::CheckedCli;

mod allow;
mod mention;
mod opening;
mod risk;
mod size;
mod words;

pub(crate) use allow::Silenced;

/// Words with a meaning for shells. Not `;`, which ends the words after `find -exec`.
const OF_SHELLS: &[&str] = &["|", "||", "&&", "&", ">", ">>", "<", "<<", "2>", "2>&1", "&>"];

/// Lints one config.
pub(crate) fn lint(source: &Source, config: &Config, out: &mut Vec<Diagnostic>) {
    let mut linter = Linter { source, programs: programs(source, config), out: Vec::new() };
    linter.allows(config);
    linter.command(config.command.as_ref());
    linter.directory(config.working_dir.as_ref());

    for tool in &config.tools {
        linter.command(tool.command.as_ref());
        linter.description(tool);
        linter.risk(tool);
        for arg in &tool.args {
            linter.arg(arg);
            linter.arg_risk(arg, tool.risk);
        }
    }

    linter.similar(&config.tools);
    linter.mentions(config);
    // The target of an alias is linted once for each alias.
    let mut seen = HashSet::new();
    out.extend(linter.out.into_iter().filter(|one| seen.insert((one.code(), one.span()))));
}

/// Lints the tools of a checked config.
pub(crate) fn lint_tools(source: &Source, cli: &CheckedCli, out: &mut Vec<Diagnostic>) {
    for tool in &cli.tools {
        let Some(excess) = size::excess(tool) else { continue };
        let message = format!("tool `{}` {excess}", tool.name);
        let help = "write `shown: false` at args that few calls need; calls can still give them";
        out.push(source.diagnostic(Code::LintSize, tool.name_span, message).help(help));
    }
}

/// The words of a command. Unclear quotes were reported.
fn words_of(command: &str) -> Vec<String> {
    crate::words::split(command).unwrap_or_default()
}

/// The names of the program that a config describes, lowercased.
fn programs(source: &Source, config: &Config) -> Vec<String> {
    let words = config.command.iter().filter_map(|command| command.value.split_whitespace().next());
    let names = config.name.iter().map(|name| name.value.as_str());
    words.chain(names).chain([source.stem()]).map(str::to_lowercase).collect()
}

struct Linter<'a> {
    source: &'a Source,
    programs: Vec<String>,
    out: Vec<Diagnostic>,
}

impl Linter<'_> {
    fn report(&mut self, code: Code, span: Span, message: String, help: &str) {
        self.out.push(self.source.diagnostic(code, span, message).help(help));
    }

    fn allows(&mut self, config: &Config) {
        for one in allow::all(config) {
            self.out.extend(allow::mistakes(self.source, one));
        }
    }

    fn command(&mut self, command: Option<&Spanned<String>>) {
        let Some(command) = command else { return };
        let words = words_of(&command.value);
        let Some(word) = words.iter().find(|word| OF_SHELLS.contains(&word.as_str())) else { return };
        let message = format!("`{word}` in a command is a word like any other: no shell reads it");
        let help = "do it by options of the program, or put it into a script and name that";
        self.report(Code::LintShell, command.span, message, help);
    }

    fn directory(&mut self, directory: Option<&Spanned<String>>) {
        let Some(directory) = directory.filter(|path| path.value.starts_with('~') || path.value.contains('$')) else {
            return;
        };
        let message =
            format!("`{}` is the directory's name as it stands: no shell reads it", shorten(&directory.value));
        self.report(
            Code::LintShell,
            directory.span,
            message,
            "write the whole path, or let calls name it by an arg with `cwd: true`",
        );
    }

    fn description(&mut self, tool: &ToolConfig) {
        let Some(description) = &tool.description else { return };
        let Some(noun) = opening::no_verb(&description.value, &self.programs) else { return };
        let message =
            format!("description starts with `{}`, which is no verb here", shorten(&description.value[noun.clone()]));
        let span = self.source.within(description, noun);
        self.report(Code::LintVerb, span, message, "start with what the tool does, such as `Show …` or `Delete …`");
    }

    fn risk(&mut self, tool: &ToolConfig) {
        let (None, Some(name)) = (tool.risk, &tool.name) else { return };
        let Some(evidence) = risk::evidence(tool) else { return };
        let message =
            format!("tool `{}` has no `risk`, and its {evidence} suggests that it changes something", name.value);
        let help = "write `risk: write`, `risk: destructive`, or `risk: read` if it changes nothing";
        self.report(Code::LintRisk, name.span, message, help);
    }

    fn arg(&mut self, arg: &ArgConfig) {
        let Some(name) = &arg.name else { return };
        let is_placed = |place: &Option<Spanned<bool>>| place.as_ref().is_some_and(|set| set.value);
        let is_switch = arg.kind == Some(Type::Boolean) && words::PLAIN_SWITCHES.contains(&name.value.as_str());
        let is_told = arg.description.as_ref().is_some_and(|text| !text.value.trim().is_empty());

        // No agent sees an arg that the server sets.
        if is_told || is_switch || arg.output.is_some() || is_placed(&arg.cwd) || is_placed(&arg.stdin) {
            return;
        }

        let message = format!("arg `{}` has no description", name.value);
        self.report(Code::LintArg, name.span, message, "say what it means, in which format and units");
    }

    /// Reports an arg of a reading tool that probably names a program to run or a file to write.
    fn arg_risk(&mut self, arg: &ArgConfig, risk: Option<Risk>) {
        let (Some(Risk::Read), None, Some(name)) = (risk, &arg.risk, &arg.name) else { return };
        // A command is a call of its own, with the risk of its tool.
        if arg.rest.as_ref().is_some_and(|rest| rest.value == Rest::Command) {
            return;
        }
        let Some(word) = risk::of_arg(arg) else { return };
        let message =
            format!("arg `{}` of a reading tool suggests by `{word}` that it runs or writes something", name.value);
        let help = "write `risk: write` or `risk: destructive` at the arg, or `risk: read` if it does neither";

        self.report(Code::LintArgRisk, name.span, message, help);
    }

    /// Reports tools that are named in the descriptions of others and of args that all have.
    fn mentions(&mut self, config: &Config) {
        let names = mention::Names::new(&config.tools);
        let of_common_args = config.common_args.iter().filter_map(|arg| arg.description.as_ref());
        let mut texts: Vec<_> = of_common_args.map(|text| (None, text)).collect();
        for tool in &config.tools {
            let own = tool.args.iter().filter_map(|arg| arg.description.as_ref());
            texts.extend(tool.description.iter().chain(own).map(|text| (Some(tool), text)));
        }

        for (tool, text) in texts {
            let Some(found) = names.first_in(&text.value, tool) else { continue };
            let message = format!("description names another tool, `{}`", &text.value[found.clone()]);
            let span = self.source.within(text, found);
            let help = "say what the other tool does: a policy may hide it, and then its name must stand nowhere";
            self.report(Code::LintMention, span, message, help);
        }
    }

    /// Only within one config: the name of the CLI distinguishes tools of different configs.
    fn similar(&mut self, tools: &[ToolConfig]) {
        let mut first: HashMap<Vec<String>, (&str, Span)> = HashMap::new();
        for tool in tools {
            let (Some(name), Some(description)) = (&tool.name, &tool.description) else { continue };
            let place = first_line(self.source, description.span);
            let mut words: Vec<String> = stems(&description.value).collect();
            words.sort_unstable();
            words.dedup();
            if words.is_empty() {
                continue;
            }
            if let Some((other, span)) = first.get(&words) {
                let message = format!("descriptions of `{}` and `{other}` say the same", name.value);
                let warning = self.source.diagnostic(Code::LintSimilar, place, message);
                let help = "say in each what it does that the other does not, or remove one of the tools";
                self.out.push(warning.also(*span, format!("that of `{other}`")).help(help));
            } else {
                first.insert(words, (&name.value, place));
            }
        }
    }
}
