//! Reads `effects`, and `sensitive` of tools and args.

use crate::effects::{Effects, Language};
use crate::model::Sensitive;
use crate::needs::ANY;
use crate::read::walk::{Fields, Walker};
use crate::read::yaml::{Node, NodeKind};
use crate::source::Spanned;

pub(crate) const EFFECTS_KEYS: &[&str] = &["files", "trees", "by", "hosts", "code", "names_only", "bare"];

/// `effects` as they are written: the names of args have their places.
#[derive(Debug)]
pub(crate) struct EffectsConfig {
    pub(crate) effects: Effects,
    /// The names of args in it.
    pub(crate) names: Vec<Spanned<String>>,
}

/// Reads the effects of a config or a tool.
pub(crate) fn effects(walker: &mut Walker<'_>, fields: &mut Fields<'_>) -> Option<Spanned<EffectsConfig>> {
    let node = fields.optional("effects")?;
    let span = walker.first_line(node.span);
    let mut fields = walker.mapping(node, "`effects`", EFFECTS_KEYS)?;
    let mut names = Vec::new();
    let files = args(walker, fields.optional("files"), "files", &mut names);
    let trees = match fields.optional("trees") {
        Some(node) if !matches!(node.kind, NodeKind::Sequence(_)) => {
            let always = walker.flag(node, "trees").unwrap_or_default();
            always.then(|| ANY.to_owned()).into_iter().collect()
        }
        node => args(walker, node, "trees", &mut names),
    };
    let by = args(walker, fields.optional("by"), "by", &mut names);
    let hosts = args(walker, fields.optional("hosts"), "hosts", &mut names);
    let code = fields.optional("code").map_or_else(Vec::new, |node| code(walker, node, &mut names));
    let names_only = fields.boolean(walker, "names_only").is_some_and(|is_so| is_so.value);
    let bare = fields.word(walker, "bare");

    let effects = Effects { files, trees, by, hosts, code, names_only, bare };
    Some(Spanned { value: EffectsConfig { effects, names }, span })
}

/// Reads a list of names of args, and adds them to `names`.
fn args(walker: &mut Walker<'_>, node: Option<&Node>, key: &str, names: &mut Vec<Spanned<String>>) -> Vec<String> {
    let Some(node) = node else { return Vec::new() };
    let own = walker.list(node, key, |walker, node| walker.string(node, "the name of an arg"));
    names.extend(own.iter().cloned());
    own.into_iter().map(|name| name.value).collect()
}

/// Reads the args that hold programs, each with the language.
fn code(walker: &mut Walker<'_>, node: &Node, names: &mut Vec<Spanned<String>>) -> Vec<(String, Language)> {
    walker.entries(node, "code", |walker, name, node| {
        let language = walker.word(node, "language")?;
        names.push(name.clone());
        Some((name.value, language))
    })
}

/// Reads `sensitive` of an arg: `true`, or a list of values.
pub(super) fn sensitive(walker: &mut Walker<'_>, node: &Node) -> Option<Sensitive> {
    if matches!(node.kind, NodeKind::Sequence(_)) {
        let values = walker.list(node, "sensitive", |walker, node| walker.string(node, "a value of the arg"));
        return Some(Sensitive::Values(values.into_iter().map(|value| value.value).collect()));
    }
    let always = walker.flag(node, "sensitive")?;
    Some(if always { Sensitive::Always } else { Sensitive::Never })
}
