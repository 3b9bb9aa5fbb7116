//! `climax check`: judges lines that another shell would run, without running anything.

use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use climax_catalog::Catalog;
use climax_catalog::policy::Bypass;
use serde_json::{Value, json};

use crate::call::Toolbox;
use crate::call::judge::{Decision, Judgement, Rewriter, ShellLife};
use crate::call::line_judge::LineJudge;
use crate::command::output::{FAILURE, print};
use crate::command::selection::Sources;
use crate::command::terminal;
use crate::exec::{self, Limits, Runner};
use crate::serving::load::LoadedTools;

/// Exit status: the user is to be asked.
const ASK: u8 = 10;

/// Exit status: the line may not run.
const DENY: u8 = 11;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The line to judge, as one word; `-` reads one `{"line": …, "cwd": …}` from each line of standard input
    pub(crate) line: String,
    #[command(flatten)]
    pub(crate) sources: Sources,
    /// Print the judgement as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Judges the line. The exit status is 0 if it may run, 10 if the user is to be asked, and 11 if it may not run.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let is_resident = arguments.line == "-";
    let only = Some(arguments.line.as_str()).filter(|_| !is_resident);
    let judge = match Judge::new(catalog, &arguments.sources, only, ShellLife::default()) {
        Ok(judge) => judge,
        Err(code) => return code,
    };
    if is_resident {
        return resident(&judge);
    }
    let judgement = judge.judge(&arguments.line, None);
    let code = match judgement.decision {
        Decision::Allow => ExitCode::SUCCESS,
        Decision::Ask => ExitCode::from(ASK),
        Decision::Deny => ExitCode::from(DENY),
    };
    let text = if arguments.json { judgement.to_json().to_string() } else { text(&judgement) };
    print(&text, code)
}

/// Judges a line of each message of standard input, and answers each with a line of JSON.
fn resident(judge: &Judge) -> ExitCode {
    let mut output = io::stdout().lock();
    for message in io::stdin().lock().lines() {
        let answer = message.map_err(|error| error.to_string()).and_then(|message| answer(judge, &message));
        let answer = answer.unwrap_or_else(|problem| {
            let expected = r#"expected {"line": TEXT, "cwd": DIRECTORY}"#;
            json!({ "decision": Decision::Ask.as_str(), "reason": format!("{problem}; {expected}"), "commands": [] })
        });
        if let Err(error) = writeln!(output, "{answer}").and_then(|()| output.flush()) {
            terminal::complain(&error);
            return ExitCode::from(FAILURE);
        }
    }
    ExitCode::SUCCESS
}

fn answer(judge: &Judge, message: &str) -> Result<Value, String> {
    let message: Value = serde_json::from_str(message).map_err(|error| error.to_string())?;
    let line = message["line"].as_str().ok_or("`line` is missing")?;
    Ok(judge.judge(line, message["cwd"].as_str().map(Path::new)).to_json())
}

/// The served tools with what judges lines.
pub(super) struct Judge {
    toolbox: Toolbox,
    line: LineJudge,
}

impl Judge {
    /// Loads the policy and the tools, of which some may be left out that a line does not need, if it is the only one, to
    /// judge lines of shells that live so long.
    ///
    /// # Errors
    /// The exit status, if they cannot be loaded. The mistakes have been printed.
    pub(super) fn new(
        catalog: &'static Catalog,
        sources: &Sources,
        line: Option<&str>,
        shell: ShellLife,
    ) -> Result<Self, ExitCode> {
        let toolbox = |LoadedTools { index, policy }| {
            let runner = Runner::new(policy.executor().clone(), Limits::default(), 1).with_helper_processes();
            Toolbox::new(index, policy, runner, None)
        };
        let own = toolbox(sources.load_for_line(catalog, line)?);
        let unrestricted = if own.policy.withholds_tools() {
            Some(toolbox(sources.without_policy().load_for_line(catalog, line)?))
        } else {
            None
        };
        Ok(Self { toolbox: own, line: LineJudge::new(Rewriter { shell, ..rewriter(sources) }, unrestricted) })
    }

    /// Returns whether the policy withholds tools, so that a line which is not read may hold a call of one.
    pub(super) fn withholds_tools(&self) -> bool {
        self.line.withholds_tools()
    }

    /// Returns what a hook does where an agent asks nobody.
    pub(super) fn bypass(&self) -> Bypass {
        self.toolbox.policy.judgement().bypass
    }

    /// Returns the line that was typed, with its judgement, of a line that is to run in the directory of this process.
    pub(super) fn judge_typed(&self, line: String) -> (String, Judgement) {
        self.line.judge_typed(&self.toolbox, line)
    }

    /// Judges a line that a shell is to run in a directory; in that of this process for `None`.
    pub(super) fn judge(&self, line: &str, directory: Option<&Path>) -> Judgement {
        self.line.judge(&self.toolbox, line, directory)
    }
}

/// Returns what a rewritten line starts: this program, with the same tools and the same policy.
pub(super) fn rewriter(sources: &Sources) -> Rewriter {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from(crate::identity::name()));
    Rewriter { shell: ShellLife::default(), program, options: options(sources) }
}

/// The options of a rewritten line that choose the same tools and the same policy, with absolute paths.
fn options(sources: &Sources) -> Vec<String> {
    let absolute = |path: &Path| exec::directory().join(path).display().to_string();
    let mut options = Vec::new();
    for config in &sources.configs {
        options.extend(["--config".to_owned(), absolute(config)]);
    }
    if sources.only {
        options.push("--only".to_owned());
    }
    if let Some(policy) = &sources.policy {
        options.extend(["--policy".to_owned(), absolute(policy)]);
    }
    if let Some(level) = sources.confine {
        options.extend(["--confine".to_owned(), level.as_str().to_owned()]);
    }
    if let Some(unknown) = sources.unknown {
        options.extend(["--unknown".to_owned(), unknown.as_str().to_owned()]);
    }
    options
}

/// The judgement for people: the decision with its reason, then the line that runs instead.
fn text(judgement: &Judgement) -> String {
    let risk = judgement.risk.map(|risk| format!(" ({})", risk.as_str())).unwrap_or_default();
    let first = format!("{}{risk}: {}", judgement.decision.as_str(), judgement.reason);
    let rewritten = judgement.rewritten.as_ref().map(|line| format!("rewritten: {line}"));
    std::iter::once(first).chain(rewritten).collect::<Vec<_>>().join("\n")
}
