//! Sessions of clients before revision 2026-07-28: how many there are, whose they are, and how long they last.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::SessionConfig;
use tokio::time::{interval, timeout};

use super::caller::Counted;
use super::notifying_sessions::NotifyingSessions;
use super::quota::{self, Shares};
use crate::call::caller::Identity;
use crate::lock::Unpoisoned as _;

/// Sessions of clients that have some, at once; another ends one of the caller with the most.
const MAX_SESSIONS: usize = 1_000;

/// The time after which a session ends in which nothing is asked or answered.
const SESSION_IDLE_LIMIT: Duration = Duration::from_mins(30);

/// The time between two searches for such sessions.
const SESSION_SWEEP_INTERVAL: Duration = Duration::from_mins(1);

/// How long the end of a session may wait for its client.
const SESSION_END_LIMIT: Duration = Duration::from_secs(1);

/// Requests of all sessions that are being answered; of one caller as many as it leaves to others. They go on when their connections are closed, so that
/// [`MAX_CONNECTIONS`] is no bound for them.
const MAX_SESSION_REQUESTS: usize = 4_096;

/// All sessions of a server.
#[derive(Debug)]
pub(super) struct Sessions {
    /// What the SDK keeps of them.
    pub(super) manager: Arc<NotifyingSessions>,
    known: Arc<Known>,
    requests: Arc<Shares>,
}

/// Who may speak in a session: one caller, served by one service.
///
/// A caller whose new token changes under which policy it is served has to open another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) caller: Identity,
    /// Which of the services for certain callers, if one of them.
    pub(super) service: Option<usize>,
}

/// A place among the requests of sessions, which is free again when the last clone is gone. Its session does not end for being idle
/// before that.
#[derive(Clone, Debug)]
#[expect(dead_code, reason = "it is held, not read")]
pub(super) struct Place(Arc<Taken>);

#[derive(Debug)]
struct Taken {
    known: Arc<Known>,
    id: String,
    _request: quota::Taken,
}

#[derive(Debug, Default)]
struct Known(Mutex<HashMap<String, Session>>);

#[derive(Debug)]
struct Session {
    owner: Owner,
    counted: Counted,
    /// Requests that are being answered.
    open: usize,
    /// When something was asked or answered last.
    used: Instant,
}

impl Sessions {
    pub(super) fn new() -> Self {
        let mut config = SessionConfig::default();
        // The SDK would take a session for idle under a long call.
        config.keep_alive = None;
        // What the SDK would keep of cancelled requests for clients that come back for their streams.
        config.completed_cache_ttl = Duration::ZERO;
        let mut manager = NotifyingSessions::default();
        manager.local.session_config = config;
        let requests = Shares::new(MAX_SESSION_REQUESTS);
        Self { manager: Arc::new(manager), known: Arc::default(), requests }
    }

    /// A place for a request of a session, to be held until it is answered; `None` if the caller has too many.
    pub(super) fn place(&self, id: &str, caller: Counted) -> Option<Place> {
        let request = self.requests.one(caller)?;
        if let Some(session) = self.known.lock().get_mut(id) {
            session.open += 1;
        }
        Some(Place(Arc::new(Taken { known: self.known.clone(), id: id.to_owned(), _request: request })))
    }

    /// Notes whose session this is.
    pub(super) fn opened(&self, id: &str, owner: Owner, counted: Counted) {
        let session = Session { owner, counted, open: 0, used: Instant::now() };
        self.known.lock().insert(id.to_owned(), session);
    }

    /// Whether this is a session of `owner`; it counts as used then.
    pub(super) fn admit(&self, id: &str, owner: &Owner) -> bool {
        self.known.lock().get_mut(id).filter(|session| session.owner == *owner).is_some_and(|session| {
            session.used = Instant::now();
            true
        })
    }

    /// How many there are.
    pub(super) async fn count(&self) -> usize {
        self.manager.local.sessions.read().await.len()
    }

    /// Makes room for another session, if need be by ending one.
    pub(super) async fn make_room(&self) {
        if self.known.lock().len() >= MAX_SESSIONS {
            self.forget_ended().await;
        }
        while self.count().await >= MAX_SESSIONS {
            self.forget_ended().await;
            // Those that are just being opened are not known yet, and not ended.
            let Some(id) = self.known.first_to_go() else { return };
            self.end(&id).await;
        }
    }

    /// Ends sessions in which nothing has been asked or answered for long, as long as the server runs.
    pub(super) async fn sweep(&self) {
        let mut ticks = interval(SESSION_SWEEP_INTERVAL);
        loop {
            ticks.tick().await;
            self.end_idle(SESSION_IDLE_LIMIT).await;
        }
    }

    async fn end_idle(&self, limit: Duration) {
        self.forget_ended().await;
        let idle: Vec<String> = {
            let known = self.known.lock();
            let is_idle = |session: &Session| session.open == 0 && session.used.elapsed() >= limit;
            known.iter().filter(|(_, session)| is_idle(session)).map(|(id, _)| id.clone()).collect()
        };
        for id in idle {
            self.end(&id).await;
        }
    }

    async fn end(&self, id: &str) {
        self.known.lock().remove(id);
        // The SDK forgets it at once; telling it to end waits for a client that does not read.
        let ended = timeout(SESSION_END_LIMIT, self.manager.close_session(&id.into())).await;
        if !matches!(ended, Ok(Ok(()))) {
            tracing::debug!("a session did not end at once; it ends with its connections");
        }
    }

    async fn forget_ended(&self) {
        let open = self.manager.local.sessions.read().await;
        self.known.lock().retain(|id, _| open.contains_key(id.as_str()));
    }
}

impl Known {
    /// Of the caller with the most sessions the one that was not used for longest, rather one in which nothing is being answered.
    ///
    /// So whoever opens many ends its own.
    fn first_to_go(&self) -> Option<String> {
        let known = self.lock();
        let mut counts: HashMap<&Counted, usize> = HashMap::new();
        for session in known.values() {
            *counts.entry(&session.counted).or_default() += 1;
        }
        let most = counts.values().max().copied()?;
        let of_most = known.iter().filter(|(_, session)| counts[&session.counted] == most);
        of_most.min_by_key(|(_, session)| (session.open > 0, session.used)).map(|(id, _)| id.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.0.lock().unpoisoned()
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(session) = self.known.lock().get_mut(&self.id) {
            session.open = session.open.saturating_sub(1);
            session.used = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::caller::Caller;

    fn address(number: u8) -> Counted {
        Counted::Address([127, 0, 0, number].into())
    }

    fn opened(sessions: &Sessions, id: &str, number: u8) {
        let owner = Owner { caller: Caller::Anyone.identity(), service: None };
        sessions.opened(id, owner, address(number));
    }

    #[tokio::test]
    async fn sessions_that_have_ended_are_forgotten() {
        let sessions = Sessions::new();
        for number in 0..2 * MAX_SESSIONS {
            sessions.make_room().await;
            // The SDK knows none of them: they have ended.
            opened(&sessions, &number.to_string(), 1);
        }
        assert!(sessions.known.lock().len() <= MAX_SESSIONS);
    }

    #[test]
    fn a_place_is_free_again_when_nobody_holds_it() {
        let sessions = Sessions::new();
        let place = || sessions.place("x", address(1));
        let mut places: Vec<Place> = (0..MAX_SESSION_REQUESTS / 2).map(|_| place().unwrap()).collect();
        let clone = places.pop();
        let other = clone.clone();
        assert!(place().is_none());
        drop(clone);
        assert!(place().is_none());
        drop(other);
        assert!(place().is_some());
    }

    #[test]
    fn whoever_has_most_sessions_loses_one_in_which_nothing_is_answered() {
        let sessions = Sessions::new();
        opened(&sessions, "lonely", 1);
        for id in ["busy", "used", "idle"] {
            opened(&sessions, id, 2);
        }
        let _place = sessions.place("busy", address(2));
        sessions.admit("used", &Owner { caller: Identity::Anyone, service: None });
        for id in ["idle", "used"] {
            assert_eq!(sessions.known.first_to_go().as_deref(), Some(id));
            sessions.known.lock().remove(id);
        }
        sessions.known.lock().remove("lonely");
        assert_eq!(sessions.known.first_to_go().as_deref(), Some("busy"));
    }

    #[tokio::test]
    async fn a_session_is_idle_when_nothing_is_answered_in_it() {
        let sessions = Sessions::new();
        let mut transports = Vec::new();
        let mut ids = Vec::new();
        for _ in 0..2 {
            let (id, transport) = sessions.manager.create_session().await.unwrap();
            opened(&sessions, &id, 1);
            transports.push(transport);
            ids.push(id);
        }
        let place = sessions.place(&ids[0], address(1));
        sessions.end_idle(Duration::ZERO).await;
        let open = |id| sessions.manager.has_session(id);
        assert!(open(&ids[0]).await.unwrap() && !open(&ids[1]).await.unwrap());
        drop(place);
        sessions.end_idle(Duration::from_mins(1)).await;
        assert!(open(&ids[0]).await.unwrap(), "it was used just now");
        sessions.end_idle(Duration::ZERO).await;
        assert_eq!(sessions.count().await, 0);
    }

    /// A session whose handler never answers takes no more events at some time.
    #[tokio::test(start_paused = true)]
    async fn a_session_that_is_stuck_holds_up_nobody() {
        let sessions = Sessions::new();
        let (id, _transport) = sessions.manager.create_session().await.unwrap();
        opened(&sessions, &id, 1);
        let handle = sessions.manager.local.sessions.read().await.get(&id).cloned().unwrap();
        let open = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
            "capabilities":{},"clientInfo":{"name":"x","version":"0"}}}"#;
        let second = Duration::from_secs(1);
        assert!(timeout(second, handle.initialize(serde_json::from_str(open).unwrap())).await.is_err());
        let ping = || serde_json::from_str(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).unwrap();
        while let Ok(taken) = timeout(second, handle.push_message(ping(), None)).await {
            taken.unwrap();
        }
        assert!(timeout(2 * SESSION_END_LIMIT, sessions.end(&id)).await.is_ok());
        assert_eq!(sessions.count().await, 0);
    }
}
