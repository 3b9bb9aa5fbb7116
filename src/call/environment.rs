//! The variables that a policy sets for every program.

use climax_catalog::Policy;
use climax_catalog::expansion::Lookup;
use climax_catalog::policy::EnvValue;

use crate::exec::{Invocation, SpawnError};

/// Adds the variables of the policy, behind all others, so that they hold.
///
/// # Errors
/// A variable of this process that one is taken from is not set. The program would otherwise run with another account.
pub(crate) fn add(policy: &Policy, invocation: &mut Invocation, env: Lookup<'_>) -> Result<(), SpawnError> {
    for (name, value) in policy.env() {
        let value = match value {
            EnvValue::Literal(text) => text.clone(),
            EnvValue::From(from) => env(from)
                .filter(|value| !value.is_empty())
                .ok_or_else(|| SpawnError::Variable { name: name.clone(), from: from.clone() })?,
        };
        invocation.env.retain(|(own, _)| own != name);
        invocation.env.push((name.clone(), value));
    }
    Ok(())
}
