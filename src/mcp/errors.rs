//! Protocol errors, which are answered instead of a result.

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::json;

use crate::call::arguments::echo;

pub(super) fn forged_state() -> ErrorData {
    let message =
        "Invalid requestState: it was not made for this call, or was changed; call without it to be asked anew";
    ErrorData::invalid_params(message, None)
}

/// MCP 2025-11-25, server/resources, "Error Handling"; from 2026-07-28 on the address is an invalid parameter.
pub(super) fn no_resource(uri: &str, why: Option<&str>, is_modern: bool) -> ErrorData {
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    let message = format!("No such resource: {}{why}", echo(uri));
    let data = Some(json!({ "uri": uri }));
    if is_modern { ErrorData::invalid_params(message, data) } else { ErrorData::resource_not_found(message, data) }
}

/// MCP 2026-07-28, basic, "Capabilities": what a request needs and its client does not declare.
pub(super) fn no_elicitation() -> ErrorData {
    let message = "The user has to be asked, and the client does not declare that it can (elicitation)";
    let data = json!({ "requiredCapabilities": { "elicitation": {} } });
    ErrorData::new(ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY, message, Some(data))
}

pub(super) fn method_not_found(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {}", echo(method)), None)
}
