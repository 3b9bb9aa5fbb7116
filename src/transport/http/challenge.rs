//! The response to a request without valid authentication.
//!
//! Pure. Source: RFC 6750, section 3; RFC 9728, section 5.1; MCP 2026-07-28, basic/authorization.

use hyper::StatusCode;

use super::auth::AuthError;
use super::resource_server::ResourceServer;
use crate::identity;

/// Status, text and header of the response.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    pub(super) status: StatusCode,
    pub(super) text: String,
    /// The header `WWW-Authenticate`, if another token would help.
    pub(super) www_authenticate: Option<String>,
}

impl Challenge {
    pub(super) fn new(error: &AuthError, server: Option<&dyn ResourceServer>) -> Self {
        let (status, text, www_authenticate) = match error {
            AuthError::Missing => {
                let text = "Unauthorized: send the header `Authorization: Bearer TOKEN`".to_owned();
                (StatusCode::UNAUTHORIZED, text, Some(www_authenticate(server, None, None)))
            }
            AuthError::Unknown => {
                let text = "Unauthorized: the token is not known here".to_owned();
                (StatusCode::UNAUTHORIZED, text, Some(www_authenticate(server, Some("invalid_token"), None)))
            }
            AuthError::AccessToken(error) => {
                let status = error.status();
                let (reason, text) = (status.canonical_reason().unwrap_or_default(), error.to_string());
                let header = error.code().map(|code| www_authenticate(server, Some(code), Some(&text)));
                (status, format!("{reason}: the access token does not open this server: {text}"), header)
            }
        };
        Self { status, text, www_authenticate }
    }
}

/// The value of `WWW-Authenticate`.
fn www_authenticate(server: Option<&dyn ResourceServer>, error: Option<&str>, description: Option<&str>) -> String {
    // Quotes would end the value.
    let realm = identity::name().replace(['"', '\\'], "");
    let parameters = [
        ("realm", Some(realm.as_str())),
        ("resource_metadata", server.map(ResourceServer::metadata_url)),
        ("error", error),
        ("error_description", description),
        ("scope", server.map(ResourceServer::scope).filter(|scope| !scope.is_empty())),
    ];
    let shown = parameters.iter().filter_map(|(name, value)| value.map(|value| format!(r#"{name}="{value}""#)));
    format!("Bearer {}", shown.collect::<Vec<_>>().join(", "))
}
