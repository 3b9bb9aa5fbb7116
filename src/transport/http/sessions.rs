//! Sessions of clients before revision 2026-07-28: how many there are, whose they are, and how long they last.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::SessionConfig;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::aside::WithAsides;
use super::caller::Identity;
use crate::limits::{MAX_SESSION_REQUESTS, MAX_SESSIONS};

/// All sessions of a server.
#[derive(Debug)]
pub(super) struct Sessions {
    /// What the SDK keeps of them.
    pub(super) manager: Arc<WithAsides>,
    known: Mutex<HashMap<String, Known>>,
    requests: Arc<Semaphore>,
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

/// A place among the requests of sessions, which is free again when the last clone is gone.
#[derive(Clone, Debug)]
#[expect(dead_code, reason = "it is held, not read")]
pub(super) struct Place(Arc<OwnedSemaphorePermit>);

#[derive(Debug)]
struct Known {
    owner: Owner,
    used: Instant,
}

impl Sessions {
    /// Sessions that end when nothing has been asked or answered in them for `idle`.
    pub(super) fn new(idle: Duration) -> Self {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(idle);
        // What the SDK would keep of cancelled requests for clients that come back for their streams.
        config.completed_cache_ttl = Duration::ZERO;
        let mut manager = WithAsides::default();
        manager.local.session_config = config;
        let requests = Arc::new(Semaphore::new(MAX_SESSION_REQUESTS));
        Self { manager: Arc::new(manager), known: Mutex::default(), requests }
    }

    /// A place for a request of a session, to be held until it is answered; `None` if there are too many.
    pub(super) fn place(&self) -> Option<Place> {
        self.requests.clone().try_acquire_owned().ok().map(|permit| Place(Arc::new(permit)))
    }

    /// Notes whose session this is.
    pub(super) fn opened(&self, id: &str, owner: Owner) {
        self.lock().insert(id.to_owned(), Known { owner, used: Instant::now() });
    }

    /// Whether this is a session of `owner`; it counts as used then.
    pub(super) fn admit(&self, id: &str, owner: &Owner) -> bool {
        self.lock().get_mut(id).filter(|known| known.owner == *owner).is_some_and(|known| {
            known.used = Instant::now();
            true
        })
    }

    /// How many there are.
    pub(super) async fn count(&self) -> usize {
        self.manager.local.sessions.read().await.len()
    }

    /// Makes room for another session, if need be by ending the one that was not used for longest.
    pub(super) async fn make_room(&self) {
        if self.lock().len() >= MAX_SESSIONS {
            self.forget_ended().await;
        }
        while self.count().await >= MAX_SESSIONS {
            self.forget_ended().await;
            let oldest = {
                let known = self.lock();
                known.iter().min_by_key(|(_, known)| known.used).map(|(id, _)| id.clone())
            };
            // Those that are just being opened are not known yet, and not ended.
            let Some(oldest) = oldest else { return };
            self.lock().remove(&oldest);
            if let Err(error) = self.manager.close_session(&oldest.into()).await {
                tracing::warn!(%error, "a session that made room for another did not end well");
            }
        }
    }

    async fn forget_ended(&self) {
        let open = self.manager.local.sessions.read().await;
        self.lock().retain(|id, _| open.contains_key(id.as_str()));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::caller::Caller;
    use super::*;

    #[tokio::test]
    async fn sessions_that_have_ended_are_forgotten() {
        let sessions = Sessions::new(Duration::ZERO);
        let owner = Owner { caller: Caller::Anyone.identity(), service: None };
        for number in 0..2 * MAX_SESSIONS {
            sessions.make_room().await;
            // The SDK knows none of them: they have ended.
            sessions.opened(&number.to_string(), owner.clone());
        }
        assert!(sessions.lock().len() <= MAX_SESSIONS);
    }

    #[test]
    fn a_place_is_free_again_when_nobody_holds_it() {
        let sessions = Sessions::new(Duration::ZERO);
        let mut places: Vec<Place> = (0..MAX_SESSION_REQUESTS).map(|_| sessions.place().unwrap()).collect();
        let clone = places.pop();
        let other = clone.clone();
        assert!(sessions.place().is_none());
        drop(clone);
        assert!(sessions.place().is_none());
        drop(other);
        assert!(sessions.place().is_some());
    }
}
