//! Programs that arguments give: whether they do more than compute and print.

mod awk;
mod jq;

use climax_catalog::{Language, ResolvedTool};

use crate::call::arguments::{Bound, BoundValue};

/// Returns whether a call runs a program that it is given, and that does more than compute and print.
pub(crate) fn runs_code(tool: ResolvedTool<'_>, bound: &Bound<'_>) -> bool {
    let Some(effects) = tool.effects() else { return false };
    let given = |name: &str| bound.iter().find(|(arg, _)| arg.name() == name).map(|(_, value)| value);
    let is_harmless = |language: Language, value: &BoundValue| {
        let texts = value.texts();
        match language {
            Language::Awk => texts.into_iter().all(awk::only_prints),
            Language::Jq => texts.into_iter().all(jq::only_computes),
            Language::Other => false,
        }
    };
    effects.code.iter().any(|(name, language)| given(name).is_some_and(|value| !is_harmless(*language, value)))
}
