//! Checks of prompts: their names, placeholders, and the tools whose output they show.

use super::{Checker, text_or};
use crate::diagnostic::Code;
use crate::json::enum_json;
use crate::model::{Risk, Type};
use crate::prompt::{MessageTemplate, Prompt, PromptArg};
use crate::read::config::prompt::{MessageConfig, PromptArgConfig, PromptConfig};
use crate::read::config::{ArgConfig, ToolConfig};
use crate::read::yaml::shorten;
use crate::source::{Span, Spanned};
use crate::template::{self, Piece};

impl Checker<'_> {
    /// Checks the prompts of a config whose tools are `tools`.
    pub(super) fn prompts(&mut self, prompts: Vec<PromptConfig>, tools: &[ToolConfig]) -> Vec<Spanned<Prompt>> {
        let names: Vec<_> = prompts.iter().filter_map(|prompt| prompt.name.as_ref()).collect();
        for name in &names {
            self.legal_name(name, "prompt");
        }
        prompts.into_iter().map(|prompt| self.prompt(prompt, tools)).collect()
    }

    fn prompt(&mut self, prompt: PromptConfig, tools: &[ToolConfig]) -> Spanned<Prompt> {
        let span = prompt.name.as_ref().map_or(Span { start: 0, end: 0 }, |name| name.span);
        if let Some(description) = &prompt.description {
            self.not_empty(description, "`description` of a prompt");
        }

        if let Some(title) = &prompt.title {
            self.not_empty(title, "`title` of a prompt");
        }

        if let Some(none) = prompt.messages.as_ref().filter(|messages| messages.value.is_empty()) {
            self.report(Code::EmptyValue, none.span, "`messages` of a prompt is empty", "write what the prompt says");
        }

        let names: Vec<_> = prompt.args.iter().filter_map(|arg| arg.name.as_ref()).collect();
        for name in &names {
            self.not_empty(name, "`name` of an arg");
        }

        self.defined_once(&names, "arg", Code::DuplicateArg);
        let messages = prompt.messages.map(|messages| messages.value).unwrap_or_default();
        let messages = messages.into_iter().map(|message| self.message(message, &prompt.args, tools)).collect();
        let value = Prompt {
            name: text_or(prompt.name, ""),
            title: prompt.title.map(|title| title.value),
            description: text_or(prompt.description, ""),
            args: prompt.args.into_iter().map(|arg| self.prompt_arg(arg)).collect(),
            messages,
        };

        Spanned { value, span }
    }

    fn prompt_arg(&mut self, arg: PromptArgConfig) -> PromptArg {
        PromptArg {
            name: text_or(arg.name, ""),
            description: text_or(arg.description, ""),
            required: arg.required,
            values: self.enum_values(arg.values.as_ref(), Type::String),
        }
    }

    fn message(&mut self, message: MessageConfig, own: &[PromptArgConfig], tools: &[ToolConfig]) -> MessageTemplate {
        let args: Vec<&str> = own.iter().filter_map(|arg| Some(arg.name.as_ref()?.value.as_str())).collect();
        let args = args.as_slice();
        match message {
            MessageConfig::Text { role, text } => {
                self.not_empty(&text, "a message");
                self.template(&text, args, "an arg of the prompt");
                MessageTemplate::Text { role, text: text.value }
            }
            MessageConfig::Call { tool, args: given } => {
                for (_, template) in &given {
                    self.template(template, args, "an arg of the prompt");
                }
                self.call(&tool, &given, own, tools);
                let args = given.into_iter().map(|(name, template)| (name.value, template.value)).collect();
                MessageTemplate::Call { tool: tool.value, args }
            }
        }
    }

    /// Checks a call in a prompt. The tool must be in the same config, change nothing, and get all required args.
    fn call(
        &mut self,
        name: &Spanned<String>,
        given: &[(Spanned<String>, Spanned<String>)],
        own: &[PromptArgConfig],
        tools: &[ToolConfig],
    ) {
        let name_of = |tool: &ToolConfig| tool.name.as_ref().map(|name| name.value.clone());
        let Some(tool) = tools.iter().find(|tool| name_of(tool).as_ref() == Some(&name.value)) else {
            let known: Vec<&str> = tools.iter().filter_map(|tool| Some(tool.name.as_ref()?.value.as_str())).collect();
            self.unknown_name(name, "tool of this config", &known);
            return;
        };

        let problem = match tool.risk {
            Some(Risk::Read) => None,
            None => Some(("states no risk", "write `risk: read` at the tool if that is true")),
            Some(_) => Some(("may change something", "call a tool of `risk: read`")),
        };

        if let Some((problem, remedy)) = problem {
            let message = format!("`{}` {problem}", name.value);
            let help = format!("{remedy}: whoever opens a prompt does not expect changes");
            self.report(Code::IllegalPrompt, name.span, message, help);
        }

        let known: Vec<&str> = tool.args.iter().filter_map(|arg| Some(arg.name.as_ref()?.value.as_str())).collect();
        for (arg, template) in given {
            let is_named = |other: &&ArgConfig| other.name.as_ref().is_some_and(|name| name.value == arg.value);
            match tool.args.iter().find(is_named) {
                None => self.unknown_name(arg, "arg of the tool", &known),
                Some(tool_arg) => self.call_arg(tool_arg, template, own),
            }
        }

        if !tool.ask.is_empty() {
            let message = format!("`{}` asks the user", name.value);
            let help = "call a tool without `ask`, and have the prompt's own args filled in";
            self.report(Code::IllegalPrompt, name.span, message, help);
            return;
        }

        for arg in &tool.args {
            let is_required = arg.must_be_given();
            if let Some(missing) = arg.name.as_ref().filter(|_| is_required)
                && given.iter().all(|(arg, _)| arg.value != missing.value)
            {
                let message = format!("`{}` needs `{}`", name.value, missing.value);
                self.report(
                    Code::IllegalPrompt,
                    name.span,
                    message,
                    format!("add it: `args: {{{}: …}}`", missing.value),
                );
            }
        }
    }

    /// Checks a template for a tool's arg, as far as possible without the values of the prompt's args.
    fn call_arg(&mut self, arg: &ArgConfig, given: &Spanned<String>, own: &[PromptArgConfig]) {
        let pieces = template::parse(&given.value);
        let is_required = arg.must_be_given();
        let always_there = |name: &str| {
            let mut named = own.iter().filter(|own| own.name.as_ref().is_some_and(|own| own.value == name));
            named.all(|own| own.required)
        };
        let is_something = pieces.iter().any(|(_, piece)| match piece {
            Piece::Placeholder(name) => always_there(name),
            Piece::Literal(_) | Piece::Malformed(_) => true,
        });

        if is_required && !is_something {
            let message = "the tool requires this, and it is left out where the prompt is given nothing";
            self.report(Code::IllegalPrompt, given.span, message, "write `required: true` at the prompt's arg");
        }

        if pieces.iter().any(|(_, piece)| !matches!(piece, Piece::Literal(_))) {
            return;
        }

        let kind = arg.kind.unwrap_or(Type::String);
        let allowed = arg.values.as_ref().is_none_or(|all| all.value.iter().any(|one| one.value.value == given.value));
        if enum_json(&given.value, kind).is_none() || !allowed {
            let message = format!("the tool does not take `{}` here", shorten(&given.value));
            let help = match &arg.values {
                Some(all) => {
                    let all: Vec<&str> = all.value.iter().map(|one| one.value.value.as_str()).collect();
                    format!("write one of {}", all.join(", "))
                }
                None => format!("write a value of type {}", kind.as_str()),
            };
            self.report(Code::IllegalPrompt, given.span, message, help);
        }
    }
}
