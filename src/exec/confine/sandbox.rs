//! The server's side of the sandbox: what its child is ordered to do, and what users read about it. Pure.

use std::ffi::OsString;

use climax_catalog::expansion::{Lookup, policy_path};
use climax_catalog::policy::Sandbox;

use super::order::{Holder, Network, Order};
use crate::exec::invocation::Invocation;

/// Paths that a description names of each kind.
const MAX_NAMED_PATHS: usize = 8;

/// Builds the order of the sandbox for `invocation`.
///
/// Error messages of the child start with `password`, which the program does not know.
pub(crate) fn order(sandbox: &Sandbox, password: &str, invocation: &Invocation, variables: Lookup<'_>) -> Order {
    let mut write = expanded(&sandbox.write, variables);
    write.extend(invocation.files_dir.iter().map(|dir| dir.clone().into_os_string()));

    Order {
        password: password.into(),
        read: expanded(&sandbox.read, variables),
        write,
        network: if sandbox.network { Network::Machine } else { Network::None },
        holder: Holder::Sandbox(sandbox.limits),
    }
}

fn expanded(paths: &[String], variables: Lookup<'_>) -> Vec<OsString> {
    paths.iter().map(|path| policy_path(path, variables).into()).collect()
}

/// Describes what a program could reach in the sandbox, in one line for its user.
pub(crate) fn description(sandbox: &Sandbox, variables: Lookup<'_>) -> String {
    let (read, write) = (named(&sandbox.read, variables), named(&sandbox.write, variables));
    let network = if sandbox.network { "It had the network." } else { "It had no network." };
    format!("The program ran in the policy's sandbox. It could read {read}. It could write {write}. {network}")
}

/// Names the first of the paths, and the number of the others.
fn named(paths: &[String], variables: Lookup<'_>) -> String {
    let named: Vec<String> = paths.iter().take(MAX_NAMED_PATHS).map(|path| policy_path(path, variables)).collect();

    match paths.len() - named.len() {
        0 if named.is_empty() => "nothing".to_owned(),
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
