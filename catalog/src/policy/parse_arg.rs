//! The policy format of rules for args.

use super::keys::ARG_KEYS;
use super::parse_executor::texts;
use super::{ArgPolicy, ArgRule};
use crate::diagnostic::Code;
use crate::read::pattern::pattern;
use crate::read::walk::{Fields, Walker};
use crate::read::yaml::{Node, NodeKind};
use crate::source::{Span, Spanned};

/// The word in place of a rule by which no call can give the arg.
pub(super) const DENY: &str = "deny";

/// Reads the rule for an arg: its keys, or `deny`.
pub(super) fn arg_rule(walker: &mut Walker<'_>, name: Spanned<String>, node: &Node) -> Option<ArgPolicy> {
    let empty = ArgPolicy {
        name: name.value,
        span: name.span,
        rule: ArgRule::default(),
        allow_leading_dash: false,
        required: false,
        shown: None,
        denied: false,
    };

    if let NodeKind::Scalar(scalar) = &node.kind
        && scalar.text == DENY
    {
        return Some(ArgPolicy { denied: true, ..empty });
    }

    let mut fields = walker.mapping(node, "a rule for an arg", ARG_KEYS)?;
    let [required, shown, dash] = ["required", "shown", "allow_leading_dash"]
        .map(|key| fields.optional(key).and_then(|node| Some((walker.flag(node, key)?, node.span))));
    let is_fixed = fields.has("value");
    contradictions(walker, required, shown, is_fixed);
    let rule = ArgRule {
        fixed: fields.optional("value").and_then(|node| word(walker, node, "value")),
        values: values(walker, &mut fields)?,
        within: within(walker, &mut fields),
        approval: fields.optional_string(walker, "require_approval").and_then(|text| pattern(walker, &text)),
        ..bounds(walker, &mut fields)
    };
    let is_set = |flag: Option<(bool, Span)>| flag.is_some_and(|(is_set, _)| is_set);

    Some(ArgPolicy {
        rule,
        allow_leading_dash: is_set(dash),
        required: is_set(required),
        shown: shown.map(|(is_shown, _)| is_shown),
        ..empty
    })
}

/// Reports keys of a rule that exclude each other.
fn contradictions(
    walker: &mut Walker<'_>,
    required: Option<(bool, Span)>,
    shown: Option<(bool, Span)>,
    is_fixed: bool,
) {
    let is_required = required.filter(|(is_required, _)| *is_required);
    if let (Some(_), Some((false, span))) = (is_required, shown) {
        let message =
            "a required arg cannot have `shown: false`: agents would not know that they must give it".to_owned();
        walker.report(Code::Contradiction, span, message, "remove `shown`, or give the arg a `value`");
    }

    if let (Some((_, span)), true) = (is_required, is_fixed) {
        let message = "an arg with a `value` is never given by agents, so it cannot be required".to_owned();
        walker.report(Code::Contradiction, span, message, "remove `required` or `value`");
    }

    if let (Some((true, span)), true) = (shown, is_fixed) {
        let message = "an arg with a `value` is never given by agents, so it cannot be shown".to_owned();
        walker.report(Code::Contradiction, span, message, "remove `shown` or `value`");
    }
}

/// Reads `pattern`, `min` and `max`.
fn bounds(walker: &mut Walker<'_>, fields: &mut Fields<'_>) -> ArgRule {
    let pattern = fields.optional_string(walker, "pattern").and_then(|text| pattern(walker, &text));
    let [min, max] = ["min", "max"].map(|key| fields.optional_number(walker, key));
    for bound in [&min, &max].into_iter().flatten().filter(|bound| !bound.value.is_finite()) {
        let message = "`min` and `max` must be finite".to_owned();
        walker.report(Code::IllegalRange, bound.span, message, "leave the key out for no bound");
    }

    if let (Some(min), Some(max)) = (&min, &max)
        && min.value > max.value
    {
        let message = format!("no number is both at least {} and at most {}", min.value, max.value);
        walker.report(Code::IllegalRange, min.span, message, "exchange `min` and `max`");
    }

    let [min, max] = [min, max].map(|bound| bound.map(|bound| bound.value));
    ArgRule { pattern, min, max, ..ArgRule::default() }
}

/// Reads `enum`. An empty list is an error, since it would permit no value.
fn values(walker: &mut Walker<'_>, fields: &mut Fields<'_>) -> Option<Vec<String>> {
    let Some(node) = fields.optional("enum") else { return Some(Vec::new()) };
    let values = walker.list(node, "enum", |walker, node| word(walker, node, "an item of `enum`"));
    if values.is_empty() {
        let message = "`enum` has no value".to_owned();
        let span = walker.first_line(node.span);
        walker.report(
            Code::EmptyValue,
            span,
            message,
            "write `deny` in place of the rule, so that no call gives the arg",
        );
        return None;
    }

    Some(values)
}

/// Reads `within`. An empty list is an error, since it would permit no path.
fn within(walker: &mut Walker<'_>, fields: &mut Fields<'_>) -> Vec<String> {
    let span = fields.remaining().find(|(key, _)| *key == "within").map(|(_, span)| walker.first_line(span));
    let directories: Vec<String> = texts(walker, fields, "within").into_iter().map(|path| path.value).collect();
    if let (Some(span), true) = (span, directories.iter().all(String::is_empty)) {
        let message = "`within` names no directory".to_owned();
        walker.report(Code::EmptyValue, span, message, "name the directories that paths must be in");
    }
    directories
}

/// Reads a value as it stands on the command line. Numbers and booleans need no quotes.
fn word(walker: &mut Walker<'_>, node: &Node, what: &str) -> Option<String> {
    match &node.kind {
        NodeKind::Scalar(scalar) if !node.is_null() => Some(scalar.text.clone()),
        _ => walker.string(node, what).map(|text| text.value),
    }
}
