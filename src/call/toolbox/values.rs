//! Checks the values of a call: its purpose, the policy's rules and the paths.

use climax_catalog::{ArgView, ResolvedTool, Risk, near_misses};
use serde_json::{Map, Value};

use crate::call::arguments::{self, Bound, MAX_UNKNOWN_KEYS, Problem, Violation};
use crate::call::concerned;
use crate::call::outcome::CallError;
use crate::call::request::Purpose;
use crate::call::risk;
use crate::call::within::{self, Machine};
use crate::exec;

/// Checks that a call which may only read does no more, by its tool and its arguments.
///
/// # Errors
/// The violation.
pub(super) fn only_reads(tool: ResolvedTool<'_>, bound: &Bound<'_>, purpose: Purpose) -> Result<(), Violation> {
    let (argument, risk, caller) = match purpose {
        Purpose::Call | Purpose::CommandLine | Purpose::Code { .. } => return Ok(()),
        Purpose::Read { call_name, caller } => (call_name, risk::promised(tool, bound), caller),
        Purpose::Judged => ("command", risk::promised(tool, bound), None),
        Purpose::Resource | Purpose::Prompt => (tool.name(), risk::promised(tool, bound), None),
    };
    if risk == Risk::Read {
        return Ok(());
    }

    let stated = tool.written_risk().map(|_| risk);
    let problem = Problem::NotReading { tool: tool.name().to_owned(), risk: stated, caller };

    Err(Violation { argument: argument.to_owned(), problem })
}

/// Binds arguments and refuses those that the tool does not have.
pub(super) fn bind_known<'a>(
    tool: ResolvedTool<'a>,
    arguments: &Map<String, Value>,
) -> Result<Bound<'a>, Vec<Violation>> {
    let bound = arguments::bind(tool, arguments);
    let mut unknown = arguments::unknown_violations(tool, arguments);
    match bound {
        Ok(bound) if unknown.is_empty() => Ok(bound),
        Ok(_) => Err(unknown),
        Err(mut violations) => {
            unknown.retain(|one| violations.iter().all(|other| other.argument != one.argument));
            violations.extend(unknown);
            Err(violations)
        }
    }
}

/// Checks the purpose of a call and the policy's rules for its values.
pub(super) fn permitted_values(
    tool: ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    bound: &Bound<'_>,
    purpose: Purpose,
) -> Result<(), CallError> {
    only_reads(tool, bound, purpose).map_err(|violation| invalid(tool, arguments, vec![violation]))?;
    let mut violations = arguments::withheld(tool, arguments);
    violations.extend(arguments::check(bound).err().into_iter().flatten());
    if !violations.is_empty() {
        return Err(CallError::PolicyDenied { violations });
    }
    // The user may still give the directory.
    if tool.questions().len() == 0 { permitted_paths(tool, bound) } else { Ok(()) }
}

/// Checks the paths of a call, and its directory if it gives none.
pub(super) fn permitted_paths(tool: ResolvedTool<'_>, bound: &Bound<'_>) -> Result<(), CallError> {
    let directory = exec::directory();
    let machine = Machine { directory: &directory, env: &exec::variable, real: &exec::paths::real };
    let mut violations = within::violations(tool, bound, machine);
    violations.extend(arguments::check_default_directory(tool, bound, &directory).err());
    if violations.is_empty() { Ok(()) } else { Err(CallError::PolicyDenied { violations }) }
}

/// Makes the error for invalid arguments.
pub(super) fn invalid(tool: ResolvedTool<'_>, arguments: &Map<String, Value>, violations: Vec<Violation>) -> CallError {
    let suggestions = misspelt_arguments(tool, arguments);
    let input_schema = concerned::schema_of(tool, &violations, &suggestions);
    CallError::InvalidArguments { violations, suggestions, input_schema }
}

/// Returns the names of args that unknown keys resemble, because a misspelt key may be the reason of the failure.
fn misspelt_arguments(tool: ResolvedTool<'_>, arguments: &Map<String, Value>) -> Vec<String> {
    let known = || tool.agent_args().map(ArgView::name);
    let unknown = arguments.keys().filter(|key| known().all(|name| name != key.as_str())).take(MAX_UNKNOWN_KEYS);
    let mut near: Vec<String> = unknown.flat_map(|key| near_misses(key, known(), 1)).map(str::to_owned).collect();
    near.sort();
    near.dedup();
    near
}
