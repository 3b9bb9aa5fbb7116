//! `confine`: which calls are held to the needs of their tools.

use strum::{EnumString, IntoStaticStr, VariantNames};

use crate::read::walk::Walker;
use crate::read::yaml::{Node, NodeKind};

pub(super) const CONFINE_KEYS: &[&str] = &["level", "required"];

/// Which calls are held to the needs of their tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum ConfineLevel {
    /// None.
    Off,
    /// Calls that only read, of tools that say so and have needs.
    #[default]
    Read,
    /// All calls. A tool without needs has none.
    All,
}

impl ConfineLevel {
    /// Returns the level's name in policies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a policy says about confinement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confine {
    /// The level, if the policy has one.
    pub level: Option<ConfineLevel>,
    /// Whether nothing is served where the kernel cannot confine.
    pub required: bool,
}

impl Confine {
    /// Returns the stricter of both.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        Self { level: self.level.max(other.level), required: self.required || other.required }
    }
}

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
