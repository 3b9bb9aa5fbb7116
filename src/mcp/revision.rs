//! Revisions of the protocol: which one a request is of.

use rmcp::model::{ClientRequest, GetMeta as _, ProtocolVersion};
use rmcp::service::{RequestContext, RoleServer};

/// Whether a request says all that requests have to say of themselves from 2026-07-28 on.
pub(crate) fn is_whole_modern_request(request: &ClientRequest) -> bool {
    let meta = request.get_meta();
    let is_known = meta.protocol_version().is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version));
    is_known && meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
}

/// Whether a request is of revision 2026-07-28 or later.
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
