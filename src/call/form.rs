//! Forms that users fill in: for values that agents must not choose, and for the arguments of prompts.

use climax_catalog::{ArgView, PromptArg, QuestionView, ResolvedTool, RuleView, Type};
use serde_json::{Map, Value};

use crate::call::arguments::Bound;
use crate::call::confirmation;

/// A form: a question and its fields.
#[derive(Clone, Debug)]
pub struct Form<'a> {
    /// The form's name, by which its answer is found.
    pub name: &'a str,
    /// The question.
    pub message: String,
    /// The fields.
    pub fields: Vec<Field<'a>>,
}

/// A field of a form.
#[derive(Clone, Debug)]
pub struct Field<'a> {
    /// The name of the arg.
    pub name: &'a str,
    /// The meaning of the value; may be empty.
    pub description: &'a str,
    /// The type of the value.
    pub kind: Type,
    /// Whether a value is required.
    pub required: bool,
    /// The initial value, as on the command line.
    pub default: Option<&'a str>,
    /// The minimum of a number.
    pub min: Option<f64>,
    /// The maximum of a number.
    pub max: Option<f64>,
    /// Whether several values can be given.
    pub several: bool,
    /// The allowed values with their titles; empty allows any.
    pub values: Vec<(&'a str, Option<&'a str>)>,
}

impl<'a> Form<'a> {
    /// Makes the form of one of a tool's questions. Its message contains the agent's request: the tool and `given`.
    #[must_use]
    pub fn of_question(tool: ResolvedTool<'a>, question: QuestionView<'a>, given: &Bound<'_>) -> Self {
        let args = tool.args().filter(|arg| question.args().any(|name| name == arg.name()));
        let message = format!("{}\n\nfor {}", question.message(), confirmation::call(tool, given));
        Self { name: question.name(), message, fields: args.map(field).collect() }
    }

    /// Makes the form of a prompt's arguments.
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
            several: false,
            values: arg.values.iter().map(|value| (value.as_str(), None)).collect(),
        });
        Self { name, message, fields: fields.collect() }
    }

    /// Returns the values that belong to fields of this form.
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
        several: arg.shape().is_list(),
        values: arg.choices().map(|choice| (choice.value, choice.title)).collect(),
    }
}
