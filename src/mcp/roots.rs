//! The roots of a client: the folders that its user has open.
//!
//! Some clients start their servers in the home directory or in `/`, which make no project. Such a server goes into the first
//! of the roots that makes one, before it answers the first call. Source: MCP 2025-11-25,
//! client/roots. From revision 2026-07-28 on, servers send no requests, and roots are deprecated.

#![expect(deprecated, reason = "the SDK marks roots so; clients of the revisions before may still use them")]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use rmcp::model::{ClientResult, ListRootsRequest, Root, ServerRequest};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer};
use tokio::sync::Mutex;

use super::revision::is_modern;
use crate::exec;

/// How long the first call waits for the roots.
const ROOTS_LIMIT: Duration = Duration::from_secs(2);

/// The directory of a server with one client that was started outside of any project.
#[derive(Debug, Default)]
pub(super) struct Roots(Mutex<State>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The client is to be asked.
    #[default]
    Unasked,
    /// It has named no project.
    Asked,
    /// The process is in the project that it has named.
    Entered,
}

impl Roots {
    /// Goes into the first root that makes a project, unless that was done or tried before.
    pub(super) async fn enter(&self, context: &RequestContext<RoleServer>) {
        let mut state = self.0.lock().await;
        let has_roots = context.peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some());
        if *state != State::Unasked || is_modern(context) || !has_roots {
            return;
        }

        let Some(roots) = context.ct.run_until_cancelled(list(context)).await else { return };
        *state = State::Asked;
        let Some(directory) =
            roots.iter().filter_map(|root| directory(&root.uri)).find(|path| exec::project_of(path).is_some())
        else {
            return;
        };
        match exec::enter(&directory) {
            Ok(()) => *state = State::Entered,
            Err(error) => tracing::warn!(%error, directory = %directory.display(), "the client's root was not entered"),
        }
    }

    /// Notes that the client has other roots than before, which are asked for if none has been entered.
    pub(super) async fn changed(&self) {
        let mut state = self.0.lock().await;
        if *state == State::Asked {
            *state = State::Unasked;
        }
    }
}

/// Asks the client for its roots; nothing if it does not answer.
async fn list(context: &RequestContext<RoleServer>) -> Vec<Root> {
    let request = ServerRequest::ListRootsRequest(ListRootsRequest::default());
    let options = PeerRequestOptions::with_timeout(ROOTS_LIMIT);
    let response = async {
        let handle = context.peer.send_request_with_option(request, options).await?;
        handle.await_response().await
    };
    match response.await {
        Ok(ClientResult::ListRootsResult(result)) => result.roots,
        Ok(_) => Vec::new(),
        Err(error) => {
            tracing::warn!(%error, "the client has not told its roots");
            Vec::new()
        }
    }
}

/// Returns the directory that the URI of a root names on this machine. Source: RFC 8089, "The file URI Scheme".
fn directory(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    (path.starts_with('/') && !bytes.contains(&0)).then(|| PathBuf::from(OsStr::from_bytes(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_name_directories_of_this_machine() {
        for (uri, path) in [
            ("file:///home/me/a%20b", Some("/home/me/a b")),
            ("file://localhost/srv/%C3%A4", Some("/srv/ä")),
            ("file://elsewhere/srv", None),
            ("file:///a%00b", None),
            ("https://example.com/", None),
            ("/srv", None),
        ] {
            assert_eq!(directory(uri), path.map(PathBuf::from), "{uri}");
        }
    }
}
