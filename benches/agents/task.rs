//! The tasks: as command lines, and as the calls that these stand for.

use std::collections::BTreeSet;
use std::process::Command;

use climax::catalog::{Layer, Place, ToolIndex};
use serde_json::{Map, Value, json};

/// A task.
pub(crate) struct Task {
    /// Whether it has the shape of a documented pipeline, or is our own.
    pub(crate) kind: String,
    /// What the user asks.
    pub(crate) does: String,
    /// One command line, or two: in the second one `{0}` stands for the words that the first one prints.
    pub(crate) lines: Vec<String>,
    /// The calls that the lines stand for, as the steps of a chain.
    pub(crate) steps: Vec<Step>,
}

/// A call. Its arguments may refer to earlier ones as those of `climax_chain`.
pub(crate) struct Step {
    pub(crate) tool: String,
    /// What the model searches for to find it.
    pub(crate) query: String,
    pub(crate) arguments: Map<String, Value>,
}

/// Of each tool the query, and arguments that replace defaults: those do not apply to lines.
const TOOLS: &str = include_str!("tools.json");

/// The word that stands for the output of the first line when a line is read.
const EARLIER: &str = "@0";

/// Reads all tasks.
pub(crate) fn all() -> Vec<Task> {
    let index = ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]);
    let Value::Array(tasks) = serde_json::from_str(include_str!("tasks.json")).unwrap() else { panic!("not a list") };
    let tools: Value = serde_json::from_str(TOOLS).unwrap();
    tasks.iter().map(|task| read(&index, &tools, task)).collect()
}

/// The names of the CLIs that the tasks need.
pub(crate) fn clis(tasks: &[Task]) -> Vec<String> {
    let index = ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]);
    let tools = tasks.iter().flat_map(|task| &task.steps).map(|step| index.get(&step.tool).unwrap());
    tools.map(|tool| tool.cli().name().to_owned()).collect::<BTreeSet<_>>().into_iter().collect()
}

fn read(index: &ToolIndex, tools: &Value, task: &Value) -> Task {
    let text = |key: &str| task[key].as_str().unwrap().to_owned();
    let lines: Vec<String> =
        task["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect();
    let mut steps: Vec<Step> = Vec::new();
    let mut end_of_first = 0;
    for (number, line) in lines.iter().enumerate() {
        for (at, stage) in translated(line).into_iter().enumerate() {
            let mut arguments = stage["args"].as_object().unwrap().clone();
            let name = stage["tool_name"].as_str().unwrap().to_owned();
            if at > 0 {
                let tool = index.get(&name).unwrap();
                let stdin = tool.args().find(|arg| arg.place() == Place::Stdin).unwrap();
                arguments.insert(stdin.name().to_owned(), from(steps.len() - 1, "stdout"));
            }
            for value in arguments.values_mut().filter(|value| **value == json!([EARLIER])) {
                *value = from(end_of_first, "lines");
            }
            for (key, value) in tools[&name]["args"].as_object().into_iter().flatten() {
                arguments.entry(key).or_insert_with(|| value.clone());
            }
            let query = tools[&name]["query"].as_str().unwrap_or_else(|| panic!("no query for {name}")).to_owned();
            steps.push(Step { tool: name, query, arguments });
        }
        if number == 0 {
            end_of_first = steps.len() - 1;
        }
    }
    Task { kind: text("kind"), does: text("does"), lines, steps }
}

fn from(step: usize, part: &str) -> Value {
    json!({ "$from": format!("/{step}/{part}") })
}

/// The calls of a line, by `climax translate`.
fn translated(line: &str) -> Vec<Value> {
    let line = line.replace("{0}", EARLIER);
    let output = Command::new(env!("CARGO_BIN_EXE_climax")).args(["translate", "--json", &line]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["stages"].as_array().unwrap_or_else(|| panic!("{line}: {answer}")).clone()
}

impl Task {
    /// Returns the task as one line: what the first line prints is substituted into the last one.
    pub(crate) fn line(&self) -> String {
        match self.lines.as_slice() {
            [first, last] => last.replace("{0}", &format!("$({first})")),
            lines => lines.concat(),
        }
    }
}
