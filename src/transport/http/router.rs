//! The way of one request: checks of its head and host, authentication, limits, and the service that answers it.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Body, Bytes};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{Method, Request, StatusCode};
use rmcp::transport::streamable_http_server::StreamableHttpService;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::auth::{Auth, AuthError};
use super::body::{BodyReader, ReceivedBody};
use super::caller::{CallerPattern, LimitKey};
use super::challenge::Challenge;
use super::cors;
use super::head;
use super::host_check::{HostCheck, HostError};
use super::message::{MessageKind, PostMessage};
use super::notifying_sessions::NotifyingSessions;
use super::quota::Quota;
use super::rate::Limiter;
use super::responses::{
    HttpResponse, as_json_rpc, hold_until_sent, json, method_not_allowed, plain, resumed_stream, retry_after,
};
use super::revoke_streams::end_on_revocation;
use super::sessions::{Principal, Sessions};
use super::unsent::{Unsent, claim_until_sent};
use crate::call::caller::Caller;
use crate::mcp::Server;
use crate::mcp::decode::Methods;
use crate::telemetry::metrics::Metrics;

/// Longest body of an initialize request, in bytes. Parts of it are stored as long as the session lasts.
const MAX_OPENING_BYTES: usize = 64 << 10;

/// The path of the MCP endpoint.
const MCP_PATH: &str = "/mcp";
/// The header that names a session.
const SESSION_HEADER: &str = "mcp-session-id";
/// The header that names the replica.
const REPLICA_HEADER: &str = "climax-replica";
/// The header with which a client resumes a stream.
const LAST_EVENT_HEADER: &str = "last-event-id";
/// The value of `Retry-After` where no better one is known, in seconds.
const RETRY_S: u64 = 5;

/// Answers the requests of the callers of one policy.
#[derive(Clone)]
pub(super) struct Service {
    pub(super) server: Server,
    pub(super) sdk: StreamableHttpService<Server, NotifyingSessions>,
}

/// Checks requests and hands them to the service that answers them.
pub(super) struct Router {
    pub(super) host_check: HostCheck,
    pub(super) auth: Arc<Auth>,
    /// The value of [`REPLICA_HEADER`].
    pub(super) replica: Option<HeaderValue>,
    pub(super) limiter: Limiter,
    pub(super) sessions: Arc<Sessions>,
    pub(super) bodies: BodyReader,
    /// Requests in flight, one for each connection, so that no caller takes all connections.
    pub(super) requests: Arc<Quota>,
    pub(super) unread: Unsent,
    /// Services with a policy of their own. The first whose pattern matches a caller is used.
    pub(super) services: Vec<(CallerPattern, Service)>,
    /// The service of all other callers; without one they are refused.
    pub(super) service: Option<Service>,
    pub(super) metrics: Arc<Metrics>,
    /// Refreshes the gauges of the metrics.
    pub(super) sample: Box<dyn Fn(&Metrics) + Send + Sync>,
    /// Cancelled when the server is about to end. Until `is_draining` it still takes calls.
    pub(super) is_leaving: CancellationToken,
    pub(super) is_draining: AtomicBool,
    /// POST requests in flight.
    pub(super) calls: TaskTracker,
}

impl Router {
    /// Responds to a request.
    pub(super) async fn respond<B>(&self, request: Request<B>, address: IpAddr) -> HttpResponse
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: fmt::Display,
    {
        let origin = self.host_check.allowed_origin(request.headers()).cloned();
        let mut response = match head::check(&request) {
            Err(error) => plain(error.status(), &error.to_string()),
            // A browser sends this before a request that carries a token.
            Ok(()) if origin.is_some() && request.method() == Method::OPTIONS => self.preflight(&request),
            Ok(()) => match self.route(request, address).await {
                Ok(response) | Err(response) => response,
            },
        };
        if let Some(origin) = origin {
            cors::allow_origin(&mut response, origin);
        }
        if let Some(name) = &self.replica {
            response.headers_mut().insert(REPLICA_HEADER, name.clone());
        }
        if self.is_leaving.is_cancelled() {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }

        self.metrics.count_response(response.status().as_u16());
        response
    }

    async fn route<B>(&self, request: Request<B>, address: IpAddr) -> Result<HttpResponse, HttpResponse>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: fmt::Display,
    {
        let path = request.uri().path().to_owned();
        match (request.method(), path.as_str()) {
            (&Method::GET | &Method::HEAD, "/healthz") => return Ok(plain(StatusCode::OK, "ok")),
            (&Method::GET | &Method::HEAD, "/readyz") => return Ok(self.readiness()),
            (_, MCP_PATH | "/metrics") => {}
            (&Method::GET | &Method::HEAD, path) if self.resource_metadata(path).is_some() => {}
            (_, "/healthz" | "/readyz") => return Err(method_not_allowed()),
            _ => return Err(plain(StatusCode::NOT_FOUND, "Not found: the server speaks MCP at /mcp")),
        }

        self.check_host(&request).map_err(|error| forbidden(&error))?;
        if let Some(metadata) = self.resource_metadata(&path) {
            return Ok(json(StatusCode::OK, metadata.to_owned()));
        }

        let caller =
            self.auth.authenticate(request.headers()).await.map_err(|error| self.unauthorized(&error, address))?;
        self.service(&caller).ok_or_else(not_covered)?;

        match (request.method(), path.as_str()) {
            // Metrics name tools that a policy may hide from this caller.
            (&Method::GET | &Method::HEAD, "/metrics") if self.service_index(&caller).is_some() => {
                Err(plain(StatusCode::FORBIDDEN, "Forbidden: metrics are for callers without a policy of their own"))
            }
            (&Method::GET | &Method::HEAD, "/metrics") => Ok(self.metrics().await),
            (_, MCP_PATH) => self.mcp(request, caller, address).await,
            _ => Err(method_not_allowed()),
        }
    }

    fn check_host<B>(&self, request: &Request<B>) -> Result<(), HostError> {
        self.host_check.check(request.headers(), request.uri().authority().map(Authority::as_str))
    }

    fn preflight<B>(&self, request: &Request<B>) -> HttpResponse {
        match self.check_host(request) {
            Ok(()) => cors::preflight_response(request.headers()),
            Err(error) => forbidden(&error),
        }
    }

    fn readiness(&self) -> HttpResponse {
        if self.is_leaving.is_cancelled() {
            plain(StatusCode::SERVICE_UNAVAILABLE, "draining")
        } else if !self.auth.is_ready() {
            plain(StatusCode::SERVICE_UNAVAILABLE, "waiting for the keys of the authorization server")
        } else {
            plain(StatusCode::OK, "ok")
        }
    }

    async fn metrics(&self) -> HttpResponse {
        (self.sample)(&self.metrics);
        self.metrics.sessions.set(i64::try_from(self.sessions.count().await).unwrap_or(i64::MAX));
        let mut response = plain(StatusCode::OK, &self.metrics.text());
        let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    }

    /// The OAuth metadata at this path.
    fn resource_metadata(&self, path: &str) -> Option<&str> {
        self.auth.resource_server().and_then(|server| server.metadata(path))
    }

    fn unauthorized(&self, error: &AuthError, address: IpAddr) -> HttpResponse {
        if error.is_guess()
            && let Err(wait) = self.limiter.wrong_token(address)
        {
            return retry_after(StatusCode::TOO_MANY_REQUESTS, "Too many wrong tokens", wait);
        }
        let Challenge { status, text, www_authenticate } = Challenge::new(error, self.auth.resource_server());
        let Some(header) = www_authenticate.and_then(|header| HeaderValue::try_from(header).ok()) else {
            return retry_after(status, &text, Duration::from_secs(RETRY_S));
        };
        let mut response = plain(status, &text);
        response.headers_mut().insert(WWW_AUTHENTICATE, header);

        response
    }

    /// Responds to an authenticated request to the MCP endpoint.
    async fn mcp<B>(&self, request: Request<B>, caller: Caller, address: IpAddr) -> Result<HttpResponse, HttpResponse>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: fmt::Display,
    {
        self.limiter.request(&caller, address).map_err(|wait| {
            retry_after(StatusCode::TOO_MANY_REQUESTS, "Too many requests: the server limits them (--rate)", wait)
        })?;
        // MCP 2025-11-25, basic/transports, "Session Management": 404 if a session does not exist.
        if session_id(request.headers()).is_some_and(|id| !self.sessions.touch(id, &self.principal(&caller))) {
            return Err(plain(StatusCode::NOT_FOUND, "Not found: no such session; initialize a new one"));
        }

        let key = LimitKey::of(&caller, address);
        if request.method() != Method::POST {
            return self.stream_or_delete(request, caller, key).await;
        }

        if self.is_draining() {
            let text = "The server is about to end and takes no more requests";
            return Err(retry_after(StatusCode::SERVICE_UNAVAILABLE, text, Duration::from_secs(RETRY_S)));
        }

        self.post(request, caller, key).await
    }

    /// Opens or resumes a stream (GET), or ends a session (DELETE).
    async fn stream_or_delete<B>(
        &self,
        request: Request<B>,
        caller: Caller,
        key: LimitKey,
    ) -> Result<HttpResponse, HttpResponse>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: fmt::Display,
    {
        let permit = self.requests.permit(key).ok_or_else(too_many_requests)?;
        let (method, headers) = (request.method().clone(), request.headers().clone());
        let mut response = self.service(&caller).ok_or_else(not_covered)?.sdk.handle(request).await;
        if headers.contains_key(LAST_EVENT_HEADER) {
            response = resumed_stream(response);
        }

        // The SDK responds that it accepts to end the session, which has ended. Clients such as the Python SDK warn of other statuses
        // than 200 and 204.
        if method == Method::DELETE && response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }

        Ok(hold_until_sent(end_on_revocation(response, &self.auth, caller, headers), permit))
    }

    /// Responds to a POST request, which carries one JSON-RPC message.
    async fn post<B>(&self, request: Request<B>, caller: Caller, key: LimitKey) -> Result<HttpResponse, HttpResponse>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: fmt::Display,
    {
        let call = self.calls.token();
        let (mut parts, body) = request.into_parts();
        let body = self.read_body(body, key.clone()).await?;
        let permit = self.requests.permit(key.clone()).ok_or_else(too_many_requests)?;
        let claim = self.unread.claim(key.clone());
        parts.extensions.insert(claim.clone());
        let in_session = session_id(&parts.headers).is_some();
        let mut message =
            PostMessage::read(&body.bytes, in_session, self.methods(&caller)).map_err(|response| *response)?;
        self.reserve_session(&message, body.bytes.len(), &mut parts, &key).await?;
        let request = sdk_request(parts, body, &mut message, &caller);
        let response = self.dispatch(request, message.kind, caller, key).await?;
        let response = as_json_rpc(response, message.id).await;

        Ok(claim_until_sent(hold_until_sent(response, (call, permit)), claim))
    }

    async fn read_body<B>(&self, body: B, key: LimitKey) -> Result<ReceivedBody, HttpResponse>
    where
        B: Body<Data = Bytes>,
        B::Error: fmt::Display,
    {
        self.bodies.read(body, key).await.map_err(|error| plain(error.status(), &error.to_string()))
    }

    /// Makes room for the session that a message opens, or counts the request of a session.
    async fn reserve_session(
        &self,
        message: &PostMessage,
        body_bytes: usize,
        parts: &mut Parts,
        key: &LimitKey,
    ) -> Result<(), HttpResponse> {
        if message.kind == MessageKind::Initialize {
            if body_bytes > MAX_OPENING_BYTES {
                let text = format!("An initialize request has {} KiB at most", MAX_OPENING_BYTES >> 10);
                return Err(plain(StatusCode::PAYLOAD_TOO_LARGE, &text));
            }
            self.sessions.make_room().await;
        } else if message.id.is_some()
            && let Some(id) = session_id(&parts.headers)
        {
            let request = self.sessions.start_request(id, key.clone()).ok_or_else(too_many_requests)?;
            parts.extensions.insert(Arc::new(request));
        }
        Ok(())
    }

    /// Hands a message to the service of its caller.
    async fn dispatch(
        &self,
        request: Request<Full<Bytes>>,
        kind: MessageKind,
        caller: Caller,
        key: LimitKey,
    ) -> Result<HttpResponse, HttpResponse> {
        let service = self.service(&caller).ok_or_else(not_covered)?;
        Ok(match kind {
            MessageKind::Initialize => self.open_session(service.clone(), request, &caller, key).await,
            MessageKind::Listen => {
                let headers = request.headers().clone();
                let response = service.sdk.handle(request).await;
                end_on_revocation(response, &self.auth, caller, headers)
            }
            MessageKind::Other => service.sdk.handle(request).await,
        })
    }

    /// Opens a session, in a task of its own: if the client disconnects meanwhile, a session outside the table would never end.
    async fn open_session(
        &self,
        service: Service,
        request: Request<Full<Bytes>>,
        caller: &Caller,
        key: LimitKey,
    ) -> HttpResponse {
        let sessions = self.sessions.clone();
        let principal = self.principal(caller);
        let opening = tokio::spawn(async move {
            let response = service.sdk.handle(request).await;
            if let Some(id) = response.headers().get(SESSION_HEADER).and_then(|id| id.to_str().ok()) {
                sessions.add(id, principal, key);
            }
            response
        });
        opening.await.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "The session could not be opened"))
    }

    fn principal(&self, caller: &Caller) -> Principal {
        Principal { caller: caller.id(), service: self.service_index(caller) }
    }

    /// The methods that a caller can use.
    fn methods(&self, caller: &Caller) -> Methods {
        self.service(caller).map_or(Methods::Base, |service| service.server.methods())
    }

    /// The service of a caller; `None` if no policy covers it.
    fn service(&self, caller: &Caller) -> Option<&Service> {
        self.service_index(caller).map_or(self.service.as_ref(), |at| Some(&self.services[at].1))
    }

    fn service_index(&self, caller: &Caller) -> Option<usize> {
        self.services.iter().position(|(pattern, _)| pattern.matches(caller))
    }

    fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }
}

/// The session that a request names; empty if its name is not ASCII, which no session has.
fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_HEADER).map(|id| id.to_str().unwrap_or_default())
}

/// The request that the SDK reads. Its extensions live until it is answered, even after its connection has closed.
fn sdk_request(
    mut parts: Parts,
    body: ReceivedBody,
    message: &mut PostMessage,
    caller: &Caller,
) -> Request<Full<Bytes>> {
    parts.extensions.insert(Arc::new(body.memory));
    parts.extensions.insert(caller.clone());
    Request::from_parts(parts, Full::new(message.text(body.bytes)))
}

fn forbidden(error: &HostError) -> HttpResponse {
    plain(StatusCode::FORBIDDEN, &format!("Forbidden: {error}"))
}

/// The response to a caller without a policy, where others have one.
fn not_covered() -> HttpResponse {
    let text = "Forbidden: no policy of this server covers this caller; its administrator can name one with --policy-for \
                or, for all other callers, --policy";
    plain(StatusCode::FORBIDDEN, text)
}

fn too_many_requests() -> HttpResponse {
    retry_after(StatusCode::SERVICE_UNAVAILABLE, "Too many of your requests are open", Duration::from_secs(1))
}
