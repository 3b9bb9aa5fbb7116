//! YAML text → a tree whose nodes have locations.
//!
//! Only this module uses the YAML crate. It reads the parser's events instead of serde's data model: serde stops at the
//! first mistake, and a syntax error would hide every mistake above it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use granit_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Value};

mod ambiguous;

use ambiguous::yaml_1_1_reading;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Source, Span};

/// The most bytes that all aliases of a file may copy.
const MAX_COPIED_BYTES: usize = 32 << 20;
/// The deepest nesting that aliases may produce; the parser itself allows 255 levels.
const MAX_DEPTH: usize = 300;

/// One node of the tree.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) kind: NodeKind,
}

#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Scalar(Scalar),
    Sequence(Vec<Node>),
    Mapping(Mapping),
}

/// A mapping's entries as written, duplicates included. Entries of merge keys follow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mapping {
    pub(crate) entries: Vec<(Node, Node)>,
    /// The number of entries that stand in the mapping itself.
    pub(crate) own: usize,
    /// Whether a syntax error ended the mapping early. Missing keys are not reported then.
    pub(crate) truncated: bool,
}

/// A scalar's text, and whether the text determines its type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    plain: bool,
}

/// The value of a scalar in the YAML 1.2 core schema.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(&'a str),
}

impl Scalar {
    /// Reads the scalar by the core schema (YAML 1.2.2 §10.3.2). An integer beyond `i64` is a float.
    pub(crate) fn meaning(&self) -> Meaning<'_> {
        let text = self.text.as_str();
        if !self.plain {
            return Meaning::Str(text);
        }
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Meaning::Null,
            "true" | "True" | "TRUE" => Meaning::Bool(true),
            "false" | "False" | "FALSE" => Meaning::Bool(false),
            _ => number(text).unwrap_or(Meaning::Str(text)),
        }
    }

    /// Returns the value as JSON.
    pub(crate) fn to_json(&self) -> Value {
        match self.meaning() {
            Meaning::Null => Value::Null,
            Meaning::Bool(value) => value.into(),
            Meaning::Int(value) => value.into(),
            Meaning::Float(value) => value.into(),
            Meaning::Str(text) => text.into(),
        }
    }
}

impl Node {
    /// Describes the node for messages: "expected a string, found …".
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            NodeKind::Sequence(_) => "a list".to_owned(),
            NodeKind::Mapping(_) => "a mapping".to_owned(),
            NodeKind::Scalar(scalar) => match scalar.meaning() {
                Meaning::Null => "nothing".to_owned(),
                Meaning::Bool(value) => format!("the boolean `{value}`"),
                Meaning::Int(_) | Meaning::Float(_) => format!("the number `{}`", scalar.text),
                Meaning::Str(text) => format!("the string `{}`", shorten(text)),
            },
        }
    }

    /// Returns the node as JSON. Keys that are collections are left out, and of equal keys the first one counts.
    pub(crate) fn to_json(&self) -> Value {
        match &self.kind {
            NodeKind::Scalar(scalar) => scalar.to_json(),
            NodeKind::Sequence(items) => items.iter().map(Self::to_json).collect(),
            NodeKind::Mapping(mapping) => {
                let entries = mapping.entries.iter().rev();
                entries.filter_map(|(key, value)| Some((key.name()?, value.to_json()))).collect::<Map<_, _>>().into()
            }
        }
    }

    /// Returns whether the node is null: `key:` without a value, `~` or `null`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.kind, NodeKind::Scalar(scalar) if scalar.meaning() == Meaning::Null)
    }

    /// Returns whether the node is the plain key `<<`.
    fn is_merge_key(&self) -> bool {
        matches!(&self.kind, NodeKind::Scalar(scalar) if scalar.plain && scalar.text == "<<")
    }

    /// Returns the text of a key; `None` for a collection.
    fn name(&self) -> Option<String> {
        match &self.kind {
            NodeKind::Scalar(scalar) => Some(scalar.text.clone()),
            NodeKind::Sequence(_) | NodeKind::Mapping(_) => None,
        }
    }

    /// Levels of collections below the node, itself included.
    fn depth(&self) -> usize {
        match &self.kind {
            NodeKind::Scalar(_) => 0,
            NodeKind::Sequence(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            NodeKind::Mapping(mapping) => {
                1 + mapping.entries.iter().map(|(k, v)| k.depth().max(v.depth())).max().unwrap_or(0)
            }
        }
    }

    /// Estimates the memory of a copy of the node, in bytes.
    fn bytes(&self) -> usize {
        let own = size_of::<Self>();
        match &self.kind {
            NodeKind::Scalar(scalar) => own + scalar.text.len(),
            NodeKind::Sequence(items) => own + items.iter().map(Self::bytes).sum::<usize>(),
            NodeKind::Mapping(mapping) => {
                own + mapping.entries.iter().map(|(k, v)| k.bytes() + v.bytes()).sum::<usize>()
            }
        }
    }
}

/// Shortens a text for a message.
pub(crate) fn shorten(text: &str) -> Cow<'_, str> {
    const MAX_CHARS: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]).into(),
        None if line.len() < text.len() => format!("{line}…").into(),
        None => text.into(),
    }
}

fn number(text: &str) -> Option<Meaning<'static>> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0o")) {
        let radix = if text.starts_with("0x") { 16 } else { 8 };
        return i64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with(['+', '-'])).map(Meaning::Int);
    }

    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" if text.starts_with('-') => return Some(Meaning::Float(f64::NEG_INFINITY)),
        ".inf" | ".Inf" | ".INF" => return Some(Meaning::Float(f64::INFINITY)),
        ".nan" | ".NaN" | ".NAN" if unsigned == text => return Some(Meaning::Float(f64::NAN)),
        _ => {}
    }

    let numeric = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned.contains(|c: char| c.is_ascii_digit())
        && unsigned.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    if !numeric {
        return None;
    }

    if unsigned.bytes().all(|b| b.is_ascii_digit())
        && let Ok(value) = text.parse()
    {
        return Some(Meaning::Int(value));
    }

    text.parse().ok().map(Meaning::Float)
}

/// Parses the one document of `source`.
///
/// Mistakes go to `out`. After a syntax error the tree holds the nodes above the error; `None` if there are none.
pub(crate) fn parse(source: &Source, out: &mut Vec<Diagnostic>) -> Option<Node> {
    let mut builder = TreeBuilder { source, out, open: Vec::new(), anchors: HashMap::new(), copied: 0, root: None };
    let mut documents = 0;
    for event in Parser::new_from_str(source.text()) {
        match event {
            Err(error) => {
                builder.syntax_error(&error);
                break;
            }
            Ok((Event::DocumentStart(..), span)) => {
                documents += 1;
                if documents > 1 {
                    builder.second_document(span_of(span));
                    break;
                }
            }
            Ok((event, span)) => {
                if !builder.event(event, span_of(span)) {
                    break;
                }
            }
        }
    }

    builder.finish()
}

fn span_of(span: granit_parser::Span) -> Span {
    let range = span.byte_range().unwrap_or(0..0);
    Span { start: range.start, end: range.end }
}

/// A collection whose end has not been read.
struct OpenNode {
    span: Span,
    anchor: usize,
    content: Content,
}

enum Content {
    Sequence(Vec<Node>),
    Mapping { mapping: Mapping, key: Option<Node> },
}

struct TreeBuilder<'a> {
    source: &'a Source,
    out: &'a mut Vec<Diagnostic>,
    open: Vec<OpenNode>,
    anchors: HashMap<usize, Node>,
    copied: usize,
    root: Option<Node>,
}

impl TreeBuilder<'_> {
    /// Takes one event; `false` ends the reading.
    fn event(&mut self, event: Event<'_>, span: Span) -> bool {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = self.is_plain(style, tag.as_deref(), span);
                let scalar = Scalar { text: text.into_owned(), plain };
                // `off` is a key of the format, so it is written without quotes.
                if plain && !(self.expects_key() && scalar.text == "off") {
                    self.warn_if_ambiguous(&scalar.text, span);
                }
                self.refuse_nul(&scalar.text, span);
                return self.add(Node { span, kind: NodeKind::Scalar(scalar) }, anchor);
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.check_tag(tag.as_deref(), &["seq"], span);
                self.open.push(OpenNode { span, anchor, content: Content::Sequence(Vec::new()) });
            }
            Event::MappingStart(_, anchor, tag) => {
                self.check_tag(tag.as_deref(), &["map"], span);
                let content = Content::Mapping { mapping: Mapping::default(), key: None };
                self.open.push(OpenNode { span, anchor, content });
            }
            Event::SequenceEnd | Event::MappingEnd => return self.close(Some(span)),
            Event::Alias(anchor) => return self.alias(anchor, span),
            _ => {}
        }
        true
    }

    /// Whether the next node is a key of a mapping.
    fn expects_key(&self) -> bool {
        matches!(self.open.last().map(|open| &open.content), Some(Content::Mapping { key: None, .. }))
    }

    /// Adds a node to the tree; `false` if that would copy too many bytes.
    fn add(&mut self, node: Node, anchor: usize) -> bool {
        if anchor != 0 {
            if !self.may_copy(&node, node.span) {
                return false;
            }
            self.anchors.insert(anchor, node.clone());
        }

        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(Content::Sequence(items)) => items.push(node),
            Some(Content::Mapping { mapping, key }) => match key.take() {
                None => *key = Some(node),
                Some(key) => mapping.entries.push((key, node)),
            },
        }

        true
    }

    /// Counts a copy that is about to be made.
    fn may_copy(&mut self, node: &Node, span: Span) -> bool {
        self.copied += node.bytes();
        if self.copied <= MAX_COPIED_BYTES {
            return true;
        }
        let message = format!("anchors and aliases stand for more than {} MiB", MAX_COPIED_BYTES >> 20);
        let error = self.source.diagnostic(Code::AliasBomb, span, message);
        self.out.push(error.help("write the values out, or use fewer nested aliases"));
        false
    }

    /// Ends the innermost collection; without `end`, if the text ended early.
    fn close(&mut self, end: Option<Span>) -> bool {
        let Some(open) = self.open.pop() else { return true };
        let kind = match open.content {
            Content::Sequence(items) => NodeKind::Sequence(items),
            Content::Mapping { mut mapping, .. } => {
                mapping.truncated = end.is_none();
                self.merge(&mut mapping);
                NodeKind::Mapping(mapping)
            }
        };
        let text = self.source.text();
        let end = end.map_or(text.len(), |span| span.end).max(open.span.start);
        let end = open.span.start + text[open.span.start..end].trim_end().len();
        self.add(Node { span: Span { start: open.span.start, end }, kind }, open.anchor)
    }

    /// Adds the entries of the mappings that merge keys name. Own keys win, then those of the first mapping.
    ///
    /// Source: yaml.org/type/merge.html. YAML 1.2 dropped the key, and most readers still resolve it.
    fn merge(&mut self, mapping: &mut Mapping) {
        let (merges, own): (Vec<_>, Vec<_>) =
            std::mem::take(&mut mapping.entries).into_iter().partition(|(key, _)| key.is_merge_key());
        mapping.entries = own;
        mapping.own = mapping.entries.len();
        let mut names: HashSet<String> = mapping.entries.iter().filter_map(|(key, _)| key.name()).collect();
        let inherited = merges.into_iter().flat_map(|(_, value)| self.merged_entries(value)).collect::<Vec<_>>();

        mapping
            .entries
            .extend(inherited.into_iter().filter(|(key, _)| key.name().is_none_or(|name| names.insert(name))));
    }

    /// Returns the entries of the value of a merge key: a mapping, or a list of mappings.
    fn merged_entries(&mut self, value: Node) -> Vec<(Node, Node)> {
        match value.kind {
            NodeKind::Mapping(mapping) => mapping.entries,
            NodeKind::Sequence(items) if items.iter().all(|item| matches!(item.kind, NodeKind::Mapping(_))) => {
                items.into_iter().flat_map(|item| self.merged_entries(item)).collect()
            }
            NodeKind::Sequence(_) | NodeKind::Scalar(_) => {
                let message = format!("`<<` must name a mapping or a list of mappings, found {}", value.describe());
                let error = self.source.diagnostic(Code::WrongType, value.span, message);
                self.out.push(error.help("write `<<: *NAME`, or `<<: [*FIRST, *SECOND]`; quote `\"<<\"` for the text"));
                Vec::new()
            }
        }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> bool {
        let Some(node) = self.anchors.remove(&anchor) else {
            self.out.push(
                self.source
                    .diagnostic(Code::Syntax, span, "alias stands inside the node that it names")
                    .help("write the value out"),
            );
            return false;
        };
        if !self.may_copy(&node, span) {
            return false;
        }
        if self.open.len() + node.depth() > MAX_DEPTH {
            let message = format!("aliases nest more than {MAX_DEPTH} levels deep");
            self.out.push(self.source.diagnostic(Code::AliasBomb, span, message).help("write the values out"));
            return false;
        }

        let copy = Node { span, kind: node.kind.clone() };
        self.anchors.insert(anchor, node);
        self.add(copy, 0)
    }

    /// Reports NUL characters: no program accepts them in arguments, and the tables use them as separators.
    fn refuse_nul(&mut self, text: &str, span: Span) {
        if !text.contains('\0') {
            return;
        }

        let written = &self.source.text()[span.start..span.end];
        let escapes = ["\\0", "\\x00", "\\u0000", "\\U00000000"];
        let found = escapes.iter().find_map(|escape| Some((written.find(escape)?, escape.len())));
        let span = found.map_or(span, |(at, length)| Span { start: span.start + at, end: span.start + at + length });
        let error = self.source.diagnostic(Code::Nul, span, "a config cannot hold a NUL character");
        self.out.push(error.help("remove it"));
    }

    /// Returns whether the text determines the scalar's type: it is unquoted, or has a tag.
    fn is_plain(&mut self, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> bool {
        match tag {
            None => style == ScalarStyle::Plain,
            Some(tag) => {
                self.check_tag(Some(tag), &["str", "int", "float", "bool", "null"], span);
                tag.suffix() != "str"
            }
        }
    }

    fn check_tag(&mut self, tag: Option<&Tag>, allowed: &[&str], span: Span) {
        let Some(tag) = tag else { return };
        if tag.handle() != "tag:yaml.org,2002:" || !allowed.contains(&tag.suffix()) {
            self.out.push(
                self.source
                    .diagnostic(
                        Code::UnsupportedTag,
                        span,
                        format!("tag `{}{}` has no meaning here", tag.handle(), tag.suffix()),
                    )
                    .help("remove the tag; quote the value to make it a string"),
            );
        }
    }

    fn warn_if_ambiguous(&mut self, text: &str, span: Span) {
        if let Some(other) = yaml_1_1_reading(text) {
            self.out.push(
                self.source
                    .diagnostic(
                        Code::AmbiguousScalar,
                        span,
                        format!("YAML 1.1 reads `{text}` as {other}, YAML 1.2 does not"),
                    )
                    .help(unambiguous(text)),
            );
        }
    }

    fn second_document(&mut self, span: Span) {
        self.out.push(
            self.source
                .diagnostic(
                    Code::MultipleDocuments,
                    span,
                    "a second YAML document starts here, expected one config per file",
                )
                .help("move it to a file of its own"),
        );
    }

    fn syntax_error(&mut self, error: &granit_parser::ScanError) {
        let text = self.source.text();
        let start = error.marker().byte_offset().unwrap_or(0).min(text.len());
        let end = text[start..].chars().next().map_or(start, |c| start + c.len_utf8());
        let help = if error.kind().to_string().contains("recursion") {
            "nest less deeply: no config needs more than a few levels"
        } else if text[..start].ends_with('\t') || text[start..].starts_with('\t') {
            "indent with spaces: YAML does not allow tabs there"
        } else if text[start..].starts_with('*') {
            "name an anchor (`&NAME`) that stands above, or quote the text"
        } else {
            "check indentation, quotes and brackets here and on the line above; quote texts that hold `: ` or ` #`"
        };
        self.out.push(
            self.source
                .diagnostic(Code::Syntax, Span { start, end }, format!("invalid YAML: {}", error.kind()))
                .help(help),
        );
    }

    fn finish(mut self) -> Option<Node> {
        while let Some(open) = self.open.last_mut() {
            // No alias can follow.
            open.anchor = 0;
            self.close(None);
        }
        self.root
    }
}

/// Help: how to write a scalar so that YAML 1.1 and 1.2 agree on it.
fn unambiguous(text: &str) -> String {
    match number(text) {
        Some(Meaning::Int(value)) => format!("write {value} for the number, \"{text}\" for the text"),
        _ => format!("quote it: \"{text}\""),
    }
}
