//! Finds out whether git ignores the directories that a call removes, where that settles whether the user is asked.

use std::convert::identity;
use std::future::pending;
use std::path::Path;

use climax_catalog::policy::ProjectFiles;
use serde_json::json;

use super::Toolbox;
use super::planning::Additions;
use crate::call::changes::ProjectChange;
use crate::call::plan::{Plan, Stage};
use crate::call::request::{Purpose, Session};
use crate::exec::{End, Runner};

/// The tool that says which files git ignores.
pub(crate) const FILES_OF_GIT: &str = "git_ls_files";

impl Toolbox {
    /// Settles for each call of a plan whether it removes only directories that git ignores.
    ///
    /// git is asked only where a policy counts files of the project as `write`, and then as the tool that lists files, by
    /// its config and confined.
    pub(in crate::call) async fn settle(&self, plan: &mut Plan<'_>) {
        for stage in &mut plan.stages {
            self.settle_stage(stage, plan.runner).await;
        }
    }

    /// Settles it for the call of one stage. git runs by `runner`.
    pub(in crate::call) async fn settle_stage(&self, stage: &mut Stage<'_>, runner: &Runner) {
        if self.policy.judgement().project != ProjectFiles::Write {
            return;
        }
        let mut next = Some(&mut stage.call);
        while let Some(call) = next {
            if let ProjectChange::Directories(directories) = &call.changes.project {
                let mut are_ignored = Vec::with_capacity(directories.len());
                for directory in directories {
                    are_ignored.push(self.is_ignored(directory, runner).await);
                }
                let is_all = are_ignored.into_iter().all(identity);
                call.changes.project = if is_all { ProjectChange::Files } else { ProjectChange::Other };
            }
            next = call.started.as_deref_mut();
        }
    }

    /// Returns whether git ignores all of a directory: it has no tracked file, and is no repository itself.
    async fn is_ignored(&self, directory: &Path, runner: &Runner) -> bool {
        let Some(project) = self.own_project() else { return false };
        let real = directory.canonicalize().ok();
        let Some(below) = real.as_deref().and_then(|real| real.strip_prefix(project).ok()) else { return false };
        let Some(path) = below.to_str().filter(|path| !path.is_empty()) else { return false };
        if directory.join(".git").symlink_metadata().is_ok() {
            return false;
        }

        let arguments = json!({
            "cwd": project.display().to_string(), "others": true, "ignored": true, "exclude_standard": true,
            "directory": true, "null": true, "path": [format!(":(literal){path}")],
        });
        let Some(arguments) = arguments.as_object() else { return false };
        let session = Session::anonymous(Purpose::Call);
        let Ok(call) = self.plan_tool(FILES_OF_GIT, arguments, session, &Additions::default()) else { return false };
        let Ok(outcome) = runner.run(&call.invocation, None, pending()).await else { return false };

        let text = outcome.stdout.text();
        let mut listed = text.split_terminator('\0');
        let is_whole = |listed: &str| listed.ends_with('/') && format!("{path}/").starts_with(listed);
        outcome.end == End::Exited(0) && listed.next().is_some_and(is_whole) && listed.next().is_none()
    }
}
