//! Protocol errors: the responses to requests that have no result.

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::json;

use crate::call::approval::APPROVAL_LIMIT;
use crate::call::arguments::echo;

/// The `requestState` of a request failed verification.
pub(super) fn forged_state() -> ErrorData {
    let message =
        "Invalid requestState: it was not made for this call, or was changed; call without it to be asked anew";
    ErrorData::invalid_params(message, None)
}

/// The `requestState` names no chain and no program whose results are held.
pub(super) fn unknown_log() -> ErrorData {
    let message = "Invalid requestState: what was done before the question is gone, or it was answered before; some calls \
                   may have run; call without it to start anew";
    ErrorData::invalid_params(message, None)
}

/// The caller has no task of this id.
///
/// Source: MCP tasks extension (SEP-2663), "Error Handling".
pub(super) fn unknown_task(id: &str) -> ErrorData {
    let message = format!("Unknown task: {}; results are stored for ten minutes after the end", echo(id));
    ErrorData::invalid_params(message, None)
}

/// The user has not answered the question of a task in time.
pub(super) fn unanswered() -> ErrorData {
    let minutes = APPROVAL_LIMIT.as_secs() / 60;
    ErrorData::internal_error(format!("No answer came within {minutes} minutes, so the call did not run"), None)
}

/// No resource has this URI. From revision 2026-07-28 on the URI counts as an invalid parameter.
///
/// Source: MCP 2025-11-25, server/resources, "Error Handling".
pub(super) fn resource_not_found(uri: &str, reason: Option<&str>, is_modern: bool) -> ErrorData {
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let message = format!("No such resource: {}{reason}", echo(uri));
    let data = Some(json!({ "uri": uri }));
    if is_modern { ErrorData::invalid_params(message, data) } else { ErrorData::resource_not_found(message, data) }
}

/// The request needs elicitation, and the client does not declare it.
///
/// Source: MCP 2026-07-28, basic, "Capabilities".
pub(super) fn elicitation_required() -> ErrorData {
    let message = "The user has to be asked, and the client does not declare that it can (elicitation)";
    let data = json!({ "requiredCapabilities": { "elicitation": {} } });
    ErrorData::new(ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY, message, Some(data))
}

/// The server does not have this method.
pub(super) fn method_not_found(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {}", echo(method)), None)
}
