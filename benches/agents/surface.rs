//! The ways to do a task: which tools a server lists, and which requests a model writes.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use tiktoken_rs::CoreBPE;

use crate::client::{self, Output, Server};
use crate::task::{Step, Task};

/// A way to do tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SurfaceKind {
    /// Every tool by its own name.
    Direct,
    /// `climax_search` and `climax_call`.
    SearchCall,
    /// `climax_run`.
    Run,
    /// `climax_search` and `climax_chain`.
    Chain,
    /// `climax_code`.
    Code,
}

impl SurfaceKind {
    pub(crate) const ALL: [Self; 5] = [Self::Direct, Self::SearchCall, Self::Run, Self::Chain, Self::Code];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Direct => "(a) direct tools",
            Self::SearchCall => "(b) search, call",
            Self::Run => "(c) run",
            Self::Chain => "(d) search, chain",
            Self::Code => "(e) code",
        }
    }

    pub(crate) fn options(self) -> &'static [&'static str] {
        match self {
            Self::Direct => &["--classic"],
            Self::SearchCall => &["--meta", "search,call"],
            Self::Run => &["--meta", "run"],
            Self::Chain => &["--meta", "search,chain"],
            Self::Code => &["--meta", "code"],
        }
    }
}

/// What a task took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// Tokens of results.
    pub(crate) read: usize,
    /// Tokens of calls.
    pub(crate) written: usize,
    /// Requests, and the answer to the user.
    pub(crate) turns: usize,
    /// Tokens that the model reads in all turns, if each turn reads all before it again, the tool list included.
    pub(crate) context: usize,
    /// Time between requests and results.
    pub(crate) time: Duration,
}

/// A server with one of the surfaces.
pub(crate) struct Surface {
    pub(crate) kind: SurfaceKind,
    /// Tokens of `tools/list`.
    pub(crate) list: usize,
    server: Server,
    output: Output,
    tokens: CoreBPE,
    /// Answers that are not those of bash.
    pub(crate) wrong: Vec<String>,
}

impl Surface {
    /// Starts a server of these CLIs.
    pub(crate) fn start(kind: SurfaceKind, clis: &[String], directory: &Path) -> Self {
        let options: Vec<&str> = kind.options().iter().copied().chain(clis.iter().map(String::as_str)).collect();
        let (mut server, mut output) = client::start_with(&options, directory);
        let tokens = tiktoken_rs::o200k_base().unwrap();
        let list = list_tokens(&tokens, &mut server, &mut output);
        Self { kind, list, server, output, tokens, wrong: Vec::new() }
    }

    /// The server's peak memory, in KiB.
    pub(crate) fn memory_kib(&self) -> u64 {
        self.server.memory_kib("VmHWM")
    }

    /// Does a task, and checks the answer.
    pub(crate) fn does(&mut self, task: &Task, expected: &str) -> Cost {
        let mut work = Work::of(self, &task.does);
        let answer = match work.surface.kind {
            SurfaceKind::Direct => work.calls(task, |step| (step.0.to_owned(), step.1.into())),
            SurfaceKind::SearchCall => {
                work.searches(&task.steps);
                work.calls(task, |(tool, args)| ("climax_call".to_owned(), json!({ "tool_name": tool, "args": args })))
            }
            SurfaceKind::Code => work.ask("climax_code", &json!({ "code": program(&task.lines) })),
            SurfaceKind::Run => work.ask("climax_run", &json!({ "command": task.line() })),
            SurfaceKind::Chain => {
                work.searches(&task.steps);
                let steps = task.steps.iter().map(|step| json!({ "tool_name": step.tool, "args": step.arguments }));
                let answer = work.ask("climax_chain", &json!({ "steps": steps.collect::<Vec<_>>() }));
                // A line stands before the result for each earlier step.
                answer.lines().skip(task.steps.len() - 1).collect::<Vec<_>>().join("\n").trim_start().to_owned()
            }
        };
        let cost = work.ended();
        if answer.trim() != expected.trim() {
            self.wrong.push(format!("{}: {}\nexpected: {expected:?}\nfound: {answer:?}", self.kind.name(), task.does));
        }
        cost
    }

    fn count(&self, text: &str) -> usize {
        self.tokens.encode_ordinary(text).len()
    }
}

/// Counts the tokens of the tool list of a server of all bundled CLIs.
pub(crate) fn whole_list(options: &[&str], directory: &Path) -> usize {
    let (mut server, mut output) = client::start_with(options, directory);
    list_tokens(&tiktoken_rs::o200k_base().unwrap(), &mut server, &mut output)
}

fn list_tokens(tokens: &CoreBPE, server: &mut Server, output: &mut Output) -> usize {
    let tools = tool_list(server, output);
    tools.iter().map(|tool| tokens.encode_ordinary(&tool.to_string()).len()).sum()
}

fn tool_list(server: &mut Server, output: &mut Output) -> Vec<Value> {
    let mut all = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        server.send(&json!({ "jsonrpc": "2.0", "id": "list", "method": "tools/list", "params": params }));
        let answer = client::read(output).unwrap();
        all.extend(answer["result"]["tools"].as_array().unwrap().iter().cloned());
        cursor = answer["result"]["nextCursor"].clone();
        if cursor.is_null() {
            return all;
        }
    }
}

/// The program that runs the lines of a task.
fn program(lines: &[String]) -> String {
    let run = |line: &str| {
        if line.contains("{0}") {
            format!("(await run(`{}`)).stdout", line.replace('\\', "\\\\").replace("{0}", "${words}"))
        } else {
            format!("(await run({})).stdout", Value::from(line))
        }
    };
    match lines {
        [line] => run(line),
        [first, rest @ ..] => {
            let rest: Vec<String> = rest.iter().map(|line| run(line)).collect();
            format!("const words = {}.trim().split(\"\\n\").join(\" \");\n{}", run(first), rest.join(";\n"))
        }
        [] => unreachable!("a task has lines"),
    }
}

/// A conversation about one task.
pub(crate) struct Work<'s> {
    surface: &'s mut Surface,
    cost: Cost,
    /// Tokens of the conversation so far.
    prefix: usize,
}

impl<'s> Work<'s> {
    /// Starts a conversation with a question.
    pub(crate) fn of(surface: &'s mut Surface, question: &str) -> Self {
        let prefix = surface.list + surface.count(question);
        Self { surface, cost: Cost::default(), prefix }
    }

    /// Searches once.
    pub(crate) fn search(&mut self, query: &str) {
        self.ask("climax_search", &json!({ "query": query }));
    }

    /// Calls a tool of the list, and returns the text of the result.
    pub(crate) fn ask(&mut self, name: &str, arguments: &Value) -> String {
        let written = self.surface.count(&json!({ "name": name, "arguments": arguments }).to_string());
        let start = Instant::now();
        self.surface.server.request(name, arguments, false);
        let answer = client::read(&mut self.surface.output).unwrap();
        self.cost.time += start.elapsed();
        let result = &answer["result"];
        assert_eq!(result["isError"], false, "{name} {arguments}: {answer}");
        let text =
            result["content"].as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect::<String>();
        let read = self.surface.count(&text);
        self.cost.context += self.prefix;
        self.prefix += written + read;
        self.cost.written += written;
        self.cost.read += read;
        self.cost.turns += 1;
        text
    }

    /// Searches each tool of the steps once; once more by its name if it was not found.
    fn searches(&mut self, steps: &[Step]) {
        for (tool, query) in steps.iter().map(|step| (&step.tool, &step.query)).collect::<BTreeSet<_>>() {
            let found = self.ask("climax_search", &json!({ "query": query }));
            if !found.contains(tool.as_str()) {
                let found = self.ask("climax_search", &json!({ "query": tool.replace('_', " ") }));
                assert!(found.contains(tool.as_str()), "{tool}: {found}");
            }
        }
    }

    /// Makes one call for each step. The model writes out what it passes on.
    fn calls(&mut self, task: &Task, call: impl Fn((&str, Map<String, Value>)) -> (String, Value)) -> String {
        let mut outputs: Vec<String> = Vec::new();
        for Step { tool, arguments, .. } in &task.steps {
            let mut arguments = arguments.clone();
            for value in arguments.values_mut() {
                if let Some(pointer) = value.get("$from").and_then(Value::as_str) {
                    *value = resolved(pointer, &outputs);
                }
            }
            let (name, arguments) = call((tool, arguments));
            outputs.push(self.ask(&name, &arguments));
        }
        outputs.pop().unwrap()
    }

    /// The cost, with the turn in which the model answers.
    pub(crate) fn ended(mut self) -> Cost {
        self.cost.context += self.prefix;
        self.cost.turns += 1;
        self.cost
    }
}

/// What a reference stands for: the text of a step, or the list of its lines.
fn resolved(pointer: &str, outputs: &[String]) -> Value {
    let (step, part) = pointer.trim_start_matches('/').split_once('/').unwrap();
    let text = &outputs[step.parse::<usize>().unwrap()];
    match part {
        "lines" => text.lines().map(Value::from).collect(),
        _ => format!("{text}\n").into(),
    }
}
