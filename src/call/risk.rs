//! The risk of a call: that of its tool, and what its arguments add.

use climax_catalog::{ArgRisk, ArgView, ResolvedTool, Risk};

use crate::call::arguments::{Bound, BoundValue};

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

/// CLIs of which a call chooses the host that their programs reach.
const CHOOSING_HOSTS: [&str; 8] = ["curl", "helm", "mysql", "network", "psql", "redis-cli", "ssh", "wget"];

/// Returns the least risk of a call that gets what its line has read, since it could send that away.
///
/// Where the call chooses the host, that is destructive. Where configuration or a login fix it, it is `write`. A program
/// without network sends nothing.
pub(crate) fn of_sent_data(tool: ResolvedTool<'_>) -> Risk {
    let reaches_network = tool.needs().is_none_or(|needs| needs.has_network());
    match reaches_network {
        true if CHOOSING_HOSTS.contains(&tool.cli().name()) => Risk::Destructive,
        true => Risk::Write,
        false => Risk::Read,
    }
}

/// The risks of the arguments that a call gives. A boolean that is false counts if it has words of its own.
fn added(bound: &Bound<'_>) -> impl Iterator<Item = Risk> {
    bound.iter().filter_map(|(arg, value)| of_argument(arg, value))
}

fn of_argument(arg: ArgView<'_>, value: &BoundValue) -> Option<Risk> {
    let risk = arg.risk();
    match value {
        _ if risk == ArgRisk::OfTool => None,
        BoundValue::Boolean(false) if arg.off().is_none() => None,
        BoundValue::List(items) => items.iter().filter_map(|item| risk.of(item)).max(),
        BoundValue::Map(pairs) => pairs.iter().filter_map(|(_, value)| risk.of(value)).max(),
        single => risk.of(&single.to_string()),
    }
}
