//! Commands → the text of a config.

mod shared;
mod tool;

use std::collections::HashSet;
use std::fmt::Write as _;

use climax_catalog::{Risk, quote};

use self::tool::Tool;
use super::arg::{self, ArgPlace, DraftArg, Names};
use super::prose;
use super::rank::Ranking;
use super::refine::OPTIONAL_PROGRAM;
use super::risk;
use super::text::{identifier, one_line, sentence, unique};
use super::yaml;
use crate::command::{Command, Flag, Operand, Several, Value};

/// Longest tool name that every known client accepts.
const MAX_NAME_CHARS: usize = 64;
/// Options that help people at a terminal, not agents.
const FOR_PEOPLE: [&str; 8] =
    ["color", "colour", "no-color", "no-colour", "pager", "no-pager", "progress", "no-progress"];
/// Further ones, if they take no value.
const SWITCHES_FOR_PEOPLE: [&str; 1] = ["version"];
/// Switches that a draft leaves out, since they ask someone or print the page that was read.
const ASKING: [&str; 6] = ["help", "interactive", "tty", "web", "editor", "usage"];

/// The args that every tool has: the directory it runs in, and what a pipeline passes to it.
const COMMON_ARGS: &str = "common_args:
  - {name: cwd, cwd: true, description: Directory to run in}
  - {name: stdin, stdin: true, shown: false, description: Text for standard input}
";

/// Options that a draft publishes for each tool, unless told otherwise.
pub const DEFAULT_MAIN: usize = 10;
/// The guess of operands that several usage lines have.
pub(super) const SEVERAL_LINES: &str = "there are several usage lines";

/// The guess of operands that the help leaves out.
const UNNAMED: &str = "the help does not name them";

/// A drafted config, with counts.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The YAML.
    pub text: String,
    /// Its tools.
    pub tools: usize,
    /// Their args.
    pub args: usize,
    /// Lines that are marked as guesses.
    pub guesses: usize,
    /// How many of its tools have each risk: those in a cage, `read`, `write` and `destructive`.
    pub risks: [usize; 4],
}

/// Which options a draft has, and which of them it publishes.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Options that are kept and published in any case, by a spelling with or without its dashes.
    pub keep: Vec<String>,
    /// How many options of each tool are published; the rest is `shown: false`.
    pub main: usize,
    /// Why no cage can hold the program, if none can.
    pub uncaged: Option<&'static str>,
    /// The program, as the command line that starts it.
    pub program: String,
    /// Whether `--help` prints its help, and that of its commands.
    pub has_help: bool,
    /// Whether `--version` prints its version, and no tool has that.
    pub has_version: bool,
    /// Whether its switches take `=true` and `=false`.
    pub has_boolean_values: bool,
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            keep: Vec::new(),
            main: DEFAULT_MAIN,
            uncaged: None,
            program: String::new(),
            has_help: false,
            has_version: false,
            has_boolean_values: false,
        }
    }
}

impl Selection {
    /// Returns whether an option is named.
    fn keeps(&self, flag: &Flag) -> bool {
        let bare = |spelling: &str| spelling.trim_start_matches('-').to_owned();
        let names = |kept: &String| flag.spellings.iter().any(|own| own == kept || bare(own) == *kept);
        self.keep.iter().any(names)
    }
}

/// Writes the config of `program` with a tool for each of `commands`.
///
/// `program` is the command that starts the program, `about` its description, and `origin` the source of the draft.
#[must_use]
pub fn draft(program: &str, about: &str, commands: &[Command], origin: &str, selection: &Selection) -> Draft {
    let name = name_of(program);
    let mut out = Draft { text: String::new(), tools: 0, args: 0, guesses: 0, risks: [0; 4] };
    let _ = writeln!(
        out.text,
        "# A first draft, made from {}. Lines with `guess` say what that leaves open: check",
        one_line(origin)
    );
    let _ = writeln!(
        out.text,
        "# them, leave out what agents need not do, and say in each description when to use the tool."
    );
    let _ = writeln!(out.text, "name: {}", yaml::text(&name));
    if !about.trim().is_empty() {
        let _ = writeln!(out.text, "description: {}", yaml::text(&sentence(about)));
    }
    let _ = writeln!(out.text, "command: {}", yaml::text(program));
    if selection.has_boolean_values {
        out.text.push_str("boolean_values: true\n");
    }
    let _ = writeln!(out.text, "env: {{NO_COLOR: \"1\", PAGER: cat}}");
    out.text.push_str(COMMON_ARGS);
    let ranking = Ranking::new(commands);
    let each = commands.iter().flat_map(|command| std::iter::once(command.clone()).chain(without_program(command)));
    let mut tools: Vec<Tool> = each.map(|command| Tool::new(command, about, selection, &ranking)).collect();
    let shared = shared::parted(&mut tools);
    for arg in &shared {
        out.arg(arg, "  ");
    }
    out.text.push_str(if commands.is_empty() { "tools: []\n" } else { "tools:\n" });
    let mut names = HashSet::new();
    for tool in &tools {
        tool.write(&mut out, &name, selection, &mut names);
    }
    let shared: Vec<String> = shared.into_iter().map(|arg| arg.name).collect();
    if selection.uncaged.is_none() && !commands.is_empty() {
        if selection.has_help {
            help_tool(&mut out, &name, (selection, &shared), &mut names);
        }
        if selection.has_version {
            version_tool(&mut out, &name, (selection, &shared), &mut names);
        }
    }

    out
}

/// The command without the words of another one that it starts, if calls may leave these out: `strace -p PID`.
///
/// Of a program as a whole, options such as `--configure` do without.
fn without_program(command: &Command) -> Option<Command> {
    let is_optional = |operand: &Operand| operand.guesses.contains(&OPTIONAL_PROGRAM);
    let has_rest = command.operands.iter().any(|operand| operand.rest && !operand.behind_dashes);
    let is_whole = command.words.is_empty() && has_rest && !command.options.is_empty();
    let at = command.operands.iter().position(|operand| is_optional(operand) || is_whole && operand.required)?;
    let operands = command.operands[..at].to_vec();
    Some(Command { operands, forms: None, guesses: vec!["a call may do without a program"], ..command.clone() })
}

/// Writes a tool that shows the help of a program or of one of its commands.
fn help_tool(out: &mut Draft, program: &str, given: (&Selection, &[String]), names: &mut HashSet<String>) {
    let about = format!("Show the help of {program}, or of one of its commands");
    caged_tool(out, (program, "help"), &about, given, names);
    out.text.push_str("    command: \"{words} --help\"\n    args:\n");
    out.text.push_str("      - {name: words, positional: true, list: true, description: Words of the command}\n");
    out.args += 1;
}

/// Writes a tool that shows the version of a program.
fn version_tool(out: &mut Draft, program: &str, given: (&Selection, &[String]), names: &mut HashSet<String>) {
    caged_tool(out, (program, "version"), &format!("Show the version of {program}"), given, names);
    out.text.push_str("    command: \"--version\"\n");
}

/// Writes the start of a tool that only prints, and takes none of the options that other tools share.
fn caged_tool(
    out: &mut Draft,
    (program, word): (&str, &str),
    about: &str,
    (selection, shared): (&Selection, &[String]),
    names: &mut HashSet<String>,
) {
    let name = unique(&identifier(&format!("{program}_{word}")), names);
    let _ = writeln!(out.text, "  - name: {}", yaml::text(&name));
    let _ = writeln!(out.text, "    description: {}", yaml::text(about));
    out.text.push_str("    risk: read\n");
    let own = directory(&selection.program).map(|own| format!(", read: [{}]", yaml::text(own)));
    let _ = writeln!(out.text, "    needs: {{cage: read{}}}", own.unwrap_or_default());
    out.without(shared);
    out.tools += 1;
    out.count(Risk::Read, true);
}

/// The directory of a program that a path names, if it is none of the system's: a cage must permit reading it.
fn directory(program: &str) -> Option<&str> {
    let system = ["/usr/", "/bin/", "/sbin/", "/opt/"];
    let (directory, _) = program.rsplit_once('/')?;
    (directory.starts_with('/') && !system.iter().any(|system| program.starts_with(system))).then_some(directory)
}

impl Draft {
    /// Writes an arg, in a list that is indented so.
    fn arg(&mut self, arg: &DraftArg, indent: &str) {
        self.args += 1;
        let source = arg.source.map(|source| format!("from {source}"));
        let comment = self.comment(&arg.guesses, source.as_deref());
        self.text.push_str(&arg.lines(&comment, indent));
    }

    /// Writes which shared args a tool does not have.
    fn without(&mut self, names: &[String]) {
        if !names.is_empty() {
            let _ = writeln!(self.text, "    without: {}", yaml::list(names));
        }
    }

    fn count(&mut self, risk: Risk, is_caged: bool) {
        let at = match risk {
            Risk::Read if is_caged => 0,
            Risk::Read => 1,
            Risk::Write => 2,
            Risk::Destructive => 3,
        };
        self.risks[at] += 1;
    }

    fn comment(&mut self, guesses: &[&str], note: Option<&str>) -> String {
        let mut parts = Vec::new();
        if !guesses.is_empty() {
            self.guesses += 1;
            parts.push(format!("guess: {}", guesses.join("; ")));
        }
        parts.extend(note.map(str::to_owned));
        if parts.is_empty() { String::new() } else { format!("  # {}", parts.join("; ")) }
    }
}

/// The args of a command: its operands, then its options.
///
/// An option that deletes does so in the workspace that a cage leaves open, where `floor` is above the `risk` of the tool.
fn args(command: &Command, (risk, floor): (Risk, Risk), selection: &Selection, ranking: &Ranking) -> Vec<DraftArg> {
    let parts: Vec<Flag> = wanted(command, selection).into_iter().flat_map(arg::parts).collect();
    // What a program as a whole requires, options such as `--list` do without.
    let relaxed_flag = |flag: Flag| Flag { required: flag.required && !command.words.is_empty(), ..flag };
    let parts: Vec<Flag> = parts.into_iter().map(relaxed_flag).collect();
    let wanted: Vec<&Flag> = parts.iter().collect();
    let mut names = Names::new(wanted.iter().copied());
    let mut args = match formless(command) {
        Some(operand) => operands(&[operand], &mut names),
        None => operands(&relaxed(command), &mut names),
    };
    let risks: Vec<(&Flag, Option<Risk>)> = wanted.iter().map(|flag| (*flag, risk::of_option(flag))).collect();
    let shown = ranking.shown(&risks, selection.main);

    let own_floor = |flag: &Flag| if risk == Risk::Write && risk::deletes(flag) { risk } else { floor };
    for (flag, is_main) in wanted.into_iter().zip(shown) {
        let mut arg = arg::of_flag(flag, own_floor(flag), &mut names);
        if (!is_main || is_for_people(flag) || is_second(flag)) && !selection.keeps(flag) {
            arg.hide();
        }
        args.push(arg);
    }
    let leading = command.leading.iter().filter(|(_, flag)| !asks(flag));
    for (depth, flag) in leading.flat_map(|(depth, flag)| arg::parts(flag).into_iter().map(move |flag| (*depth, flag)))
    {
        let mut arg = arg::of_flag(&flag, own_floor(&flag), &mut names);
        arg.place = ArgPlace::Leading(depth);
        arg.hide();
        args.push(arg);
    }

    args
}

/// The operands of a program, without the demand for them: options such as `--list` do without.
fn relaxed(command: &Command) -> Vec<Operand> {
    let mut operands = command.operands.clone();
    let is_fixed = !command.words.is_empty() || command.options.is_empty();
    if is_fixed || operands.iter().any(|operand| operand.rest || operand.behind_dashes) {
        return operands;
    }
    for operand in operands.iter_mut().filter(|operand| operand.required) {
        operand.required = false;
        let separator = if operand.about.is_empty() { "" } else { "; " };
        operand.about = format!("{}{separator}most calls need it", operand.about.trim_end_matches('.'));
    }
    operands
}

/// The one operand of a command whose operands have several forms: a list of words, which the program tells apart.
fn formless(command: &Command) -> Option<Operand> {
    // `[METHOD] URL`: a single word is the second one.
    let is_open = |pair: &[Operand]| !pair[0].required && pair[1].required && !pair[0].behind_dashes && !pair[1].rest;
    let is_shifted = command.operands.windows(2).any(is_open) && !command.operands.iter().any(|operand| operand.rest);
    let form = command.forms.clone().filter(|_| !is_shifted);
    if form.is_none() && !is_shifted {
        return None;
    }

    let shown = command.operands.iter().map(|operand| {
        let dots = if operand.value.several == Several::No { "" } else { "..." };
        let name = operand.name.as_str();
        if operand.required { format!("{name}{dots}") } else { format!("[{name}]{dots}") }
    });
    let form = form.unwrap_or_else(|| shown.collect::<Vec<_>>().join(" "));
    let guess = if form.is_empty() { UNNAMED } else { "they have several forms" };
    Some(Operand {
        name: "operands".to_owned(),
        about: if form.is_empty() { "Operands, such as files".to_owned() } else { prose::shorten(&[form]) },
        required: is_shifted && !command.words.is_empty(),
        value: Value { several: Several::Each, ..Value::default() },
        guesses: vec![guess],
        ..Operand::default()
    })
}

/// The args of operands. An operand that may be absent before one that may not is made required.
fn operands(operands: &[Operand], names: &mut Names) -> Vec<DraftArg> {
    let mut may_end = false;
    let mut args = Vec::new();
    for (at, operand) in operands.iter().enumerate() {
        // The words of a rest need a required operand before them.
        let is_needed = operands[at + 1..].iter().any(|next| next.rest && !next.behind_dashes);
        let is_followed = is_needed || operands[at + 1..].iter().any(|next| next.required);
        let is_open = !operand.required && !is_needed && operand.guesses.contains(&SEVERAL_LINES);
        let is_forced = !operand.required && is_followed && !is_open && !may_end;
        // Behind an operand of one form of several none can be required.
        let required = (operand.required || is_forced) && !may_end;
        may_end |= !required;
        let mut arg = arg::of_operand(operand, required, names);
        if is_forced {
            arg.guesses.push("the help makes it optional, and a required one follows");
        }
        args.push(arg);
    }

    args
}

/// The options of a draft, each once.
fn wanted<'a>(command: &'a Command, selection: &Selection) -> Vec<&'a Flag> {
    let mut seen = HashSet::new();
    let is_wanted = |flag: &&Flag| selection.keeps(flag) || !asks(flag);
    command.options.iter().filter(is_wanted).filter(|flag| seen.insert(flag.spellings[0].clone())).collect()
}

/// The groups of a command, by their keys and the names of their args.
fn groups(command: &Command, args: &mut [DraftArg]) -> Vec<(&'static str, Vec<Vec<String>>)> {
    let mut found = [("exactly_one", Vec::new()), ("at_most_one", Vec::new())];
    let mut grouped: Vec<usize> = Vec::new();
    for group in &command.groups {
        let position = |member: &String| args.iter().position(|arg| arg.members.contains(member));
        let Some(mut members) = group.members.iter().map(position).collect::<Option<Vec<usize>>>() else { continue };
        members.dedup();
        let is_free = |at: &usize| !grouped.contains(at) && !args[*at].is_rest;
        let is_optional = |at: &usize| group.required && args[*at].place != ArgPlace::Option || !args[*at].required;
        if members.len() < 2 || !members.iter().all(|at| is_free(at) && is_optional(at)) {
            continue;
        }
        for at in &members {
            args[*at].relax();
        }
        found[usize::from(!group.required)].1.push(members.iter().map(|at| args[*at].name.clone()).collect());
        grouped.extend(members);
    }

    found.into_iter().filter(|(_, groups)| !groups.is_empty()).collect()
}

/// The words of the subcommand, with the places of options before the operands, as far as the order counts.
fn command_line(command: &Command, args: &[DraftArg]) -> String {
    let place = |arg: &&DraftArg| format!("{{{}}}", arg.name);
    let leading = |depth| args.iter().filter(move |arg| arg.place == ArgPlace::Leading(depth));
    let mut words: Vec<String> = Vec::new();
    for (depth, word) in command.words.iter().enumerate() {
        words.extend(leading(depth).map(|arg| place(&arg)));
        words.push(quote(word));
    }
    let is_operand = |arg: &&DraftArg| matches!(arg.place, ArgPlace::Operand | ArgPlace::BehindDashes);
    let operands: Vec<&DraftArg> = args.iter().filter(is_operand).collect();
    let has_options = args.iter().any(|arg| arg.place == ArgPlace::Option);

    if let Some(dashes) = operands.iter().position(|arg| arg.place == ArgPlace::BehindDashes) {
        let (before, behind) = operands.split_at(dashes);
        words.extend(has_options.then(|| "{options}".to_owned()));
        words.extend(before.iter().map(place));
        words.push("--".to_owned());
        words.extend(behind.iter().map(place));
    } else if has_options && !operands.is_empty() && !command.options_last && !operands.iter().any(|arg| arg.is_rest) {
        words.push("{options}".to_owned());
    }

    words.join(" ")
}

/// Returns whether an option is for people, so that the schema does not publish it.
fn is_for_people(flag: &Flag) -> bool {
    let is_known = flag.spellings.iter().any(|spelling| {
        let name = spelling.trim_start_matches("--");
        FOR_PEOPLE.contains(&name) || flag.value.is_none() && SWITCHES_FOR_PEOPLE.contains(&name)
    });
    is_known || flag.spellings[0] == "-V" && flag.value.is_none()
}

/// Returns whether a switch asks someone at a terminal, or prints help.
fn asks(flag: &Flag) -> bool {
    let is_named = flag.spellings.iter().any(|spelling| ASKING.contains(&spelling.trim_start_matches("--")));
    let about = flag.about.to_ascii_lowercase();
    let about = about.replace("non-interactively", "").replace("not interactively", "");
    let says = ["interactively", "in the web browser", "into a pager"].iter().any(|sign| about.contains(sign));
    flag.value.is_none() && (is_named || says || matches!(flag.spellings[0].as_str(), "-h" | "-?"))
}

/// Returns whether an option is an alias or the opposite of another one, or deprecated.
fn is_second(flag: &Flag) -> bool {
    let about = flag.about.to_ascii_lowercase();
    let starts = ["opposite of -", "alias of -", "alias for -", "synonym for -", "same as -", "deprecated"];
    // "same as --x but …" is an option of its own.
    starts.iter().any(|start| about.starts_with(start)) && !about.contains(" but ") || about.contains("(deprecated")
}

fn name_of(program: &str) -> String {
    let word = program.split_whitespace().next().unwrap_or_default();
    let file = word.rsplit('/').next().unwrap_or_default();
    if file.is_empty() { "program".to_owned() } else { file.to_owned() }
}

#[cfg(test)]
mod tests;
