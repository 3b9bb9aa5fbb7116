//! `x-allow`: silenced warnings.

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::read::config::{Allow, Config};
use crate::read::yaml::{Meaning, Node, NodeKind, shorten};
use crate::source::{Source, Span, Spanned};
use crate::suggest::did_you_mean;

/// The warnings that a config silences, and where.
#[derive(Debug, Default)]
pub(crate) struct Silenced {
    regions: Vec<(Span, Code)>,
}

impl Silenced {
    /// Reads every `x-allow` of a config. Unknown codes and codes of errors silence nothing.
    pub(crate) fn new(source: &Source, config: &Config) -> Self {
        // The text above the first key belongs to the config too: a diagnostic about the whole file starts there.
        let whole = Span { start: 0, end: source.text().len() };
        let regions = |allow: &Allow, region: Span| -> Vec<(Span, Code)> {
            let codes = codes(&allow.node).unwrap_or_default();
            codes.iter().filter_map(|code| Some((region, silenceable(&code.value)?))).collect()
        };
        let mut all: Vec<(Span, Code)> = config.allow.iter().flat_map(|allow| regions(allow, whole)).collect();
        all.extend(inner(config).flat_map(|allow| regions(allow, allow.region)));

        Self { regions: all }
    }

    /// Drops the silenced warnings.
    pub(crate) fn apply(&self, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        if !self.regions.is_empty() {
            found.retain(|one| one.severity() == Severity::Error || !self.covers(one));
        }
        found
    }

    fn covers(&self, one: &Diagnostic) -> bool {
        let holds = |region: &Span| one.span().is_none_or(|span| region.start <= span.start && span.end <= region.end);
        self.regions.iter().any(|(region, code)| *code == one.code() && holds(region))
    }
}

/// Every `x-allow` of a config.
pub(super) fn all(config: &Config) -> impl Iterator<Item = &Allow> {
    config.allow.iter().chain(inner(config))
}

/// Those of its tools and args.
fn inner(config: &Config) -> impl Iterator<Item = &Allow> {
    let tools = config
        .tools
        .iter()
        .flat_map(|tool| tool.allow.iter().chain(tool.args.iter().filter_map(|arg| arg.allow.as_ref())));
    config.global_args.iter().filter_map(|arg| arg.allow.as_ref()).chain(tools)
}

/// Reports mistakes in an `x-allow`.
pub(super) fn mistakes(source: &Source, allow: &Allow) -> Vec<Diagnostic> {
    let Some(codes) = codes(&allow.node) else {
        let message = format!("`x-allow` must be a list of codes, found {}", allow.node.describe());
        let help = "write `x-allow: [CODE]` with codes as messages print them in brackets";
        return vec![source.diagnostic(Code::LintAllow, allow.node.span, message).help(help)];
    };

    let unusable = codes.iter().filter(|code| silenceable(&code.value).is_none());
    unusable
        .map(|code| source.diagnostic(Code::LintAllow, code.span, why_not(&code.value)).help(remedy(&code.value)))
        .collect()
}

fn why_not(name: &str) -> String {
    match Code::named(name) {
        Some(_) => format!("`{name}` is an error, which cannot be silenced"),
        None => format!("no warning has the code `{}`", shorten(name)),
    }
}

fn remedy(name: &str) -> String {
    if Code::named(name).is_some() {
        return "mend what it is about, and remove it here".to_owned();
    }
    match did_you_mean(name, Code::silenceable().map(Code::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write a code as messages print it in brackets".to_owned(),
    }
}

fn silenceable(name: &str) -> Option<Code> {
    Code::named(name).filter(|code| code.severity() == Severity::Warning)
}

/// The codes of a list of strings.
fn codes(node: &Node) -> Option<Vec<Spanned<String>>> {
    let NodeKind::Sequence(items) = &node.kind else { return None };
    items.iter().map(code).collect()
}

fn code(node: &Node) -> Option<Spanned<String>> {
    let NodeKind::Scalar(scalar) = &node.kind else { return None };
    let Meaning::Str(text) = scalar.meaning() else { return None };
    Some(Spanned { value: text.to_owned(), span: node.span })
}
