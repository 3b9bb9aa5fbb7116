//! The server over streamable HTTP.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use climax_catalog::files::read_regular;
use sd_notify::NotifyState;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::arguments::{HttpArguments, RunArguments};
use super::banner;
use super::start::{Reloader, Start, cancel_on, end_jobs, reap_given_children};
use crate::command::output::FAILURE;
use crate::command::runtime::runtime;
use crate::command::terminal;
use crate::exec;
use crate::identity;
use crate::mcp::RequestStateKey;
use crate::serving::snapshot::ServedHandle;
use crate::telemetry::metrics::Metrics;
use crate::transport::http::MAX_CONNECTIONS;
use crate::transport::http::auth::{Auth, MAX_SECRET_BYTES, TokenFile};
use crate::transport::http::caller::CallerPattern;
use crate::transport::http::host_check::{Host, HostCheck};
#[cfg(not(feature = "oauth"))]
use crate::transport::http::resource_server::ResourceServer;
use crate::transport::http::{Http, Shutdown, serve};

/// The line on standard error of a server with [`DefaultPolicy::Refuse`].
const UNCOVERED_ARE_REFUSED: &str =
    "serving the callers of --policy-for; all others are refused, since there is no --policy";

pub(super) fn run(mut start: Start<'_>) -> Result<ExitCode, ExitCode> {
    let arguments = start.arguments;
    let failed = |error: io::Error| {
        terminal::complain(&error);
        ExitCode::from(FAILURE)
    };
    let listener = listener(&arguments.http).map_err(failed)?;
    let auth = Arc::new(auth(&arguments.http, listener.local_addr().map_err(failed)?).map_err(failed)?);
    let key = state_key(&arguments.http).map_err(failed)?;
    let metrics = Arc::new(Metrics::default());
    start.registry.observe(metrics.clone());
    let mut handles = Vec::new();
    let (server, banner) = match default_policy(arguments) {
        DefaultPolicy::Refuse => (None, format!("{}: {UNCOVERED_ARE_REFUSED}", identity::name())),
        DefaultPolicy::Serve(policy) => {
            let (server, published) = start.server(policy)?;
            let banner = banner::line(&published, &arguments.selection);
            handles.push(published.handle);
            (Some(server.with_state_key(key.clone())), banner)
        }
    };
    let mut policy_servers = Vec::new();

    for (pattern, policy) in &arguments.http.policy_for {
        let (server, published) = start.server(Some(policy))?;
        handles.push(published.handle);
        policy_servers.push((pattern.clone(), server.with_state_key(key.clone())));
    }

    let http = Http {
        host_check: host_check(&arguments.http),
        auth: auth.clone(),
        replica: arguments.http.replica.clone(),
        rate: arguments.http.rate,
        policy_servers,
        server,
        connections: connections(&handles),
        metrics,
        sample: sampler(handles),
    };
    serve_until_shutdown(start, listener, http, auth, &banner).map_err(failed)?;

    Ok(ExitCode::SUCCESS)
}

/// What callers get that no `--policy-for` covers.
enum DefaultPolicy<'a> {
    /// Tools, under the policy of `--policy` if there is one.
    Serve(Option<&'a Path>),
    /// Nothing: a server with policies for some callers serves no others by mistake.
    Refuse,
}

fn default_policy(arguments: &RunArguments) -> DefaultPolicy<'_> {
    match arguments.selection.sources.policy.as_deref() {
        None if !arguments.http.policy_for.is_empty() => DefaultPolicy::Refuse,
        policy => DefaultPolicy::Serve(policy),
    }
}

/// The socket that systemd passes, or a new one.
fn listener(arguments: &HttpArguments) -> io::Result<TcpListener> {
    let address = SocketAddr::new(arguments.host, arguments.port);
    let cannot = |error: io::Error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"));
    let passed = listenfd::ListenFd::from_env().take_tcp_listener(0)?;
    let listener = passed.map_or_else(|| TcpListener::bind(address).map_err(cannot), Ok)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Allows the hosts of the options, the host of the public URL, and the address of the listener.
fn host_check(arguments: &HttpArguments) -> HostCheck {
    let mut hosts = arguments.allowed_host.clone();
    hosts.extend(Some(arguments.host).filter(|host| !host.is_unspecified()).map(Host::from));
    #[cfg(feature = "oauth")]
    hosts.extend(arguments.oauth.public_host());
    if hosts.is_empty() {
        tracing::warn!(
            "only requests to localhost are answered; if clients use another host name, add --allowed-host NAME"
        );
    }

    HostCheck::new(hosts, arguments.allowed_origin.clone())
}

/// How callers authenticate. A server that others can reach needs tokens, unless `--insecure-no-auth` is given.
fn auth(arguments: &HttpArguments, address: SocketAddr) -> io::Result<Auth> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("--token-file {error}"));
    let tokens = arguments.token_file.as_deref().map(TokenFile::open).transpose().map_err(named)?;
    #[cfg(feature = "oauth")]
    let server = arguments.oauth.resource_server(address).map_err(io::Error::other)?;
    #[cfg(not(feature = "oauth"))]
    let server: Option<Box<dyn ResourceServer>> = None;
    check_patterns(arguments, tokens.as_ref(), server.is_some())?;
    match (server, tokens) {
        (Some(server), tokens) => Ok(Auth::Oauth(server, tokens)),
        (None, Some(tokens)) => Ok(Auth::Tokens(tokens)),
        (None, None) if address.ip().to_canonical().is_loopback() || arguments.insecure_no_auth => Ok(Auth::Disabled),
        (None, None) => Err(io::Error::other(format!(
            "others can reach {address}, and could run programs here: give a file of tokens with --token-file or an \
             authorization server with --oauth-issuer, or let everybody in with --insecure-no-auth"
        ))),
    }
}

/// Refuses a policy for a caller that cannot exist. A misspelt name would leave its caller under the default policy.
fn check_patterns(arguments: &HttpArguments, tokens: Option<&TokenFile>, has_claims: bool) -> io::Result<()> {
    for (pattern, _) in &arguments.policy_for {
        let problem = match pattern {
            CallerPattern::Token(name) if tokens.is_none_or(|tokens| !tokens.contains(name)) => {
                format!("--policy-for {name} matches no caller: no token of the --token-file has this name")
            }
            CallerPattern::Claim(claim, word) if !has_claims => format!(
                "--policy-for {claim}:{word} matches no caller: only access tokens have claims, so name an --oauth-issuer"
            ),
            CallerPattern::Token(_) | CallerPattern::Claim(..) => continue,
        };
        return Err(io::Error::other(problem));
    }
    Ok(())
}

/// The key that signs approvals: that of the file, or a random one for all servers of this process.
fn state_key(arguments: &HttpArguments) -> io::Result<RequestStateKey> {
    let Some(path) = &arguments.state_key_file else { return RequestStateKey::random() };
    let shown = format!("--state-key-file {}", path.display());
    let key = read_regular(path, MAX_SECRET_BYTES)
        .map_err(|error| io::Error::new(error.kind(), format!("{shown}: {error}")))?;
    let least = RequestStateKey::MIN_BYTES;
    let short =
        || io::Error::other(format!("{shown}: expected {least} bytes at least; `openssl rand -hex 32` makes them"));
    RequestStateKey::new(key.trim_ascii().to_vec()).ok_or_else(short)
}

/// The connections for which there are descriptors, besides those of the programs.
fn connections(handles: &[ServedHandle]) -> usize {
    let programs = handles.first().map_or(0, |handle| handle.toolbox().runner.concurrency());
    exec::room_for_connections(programs).min(MAX_CONNECTIONS)
}

fn sampler(handles: Vec<ServedHandle>) -> Box<dyn Fn(&Metrics) + Send + Sync> {
    Box::new(move |metrics| {
        // All of them share one runner.
        if let Some(handle) = handles.first() {
            let toolbox = handle.toolbox();
            metrics.set_served(toolbox.digest(), toolbox.runner.running(), toolbox.runner.waiting());
        }
    })
}

fn serve_until_shutdown(
    start: Start<'_>,
    listener: TcpListener,
    http: Http,
    auth: Arc<Auth>,
    banner: &str,
) -> io::Result<()> {
    let Start { arguments, registry, jobs, shutdown: end_calls, .. } = start;
    let drain = CancellationToken::new();
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        reap_given_children(&registry)?;
        for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
            cancel_on(kind, &drain)?;
            end_calls_on_second(kind, &end_calls)?;
        }
        let audit = registry.audit();
        Reloader { registry: Arc::new(registry), audit, auth: Some(auth) }.start(arguments.reload.watch)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        announce(listener.local_addr()?, banner);
        notify_systemd_of_drain(&drain);
        let [drain_delay, drain_limit] = [arguments.http.drain_delay, arguments.http.drain].map(Duration::from_secs);
        let shutdown = Shutdown { drain, drain_delay, drain_limit, end_calls: end_calls.clone() };
        let ended = serve(listener, http, shutdown).await;
        end_jobs(&jobs, &end_calls).await;
        ended
    });
    runtime.shutdown_background();

    ended
}

/// Ends the calls at the second signal, for users who do not want to wait for them.
fn end_calls_on_second(kind: SignalKind, end_calls: &CancellationToken) -> io::Result<()> {
    let mut signals = signal(kind)?;
    let end_calls = end_calls.clone();
    tokio::spawn(async move {
        signals.recv().await;
        signals.recv().await;
        end_calls.cancel();
    });
    Ok(())
}

fn announce(address: SocketAddr, banner: &str) {
    terminal::error(&format!("{} serves MCP at http://{address}/mcp\n{banner}", identity::name()));
    // Without systemd this does nothing.
    let _ = sd_notify::notify(&[NotifyState::Ready]);
}

fn notify_systemd_of_drain(drain: &CancellationToken) {
    let drain = drain.clone();
    tokio::spawn(async move {
        drain.cancelled().await;
        let _ = sd_notify::notify(&[NotifyState::Stopping]);
    });
}
