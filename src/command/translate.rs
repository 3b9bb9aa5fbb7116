//! `climax translate`: prints the calls that a command line stands for, without running them.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use climax_catalog::{Catalog, ToolIndex};
use serde_json::{Value, json};

use crate::call::arguments::{Input, bind_line};
use crate::call::line::{Condition, LineContext, ReadLine, ReadStage, UnreadLine, read_line};
use crate::call::{command_line, risk};
use crate::command::output::{FAILURE, print};
use crate::command::selection::Sources;
use crate::exec;

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
        let (text, code) = translated(&served.index, &arguments.line, arguments.json);
        return print(&text, code);
    }
    let lines = io::stdin().lines().map_while(Result::ok);
    let mut worst = ExitCode::SUCCESS;
    let texts: Vec<String> = lines
        .map(|line| {
            let (text, code) = translated(&served.index, &line, arguments.json);
            if code != ExitCode::SUCCESS {
                worst = code;
            }
            text
        })
        .collect();
    print(&texts.join("\n"), worst)
}

/// Returns the calls of a line or the error, and the exit status.
fn translated(index: &ToolIndex, line: &str, as_json: bool) -> (String, ExitCode) {
    match read(index, line) {
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
fn read<'a>(index: &'a ToolIndex, line: &str) -> Result<ReadLine<'a>, UnreadLine> {
    let glob = |pattern: &str, directories: &[String]| {
        exec::glob::expand(pattern, &exec::glob::directory_of(directories, Path::new("")))
    };
    let context =
        LineContext { env: &exec::variable, names_program: &exec::names_program, glob: &glob, input: Input::Nothing };
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
    let (tool, arguments) = (stage.reading.tool, &stage.reading.arguments);
    let input = if is_piped { Input::Pipe } else { Input::Nothing };
    let bound = bind_line(tool, arguments, input);
    let (argv, risk) = match &bound {
        Ok(bound) => (command_line::plan(tool, bound, &exec::variable).argv, risk::of_call(tool, bound)),
        Err(_) => (Vec::new(), tool.risk()),
    };
    json!({ "tool_name": tool.name(), "args": arguments, "argv": argv, "risk": risk.as_str(), "then": then })
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
