//! The resources that a client has subscribed to.
//!
//! The list of a CLI's tools changes when other tools are served. The output of a tool can change when another tool of its
//! CLI has run whose risk is not `read`.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};

use climax_catalog::ToolIndex;

use super::resources;
use crate::lock::Unpoisoned as _;
use crate::serving::snapshot::Change;

/// The most resources that one client can subscribe to.
pub(crate) const MAX_SUBSCRIPTIONS: usize = 100;

/// The URIs that one client has subscribed to.
#[derive(Debug, Default)]
pub(super) struct Subscriptions(Mutex<BTreeSet<String>>);

impl Subscriptions {
    /// Adds a URI. Returns whether the client is subscribed to it now.
    pub(super) fn add(&self, uri: &str) -> bool {
        let mut uris = self.lock();
        let is_subscribed = uris.contains(uri) || uris.len() < MAX_SUBSCRIPTIONS;
        if is_subscribed {
            uris.insert(uri.to_owned());
        }
        is_subscribed
    }

    /// Removes a URI.
    pub(super) fn remove(&self, uri: &str) {
        self.lock().remove(uri);
    }

    /// The URIs whose contents a change may have changed.
    pub(super) fn affected(&self, index: &ToolIndex, change: &Change) -> Vec<String> {
        let uris = self.lock().clone();
        affected(uris.iter(), index, change)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unpoisoned()
    }
}

/// Those of `uris` whose contents a change may have changed.
pub(super) fn affected<'a>(uris: impl Iterator<Item = &'a String>, index: &ToolIndex, change: &Change) -> Vec<String> {
    let is_affected = |uri: &&String| match change {
        Change::Reloaded { catalog, .. } => *catalog,
        Change::Output(cli) => resources::tool(index, uri).is_some_and(|(tool, _)| tool.cli().name() == &**cli),
    };
    uris.filter(is_affected).cloned().collect()
}
