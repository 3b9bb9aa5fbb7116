//! How a request is refused whose caller does not get in.
//!
//! Pure. Source: RFC 6750, section 3; RFC 9728, section 5.1; MCP 2026-07-28, basic/authorization.

use hyper::StatusCode;

use super::auth::Refused;
use super::oauth::ResourceServer;

/// An answer to whoever does not get in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) text: String,
    /// The header `WWW-Authenticate`, if another token would help.
    pub(super) challenge: Option<String>,
}

impl Refusal {
    pub(super) fn new(why: &Refused, server: Option<&ResourceServer>) -> Self {
        let wrong = Some("invalid_token");
        let (status, text, challenge) = match why {
            Refused::NoToken => {
                let text = "Unauthorized: send the header `Authorization: Bearer TOKEN`".to_owned();
                (StatusCode::UNAUTHORIZED, text, Some(challenge(server, None, None)))
            }
            Refused::WrongToken => {
                let text = "Unauthorized: the token is not known here".to_owned();
                (StatusCode::UNAUTHORIZED, text, Some(challenge(server, wrong, None)))
            }
            Refused::Unfit(why) => {
                let status = why.status();
                let (what, text) = (status.canonical_reason().unwrap_or_default(), why.to_string());
                let challenge = why.error().map(|error| challenge(server, Some(error), Some(&text)));
                (status, format!("{what}: the access token does not open this server: {text}"), challenge)
            }
        };
        Self { status, text, challenge }
    }
}

/// The value of `WWW-Authenticate`.
fn challenge(server: Option<&ResourceServer>, error: Option<&str>, description: Option<&str>) -> String {
    let parameters = [
        ("realm", Some("climax")),
        ("resource_metadata", server.map(ResourceServer::metadata_url)),
        ("error", error),
        ("error_description", description),
        ("scope", server.map(ResourceServer::scope).filter(|scope| !scope.is_empty())),
    ];
    let shown = parameters.iter().filter_map(|(name, value)| value.map(|value| format!(r#"{name}="{value}""#)));
    format!("Bearer {}", shown.collect::<Vec<_>>().join(", "))
}
