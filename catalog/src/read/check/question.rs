//! Checks of `ask`: args that the user gives instead of the agent.

use std::collections::HashMap;

use super::{Checker, text_or};
use crate::diagnostic::Code;
use crate::read::config::{ArgConfig, ToolConfig};
use crate::source::{Span, Spanned};
use crate::table::CheckedQuestion;

/// The name of the server's own question for approval.
pub const APPROVAL: &str = "approval";

impl Checker<'_> {
    /// Checks the questions of a tool.
    pub(super) fn questions(&mut self, tool: &ToolConfig) -> Vec<CheckedQuestion> {
        let names: Vec<_> = tool.ask.iter().filter_map(|question| question.name.as_ref()).collect();
        self.defined_once(&names, "question", Code::IllegalQuestion);
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for arg in tool.ask.iter().filter_map(|question| question.args.as_ref()).flat_map(|args| &args.value) {
            if let Some(first) = seen.insert(&arg.value, arg.span) {
                let message = format!("`{}` is asked for twice", arg.value);
                let again = self.source.diagnostic(Code::IllegalQuestion, arg.span, message);
                self.out.push(again.also(first, "first here").help("keep it in one question"));
            }
        }

        for question in &tool.ask {
            for (text, what) in
                [(&question.name, "`name` of a question"), (&question.message, "`message` of a question")]
            {
                if let Some(text) = text {
                    self.not_empty(text, what);
                }
            }
            if let Some(name) = question.name.as_ref().filter(|name| name.value == APPROVAL) {
                let message = format!("`{APPROVAL}` is the name of the server's own question");
                self.report(Code::IllegalQuestion, name.span, message, "write another name");
            }
            if let Some(args) = &question.args {
                self.question_args(args, tool);
            }
        }

        let owned = |args: Spanned<Vec<Spanned<String>>>| args.value.into_iter().map(|arg| arg.value).collect();
        let question = |question: &crate::read::config::QuestionConfig| CheckedQuestion {
            name: text_or(question.name.clone(), ""),
            message: text_or(question.message.clone(), ""),
            args: question.args.clone().map_or_else(Vec::new, owned),
        };

        tool.ask.iter().map(question).collect()
    }

    fn question_args(&mut self, args: &Spanned<Vec<Spanned<String>>>, tool: &ToolConfig) {
        if args.value.is_empty() {
            self.report(Code::IllegalQuestion, args.span, "a question about no arg", "name the args that it is about");
        }

        let known: Vec<&str> = tool.args.iter().filter_map(|arg| Some(arg.name.as_ref()?.value.as_str())).collect();
        for arg in &args.value {
            let is_named = |other: &&ArgConfig| other.name.as_ref().is_some_and(|name| name.value == arg.value);
            match tool.args.iter().find(is_named) {
                None => self.unknown_name(arg, "arg", &known),
                Some(ArgConfig { output: Some(_), .. }) => {
                    let message = format!("`{}` is a file that the server chooses", arg.value);
                    self.report(Code::IllegalQuestion, arg.span, message, "remove the name, or the arg's `output`");
                }
                Some(other) if other.map.is_some() || other.rest.is_some() => {
                    let message = format!("`{}` takes names or any words, and a form has no field for them", arg.value);
                    self.report(Code::IllegalQuestion, arg.span, message, "remove the name, or the map or rest");
                }
                Some(other) if other.list.is_some() && other.values.is_none() => {
                    let message =
                        format!("`{}` takes several values, and a form offers only those of an enum", arg.value);
                    self.report(Code::IllegalQuestion, arg.span, message, "remove the name, or add `enum`");
                }
                Some(_) => {}
            }
        }
    }

    /// Reports an unknown name.
    pub(super) fn unknown_name(&mut self, name: &Spanned<String>, what: &str, known: &[&str]) {
        let help = match crate::suggest::did_you_mean(&name.value, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => format!("there is no {what} here; add one, or remove the name"),
            None => format!("write one of {}", known.join(", ")),
        };
        let message = format!("no {what} is named `{}`", crate::read::yaml::shorten(&name.value));
        self.report(Code::UnknownName, name.span, message, help);
    }
}
