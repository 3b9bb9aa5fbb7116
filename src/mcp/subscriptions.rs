//! The resources that a client wants to be told of when they may have changed.
//!
//! What a CLI's tools are changes when something else is served; what a tool prints, when another tool of its CLI has run
//! that may change something.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use climax_catalog::ToolIndex;

use super::resources;
use crate::serving::snapshot::Change;

/// Resources that one client can subscribe to.
pub(crate) const MAX_SUBSCRIPTIONS: usize = 100;

/// The URIs that one client has subscribed to.
#[derive(Debug, Default)]
pub(super) struct Subscriptions(Mutex<BTreeSet<String>>);

impl Subscriptions {
    /// Adds a URI, if there is room for it.
    pub(super) fn add(&self, uri: &str) -> bool {
        let mut uris = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_added = uris.contains(uri) || uris.len() < MAX_SUBSCRIPTIONS;
        if is_added {
            uris.insert(uri.to_owned());
        }
        is_added
    }

    /// Takes a URI out.
    pub(super) fn remove(&self, uri: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    /// Those that a change is about.
    pub(super) fn concerned(&self, index: &ToolIndex, change: &Change) -> Vec<String> {
        let uris = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        concerned(uris.iter(), index, change)
    }
}

/// Those of some URIs that a change is about.
pub(super) fn concerned<'a>(uris: impl Iterator<Item = &'a String>, index: &ToolIndex, change: &Change) -> Vec<String> {
    let is_concerned = |uri: &&String| match change {
        Change::Reloaded { catalog, .. } => *catalog,
        Change::Output(cli) => resources::tool(index, uri).is_some_and(|(tool, _)| tool.cli().name() == &**cli),
    };
    uris.filter(is_concerned).cloned().collect()
}
