//! What is served now, which a reload exchanges while calls run.
//!
//! A call keeps the [`Toolbox`] that it began with.

use std::sync::Arc;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use crate::call::Toolbox;
use crate::mcp::{Mode, tool_list};

/// Touches that one who waits may be behind, before it is told that everything may have changed.
const MAX_WAITING_TOUCHES: usize = 64;

/// What one kind of caller is served now.
#[derive(Clone, Debug)]
pub struct ServedHandle {
    editions: watch::Receiver<Edition>,
    touches: broadcast::Sender<Arc<str>>,
}

/// Exchanges what is served.
#[derive(Debug)]
pub struct Publisher(watch::Sender<Edition>);

#[derive(Clone, Debug)]
struct Edition {
    toolbox: Arc<Toolbox>,
    lists: Lists,
}

/// Counts the lists that clients have been shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lists {
    /// Counts what was served, not only what was listed.
    editions: u64,
    tools: u64,
    prompts: u64,
    resources: u64,
}

/// What clients may want to look at again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// What is served was read again.
    Edition {
        /// It is something else than before.
        other: bool,
        /// Clients are shown another list of tools.
        tools: bool,
        /// Clients are shown another list of prompts.
        prompts: bool,
        /// Clients are shown another list of resources.
        resources: bool,
    },
    /// A tool of this CLI has run that may have changed what others print.
    Touched(Arc<str>),
}

impl ServedHandle {
    /// Serves the same for ever.
    #[must_use]
    pub fn fixed(toolbox: Arc<Toolbox>) -> Self {
        Publisher::new(toolbox).1
    }

    /// What is served now.
    #[must_use]
    pub fn toolbox(&self) -> Arc<Toolbox> {
        self.editions.borrow().toolbox.clone()
    }

    /// Tells of a tool of this CLI that may have changed what others print.
    pub fn touch(&self, cli: &str) {
        if self.touches.receiver_count() > 0 {
            let _ = self.touches.send(cli.into());
        }
    }

    /// Tells of changes from now on.
    #[must_use]
    pub fn watch(&self) -> Watcher {
        let mut editions = self.editions.clone();
        let seen = editions.borrow_and_update().lists;
        Watcher { editions, seen, touches: self.touches.subscribe() }
    }
}

/// Waits for changes.
#[derive(Debug)]
pub struct Watcher {
    editions: watch::Receiver<Edition>,
    seen: Lists,
    touches: broadcast::Receiver<Arc<str>>,
}

impl Watcher {
    /// Waits until something has changed since this was last asked.
    pub async fn next(&mut self) -> Change {
        loop {
            tokio::select! {
                biased;
                changed = self.editions.changed() => match changed {
                    Ok(()) => return self.edition(),
                    // Nothing is exchanged any more.
                    Err(_) => return self.touched().await,
                },
                touched = self.touches.recv() => if let Some(change) = told(touched) {
                    return change;
                },
            }
        }
    }

    fn edition(&mut self) -> Change {
        // What is read is not held while anything is waited for.
        let lists = self.editions.borrow_and_update().lists;
        let seen = std::mem::replace(&mut self.seen, lists);
        Change::Edition {
            other: lists.editions != seen.editions,
            tools: lists.tools != seen.tools,
            prompts: lists.prompts != seen.prompts,
            resources: lists.resources != seen.resources,
        }
    }

    async fn touched(&mut self) -> Change {
        loop {
            match told(self.touches.recv().await) {
                Some(change) => return change,
                None => std::future::pending::<()>().await,
            }
        }
    }
}

/// What was waited for; `None` if nothing will come any more.
fn told(touched: Result<Arc<str>, RecvError>) -> Option<Change> {
    match touched {
        Ok(cli) => Some(Change::Touched(cli)),
        // Which ones were missed is not known.
        Err(RecvError::Lagged(_)) => {
            Some(Change::Edition { other: true, tools: false, prompts: false, resources: false })
        }
        Err(RecvError::Closed) => None,
    }
}

impl Publisher {
    /// Serves `toolbox` first.
    #[must_use]
    pub fn new(toolbox: Arc<Toolbox>) -> (Self, ServedHandle) {
        let (sender, editions) = watch::channel(Edition { toolbox, lists: Lists::default() });
        let (touches, _) = broadcast::channel(MAX_WAITING_TOUCHES);
        (Self(sender), ServedHandle { editions, touches })
    }

    /// Serves `toolbox` from now on, and tells of the lists that clients in `mode` are shown then.
    pub fn publish(&self, toolbox: Arc<Toolbox>, mode: Mode) {
        let Edition { toolbox: before, lists } = self.0.borrow().clone();
        let (old, new) = (&before.index, &toolbox.index);
        let listed = |toolbox: &Toolbox| -> Vec<[String; 4]> {
            let clis = toolbox.index.summary().map(|summary| [summary.cli.name(), summary.cli.description(), "", ""]);
            let tools = toolbox.index.resources().map(|tool| {
                let [uri, output, title] =
                    [tool.resource(), tool.output(), tool.title()].map(Option::unwrap_or_default);
                [uri, tool.description(), output, title]
            });
            clis.chain(tools).map(|texts| texts.map(str::to_owned)).collect()
        };
        let lists = Lists {
            editions: lists.editions + u64::from(before.digest() != toolbox.digest()),
            tools: lists.tools + u64::from(tool_list(old, mode) != tool_list(new, mode)),
            prompts: lists.prompts + u64::from(!before.prompts().eq(toolbox.prompts())),
            resources: lists.resources + u64::from(listed(&before) != listed(&toolbox)),
        };
        self.0.send_replace(Edition { toolbox, lists });
    }
}
