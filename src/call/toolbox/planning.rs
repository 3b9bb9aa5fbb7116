//! Plans requests: looks tools up, binds and checks their arguments, and says what would run. Nothing runs.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use climax_catalog::{Cage, ResolvedTool};
use serde_json::{Map, Value};

use super::commands::Surroundings;
use super::values::{bind_known, invalid, only_reads, permitted_paths, permitted_values};
use super::{Toolbox, suggest_tools};
use crate::call::arguments::{self, Bound, Input};
use crate::call::command_line;
use crate::call::line::{Condition, LineContext, LineError, ReadLine, ReadStage, Redirections, UnreadLine, read_line};
use crate::call::outcome::CallError;
use crate::call::plan::{Plan, PlannedCall, Stage, Step};
use crate::call::plan_outcome::{PlanFailure, PolicyVerdict};
use crate::call::request::{LineBounds, LineInput, Purpose, Request, Session};
use crate::call::unknown::UnknownPrograms;
use crate::call::{confinement, environment};
use crate::exec::{self, Invocation, Project, SpawnError};

/// What a call by name gets beside its arguments.
#[derive(Clone, Debug, Default)]
pub(super) struct Additions {
    /// The user's answers to the tool's forms; `None` before the user was asked.
    pub(super) answers: Option<Map<String, Value>>,
    /// The directory for result files.
    pub(super) files_dir: Option<PathBuf>,
}

impl Toolbox {
    /// Reads and checks a request, and plans what it would run. Nothing runs, and nobody is asked.
    ///
    /// The plan of a tool whose values the user gives is made without these values.
    ///
    /// # Errors
    /// The first call that would fail, with the reason.
    pub fn plan<'a>(&'a self, request: Request<'a>, session: Session<'_>) -> Result<Plan<'a>, Box<PlanFailure>> {
        self.plan_with(request, session, &Additions::default())
    }

    /// Returns what would become of a request, without running it or asking anybody.
    #[must_use]
    pub fn verdict(&self, request: Request<'_>, session: Session<'_>) -> PolicyVerdict {
        match self.plan(request, session) {
            Ok(plan) if plan.needs_approval() => PolicyVerdict::NeedsApproval,
            Ok(_) => PolicyVerdict::Permitted,
            Err(failure) => PolicyVerdict::Refused(failure.error.reasons()),
        }
    }

    /// Plans a request with what its tool gets beside the arguments.
    pub(super) fn plan_with<'a>(
        &'a self,
        request: Request<'a>,
        session: Session<'_>,
        additions: &Additions,
    ) -> Result<Plan<'a>, Box<PlanFailure>> {
        let steps = match request {
            Request::Tool { name, arguments } => match self.plan_tool(name, arguments, session, additions) {
                Ok(call) => vec![only_step(name, call)],
                Err(error) => {
                    return Err(Box::new(PlanFailure { tool: Some(name.to_owned()), text: name.to_owned(), error }));
                }
            },
            Request::Line { text, directory, input, bounds } => {
                self.plan_line(text, directory, (input, bounds), session)?
            }
        };

        Ok(Plan { steps, policy: &self.policy, runner: &self.runner })
    }

    /// Plans the call of a tool by its name.
    fn plan_tool<'a>(
        &'a self,
        name: &str,
        arguments: &'a Map<String, Value>,
        session: Session<'_>,
        additions: &Additions,
    ) -> Result<PlannedCall<'a>, CallError> {
        let unknown = || CallError::UnknownTool { suggestions: suggest_tools(&self.index, name) };
        let tool = self.index.get(name).filter(|tool| self.policy.permits(*tool)).ok_or_else(unknown)?;
        let bound = bind(tool, arguments, session.purpose, additions)?;

        let mut invocation = command_line::plan(tool, &bound, &exec::variable);
        invocation.env.splice(0..0, session.env.iter().cloned());
        invocation.files_dir.clone_from(&additions.files_dir);
        self.confine(tool, &bound, &mut invocation, (None, true))?;

        let started = self.plan_started_by(tool, &bound, &mut invocation, session.purpose)?;
        environment::add(&self.policy, &mut invocation, &exec::variable)?;

        let started = started.map(Box::new);
        Ok(PlannedCall { tool, arguments: Cow::Borrowed(arguments), bound, invocation, started })
    }

    /// Plans every command of a line.
    fn plan_line<'a>(
        &'a self,
        text: &str,
        directory: Option<&str>,
        (input, bounds): (LineInput<'_>, LineBounds),
        session: Session<'_>,
    ) -> Result<Vec<Step<'a>>, Box<PlanFailure>> {
        let unread = |error| {
            let error = CallError::Unread(Box::new(error));
            Box::new(PlanFailure { tool: None, text: text.to_owned(), error })
        };
        if let Some(problem) = self.too_wide(bounds.cage) {
            let error = LineError::at(text, 0..text.len(), problem, "leave `cage` out");
            return Err(unread(error.into()));
        }
        let line = self.read(text, directory, input).map_err(unread)?;
        let directory = directory_of_line(directory, &line.directories);

        let mut steps = Vec::with_capacity(line.steps.len());
        let mut place = 0;
        for step in line.steps {
            let mut stages = Vec::with_capacity(step.stages.len());
            for stage in step.stages {
                let input = match input {
                    _ if !stage.reads_input => Input::Nothing,
                    LineInput::Text(text) if place == 0 => Input::Text(text),
                    _ => Input::Pipe,
                };
                stages.push(self.plan_stage(place, stage, directory.as_deref(), (input, bounds), session)?);
                place += 1;
            }
            steps.push(Step { condition: step.condition, stages });
        }

        Ok(steps)
    }

    /// Reads a line with the served tools.
    fn read(&self, text: &str, directory: Option<&str>, input: LineInput<'_>) -> Result<ReadLine<'_>, UnreadLine> {
        let start = Path::new(directory.unwrap_or_default());
        let glob = |pattern: &str, directories: &[String]| {
            exec::glob::expand(pattern, &exec::glob::directory_of(directories, start))
        };
        let input = match input {
            LineInput::Nothing => Input::Nothing,
            LineInput::Text(text) => Input::Text(text),
            LineInput::Stream => Input::Pipe,
        };
        let unknown = UnknownPrograms::permitted(&self.policy, &self.index, self.runner.isolation());
        let context = LineContext {
            env: &exec::variable,
            names_program: &exec::names_program,
            unknown: &|program| unknown.tool(program),
            glob: &glob,
            input,
        };

        read_line(&self.index, text, context)
    }

    /// Plans one command of a line as a call is planned.
    fn plan_stage<'a>(
        &'a self,
        place: usize,
        stage: ReadStage<'a>,
        directory: Option<&str>,
        (input, bounds): (Input<'_>, LineBounds),
        session: Session<'_>,
    ) -> Result<Stage<'a>, Box<PlanFailure>> {
        let ReadStage { reading, streams, text, .. } = stage;
        let tool = reading.tool;
        let surroundings =
            Surroundings { directory, input, cage: bounds.cage, env: session.env, purpose: session.purpose };

        let planned = self.plan_command(reading, &text, surroundings).and_then(|mut call| {
            environment::add(&self.policy, &mut call.invocation, &exec::variable)?;
            call.invocation.timeout = bounds.timeout.unwrap_or(call.invocation.timeout);
            Ok(call)
        });
        match planned {
            Ok(call) => Ok(Stage { place, call, text, streams }),
            Err(error) => Err(Box::new(PlanFailure { tool: Some(tool.name().to_owned()), text, error })),
        }
    }

    /// Holds a planned call to the needs of its tool, as the policy says. `asked` is the cage that the caller asks for, and
    /// `is_described` whether a config describes the program.
    ///
    /// # Errors
    /// This system does not have that cage.
    pub(super) fn confine(
        &self,
        tool: ResolvedTool<'_>,
        bound: &Bound<'_>,
        invocation: &mut Invocation,
        (asked, is_described): (Option<Cage>, bool),
    ) -> Result<(), CallError> {
        let context = confinement::Context {
            policy: &self.policy,
            asked,
            is_described,
            project: &|directory| self.project(directory),
            isolation: &|| self.runner.isolation(),
            env: &exec::variable,
        };
        confinement::confine(invocation, tool, bound, context)
            .map_err(|problem| SpawnError::Sandbox(invocation.argv[0].clone(), problem).into())
    }

    /// Returns the project of a directory; that of the directory in which this process started for `None`.
    fn project(&self, directory: Option<&Path>) -> Option<Project> {
        let found = |directory: &Path| exec::project(directory, exec::variable("HOME").as_deref().map(Path::new));
        match directory {
            Some(directory) => found(&exec::directory().join(directory)),
            None => self.project.get_or_init(|| found(&exec::directory())).clone(),
        }
    }

    /// Returns why a caller may not ask for a cage; `None` if it may.
    fn too_wide(&self, asked: Option<Cage>) -> Option<String> {
        let widest = self.policy.lines().rules.widest;
        asked.filter(|cage| !widest.permits(*cage))?;
        Some(format!("the policy permits no cage wider than `{}` (lines.widest)", widest.as_str()))
    }
}

/// The step of a plan of one call.
fn only_step<'a>(name: &str, call: PlannedCall<'a>) -> Step<'a> {
    let stage = Stage { place: 0, call, text: name.to_owned(), streams: Redirections::default() };
    Step { condition: Condition::Always, stages: vec![stage] }
}

/// Binds the arguments of a call by name, with the user's answers if there are any, and checks them.
fn bind<'a>(
    tool: ResolvedTool<'a>,
    arguments: &Map<String, Value>,
    purpose: Purpose,
    additions: &Additions,
) -> Result<Bound<'a>, CallError> {
    let invalid = |violations| invalid(tool, arguments, violations);
    let bound = match &additions.answers {
        None => {
            let bound = match purpose {
                Purpose::CommandLine => bind_known(tool, arguments),
                _ => arguments::bind(tool, arguments),
            };
            let bound = bound.map_err(invalid)?;
            permitted_values(tool, arguments, &bound, purpose)?;
            bound
        }
        Some(answers) => {
            let bound = arguments::bind_answered(tool, arguments, answers).map_err(invalid)?;
            only_reads(tool, &bound, purpose).map_err(|violation| invalid(vec![violation]))?;
            permitted_paths(tool, &bound)?;
            bound
        }
    };

    Ok(match &additions.files_dir {
        Some(files_dir) => bound.with_files(tool, |output| files_dir.join(output.file).display().to_string()),
        None => bound,
    })
}

/// Returns the directory to which the `cd` commands of a line lead; `None` if it stays where the server is.
fn directory_of_line(start: Option<&str>, changes: &[String]) -> Option<String> {
    if start.is_none() && changes.is_empty() {
        return None;
    }

    let mut directory = PathBuf::from(start.unwrap_or_default());
    directory.extend(changes);
    Some(directory.display().to_string())
}
