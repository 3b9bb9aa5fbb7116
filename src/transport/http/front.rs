//! One request: who may make it, what it asks for, and who answers it.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Bytes};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::http::uri::Authority;
use hyper::{Method, Request, Response, StatusCode};
use rmcp::model::{ClientRequest, ErrorCode, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::StreamableHttpService;
use tokio_util::task::TaskTracker;

use super::access::{Access, Refused};
use super::aside::WithAsides;
use super::body::Bodies;
use super::caller::{Caller, Who};
use super::challenge::Refusal;
use super::gate::Gate;
use super::rate::Limiter;
use super::sessions::{Owner, Sessions};
use crate::limits::MAX_OPENING_BYTES;
use crate::mcp::Server;
use crate::mcp::decode::{Decoded, decode};
use crate::metrics::Metrics;

/// Where the protocol is spoken.
const MCP_PATH: &str = "/mcp";
/// The header that names a session.
const SESSION_HEADER: &str = "mcp-session-id";
/// What a client that has to come back is told to wait, in seconds.
const RETRY_S: u64 = 5;

pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;
pub(super) type Service = StreamableHttpService<Server, WithAsides>;

/// Everything that requests are answered with.
pub(super) struct Front {
    pub(super) gate: Gate,
    pub(super) access: Arc<Access>,
    pub(super) limiter: Limiter,
    pub(super) sessions: Sessions,
    pub(super) bodies: Bodies,
    /// Who is served by which; the first that covers a caller counts.
    pub(super) services: Vec<(Who, Service)>,
    /// Serves everybody else.
    pub(super) service: Service,
    pub(super) metrics: Arc<Metrics>,
    /// Refreshes the gauges of the metrics.
    pub(super) sample: Box<dyn Fn(&Metrics) + Send + Sync>,
    pub(super) is_draining: AtomicBool,
    /// Requests that are being answered.
    pub(super) calls: TaskTracker,
}

impl Front {
    /// Answers a request.
    pub(super) async fn answer<B>(&self, request: Request<B>, address: IpAddr) -> Answer
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::fmt::Display,
    {
        let mut answer = match self.routed(request, address).await {
            Ok(answer) | Err(answer) => answer,
        };
        if self.is_draining() {
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        self.metrics.answered(answer.status().as_u16());
        answer
    }

    async fn routed<B>(&self, request: Request<B>, address: IpAddr) -> Result<Answer, Answer>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::fmt::Display,
    {
        let path = request.uri().path().to_owned();
        match (request.method(), path.as_str()) {
            (&Method::GET | &Method::HEAD, "/healthz") => return Ok(plain(StatusCode::OK, "ok")),
            (&Method::GET | &Method::HEAD, "/readyz") => return Ok(self.readiness()),
            (_, MCP_PATH | "/metrics") => {}
            (&Method::GET | &Method::HEAD, path) if self.metadata(path).is_some() => {}
            _ => return Err(plain(StatusCode::NOT_FOUND, "Not found: the server speaks MCP at /mcp")),
        }
        self.gate
            .check(request.headers(), request.uri().authority().map(Authority::as_str))
            .map_err(|refusal| plain(StatusCode::FORBIDDEN, &format!("Forbidden: {refusal}")))?;
        if let Some(metadata) = self.metadata(&path) {
            return Ok(json(StatusCode::OK, metadata.to_owned()));
        }
        let caller = self.access.identify(request.headers()).await.map_err(|why| self.refused(&why, address))?;
        match (request.method(), path.as_str()) {
            // They name tools that a policy may hide from this caller.
            (&Method::GET, "/metrics") if self.own_service(&caller).is_some() => {
                Err(plain(StatusCode::FORBIDDEN, "Forbidden: metrics are for callers without a policy of their own"))
            }
            (&Method::GET, "/metrics") => Ok(self.metrics().await),
            (_, MCP_PATH) => self.mcp(request, caller, address).await,
            _ => Err(plain(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed")),
        }
    }

    fn readiness(&self) -> Answer {
        if self.is_draining() {
            plain(StatusCode::SERVICE_UNAVAILABLE, "draining")
        } else if !self.access.is_ready() {
            plain(StatusCode::SERVICE_UNAVAILABLE, "waiting for the keys of the authorization server")
        } else {
            plain(StatusCode::OK, "ok")
        }
    }

    async fn metrics(&self) -> Answer {
        (self.sample)(&self.metrics);
        self.metrics.sessions.set(i64::try_from(self.sessions.count().await).unwrap_or(i64::MAX));
        let mut answer = plain(StatusCode::OK, &self.metrics.text());
        let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
        answer.headers_mut().insert(CONTENT_TYPE, kind);
        answer
    }

    /// What clients are told of the resource at this path.
    fn metadata(&self, path: &str) -> Option<&str> {
        self.access.resource_server().and_then(|server| server.metadata(path))
    }

    fn refused(&self, why: &Refused, address: IpAddr) -> Answer {
        if why.is_guess()
            && let Err(wait) = self.limiter.wrong_token(address)
        {
            return later(StatusCode::TOO_MANY_REQUESTS, "Too many wrong tokens", wait);
        }
        let Refusal { status, text, challenge } = Refusal::new(why, self.access.resource_server());
        let Some(challenge) = challenge.and_then(|challenge| HeaderValue::try_from(challenge).ok()) else {
            return later(status, &text, Duration::from_secs(RETRY_S));
        };
        let mut answer = plain(status, &text);
        answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        answer
    }

    async fn mcp<B>(&self, request: Request<B>, caller: Caller, address: IpAddr) -> Result<Answer, Answer>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::fmt::Display,
    {
        self.limiter.request(&caller, address).map_err(|wait| {
            later(StatusCode::TOO_MANY_REQUESTS, "Too many requests: the server limits them (--rate)", wait)
        })?;
        let session = request.headers().get(SESSION_HEADER).map(|id| id.to_str().unwrap_or_default().to_owned());
        // MCP 2025-11-25, basic/transports, "Session Management": a session that is not there is a 404.
        if session.is_some_and(|id| !self.sessions.admit(&id, &self.owner(&caller))) {
            return Err(plain(StatusCode::NOT_FOUND, "Not found: no such session; initialize a new one"));
        }
        if request.method() != Method::POST {
            let ends_session = request.method() == Method::DELETE;
            let mut answer = self.service(&caller).handle(request).await;
            // The SDK says that it will end; it has ended, and clients such as the Python SDK warn of what is not 200 or 204.
            if ends_session && answer.status() == StatusCode::ACCEPTED {
                *answer.status_mut() = StatusCode::NO_CONTENT;
            }
            return Ok(answer);
        }
        if self.is_draining() {
            let wait = Duration::from_secs(RETRY_S);
            return Err(later(
                StatusCode::SERVICE_UNAVAILABLE,
                "The server is about to end and takes no more requests",
                wait,
            ));
        }
        self.post(request, caller).await
    }

    async fn post<B>(&self, request: Request<B>, caller: Caller) -> Result<Answer, Answer>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::fmt::Display,
    {
        let answering = self.calls.token();
        let (mut parts, body) = request.into_parts();
        let body = self.bodies.read(body).await.map_err(|error| plain(error.status(), &error.to_string()))?;
        let (is_request, opens_session) = match decode(body.bytes()) {
            Decoded::Error(error) => {
                let text = serde_json::to_string(&error).unwrap_or_default();
                return Err(json(status_of(&error), text));
            }
            // A malformed notification is let go; there is nothing to answer.
            Decoded::Empty => return Ok(plain(StatusCode::ACCEPTED, "")),
            Decoded::Message(message) => match *message {
                JsonRpcMessage::Request(request) => {
                    (true, matches!(request.request, ClientRequest::InitializeRequest(_)))
                }
                _ => (false, false),
            },
        };
        if opens_session {
            if body.bytes().len() > MAX_OPENING_BYTES {
                let text = format!("An initialize request has {} KiB at most", MAX_OPENING_BYTES >> 10);
                return Err(plain(StatusCode::PAYLOAD_TOO_LARGE, &text));
            }
            self.sessions.make_room().await;
        } else if is_request && parts.headers.contains_key(SESSION_HEADER) {
            let wait = Duration::from_secs(1);
            let busy = || later(StatusCode::SERVICE_UNAVAILABLE, "Too many requests of sessions are open", wait);
            parts.extensions.insert(self.sessions.place().ok_or_else(busy)?);
        }
        let service = self.service(&caller);
        let (bytes, share) = body.into_parts();
        // What the SDK hands on with the request lives until it is answered, wherever its connection is then.
        parts.extensions.insert(share);
        parts.extensions.insert(caller.clone());
        let answer = service.handle(Request::from_parts(parts, Full::new(bytes))).await;
        if opens_session && let Some(id) = answer.headers().get(SESSION_HEADER).and_then(|id| id.to_str().ok()) {
            self.sessions.opened(id, self.owner(&caller));
        }
        // Held until the last of the answer is on its way, or the client has gone.
        Ok(answer.map(|body| {
            body.map_frame(move |frame| {
                let _ = &answering;
                frame
            })
            .boxed()
        }))
    }

    fn owner(&self, caller: &Caller) -> Owner {
        Owner { caller: caller.identity(), service: self.own_service(caller) }
    }

    fn service(&self, caller: &Caller) -> &Service {
        self.own_service(caller).map_or(&self.service, |at| &self.services[at].1)
    }

    fn own_service(&self, caller: &Caller) -> Option<usize> {
        self.services.iter().position(|(who, _)| who.covers(caller))
    }

    fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }
}

/// Source: MCP 2026-07-28, basic/transports, "Streamable HTTP": 404 for methods that the server does not have.
fn status_of(error: &ServerJsonRpcMessage) -> StatusCode {
    match error {
        JsonRpcMessage::Error(error) if error.error.code == ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::BAD_REQUEST,
    }
}

fn plain(status: StatusCode, text: &str) -> Answer {
    let ending = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    with_type(status, format!("{text}{ending}"), "text/plain; charset=utf-8")
}

fn json(status: StatusCode, text: String) -> Answer {
    with_type(status, text, "application/json")
}

fn with_type(status: StatusCode, text: String, kind: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// An answer that names the time after which it is worth asking again.
fn later(status: StatusCode, text: &str, wait: Duration) -> Answer {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let mut answer = plain(status, &format!("{text}; try again in {seconds} s"));
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    answer
}
