//! `confine`: which calls are held to the needs of their tools.

use crate::model::Confine;
use crate::read::walk::Walker;
use crate::read::yaml::{Node, NodeKind};

pub(super) const CONFINE_KEYS: &[&str] = &["level", "required"];

/// Reads a level, or a mapping with `level` and `required`.
pub(super) fn confine(walker: &mut Walker<'_>, node: &Node) -> Confine {
    if !matches!(node.kind, NodeKind::Mapping(_)) {
        return Confine { level: walker.word(node, "confine"), required: false };
    }
    let Some(mut fields) = walker.mapping(node, "`confine`", CONFINE_KEYS) else { return Confine::default() };
    let level = fields.word(walker, "level");
    let required = fields.boolean(walker, "required").is_some_and(|required| required.value);
    Confine { level, required }
}
