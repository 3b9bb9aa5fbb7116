//! Whether a call prints secrets.

use climax_catalog::{Place, Sensitive};

use crate::call::arguments::BoundValue;
use crate::call::plan::PlannedCall;
use crate::call::{host, risk};

/// What is known of the files that a call names.
#[derive(Clone, Copy)]
pub(crate) struct Files<'f> {
    /// Returns why a path names a secret.
    pub(crate) secret: &'f dyn Fn(&str) -> Option<String>,
    /// Returns whether there is such a file.
    pub(crate) exists: &'f dyn Fn(&str) -> bool,
    /// Returns whether a repository holds it.
    pub(crate) tracked: &'f dyn Fn(&str) -> bool,
    /// Returns whether the cage of the call keeps it from the program.
    pub(crate) is_hidden: &'f dyn Fn(&str) -> bool,
    /// Returns whether a pattern stands for secrets.
    pub(crate) pattern: &'f dyn Fn(&str) -> bool,
}

/// Returns why a call prints secrets; `None` if it does not, as far as is known.
///
/// Its config says so, or it prints what a file holds whose name is that of a secret, be it an operand or the value of an
/// option.
pub(crate) fn reason(call: &PlannedCall<'_>, files: Files<'_>) -> Option<String> {
    if call.tool.is_sensitive() {
        return Some(format!("{} prints secrets", call.name()));
    }
    let by_arg = call.bound.iter().find(|(arg, value)| is_sensitive(&arg.sensitive(), value));
    if let Some((arg, value)) = by_arg {
        return Some(format!("`{}: {value}` of {} prints secrets", arg.name(), call.name()));
    }

    let hosts = risk::named_hosts(call.tool, &call.bound);
    if let Some(host) = hosts.into_iter().find(|host| host::gives_credentials(host)) {
        return Some(format!("`{host}` gives the credentials of the machine of a cloud"));
    }

    let effects = call.tool.effects().unwrap_or_default();
    if effects.names_only {
        return None;
    }
    // A cage hides such files, but not what a repository holds of them, now or in an older commit.
    let shows_tracked = call.tool.needs().is_some_and(|needs| needs.tracked);
    let is_held = |text: &str| shows_tracked && ((files.tracked)(text) || names_commit(call, files.exists));
    let is_shown = |text: &str| text.contains(':') || is_held(text) || !(files.is_hidden)(text);
    call.bound.iter().find_map(|(arg, value)| {
        let is_text = effects.texts.iter().any(|name| name == arg.name());
        let is_meant = |name: &&str| (call.cage().is_none() || is_shown(name)) && (!is_text || (files.exists)(name));
        let of_text = |text| {
            let named = match arg.place() {
                Place::Positional => vec![text, without_magic(text)],
                Place::Option => names_in(text),
                _ => Vec::new(),
            };
            let stands_for_secrets = || {
                let is_pattern = arg.place() == Place::Positional && !is_text && (files.pattern)(without_magic(text));
                is_pattern.then(|| format!("`{text}` stands for files with secrets"))
            };
            named.into_iter().filter(is_meant).find_map(files.secret).or_else(stands_for_secrets)
        };
        value.texts().into_iter().find_map(of_text)
    })
}

/// Returns whether an operand may name a commit, since there is no such file.
fn names_commit(call: &PlannedCall<'_>, exists: &dyn Fn(&str) -> bool) -> bool {
    let operands = call.bound.iter().filter(|(arg, _)| arg.place() == Place::Positional);
    operands.flat_map(|(_, value)| value.texts()).any(|text| !exists(text))
}

/// Returns the pattern of a path specification of git without what stands before it: `*.key` of `:(icase)*.key`.
///
/// Source: gitglossary(7), "pathspec".
fn without_magic(text: &str) -> &str {
    let Some(rest) = text.strip_prefix(':') else { return text };
    rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or_else(
        || rest.trim_start_matches('/'),
        // What is left out is not printed.
        |(magic, pattern)| if magic.contains("exclude") { "" } else { pattern },
    )
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
