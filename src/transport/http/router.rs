//! One request: who may make it, what it asks for, and who answers it.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Body, Bytes};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::uri::Authority;
use hyper::{Method, Request, StatusCode};
use rmcp::transport::streamable_http_server::StreamableHttpService;
use tokio_util::task::TaskTracker;

use super::answers::{self, Answer, holding, json, later, plain, readable_only};
use super::auth::{Access, Refused};
use super::body::Bodies;
use super::call_notifier::NotifyingSessions;
use super::caller::{Counted, Who};
use super::challenge::Refusal;
use super::cors;
use super::head;
use super::host_check::{self, HostCheck};
use super::message::{Kind, Message};
use super::quota::Shares;
use super::rate::Limiter;
use super::revoke_streams::while_let_in;
use super::sessions::{Owner, Sessions};
use crate::call::caller::Caller;
use crate::mcp::Server;
use crate::telemetry::metrics::Metrics;

/// Longest body of a request that opens a session, in bytes: what it says is kept as long as the session.
const MAX_OPENING_BYTES: usize = 64 << 10;

/// Where the protocol is spoken.
const MCP_PATH: &str = "/mcp";
/// The header that names a session.
const SESSION_HEADER: &str = "mcp-session-id";
/// The header that names the last event of a stream that broke off.
const LAST_EVENT_HEADER: &str = "last-event-id";
/// What a client that has to come back is told to wait, in seconds.
const RETRY_S: u64 = 5;

pub(super) type Service = StreamableHttpService<Server, NotifyingSessions>;

/// Everything that requests are answered with.
pub(super) struct Router {
    pub(super) gate: HostCheck,
    pub(super) access: Arc<Access>,
    pub(super) limiter: Limiter,
    pub(super) sessions: Arc<Sessions>,
    pub(super) bodies: Bodies,
    /// Requests that are being answered, each over its connection: no caller is to have all connections.
    pub(super) requests: Arc<Shares>,
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

impl Router {
    /// Answers a request.
    pub(super) async fn answer<B>(&self, request: Request<B>, address: IpAddr) -> Answer
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::fmt::Display,
    {
        let page = self.gate.page(request.headers()).cloned();
        let mut answer = match head::check(&request) {
            Err(unfit) => plain(unfit.status(), &unfit.to_string()),
            // A browser asks so before it sends anything that the page would show itself with.
            Ok(()) if page.is_some() && request.method() == Method::OPTIONS => self.preflight(&request),
            Ok(()) => match self.routed(request, address).await {
                Ok(answer) | Err(answer) => answer,
            },
        };
        if let Some(page) = page {
            cors::show(&mut answer, page);
        }
        if self.is_draining() {
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        self.metrics.count_response(answer.status().as_u16());
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
            (_, "/healthz" | "/readyz") => return Err(readable_only()),
            _ => return Err(plain(StatusCode::NOT_FOUND, "Not found: the server speaks MCP at /mcp")),
        }
        self.let_in(&request).map_err(|refusal| forbidden(&refusal))?;
        if let Some(metadata) = self.metadata(&path) {
            return Ok(json(StatusCode::OK, metadata.to_owned()));
        }
        let caller = self.access.identify(request.headers()).await.map_err(|why| self.refused(&why, address))?;
        match (request.method(), path.as_str()) {
            // They name tools that a policy may hide from this caller.
            (&Method::GET | &Method::HEAD, "/metrics") if self.own_service(&caller).is_some() => {
                Err(plain(StatusCode::FORBIDDEN, "Forbidden: metrics are for callers without a policy of their own"))
            }
            (&Method::GET | &Method::HEAD, "/metrics") => Ok(self.metrics().await),
            (_, MCP_PATH) => self.mcp(request, caller, address).await,
            _ => Err(readable_only()),
        }
    }

    fn let_in<B>(&self, request: &Request<B>) -> Result<(), host_check::Refusal> {
        self.gate.check(request.headers(), request.uri().authority().map(Authority::as_str))
    }

    fn preflight<B>(&self, request: &Request<B>) -> Answer {
        match self.let_in(request) {
            Ok(()) => cors::permission(request.headers()),
            Err(refusal) => forbidden(&refusal),
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
            let taken = self.requests.one(Counted::of(&caller, address)).ok_or_else(busy)?;
            let headers = request.headers().clone();
            let mut answer = self.service(&caller).handle(request).await;
            if headers.contains_key(LAST_EVENT_HEADER) {
                answer = answers::resumed(answer);
            }
            // The SDK says that it will end; it has ended, and clients such as the Python SDK warn of what is not 200 or 204.
            if ends_session && answer.status() == StatusCode::ACCEPTED {
                *answer.status_mut() = StatusCode::NO_CONTENT;
            }
            return Ok(holding(while_let_in(answer, &self.access, caller, headers), taken));
        }
        if self.is_draining() {
            let wait = Duration::from_secs(RETRY_S);
            return Err(later(
                StatusCode::SERVICE_UNAVAILABLE,
                "The server is about to end and takes no more requests",
                wait,
            ));
        }
        self.post(request, caller, address).await
    }

    async fn post<B>(&self, request: Request<B>, caller: Caller, address: IpAddr) -> Result<Answer, Answer>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::fmt::Display,
    {
        let answering = self.calls.token();
        let (mut parts, body) = request.into_parts();
        let counted = Counted::of(&caller, address);
        let body =
            self.bodies.read(body, counted.clone()).await.map_err(|error| plain(error.status(), &error.to_string()))?;
        let taken = self.requests.one(counted.clone()).ok_or_else(busy)?;
        let session = parts.headers.get(SESSION_HEADER).map(|id| id.to_str().unwrap_or_default().to_owned());
        let mut message = Message::read(body.bytes(), session.is_some()).map_err(|answer| *answer)?;
        if message.kind == Kind::Opening {
            if body.bytes().len() > MAX_OPENING_BYTES {
                let text = format!("An initialize request has {} KiB at most", MAX_OPENING_BYTES >> 10);
                return Err(plain(StatusCode::PAYLOAD_TOO_LARGE, &text));
            }
            self.sessions.make_room().await;
        } else if message.id.is_some()
            && let Some(id) = session
        {
            parts.extensions.insert(self.sessions.place(&id, counted.clone()).ok_or_else(busy)?);
        }
        let (bytes, share) = body.into_parts();
        let bytes = message.text(bytes);
        // What the SDK hands on with the request lives until it is answered, wherever its connection is then.
        parts.extensions.insert(share);
        parts.extensions.insert(caller.clone());
        let request = Request::from_parts(parts, Full::new(bytes));
        let answer = match message.kind {
            Kind::Opening => self.open_session(request, &caller, counted).await,
            Kind::Listening => {
                let headers = request.headers().clone();
                let answer = self.service(&caller).handle(request).await;
                while_let_in(answer, &self.access, caller, headers)
            }
            Kind::Other => self.service(&caller).handle(request).await,
        };
        let answer = answers::spoken(answer, message.id).await;
        Ok(holding(answer, (answering, taken)))
    }

    /// Opens a session, also if the client goes away meanwhile: one that is not known would never end.
    async fn open_session(&self, request: Request<Full<Bytes>>, caller: &Caller, counted: Counted) -> Answer {
        let (service, sessions, owner) = (self.service(caller).clone(), self.sessions.clone(), self.owner(caller));
        let opening = tokio::spawn(async move {
            let answer = service.handle(request).await;
            if let Some(id) = answer.headers().get(SESSION_HEADER).and_then(|id| id.to_str().ok()) {
                sessions.opened(id, owner, counted);
            }
            answer
        });
        opening.await.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "The session could not be opened"))
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

fn forbidden(refusal: &host_check::Refusal) -> Answer {
    plain(StatusCode::FORBIDDEN, &format!("Forbidden: {refusal}"))
}

fn busy() -> Answer {
    later(StatusCode::SERVICE_UNAVAILABLE, "Too many of your requests are open", Duration::from_secs(1))
}
