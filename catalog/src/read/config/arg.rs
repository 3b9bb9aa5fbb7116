//! Args as they are written, and the keys that args share with tools and prompts.

use crate::diagnostic::Code;
use crate::model::{ArgRisk, Rest, Sensitive, Type};
use crate::read::walk::{Fields, Walker};
use crate::read::yaml::{Meaning, Node, NodeKind, Scalar};
use crate::source::{Span, Spanned};

/// An item of `args` or `global_args`.
#[derive(Debug)]
pub(crate) struct ArgConfig {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) description: Option<Spanned<String>>,
    pub(crate) kind: Option<Type>,
    pub(crate) required: Option<Spanned<bool>>,
    pub(crate) default: Option<Spanned<Scalar>>,
    pub(crate) flag: Option<Spanned<String>>,
    pub(crate) positional: Option<Spanned<bool>>,
    pub(crate) cwd: Option<Spanned<bool>>,
    pub(crate) stdin: Option<Spanned<bool>>,
    pub(crate) variable: Option<Spanned<String>>,
    pub(crate) aliases: Vec<Spanned<String>>,
    pub(crate) list: Option<Spanned<SpreadConfig>>,
    pub(crate) map: Option<Spanned<SpreadConfig>>,
    pub(crate) count: Option<Spanned<bool>>,
    pub(crate) rest: Option<Spanned<Rest>>,
    pub(crate) off: Option<Spanned<String>>,
    pub(crate) values: Option<Spanned<Vec<ChoiceConfig>>>,
    pub(crate) min: Option<Spanned<f64>>,
    pub(crate) max: Option<Spanned<f64>>,
    pub(crate) pattern: Option<Spanned<String>>,
    pub(crate) min_items: Option<Spanned<f64>>,
    pub(crate) max_items: Option<Spanned<f64>>,
    pub(crate) shown: Option<Spanned<bool>>,
    pub(crate) risk: Option<Spanned<ArgRisk>>,
    pub(crate) sensitive: Option<Sensitive>,
    pub(crate) output: Option<Spanned<OutputFileConfig>>,
    pub(crate) allow: Option<Allow>,
}

impl ArgConfig {
    /// Whether each call must give a value: the arg is required and has no default.
    pub(crate) fn must_be_given(&self) -> bool {
        self.default.is_none() && self.required.as_ref().is_some_and(|required| required.value)
    }
}

/// A `list` or `map`: how several values stand on the command line.
#[derive(Debug)]
pub(crate) enum SpreadConfig {
    /// `true`: the flag stands before each value.
    Repeat,
    /// `words`: the flag stands once before all values.
    Words,
    /// Any other text: the separator between the values.
    Separator(String),
}

/// An item of `enum`.
#[derive(Debug)]
pub(crate) struct ChoiceConfig {
    pub(crate) value: Spanned<String>,
    pub(crate) title: Option<String>,
    pub(crate) words: Option<Spanned<String>>,
}

/// An `output` of an arg: a file that the program writes.
#[derive(Debug)]
pub(crate) struct OutputFileConfig {
    pub(crate) mime: Option<Spanned<String>>,
    pub(crate) file: Option<Spanned<String>>,
}

/// An `x-allow`: warnings to silence in its mapping.
#[derive(Debug)]
pub(crate) struct Allow {
    /// The mapping.
    pub(crate) region: Span,
    /// Its value. Any value is valid, because keys that start with `x-` are not part of the format.
    pub(crate) node: Node,
}

pub(crate) const DESCRIPTION: &str = "description";
pub(crate) const ARG_NAME: &str = "the arg's name";

/// The key for codes of warnings to silence.
pub(crate) const ALLOW_KEY: &str = "x-allow";
pub(crate) const ARG_KEYS: &[&str] = &[
    "name",
    DESCRIPTION,
    "type",
    "required",
    "default",
    "flag",
    "positional",
    "cwd",
    "stdin",
    "variable",
    "aliases",
    "list",
    "map",
    "count",
    "rest",
    "off",
    "enum",
    "min",
    "max",
    "pattern",
    "min_items",
    "max_items",
    "shown",
    "risk",
    "sensitive",
    "output",
    ALLOW_KEY,
];
pub(crate) const CHOICE_KEYS: &[&str] = &["value", "title", "words"];
pub(crate) const OUTPUT_FILE_KEYS: &[&str] = &["mime", "file"];

pub(super) fn arg(walker: &mut Walker<'_>, node: &Node) -> Option<ArgConfig> {
    let mut fields = walker.mapping(node, "an arg", ARG_KEYS)?;
    let typed = fields.has("type");
    let kind = fields.word(walker, "type");
    let default = fields.optional("default").and_then(|node| default(walker, node));

    Some(ArgConfig {
        name: fields.required(walker, "name", ARG_NAME).and_then(|node| walker.string(node, "name")),
        description: fields.string(walker, DESCRIPTION),
        kind,
        // The default cannot be checked against an unknown type.
        default: default.filter(|_| kind.is_some() || !typed),
        required: fields.boolean(walker, "required"),
        flag: fields.optional_string(walker, "flag"),
        positional: fields.boolean(walker, "positional"),
        cwd: fields.boolean(walker, "cwd"),
        stdin: fields.boolean(walker, "stdin"),
        variable: fields.optional_string(walker, "variable"),
        aliases: fields.list(walker, "aliases", |walker, node| walker.string(node, "an item of `aliases`")),
        list: fields.optional("list").and_then(|node| spread(walker, node, "list")),
        map: fields.optional("map").and_then(|node| spread(walker, node, "map")),
        count: fields.boolean(walker, "count"),
        rest: fields.optional("rest").and_then(|node| rest(walker, node)),
        off: fields.optional_string(walker, "off"),
        values: fields.optional("enum").and_then(|node| choices(walker, node)),
        min: fields.optional_number(walker, "min"),
        max: fields.optional_number(walker, "max"),
        pattern: fields.optional_string(walker, "pattern"),
        min_items: fields.optional_number(walker, "min_items"),
        max_items: fields.optional_number(walker, "max_items"),
        shown: fields.boolean(walker, "shown"),
        risk: fields.optional("risk").and_then(|node| risk(walker, node)),
        sensitive: fields.optional("sensitive").and_then(|node| super::effects::sensitive(walker, node)),
        output: fields.optional("output").and_then(|node| output_file(walker, node)),
        allow: allow(&mut fields),
    })
}

fn output_file(walker: &mut Walker<'_>, node: &Node) -> Option<Spanned<OutputFileConfig>> {
    let mut fields = walker.mapping(node, "an `output` of an arg", OUTPUT_FILE_KEYS)?;
    let mime = fields.required(walker, "mime", "the media type of what the program writes");
    let mime = mime.and_then(|node| walker.string(node, "mime"));
    let file = fields.optional_string(walker, "file");
    Some(Spanned { value: OutputFileConfig { mime, file }, span: walker.first_line(node.span) })
}

pub(super) fn allow(fields: &mut Fields<'_>) -> Option<Allow> {
    fields.optional(ALLOW_KEY).map(|node| Allow { region: fields.extent(), node: node.clone() })
}

fn default(walker: &mut Walker<'_>, node: &Node) -> Option<Spanned<Scalar>> {
    if let NodeKind::Scalar(scalar) = &node.kind {
        return Some(Spanned { value: scalar.clone(), span: node.span });
    }
    let help = "write one value without brackets; the default of a list or map is that of its program";
    walker.wrong_type(node, "default", "a string, number or boolean", help);
    None
}

/// Reads `true` or `command`; `None` for `false`.
fn rest(walker: &mut Walker<'_>, node: &Node) -> Option<Spanned<Rest>> {
    let value = match &node.kind {
        NodeKind::Scalar(scalar) if scalar.meaning() == Meaning::Bool(false) => None,
        NodeKind::Scalar(scalar) if scalar.meaning() == Meaning::Bool(true) => Some(Rest::Words),
        NodeKind::Scalar(scalar) if scalar.meaning() == Meaning::Str("command") => Some(Rest::Command),
        _ => {
            let help = "write `true` for any words, or `command` for a command of another tool";
            walker.wrong_type(node, "rest", "`true` or `command`", help);
            None
        }
    };
    value.map(|value| Spanned { value, span: node.span })
}

/// Reads `true`, `words` or a separator; `None` for `false`.
fn spread(walker: &mut Walker<'_>, node: &Node, key: &str) -> Option<Spanned<SpreadConfig>> {
    let NodeKind::Scalar(scalar) = &node.kind else {
        walker.wrong_type(node, key, "true, `words` or a separator", "write `true` to have the flag before each value");
        return None;
    };

    let value = match scalar.meaning() {
        Meaning::Bool(false) => return None,
        Meaning::Bool(true) => SpreadConfig::Repeat,
        Meaning::Str("words") => SpreadConfig::Words,
        Meaning::Str(separator) => SpreadConfig::Separator(separator.to_owned()),
        Meaning::Null | Meaning::Int(_) | Meaning::Float(_) => {
            let help = "write `true` to have the flag before each value, or the separator in quotes";
            walker.wrong_type(node, key, "true, `words` or a separator", help);
            return None;
        }
    };

    Some(Spanned { value, span: node.span })
}

/// Reads one risk, or a mapping of values to risks with `else`.
fn risk(walker: &mut Walker<'_>, node: &Node) -> Option<Spanned<ArgRisk>> {
    let NodeKind::Mapping(_) = &node.kind else {
        let risk = walker.word(node, "risk")?;
        return Some(Spanned { value: ArgRisk::Always(risk), span: node.span });
    };

    let mut values = walker.entries(node, "risk", |walker, name, node| Some((name.value, walker.word(node, "risk")?)));
    let otherwise = values.iter().position(|(name, _)| name == "else").map(|at| values.remove(at).1);
    let span = walker.first_line(node.span);
    let Some(otherwise) = otherwise else {
        let message = "a `risk` by value has no `else`".to_owned();
        walker.report(Code::MissingKey, span, message, "add `else:` with the risk of all other values");
        return None;
    };

    Some(Spanned { value: ArgRisk::ByValue { values, otherwise }, span })
}

/// Reads an `enum`: a list of values, or a mapping of values to the words that stand for them.
fn choices(walker: &mut Walker<'_>, node: &Node) -> Option<Spanned<Vec<ChoiceConfig>>> {
    let (value, is_empty) = match &node.kind {
        NodeKind::Sequence(items) => (walker.list(node, "enum", choice), items.is_empty()),
        NodeKind::Mapping(mapping) => {
            let entry = |walker: &mut Walker<'_>, value, node: &Node| {
                let words = Some(walker.string(node, "a value of `enum`")?);
                Some(ChoiceConfig { value, title: None, words })
            };
            (walker.entries(node, "enum", entry), mapping.entries.is_empty())
        }
        NodeKind::Scalar(_) => {
            walker.wrong_type(node, "enum", "a list of strings", "write `enum: [first, second]`");
            return None;
        }
    };
    // If every item was reported, an empty enum is not reported as well.
    (!value.is_empty() || is_empty).then_some(Spanned { value, span: node.span })
}

/// Reads an item of an `enum`: a value, or a mapping with `value`.
fn choice(walker: &mut Walker<'_>, node: &Node) -> Option<ChoiceConfig> {
    if !matches!(node.kind, NodeKind::Mapping(_)) {
        let value = walker.string(node, "an item of `enum`")?;
        return Some(ChoiceConfig { value, title: None, words: None });
    }

    let mut fields = walker.mapping(node, "an item of `enum`", CHOICE_KEYS)?;
    let value = fields.required(walker, "value", "the value that the agent gives");
    let title = fields.optional_string(walker, "title").map(|title| title.value);
    let words = fields.optional_string(walker, "words");
    Some(ChoiceConfig { value: walker.string(value?, "value")?, title, words })
}

/// Reads the values of an `enum` without titles and words.
pub(super) fn enum_values(walker: &mut Walker<'_>, node: &Node) -> Option<Spanned<Vec<Spanned<String>>>> {
    if !matches!(node.kind, NodeKind::Sequence(_)) {
        walker.wrong_type(node, "enum", "a list of strings", "write `enum: [first, second]`");
        return None;
    }
    let value = walker.list(node, "enum", |walker, node| walker.string(node, "an item of `enum`"));
    // If every item was reported, an empty enum is not reported as well.
    let is_told = value.is_empty() && matches!(&node.kind, NodeKind::Sequence(items) if !items.is_empty());
    (!is_told).then_some(Spanned { value, span: node.span })
}
