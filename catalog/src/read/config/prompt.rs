//! Prompts as they are written.

use super::arg::{ARG_NAME, DESCRIPTION, enum_values};
use crate::model::Role;
use crate::read::walk::Walker;
use crate::read::yaml::{Node, NodeKind};
use crate::source::Spanned;

/// An item of `prompts`.
#[derive(Debug)]
pub(crate) struct PromptConfig {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) title: Option<Spanned<String>>,
    pub(crate) description: Option<Spanned<String>>,
    pub(crate) args: Vec<PromptArgConfig>,
    pub(crate) messages: Option<Spanned<Vec<MessageConfig>>>,
}

/// An item of a prompt's `args`.
#[derive(Debug)]
pub(crate) struct PromptArgConfig {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) description: Option<Spanned<String>>,
    pub(crate) required: bool,
    pub(crate) values: Option<Spanned<Vec<Spanned<String>>>>,
}

/// An item of a prompt's `messages`.
#[derive(Debug)]
pub(crate) enum MessageConfig {
    Text { role: Role, text: Spanned<String> },
    Call { tool: Spanned<String>, args: Vec<(Spanned<String>, Spanned<String>)> },
}

pub(crate) const PROMPT_KEYS: &[&str] = &["name", "title", "description", "args", "messages"];
pub(crate) const PROMPT_ARG_KEYS: &[&str] = &["name", "description", "required", "enum"];
pub(crate) const TEXT_KEYS: &[&str] = &["role", "text"];
pub(crate) const CALL_KEYS: &[&str] = &["tool", "args"];

pub(super) fn prompt(walker: &mut Walker<'_>, node: &Node) -> Option<PromptConfig> {
    let mut fields = walker.mapping(node, "a prompt", PROMPT_KEYS)?;
    let messages = fields.required(walker, "messages", "what the prompt says");
    Some(PromptConfig {
        name: fields.required(walker, "name", "the prompt's name").and_then(|node| walker.string(node, "name")),
        title: fields.optional_string(walker, "title"),
        description: fields
            .required(walker, DESCRIPTION, "what the prompt is for")
            .and_then(|node| walker.string(node, DESCRIPTION)),
        args: fields.list(walker, "args", arg),
        messages: messages
            .map(|node| Spanned { value: walker.list(node, "messages", message), span: walker.first_line(node.span) }),
    })
}

fn arg(walker: &mut Walker<'_>, node: &Node) -> Option<PromptArgConfig> {
    let mut fields = walker.mapping(node, "an arg of a prompt", PROMPT_ARG_KEYS)?;
    Some(PromptArgConfig {
        name: fields.required(walker, "name", ARG_NAME).and_then(|node| walker.string(node, "name")),
        description: fields.string(walker, DESCRIPTION),
        required: fields.boolean(walker, "required").is_some_and(|required| required.value),
        values: fields.optional("enum").and_then(|node| enum_values(walker, node)),
    })
}

/// A text, or a mapping with a text or a tool.
fn message(walker: &mut Walker<'_>, node: &Node) -> Option<MessageConfig> {
    let NodeKind::Mapping(mapping) = &node.kind else {
        return walker.string(node, "a message").map(|text| MessageConfig::Text { role: Role::User, text });
    };
    if mapping.entries.iter().any(|(key, _)| matches!(&key.kind, NodeKind::Scalar(key) if key.text == "tool")) {
        let mut fields = walker.mapping(node, "a message with a tool", CALL_KEYS)?;
        let tool = fields.string(walker, "tool");
        let args = fields.string_map(walker, "args");
        return Some(MessageConfig::Call { tool: tool?, args });
    }

    let mut fields = walker.mapping(node, "a message", TEXT_KEYS)?;
    let role = fields.word(walker, "role").unwrap_or(Role::User);
    let text = fields.required(walker, "text", "what is said, or `tool:`, whose output is shown");
    text.and_then(|node| walker.string(node, "text")).map(|text| MessageConfig::Text { role, text })
}
