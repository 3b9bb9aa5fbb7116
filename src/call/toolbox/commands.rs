//! Plans the commands of lines, and the commands that other commands start, as calls are planned.

use std::borrow::Cow;
use std::path::Path;

use climax_catalog::policy::AskedCage;
use climax_catalog::{ArgView, Place, ResolvedTool, RuleView};
use serde_json::{Map, Value};

use super::Toolbox;
use super::values::{invalid, permitted_values};
use crate::call::arguments::{self, Bound, BoundValue, Input, Problem, Violation};
use crate::call::line::{
    CommandWords, LineError, Reading, StartedCommand, UnknownTool, read, read_started, with_useful_suggestions,
};
use crate::call::outcome::CallError;
use crate::call::plan::PlannedCall;
use crate::call::refusal::Refusal;
use crate::call::request::Purpose;
use crate::call::{command_line, confinement};
use crate::exec::{self, Invocation};

/// Where and for what a command runs.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'s> {
    pub(super) directory: Option<&'s str>,
    pub(super) input: Input<'s>,
    /// What the caller asks for, instead of the cages of the tools.
    pub(super) cage: Option<AskedCage>,
    pub(super) env: &'s [(String, String)],
    pub(super) purpose: Purpose,
}

impl Toolbox {
    /// Plans a command and the commands that it starts. `text` is the command as it is written.
    pub(super) fn plan_command<'a>(
        &'a self,
        reading: Reading<'a>,
        text: &str,
        surroundings: Surroundings<'_>,
    ) -> Result<PlannedCall<'a>, CallError> {
        let Surroundings { directory, input, cage, env, purpose } = surroundings;
        let tool = reading.tool;
        if reading.unknown.is_none() && !self.policy.permits(tool) {
            return Err(CallError::UnknownTool { suggestions: Vec::new() });
        }

        // An option of the line that names a directory stays in its words, so that the program itself changes to it.
        let typed_directory = tool.agent_args().any(|arg| arg.place() == Place::Cwd && reading.gives(arg));
        let mut arguments = reading.arguments.clone();
        let has_directory = directory.is_some_and(|directory| set_directory(tool, &mut arguments, directory));
        let bound = arguments::bind_line(tool, &arguments, input)
            .and_then(|bound| bound.with_repeated(tool, &reading.repeated))
            .map_err(|violations| invalid(tool, &arguments, violations))?;
        permitted_values(tool, &arguments, &bound, purpose)?;
        let unstated = arguments::unstated_defaults(tool, &arguments);
        if !unstated.is_empty() {
            return Err(CallError::PolicyDenied { violations: unstated });
        }

        let fixed = || directory.filter(|_| !has_directory).and_then(|_| fixed_directory(tool));
        if let Some(refusal) = unsayable(tool, input).or_else(fixed) {
            return Err(unread(text, refusal));
        }
        let mut invocation = reading.plan(&bound, &exec::variable, &exec::spelled_program);
        invocation.env.splice(0..0, env.iter().cloned());
        if typed_directory || !has_directory {
            invocation.cwd = command_line::directory_of_line(tool, directory);
        }

        self.confine(tool, &bound, &mut invocation, (cage, reading.unknown.is_none()))?;
        if reading.unknown.is_some() {
            // As in a shell: the kernel holds the program, wherever it comes from.
            invocation.program_dir.clone_from(&invocation.cwd);
        }
        let is_caged = invocation.confinement.as_ref().is_some_and(|rights| rights.cage.is_some());
        let is_uncaged = confinement::leaves_cage(tool, cage);
        if reading.unknown.is_some() && !is_caged && !is_uncaged {
            let problem = format!("no config describes `{}`, and it has no cage here", invocation.argv[0]);
            return Err(unread(text, Refusal::new(problem, "write a config for it")));
        }
        let started =
            reading.started.map(|started| self.plan_started(*started, text, &invocation, surroundings)).transpose()?;
        if let Some(started) = &started {
            command_line::start(&mut invocation, &bound, &started.invocation);
        }

        let own_directory = bound.iter().filter(|(arg, _)| typed_directory && arg.place() == Place::Cwd).last();
        let own_directory = own_directory.map(|(_, value)| value.to_string().into());
        let call = PlannedCall::new(tool, Cow::Owned(arguments), bound, invocation, started);
        self.with_effects(PlannedCall { own_directory, is_uncaged, ..call }, purpose)
    }

    /// Plans the command that a call by name starts; `None` if it starts none.
    pub(super) fn plan_started_by<'a>(
        &'a self,
        tool: ResolvedTool<'a>,
        bound: &Bound<'_>,
        invocation: &mut Invocation,
        purpose: Purpose,
    ) -> Result<Option<PlannedCall<'a>>, CallError> {
        let Some((arg, words)) = started_words(tool, bound) else { return Ok(None) };
        let failed = |reason: String| {
            let violation = Violation { argument: arg.name().to_owned(), problem: Problem::UnreadCommand { reason } };
            invalid(tool, &Map::new(), vec![violation])
        };
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        // Only lines start programs that no config describes.
        let unknown: UnknownTool<'_> = &|_| None;
        let command = CommandWords {
            words: &texts,
            variables: &[],
            input: Input::Nothing,
            names_program: &exec::names_program,
            unknown,
            explains: true,
        };
        let reading = read_started(&self.index, command, 1).map_err(|unread| {
            let unread = with_useful_suggestions(&self.index, command, unread);
            let near = unread.suggestions.join("`, `");
            let near = if near.is_empty() { String::new() } else { format!("; did you mean `{near}`?") };
            failed(format!("{}{near}", unread.problem))
        })?;
        let started = StartedCommand { first_word: 0, reading };
        let surroundings = Surroundings { directory: None, input: Input::Nothing, cage: None, env: &[], purpose };
        let started = self.plan_started(started, &texts.join(" "), invocation, surroundings)?;
        command_line::start(invocation, bound, &started.invocation);

        Ok(Some(started))
    }

    /// Plans a command that another one starts. It runs in the directory of that one.
    fn plan_started<'a>(
        &'a self,
        started: StartedCommand<'a>,
        text: &str,
        by: &Invocation,
        surroundings: Surroundings<'_>,
    ) -> Result<PlannedCall<'a>, CallError> {
        let tool = started.reading.tool;
        let is_unknown = started.reading.unknown.is_some();
        if tool.cli().working_dir().is_some() {
            let problem = format!("`{}` runs in the directory of its config", tool.name());
            return Err(unread(text, Refusal::new(problem, "run it without another command before it")));
        }

        let directory = by.cwd.as_ref().map(|directory| directory.display().to_string());
        let surroundings = Surroundings { directory: directory.as_deref(), ..surroundings };
        let call = self.plan_command(started.reading, text, surroundings)?;
        let program = &call.invocation.argv[0];

        if !is_unknown && program.contains('/') && !Path::new(program).is_absolute() {
            let problem = format!("`{program}` is relative to the server's directory");
            return Err(unread(text, Refusal::new(problem, "run it without another command before it")));
        }

        Ok(call)
    }

    /// The names of the tools whose programs a call starts by way of its own.
    pub(super) fn started_tools(&self, tool: ResolvedTool<'_>, arguments: &Map<String, Value>) -> Vec<String> {
        let name = tool.started_command().map(ArgView::name);
        let words = name.and_then(|name| arguments.get(name)).and_then(Value::as_array);
        let words: Vec<&str> = words.into_iter().flatten().filter_map(Value::as_str).collect();
        if words.is_empty() {
            return Vec::new();
        }

        let (variables, input, names_program) = (&[][..], Input::Pipe, &exec::names_program);
        let unknown: UnknownTool<'_> = &|_| None;
        let command = |input| CommandWords { words: &words, variables, input, names_program, unknown, explains: false };
        let reading = read(&self.index, command(Input::Nothing)).or_else(|_| read(&self.index, command(input)));
        let mut names = Vec::new();
        let mut next = reading.ok();

        while let Some(Reading { tool, started, .. }) = next {
            names.push(tool.name().to_owned());
            next = started.map(|started| started.reading);
        }

        names
    }
}

/// The arg whose words are a command, and its words.
fn started_words<'a, 'b>(tool: ResolvedTool<'a>, bound: &'b Bound<'_>) -> Option<(ArgView<'a>, &'b Vec<String>)> {
    let arg = tool.started_command()?;
    match bound.get(arg.name()) {
        Some(BoundValue::List(words)) => Some((arg, words)),
        _ => None,
    }
}

/// The error of a command that is refused as a whole.
fn unread(text: &str, refusal: Refusal) -> CallError {
    CallError::Unread(Box::new(LineError::refused(text, 0..text.len(), refusal).into()))
}

/// Gives a call the directory of its line, if its tool has an arg for it. A relative value of the call starts there.
fn set_directory(tool: ResolvedTool<'_>, arguments: &mut Map<String, Value>, directory: &str) -> bool {
    let Some(arg) = tool.agent_args().find(|arg| arg.place() == Place::Cwd) else { return false };
    let own = arguments.get(arg.name()).and_then(Value::as_str).unwrap_or_default();
    let joined = Path::new(directory).join(own).display().to_string();
    arguments.insert(arg.name().to_owned(), joined.into());
    true
}

/// Returns why a tool cannot be called by a line, and what to do instead.
fn unsayable(tool: ResolvedTool<'_>, input: Input<'_>) -> Option<Refusal> {
    let has_rule = |place: Place| {
        let mut args = tool.args().filter(|arg| arg.place() == place);
        args.any(|arg| arg.rules().any(RuleView::is_from_policy))
    };
    if tool.questions().len() > 0 {
        let problem = format!("the user gives some of the values of `{}`", tool.name());
        return Some(Refusal::new(problem, "call the tool by its name, with `climax_call`"));
    }

    if tool.args().any(|arg| arg.output().is_some()) {
        let problem = format!("`{}` writes files for the result", tool.name());
        return Some(Refusal::new(problem, "call the tool by its name, with `climax_call`"));
    }

    (input == Input::Pipe && has_rule(Place::Stdin)).then(|| {
        let problem = format!("the policy has a rule for the standard input of `{}`", tool.name());
        Refusal::new(problem, "pass the text as an argument, so that it can be checked")
    })
}

/// Returns why a tool without a `cwd` argument cannot run in another directory.
fn fixed_directory(tool: ResolvedTool<'_>) -> Option<Refusal> {
    if tool.cli().working_dir().is_some() {
        let problem = format!("`{}` runs in the directory of its config", tool.name());
        return Some(Refusal::new(problem, "leave the directory out"));
    }

    let mut rules = tool.args().flat_map(ArgView::rules);
    rules.any(RuleView::is_from_policy).then(|| {
        let problem = format!("the policy has rules for `{}`, which hold in the server's directory", tool.name());
        Refusal::new(problem, "leave the directory out, and write the paths from there")
    })
}
