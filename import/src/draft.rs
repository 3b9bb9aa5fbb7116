//! Commands → the text of a config.

use std::collections::HashSet;
use std::fmt::Write as _;

use climax_catalog::Type;

use super::{risk, yaml};
use climax_catalog::quote;

use crate::command::{Command, Flag, Operand, Sure, Value};

/// The approximate width of a line, in columns.
const WIDTH: usize = 120;
/// Longest tool name that every known client accepts.
const MAX_NAME_CHARS: usize = 64;
/// Options that help people at a terminal, not agents.
const FOR_PEOPLE: [&str; 8] =
    ["color", "colour", "no-color", "no-colour", "pager", "no-pager", "progress", "no-progress"];
/// Further ones, if they take no value.
const SWITCHES_FOR_PEOPLE: [&str; 7] = ["help", "version", "interactive", "tty", "web", "editor", "usage"];

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
}

/// Writes the config of `program` with a tool for each of `commands`.
///
/// `program` is the command that starts the program, `about` its description, and `origin` the source of the draft.
#[must_use]
pub fn draft(program: &str, about: &str, commands: &[Command], origin: &str) -> Draft {
    let name = name_of(program);
    let mut out = Draft { text: String::new(), tools: 0, args: 0, guesses: 0 };
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
    let about = if about.trim().is_empty() { format!("The program {name}") } else { sentence(about) };
    let _ = writeln!(out.text, "description: {}", yaml::text(&about));
    let _ = writeln!(out.text, "command: {}", yaml::text(program));
    let _ = writeln!(out.text, "env: {{NO_COLOR: \"1\", PAGER: cat}}");
    out.text.push_str(if commands.is_empty() { "tools: []\n" } else { "tools:\n" });
    let mut names = HashSet::new();
    for command in commands {
        tool(&mut out, &name, command, &mut names);
    }
    out
}

fn tool(out: &mut Draft, program: &str, command: &Command, names: &mut HashSet<String>) {
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
    if !command.words.is_empty() {
        let _ = writeln!(
            out.text,
            "    command: {}",
            yaml::text(&command.words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "))
        );
    }
    let risk = command.risk.map_or_else(|| risk::of(&command.words, &command.about), Sure::Said);
    let comment = if matches!(risk, Sure::Guessed(_)) { out.comment(&["from its words"], None) } else { String::new() };
    let _ = writeln!(out.text, "    risk: {}{comment}", risk.get().as_str());
    let args = args(command);
    if !args.is_empty() {
        out.text.push_str("    args:\n");
    }
    for arg in args {
        out.args += 1;
        let comment = out.comment(&arg.guesses, arg.note);
        out.text.push_str(&lines(&arg, &comment));
    }
}

impl Draft {
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

/// An arg of the draft.
struct DraftArg {
    /// Keys and their values as YAML, in order.
    fields: Vec<(&'static str, String)>,
    guesses: Vec<&'static str>,
    note: Option<&'static str>,
    /// The `list` of an arg with several values.
    several: &'static str,
}

fn args(command: &Command) -> Vec<DraftArg> {
    // Options have priority for their names over args that are named after their value.
    let reserved: HashSet<String> = wanted(command).map(long_name).collect();
    let mut names = HashSet::new();
    let mut flags = HashSet::new();
    let mut args: Vec<DraftArg> = Vec::new();
    let mut may_end = false;
    for operand in &command.operands {
        // Behind an optional operand none can be required.
        let required = operand.required && !may_end;
        may_end |= !required && !operand.behind_dashes;
        args.push(operand_arg(operand, required, &reserved, &mut names, &mut flags));
    }
    for flag in wanted(command) {
        if flags.insert(flag.spellings[0].clone()) {
            args.push(flag_arg(flag, &reserved, &mut names));
        }
    }
    args
}

fn wanted(command: &Command) -> impl Iterator<Item = &Flag> {
    command.options.iter().filter(|flag| !is_for_people(flag) && !is_second(flag))
}

/// The name of an option by its longest spelling.
fn long_name(flag: &Flag) -> String {
    let name = identifier(flag.spellings[0].trim_start_matches('-'));
    if flag.is_on { format!("no_{name}") } else { name }
}

fn operand_arg(
    operand: &Operand,
    required: bool,
    reserved: &HashSet<String>,
    names: &mut HashSet<String>,
    flags: &mut HashSet<String>,
) -> DraftArg {
    let mut arg = DraftArg { fields: Vec::new(), guesses: operand.guesses.clone(), note: None, several: "true" };
    let name = if operand.name.is_empty() { "value" } else { &operand.name };
    let name = identifier(&name.to_ascii_lowercase());
    let name = if reserved.contains(&name) { format!("{name}_operand") } else { name };
    arg.push("name", yaml::text(&unique(&name, names)));
    arg.value(&operand.value);
    if operand.behind_dashes && flags.insert("--".to_owned()) {
        arg.push("flag", yaml::text("--"));
        arg.several = "words";
    } else {
        arg.push("positional", "true".to_owned());
    }
    arg.finish(required, Some(&operand.value), &operand.about);
    arg
}

fn flag_arg(flag: &Flag, reserved: &HashSet<String>, names: &mut HashSet<String>) -> DraftArg {
    let mut arg = DraftArg { fields: Vec::new(), guesses: Vec::new(), note: None, several: "true" };
    let spelling = &flag.spellings[0];
    let bare = spelling.trim_start_matches('-');
    let is_short = !spelling.starts_with("--") && bare.chars().count() == 1;
    let value_name = flag.value.as_ref().map_or("", |value| &value.name);
    let is_word = value_name.len() > 1 && value_name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    let by_value = identifier(&value_name.to_ascii_lowercase());
    let is_free = !reserved.contains(&by_value) && !names.contains(&by_value);
    let name = if is_short && is_word && is_free { by_value } else { long_name(flag) };
    arg.push("name", yaml::text(&unique(&name, names)));
    match &flag.value {
        None if flag.is_on => {
            arg.push("type", "boolean".to_owned());
            arg.push("flag", yaml::text(&quote(&format!("{spelling}=false"))));
        }
        None => {
            arg.push("type", "boolean".to_owned());
            arg.push("flag", yaml::text(&quote(spelling)));
        }
        Some(value) => {
            arg.value(value);
            let apart = is_short || value.apart && !spelling.starts_with("--");
            arg.push("flag", yaml::text(&quote(&if apart { spelling.clone() } else { format!("{spelling}=") })));
        }
    }
    if flag.value.as_ref().is_some_and(|value| value.optional) {
        arg.note = Some("the flag also stands without a value");
    }
    let about = if flag.is_on { format!("Turn this off: {}", flag.about) } else { flag.about.clone() };
    arg.finish(flag.required, flag.value.as_ref(), &about);
    arg
}

impl DraftArg {
    fn push(&mut self, key: &'static str, value: String) {
        self.fields.push((key, value));
    }

    /// Writes the type, unless it is `string`.
    fn value(&mut self, value: &Value) {
        if let (Some(kind), None) = (&value.kind, &value.values) {
            self.push("type", kind.get().as_str().to_owned());
            if matches!(kind, Sure::Guessed(Type::Integer | Type::Number)) {
                self.guesses.push("the type");
            }
        }
    }

    fn finish(&mut self, required: bool, value: Option<&Value>, about: &str) {
        if required {
            self.push("required", "true".to_owned());
        }
        if let Some(values) = value.and_then(|value| value.values.as_ref()) {
            self.push("enum", yaml::list(values.get()));
            if matches!(values, Sure::Guessed(_)) {
                self.guesses.push("these are all values");
            }
        }
        if value.is_some_and(|value| value.repeated) {
            self.push("list", self.several.to_owned());
        }
        let mut about = sentence(about).trim_end_matches('.').to_owned();
        // A default in a config would be passed in every call, and could exclude other options.
        if let Some(default) = value.and_then(|value| value.default.as_deref())
            && !about.to_ascii_lowercase().contains("default")
        {
            let separator = if about.is_empty() { "Default" } else { "; default" };
            let _ = write!(about, "{separator} {}", one_line(default));
        }
        if !about.is_empty() {
            self.push("description", yaml::text(&about));
        }
    }
}

/// Writes one line in braces; a long arg gets a line for each key.
fn lines(arg: &DraftArg, comment: &str) -> String {
    let pairs: Vec<String> = arg.fields.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    let short = format!("      - {{{}}}{comment}\n", pairs.join(", "));
    if short.chars().count() <= WIDTH {
        return short;
    }
    format!("      - {}{comment}\n        {}\n", pairs[0], pairs[1..].join("\n        "))
}

fn is_for_people(flag: &Flag) -> bool {
    let is_known = flag.spellings.iter().any(|spelling| {
        let name = spelling.trim_start_matches("--");
        FOR_PEOPLE.contains(&name) || flag.value.is_none() && SWITCHES_FOR_PEOPLE.contains(&name)
    });
    let about = flag.about.to_ascii_lowercase();
    let is_prompt = flag.value.is_none()
        && (["interactively", "in the web browser", "into a pager"].iter().any(|sign| about.contains(sign)));
    let is_help = matches!(flag.spellings[0].as_str(), "-h" | "-?" | "-V") && flag.value.is_none();
    is_known || is_prompt || is_help
}

/// Returns whether an option is an alias or the opposite of another one, or deprecated.
fn is_second(flag: &Flag) -> bool {
    let about = flag.about.to_ascii_lowercase();
    let starts = ["opposite of -", "alias of -", "alias for -", "synonym for -", "same as -", "deprecated"];
    starts.iter().any(|start| about.starts_with(start)) || about.contains("(deprecated")
}

fn name_of(program: &str) -> String {
    let word = program.split_whitespace().next().unwrap_or_default();
    let file = word.rsplit('/').next().unwrap_or_default();
    if file.is_empty() { "program".to_owned() } else { file.to_owned() }
}

/// Makes an identifier: letters, digits and `_`, not starting with `_`.
fn identifier(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        let wanted = if character.is_ascii_alphanumeric() { character } else { '_' };
        if wanted != '_' || !out.is_empty() && !out.ends_with('_') {
            out.push(wanted);
        }
    }
    let out = out.trim_end_matches('_');
    if out.is_empty() { "value".to_owned() } else { out.to_owned() }
}

/// Makes a name unique by a number.
fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let mut numbers = 2..;
    let mut own = name.to_owned();
    while !taken.insert(own.clone()) {
        own = format!("{name}_{}", numbers.next().unwrap_or(u32::MAX));
    }
    own
}

/// Puts a text on one line and capitalizes it.
fn sentence(text: &str) -> String {
    let text = one_line(text);
    let mut characters = text.chars();
    let is_word = text.chars().nth(1).is_some_and(|second| second.is_ascii_lowercase() || second == ' ');
    match characters.next() {
        Some(first) if first.is_ascii_lowercase() && is_word => {
            first.to_ascii_uppercase().to_string() + characters.as_str()
        }
        _ => text,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ").replace('\0', "")
}
