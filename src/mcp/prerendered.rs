//! Responses that are put together from JSON that was rendered when the catalog was compiled.
//!
//! The tool list of classic mode is long. The SDK would parse and print each schema again.

use rmcp::model::{ClientRequest, GetMeta as _, ProtocolVersion, RequestId};

use super::revision::is_whole_modern_request;
use super::server::Server;
use super::surface::Surface;
use super::tools::tool_list;

/// How the protocol revision of a request is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// The client has initialized, and the handshake set the revision.
    Initialized,
    /// The metadata of each request names its revision.
    PerRequest,
}

impl Server {
    /// Returns the response to a request for the tool list of classic mode, as a line; `None` for any other request.
    pub(crate) fn prerendered_answer(&self, request: &ClientRequest, id: &RequestId, era: Era) -> Option<Vec<u8>> {
        let ClientRequest::ListToolsRequest(list) = request else { return None };
        if *self.surface() != Surface::Classic || list.params.as_ref().is_some_and(|params| params.cursor.is_some()) {
            return None;
        }
        let hints = match (request.get_meta().protocol_version(), era) {
            (Some(version), _) if version >= ProtocolVersion::V_2026_07_28 && is_whole_modern_request(request) => {
                format!(r#""resultType":"complete","ttlMs":{},"cacheScope":"private","#, self.list_ttl_ms())
            }
            (None, Era::Initialized) => String::new(),
            _ => return None,
        };
        let id = serde_json::to_string(id).ok()?;
        let tools = tool_list(&self.toolbox().index, &Surface::Classic);
        Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{hints}"tools":{tools}}}}}"#).into_bytes())
    }
}
