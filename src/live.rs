//! What is served now, which a reload exchanges while calls run.
//!
//! A call keeps the [`Toolbox`] that it began with.

use std::sync::Arc;

use tokio::sync::watch;

use crate::call::Toolbox;
use crate::mcp::{Mode, tool_list};

/// What one kind of caller is served now.
#[derive(Clone, Debug)]
pub struct Live(watch::Receiver<Edition>);

/// Exchanges what is served.
#[derive(Debug)]
pub struct Publisher(watch::Sender<Edition>);

#[derive(Clone, Debug)]
struct Edition {
    toolbox: Arc<Toolbox>,
    /// Counts the lists of tools that clients have been shown.
    list: u64,
}

impl Live {
    /// Serves the same for ever.
    #[must_use]
    pub fn fixed(toolbox: Arc<Toolbox>) -> Self {
        Publisher::new(toolbox).1
    }

    /// What is served now.
    #[must_use]
    pub fn toolbox(&self) -> Arc<Toolbox> {
        self.0.borrow().toolbox.clone()
    }

    /// Tells of other lists of tools from now on.
    #[must_use]
    pub fn list_changes(&self) -> ListChanges {
        let editions = self.0.clone();
        let seen = editions.borrow().list;
        ListChanges { editions, seen }
    }
}

/// Waits for other lists of tools.
#[derive(Debug)]
pub struct ListChanges {
    editions: watch::Receiver<Edition>,
    seen: u64,
}

impl ListChanges {
    /// Waits until clients are shown another list of tools than when this was last asked; for ever if nothing is exchanged
    /// any more.
    pub async fn next(&mut self) {
        let seen = self.seen;
        // What is read is not held while anything is waited for.
        let list = self.editions.wait_for(|edition| edition.list != seen).await.map(|edition| edition.list);
        match list {
            Ok(list) => self.seen = list,
            Err(_) => std::future::pending().await,
        }
    }
}

impl Publisher {
    /// Serves `toolbox` first.
    #[must_use]
    pub fn new(toolbox: Arc<Toolbox>) -> (Self, Live) {
        let (sender, receiver) = watch::channel(Edition { toolbox, list: 0 });
        (Self(sender), Live(receiver))
    }

    /// Serves `toolbox` from now on, and tells of it if clients in `mode` are shown another list of tools then.
    pub fn publish(&self, toolbox: Arc<Toolbox>, mode: Mode) {
        let before = self.0.borrow().clone();
        let changed = tool_list(&before.toolbox.index, mode) != tool_list(&toolbox.index, mode);
        self.0.send_replace(Edition { toolbox, list: before.list + u64::from(changed) });
    }
}
