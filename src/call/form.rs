//! Questions with fields, which users fill in: what agents are not to choose, and what a prompt needs.

use climax_catalog::{ArgView, PromptArg, QuestionView, ResolvedTool, RuleView, Type};
use serde_json::{Map, Value};

use crate::call::arguments::Bound;
use crate::call::confirmation;

/// A question and its fields.
#[derive(Clone, Debug)]
pub struct Form<'a> {
    /// What the answer is known by.
    pub name: &'a str,
    /// What the user is asked.
    pub message: String,
    /// What is to be filled in.
    pub fields: Vec<Field<'a>>,
}

/// A field of a form.
#[derive(Clone, Debug)]
pub struct Field<'a> {
    /// The name of its value.
    pub name: &'a str,
    /// What the value means; may be empty.
    pub description: &'a str,
    /// The type of the value.
    pub kind: Type,
    /// Whether there must be a value.
    pub required: bool,
    /// The value that the form starts with, as it goes on the command line.
    pub default: Option<&'a str>,
    /// The least that a number may be.
    pub min: Option<f64>,
    /// The most that a number may be.
    pub max: Option<f64>,
    /// The allowed values; none means any.
    pub values: Vec<&'a str>,
}

impl<'a> Form<'a> {
    /// The form of one of a tool's questions. It says which call it is for: `own` is what the agent gives.
    #[must_use]
    pub fn of_question(tool: ResolvedTool<'a>, question: QuestionView<'a>, own: &Bound<'_>) -> Self {
        let asked = tool.args().filter(|arg| question.args().any(|name| name == arg.name()));
        let message = format!("{}\n\nfor {}", question.message(), confirmation::call(tool, own));
        Self { name: question.name(), message, fields: asked.map(field).collect() }
    }

    /// The form of what a prompt needs.
    #[must_use]
    pub fn of_prompt(name: &'a str, message: String, args: impl Iterator<Item = &'a PromptArg>) -> Self {
        let fields = args.map(|arg| Field {
            name: &arg.name,
            description: &arg.description,
            kind: Type::String,
            required: arg.required,
            default: None,
            min: None,
            max: None,
            values: arg.values.iter().map(String::as_str).collect(),
        });
        Self { name, message, fields: fields.collect() }
    }

    /// Those of some values that are of its fields.
    #[must_use]
    pub fn values(&self, given: Map<String, Value>) -> Map<String, Value> {
        given.into_iter().filter(|(name, _)| self.fields.iter().any(|field| field.name == name)).collect()
    }
}

fn field(arg: ArgView<'_>) -> Field<'_> {
    Field {
        name: arg.name(),
        description: arg.description(),
        kind: arg.kind(),
        required: arg.required(),
        default: arg.default(),
        min: arg.rules().filter_map(RuleView::min).reduce(f64::max),
        max: arg.rules().filter_map(RuleView::max).reduce(f64::min),
        values: arg.values().collect(),
    }
}
