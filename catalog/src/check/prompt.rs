//! Checks of prompts: their names, placeholders, and the tools whose output they show.

use super::{Checker, text_or};
use crate::config::prompt::{Message as RawMessage, Prompt as RawPrompt, PromptArg as RawArg};
use crate::config::{Risk, Tool as RawTool, Type};
use crate::diagnostic::Code;
use crate::prompt::{Message, Prompt, PromptArg};
use crate::source::{Span, Spanned};

impl Checker<'_> {
    /// Checks the prompts of a config whose tools are `tools`.
    pub(super) fn prompts(&mut self, prompts: Vec<RawPrompt>, tools: &[RawTool]) -> Vec<Spanned<Prompt>> {
        let names: Vec<_> = prompts.iter().filter_map(|prompt| prompt.name.as_ref()).collect();
        for name in &names {
            self.legal_name(name, "prompt");
        }
        prompts.into_iter().map(|prompt| self.prompt(prompt, tools)).collect()
    }

    fn prompt(&mut self, prompt: RawPrompt, tools: &[RawTool]) -> Spanned<Prompt> {
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
        let known: Vec<String> = names.iter().map(|name| name.value.clone()).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let messages = prompt.messages.map(|messages| messages.value).unwrap_or_default();
        let value = Prompt {
            name: text_or(prompt.name, ""),
            title: prompt.title.map(|title| title.value),
            description: text_or(prompt.description, ""),
            args: prompt.args.into_iter().map(|arg| self.prompt_arg(arg)).collect(),
            messages: messages.into_iter().map(|message| self.message(message, &known, tools)).collect(),
        };
        Spanned { value, span }
    }

    fn prompt_arg(&mut self, arg: RawArg) -> PromptArg {
        PromptArg {
            name: text_or(arg.name, ""),
            description: text_or(arg.description, ""),
            required: arg.required,
            values: self.enum_values(arg.values.as_ref(), Type::String),
        }
    }

    fn message(&mut self, message: RawMessage, args: &[&str], tools: &[RawTool]) -> Message {
        match message {
            RawMessage::Text { role, text } => {
                self.not_empty(&text, "a message");
                self.template(&text, args, "an arg of the prompt");
                Message::Text { role, text: text.value }
            }
            RawMessage::Call { tool, args: given } => {
                for (_, template) in &given {
                    self.template(template, args, "an arg of the prompt");
                }
                self.called(&tool, &given, tools);
                let args = given.into_iter().map(|(name, template)| (name.value, template.value)).collect();
                Message::Call { tool: tool.value, args }
            }
        }
    }

    /// Checks a tool that a prompt calls: one of the same config that changes nothing, with all that it needs.
    fn called(&mut self, name: &Spanned<String>, given: &[(Spanned<String>, Spanned<String>)], tools: &[RawTool]) {
        let name_of = |tool: &RawTool| tool.name.as_ref().map(|name| name.value.clone());
        let Some(tool) = tools.iter().find(|tool| name_of(tool).as_ref() == Some(&name.value)) else {
            let known: Vec<&str> = tools.iter().filter_map(|tool| Some(tool.name.as_ref()?.value.as_str())).collect();
            self.unknown_name(name, "tool of this config", &known);
            return;
        };
        if tool.risk.is_some_and(|risk| risk != Risk::Read) {
            let message = format!("`{}` may change something", name.value);
            let help = "call a tool of `risk: read`: whoever opens a prompt does not expect changes";
            self.report(Code::IllegalPrompt, name.span, message, help);
        }
        let known: Vec<&str> = tool.args.iter().filter_map(|arg| Some(arg.name.as_ref()?.value.as_str())).collect();
        for (arg, _) in given {
            if !known.contains(&arg.value.as_str()) {
                self.unknown_name(arg, "arg of the tool", &known);
            }
        }
        if !tool.ask.is_empty() {
            let message = format!("`{}` asks the user", name.value);
            let help = "call a tool without `ask`, and have the prompt's own args filled in";
            self.report(Code::IllegalPrompt, name.span, message, help);
            return;
        }
        for arg in &tool.args {
            let is_required = arg.required.as_ref().is_some_and(|required| required.value);
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
}
