//! Streamable HTTP: accepts connections, and shuts a server down in order.
//!
//! Source: MCP 2026-07-28 and 2025-11-25, basic/transports, "Streamable HTTP".

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hyper::body::{Body as _, Incoming};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rustix::net::sockopt::set_tcp_nodelay;
#[cfg(native_linux)]
use rustix::net::sockopt::set_tcp_user_timeout;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use self::auth::Auth;
use self::body::BodyReader;
use self::caller::CallerPattern;
use self::connections::{ConnectionSlot, Connections};
use self::head::MAX_HEAD_BYTES;
use self::host_check::HostCheck;
use self::line_ends::CheckedLines;
use self::quota::Quota;
use self::rate::{Limiter, Rate};
use self::router::{Router, Service};
use self::sessions::Sessions;
use self::unsent::Unsent;
use crate::mcp::{ReplicaName, Server};
use crate::telemetry::metrics::Metrics;
use crate::transport::SHUTDOWN_LIMIT;

pub mod auth;
mod body;
pub mod caller;
mod challenge;
mod connections;
mod cors;
mod head;
pub mod host_check;
mod line_ends;
mod message;
mod notifying_sessions;
#[cfg(feature = "oauth")]
pub mod oauth;
mod quota;
pub mod rate;
pub mod resource_server;
mod responses;
mod revoke_streams;
mod router;
mod sessions;
pub mod tokens;
mod unsent;

pub(crate) use connections::MAX_CONNECTIONS;

/// How long a client may take to send the head of a request, the first or the next of a connection.
const HEAD_LIMIT: Duration = Duration::from_secs(75);

/// How long sent bytes may stay without an acknowledgement of the client's system.
#[cfg(native_linux)]
const SEND_LIMIT: Duration = Duration::from_mins(1);

/// The time between two warnings that there are too many connections.
const WARNING_INTERVAL: Duration = Duration::from_mins(1);

/// The parts of a server over HTTP.
pub struct Http {
    /// The hosts and origins that requests may name.
    pub host_check: HostCheck,
    /// How callers authenticate.
    pub auth: Arc<Auth>,
    /// The name of this server among its replicas. Responses have it in the header `Climax-Replica`.
    pub replica: Option<ReplicaName>,
    /// The rate limit of each caller.
    pub rate: Option<Rate>,
    /// Servers with a policy of their own. The first whose pattern matches a caller is used.
    pub policy_servers: Vec<(CallerPattern, Server)>,
    /// The server of all other callers; without one they are refused.
    pub server: Option<Server>,
    /// Connections at once.
    pub connections: usize,
    /// The metrics to count in.
    pub metrics: Arc<Metrics>,
    /// Refreshes the gauges of the metrics.
    pub sample: Box<dyn Fn(&Metrics) + Send + Sync>,
}

/// The steps of a shutdown.
#[derive(Clone, Debug)]
pub struct Shutdown {
    /// Cancel this to make `/readyz` fail.
    pub drain: CancellationToken,
    /// How long new calls are accepted then.
    pub drain_delay: Duration,
    /// How long calls may go on after that.
    pub drain_limit: Duration,
    /// Cancel this to end all calls. [`serve`] does so at the end of `drain_limit`.
    pub end_calls: CancellationToken,
}

/// Serves until `shutdown` is cancelled and the calls in flight have ended.
///
/// # Errors
/// The listener failed.
pub async fn serve(listener: TcpListener, http: Http, shutdown: Shutdown) -> io::Result<()> {
    let end_streams = CancellationToken::new();
    let limit = http.connections;
    let router = Arc::new(router(http, &end_streams, shutdown.drain.clone()));
    let refuse = CancellationToken::new();
    let _refreshing = AbortOnDropHandle::new(tokio::spawn(refresh_keys(router.auth.clone())));
    let _sweeping = {
        let sessions = router.sessions.clone();
        AbortOnDropHandle::new(tokio::spawn(async move { sessions.sweep().await }))
    };
    let mut accepting = tokio::spawn(accept(listener, limit, router.clone(), refuse.clone()));
    tokio::select! {
        failed = &mut accepting => return failed.unwrap_or_else(|error| Err(io::Error::other(error))),
        () = shutdown.drain.cancelled() => {}
    }
    tokio::select! {
        () = sleep(shutdown.drain_delay) => {}
        () = shutdown.end_calls.cancelled() => {}
    }
    router.is_draining.store(true, Ordering::Relaxed);
    refuse.cancel();
    router.calls.close();
    tokio::select! {
        () = router.calls.wait() => {}
        () = sleep(shutdown.drain_limit) => tracing::warn!("calls still run after the time to drain; they are ended"),
        () = shutdown.end_calls.cancelled() => {}
    }
    shutdown.end_calls.cancel();
    let _ = timeout(SHUTDOWN_LIMIT, router.calls.wait()).await;
    end_streams.cancel();
    accepting.abort();

    Ok(())
}

async fn refresh_keys(auth: Arc<Auth>) {
    if let Some(server) = auth.resource_server() {
        server.refresh_keys().await;
    }
}

fn router(http: Http, end_streams: &CancellationToken, is_leaving: CancellationToken) -> Router {
    let sessions = Arc::new(Sessions::new());
    let service = |server: Server| -> Service {
        // The router checks hosts and origins before the SDK sees a request.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_cancellation_token(end_streams.clone())
            .with_max_request_body_bytes(usize::MAX);
        let source = server.clone();
        let sdk = StreamableHttpService::new(move || Ok(source.for_another()), sessions.manager.clone(), config);
        Service { server, sdk }
    };
    let services = http.policy_servers.into_iter().map(|(pattern, server)| (pattern, service(server))).collect();
    let service = http.server.map(service);

    Router {
        host_check: http.host_check,
        auth: http.auth,
        // A name is text that headers can hold.
        replica: http.replica.and_then(|name| HeaderValue::from_str(name.as_str()).ok()),
        limiter: Limiter::new(http.rate),
        sessions,
        bodies: BodyReader::default(),
        requests: Quota::new(http.connections),
        unread: Unsent::default(),
        services,
        service,
        metrics: http.metrics,
        sample: http.sample,
        is_leaving,
        is_draining: AtomicBool::new(false),
        calls: TaskTracker::new(),
    }
}

async fn accept(listener: TcpListener, limit: usize, router: Arc<Router>, drain: CancellationToken) -> io::Result<()> {
    let connections = Arc::new(Connections::new(limit));
    let mut warned: Option<Instant> = None;
    loop {
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            // There are no descriptors, or the client has disconnected already. Others may still be served.
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(slot) = connections.add() else {
            // A line for each would fill the disk.
            if warned.is_none_or(|at| at.elapsed() > WARNING_INTERVAL) {
                tracing::warn!(
                    "{limit} connections wait for responses; more are closed at once until one of these has its response"
                );
                warned = Some(Instant::now());
            }
            continue;
        };
        let (router, drain) = (router.clone(), drain.clone());
        tokio::spawn(async move {
            router.metrics.connections.inc();
            serve_connection(stream, address, &router, &slot, drain).await;
            router.metrics.connections.dec();
        });
        // The connection that was evicted for this one is closed now, before the next is accepted.
        tokio::task::yield_now().await;
    }
}

/// Responds to the requests of one connection.
async fn serve_connection(
    stream: TcpStream,
    address: SocketAddr,
    router: &Arc<Router>,
    slot: &Arc<ConnectionSlot>,
    drain: CancellationToken,
) {
    if let Err(error) = configure(&stream) {
        tracing::debug!(%error, "a connection cannot be configured");
        return;
    }

    let address = limited_address(address.ip());
    let service = service_fn(move |request: Request<Incoming>| {
        let is_last = request.body().size_hint().exact().is_none();
        let request = request.map(|body| slot.request_started(body));
        let (router, slot) = (router.clone(), slot.clone());
        async move {
            let mut response = router.respond(request, address).await;
            if is_last {
                close_after(&mut response);
            }
            Ok::<_, std::convert::Infallible>(response.map(|body| slot.response_started(body)))
        }
    });
    let mut connection = std::pin::pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_LIMIT)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(CheckedLines::new(stream)), service)
    );
    let ended = async {
        // A connection that is opened while the server drains is for health probes.
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
        () = slot.evicted() => return,
    };

    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}

/// Ends the connection with this response: where a body of unknown length ends, [`CheckedLines`] does not see.
fn close_after<B>(response: &mut Response<B>) {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
}

/// Sends without delay: otherwise each event of a stream waits for the client's acknowledgement, some 40 ms.
fn configure(stream: &TcpStream) -> io::Result<()> {
    set_tcp_nodelay(stream, true)?;
    #[cfg(native_linux)]
    set_tcp_user_timeout(stream, u32::try_from(SEND_LIMIT.as_millis()).unwrap_or(u32::MAX))?;
    Ok(())
}

/// The address under which limits count the requests of a client.
///
/// An IPv4 address counts as such, also where it comes over an IPv6 socket. An IPv6 address counts as its network, since its owner has
/// all addresses of the network. Source: RFC 4291, section 2.5.1.
fn limited_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_host_share_a_limit() {
        let limited = |text: &str| limited_address(text.parse().unwrap()).to_string();
        assert_eq!(limited("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(limited("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    }
}
