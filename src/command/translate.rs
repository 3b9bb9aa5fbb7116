//! `climax translate`: prints the calls that a command line stands for, without running them.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use climax_catalog::{Catalog, Risk};
use serde_json::{Value, json};

use crate::call::arguments::Input;
use crate::call::line::{Condition, LineContext, ReadLine, ReadStage, Reading, UnreadLine, read_line};
use crate::call::{UnknownPrograms, command_line, risk};
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
    let unknown = UnknownPrograms::permitted(policy, index, Isolation::here());
    let glob = |pattern: &str, directories: &[String]| {
        exec::glob::expand(pattern, &exec::glob::directory_of(directories, Path::new("")))
    };
    let context = LineContext {
        env: &exec::variable,
        names_program: &exec::names_program,
        unknown: &|program| unknown.tool(program),
        glob: &glob,
        input: Input::Nothing,
    };
    read_line(index, line, context)
}

/// The calls as JSON, in order, each with what joins it to the next.
fn stages(line: &ReadLine<'_>) -> Vec<Value> {
    let mut found = Vec::new();
    for (at, step) in line.steps.iter().enumerate() {
        let next = line.steps.get(at + 1).map(|next| match next.condition {
            Condition::Always => ";",
            Condition::Success => "&&",
            Condition::Failure => "||",
        });
        for (place, stage) in step.stages.iter().enumerate() {
            let then = if place + 1 < step.stages.len() { Some("|") } else { next };
            found.push(stage_json(stage, place > 0, then));
        }
    }

    found
}

fn stage_json(stage: &ReadStage<'_>, is_piped: bool, then: Option<&str>) -> Value {
    let input = if is_piped { Input::Pipe } else { Input::Nothing };
    let (mut call, _, _) = call_json(&stage.reading, input);
    call["then"] = json!(then);
    call
}

/// A call as JSON, with the command that it starts; and its plan and its risk.
fn call_json(reading: &Reading<'_>, input: Input<'_>) -> (Value, Option<Invocation>, Risk) {
    let (tool, arguments) = (reading.tool, &reading.arguments);
    let bound = reading.bind(input).ok();
    let mut plan = bound.as_ref().map(|bound| reading.plan(bound, &exec::variable));
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
        format!(
            "{} {args} ({})",
            stage["tool_name"].as_str().unwrap_or_default(),
            stage["risk"].as_str().unwrap_or_default()
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}
