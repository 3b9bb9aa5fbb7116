//! Sessions of clients before revision 2026-07-28: their number, their callers, and when they end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::SessionConfig;
use tokio::time::{interval, timeout};

use super::caller::LimitKey;
use super::notifying_sessions::NotifyingSessions;
use super::quota::{Permit, Quota};
use crate::call::caller::CallerId;
use crate::lock::Unpoisoned as _;

/// Sessions at once. One more ends a session of the caller that has the most.
const MAX_SESSIONS: usize = 1_000;

/// The time after which a session ends that has no request.
const SESSION_IDLE_LIMIT: Duration = Duration::from_mins(30);

/// The time between two searches for idle sessions.
const SESSION_SWEEP_INTERVAL: Duration = Duration::from_mins(1);

/// How long the end of a session may wait for its client.
const SESSION_END_LIMIT: Duration = Duration::from_secs(1);

/// Requests in flight of all sessions. A caller may have as many as it leaves to others. `MAX_CONNECTIONS` does not
/// limit them, because they go on when their connections close.
const MAX_SESSION_REQUESTS: usize = 4_096;

/// All sessions of a server.
#[derive(Debug)]
pub(super) struct Sessions {
    /// The state of the SDK.
    pub(super) manager: Arc<NotifyingSessions>,
    table: Arc<SessionTable>,
    requests: Arc<Quota>,
}

/// The caller that a session belongs to, and the service that answers it.
///
/// A caller needs another session after a new token has put it under another policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Principal {
    pub(super) caller: CallerId,
    /// The index of the service with a policy of its own, if the caller has one.
    pub(super) service: Option<usize>,
}

/// A request in flight of a session. Until it is dropped, the session is not idle.
#[derive(Debug)]
pub(super) struct SessionRequest {
    table: Arc<SessionTable>,
    id: String,
    _permit: Permit,
}

#[derive(Debug, Default)]
struct SessionTable(Mutex<HashMap<String, Session>>);

#[derive(Debug)]
struct Session {
    principal: Principal,
    limit_key: LimitKey,
    /// The number of requests in flight.
    requests: usize,
    /// When the last request came or was answered.
    last_used: Instant,
}

impl Sessions {
    pub(super) fn new() -> Self {
        let mut config = SessionConfig::default();
        // The SDK would end a session as idle during a long call.
        config.keep_alive = None;
        // The SDK would store results of cancelled requests for clients that resume their streams.
        config.completed_cache_ttl = Duration::ZERO;
        let mut manager = NotifyingSessions::default();
        manager.local.session_config = config;
        let requests = Quota::new(MAX_SESSION_REQUESTS);
        Self { manager: Arc::new(manager), table: Arc::default(), requests }
    }

    /// Counts a request of a session, to be held until it is answered; `None` if the caller has too many.
    pub(super) fn start_request(&self, id: &str, caller: LimitKey) -> Option<SessionRequest> {
        let permit = self.requests.permit(caller)?;
        if let Some(session) = self.table.lock().get_mut(id) {
            session.requests += 1;
        }
        Some(SessionRequest { table: self.table.clone(), id: id.to_owned(), _permit: permit })
    }

    /// Adds a session that the SDK has opened.
    pub(super) fn add(&self, id: &str, principal: Principal, limit_key: LimitKey) {
        let session = Session { principal, limit_key, requests: 0, last_used: Instant::now() };
        self.table.lock().insert(id.to_owned(), session);
    }

    /// Whether `principal` has this session, which then counts as used.
    pub(super) fn touch(&self, id: &str, principal: &Principal) -> bool {
        self.table.lock().get_mut(id).filter(|session| session.principal == *principal).is_some_and(|session| {
            session.last_used = Instant::now();
            true
        })
    }

    /// The number of sessions.
    pub(super) async fn count(&self) -> usize {
        self.manager.local.sessions.read().await.len()
    }

    /// Makes room for another session, by ending one if there are too many.
    pub(super) async fn make_room(&self) {
        if self.table.lock().len() >= MAX_SESSIONS {
            self.remove_ended().await;
        }
        while self.count().await >= MAX_SESSIONS {
            self.remove_ended().await;
            // Sessions that are being opened are not in the table yet, and are not ended.
            let Some(id) = self.table.eviction_candidate() else { return };
            self.end(&id).await;
        }
    }

    /// Ends idle sessions from time to time. It never returns.
    pub(super) async fn sweep(&self) {
        let mut ticks = interval(SESSION_SWEEP_INTERVAL);
        loop {
            ticks.tick().await;
            self.end_idle(SESSION_IDLE_LIMIT).await;
        }
    }

    async fn end_idle(&self, limit: Duration) {
        self.remove_ended().await;
        let idle: Vec<String> = {
            let table = self.table.lock();
            let is_idle = |session: &Session| session.requests == 0 && session.last_used.elapsed() >= limit;
            table.iter().filter(|(_, session)| is_idle(session)).map(|(id, _)| id.clone()).collect()
        };
        for id in idle {
            self.end(&id).await;
        }
    }

    async fn end(&self, id: &str) {
        self.table.lock().remove(id);
        // The SDK removes the session at once, and then waits until a client reads that it has ended.
        let ended = timeout(SESSION_END_LIMIT, self.manager.close_session(&id.into())).await;
        if !matches!(ended, Ok(Ok(()))) {
            tracing::debug!("a session did not end at once; it ends with its connections");
        }
    }

    /// Removes the sessions that the SDK has ended.
    async fn remove_ended(&self) {
        let running = self.manager.local.sessions.read().await;
        self.table.lock().retain(|id, _| running.contains_key(id.as_str()));
    }
}

impl SessionTable {
    /// The session to end next: of the caller with the most sessions, preferably one without requests, the one unused for longest.
    ///
    /// So a caller that opens many sessions ends its own.
    fn eviction_candidate(&self) -> Option<String> {
        let sessions = self.lock();
        let mut counts: HashMap<&LimitKey, usize> = HashMap::new();
        for session in sessions.values() {
            *counts.entry(&session.limit_key).or_default() += 1;
        }
        let most = counts.values().max().copied()?;
        let of_most = sessions.iter().filter(|(_, session)| counts[&session.limit_key] == most);
        of_most.min_by_key(|(_, session)| (session.requests > 0, session.last_used)).map(|(id, _)| id.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.0.lock().unpoisoned()
    }
}

impl Drop for SessionRequest {
    fn drop(&mut self) {
        if let Some(session) = self.table.lock().get_mut(&self.id) {
            session.requests = session.requests.saturating_sub(1);
            session.last_used = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::caller::Caller;

    fn address(number: u8) -> LimitKey {
        LimitKey::Address([127, 0, 0, number].into())
    }

    fn add(sessions: &Sessions, id: &str, number: u8) {
        let principal = Principal { caller: Caller::Anyone.id(), service: None };
        sessions.add(id, principal, address(number));
    }

    #[tokio::test]
    async fn ended_sessions_leave_the_table() {
        let sessions = Sessions::new();
        for number in 0..2 * MAX_SESSIONS {
            sessions.make_room().await;
            // The SDK knows none of them: they have ended.
            add(&sessions, &number.to_string(), 1);
        }
        assert!(sessions.table.lock().len() <= MAX_SESSIONS);
    }

    #[test]
    fn request_counts_until_it_is_dropped() {
        let sessions = Sessions::new();
        let request = || sessions.start_request("x", address(1));
        let mut requests: Vec<SessionRequest> = (0..MAX_SESSION_REQUESTS / 2).map(|_| request().unwrap()).collect();
        assert!(request().is_none());
        requests.pop();
        assert!(request().is_some());
    }

    #[test]
    fn eviction_prefers_the_caller_with_most_sessions_and_idle_ones() {
        let sessions = Sessions::new();
        add(&sessions, "single", 1);
        for id in ["busy", "used", "idle"] {
            add(&sessions, id, 2);
        }

        let _request = sessions.start_request("busy", address(2));
        sessions.touch("used", &Principal { caller: CallerId::Anyone, service: None });
        for id in ["idle", "used"] {
            assert_eq!(sessions.table.eviction_candidate().as_deref(), Some(id));
            sessions.table.lock().remove(id);
        }

        sessions.table.lock().remove("single");
        assert_eq!(sessions.table.eviction_candidate().as_deref(), Some("busy"));
    }

    #[tokio::test]
    async fn session_without_requests_is_idle() {
        let sessions = Sessions::new();
        let mut transports = Vec::new();
        let mut ids = Vec::new();

        for _ in 0..2 {
            let (id, transport) = sessions.manager.create_session().await.unwrap();
            add(&sessions, &id, 1);
            transports.push(transport);
            ids.push(id);
        }

        let request = sessions.start_request(&ids[0], address(1));
        sessions.end_idle(Duration::ZERO).await;
        let exists = |id| sessions.manager.has_session(id);
        assert!(exists(&ids[0]).await.unwrap() && !exists(&ids[1]).await.unwrap());
        drop(request);
        sessions.end_idle(Duration::from_mins(1)).await;
        assert!(exists(&ids[0]).await.unwrap(), "it was used just now");
        sessions.end_idle(Duration::ZERO).await;

        assert_eq!(sessions.count().await, 0);
    }

    /// A session whose handler never answers stops taking events after some.
    #[tokio::test(start_paused = true)]
    async fn stuck_session_ends_in_bounded_time() {
        let sessions = Sessions::new();
        let (id, _transport) = sessions.manager.create_session().await.unwrap();
        add(&sessions, &id, 1);
        let handle = sessions.manager.local.sessions.read().await.get(&id).cloned().unwrap();
        let open = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
            "capabilities":{},"clientInfo":{"name":"x","version":"0"}}}"#;
        let second = Duration::from_secs(1);
        assert!(timeout(second, handle.initialize(serde_json::from_str(open).unwrap())).await.is_err());
        let ping = || serde_json::from_str(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).unwrap();
        while let Ok(pushed) = timeout(second, handle.push_message(ping(), None)).await {
            pushed.unwrap();
        }
        assert!(timeout(2 * SESSION_END_LIMIT, sessions.end(&id)).await.is_ok());
        assert_eq!(sessions.count().await, 0);
    }
}
