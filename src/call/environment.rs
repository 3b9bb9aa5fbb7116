//! The variables that a policy sets for every program.

use climax_catalog::expansion::{self, Lookup};
use climax_catalog::{EnvValue, Policy};

use crate::exec::{Invocation, SecretSource, SpawnError};

/// Adds the variables of the policy, behind all others, so that they hold.
///
/// # Errors
/// A variable of this process that one is taken from is not set. The program would otherwise run with another account.
pub(crate) fn add(policy: &Policy, invocation: &mut Invocation, env: Lookup<'_>) -> Result<(), SpawnError> {
    for (name, value) in policy.env() {
        invocation.env.retain(|(own, _)| own != name);
        invocation.secrets.retain(|(own, _)| own != name);
        let source = match value {
            EnvValue::Literal(text) => {
                invocation.env.push((name.to_owned(), text.to_owned()));
                continue;
            }
            EnvValue::From(from) if env(from).is_none_or(|value| value.is_empty()) => {
                return Err(SpawnError::Variable { name: name.to_owned(), from: from.to_owned() });
            }
            EnvValue::From(from) => SecretSource::Variable(from.to_owned()),
            EnvValue::File(path) => SecretSource::File(expansion::policy_path(path, env)),
        };
        invocation.secrets.push((name.to_owned(), source));
    }
    Ok(())
}
