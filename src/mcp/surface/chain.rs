//! `climax_chain`: calls several tools in order. Source: `docs/contract.md`, "Chains".

use climax_catalog::ToolIndex;
use serde_json::{Map, Value, json};

use super::call::call_arguments;
use super::spec::{CallName, Effect, MetaRequest, MetaSurface, MetaTool, Spec};
use super::work::{CallArguments, Failure, Work};
use crate::call::arguments::{Problem, Violation, type_problem};
use crate::call::chain::{ChainStep, MAX_CHAIN_STEPS, misplaced_references};
use crate::mcp::reader::ArgumentReader;

/// `climax_chain`.
pub(super) const CHAIN: MetaTool = MetaTool::new(&Spec {
    word: "chain",
    name: "climax_chain",
    title: "Chain",
    effect: Effect::Calls,
    description: |_, _| DESCRIPTION.into(),
    schema,
    work,
});

const DESCRIPTION: &str = "Call several tools in order, without reading what the earlier ones print. A value in \
    args may be {\"$from\": \"/0/stdout\"}: the output of step 0. Also /0/lines, /0/exit_code and /0/json/KEY/0. Stops at the \
    first error.";

/// The names of the arguments.
pub(in crate::mcp) const CHAIN_KEYS: [&str; 1] = ["steps"];

/// The input schema.
fn schema(surface: &MetaSurface) -> Value {
    let name = surface.call_name().as_str();
    json!({
        "type": "object",
        "properties": {
            "steps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { (name): { "type": "string" }, "args": { "type": "object" } },
                    "required": [name]
                }
            }
        },
        "required": ["steps"]
    })
}

fn work(request: MetaRequest<'_>) -> Result<Work, Failure> {
    let MetaRequest { surface, toolbox, arguments, .. } = request;
    Ok(Work::Chain(steps(&toolbox.index, surface.call_name(), arguments)?))
}

/// Reads the arguments.
fn steps(index: &ToolIndex, name: CallName, arguments: &Map<String, Value>) -> Result<Vec<ChainStep>, Vec<Violation>> {
    let mut reader = ArgumentReader::new(arguments);
    reader.reject_misspelt(&CHAIN_KEYS);
    let items = reader.items("steps", MAX_CHAIN_STEPS);
    reader.finish()?;
    let mut violations = Vec::new();
    let mut steps = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        match step(index, name, item, at) {
            Ok(step) => steps.push(step),
            Err(found) => violations.extend(found),
        }
    }

    if violations.is_empty() { Ok(steps) } else { Err(violations) }
}

/// Reads the step at `at`.
fn step(index: &ToolIndex, name: CallName, item: &Value, at: usize) -> Result<ChainStep, Vec<Violation>> {
    let place = format!("steps[{at}]");
    let Value::Object(item) = item else {
        return Err(vec![Violation { problem: type_problem(item, "object"), argument: place }]);
    };
    let CallArguments { tool_name, arguments } = call_arguments(index, name, item)
        .map_err(|violations| violations.into_iter().map(|violation| within(&place, violation)).collect::<Vec<_>>())?;
    let problems = misplaced_references(&arguments, at).into_iter();
    let problems: Vec<Violation> = problems
        .map(|reason| Violation { argument: format!("{place}.args"), problem: Problem::Reference { reason } })
        .collect();
    if problems.is_empty() { Ok(ChainStep { tool: tool_name, arguments }) } else { Err(problems) }
}

/// Names the place of a violation in the steps of a chain.
pub(in crate::mcp) fn within(place: &str, violation: Violation) -> Violation {
    Violation { argument: format!("{place}.{}", violation.argument), ..violation }
}
