//! Options and operands → the args of a draft.

use std::collections::HashSet;
use std::fmt::Write as _;

use climax_catalog::{Risk, Type, quote};

use super::text::{identifier, one_line, sentence, unique};
use super::{risk, yaml};
use crate::command::{Flag, Operand, Several, Sure, Value};

/// The approximate width of a line, in columns.
const WIDTH: usize = 120;

/// An arg of the draft.
pub(super) struct DraftArg {
    pub(super) name: String,
    /// The spellings of the option, or the name of the operand in the help.
    pub(super) members: Vec<String>,
    pub(super) required: bool,
    pub(super) place: ArgPlace,
    pub(super) is_rest: bool,
    /// Keys and their values as YAML, in order.
    fields: Vec<(&'static str, String)>,
    pub(super) guesses: Vec<&'static str>,
    /// What names it, if that is not the help.
    pub(super) source: Option<&'static str>,
}

/// Where the words of an arg stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgPlace {
    Option,
    /// An option behind so many words of the command.
    Leading(usize),
    Operand,
    /// An operand behind `--`.
    BehindDashes,
}

/// The names of args that are taken.
pub(super) struct Names {
    taken: HashSet<String>,
    /// Names of options, which have priority over args that are named after their value.
    reserved: HashSet<String>,
}

impl Names {
    pub(super) fn new<'a>(flags: impl Iterator<Item = &'a Flag>) -> Self {
        Self { taken: HashSet::new(), reserved: flags.map(long_name).collect() }
    }
}

/// The name of an option by its longest spelling.
fn long_name(flag: &Flag) -> String {
    identifier(flag.spellings[0].trim_start_matches('-'))
}

/// Drafts the arg of an operand.
pub(super) fn of_operand(operand: &Operand, required: bool, names: &mut Names) -> DraftArg {
    let name = if operand.name.is_empty() { "value" } else { &operand.name };
    let name = identifier(&name.to_ascii_lowercase());
    let name = if names.reserved.contains(&name) { format!("{name}_operand") } else { name };
    let mut arg = DraftArg::new(unique(&name, &mut names.taken), vec![operand.name.clone()]);
    arg.guesses.clone_from(&operand.guesses);
    arg.required = required;
    arg.place = if operand.behind_dashes { ArgPlace::BehindDashes } else { ArgPlace::Operand };
    arg.is_rest = operand.rest;
    if operand.rest {
        arg.push("rest", "true".to_owned());
        arg.required(required);
    } else {
        arg.push("positional", "true".to_owned());
        arg.required(required);
        arg.value(&operand.value);
        arg.several(&operand.value);
    }

    arg.describe(&operand.about, Some(&operand.value));
    arg
}

/// Drafts the arg of an option; `tool` is the risk of its tool.
pub(super) fn of_flag(flag: &Flag, tool: Risk, names: &mut Names) -> DraftArg {
    let mut arg = DraftArg::new(unique(&flag_name(flag, names), &mut names.taken), flag.spellings.clone());
    let spelling = &flag.spellings[0];
    match &flag.value {
        None if flag.counts => arg.push("count", "true".to_owned()),
        None => arg.push("type", "boolean".to_owned()),
        Some(value) if flag.more.is_empty() => arg.value(value),
        Some(_) => {}
    }

    // `-19`
    if spelling == "-#" {
        arg.fields.retain(|(key, _)| *key != "type");
        arg.push("type", "integer".to_owned());
    }
    arg.push("flag", yaml::text(&words(flag)));
    let is_attached = flag.value.as_ref().is_some_and(|value| value.attached);
    let alias = |spelling: &String| {
        if is_attached && is_letter(spelling) { format!("{spelling}{{}}") } else { spelling.clone() }
    };
    let mut aliases: Vec<String> = flag.spellings[1..].iter().map(alias).collect();
    if flag.value.as_ref().is_some_and(|value| is_glued(flag, value) && value.apart) {
        aliases.push(spelling.clone());
    }
    if flag.value.as_ref().is_some_and(|value| value.may_be_apart() && value.several != Several::Words) {
        let long = flag.spellings.iter().filter(|spelling| spelling.starts_with("--"));
        aliases.extend(long.map(|spelling| format!("{spelling}=")));
    }
    // `-n=3` is read beside `-n 3`.
    if flag.value.as_ref().is_some_and(|value| value.assigned && !value.attached) && flag.more.is_empty() {
        aliases.extend(flag.spellings.iter().filter(|own| is_letter(own)).map(|own| format!("{own}=")));
    }
    if !aliases.is_empty() {
        arg.push("aliases", yaml::list(&aliases));
    }

    if flag.value.is_none() && !flag.counts {
        let off = if flag.is_on { Some(format!("{spelling}=false")) } else { flag.off.clone() };
        arg.fields.extend(off.map(|off| ("off", yaml::text(&quote(&off)))));
    }

    arg.required = flag.required;
    arg.required(flag.required);
    match (&flag.value, flag.more.len()) {
        (Some(value), 0) => arg.several(value),
        (Some(_), 1) => arg.push("map", "true".to_owned()),
        (Some(_), more) => {
            arg.push("list", "words".to_owned());
            arg.push("min_items", (more + 1).to_string());
            arg.push("max_items", (more + 1).to_string());
        }
        (None, _) => {}
    }

    if let Some(own) = risk::of_option(flag).filter(|own| *own > tool) {
        arg.push("risk", own.as_str().to_owned());
        arg.guesses.push("the risk");
    }

    arg.source = flag.source;

    let mut about = flag.about.clone();
    if !flag.more.is_empty() {
        let names: Vec<&str> =
            flag.value.iter().map(|value| value.name.as_str()).chain(flag.more.iter().map(String::as_str)).collect();
        about.truncate(about.trim_end_matches(['.', ';']).len());
        let _ = write!(about, "{}{}", if about.is_empty() { "" } else { "; " }, names.join(" "));
    }

    arg.describe(&about, flag.value.as_ref());
    arg
}

/// Parts an option with an optional value into a switch and an option with the value.
///
/// Where the value is attached, a word behind the bare flag is none of its values. Else it is, unless it is an option
/// itself, and the option with the value stands first, since a line is read by the first that takes its words.
pub(super) fn parts(flag: &Flag) -> Vec<Flag> {
    let Some(value) = flag.value.as_ref().filter(|value| value.optional && flag.more.is_empty()) else {
        return vec![flag.clone()];
    };
    let switch = Flag { value: None, required: false, ..flag.clone() };
    if value.may_be_apart() {
        return vec![flag.clone(), switch];
    }
    let attached = flag.spellings.iter().find(|spelling| spelling.starts_with("--")).unwrap_or(&flag.spellings[0]);
    let value = Value { optional: false, several: Several::No, ..value.clone() };
    // `-O2` beside `--optimize=2`
    let letters = flag.spellings.iter().filter(|spelling| *spelling != attached && is_letter(spelling));
    let spellings = std::iter::once(attached).chain(letters).cloned().collect();
    vec![switch, Flag { spellings, value: Some(value), ..flag.clone() }]
}

/// Whether a spelling is a dash and a letter.
fn is_letter(spelling: &str) -> bool {
    !spelling.starts_with("--") && spelling.chars().count() == 2
}

/// The name of an option's arg: of an option with a letter alone, the name of its value.
fn flag_name(flag: &Flag, names: &Names) -> String {
    let bare = flag.spellings[0].trim_start_matches('-');
    // The value of a switch that stands without one too.
    if flag.value.as_ref().is_some_and(|value| value.attached || value.optional) && bare.len() > 1 {
        return format!("{}_value", identifier(bare));
    }
    let value_name = flag.value.as_ref().map_or("", |value| &value.name);
    let is_word = value_name.len() > 1 && value_name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    let by_value = identifier(&value_name.to_ascii_lowercase());
    let is_free = !names.reserved.contains(&by_value) && !names.taken.contains(&by_value);
    if bare.chars().count() == 1 && is_word && is_free && flag.more.is_empty() { by_value } else { long_name(flag) }
}

/// The words of an option.
fn words(flag: &Flag) -> String {
    let spelling = &flag.spellings[0];
    if spelling == "-#" {
        return "-{}".to_owned();
    }
    let word = quote(spelling);
    let Some(value) = &flag.value else { return word };
    if flag.more.len() == 1 {
        return format!("{word} {{key}} {{value}}");
    }

    let is_short = is_letter(spelling);
    if spelling.ends_with(':') || is_glued(flag, value) {
        return quote(&format!("{spelling}{{}}"));
    }
    let is_apart = is_short || value.apart && !spelling.starts_with("--") || value.may_be_apart();
    if is_apart || value.several == Several::Words || !flag.more.is_empty() {
        word
    } else {
        quote(&format!("{spelling}="))
    }
}

/// Whether the value of an option follows in the same word, as in `-lfFILE`.
fn is_glued(flag: &Flag, value: &Value) -> bool {
    !flag.spellings[0].starts_with("--") && value.attached && flag.spellings.len() == 1
}

impl DraftArg {
    fn new(name: String, members: Vec<String>) -> Self {
        Self {
            fields: vec![("name", yaml::text(&name))],
            name,
            members,
            required: false,
            place: ArgPlace::Option,
            is_rest: false,
            guesses: Vec::new(),
            source: None,
        }
    }

    fn push(&mut self, key: &'static str, value: String) {
        self.fields.push((key, value));
    }

    /// Keeps the arg out of the published schema.
    pub(super) fn hide(&mut self) {
        let at = self.fields.iter().position(|(key, _)| *key == "description").unwrap_or(self.fields.len());
        self.fields.insert(at, ("shown", "false".to_owned()));
    }

    /// Whether the published schema leaves the arg out.
    pub(super) fn is_hidden(&self) -> bool {
        self.fields.iter().any(|(key, value)| *key == "shown" && value == "false")
    }

    /// Makes the arg optional, since a group demands it.
    pub(super) fn relax(&mut self) {
        self.required = false;
        self.fields.retain(|(key, _)| *key != "required");
    }

    fn required(&mut self, required: bool) {
        if required {
            self.push("required", "true".to_owned());
        }
    }

    /// Writes the type, unless it is `string`, and the allowed values.
    fn value(&mut self, value: &Value) {
        if value.pair {
            return;
        }
        if let (Some(kind), None) = (&value.kind, &value.values)
            && *kind.get() != Type::String
        {
            self.push("type", kind.get().as_str().to_owned());
            if matches!(kind, Sure::Guessed(Type::Integer | Type::Number)) {
                self.guesses.push("the type");
            }
        }
        if let Some(values) = &value.values {
            self.push("enum", yaml::list(values.get()));
            if matches!(values, Sure::Guessed(_)) {
                self.guesses.push("these are all values");
            }
        }
    }

    /// Writes how it takes several values.
    fn several(&mut self, value: &Value) {
        let key = if value.pair { "map" } else { "list" };
        match value.several {
            Several::No if value.pair => self.push(key, "true".to_owned()),
            Several::No => {}
            Several::Each => self.push(key, "true".to_owned()),
            Several::Words if self.place != ArgPlace::Option => self.push(key, "true".to_owned()),
            Several::Words => self.push(key, "words".to_owned()),
            Several::Joined(separator) => self.push(key, yaml::text(&separator.to_string())),
        }
    }

    fn describe(&mut self, about: &str, value: Option<&Value>) {
        let mut about = sentence(about).trim_end_matches(['.', ';']).to_owned();
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

    /// Writes one line in braces, that is indented so; a long arg gets a line for each key.
    pub(super) fn lines(&self, comment: &str, indent: &str) -> String {
        let pairs: Vec<String> = self.fields.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        let short = format!("{indent}- {{{}}}{comment}\n", pairs.join(", "));
        if short.chars().count() <= WIDTH {
            return short;
        }
        format!("{indent}- {}{comment}\n{indent}  {}\n", pairs[0], pairs[1..].join(&format!("\n{indent}  ")))
    }
}
