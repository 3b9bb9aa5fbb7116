//! The options of a server.

use std::time::Duration;

use climax_catalog::Strategy;

use super::replica::ReplicaName;
use super::surface::Surface;
use crate::call::visible::TextForm;

/// The options of a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// The tools that a client sees.
    pub surface: Surface,
    /// The strategy of `climax_search`.
    pub strategy: Strategy,
    /// How results show the text of programs.
    pub text_form: TextForm,
    /// Whether the catalog can change while the server runs.
    pub changes: Changes,
    /// How long a call may take before it goes on as a job. Without it, only clients with tasks get one.
    pub detach_after: Option<Duration>,
    /// The name of this server among its replicas, with which the ids of tasks, jobs and stored outputs start.
    pub replica: Option<ReplicaName>,
}

/// Whether the catalog can change while clients are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// The catalog never changes.
    Never,
    /// The catalog can change. Clients get no `list_changed` notifications.
    Silent,
    /// The catalog can change. Clients get `list_changed` notifications.
    Notified,
}
