//! Serves over standard input and output.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;

use tokio::signal::unix::SignalKind;

use super::banner;
use super::start::{Reloader, Start, cancel_on, end_jobs, reap_given_children};
use crate::command::output::FAILURE;
use crate::command::runtime::runtime;
use crate::command::terminal;
use crate::identity;
use crate::mcp::Server;
use crate::transport;

/// Says on a terminal how to start the server from a client.
fn on_a_terminal() -> String {
    let name = identity::name();
    format!(
        "\
{name} serves MCP on standard input and output and is waiting for a client. Start it from one instead:
  known clients    {name} install CLIENT
  other clients    {{\"mcpServers\": {{\"{name}\": {{\"command\": \"{name}\", \"args\": [\"--policy\", \"/path/to/policy.yaml\"]}}}}}}
                   Without a policy every call runs without a question; `{name} install cursor --print` shows one that asks.
To try a tool here: {name} list, {name} search QUERY, {name} call TOOL key=value. Ctrl-C ends the server."
    )
}

/// Serves until the client closes standard input, or a signal ends the server.
pub(super) fn run(mut start: Start<'_>) -> Result<ExitCode, ExitCode> {
    let policy = start.arguments.selection.sources.policy.clone();
    let (server, published) = start.server(policy.as_deref())?;
    let server = if start.arguments.enters_root() { server.in_root_of_client() } else { server };
    terminal::error(&banner::line(&published, &start.arguments.selection));
    if io::stdin().is_terminal() {
        terminal::error(&on_a_terminal());
    }

    serve(start, server).map_err(|error| {
        terminal::complain(&error);
        ExitCode::from(FAILURE)
    })?;

    Ok(ExitCode::SUCCESS)
}

fn serve(start: Start<'_>, server: Server) -> io::Result<()> {
    let Start { arguments, registry, jobs, shutdown, .. } = start;
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        reap_given_children(&registry)?;
        for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
            cancel_on(kind, &shutdown)?;
        }
        if arguments.handles_hangup() {
            let audit = registry.audit();
            let reloader = Reloader {
                registry: Arc::new(registry),
                audit,
                #[cfg(feature = "http")]
                auth: None,
            };
            reloader.start(arguments.reload.watch)?;
        } else {
            cancel_on(SignalKind::hangup(), &shutdown)?;
        }
        let ended = Box::pin(transport::stdio::serve(server, transport::streams::open(), shutdown.clone())).await;
        end_jobs(&jobs, &shutdown).await;
        ended
    });
    // A thread may be blocked in a read of standard input.
    runtime.shutdown_background();

    ended
}
