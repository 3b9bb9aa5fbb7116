//! The server side of the protocol: [`Server`] answers the requests of one client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rmcp::service::{RequestContext, RoleServer};
use tokio_util::sync::{CancellationToken, DropGuard};

#[cfg(has_code)]
use super::code::programs::Programs;
use super::decode::Methods;
use super::jobs::Jobs;
use super::log::MinLogLevel;
use super::options::{Changes, Options};
use super::output_store::{OutputReader, OutputStore};
use super::replay_logs::ReplayLogs;
use super::request_context;
use super::request_state::{RequestStateKey, StateSigner};
use super::revision::is_modern;
use super::roots::Roots;
use super::subscriptions::Subscriptions;
use super::surface::Surface;
use crate::call::Toolbox;
use crate::serving::snapshot::ServedHandle;

mod answer;
mod calls;
mod chain;
#[cfg(has_code)]
mod code;
mod command_line;
mod handler;
mod jobs;
mod notifications;
mod panics;
mod tool_request;

/// The time for which clients may cache a list that never changes, in milliseconds.
const LIST_TTL_MS: u64 = 3_600_000;
/// The time for which clients may cache a list that can change, in milliseconds.
const CHANGING_LIST_TTL_MS: u64 = 10_000;

/// A server for one kind of caller.
#[derive(Clone, Debug)]
pub struct Server {
    served: ServedHandle,
    options: Options,
    shutdown: CancellationToken,
    states: Arc<StateSigner>,
    outputs: Arc<OutputStore>,
    logs: Arc<ReplayLogs>,
    #[cfg(has_code)]
    programs: Arc<Programs>,
    jobs: Arc<Jobs>,
    /// Of a process that serves one client, and was started outside of any project.
    roots: Option<Arc<Roots>>,
    connection: ClientConnection,
}

/// The state of one client's connection. Dropping the last clone ends its tasks.
#[derive(Clone, Debug)]
struct ClientConnection {
    id: u64,
    /// Whether a task notifies the client of changes already.
    is_notified: Arc<AtomicBool>,
    subscriptions: Arc<Subscriptions>,
    min_log_level: Arc<MinLogLevel>,
    ended: CancellationToken,
    _guard: Arc<DropGuard>,
}

impl ClientConnection {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let ended = CancellationToken::new();
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        Self {
            id,
            is_notified: Arc::default(),
            subscriptions: Arc::default(),
            min_log_level: Arc::default(),
            _guard: Arc::new(ended.clone().drop_guard()),
            ended,
        }
    }
}

impl Server {
    /// Makes a server of a toolbox that is never replaced. Cancelling `shutdown` ends the running calls.
    #[must_use]
    pub fn new(toolbox: Arc<Toolbox>, options: Options, shutdown: CancellationToken) -> Self {
        Self::of_handle(ServedHandle::fixed(toolbox), options, shutdown)
    }

    /// Makes a server of a handle whose toolbox a reload may replace.
    #[must_use]
    pub fn of_handle(served: ServedHandle, options: Options, shutdown: CancellationToken) -> Self {
        Self {
            served,
            options,
            shutdown,
            states: Arc::new(StateSigner::new(None)),
            outputs: Arc::default(),
            logs: Arc::default(),
            #[cfg(has_code)]
            programs: Arc::default(),
            jobs: Arc::default(),
            roots: None,
            connection: ClientConnection::new(),
        }
    }

    /// Signs request states with this key. Replicas that share the key accept each other's states.
    #[must_use]
    pub fn with_state_key(self, key: RequestStateKey) -> Self {
        Self { states: Arc::new(StateSigner::new(Some(key))), ..self }
    }

    /// Keeps jobs with those of other servers.
    #[must_use]
    pub fn with_jobs(self, jobs: Arc<Jobs>) -> Self {
        Self { jobs, ..self }
    }

    /// Takes this process into the client's root before its first call. The process has to serve no other client.
    #[must_use]
    pub fn in_root_of_client(self) -> Self {
        Self { roots: Some(Arc::default()), ..self }
    }

    /// The same server for another client.
    #[must_use]
    pub fn for_another(&self) -> Self {
        Self { connection: ClientConnection::new(), ..self.clone() }
    }

    /// Goes into the client's root, if that is to be done.
    async fn enter_root(&self, context: &RequestContext<RoleServer>) {
        if let Some(roots) = &self.roots {
            roots.enter(context).await;
        }
    }

    pub(super) fn surface(&self) -> &Surface {
        &self.options.surface
    }

    /// The methods that the server has now.
    pub(crate) fn methods(&self) -> Methods {
        if self.toolbox().skills().is_empty() { Methods::Base } else { Methods::Skills }
    }

    /// The toolbox that is served now.
    pub(super) fn toolbox(&self) -> Arc<Toolbox> {
        self.served.toolbox()
    }

    /// The time for which clients may cache a list, in milliseconds.
    pub(super) fn list_ttl_ms(&self) -> u64 {
        if self.options.changes == Changes::Never { LIST_TTL_MS } else { CHANGING_LIST_TTL_MS }
    }

    /// The reader of the outputs that this request stores. From revision 2026-07-28 on requests have no connection.
    fn output_reader(&self, context: &RequestContext<RoleServer>) -> OutputReader {
        let connection = (!is_modern(context)).then_some(self.connection.id);
        OutputReader { caller: request_context::caller_identity(context), connection }
    }
}
