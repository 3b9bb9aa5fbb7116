//! Holds calls to the needs of their tools.
//!
//! Pure: the caller passes the environment.

use std::path::PathBuf;

use climax_catalog::expansion::{Lookup, policy_path};
use climax_catalog::policy::ConfineLevel;
use climax_catalog::{Needs, ResolvedTool, Risk};

use crate::call::arguments::Bound;
use crate::call::risk;
use crate::exec::{Invocation, Rights};

/// Variables that every program gets.
const COMMON_VARIABLES: [&str; 8] = ["PATH", "HOME", "LANG", "LC_*", "TERM", "TZ", "USER", "LOGNAME"];

/// Variables that a program with network gets, besides.
const NETWORK_VARIABLES: [&str; 10] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Returns the needs that a call is held to; `None` if it is not confined.
///
/// At the level `read` these are calls that only read, of tools that say so and have needs.
#[must_use]
pub fn needs_of_call(tool: ResolvedTool<'_>, risk: Risk, level: ConfineLevel) -> Option<Needs> {
    match level {
        ConfineLevel::Off => None,
        _ if tool.is_native() => None,
        ConfineLevel::Read => tool.needs().filter(|_| risk == Risk::Read),
        ConfineLevel::All => Some(tool.needs().unwrap_or_default()),
    }
}

/// Holds a planned call to the needs of its tool.
pub(crate) fn confine(
    invocation: &mut Invocation,
    tool: ResolvedTool<'_>,
    bound: &Bound<'_>,
    level: ConfineLevel,
    env: Lookup<'_>,
) {
    let risk = risk::promised(tool, bound);
    let Some(needs) = needs_of_call(tool, risk, level) else { return };
    let mut inherited: Vec<String> = COMMON_VARIABLES.map(str::to_owned).into();
    if needs.has_network() {
        inherited.extend(NETWORK_VARIABLES.map(str::to_owned));
    }

    inherited.extend(needs.env.iter().cloned());
    let is_reading = risk == Risk::Read;
    let mut write: Vec<PathBuf> = needs.write.iter().map(|path| policy_path(path, env).into()).collect();
    write.retain(|path| path.is_absolute());
    if !is_reading {
        write.push(invocation.cwd.clone().unwrap_or_else(|| ".".into()));
    }

    invocation.inherited = Some(inherited);
    invocation.confinement = Some(Rights {
        write,
        network: needs.has_network(),
        local_sockets: needs.has_local_sockets(),
        metadata: !is_reading,
        ..Rights::default()
    });
}
