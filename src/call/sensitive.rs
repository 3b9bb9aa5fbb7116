//! Whether a call prints secrets.

use climax_catalog::{Place, Sensitive};

use crate::call::arguments::BoundValue;
use crate::call::plan::PlannedCall;

/// Returns why a call prints secrets; `None` if it does not, as far as is known.
///
/// Its config says so, or it prints what a file holds whose name is that of a secret, be it an operand or the value of an
/// option. `secret` returns why a path names one, `exists` whether there is such a file, and `tracked` whether a repository
/// holds it.
pub(crate) fn reason(
    call: &PlannedCall<'_>,
    secret: &dyn Fn(&str) -> Option<String>,
    exists: &dyn Fn(&str) -> bool,
    tracked: &dyn Fn(&str) -> bool,
) -> Option<String> {
    if call.tool.is_sensitive() {
        return Some(format!("{} prints secrets", call.name()));
    }
    let by_arg = call.bound.iter().find(|(arg, value)| is_sensitive(&arg.sensitive(), value));
    if let Some((arg, value)) = by_arg {
        return Some(format!("`{}: {value}` of {} prints secrets", arg.name(), call.name()));
    }

    let effects = call.tool.effects().unwrap_or_default();
    if effects.names_only {
        return None;
    }
    // A cage hides such files, but not what a repository holds of them.
    let reads_tracked = call.tool.needs().is_some_and(|needs| needs.tracked);
    let is_held = |text: &str| text.contains(':') || (reads_tracked && tracked(text));
    call.bound.iter().find_map(|(arg, value)| {
        let is_text = effects.texts.iter().any(|name| name == arg.name());
        let names = |name: &&str| (call.cage().is_none() || is_held(name)) && (!is_text || exists(name));
        let paths_in = |text| match arg.place() {
            Place::Positional => vec![text],
            Place::Option => names_in(text),
            _ => Vec::new(),
        };
        value.texts().into_iter().flat_map(paths_in).filter(names).find_map(secret)
    })
}

/// Returns what the value of an option may name: itself, and what stands behind `@` or `=`, as in `data=@FILE`.
fn names_in(value: &str) -> Vec<&str> {
    let behind = |mark: char| value.rsplit_once(mark).map(|(_, behind)| behind);
    std::iter::once(value).chain(['@', '='].into_iter().filter_map(behind)).collect()
}

/// Returns why a call prints secrets of the directories that it reads, of which `names` are in its reach; `None` if there are
/// none, or if its program can be told to leave them out.
pub(crate) fn among_others(call: &PlannedCall<'_>, names: &[String]) -> Option<String> {
    let name = names.first()?;
    let leaves_out = call.tool.effects().is_some_and(|effects| !effects.leaves_out.is_empty());
    // A value `--` would be taken for the end of the options.
    let has_dashes = call.bound.iter().any(|(_, value)| value.texts().contains(&"--"));

    let is_held = leaves_out && !has_dashes;
    (!is_held).then(|| format!("{} would read {name}, whose name is that of a secret", call.name()))
}

fn is_sensitive(sensitive: &Sensitive, value: &BoundValue) -> bool {
    match (sensitive, value) {
        (Sensitive::Never, _) | (_, BoundValue::Boolean(false)) => false,
        (Sensitive::Always, _) => true,
        (Sensitive::Values(_), value) => value.texts().into_iter().any(|text| sensitive.of(text)),
    }
}
