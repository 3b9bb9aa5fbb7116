//! Args as they are written, and the keys that args share with tools and prompts.

use crate::model::Type;
use crate::read::source::{Span, Spanned};
use crate::read::walk::{Fields, Walker};
use crate::read::yaml::{Node, NodeKind, Scalar};

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
    pub(crate) values: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) output: Option<Spanned<OutputFileConfig>>,
    pub(crate) allow: Option<Allow>,
}

impl ArgConfig {
    /// Whether each call must give a value: the arg is required and has no default.
    pub(crate) fn must_be_given(&self) -> bool {
        self.default.is_none() && self.required.as_ref().is_some_and(|required| required.value)
    }
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
    "enum",
    "output",
    ALLOW_KEY,
];
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
        values: fields.optional("enum").and_then(|node| enum_values(walker, node)),
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
    walker.wrong_type(
        node,
        "default",
        "a string, number or boolean",
        "an arg takes one value; write it without brackets",
    );
    None
}

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
