//! Publishes snapshots of the served toolbox. A reload replaces the snapshot while calls run.
//!
//! A running call continues with the [`Toolbox`] of its start.

use std::sync::Arc;

use climax_catalog::{Skill, ToolIndex};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use crate::call::Toolbox;
use crate::call::line_judge::LineJudge;

/// Maximum output changes that wait for a subscriber. Beyond them it gets one change that covers every resource.
const MAX_WAITING_OUTPUT_CHANGES: usize = 64;

/// A handle to the current snapshot for the callers of one policy. Clones see the same snapshots.
#[derive(Clone, Debug)]
pub struct ServedHandle {
    snapshots: watch::Receiver<Snapshot>,
    output_changes: broadcast::Sender<Arc<str>>,
}

/// Replaces the snapshot behind its [`ServedHandle`]s.
#[derive(Debug)]
pub struct Publisher(watch::Sender<Snapshot>);

#[derive(Clone, Debug)]
struct Snapshot {
    toolbox: Arc<Toolbox>,
    /// What judges lines beside the toolbox, if lines of other shells are judged.
    judge: Option<Arc<LineJudge>>,
    versions: Versions,
}

/// Counts how often each list has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Versions {
    /// Changes of the catalog or the policy, even if no list differs.
    catalog: u64,
    tools: u64,
    prompts: u64,
    resources: u64,
}

/// A change that clients can subscribe to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The configs or policies were reloaded.
    Reloaded {
        /// The catalog or the policy differs.
        catalog: bool,
        /// The list of tools differs.
        tools: bool,
        /// The list of prompts differs.
        prompts: bool,
        /// The list of resources differs.
        resources: bool,
    },
    /// A tool of this CLI ran and may have changed the output of the CLI's other tools.
    Output(Arc<str>),
}

impl ServedHandle {
    /// Makes a handle to one toolbox that is never replaced.
    #[must_use]
    pub fn fixed(toolbox: Arc<Toolbox>) -> Self {
        Publisher::new(toolbox).1
    }

    /// Returns the current toolbox.
    #[must_use]
    pub fn toolbox(&self) -> Arc<Toolbox> {
        self.snapshots.borrow().toolbox.clone()
    }

    /// Returns what judges lines beside the current toolbox, if lines of other shells are judged.
    #[must_use]
    pub fn judge(&self) -> Option<Arc<LineJudge>> {
        self.snapshots.borrow().judge.clone()
    }

    /// Notifies subscribers that a tool of this CLI may have changed the output of the CLI's other tools.
    pub fn announce_output_change(&self, cli: &str) {
        if self.output_changes.receiver_count() > 0 {
            let _ = self.output_changes.send(cli.into());
        }
    }

    /// Subscribes to the changes from now on.
    #[must_use]
    pub fn subscribe(&self) -> Subscriber {
        let mut snapshots = self.snapshots.clone();
        let seen = snapshots.borrow_and_update().versions;
        Subscriber { snapshots, seen, output_changes: self.output_changes.subscribe() }
    }
}

/// Receives changes.
#[derive(Debug)]
pub struct Subscriber {
    snapshots: watch::Receiver<Snapshot>,
    seen: Versions,
    output_changes: broadcast::Receiver<Arc<str>>,
}

impl Subscriber {
    /// Waits for the next change. Never returns once no more changes can come.
    pub async fn next(&mut self) -> Change {
        loop {
            tokio::select! {
                biased;
                replaced = self.snapshots.changed() => match replaced {
                    Ok(()) => return self.reloaded(),
                    // The publisher was dropped, so only outputs can change.
                    Err(_) => return self.next_output_change().await,
                },
                received = self.output_changes.recv() => if let Some(change) = output_change(received) {
                    return change;
                },
            }
        }
    }

    fn reloaded(&mut self) -> Change {
        // The lock on the snapshot must not be held across an await.
        let versions = self.snapshots.borrow_and_update().versions;
        let seen = std::mem::replace(&mut self.seen, versions);
        Change::Reloaded {
            catalog: versions.catalog != seen.catalog,
            tools: versions.tools != seen.tools,
            prompts: versions.prompts != seen.prompts,
            resources: versions.resources != seen.resources,
        }
    }

    async fn next_output_change(&mut self) -> Change {
        match output_change(self.output_changes.recv().await) {
            Some(change) => change,
            None => std::future::pending().await,
        }
    }
}

/// Returns the received change; `None` if the channel is closed.
fn output_change(received: Result<Arc<str>, RecvError>) -> Option<Change> {
    match received {
        Ok(cli) => Some(Change::Output(cli)),
        // The missed changes are unknown, so any resource may have changed.
        Err(RecvError::Lagged(_)) => {
            Some(Change::Reloaded { catalog: true, tools: false, prompts: false, resources: false })
        }
        Err(RecvError::Closed) => None,
    }
}

impl Publisher {
    /// Publishes the first toolbox. Returns the publisher and a handle.
    #[must_use]
    pub fn new(toolbox: Arc<Toolbox>) -> (Self, ServedHandle) {
        let (sender, snapshots) = watch::channel(Snapshot { toolbox, judge: None, versions: Versions::default() });
        let (output_changes, _) = broadcast::channel(MAX_WAITING_OUTPUT_CHANGES);
        (Self(sender), ServedHandle { snapshots, output_changes })
    }

    /// Has lines judged beside the toolbox. No list differs by that.
    pub fn judge_by(&self, judge: Option<LineJudge>) {
        self.0.send_if_modified(|snapshot| {
            snapshot.judge = judge.map(Arc::new);
            false
        });
    }

    /// Publishes another toolbox and notifies subscribers of the lists that differ.
    ///
    /// `tool_list` renders the list of tools as clients see it.
    pub fn publish(&self, toolbox: Arc<Toolbox>, tool_list: impl Fn(&Toolbox) -> String) {
        let Snapshot { toolbox: before, judge, versions } = self.0.borrow().clone();
        let versions = Versions {
            catalog: versions.catalog + u64::from(before.digest() != toolbox.digest()),
            tools: versions.tools + u64::from(tool_list(&before) != tool_list(&toolbox)),
            prompts: versions.prompts + u64::from(!before.prompts().eq(toolbox.prompts())),
            resources: versions.resources + u64::from(resources(&before) != resources(&toolbox)),
        };
        self.0.send_replace(Snapshot { toolbox, judge, versions });
    }
}

/// Returns the content of the list of resources, and the skills, whose files are resources.
fn resources(toolbox: &Toolbox) -> (Vec<[String; 4]>, &[Skill]) {
    (resource_list(&toolbox.index), toolbox.skills())
}

/// Returns the content of the list of resources.
fn resource_list(index: &ToolIndex) -> Vec<[String; 4]> {
    let clis = index.summary().map(|summary| [summary.cli.name(), summary.cli.description(), "", ""]);
    let tools = index.resources().map(|tool| {
        let [uri, output, title] = [tool.resource(), tool.output(), tool.title()].map(Option::unwrap_or_default);
        [uri, tool.description(), output, title]
    });
    clis.chain(tools).map(|texts| texts.map(str::to_owned)).collect()
}
