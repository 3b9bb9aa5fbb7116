//! Prompts: requests that an author has worded for the people who use the tools, with places to fill in.
//!
//! In a catalog a prompt is a text of JSON, since it is read only when somebody asks for it.

use serde_json::{Value, json};

use crate::model::Role;

/// A prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Its name, unique in the catalog.
    pub name: String,
    /// What people see in place of the name, if that is something else.
    pub title: Option<String>,
    /// What it is for.
    pub description: String,
    /// What is to be filled in.
    pub args: Vec<PromptArg>,
    /// What it says.
    pub messages: Vec<MessageTemplate>,
}

/// Something to be filled in; always a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArg {
    /// The name, as placeholders have it.
    pub name: String,
    /// What it means; may be empty.
    pub description: String,
    /// Whether the prompt makes no sense without it.
    pub required: bool,
    /// The allowed values; none means any.
    pub values: Vec<String>,
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageTemplate {
    /// A template.
    Text {
        /// Who says it.
        role: Role,
        /// The template, with the prompt's args as placeholders.
        text: String,
    },
    /// What a tool prints, shown as the user's.
    Call {
        /// The tool.
        tool: String,
        /// Its arguments by name, as templates.
        args: Vec<(String, String)>,
    },
}

impl Prompt {
    /// The tools that it calls, with what they are given.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &[(String, String)])> {
        self.messages.iter().filter_map(|message| match message {
            MessageTemplate::Call { tool, args } => Some((tool.as_str(), args.as_slice())),
            MessageTemplate::Text { .. } => None,
        })
    }

    /// The text that a catalog keeps: all but the name.
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

    /// Reads what [`Self::to_json`] has written.
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
    fn what_a_catalog_keeps_is_the_whole_prompt() {
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
