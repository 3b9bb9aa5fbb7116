//! Prompts: messages of configs, for the users of the tools.
//!
//! Source: MCP 2025-11-25, server/prompts, server/utilities/completion.

use climax_catalog::MAX_SUGGESTIONS;
use climax_catalog::{MessageTemplate, Prompt, PromptArg, Role, Type, near_misses, template};
use rmcp::model::{
    CompletionInfo, ContentBlock, ErrorData, GetPromptResponse, GetPromptResult, InputRequiredResult, PromptArgument,
    PromptMessage, Reference, Role as McpRole,
};
use serde_json::{Map, Value, json};

use super::client::Client;
use super::errors::forged_state;
use super::resources::OUTPUT_TEMPLATE;
use super::server::Server;
use crate::call::Toolbox;
use crate::call::approval::{Approver as _, Denial, FormAnswer};
use crate::call::arguments::echo;
use crate::call::digest::of_pairs;
use crate::call::form::Form;

/// The name of the form that asks for a prompt's missing args.
const ARGUMENTS: &str = "arguments";

/// The definition of a prompt in `prompts/list`.
pub(super) fn definition(prompt: &Prompt) -> rmcp::model::Prompt {
    let argument = |arg: &PromptArg| {
        let argument = PromptArgument::new(&arg.name).with_required(arg.required);
        if arg.description.is_empty() { argument } else { argument.with_description(&arg.description) }
    };
    let arguments: Vec<PromptArgument> = prompt.args.iter().map(argument).collect();
    let arguments = Some(arguments).filter(|arguments| !arguments.is_empty());
    let definition = rmcp::model::Prompt::new(&prompt.name, Some(&prompt.description), arguments);
    prompt.title.iter().fold(definition, rmcp::model::Prompt::with_title)
}

/// Renders the messages of a prompt. Asks the user for missing args, if the client has forms.
pub(super) async fn get(
    server: &Server,
    toolbox: &Toolbox,
    name: &str,
    arguments: &Map<String, Value>,
    client: &Client<'_>,
) -> Result<GetPromptResponse, ErrorData> {
    let prompt = find(toolbox, name)?;
    let mut values = string_values(prompt, arguments)?;
    if !missing(prompt, &values).is_empty() {
        match ask_for_missing(prompt, &values, client).await {
            FormAnswer::Filled(answers) => values.extend(string_values(prompt, &answers)?),
            FormAnswer::InputRequired(result) => return Ok(result.into()),
            FormAnswer::Denied(Denial::Forged) => return Err(forged_state()),
            FormAnswer::Denied(Denial::Unanswerable | Denial::Unasked | Denial::Headless | Denial::ByUser) => {}
        }
    }

    let still_missing = missing(prompt, &values);
    if !still_missing.is_empty() {
        return Err(missing_arguments(name, &still_missing));
    }

    let mut messages = Vec::new();
    for message in &prompt.messages {
        messages.extend(render(server, toolbox, message, &values, client).await?);
    }

    Ok(GetPromptResult::new(messages).with_description(&prompt.description).into())
}

/// The required args of a prompt that have no value.
fn missing<'a>(prompt: &'a Prompt, values: &Map<String, Value>) -> Vec<&'a PromptArg> {
    prompt.args.iter().filter(|arg| arg.required && !values.contains_key(&arg.name)).collect()
}

/// Asks the user for the missing args of a prompt.
async fn ask_for_missing(
    prompt: &Prompt,
    values: &Map<String, Value>,
    client: &Client<'_>,
) -> FormAnswer<InputRequiredResult> {
    let Prompt { name, description, .. } = prompt;
    let message = format!("What {name} is to be about: {description}");
    let form = Form::of_prompt(ARGUMENTS, message, missing(prompt, values).into_iter());
    let pairs = values.iter().map(|(name, value)| (name.clone(), value.to_string()));
    let request = of_pairs(std::iter::once((format!("prompt {name}"), String::new())).chain(pairs));
    client.fill_in(&form, &request).await
}

/// Completes an argument of a prompt, or a variable of a resource template.
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
        // The id of an output cannot be guessed.
        Reference::Resource(resource) if resource.uri == OUTPUT_TEMPLATE => Some(Vec::new()),
        Reference::Resource(resource) => variable_values(toolbox, &resource.uri, argument)?,
        _ => return Err(ErrorData::invalid_params("Completion is for prompts and resource templates", None)),
    };
    let values =
        values.ok_or_else(|| ErrorData::invalid_params(format!("No such argument: {}", echo(argument)), None))?;
    let prefix = written.to_lowercase();
    let mut found: Vec<String> = values.into_iter().filter(|value| value.to_lowercase().starts_with(&prefix)).collect();
    let total = u32::try_from(found.len()).ok();
    let has_more = found.len() > CompletionInfo::MAX_VALUES;
    found.truncate(CompletionInfo::MAX_VALUES);

    CompletionInfo::with_pagination(found, total, has_more).map_err(|error| ErrorData::internal_error(error, None))
}

/// The known values of a variable of a resource template; `None` if the template does not have the variable.
fn variable_values(toolbox: &Toolbox, uri: &str, variable: &str) -> Result<Option<Vec<String>>, ErrorData> {
    let tool = toolbox.index.resources().find(|tool| tool.resource() == Some(uri));
    let tool =
        tool.ok_or_else(|| ErrorData::invalid_params(format!("No such resource template: {}", echo(uri)), None))?;
    let has_variable =
        tool.resource_template().is_some_and(|template| template.variables().any(|name| name == variable));
    let arg = tool.args().find(|arg| arg.name() == variable && has_variable);
    Ok(arg.map(|arg| match arg.kind() {
        Type::Boolean => vec!["true".to_owned(), "false".to_owned()],
        _ => arg.values().map(str::to_owned).collect(),
    }))
}

fn find<'a>(toolbox: &'a Toolbox, name: &str) -> Result<&'a Prompt, ErrorData> {
    let found = toolbox.prompts().find(|prompt| prompt.name == name);
    found.ok_or_else(|| {
        let near = near_misses(name, toolbox.prompts().map(|prompt| prompt.name.as_str()), MAX_SUGGESTIONS);
        let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        ErrorData::invalid_params(format!("Unknown prompt: {}{hint}", echo(name)), None)
    })
}

/// The values of a prompt's args, as strings.
///
/// # Errors
/// A value is no scalar, or not among the arg's values.
fn string_values(prompt: &Prompt, arguments: &Map<String, Value>) -> Result<Map<String, Value>, ErrorData> {
    let mut values = Map::new();
    for arg in &prompt.args {
        let value = match arguments.get(&arg.name) {
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

fn missing_arguments(name: &str, missing: &[&PromptArg]) -> ErrorData {
    let names: Vec<&str> = missing.iter().map(|arg| arg.name.as_str()).collect();
    let message = format!("Prompt {name} needs {}: give them as `arguments`", names.join(", "));
    ErrorData::invalid_params(message, Some(json!({ "missing": names })))
}

/// Renders a message of a prompt. A message that calls a tool becomes a message for each content block.
async fn render(
    server: &Server,
    toolbox: &Toolbox,
    message: &MessageTemplate,
    values: &Map<String, Value>,
    client: &Client<'_>,
) -> Result<Vec<PromptMessage>, ErrorData> {
    let fill = |text: &str| {
        template::filled(text, |name| values.get(name).and_then(Value::as_str).unwrap_or_default().to_owned())
    };
    match message {
        MessageTemplate::Text { role, text } => {
            let role = match role {
                Role::User => McpRole::User,
                Role::Assistant => McpRole::Assistant,
            };
            Ok(vec![PromptMessage::new_text(role, fill(text))])
        }
        MessageTemplate::Call { tool, args } => {
            let arguments: Map<String, Value> = args
                .iter()
                .map(|(name, text)| (name.clone(), fill(text)))
                .filter(|(_, text)| !text.is_empty())
                .map(|(name, text)| (name, text.into()))
                .collect();
            let blocks = server.prompt_content(toolbox, tool, &arguments, client.context).await?;
            let message = |block: ContentBlock| PromptMessage::new(McpRole::User, block);
            Ok(blocks.into_iter().map(message).collect())
        }
    }
}
