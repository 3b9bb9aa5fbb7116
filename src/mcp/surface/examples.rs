//! `climax_examples`: calls that the schema of a tool allows.

use climax_catalog::{ArgView, GroupKind, ResolvedTool, RuleView, STEPS, Shape, ToolIndex, Type};
use serde_json::{Map, Value, json};

use super::spec::{CallName, Effect, MetaRequest, MetaSurface, MetaTool, Spec};
use super::work::{Failure, Work};
use crate::call::arguments::{bind, check};
use crate::call::suggest_tools;
use crate::mcp::reader::ArgumentReader;

/// The most example calls that one request can get.
const MAX_EXAMPLES: i64 = 5;

/// The example calls that a request gets by default.
const DEFAULT_EXAMPLES: i64 = 3;

/// `climax_examples`.
pub(super) const EXAMPLES: MetaTool = MetaTool::new(&Spec {
    word: "examples",
    name: "climax_examples",
    title: "Examples",
    effect: Effect::LooksUp,
    description: |_, _| DESCRIPTION.into(),
    schema,
    work,
});

const DESCRIPTION: &str =
    "Show example calls of a tool, in the form that climax_call takes. Use it when a schema alone leaves doubts.";

/// The input schema.
fn schema(surface: &MetaSurface) -> Value {
    let name = surface.call_name().as_str();
    json!({
        "type": "object",
        "properties": {
            (name): { "type": "string", "description": "The exact name of the tool" },
            "max": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_EXAMPLES,
                "default": DEFAULT_EXAMPLES,
                "description": "Maximum number of examples"
            }
        },
        "required": [name]
    })
}

fn work(request: MetaRequest<'_>) -> Result<Work, Failure> {
    let MetaRequest { surface, toolbox, arguments, .. } = request;
    Ok(Work::Answer(examples(&toolbox.index, surface.call_name(), arguments)?))
}

/// Makes up example calls, in the form of the arguments of `climax_call`.
///
/// Examples that violate a rule of the policy are left out, so there may be none.
fn examples(index: &ToolIndex, call_name: CallName, arguments: &Map<String, Value>) -> Result<String, Failure> {
    let mut reader = ArgumentReader::new(arguments);
    let name = reader.required_string(&call_name.accepted());
    let max = reader.integer("max").unwrap_or(DEFAULT_EXAMPLES).clamp(1, MAX_EXAMPLES);
    reader.finish()?;
    let Some(tool) = index.get(&name) else {
        return Err(Failure::UnknownTool { suggestions: suggest_tools(index, &name), name });
    };
    let calls: Vec<Value> = permitted_examples(tool)
        .take(usize::try_from(max).unwrap_or_default())
        .map(|args| json!({ (call_name.as_str()): tool.name(), "args": args }))
        .collect();

    Ok(json!({ "examples": calls }).to_string())
}

/// Example arguments that violate no rule of the config or the policy, the shortest first.
pub(crate) fn permitted_examples(tool: ResolvedTool<'_>) -> impl Iterator<Item = Map<String, Value>> + '_ {
    example_arguments(tool).filter(move |args| bind(tool, args).is_ok_and(|bound| check(&bound).is_ok()))
}

fn shown_args(tool: ResolvedTool<'_>) -> impl Iterator<Item = ArgView<'_>> + Clone {
    tool.agent_args().filter(|arg| arg.is_shown())
}

/// The required arguments alone, then with one optional argument each. Groups have as many args as their rules demand.
fn example_arguments(tool: ResolvedTool<'_>) -> impl Iterator<Item = Map<String, Value>> + '_ {
    let optional = shown_args(tool).filter(|arg| !arg.required()).map(Some);
    std::iter::once(None).chain(optional).map(move |more| arguments_with(tool, more))
}

/// The required arguments, and an optional one with those that its groups demand.
fn arguments_with(tool: ResolvedTool<'_>, more: Option<ArgView<'_>>) -> Map<String, Value> {
    let mut names: Vec<&str> = shown_args(tool).filter(|arg| arg.required()).chain(more).map(ArgView::name).collect();
    for group in tool.groups() {
        let is_given = group.args().any(|name| names.contains(&name));
        match group.kind() {
            GroupKind::ExactlyOne if !is_given => names.extend(group.args().next()),
            GroupKind::Together if is_given => {
                let absent: Vec<&str> = group.args().filter(|name| !names.contains(name)).collect();
                names.extend(absent);
            }
            GroupKind::ExactlyOne | GroupKind::AtMostOne | GroupKind::Together => {}
        }
    }

    let given = tool.agent_args().filter(|arg| names.contains(&arg.name()));
    let (ordered, others): (Vec<_>, Vec<_>) = given.partition(|arg| arg.is_ordered());
    let pair = |arg: ArgView<'_>| (arg.name().to_owned(), example_value(arg));
    let steps: Vec<Value> = ordered.into_iter().map(|arg| Map::from_iter([pair(arg)]).into()).collect();
    let steps = Some((STEPS.to_owned(), steps.into())).filter(|(_, steps): &(_, Value)| *steps != json!([]));

    others.into_iter().map(pair).chain(steps).collect()
}

/// A value that the arg allows: the first of its enum, its default, or one of its type.
fn example_value(arg: ArgView<'_>) -> Value {
    let value = single_value(arg);
    match arg.shape() {
        Shape::Single => value,
        Shape::Count => json!(1),
        Shape::List(_) | Shape::Rest(_) => vec![value; arg.min_items().unwrap_or_default().max(1) as usize].into(),
        Shape::Map(_) => json!({ "example": value }),
    }
}

/// A single value of an arg, or an item of its list or map.
fn single_value(arg: ArgView<'_>) -> Value {
    let text = arg.values().next().or(arg.default().filter(|default| !default.is_empty()));
    match (arg.kind(), text) {
        (Type::String, Some(text)) => json!(text),
        (Type::String, None) => json!(format!("example-{}", arg.name().replace('_', "-"))),
        (Type::Integer, text) => {
            #[expect(clippy::cast_possible_truncation, reason = "beyond the type's own bounds those hold")]
            let least = arg.rules().filter_map(RuleView::min).fold(1, |least, min| least.max(min.ceil() as i64));
            json!(text.and_then(|text| text.parse::<i64>().ok()).unwrap_or(least))
        }
        (Type::Number, text) => text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(json!(1.5)),
        (Type::Boolean, text) => json!(text != Some("false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::arguments::{Problem, Violation};

    #[test]
    fn examples_of_compiled_in_tools_fit_their_schemas() {
        for row in 0..u32::try_from(crate::CATALOG.tools.len()).unwrap() {
            let tool = ResolvedTool::new(&crate::CATALOG, row);
            let schema: Value = serde_json::from_str(tool.input_schema()).unwrap();
            let validator = jsonschema::validator_for(&schema).unwrap();
            for arguments in example_arguments(tool) {
                let violations = bind(tool, &arguments).err().unwrap_or_default();
                // `climax_examples` leaves out those that violate a pattern.
                let is_pattern = |violation: &Violation| matches!(violation.problem, Problem::Pattern { .. });
                assert!(violations.iter().all(is_pattern), "{}: {violations:?}", tool.name());
                // A pattern that JavaScript would read otherwise is in the description alone.
                let is_described = |violation: &Violation| {
                    let name = violation.argument.split('[').next().unwrap_or_default();
                    let description = schema["properties"][name]["description"].as_str();
                    let Problem::Pattern { pattern, .. } = &violation.problem else { return false };
                    description.is_some_and(|description| description.contains(pattern))
                };
                let is_valid = validator.is_valid(&Value::Object(arguments.clone()));
                assert_eq!(is_valid, violations.iter().all(is_described), "{}: {arguments:?}", tool.name());
            }
        }
    }
}
