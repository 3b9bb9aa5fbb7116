//! Answers that are put together from texts that were finished when the catalog was made.
//!
//! In classic mode the list of tools is long. The SDK would have every schema parsed and printed again.

use rmcp::model::{ClientRequest, GetMeta as _, ProtocolVersion, RequestId};

use super::options::Mode;
use super::revision::is_whole_modern_request;
use super::server::Server;
use super::tools::tool_list;

/// How a request says which revision it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// By the handshake, which is over.
    Initialized,
    /// By itself, if at all.
    PerRequest,
}

impl Server {
    /// The line that answers a request, if it is one for the tools of classic mode.
    pub(crate) fn finished_answer(&self, request: &ClientRequest, id: &RequestId, era: Era) -> Option<Vec<u8>> {
        let ClientRequest::ListToolsRequest(list) = request else { return None };
        if self.mode() != Mode::Classic || list.params.as_ref().is_some_and(|params| params.cursor.is_some()) {
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
        let tools = tool_list(&self.toolbox().index, Mode::Classic);
        Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{hints}"tools":{tools}}}}}"#).into_bytes())
    }
}
