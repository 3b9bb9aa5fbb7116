//! `lines`: what becomes of programs that no config describes, and which files are secrets.

use crate::diagnostic::Code;
use crate::model::{AskedCage, LineRules, Protection, UnknownProgram};
use crate::read::walk::Walker;
use crate::read::yaml::Node;

pub(super) const LINES_KEYS: &[&str] = &["unknown", "widest", "protect", "secrets", "open", "send"];

/// What a policy says about the programs of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Which programs run, and how.
    pub rules: LineRules,
    /// What becomes of programs that no config describes, if nothing states it.
    pub unstated: UnknownProgram,
    /// Names of files that are secrets, beside the usual ones. `*` stands for any characters.
    pub secrets: Vec<String>,
    /// Names of files that are no secrets, though the usual names fit them.
    pub open: Vec<String>,
    /// Hosts to which lines may send what they have read. `*.` at the start stands for any names before the rest.
    pub send: Vec<String>,
}

impl Lines {
    /// Returns whether lines may send what they have read to a host.
    #[must_use]
    pub fn sends_to(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.send.iter().any(|known| match known.strip_prefix('*') {
            Some(end) => host.len() > end.len() && host.ends_with(end),
            None => *known == host,
        })
    }

    /// Returns what becomes of programs that no config describes.
    #[must_use]
    pub fn unknown(&self) -> UnknownProgram {
        self.rules.unknown.unwrap_or(self.unstated)
    }

    /// Returns what a compiled-in policy says, which nothing at run time widens; `None` if that is left to run time.
    pub(super) fn fixed_unknown(&self) -> Option<UnknownProgram> {
        self.rules.unknown.or(Some(self.unstated).filter(|unstated| *unstated == UnknownProgram::Refuse))
    }
}

/// Reads `lines`. `unstated` is what becomes of unknown programs if it does not say so.
pub(super) fn lines(walker: &mut Walker<'_>, node: Option<&Node>, unstated: UnknownProgram) -> Lines {
    let without = Lines { unstated, ..Lines::default() };
    let Some(node) = node else { return without };
    let Some(mut fields) = walker.mapping(node, "`lines`", LINES_KEYS) else {
        // A mistake must not permit what the policy may forbid.
        return Lines {
            rules: LineRules {
                unknown: Some(UnknownProgram::Refuse),
                widest: AskedCage::Read,
                protect: Protection::Kernel,
            },
            ..without
        };
    };

    let rules = LineRules {
        unknown: fields.word(walker, "unknown"),
        widest: fields.word(walker, "widest").unwrap_or(without.rules.widest),
        protect: fields.word(walker, "protect").unwrap_or(without.rules.protect),
    };
    Lines {
        rules,
        unstated,
        secrets: fields.list(walker, "secrets", name),
        open: fields.list(walker, "open", name),
        send: fields.list(walker, "send", host),
    }
}

/// Reads the name of a host, which `*.` may start.
fn host(walker: &mut Walker<'_>, node: &Node) -> Option<String> {
    let host = walker.string(node, "a name of a host")?;
    let name = host.value.strip_prefix("*.").unwrap_or(&host.value);
    let is_name = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
        && !name.starts_with(['.', '-']);
    if !is_name {
        let message = format!("`{}` is no name of a host", host.value);
        let help = "write a name without scheme and port, such as `api.example.com` or `*.example.com`";
        walker.report(Code::IllegalName, host.span, message, help);
        return None;
    }
    Some(host.value.to_ascii_lowercase())
}

/// Reads the name of a file, in which `*` stands for any characters.
fn name(walker: &mut Walker<'_>, node: &Node) -> Option<String> {
    let name = walker.string(node, "a name of a file")?;
    if name.value.is_empty() || name.value.contains('/') {
        let message = format!("`{}` is no name of a file", name.value);
        walker.report(Code::IllegalName, name.span, message, "write a name without directories, such as `*.secret`");
        return None;
    }
    Some(name.value)
}
