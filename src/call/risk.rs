//! The risk of a call: that of its tool, and what its arguments add.

use std::ffi::OsStr;
use std::path::Path;

use climax_catalog::policy::Lines;
use climax_catalog::{ArgRisk, ArgView, ResolvedTool, Risk};

use crate::call::arguments::{Bound, BoundValue};
use crate::call::host;

/// Returns the risk of a call, as approval counts it.
#[must_use]
pub fn of_call(tool: ResolvedTool<'_>, bound: &Bound<'_>) -> Risk {
    added(bound).chain([tool.risk()]).max().unwrap_or(Risk::Destructive)
}

/// Returns the risk of a call, as `readOnlyHint` and `climax_read` state it: a tool without a written risk may write.
#[must_use]
pub fn promised(tool: ResolvedTool<'_>, bound: &Bound<'_>) -> Risk {
    added(bound).chain([Risk::promised(tool.written_risk())]).max().unwrap_or(Risk::Destructive)
}

/// CLIs of which a call chooses the host that their programs reach, whatever their config says of it, and programs that do
/// so and have no config.
const CHOOSING_HOSTS: [&str; 20] = [
    "curl",
    "wget",
    "ssh",
    "scp",
    "sftp",
    "rsync",
    "nc",
    "ncat",
    "socat",
    "telnet",
    "ftp",
    "http",
    "xh",
    "helm",
    "mysql",
    "network",
    "psql",
    "redis-cli",
    "openssl",
    // A program of an environment may be anything.
    "program",
];

/// Returns the least risk of a call that gets what its line has read, since it could send that away.
///
/// Where the call chooses the host, that is destructive, unless the host is this machine or one that the policy names.
/// Where configuration or a login fix it, it is `write`. A program without network sends nothing.
pub(crate) fn of_sent_data(tool: ResolvedTool<'_>, bound: &Bound<'_>, lines: &Lines) -> Risk {
    if !tool.needs().is_none_or(|needs| needs.has_network()) {
        return Risk::Read;
    }
    let hosts = named_hosts(tool, bound);
    let is_known = |host: &&str| host::is_loopback(host) || lines.sends_to(host);
    match hosts.is_empty() {
        true if chooses_hosts(tool) => Risk::Destructive,
        false if !hosts.iter().all(is_known) => Risk::Destructive,
        _ => Risk::Write,
    }
}

/// Returns whether a call with a risk may run hooks of a repository: one of git that does more than read, however its program
/// is spelled (`rtk git`).
pub(crate) fn may_run_hooks(tool: ResolvedTool<'_>, risk: Risk) -> bool {
    let program = tool.cli().words().next().and_then(|program| Path::new(program).file_name());
    program == Some(OsStr::new("git")) && risk > Risk::Read
}

/// Returns whether a call names hosts, and none but this machine, or is of a program that lists the sockets of this machine,
/// such as `lsof`.
pub(crate) fn names_this_machine(tool: ResolvedTool<'_>, bound: &Bound<'_>) -> bool {
    let hosts = named_hosts(tool, bound);
    let lists_sockets = || tool.needs().is_some_and(|needs| needs.processes && !needs.network.is_empty());
    if hosts.is_empty() { lists_sockets() } else { hosts.iter().all(|host| host::is_loopback(host)) }
}

fn chooses_hosts(tool: ResolvedTool<'_>) -> bool {
    CHOOSING_HOSTS.contains(&tool.cli().name())
}

/// Returns the hosts that the arguments of a call name.
pub(crate) fn named_hosts<'b>(tool: ResolvedTool<'_>, bound: &'b Bound<'_>) -> Vec<&'b str> {
    let effects = tool.effects().unwrap_or_default();
    let given = bound.iter().filter(|(arg, _)| effects.hosts.iter().any(|name| name == arg.name()));
    given.flat_map(|(_, value)| value.texts()).filter_map(|text| host::of(text, chooses_hosts(tool))).collect()
}

/// The risks of the arguments that a call gives. A boolean that is false counts if it has words of its own.
fn added(bound: &Bound<'_>) -> impl Iterator<Item = Risk> {
    bound.iter().filter_map(|(arg, value)| of_argument(arg, value))
}

/// Returns the risk that the value of an argument adds; `None` if it adds none.
pub(crate) fn of_argument(arg: ArgView<'_>, value: &BoundValue) -> Option<Risk> {
    let risk = arg.risk();
    match value {
        _ if risk == ArgRisk::OfTool => None,
        BoundValue::Boolean(false) if arg.off().is_none() => None,
        BoundValue::List(items) => items.iter().filter_map(|item| risk.of(item)).max(),
        BoundValue::Map(pairs) => pairs.iter().filter_map(|(_, value)| risk.of(value)).max(),
        single => risk.of(&single.to_string()),
    }
}
