//! [`Plan`]: what a request comes to once it has been read and checked.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use climax_catalog::policy::ProjectFiles;
use climax_catalog::{Cage, Policy, ResolvedTool, Risk};
use climax_shell::Script;
use serde_json::{Map, Value};

use crate::call::arguments::Bound;
use crate::call::changes::{Changes, ProjectChange};
use crate::call::line::CommandKey;
use crate::call::outcome::{CallError, Permission};
use crate::call::plan_outcome::{PlanFailure, StageOutcome, Tested};
use crate::call::risk;
use crate::exec::{self, Invocation, Outcome, Runner};

/// The calls of a request, read, checked and planned. A call by name is a plan of one call.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// The calls whose words are known, in the order in which they are written.
    pub(crate) stages: Vec<Stage<'a>>,
    /// The commands of a line whose words will be known once it runs.
    pub(crate) open: Vec<OpenCall<'a>>,
    /// The syntax of a line; `None` for a call by name.
    pub(crate) script: Option<Script>,
    /// Whether commands of the line run in the background.
    pub(crate) has_background: bool,
    pub(crate) policy: &'a Policy,
    pub(crate) runner: &'a Runner,
}

/// A command of a line whose words will be known once it runs.
#[derive(Clone, Debug)]
pub(crate) struct OpenCall<'a> {
    /// Its tool, which its literal words name.
    pub(crate) tool: ResolvedTool<'a>,
    /// The command as it is written.
    pub(crate) text: String,
    /// The risk of its literal words.
    pub(crate) risk: Risk,
    /// Whether the caller asks for no cage where its tool, or that of a command that it starts, has one.
    pub(crate) is_uncaged: bool,
    /// The risk that approval counts, whatever the other words become: less if it depends on the files that they name.
    pub(crate) least_approval_risk: Risk,
    /// What it runs, itself or by a command that it starts.
    pub(crate) runs: OpenRun,
}

/// What a command runs whose words will be known once the line runs, as far as its literal words say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OpenRun {
    /// Programs that configs describe, and nothing else that is known.
    Described,
    /// A program that no config describes.
    Undescribed(String),
    /// A program that an argument gives.
    Code,
    /// What sends data that the line has read.
    Sending,
}

/// A call in its place.
#[derive(Clone, Debug)]
pub(crate) struct Stage<'a> {
    /// Its place among the calls of the plan, from 0.
    pub(crate) place: usize,
    pub(crate) call: PlannedCall<'a>,
    /// The command as it is written; the tool's name for a call by name.
    pub(crate) text: String,
    /// How a command of a line is told from others.
    pub(crate) key: CommandKey,
    /// Whether it reads the standard input that it has.
    pub(crate) reads_input: bool,
    /// Whether the question about it has been answered with its plan.
    pub(crate) is_approved: bool,
    /// Its own approval, if it was asked about while its line ran.
    pub(crate) permission: Option<Permission>,
}

/// A call whose arguments have been checked, with the program that it would start.
#[derive(Clone, Debug)]
pub(crate) struct PlannedCall<'a> {
    pub(crate) tool: ResolvedTool<'a>,
    /// The arguments as they were given.
    pub(crate) arguments: Cow<'a, Map<String, Value>>,
    /// The values by which it runs.
    pub(crate) bound: Bound<'a>,
    pub(crate) invocation: Invocation,
    /// The directory to which the program itself changes before it looks for files, as with `git -C DIRECTORY`.
    pub(crate) own_directory: Option<PathBuf>,
    /// Whether the caller asks for no cage where its tool has one.
    pub(crate) is_uncaged: bool,
    /// The call that the program starts, such as `git log` of `timeout 5 git log`.
    pub(crate) started: Option<Box<PlannedCall<'a>>>,
    /// The risk that it has at least, because of where its words come from.
    pub(crate) least_risk: Risk,
    /// What it changes, as far as its config says.
    pub(crate) changes: Changes,
    /// Why it prints secrets; `None` if it does not, as far as is known.
    pub(crate) sensitive: Option<String>,
    /// Names of files with secrets that its program is told to leave out.
    pub(crate) left_out: Vec<String>,
    /// The git directory because of which git would run programs that caged programs may have put there.
    pub(crate) planted: Option<PathBuf>,
}

impl<'a> Plan<'a> {
    /// Returns all calls: those of each stage, then those that it starts.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &PlannedCall<'a>> {
        self.stages.iter().flat_map(|stage| stage.call.with_started())
    }

    /// Makes the plan of one command of a line.
    pub(crate) fn of_stage(stage: Stage<'a>, policy: &'a Policy, runner: &'a Runner) -> Self {
        Self { stages: vec![stage], open: Vec::new(), script: None, has_background: false, policy, runner }
    }

    /// Returns the highest risk of its calls. Builtins alone only read.
    #[must_use]
    pub fn risk(&self) -> Risk {
        let open = self.open.iter().map(|open| open.risk);
        self.calls().map(PlannedCall::risk).chain(open).max().unwrap_or(Risk::Read)
    }

    /// Returns whether the policy requires approval of a command whose words are not known yet, whatever they become.
    #[must_use]
    pub fn may_need_approval(&self) -> bool {
        self.open_needing_approval().is_some()
    }

    /// Returns the first of these commands.
    pub(crate) fn open_needing_approval(&self) -> Option<&OpenCall<'a>> {
        let needs_approval = |open: &&OpenCall<'_>| {
            open.is_uncaged || self.policy.needs_approval_at(open.tool, open.least_approval_risk)
        };
        self.open.iter().find(needs_approval)
    }
}

impl Stage<'_> {
    /// Returns the failure of the plan by this call.
    pub(crate) fn failure(&self, error: CallError) -> PlanFailure {
        PlanFailure { tool: Some(self.call.name().to_owned()), text: self.text.clone(), error }
    }

    /// Returns what became of this call.
    pub(crate) fn outcome(&self, outcome: Outcome, duration: Duration) -> StageOutcome {
        let (tool, text) = (self.call.name().to_owned(), self.text.clone());
        let confinement = self.call.invocation.confinement.as_ref();
        let has_network = confinement.is_none_or(|rights| rights.network);
        let prefetch = self.call.tool.needs().and_then(|needs| needs.prefetch);
        StageOutcome {
            tool,
            text,
            outcome,
            cage: self.call.cage(),
            has_network,
            prefetch,
            tested: Tested::No,
            duration,
        }
    }
}

impl<'a> PlannedCall<'a> {
    /// Makes a call, of which nothing is known beyond its words.
    pub(crate) fn new(
        tool: ResolvedTool<'a>,
        arguments: Cow<'a, Map<String, Value>>,
        bound: Bound<'a>,
        invocation: Invocation,
        started: Option<PlannedCall<'a>>,
    ) -> Self {
        Self {
            tool,
            arguments,
            bound,
            invocation,
            own_directory: None,
            is_uncaged: false,
            started: started.map(Box::new),
            least_risk: Risk::Read,
            changes: Changes::default(),
            sensitive: None,
            left_out: Vec::new(),
            planted: None,
        }
    }

    /// Returns the name of its tool.
    pub(crate) fn name(&self) -> &'a str {
        self.tool.name()
    }

    /// Returns the directory in which its program looks for the files that it is given.
    pub(crate) fn directory(&self) -> PathBuf {
        let changes = [&self.invocation.cwd, &self.own_directory].into_iter().flatten();
        changes.fold(exec::directory(), |directory, change| directory.join(change))
    }

    /// Returns the call, then the calls that start one another from it.
    pub(crate) fn with_started(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |call| call.started.as_deref())
    }

    /// Returns the cage of its program.
    pub(crate) fn cage(&self) -> Option<Cage> {
        self.invocation.confinement.as_ref()?.cage.as_ref().map(|rights| rights.cage)
    }

    /// Returns whether its program has a cage without a project, as in a directory that does not exist yet.
    pub(crate) fn lacks_project(&self) -> bool {
        let cage = self.invocation.confinement.as_ref().and_then(|rights| rights.cage.as_ref());
        cage.is_some_and(|cage| cage.project.is_none())
    }

    /// Returns the directories that hold all that it changes, together with the command that it starts; none if it may change
    /// more.
    pub(crate) fn places(&self) -> Vec<PathBuf> {
        match &self.started {
            None => self.changes.places.clone(),
            Some(started) if risk::of_call(self.tool, &self.bound) == Risk::Read => started.places(),
            Some(_) => Vec::new(),
        }
    }

    /// Returns whether its program prints the paths of the files that it makes.
    pub(crate) fn prints_made(&self) -> bool {
        self.tool.effects().is_some_and(|effects| effects.prints_made)
    }

    /// Returns whether the risk of what it changes depends on the files that are there when it runs.
    pub(crate) fn depends_on_files(&self) -> bool {
        let depends =
            |call: &Self| call.may_run_hooks() || call.tool.effects().is_some_and(|effects| effects.rest_on_files());
        self.with_started().any(depends)
    }

    /// Returns whether it may run hooks of a repository outside of cages.
    pub(crate) fn may_run_hooks(&self) -> bool {
        risk::may_run_hooks(self.tool, self.risk()) && self.cage().is_none()
    }

    /// Returns the risk that approval counts: `write` for what is destructive only because it changes single files of the
    /// project, or temporary files of the session, if the policy says so.
    pub(crate) fn approval_risk(&self, policy: &Policy) -> Risk {
        let is_for_project = policy.judgement().project == ProjectFiles::Write
            && self.changes.project == ProjectChange::Files
            && self.least_risk < Risk::Destructive;
        if is_for_project { self.risk().min(Risk::Write) } else { self.risk() }
    }

    /// Returns the risk of the tool with these arguments.
    ///
    /// In a wider cage than that of the tool it is the risk of the cage. Where the tool lacks its cage, it is what the tool
    /// can do without.
    pub(crate) fn risk(&self) -> Risk {
        let own = risk::of_call(self.tool, &self.bound).max(self.least_risk);
        match (self.cage(), self.tool.needs().filter(|needs| needs.cage.is_some())) {
            (Some(cage), _) => own.max(cage.risk()),
            (None, Some(needs)) => own.max(needs.without.unwrap_or(Risk::Destructive)),
            (None, None) => own,
        }
    }
}
