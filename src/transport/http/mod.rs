//! Streamable HTTP: connections, and the order in which a server ends.
//!
//! Source: MCP 2026-07-28 and 2025-11-25, basic/transports, "Streamable HTTP".

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rustix::net::sockopt::{set_tcp_nodelay, set_tcp_user_timeout};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use self::auth::Access;
use self::body::Bodies;
use self::caller::Who;
use self::connections::{Connections, Place};
use self::host_check::HostCheck;
use self::quota::Shares;
use self::rate::{Limiter, Rate};
use self::router::{Router, Service};
use self::sessions::Sessions;
use crate::mcp::Server;
use crate::telemetry::metrics::Metrics;
use crate::transport::SHUTDOWN_LIMIT;
use crate::transport::http::head::MAX_HEAD_BYTES;

mod answers;
pub mod auth;
mod body;
pub mod caller;
mod challenge;
mod connections;
mod cors;
mod head;
pub mod host_check;
mod message;
mod notifying_sessions;
#[cfg(feature = "oauth")]
pub mod oauth;
#[cfg(not(feature = "oauth"))]
#[path = "no_oauth.rs"]
pub mod oauth;
mod quota;
pub mod rate;
mod revoke_streams;
mod router;
mod sessions;
pub mod tokens;

pub(crate) use connections::MAX_CONNECTIONS;

/// How long a client may take to send the head of a request, the first or the next of a connection.
const HEAD_LIMIT: Duration = Duration::from_secs(75);

/// How long what was sent may stay without an answer of the client's system.
const SEND_LIMIT: Duration = Duration::from_mins(1);

/// The time between two warnings that there are too many connections.
const WARNING_INTERVAL: Duration = Duration::from_mins(1);

/// What is served over HTTP, and to whom.
pub struct Http {
    /// Names and web pages that are let in.
    pub gate: HostCheck,
    /// Who gets in.
    pub access: Arc<Access>,
    /// How often callers may ask.
    pub rate: Option<Rate>,
    /// Callers that are served otherwise than the rest; the first that covers a caller counts.
    pub servers: Vec<(Who, Server)>,
    /// What everybody else is served.
    pub server: Server,
    /// Connections at once.
    pub connections: usize,
    /// Where everything is counted.
    pub metrics: Arc<Metrics>,
    /// Refreshes the gauges of the metrics.
    pub sample: Box<dyn Fn(&Metrics) + Send + Sync>,
}

/// When a server ends.
#[derive(Clone, Debug)]
pub struct Ending {
    /// Cancelled when no more calls are to be taken.
    pub drain: CancellationToken,
    /// How long calls may go on then.
    pub drain_limit: Duration,
    /// Cancelled when calls are to be given up; by [`serve`] itself when their time is over.
    pub shutdown: CancellationToken,
}

/// Serves until `ending` says so and the calls that ran have ended.
///
/// # Errors
/// The listener failed.
pub async fn serve(listener: TcpListener, http: Http, ending: Ending) -> io::Result<()> {
    let closing = CancellationToken::new();
    let room = http.connections;
    let front = Arc::new(front(http, &closing));
    let _keeping = AbortOnDropHandle::new(tokio::spawn(keep(front.access.clone())));
    let _sweeping = {
        let sessions = front.sessions.clone();
        AbortOnDropHandle::new(tokio::spawn(async move { sessions.sweep().await }))
    };
    let mut accepting = tokio::spawn(accept(listener, room, front.clone(), ending.drain.clone()));
    tokio::select! {
        failed = &mut accepting => return failed.unwrap_or_else(|error| Err(io::Error::other(error))),
        () = ending.drain.cancelled() => {}
    }
    front.is_draining.store(true, Ordering::Relaxed);
    front.calls.close();
    tokio::select! {
        () = front.calls.wait() => {}
        () = sleep(ending.drain_limit) => tracing::warn!("calls still run after the time to drain; they are ended"),
        () = ending.shutdown.cancelled() => {}
    }
    ending.shutdown.cancel();
    let _ = timeout(SHUTDOWN_LIMIT, front.calls.wait()).await;
    closing.cancel();
    accepting.abort();
    Ok(())
}

/// Keeps what tells who gets in fresh, as long as there is such a thing.
async fn keep(access: Arc<Access>) {
    if let Some(server) = access.resource_server() {
        server.keep().await;
    }
}

fn front(http: Http, closing: &CancellationToken) -> Router {
    let sessions = Arc::new(Sessions::new());
    let service = |server: Server| -> Service {
        // Hosts and origins have been checked before the SDK sees a request.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_cancellation_token(closing.clone())
            .with_max_request_body_bytes(usize::MAX);
        StreamableHttpService::new(move || Ok(server.for_another()), sessions.manager.clone(), config)
    };
    let services = http.servers.into_iter().map(|(who, server)| (who, service(server))).collect();
    let service = service(http.server);
    Router {
        gate: http.gate,
        access: http.access,
        limiter: Limiter::new(http.rate),
        sessions,
        bodies: Bodies::default(),
        requests: Shares::new(http.connections),
        services,
        service,
        metrics: http.metrics,
        sample: http.sample,
        is_draining: AtomicBool::new(false),
        calls: TaskTracker::new(),
    }
}

async fn accept(listener: TcpListener, most: usize, front: Arc<Router>, drain: CancellationToken) -> io::Result<()> {
    let connections = Arc::new(Connections::new(most));
    let mut warned: Option<Instant> = None;
    loop {
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            // Out of descriptors, or the client has gone already: others may still be served.
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(place) = connections.place() else {
            // A line for each would fill the disk.
            if warned.is_none_or(|at| at.elapsed() > WARNING_INTERVAL) {
                tracing::warn!(
                    "{most} connections wait for answers; more are closed at once until one of these has its answer"
                );
                warned = Some(Instant::now());
            }
            continue;
        };
        let (front, drain) = (front.clone(), drain.clone());
        tokio::spawn(async move {
            front.metrics.connections.inc();
            converse(stream, address, &front, &place, drain).await;
            front.metrics.connections.dec();
        });
        // One that made room for this is closed now, before there is another.
        tokio::task::yield_now().await;
    }
}

/// Answers the requests of one connection.
async fn converse(
    stream: TcpStream,
    address: SocketAddr,
    front: &Arc<Router>,
    place: &Place,
    drain: CancellationToken,
) {
    if let Err(error) = prepare(&stream) {
        tracing::debug!(%error, "a connection cannot be set up");
        return;
    }
    let address = counted(address.ip());
    let service = service_fn(move |request: Request<Incoming>| {
        let request = request.map(|body| place.asked(body));
        let (front, place) = (front.clone(), place.clone());
        async move {
            let answer = front.answer(request, address).await;
            Ok::<_, std::convert::Infallible>(answer.map(|body| place.until_sent(body)))
        }
    });
    let mut connection = std::pin::pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_LIMIT)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service)
    );
    let ended = async {
        // A connection that is opened while the server drains is for its probes.
        if drain.is_cancelled() {
            return connection.await;
        }
        tokio::select! {
            ended = connection.as_mut() => ended,
            () = drain.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        }
    };
    let ended = tokio::select! {
        ended = ended => ended,
        () = place.lost() => return,
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}

/// Without delay: each event of a stream would wait for the client's acknowledgement, some 40 ms.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    set_tcp_nodelay(stream, true)?;
    set_tcp_user_timeout(stream, u32::try_from(SEND_LIMIT.as_millis()).unwrap_or(u32::MAX))?;
    Ok(())
}

/// What the requests of an address are counted by: an IPv4 address as such, also where it comes over an IPv6 socket, and the network
/// of an IPv6 address, since whoever has one address has all of its network. Source: RFC 4291, section 2.5.1.
fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_host_are_counted_as_one() {
        let counted = |text: &str| counted(text.parse().unwrap()).to_string();
        assert_eq!(counted("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(counted("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    }
}
