//! What the effects of a tool say of a call: what it changes, and which secrets it prints or leaves out.

use std::path::{Path, PathBuf};

use climax_catalog::policy::{ConfineLevel, SensitiveRule};
use climax_catalog::{Place, Risk};

use super::Toolbox;
use crate::call::outcome::CallError;
use crate::call::plan::PlannedCall;
use crate::call::request::Purpose;
use crate::call::{changes, sensitive};
use crate::exec::{self, Outcome, SecretDepth};

/// Returns the temporary files that a call may make: those that its effects say, and those that its words name, if it does
/// more than read. A program in a cage makes its own.
fn temporary_files(call: &PlannedCall<'_>) -> Vec<PathBuf> {
    if call.cage().is_some() || call.risk() == Risk::Read {
        return Vec::new();
    }
    let directory = call.directory();
    let named = call.bound.iter().flat_map(|(_, value)| value.texts()).map(|text| directory.join(text));
    let tops: Vec<PathBuf> = exec::temporary_directories().collect();
    let named = named.filter(|path| tops.iter().any(|top| path.starts_with(top)));
    call.changes.temporary.iter().cloned().chain(named).collect()
}

impl Toolbox {
    /// Adds what the effects of its tool say of a call.
    ///
    /// # Errors
    /// It prints secrets, and the policy refuses that.
    pub(super) fn with_effects<'a>(
        &self,
        mut call: PlannedCall<'a>,
        purpose: Purpose,
    ) -> Result<PlannedCall<'a>, CallError> {
        let directory = call.directory();
        call.changes =
            changes::changes(call.tool, &call.bound, &directory, || self.own_project(), || self.runner.made());
        if call.changes.protected.is_some() {
            call.least_risk = Risk::Destructive;
        }
        if self.policy.confine().level != Some(ConfineLevel::Off) {
            call.invocation.places = call.places();
        }
        call.planted = call.may_run_hooks().then(|| self.planted(&directory)).flatten();
        if call.planted.is_some() {
            call.least_risk = Risk::Destructive;
        }
        let exists = |path: &str| directory.join(path).symlink_metadata().is_ok();
        let project = call.invocation.confinement.as_ref().and_then(|rights| rights.cage.as_ref()?.project.as_deref());
        let lines = self.policy.lines();
        let files = sensitive::Files {
            secret: &|path| self.secret_in(path, &directory),
            exists: &exists,
            tracked: &|path| exec::is_tracked(&directory.join(path)),
            is_hidden: &|path| exec::is_hidden_by_cage(&directory.join(path), project, &lines.secrets, &lines.open),
            pattern: &exec::pattern_names_secret,
        };
        call.sensitive = sensitive::reason(&call, files);
        if purpose == Purpose::Judged
            && let Some(cage) = call.invocation.confinement.as_mut().and_then(|rights| rights.cage.as_mut())
        {
            cage.depth = SecretDepth::Whole;
        }
        if purpose == Purpose::Judged || self.policy.sensitive() != SensitiveRule::Allow {
            self.leave_out_secrets(&mut call);
        }
        self.permitted_secrets(call)
    }

    /// Returns the git directory because of which git would run programs that caged programs may have put there: hooks that
    /// are new or changed since the session began, or what the configuration of a repository names that they may write.
    fn planted(&self, directory: &Path) -> Option<PathBuf> {
        let git = exec::git_directory(directory)?;
        if self.runner.has_changed_hooks(directory) {
            return Some(git);
        }
        let is_own = || self.own_project().and_then(exec::git_directory).is_some_and(|own| own == git);
        let is_open = self.runner.open_to_cages().iter().any(|open| git.starts_with(open))
            || self.runner.has_changed(&git.join("config")) && !is_own();
        (is_open && exec::runs_programs(&git)).then_some(git)
    }

    /// Returns the temporary files and directories that a call may make, and that are not there yet: the outermost ones, by
    /// paths without links.
    pub(in crate::call) fn missing_before(call: &PlannedCall<'_>) -> Vec<PathBuf> {
        let outermost =
            |path: &PathBuf| path.ancestors().take_while(|path| !exec::is_there(path)).last().map(Path::to_owned);
        let named = call.with_started().flat_map(temporary_files);
        named.filter_map(|path| outermost(&path)).filter_map(|path| exec::paths::real(&path).ok()).collect()
    }

    /// Notes what a call has made: of the files that were missing before it, those that are there now, and what its program
    /// says that it has made.
    pub(in crate::call) fn note_made(&self, call: &PlannedCall<'_>, missing: &[PathBuf], outcome: &Outcome) {
        for path in missing {
            self.runner.note_made(path);
        }
        // Of several lines, all but the last could be parts of the name of a directory that somebody has chosen.
        let printed = outcome.stdout.text();
        let mut lines = printed.lines();
        if call.prints_made()
            && outcome.succeeded()
            && let (Some(line), None) = (lines.next(), lines.next())
            && let Ok(path) = exec::paths::real(&call.directory().join(line))
        {
            self.runner.note_made(&path);
        }
    }

    /// Refuses a call that prints secrets where the policy does.
    pub(super) fn permitted_secrets<'a>(&self, call: PlannedCall<'a>) -> Result<PlannedCall<'a>, CallError> {
        match &call.sensitive {
            Some(reason) if self.policy.sensitive() == SensitiveRule::Deny => {
                Err(CallError::Sensitive { reason: format!("{reason} (policy: approval.sensitive is deny)") })
            }
            _ => Ok(call),
        }
    }

    /// Returns why a file holds secrets, by its name; `None` if it does not seem to.
    pub(in crate::call) fn secret_in(&self, path: &str, directory: &Path) -> Option<String> {
        let lines = self.policy.lines();
        exec::names_secret(path, directory, &lines.secrets, &lines.open)
    }

    /// Returns the names of the secrets in the directories that a call reads whole, unless a cage hides them.
    pub(in crate::call) fn secrets_in_reach(&self, call: &PlannedCall<'_>) -> Vec<String> {
        let effects = call.tool.effects().unwrap_or_default();
        if !effects.reads_directories(|name| call.bound.gives(name)) || call.cage().is_some() {
            return Vec::new();
        }

        let directory = call.directory();
        let is_walked = |name: &str| effects.walks.iter().any(|own| own == name);
        let paths_of = |place: Place| {
            let given = call.bound.iter().filter(move |(arg, _)| arg.place() == place);
            // A value out of a few, such as `recurse`, is no path.
            let given = given
                .filter(|(arg, _)| place == Place::Positional || (is_walked(arg.name()) && arg.values().len() == 0));
            given.flat_map(|(_, value)| value.texts()).map(|text| directory.join(text)).collect::<Vec<PathBuf>>()
        };
        // An option that names the directories leaves none to the program's choice.
        let named = paths_of(Place::Option);
        let is_named = !named.is_empty();
        let paths: Vec<PathBuf> =
            paths_of(Place::Positional).into_iter().chain(named).filter(|path| path.exists()).collect();
        let directories = if paths.is_empty() && !is_named {
            vec![directory]
        } else {
            paths.into_iter().filter(|path| path.is_dir()).collect()
        };
        let lines = self.policy.lines();
        exec::secret_names_below(directories, &lines.secrets, &lines.open).into_iter().collect()
    }

    /// Gives a program the options by which it leaves out the secrets in its reach. If it has none, the call prints them.
    fn leave_out_secrets(&self, call: &mut PlannedCall<'_>) {
        let names = self.secrets_in_reach(call);
        if names.is_empty() {
            return;
        }
        if let Some(reason) = sensitive::among_others(call, &names) {
            call.sensitive.get_or_insert(reason);
            return;
        }

        let leaves_out = call.tool.effects().unwrap_or_default().leaves_out;
        let argv = &mut call.invocation.argv;
        let end = argv.iter().position(|word| word == "--").unwrap_or(argv.len());
        let options = names.iter().flat_map(|name| leaves_out.iter().map(|option| option.replace("{}", name)));
        argv.splice(end..end, options.collect::<Vec<_>>());
        call.left_out = names;
    }
}
