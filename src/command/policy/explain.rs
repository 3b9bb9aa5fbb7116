//! `climax policy explain`: says what a policy permits, and by which of its lines.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use climax_catalog::policy::{Explanation, PolicyFile, Reason};
use climax_catalog::{Catalog, ResolvedTool};
use serde_json::{Value, json};

use crate::call::arguments::Input;
use crate::call::line::read_line;
use crate::call::{LineBounds, LineInput, PolicyVerdict, Purpose, Request, Served, Session, Toolbox, suggest_tools};
use crate::command::output::{FAILURE, print};
use crate::command::selection::Sources;
use crate::command::terminal;
use crate::exec::{self, Isolation, Limits, Runner};
use crate::serving::load::{self, LoadedTools};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The name of a tool, or a command line as one word
    #[arg(value_name = "TOOL|LINE")]
    subject: String,
    #[command(flatten)]
    sources: Sources,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What a policy says about a tool or a line.
struct Verdict {
    tools: Vec<(String, Explanation)>,
    /// What would become of the line; `None` if the subject is a tool.
    line: Option<PolicyVerdict>,
}

impl Verdict {
    fn is_permitted(&self) -> bool {
        !matches!(self.line, Some(PolicyVerdict::Refused(_)))
            && self.tools.iter().all(|(_, explanation)| explanation.is_permitted)
    }
}

/// Prints the explanation. Exit status 1 if the subject is refused or unknown.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let without_policy = Sources { policy: None, ..arguments.sources.clone() };
    let Some(path) = &arguments.sources.policy else {
        terminal::complain("which policy? Name its file with --policy");
        return ExitCode::from(FAILURE);
    };
    let served = match (without_policy.load(catalog), arguments.sources.load(catalog)) {
        (Ok(all), Ok(served)) => (all, served),
        (Err(code), _) | (_, Err(code)) => return code,
    };
    let file = match load::read_policy(path) {
        Ok(file) => file,
        Err(found) => {
            terminal::report(&found);
            return ExitCode::from(FAILURE);
        }
    };

    match verdict(&arguments.subject, &file, served) {
        Ok(verdict) => {
            let code = if verdict.is_permitted() { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) };
            let text = if arguments.json { as_json(&verdict).to_string() } else { as_text(&verdict, path) };
            print(&text, code)
        }
        Err(message) => {
            terminal::complain(&message);
            ExitCode::from(FAILURE)
        }
    }
}

/// Explains a tool, or each command of a line and what the policy says about its values.
fn verdict(subject: &str, file: &PolicyFile, (all, served): (LoadedTools, LoadedTools)) -> Result<Verdict, String> {
    let explained = |tool: ResolvedTool<'_>| (tool.name().to_owned(), file.explain(tool));
    if let Some(tool) = all.index.get(subject) {
        return Ok(Verdict { tools: vec![explained(tool)], line: None });
    }

    let near = suggest_tools(&all.index, subject);
    if !subject.contains(' ') && !near.is_empty() && !exec::is_program(subject) {
        return Err(format!("no tool `{subject}`; did you mean `{}`?", near.join("` or `")));
    }
    let named = tools_of(&all, subject)?;
    let tools = named.iter().filter_map(|name| all.index.get(name)).map(explained).collect();
    let runner = Runner::new(served.policy.executor().clone(), Limits::default(), 1);
    let toolbox = Toolbox::new(served.index, served.policy, runner, None);
    let request =
        Request::Line { text: subject, directory: None, input: LineInput::Nothing, bounds: LineBounds::default() };
    let session = Session::anonymous(Purpose::Call);

    Ok(Verdict { tools, line: Some(toolbox.verdict(request, session)) })
}

/// Returns the names of the tools that a line stands for, without the policy.
fn tools_of(LoadedTools { index, policy }: &LoadedTools, line: &str) -> Result<Vec<String>, String> {
    let served = Served { index, policy, isolation: Isolation::here, made: &[] };
    let line = served.with_context(Input::Nothing, |context| read_line(index, line, None, context));
    let line = line.map_err(|error| error.to_string())?;
    let mut names: Vec<String> = line.calls().map(|(_, reading)| reading.tool.name().to_owned()).collect();
    names.dedup();
    Ok(names)
}

/// Formats for a terminal.
fn as_text(verdict: &Verdict, path: &Path) -> String {
    let place = |line: Option<usize>| line.map_or_else(String::new, |line| format!("{}:{line}: ", path.display()));
    let reason = |reason: &Reason| format!("{}{}", place(reason.line), reason.text);
    let mut text = String::new();

    for (name, explanation) in &verdict.tools {
        let word = if explanation.is_permitted { "permitted" } else { "not permitted" };
        let _ = writeln!(text, "{name}: {word}\n  {}", reason(&explanation.reason));
        if !explanation.is_permitted {
            continue;
        }
        let asks = if explanation.needs_approval { "needs approval" } else { "needs no approval" };
        let _ = writeln!(text, "{asks}\n  {}", reason(&explanation.approval));
        for arg in &explanation.args {
            let _ = writeln!(text, "{}\n  {}{}", arg.name, place(Some(arg.line)), arg.says.join("; "));
        }
        if !explanation.hidden_args.is_empty() {
            let _ = writeln!(
                text,
                "{}\n  not permitted: above the tool's risk, and no rule names it",
                explanation.hidden_args.join(", ")
            );
        }
    }

    let _ = match &verdict.line {
        None => Ok(()),
        Some(PolicyVerdict::Permitted) => writeln!(text, "the line is permitted"),
        Some(PolicyVerdict::NeedsApproval) => writeln!(text, "the line needs approval"),
        Some(PolicyVerdict::Refused(reasons)) => writeln!(text, "the line is refused\n  {}", reasons.join("\n  ")),
    };

    text
}

fn as_json(verdict: &Verdict) -> Value {
    let reason = |reason: &Reason| json!({ "line": reason.line, "text": reason.text });
    let tools = verdict.tools.iter().map(|(name, explanation)| {
        let args = explanation.args.iter().map(|arg| json!({ "name": arg.name, "line": arg.line, "says": arg.says }));
        json!({
            "tool_name": name,
            "permitted": explanation.is_permitted,
            "reason": reason(&explanation.reason),
            "needs_approval": explanation.needs_approval,
            "approval": reason(&explanation.approval),
            "args": args.collect::<Vec<_>>(),
            "hidden_args": explanation.hidden_args,
        })
    });
    let (line, reasons) = match &verdict.line {
        None => (None, &[][..]),
        Some(PolicyVerdict::Permitted) => (Some("permitted"), &[][..]),
        Some(PolicyVerdict::NeedsApproval) => (Some("needs_approval"), &[][..]),
        Some(PolicyVerdict::Refused(reasons)) => (Some("refused"), reasons.as_slice()),
    };
    json!({
        "permitted": verdict.is_permitted(),
        "tools": tools.collect::<Vec<_>>(),
        "line": line,
        "reasons": reasons,
    })
}
