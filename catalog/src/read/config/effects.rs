//! Reads `effects`, and `sensitive` of tools and args.

use crate::diagnostic::Code;
use crate::effects::{Effects, Language};
use crate::model::Sensitive;
use crate::needs::ANY;
use crate::read::walk::{Fields, Walker};
use crate::read::yaml::{Node, NodeKind};
use crate::source::Spanned;

pub(crate) const EFFECTS_KEYS: &[&str] = &[
    "files",
    "overwrites",
    "populates",
    "populates_by",
    "trees",
    "by",
    "hosts",
    "walks",
    "leaves_out",
    "code",
    "texts",
    "idle",
    "names_only",
    "prints_made",
    "bare",
];

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
    let mut list = |walker: &mut Walker<'_>, key| args(walker, fields.optional(key), key, &mut names);
    let [files, overwrites, populates, populates_by] =
        ["files", "overwrites", "populates", "populates_by"].map(|key| list(walker, key));
    let [by, hosts, texts, idle] = ["by", "hosts", "texts", "idle"].map(|key| list(walker, key));
    let [trees, walks] = ["trees", "walks"].map(|key| args_or_any(walker, fields.optional(key), key, &mut names));
    let [names_only, prints_made] =
        ["names_only", "prints_made"].map(|key| fields.boolean(walker, key).is_some_and(|is_so| is_so.value));

    let effects = Effects {
        files,
        overwrites,
        populates,
        populates_by,
        trees,
        by,
        hosts,
        walks,
        leaves_out: fields.optional("leaves_out").map_or_else(Vec::new, |node| options(walker, node)),
        code: fields.optional("code").map_or_else(Vec::new, |node| code(walker, node, &mut names)),
        texts,
        idle,
        names_only,
        prints_made,
        bare: fields.word(walker, "bare"),
    };
    Some(Spanned { value: EffectsConfig { effects, names }, span })
}

/// Reads a list of names of args, and adds them to `names`.
fn args(walker: &mut Walker<'_>, node: Option<&Node>, key: &str, names: &mut Vec<Spanned<String>>) -> Vec<String> {
    let Some(node) = node else { return Vec::new() };
    let own = walker.list(node, key, |walker, node| walker.string(node, "the name of an arg"));
    names.extend(own.iter().cloned());
    own.into_iter().map(|name| name.value).collect()
}

/// Reads a list of names of args, or `true` for what every call does.
fn args_or_any(
    walker: &mut Walker<'_>,
    node: Option<&Node>,
    key: &str,
    names: &mut Vec<Spanned<String>>,
) -> Vec<String> {
    match node {
        Some(node) if !matches!(node.kind, NodeKind::Sequence(_)) => {
            let always = walker.flag(node, key).unwrap_or_default();
            always.then(|| ANY.to_owned()).into_iter().collect()
        }
        node => args(walker, node, key, names),
    }
}

/// Reads options in which `{}` stands for a name.
fn options(walker: &mut Walker<'_>, node: &Node) -> Vec<String> {
    let options = walker.list(node, "leaves_out", |walker, node| {
        let option = walker.string(node, "an option with `{}`")?;
        let is_option = option.value.starts_with('-') && option.value.matches("{}").count() == 1;
        if !is_option {
            let message = format!("`{}` is no option with a place for a name", option.value);
            walker.report(Code::WrongType, option.span, message, "write an option such as `--exclude={}`");
        }
        is_option.then_some(option)
    });
    options.into_iter().map(|option| option.value).collect()
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
