//! The connections of a server: their number, and which of them is closed to make room for another.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
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
    limit: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    last_number: u64,
    connections: HashMap<u64, ConnectionState>,
}

#[derive(Debug)]
struct ConnectionState {
    /// The time since which the connection has no request in flight, or one whose body is incomplete.
    idle_since: Option<Instant>,
    evicted: CancellationToken,
}

/// A connection in the table. Dropping it removes the connection.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    connections: Arc<Connections>,
    number: u64,
    evicted: CancellationToken,
}

/// The body of a request. The connection stays idle until the body is complete, so that slow clients can be evicted.
pub(super) struct RequestBody<B> {
    body: B,
    slot: Arc<ConnectionSlot>,
}

/// The body of a response. The connection is idle again when it is dropped.
pub(super) struct ResponseBody {
    body: BoxBody<Bytes, Infallible>,
    slot: Arc<ConnectionSlot>,
}

impl Connections {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, table: Mutex::default() }
    }

    /// Adds a connection. If there is no room, it evicts the one that is idle for longest; `None` if all are busy.
    pub(super) fn add(self: &Arc<Self>) -> Option<Arc<ConnectionSlot>> {
        let mut table = self.table.lock().unpoisoned();
        if table.connections.len() >= self.limit {
            let idle =
                table.connections.iter().filter_map(|(number, connection)| Some((connection.idle_since?, *number)));
            let (_, longest) = idle.min()?;
            table.connections.remove(&longest)?.evicted.cancel();
        }

        table.last_number += 1;
        let (number, evicted) = (table.last_number, CancellationToken::new());
        table
            .connections
            .insert(number, ConnectionState { idle_since: Some(Instant::now()), evicted: evicted.clone() });

        Some(Arc::new(ConnectionSlot { connections: self.clone(), number, evicted }))
    }
}

impl ConnectionSlot {
    /// Waits until the connection is evicted.
    pub(super) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }

    /// Notes that a request started. The connection is busy once the body is complete.
    pub(super) fn request_started<B: Body>(self: &Arc<Self>, body: B) -> RequestBody<B> {
        self.set_idle_since((!body.is_end_stream()).then(Instant::now));
        RequestBody { body, slot: self.clone() }
    }

    /// Notes that a response started. The connection is idle once it is sent.
    pub(super) fn response_started(self: Arc<Self>, body: BoxBody<Bytes, Infallible>) -> ResponseBody {
        ResponseBody { body, slot: self }
    }

    fn set_idle_since(&self, idle_since: Option<Instant>) {
        if let Some(connection) = self.connections.table.lock().unpoisoned().connections.get_mut(&self.number) {
            connection.idle_since = idle_since;
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.table.lock().unpoisoned().connections.remove(&self.number);
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        self.slot.set_idle_since(Some(Instant::now()));
    }
}

impl<B: Body + Unpin> Body for RequestBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) {
            self.slot.set_idle_since(None);
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

impl Body for ResponseBody {
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
    fn longest_idle_connection_is_evicted() {
        let all = Arc::new(Connections::new(2));
        let [busy, idle] = [(); 2].map(|()| all.add().unwrap());
        let nothing = || Full::<Bytes>::default();
        busy.request_started(nothing());
        let newcomer = all.add().unwrap();
        assert!(idle.evicted.is_cancelled() && !busy.evicted.is_cancelled());
        newcomer.request_started(nothing());
        drop(idle);
        assert!(all.add().is_none(), "both are busy");
        drop(newcomer);
        assert!(all.add().is_some());
    }

    #[tokio::test]
    async fn connection_with_incomplete_request_is_evicted() {
        let all = Arc::new(Connections::new(1));
        let slow = all.add().unwrap();
        let body = slow.request_started(Full::new(Bytes::from("x")));
        assert!(all.add().is_some());
        let next = all.add().unwrap();
        assert!(slow.evicted.is_cancelled());
        drop(body);
        next.request_started(Full::new(Bytes::from("x"))).collect().await.unwrap();
        assert!(all.add().is_none(), "its request is complete");
    }
}
