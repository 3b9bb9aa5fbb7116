//! The server over streamable HTTP.

use crate::command::runtime::runtime;
use std::fs;
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use sd_notify::NotifyState;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::arguments::HttpArguments;
use super::start::{Reloader, Start, cancel_on};
use crate::command::output::FAILURE;
use crate::command::terminal;
use crate::exec;
use crate::mcp::StateKey;
use crate::serving::snapshot::ServedHandle;
use crate::telemetry::metrics::Metrics;
use crate::transport::http::MAX_CONNECTIONS;
use crate::transport::http::auth::{Access, TokenFile};
use crate::transport::http::caller::Who;
use crate::transport::http::host_check::{Host, HostCheck};
use crate::transport::http::{Ending, Http, serve};

pub(super) fn run(mut start: Start<'_>) -> Result<ExitCode, ExitCode> {
    let arguments = start.arguments;
    let failed = |error: io::Error| {
        terminal::error(&format!("climax: {error}"));
        ExitCode::from(FAILURE)
    };
    let listener = listener(&arguments.http).map_err(failed)?;
    let access = Arc::new(access(&arguments.http, listener.local_addr().map_err(failed)?).map_err(failed)?);
    let key = state_key(&arguments.http).map_err(failed)?;
    let metrics = Arc::new(Metrics::default());
    start.registry.observe(metrics.clone());
    let policy = arguments.selection.sources.policy.clone();
    let (server, live) = start.server(policy.as_deref())?;
    let mut lives = vec![live];
    let mut servers = Vec::new();
    for (who, policy) in &arguments.http.policy_for {
        let (server, live) = start.server(Some(policy))?;
        lives.push(live);
        servers.push((who.clone(), server.with_state_key(key.clone())));
    }
    exec::keep_descriptors_private();
    let http = Http {
        gate: gate(&arguments.http),
        access: access.clone(),
        rate: arguments.http.rate,
        servers,
        server: server.with_state_key(key),
        connections: connections(&lives),
        metrics,
        sample: sampler(lives),
    };
    serve_until_told(start, listener, http, access).map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}

/// The socket that systemd hands over, or a new one.
fn listener(arguments: &HttpArguments) -> io::Result<TcpListener> {
    let address = SocketAddr::new(arguments.host, arguments.port);
    let cannot = |error: io::Error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"));
    let handed_over = listenfd::ListenFd::from_env().take_tcp_listener(0)?;
    let listener = handed_over.map_or_else(|| TcpListener::bind(address).map_err(cannot), Ok)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// The host that clients know, and the address that is listened on, are let in without being named twice.
fn gate(arguments: &HttpArguments) -> HostCheck {
    let address = Some(arguments.host).filter(|host| !host.is_unspecified()).map(Host::from);
    let hosts: Vec<Host> = arguments.allowed_host.iter().cloned().chain(arguments.oauth.public_host()).collect();
    if address.is_none() && hosts.is_empty() {
        tracing::warn!(
            "requests to localhost are answered; name what else the server is known by: --allowed-host NAME"
        );
    }
    HostCheck::new(hosts.into_iter().chain(address).collect(), arguments.allowed_origin.clone())
}

/// How callers show who they are. What others can reach is open to everybody only where that is asked for.
fn access(arguments: &HttpArguments, address: SocketAddr) -> io::Result<Access> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("--token-file {error}"));
    let tokens = arguments.token_file.as_deref().map(TokenFile::open).transpose().map_err(named)?;
    // A policy under a misspelt name would leave its caller under the policy of everybody else.
    let is_unknown = |name: &str| tokens.as_ref().is_none_or(|tokens| !tokens.knows(name));
    let unknown = arguments.policy_for.iter().find_map(|(who, _)| match who {
        Who::Token(name) if is_unknown(name) => Some(name),
        Who::Token(_) | Who::Claim(..) => None,
    });
    if let Some(name) = unknown {
        let message = format!("--policy-for {name} covers nobody: no token of the --token-file has this name");
        return Err(io::Error::other(message));
    }
    if let Some(server) = arguments.oauth.resource_server(address).map_err(io::Error::other)? {
        return Ok(Access::Oauth(Box::new(server), tokens));
    }
    let of_claim = |(who, _): &&(Who, _)| matches!(who, Who::Claim(..));
    if let Some((Who::Claim(claim, word), _)) = arguments.policy_for.iter().find(of_claim) {
        let message = format!(
            "--policy-for {claim}:{word} covers nobody: only access tokens have claims, so name an --oauth-issuer"
        );
        return Err(io::Error::other(message));
    }
    if let Some(tokens) = tokens {
        return Ok(Access::Tokens(tokens));
    }
    if address.ip().to_canonical().is_loopback() || arguments.insecure_no_auth {
        return Ok(Access::Open);
    }
    let message = format!(
        "others can reach {address}, and would run programs here: name a file of tokens with --token-file or an authorization \
         server with --oauth-issuer, or say --insecure-no-auth"
    );
    Err(io::Error::other(message))
}

/// The key that approvals are signed with: that of the file, or one that all servers of this process share.
fn state_key(arguments: &HttpArguments) -> io::Result<StateKey> {
    let Some(path) = &arguments.state_key_file else { return StateKey::random() };
    let shown = format!("--state-key-file {}", path.display());
    let key = fs::read(path).map_err(|error| io::Error::new(error.kind(), format!("{shown}: {error}")))?;
    let least = StateKey::MIN_BYTES;
    let short =
        || io::Error::other(format!("{shown}: expected {least} bytes at least; `openssl rand -hex 32` makes them"));
    StateKey::new(key.trim_ascii().to_vec()).ok_or_else(short)
}

/// As many as there can be descriptors for, besides those of the programs.
fn connections(lives: &[ServedHandle]) -> usize {
    let programs = lives.first().map_or(0, |live| live.toolbox().runner.concurrency());
    exec::room_for_connections(programs).min(MAX_CONNECTIONS)
}

fn sampler(lives: Vec<ServedHandle>) -> Box<dyn Fn(&Metrics) + Send + Sync> {
    Box::new(move |metrics| {
        // All of them share one executor's slots.
        if let Some(live) = lives.first() {
            let toolbox = live.toolbox();
            metrics.set_served(toolbox.digest(), toolbox.runner.running(), toolbox.runner.waiting());
        }
    })
}

fn serve_until_told(start: Start<'_>, listener: TcpListener, http: Http, access: Arc<Access>) -> io::Result<()> {
    let Start { arguments, registry, shutdown, .. } = start;
    let drain = CancellationToken::new();
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
            cancel_on(kind, &drain)?;
            end_at_once_on_second(kind, &shutdown)?;
        }
        let audit = registry.audit();
        Reloader { registry: Arc::new(registry), audit, access: Some(access) }.start(arguments.reload.watch)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        announce(listener.local_addr()?);
        let limit = Duration::from_secs(arguments.http.drain);
        tell_systemd_of_drain(&drain);
        serve(listener, http, Ending { drain, drain_limit: limit, shutdown }).await
    });
    runtime.shutdown_background();
    ended
}

/// Whoever does not want to wait for the calls tells the server twice.
fn end_at_once_on_second(kind: SignalKind, shutdown: &CancellationToken) -> io::Result<()> {
    let mut signals = signal(kind)?;
    let shutdown = shutdown.clone();
    tokio::spawn(async move {
        signals.recv().await;
        signals.recv().await;
        shutdown.cancel();
    });
    Ok(())
}

fn announce(address: SocketAddr) {
    // If standard error is gone there is nobody to tell.
    let _ = writeln!(io::stderr(), "climax serves MCP at http://{address}/mcp");
    // Without systemd this does nothing.
    let _ = sd_notify::notify(&[NotifyState::Ready]);
}

fn tell_systemd_of_drain(drain: &CancellationToken) {
    let drain = drain.clone();
    tokio::spawn(async move {
        drain.cancelled().await;
        let _ = sd_notify::notify(&[NotifyState::Stopping]);
    });
}
