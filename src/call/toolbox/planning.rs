//! Plans requests: looks tools up, binds and checks their arguments, and says what would run. Nothing runs.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use climax_catalog::policy::{AskedCage, Executor, ProjectFiles};
use climax_catalog::{ResolvedTool, Risk};
use serde_json::{Map, Value};

use super::commands::Surroundings;
use super::values::{bind_known, invalid, only_reads, permitted_paths, permitted_values};
use super::{Toolbox, suggest_tools};
use crate::call::arguments::{self, Bound, Input, Problem, Violation};
use crate::call::command_line;
use crate::call::files::{FileUse, WriteMode};
use crate::call::given_code::runs_code;
use crate::call::line::{CommandKey, Feed, LineContext, LineError, ReadCall, ReadLine, Reading, read_line};
use crate::call::line_context::{Served, write_mode};
use crate::call::outcome::CallError;
use crate::call::plan::{OpenCall, OpenRun, Plan, PlannedCall, Stage};
use crate::call::plan_outcome::{PlanFailure, PolicyVerdict};
use crate::call::request::{LineBounds, LineInput, Purpose, Request, Session};
use crate::call::{changes, confinement, environment, risk};
use crate::exec::{self, Area, Invocation, Project, SpawnError};

/// What a call by name gets beside its arguments.
#[derive(Clone, Debug, Default)]
pub(super) struct Additions {
    /// The user's answers to the tool's forms; `None` before the user was asked.
    pub(super) answers: Option<Map<String, Value>>,
    /// The directory for result files.
    pub(super) files_dir: Option<PathBuf>,
}

/// What is known of the risk of a command whose words will be known once the line runs, or of one that it starts.
#[derive(Clone, Copy)]
struct OpenRisk {
    whole: Risk,
    /// The one that approval counts, whatever the other words become.
    approval: Risk,
    /// That of the data that it sends.
    sent: Risk,
    /// Whether an argument gives a program that does more than compute and print.
    is_code: bool,
}

impl OpenRisk {
    /// That of words that cannot be checked yet.
    const UNBOUND: Self =
        Self { whole: Risk::Destructive, approval: Risk::Destructive, sent: Risk::Read, is_code: false };

    fn max(self, other: Self) -> Self {
        Self {
            whole: self.whole.max(other.whole),
            approval: self.approval.max(other.approval),
            sent: self.sent.max(other.sent),
            is_code: self.is_code || other.is_code,
        }
    }
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
        match request {
            Request::Tool { name, arguments } => match self.plan_tool(name, arguments, session, additions) {
                Ok(call) => Ok(Plan::of_stage(only_stage(name, call), &self.policy, &self.runner)),
                Err(error) => Err(Box::new(PlanFailure { tool: Some(name.to_owned()), text: name.to_owned(), error })),
            },
            Request::Line { text, directory, input, bounds } => {
                self.plan_line(text, directory, (input, bounds), session)
            }
        }
    }

    /// Plans the call of a tool by its name.
    pub(super) fn plan_tool<'a>(
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

        let call = PlannedCall::new(tool, Cow::Borrowed(arguments), bound, invocation, started);
        self.with_effects(call, session.purpose)
    }

    /// Plans every command of a line, as far as its words are known.
    fn plan_line<'a>(
        &'a self,
        text: &str,
        directory: Option<&str>,
        (input, bounds): (LineInput<'_>, LineBounds),
        session: Session<'_>,
    ) -> Result<Plan<'a>, Box<PlanFailure>> {
        let unread = |error| {
            let error = CallError::Unread(Box::new(error));
            Box::new(PlanFailure { tool: None, text: text.to_owned(), error })
        };
        if let Some(problem) = self.too_wide(bounds.cage) {
            let error = LineError::at(text, 0..text.len(), problem, "leave `cage` out");
            return Err(unread(error.into()));
        }
        let input = match input {
            LineInput::Nothing => Input::Nothing,
            LineInput::Text(text) => Input::Text(text),
            LineInput::Stream => Input::Pipe,
        };
        let read = self.with_line_context(input, |context| read_line(&self.index, text, directory, context));
        let ReadLine { script, commands, has_background } = read.map_err(unread)?;
        if let Some(place) = script.list.items.last().and_then(|chain| chain.background.clone())
            && session.goes_on.is_none()
        {
            let problem = "what runs in the background ends with its line, and nothing stands behind this `&`";
            let remedy = "leave `&` out, write what needs the command behind it, or let the operator serve jobs by \
                          `--detach-after`, as which a line goes on";
            return Err(unread(LineError::at(text, place, problem, remedy).into()));
        }

        let (mut stages, mut open): (Vec<Stage<'a>>, Vec<OpenCall<'a>>) = (Vec::new(), Vec::new());
        for command in commands {
            let ReadCall::Tool(reading) = command.call else { continue };
            let tool = reading.tool;
            if command.is_open {
                open.push(self.open_call(&reading, &command.text, (command.carries_data, bounds.cage))?);
                continue;
            }
            if stages.iter().any(|stage| stage.key == command.key) {
                continue;
            }
            let stage = LineStage {
                reading: *reading,
                reads_input: command.reads_input,
                feed: &command.feed,
                text: &command.text,
                directory: command.key.directory.as_deref(),
                carries_data: command.carries_data,
                variables: &command.variables,
                bounds,
            };
            let stage = self.plan_stage(stages.len(), stage, session)?;
            tracing::trace!(tool = tool.name(), "planned");
            stages.push(Stage { key: command.key, ..stage });
        }
        Ok(Plan { stages, open, script: Some(script), has_background, policy: &self.policy, runner: &self.runner })
    }

    /// Checks a command whose words are not known yet, as far as that can be done.
    fn open_call<'a>(
        &'a self,
        reading: &Reading<'a>,
        text: &str,
        (carries_data, cage): (bool, Option<AskedCage>),
    ) -> Result<OpenCall<'a>, Box<PlanFailure>> {
        let tool = reading.tool;
        if reading.unknown.is_none() && !self.policy.permits(tool) {
            let error = CallError::UnknownTool { suggestions: Vec::new() };
            return Err(Box::new(PlanFailure { tool: Some(tool.name().to_owned()), text: text.to_owned(), error }));
        }
        let with_started =
            || std::iter::successors(Some(reading), |one| one.started.as_ref().map(|next| &next.reading));
        let is_uncaged = with_started().any(|reading| confinement::leaves_cage(reading.tool, cage));
        let risks = with_started().map(|reading| {
            let Ok(bound) = reading.bind_with_any_input() else { return OpenRisk::UNBOUND };
            let sent = carries_data.then(|| risk::of_sent_data(reading.tool, &bound, self.policy.lines()));
            let sent = sent.unwrap_or(Risk::Read);
            let own = risk::of_call(reading.tool, &bound);
            // Native tools of lines are redirections.
            let depends = reading.tool.is_native() || changes::depends_on_files_alone(reading.tool, &bound);
            let is_write = depends && self.policy.judgement().project == ProjectFiles::Write;
            OpenRisk {
                whole: own.max(sent),
                approval: if is_write { own.min(Risk::Write).max(sent) } else { own.max(sent) },
                sent,
                is_code: runs_code(reading.tool, &bound),
            }
        });
        let risks = risks.reduce(OpenRisk::max).unwrap_or(OpenRisk::UNBOUND);
        let undescribed = with_started().find(|reading| reading.unknown.is_some());
        let undescribed = undescribed.and_then(|reading| reading.typed.words.first().cloned());
        let runs = match undescribed {
            Some(program) => OpenRun::Undescribed(program),
            None if risks.is_code => OpenRun::Code,
            None if risks.sent == Risk::Destructive => OpenRun::Sending,
            None => OpenRun::Described,
        };
        let (text, OpenRisk { whole: risk, approval: least_approval_risk, .. }) = (text.to_owned(), risks);
        Ok(OpenCall { tool, text, risk, is_uncaged, least_approval_risk, runs })
    }

    /// Calls a function with what lines need to know of their surroundings.
    pub(in crate::call) fn with_line_context<T>(&self, input: Input<'_>, read: impl FnOnce(LineContext<'_>) -> T) -> T {
        let made = self.runner.made();
        let isolation = self.runner.find_isolation();
        Served { index: &self.index, policy: &self.policy, isolation, made: &made }.with_context(input, read)
    }

    /// Plans one command of a line as a call is planned.
    pub(in crate::call) fn plan_stage<'a>(
        &'a self,
        place: usize,
        stage: LineStage<'_, 'a>,
        session: Session<'_>,
    ) -> Result<Stage<'a>, Box<PlanFailure>> {
        let LineStage { reading, reads_input, feed, text, directory, carries_data, variables, bounds } = stage;
        let tool = reading.tool;
        let input = feed.input();
        let surroundings =
            Surroundings { directory, input, cage: bounds.cage, env: session.env, purpose: session.purpose };
        let planned = if tool.is_native() {
            self.plan_file(reading, session.purpose)
        } else {
            self.plan_command(reading, text, surroundings).and_then(|mut call| {
                // The variables of the config win.
                call.invocation.env.splice(0..0, variables.iter().cloned());
                environment::add(&self.policy, &mut call.invocation, &exec::variable)?;
                call.invocation.timeout = bounds.timeout.unwrap_or(call.invocation.timeout);
                if carries_data {
                    let lines = self.policy.lines();
                    let risks = call.with_started().map(|one| risk::of_sent_data(one.tool, &one.bound, lines));
                    call.least_risk = risks.max().unwrap_or(Risk::Destructive).max(call.least_risk);
                }
                still_reads(&call, session.purpose)?;
                Ok(call)
            })
        };
        match planned {
            Ok(call) => {
                let (text, key) = (text.to_owned(), CommandKey::default());
                Ok(Stage { place, call, text, key, reads_input, is_approved: false, permission: None })
            }
            Err(error) => {
                Err(Box::new(PlanFailure { tool: Some(tool.name().to_owned()), text: text.to_owned(), error }))
            }
        }
    }

    /// Plans the call of a redirection.
    fn plan_file<'a>(&'a self, reading: Reading<'a>, purpose: Purpose) -> Result<PlannedCall<'a>, CallError> {
        let Reading { tool, arguments, .. } = reading;
        if !self.policy.permits(tool) {
            return Err(CallError::UnknownTool { suggestions: Vec::new() });
        }
        let bound = arguments::bind(tool, &arguments).map_err(|violations| invalid(tool, &arguments, violations))?;
        permitted_values(tool, &arguments, &bound, purpose)?;
        let invocation = command_line::plan(tool, &bound, &exec::variable);
        let arguments = Cow::Owned(arguments);
        let mut call = PlannedCall::new(tool, arguments, bound, invocation, None);
        if let Some(path) = call.bound.get("path").map(ToString::to_string) {
            if call.tool.written_risk() == Some(Risk::Read) {
                call.sensitive = self.secret_in(&path, &exec::directory());
            } else {
                call.changes = changes::of_redirection(&exec::directory().join(&path), self.own_project());
            }
            if call.changes.protected.is_some() {
                call.least_risk = Risk::Destructive;
            }
        }
        still_reads(&call, purpose)?;
        self.permitted_secrets(call)
    }

    /// Returns what a redirection would do to a file that it writes; `None` if it reads.
    pub(in crate::call) fn write_mode(&self, path: &Path, file_use: FileUse) -> Option<WriteMode> {
        write_mode(path, file_use, &self.runner.made())
    }

    /// Notes that a line has made a file, which programs of the session may read.
    pub(in crate::call) fn made(&self, path: &Path) {
        self.runner.note_made(path);
    }

    /// Whether redirections open files where the programs run.
    pub(in crate::call) fn opens_files(&self) -> bool {
        *self.runner.executor() == Executor::Local
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
        (asked, is_described): (Option<AskedCage>, bool),
    ) -> Result<(), CallError> {
        let context = confinement::Context {
            policy: &self.policy,
            asked,
            is_described,
            project: &|directory| self.project(directory),
            isolation: self.runner.find_isolation(),
            env: &exec::variable,
        };
        confinement::confine(invocation, tool, bound, context)
            .map_err(|problem| SpawnError::Sandbox(invocation.argv[0].clone(), problem).into())
    }

    /// Returns the project of this process, without links.
    pub(crate) fn own_project(&self) -> Option<&Path> {
        let found = || exec::project_of(&exec::directory());
        self.project.get_or_init(found).as_ref().map(|project| project.directory.as_path())
    }

    /// Returns the project of a directory; that of the directory in which this process started for `None`.
    fn project(&self, directory: Option<&Path>) -> Option<Project> {
        let Some(directory) = directory else {
            self.own_project();
            return self.project.get().cloned().flatten();
        };
        let own = self.own_project();
        let found = exec::project_of(&exec::directory().join(directory));
        // Where programs keep their own files, a line that goes there makes no project.
        found.filter(|project| {
            let is_own =
                own.is_some_and(|own| own.starts_with(&project.directory) || project.directory.starts_with(own));
            is_own || exec::area_of(&project.directory, own) != Area::Protected
        })
    }

    /// Returns why a caller may not ask for a cage, or for none; `None` if it may.
    fn too_wide(&self, asked: Option<AskedCage>) -> Option<String> {
        let widest = self.policy.lines().rules.widest;
        asked.filter(|cage| *cage > widest)?;
        Some(format!("the policy permits nothing wider than the cage `{}` (lines.widest)", widest.as_str()))
    }
}

/// Checks that a call which may only read does no more by what it changes and gets, and prints no secrets if the judge has
/// allowed its line.
fn still_reads(call: &PlannedCall<'_>, purpose: Purpose) -> Result<(), CallError> {
    let is_read = matches!(purpose, Purpose::Read { .. } | Purpose::Judged);
    if is_read && call.risk() > Risk::Read {
        let problem = Problem::NotReading { tool: call.name().to_owned(), risk: Some(call.risk()), caller: None };
        let violation = Violation { argument: "command".to_owned(), problem };
        return Err(invalid(call.tool, &call.arguments, vec![violation]));
    }
    match &call.sensitive {
        Some(reason) if purpose == Purpose::Judged => {
            Err(CallError::Sensitive { reason: format!("{reason}, and this line may only read what is no secret") })
        }
        _ => Ok(()),
    }
}

/// The stage of a plan of one call.
fn only_stage<'a>(name: &str, call: PlannedCall<'a>) -> Stage<'a> {
    Stage {
        place: 0,
        call,
        text: name.to_owned(),
        key: CommandKey::default(),
        reads_input: true,
        is_approved: false,
        permission: None,
    }
}

/// A command of a line to plan.
pub(in crate::call) struct LineStage<'s, 'a> {
    pub(in crate::call) reading: Reading<'a>,
    /// Whether it reads the standard input that it has.
    pub(in crate::call) reads_input: bool,
    pub(in crate::call) feed: &'s Feed,
    /// The command as it is written.
    pub(in crate::call) text: &'s str,
    /// Where it runs; the directory of this process if `None`.
    pub(in crate::call) directory: Option<&'s str>,
    /// Whether it gets what the line has read.
    pub(in crate::call) carries_data: bool,
    /// Variables of the line that the program gets as they are.
    pub(in crate::call) variables: &'s [(String, String)],
    pub(in crate::call) bounds: LineBounds,
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
