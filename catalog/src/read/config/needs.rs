//! Reads `needs`, and the values of `env`.

use crate::diagnostic::Code;
use crate::needs::{ANY, EnvValue, LOCALHOST, Needs, is_path};
use crate::read::walk::{Fields, Walker};
use crate::read::yaml::{Node, NodeKind};
use crate::source::{Span, Spanned};

pub(crate) const NEEDS_KEYS: &[&str] =
    &["network", "write", "env", "read", "tracked", "processes", "cage", "without", "prefetch"];
pub(crate) const ENV_KEYS: &[&str] = &["from", "file"];

/// Reads the needs of a config or a tool.
pub(crate) fn needs(walker: &mut Walker<'_>, fields: &mut Fields<'_>) -> Option<Spanned<Needs>> {
    let node = fields.optional("needs")?;
    let span = walker.first_line(node.span);
    let mut fields = walker.mapping(node, "`needs`", NEEDS_KEYS)?;
    let network = fields.optional("network").map(|node| network(walker, node)).unwrap_or_default();
    let write = fields.list(walker, "write", written_path);
    let env = fields.list(walker, "env", variable);
    let read = fields.list(walker, "read", |walker, node| path(walker, node, "an item of `read`"));
    let cage = fields.word(walker, "cage");
    let without = fields.word(walker, "without");
    let prefetch = fields.optional_string(walker, "prefetch").map(|command| command.value);
    let [tracked, processes] =
        ["tracked", "processes"].map(|key| fields.boolean(walker, key).is_some_and(|is_so| is_so.value));
    if cage.is_none() && (without.is_some() || prefetch.is_some() || tracked || !read.is_empty()) {
        let message = "`read`, `tracked`, `without` and `prefetch` of `needs` are for programs in a cage".to_owned();
        walker.report(Code::IllegalNeed, span, message, "add `cage: read` or `cage: workspace`, or remove them");
    }
    if cage.is_some() && processes {
        let message = "a program in a cage sees no processes of others".to_owned();
        walker.report(Code::IllegalNeed, span, message, "remove `processes`, or the cage");
    }
    Some(Spanned { value: Needs { network, write, env, read, tracked, processes, cage, without, prefetch }, span })
}

/// Reads `true`, `false`, or a list of hosts and sockets.
fn network(walker: &mut Walker<'_>, node: &Node) -> Vec<String> {
    if matches!(&node.kind, NodeKind::Scalar(scalar) if scalar.text == LOCALHOST) {
        return vec![LOCALHOST.to_owned()];
    }
    if !matches!(node.kind, NodeKind::Sequence(_)) {
        let any = walker.flag(node, "network").unwrap_or_default();
        return any.then(|| ANY.to_owned()).into_iter().collect();
    }
    walker.list(node, "network", |walker, node| {
        let item = walker.string(node, "an item of `network`")?;
        let port = item.value.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port);
        let is_host = port.is_some_and(|port| port == ANY || port.parse::<u16>().is_ok_and(|port| port > 0));
        if !is_host && item.value != ANY && !is_path(&item.value) {
            let message = format!("`{}` is neither a host with a port nor the path of a socket", item.value);
            walker.report(Code::IllegalNeed, item.span, message, "write such as api.github.com:443, *, or /run/x.sock");
        }
        Some(item.value)
    })
}

/// Reads a path to write: no directory whose files programs run.
fn written_path(walker: &mut Walker<'_>, node: &Node) -> Option<String> {
    let path = path(walker, node, "an item of `write`")?;
    if ["", "~", "$HOME", "${HOME}"].contains(&path.trim_end_matches('/')) {
        let message = format!("`{path}` holds files that programs run, such as ~/.profile");
        walker.report(Code::IllegalNeed, node.span, message, "name the directory that the program writes in");
    }
    Some(path)
}

/// Reads a path that no argument can move: an absolute one, or one that starts at a variable.
fn path(walker: &mut Walker<'_>, node: &Node, what: &str) -> Option<String> {
    let path = walker.string(node, what)?;
    if !is_path(&path.value) {
        let message = format!("`{}` is relative, and to a directory that the call chooses", path.value);
        walker.report(Code::RelativePath, path.span, message, "write an absolute path; `~` and `$VAR` expand");
    }
    Some(path.value)
}

/// Reads the name of a variable, which may end in `*`; the star alone stands for all.
fn variable(walker: &mut Walker<'_>, node: &Node) -> Option<String> {
    let name = walker.string(node, "an item of `env`")?;
    let is_any = name.value == ANY;
    if !is_any && !is_variable(name.value.strip_suffix('*').unwrap_or(&name.value)) {
        illegal_variable(walker, &name);
    }
    Some(name.value)
}

fn illegal_variable(walker: &mut Walker<'_>, name: &Spanned<String>) {
    let message = format!("`{}` cannot be the name of an environment variable", name.value.escape_debug());
    walker.report(Code::IllegalName, name.span, message, "use letters, digits and `_`");
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Reads an entry of `env`: a literal value, or where the value comes from. The value is as tables hold it.
pub(crate) fn env_entry(
    walker: &mut Walker<'_>,
    name: Spanned<String>,
    node: &Node,
) -> Option<(Spanned<String>, Spanned<String>)> {
    if !matches!(node.kind, NodeKind::Mapping(_)) {
        return Some((name, walker.string(node, "a value of `env`")?));
    }

    let span = walker.first_line(node.span);
    let mut fields = walker.mapping(node, "a value of `env`", ENV_KEYS)?;
    let from = fields.optional_string(walker, "from");
    let file = fields.optional("file").and_then(|node| path(walker, node, "file"));
    let value = match (&from, &file) {
        (Some(from), None) => {
            if !is_variable(&from.value) {
                illegal_variable(walker, from);
            }
            EnvValue::From(&from.value)
        }
        (None, Some(file)) => EnvValue::File(file),
        (Some(_), Some(_)) => return unclear(walker, span, "has both `from` and `file`"),
        (None, None) => return unclear(walker, span, "has neither `from` nor `file`"),
    };

    Some((name, Spanned { value: value.encoded().into_owned(), span }))
}

fn unclear<T>(walker: &mut Walker<'_>, span: Span, what: &str) -> Option<T> {
    let message = format!("a value of `env` {what}");
    walker.report(Code::IllegalNeed, span, message, "write one: {from: VARIABLE} or {file: PATH}");
    None
}
