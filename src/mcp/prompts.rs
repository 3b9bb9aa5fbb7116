//! Prompts: what configs have worded for the people who use the tools.
//!
//! Source: MCP 2025-11-25, server/prompts, server/utilities/completion.

use climax_catalog::{MessageTemplate, Prompt, PromptArg, Role, Type, near_misses, template};
use rmcp::model::{
    CompletionInfo, ContentBlock, ErrorData, GetPromptResponse, GetPromptResult, PromptArgument, PromptMessage,
    Reference, Role as McpRole,
};
use serde_json::{Map, Value, json};

use super::client::Client;
use super::resources::OUTPUT_TEMPLATE;
use super::server::{Server, forged_state};
use crate::call::Toolbox;
use crate::call::approval::{Answer, Approver as _, Denial, identity_of};
use crate::call::arguments::echo;
use crate::call::form::Form;
use climax_catalog::MAX_SUGGESTIONS;

/// The name of the form by which a prompt's args are asked for.
const ARGUMENTS: &str = "arguments";

/// A prompt as it is listed.
pub(super) fn listed(prompt: &Prompt) -> rmcp::model::Prompt {
    let argument = |arg: &PromptArg| {
        let argument = PromptArgument::new(&arg.name).with_required(arg.required);
        if arg.description.is_empty() { argument } else { argument.with_description(&arg.description) }
    };
    let arguments: Vec<PromptArgument> = prompt.args.iter().map(argument).collect();
    let arguments = Some(arguments).filter(|arguments| !arguments.is_empty());
    let listed = rmcp::model::Prompt::new(&prompt.name, Some(&prompt.description), arguments);
    prompt.title.iter().fold(listed, rmcp::model::Prompt::with_title)
}

/// A prompt, filled in. What is missing the user is asked for, where the client can do that.
pub(super) async fn get(
    server: &Server,
    toolbox: &Toolbox,
    name: &str,
    arguments: &Map<String, Value>,
    client: &Client<'_>,
) -> Result<GetPromptResponse, ErrorData> {
    let prompt = find(toolbox, name)?;
    let mut values = texts(prompt, arguments)?;
    let missing = |values: &Map<String, Value>| -> Vec<PromptArg> {
        prompt.args.iter().filter(|arg| arg.required && !values.contains_key(&arg.name)).cloned().collect()
    };
    let asked = missing(&values);
    if !asked.is_empty() {
        let message = format!("What {name} is to be about: {}", prompt.description);
        let form = Form::of_prompt(ARGUMENTS, message, asked.iter());
        let given = values.iter().map(|(name, value)| (name.clone(), value.to_string()));
        let identity = identity_of(std::iter::once((format!("prompt {name}"), String::new())).chain(given));
        match client.ask(&form, &identity).await {
            Answer::Given(given) => values.extend(texts(prompt, &given)?),
            Answer::Asked(question) => return Ok(question.into()),
            Answer::Denied(Denial::Forged) => return Err(forged_state()),
            Answer::Denied(Denial::Unanswerable | Denial::Headless | Denial::ByUser) => {}
        }
    }
    let still_missing = missing(&values);
    if !still_missing.is_empty() {
        return Err(missing_arguments(name, &still_missing));
    }
    let mut messages = Vec::new();
    for message in &prompt.messages {
        messages.extend(said(server, toolbox, message, &values, client).await?);
    }
    Ok(GetPromptResult::new(messages).with_description(&prompt.description).into())
}

/// What can be written for an argument of a prompt, or of a resource's URI, after what has been written.
pub(super) fn complete(
    toolbox: &Toolbox,
    reference: &Reference,
    argument: &str,
    written: &str,
) -> Result<CompletionInfo, ErrorData> {
    let values = match reference {
        Reference::Prompt(prompt) => {
            let arg = find(toolbox, &prompt.name)?.args.iter().find(|arg| arg.name == argument);
            arg.map(|arg| arg.values.clone())
        }
        // Nobody guesses the numbers of outputs.
        Reference::Resource(resource) if resource.uri == OUTPUT_TEMPLATE => Some(Vec::new()),
        Reference::Resource(resource) => {
            let tool = toolbox.index.resources().find(|tool| tool.resource() == Some(&resource.uri));
            let tool = tool.ok_or_else(|| {
                ErrorData::invalid_params(format!("No such resource template: {}", echo(&resource.uri)), None)
            })?;
            let is_variable = |name: &str| {
                tool.resource_template().is_some_and(|template| template.variables().any(|variable| variable == name))
            };
            tool.args().find(|arg| arg.name() == argument && is_variable(argument)).map(|arg| match arg.kind() {
                Type::Boolean => vec!["true".to_owned(), "false".to_owned()],
                _ => arg.values().map(str::to_owned).collect(),
            })
        }
        _ => return Err(ErrorData::invalid_params("Completion is for prompts and resource templates", None)),
    };
    let values =
        values.ok_or_else(|| ErrorData::invalid_params(format!("No such argument: {}", echo(argument)), None))?;
    let wanted = written.to_lowercase();
    let mut found: Vec<String> = values.into_iter().filter(|value| value.to_lowercase().starts_with(&wanted)).collect();
    let total = u32::try_from(found.len()).ok();
    let has_more = found.len() > CompletionInfo::MAX_VALUES;
    found.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(found, total, has_more).map_err(|error| ErrorData::internal_error(error, None))
}

fn find<'a>(toolbox: &'a Toolbox, name: &str) -> Result<&'a Prompt, ErrorData> {
    let found = toolbox.prompts().find(|prompt| prompt.name == name);
    found.ok_or_else(|| {
        let near = near_misses(name, toolbox.prompts().map(|prompt| prompt.name.as_str()), MAX_SUGGESTIONS);
        let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        ErrorData::invalid_params(format!("Unknown prompt: {}{hint}", echo(name)), None)
    })
}

/// The values of a prompt's args: texts, and only those that are allowed.
fn texts(prompt: &Prompt, given: &Map<String, Value>) -> Result<Map<String, Value>, ErrorData> {
    let mut values = Map::new();
    for arg in &prompt.args {
        let value = match given.get(&arg.name) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
            Some(_) => {
                let message = format!("Argument '{}' of a prompt must be a string", arg.name);
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        if !arg.values.is_empty() && !arg.values.contains(&value) {
            let message = format!("Argument '{}' must be one of: {}", arg.name, arg.values.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
        values.insert(arg.name.clone(), value.into());
    }
    Ok(values)
}

fn missing_arguments(name: &str, missing: &[PromptArg]) -> ErrorData {
    let names: Vec<&str> = missing.iter().map(|arg| arg.name.as_str()).collect();
    let message = format!("Prompt {name} needs {}: give them as `arguments`", names.join(", "));
    ErrorData::invalid_params(message, Some(json!({ "missing": names })))
}

/// A message with what it holds.
async fn said(
    server: &Server,
    toolbox: &Toolbox,
    message: &MessageTemplate,
    values: &Map<String, Value>,
    client: &Client<'_>,
) -> Result<Vec<PromptMessage>, ErrorData> {
    let filled = |text: &str| {
        template::filled(text, |name| values.get(name).and_then(Value::as_str).unwrap_or_default().to_owned())
    };
    match message {
        MessageTemplate::Text { role, text } => {
            let role = match role {
                Role::User => McpRole::User,
                Role::Assistant => McpRole::Assistant,
            };
            Ok(vec![PromptMessage::new_text(role, filled(text))])
        }
        MessageTemplate::Call { tool, args } => {
            let arguments: Map<String, Value> = args
                .iter()
                .map(|(name, text)| (name.clone(), filled(text)))
                .filter(|(_, text)| !text.is_empty())
                .map(|(name, text)| (name, text.into()))
                .collect();
            let blocks = server.printed(toolbox, tool, &arguments, client.context).await?;
            let message = |block: ContentBlock| PromptMessage::new(McpRole::User, block);
            Ok(blocks.into_iter().map(message).collect())
        }
    }
}
