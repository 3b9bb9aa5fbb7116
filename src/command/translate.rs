//! `climax translate`: prints the calls that a command line stands for, without running them.

use std::io;
use std::process::ExitCode;

use climax_catalog::{Catalog, Risk};
use serde_json::{Value, json};

use crate::call::arguments::Input;
use crate::call::line::{ReadCall, ReadCommand, ReadLine, Reading, UnreadLine, read_line};
use crate::call::{Served, command_line, risk};
use crate::command::output::{FAILURE, print};
use crate::command::selection::Sources;
use crate::exec::{self, Invocation, Isolation};
use crate::serving::load::LoadedTools;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The command line, as one word; `-` reads one from each line of standard input
    pub(crate) line: String,
    #[command(flatten)]
    pub(crate) sources: Sources,
    /// Print the calls as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints the calls. Exit status 1 if the line is not read.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let served = match arguments.sources.load(catalog) {
        Ok(served) => served,
        Err(code) => return code,
    };
    if arguments.line != "-" {
        let (text, code) = translated(&served, &arguments.line, arguments.json);
        return print(&text, code);
    }

    let lines = io::stdin().lines().map_while(Result::ok);
    let mut worst = ExitCode::SUCCESS;
    let texts: Vec<String> = lines
        .map(|line| {
            let (text, code) = translated(&served, &line, arguments.json);
            if code != ExitCode::SUCCESS {
                worst = code;
            }
            text
        })
        .collect();

    print(&texts.join("\n"), worst)
}

/// Returns the calls of a line or the error, and the exit status.
fn translated(served: &LoadedTools, line: &str, as_json: bool) -> (String, ExitCode) {
    match read(served, line) {
        Ok(line) if as_json => (json!({ "stages": stages(&line) }).to_string(), ExitCode::SUCCESS),
        Ok(line) => (text(&line), ExitCode::SUCCESS),
        Err(error) if as_json => {
            let found = error.error();
            let error = json!({
                "message": error.to_string(),
                "at": found.range.start,
                "length": found.range.len(),
                "found": found.found,
            });
            (json!({ "error": error }).to_string(), ExitCode::from(FAILURE))
        }
        Err(error) => (error.to_string(), ExitCode::from(FAILURE)),
    }
}

/// Reads a line as a call of an agent would, in the directory of this process.
fn read<'a>(LoadedTools { index, policy }: &'a LoadedTools, line: &str) -> Result<ReadLine<'a>, UnreadLine> {
    let served = Served { index, policy, isolation: Isolation::here, made: &[] };
    served.with_context(Input::Nothing, |context| read_line(index, line, None, context))
}

/// The calls and builtins as JSON, in order, each with what joins it to the next.
fn stages(line: &ReadLine<'_>) -> Vec<Value> {
    let last = line.commands.len().saturating_sub(1);
    let then = |at: usize, command: &ReadCommand<'_>| command.then.filter(|_| at < last);
    line.commands.iter().enumerate().map(|(at, command)| stage_json(command, then(at, command))).collect()
}

fn stage_json(command: &ReadCommand<'_>, then: Option<&str>) -> Value {
    let mut stage = match &command.call {
        ReadCall::Builtin(builtin) => {
            let name: &str = builtin.into();
            json!({ "builtin": name, "argv": command.key.words, "risk": Risk::Read.as_str() })
        }
        ReadCall::Tool(reading) => {
            let input = if command.reads_input { Input::Pipe } else { Input::Nothing };
            call_json(reading, input).0
        }
    };
    if command.is_open {
        stage["open"] = json!(true);
    }
    stage["then"] = json!(then);
    stage
}

/// A call as JSON, with the command that it starts; and its plan and its risk.
fn call_json(reading: &Reading<'_>, input: Input<'_>) -> (Value, Option<Invocation>, Risk) {
    let (tool, arguments) = (reading.tool, &reading.arguments);
    let bound = reading.bind(input).ok();
    let mut plan = bound.as_ref().map(|bound| reading.plan(bound, &exec::variable, &exec::spelled_program));
    let mut risk = bound.as_ref().map_or(tool.risk(), |bound| risk::of_call(tool, bound));
    let starts = reading.started.as_ref().map(|started| {
        let (call, started, started_risk) = call_json(&started.reading, input);
        if let (Some(plan), Some(bound), Some(started)) = (&mut plan, &bound, started) {
            command_line::start(plan, bound, &started);
        }
        risk = risk.max(started_risk);
        call
    });
    let argv = plan.as_ref().map_or_else(Vec::new, |plan| plan.argv.clone());
    let mut call = json!({ "tool_name": tool.name(), "args": arguments, "argv": argv, "risk": risk.as_str() });
    if let Some(starts) = starts {
        call["starts"] = starts;
    }

    (call, plan, risk)
}

fn text(line: &ReadLine<'_>) -> String {
    let lines = stages(line).into_iter().map(|stage| {
        let args = stage["args"].to_string();
        let open = if stage["open"] == true { ", in part known once it runs" } else { "" };
        match stage["builtin"].as_str() {
            Some(builtin) => format!("{builtin} {} (builtin{open})", stage["argv"]),
            None => format!(
                "{} {args} ({}{open})",
                stage["tool_name"].as_str().unwrap_or_default(),
                stage["risk"].as_str().unwrap_or_default()
            ),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}
