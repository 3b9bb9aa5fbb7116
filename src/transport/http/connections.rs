//! The connections of a server: how many there are, and which of them makes room for another.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Instant;

use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio_util::sync::CancellationToken;

use crate::lock::Unpoisoned as _;

/// Connections at once over HTTP, if the system gives enough descriptors.
pub(crate) const MAX_CONNECTIONS: usize = 4_096;

/// All connections of a server.
#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    opened: u64,
    connections: HashMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    /// Since when no request of it is being answered, or one is arriving.
    idle: Option<Instant>,
    evicted: CancellationToken,
}

/// A connection among the others, until it is dropped.
#[derive(Clone, Debug)]
pub(super) struct Place(Arc<Taken>);

#[derive(Debug)]
struct Taken {
    all: Arc<Connections>,
    number: u64,
    evicted: CancellationToken,
}

/// The body of a request. Its connection is busy when it has come: whoever is slow to ask makes room for others.
pub(super) struct Arriving<B> {
    body: B,
    place: Place,
}

/// The body of an answer. Its connection is idle again when it is dropped.
pub(super) struct Busy {
    body: BoxBody<Bytes, Infallible>,
    place: Place,
}

impl Connections {
    pub(super) fn new(most: usize) -> Self {
        Self { most, open: Mutex::default() }
    }

    /// A place for a new connection, if need be that of the one that was idle for longest; `None` if all are busy.
    pub(super) fn place(self: &Arc<Self>) -> Option<Place> {
        let mut open = self.lock();
        if open.connections.len() >= self.most {
            let idle = open.connections.iter().filter_map(|(number, connection)| Some((connection.idle?, *number)));
            let (_, longest) = idle.min()?;
            open.connections.remove(&longest)?.evicted.cancel();
        }
        open.opened += 1;
        let (number, evicted) = (open.opened, CancellationToken::new());
        open.connections.insert(number, Connection { idle: Some(Instant::now()), evicted: evicted.clone() });
        Some(Place(Arc::new(Taken { all: self.clone(), number, evicted })))
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unpoisoned()
    }
}

impl Place {
    /// Waits until another connection has this place.
    pub(super) async fn lost(&self) {
        self.0.evicted.cancelled().await;
    }

    /// Notes that the head of a request came, and that the connection is busy once its body has come.
    pub(super) fn asked<B: Body>(&self, body: B) -> Arriving<B> {
        self.set_idle((!body.is_end_stream()).then(Instant::now));
        Arriving { body, place: self.clone() }
    }

    /// Notes that the connection is idle once this answer is sent.
    pub(super) fn until_sent(&self, body: BoxBody<Bytes, Infallible>) -> Busy {
        Busy { body, place: self.clone() }
    }

    fn set_idle(&self, idle: Option<Instant>) {
        if let Some(connection) = self.0.all.lock().connections.get_mut(&self.0.number) {
            connection.idle = idle;
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.all.lock().connections.remove(&self.number);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.place.set_idle(Some(Instant::now()));
    }
}

impl<B: Body + Unpin> Body for Arriving<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) {
            self.place.set_idle(None);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Body for Busy {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt as _, Full};

    use super::*;

    #[test]
    fn the_connection_that_was_idle_for_longest_makes_room() {
        let all = Arc::new(Connections::new(2));
        let [busy, idle] = [(); 2].map(|()| all.place().unwrap());
        let nothing = || Full::<Bytes>::default();
        busy.asked(nothing());
        let newcomer = all.place().unwrap();
        assert!(idle.0.evicted.is_cancelled() && !busy.0.evicted.is_cancelled());
        newcomer.asked(nothing());
        drop(idle);
        assert!(all.place().is_none(), "both are busy");
        drop(newcomer);
        assert!(all.place().is_some());
    }

    #[tokio::test]
    async fn a_connection_whose_request_is_arriving_makes_room() {
        let all = Arc::new(Connections::new(1));
        let slow = all.place().unwrap();
        let whole = slow.asked(Full::new(Bytes::from("x")));
        assert!(all.place().is_some());
        let next = all.place().unwrap();
        assert!(slow.0.evicted.is_cancelled());
        drop(whole);
        next.asked(Full::new(Bytes::from("x"))).collect().await.unwrap();
        assert!(all.place().is_none(), "it has come");
    }
}
