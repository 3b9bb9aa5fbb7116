//! Prompts: prepared requests for users, with args to fill in (MCP, "Prompts").
//!
//! A catalog stores a prompt as JSON text, which is parsed on request.

use serde_json::{Value, json};

use crate::model::Role;

/// A prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Its name, unique in the catalog.
    pub name: String,
    /// The name that is shown to users, if it differs from the tool's or prompt's name.
    pub title: Option<String>,
    /// The purpose of the prompt.
    pub description: String,
    /// The args that the user fills in.
    pub args: Vec<PromptArg>,
    /// The messages.
    pub messages: Vec<MessageTemplate>,
}

/// An arg of a prompt; always a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArg {
    /// The name, as in placeholders.
    pub name: String,
    /// What it means; may be empty.
    pub description: String,
    /// Whether the user must fill it in.
    pub required: bool,
    /// The allowed values; none means any.
    pub values: Vec<String>,
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageTemplate {
    /// A template.
    Text {
        /// The speaker.
        role: Role,
        /// The template, with the prompt's args as placeholders.
        text: String,
    },
    /// The output of a tool, shown as the user's message.
    Call {
        /// Raises a tool.
        tool: String,
        /// Its arguments by name, as templates.
        args: Vec<(String, String)>,
    },
}

impl Prompt {
    /// The tools that the prompt calls, with their arguments.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &[(String, String)])> {
        self.messages.iter().filter_map(|message| match message {
            MessageTemplate::Call { tool, args } => Some((tool.as_str(), args.as_slice())),
            MessageTemplate::Text { .. } => None,
        })
    }

    /// Writes everything but the name as JSON, for the catalog.
    pub(crate) fn to_json(&self) -> String {
        let Self { name: _, title, description, args, messages } = self;
        let arg = |PromptArg { name, description, required, values }: &PromptArg| {
            json!([name, description, required, values])
        };
        let args: Vec<Value> = args.iter().map(arg).collect();
        let messages = messages.iter().map(|message| match message {
            MessageTemplate::Text { role, text } => json!({ "role": role.as_str(), "text": text }),
            MessageTemplate::Call { tool, args } => json!({ "tool": tool, "args": args }),
        });

        json!([description, args, messages.collect::<Vec<_>>(), title]).to_string()
    }

    /// Parses the output of [`Self::to_json`].
    pub(crate) fn from_json(name: &str, json: &str) -> Self {
        let json: Value = serde_json::from_str(json).unwrap_or_default();
        let args = json[1].as_array().into_iter().flatten().map(|arg| PromptArg {
            name: text(&arg[0]),
            description: text(&arg[1]),
            required: arg[2] == true,
            values: arg[3].as_array().into_iter().flatten().map(text).collect(),
        });

        Self {
            name: name.to_owned(),
            title: json[3].as_str().map(str::to_owned),
            description: text(&json[0]),
            args: args.collect(),
            messages: json[2].as_array().into_iter().flatten().map(message).collect(),
        }
    }
}

fn message(json: &Value) -> MessageTemplate {
    if let Some(tool) = json["tool"].as_str() {
        let args = json["args"].as_array().into_iter().flatten().map(|pair| (text(&pair[0]), text(&pair[1])));
        return MessageTemplate::Call { tool: tool.to_owned(), args: args.collect() };
    }
    let role = json["role"].as_str().and_then(|role| role.parse().ok()).unwrap_or(Role::User);
    MessageTemplate::Text { role, text: text(&json["text"]) }
}

fn text(json: &Value) -> String {
    json.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trip_preserves_the_prompt() {
        let prompt = Prompt {
            name: "review".into(),
            title: Some("Review".into()),
            description: "Review \"a\" change".into(),
            args: vec![PromptArg {
                name: "base".into(),
                description: "From".into(),
                required: true,
                values: vec!["a".into()],
            }],
            messages: vec![
                MessageTemplate::Text { role: Role::Assistant, text: "Since {base}?".into() },
                MessageTemplate::Call { tool: "git_diff".into(), args: vec![("base".into(), "{base}".into())] },
            ],
        };
        assert_eq!(Prompt::from_json("review", &prompt.to_json()), prompt);
    }
}
