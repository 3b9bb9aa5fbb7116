//! A resource server of OAuth 2.1: access tokens of an authorization server open it.
//!
//! Source: MCP 2025-11-25 and 2026-07-28, basic/authorization; RFC 9728; RFC 9068; RFC 6750.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use hyper::StatusCode;
use serde_json::json;

use self::claims::Expected;
use self::issuer::Issuer;
use self::jws::Unverified;
use self::url::{SafeUrl, is_quotable};
use crate::call::caller::Subject;

mod claims;
mod discovery;
mod fetch;
mod issuer;
mod jws;
mod keys;
pub mod url;

/// Where the metadata of a resource is, before the resource's path. Source: RFC 9728, section 3.
const METADATA: &str = "oauth-protected-resource";

/// A word that can stand in a header: a scope, or an audience. Source: RFC 6749, appendix A.4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word(String);

impl FromStr for Word {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.is_empty() && !text.contains(' ') && is_quotable(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err("expected one word of printable ASCII without quotes and backslashes".to_owned())
        }
    }
}

/// A resource, and the authorization server whose tokens open it.
#[derive(Debug)]
pub struct ResourceServer {
    issuer: Issuer,
    expected: Expected,
    scopes: Vec<String>,
    /// The same, with spaces between.
    scope: String,
    metadata: String,
    metadata_url: String,
    /// Where [`Self::metadata`] is served: at the root, for the path of the server's own, and for that of the resource.
    metadata_paths: [String; 3],
}

/// Why a token does not open the server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// As far as can be told the issuer has never signed it.
    Unsigned(&'static str),
    /// The issuer has signed it, but not for this place and time.
    Claims(Vec<String>),
    /// It lacks a scope.
    Scope,
    /// The keys of the issuer are not known.
    NoKeys(String),
}

impl ResourceServer {
    /// Serves the resource at `url` to whoever has a token of `issuer` that is meant for `audience` (if that is not given,
    /// for `url`) and grants all of `scopes`.
    #[must_use]
    pub fn new(issuer: SafeUrl, url: &SafeUrl, audience: Option<Word>, scopes: Vec<Word>) -> Self {
        let scopes: Vec<String> = scopes.into_iter().map(|Word(scope)| scope).collect();
        let mut metadata = json!({
            "resource": url.as_str(),
            "authorization_servers": [issuer.as_str()],
            "bearer_methods_supported": ["header"],
        });
        if !scopes.is_empty() {
            metadata["scopes_supported"] = json!(scopes);
        }
        let well_known = url.well_known(METADATA);
        let root = format!("/.well-known/{METADATA}");
        Self {
            expected: Expected {
                issuer: issuer.as_str().to_owned(),
                audience: audience.map_or_else(|| url.as_str().to_owned(), |Word(audience)| audience),
            },
            issuer: Issuer::new(issuer),
            metadata: metadata.to_string(),
            metadata_paths: [format!("{root}/mcp"), well_known[url.origin().len()..].to_owned(), root],
            metadata_url: well_known,
            scope: scopes.join(" "),
            scopes,
        }
    }

    /// Who carries a token.
    pub(super) async fn subject(&self, token: &str) -> Result<Arc<Subject>, Unfit> {
        let found = self.checked(token).await;
        if let Err(why) = &found {
            tracing::info!("an access token was refused: {why}");
        }
        found.map(Arc::new)
    }

    async fn checked(&self, token: &str) -> Result<Subject, Unfit> {
        let unverified = Unverified::read(token).map_err(Unfit::Unsigned)?;
        let id = unverified.key_id.as_deref();
        let no_keys = || Unfit::NoKeys(self.issuer.url().to_string());
        let keys = self.issuer.keys_with(id, unverified.algorithm).await.ok_or_else(no_keys)?;
        let key = keys.find(id, unverified.algorithm).ok_or(Unfit::Unsigned("the issuer has no such key"))?;
        let claims = unverified.claims(key).ok_or(Unfit::Unsigned("the issuer has not signed it"))?;
        let now = SystemTime::UNIX_EPOCH.elapsed().map_or(f64::INFINITY, |now| now.as_secs_f64());
        let subject = claims::check(&claims, &self.expected, now).map_err(Unfit::Claims)?;
        if self.scopes.iter().all(|scope| claims::has_scope(&subject, scope)) { Ok(subject) } else { Err(Unfit::Scope) }
    }

    /// Whether tokens can be verified.
    pub(super) fn is_ready(&self) -> bool {
        self.issuer.keys().is_some()
    }

    /// Keeps the keys of the issuer fresh, for ever.
    pub(super) async fn keep(&self) {
        self.issuer.keep().await;
    }

    /// The document about the resource, if it is at this path. Source: RFC 9728, section 2.
    pub(super) fn metadata(&self, path: &str) -> Option<&str> {
        self.metadata_paths.iter().any(|known| known == path).then_some(&self.metadata)
    }

    /// Where clients find [`Self::metadata`].
    pub(super) fn metadata_url(&self) -> &str {
        &self.metadata_url
    }

    /// The scopes that a token must grant, with spaces between.
    pub(super) fn scope(&self) -> &str {
        &self.scope
    }
}

impl Unfit {
    /// Source: RFC 6750, section 3.1.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Unsigned(_) | Self::Claims(_) => StatusCode::UNAUTHORIZED,
            Self::Scope => StatusCode::FORBIDDEN,
            Self::NoKeys(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The error's name, if another token would help. Source: RFC 6750, section 3.1.
    pub(super) fn error(&self) -> Option<&'static str> {
        match self {
            Self::Unsigned(_) | Self::Claims(_) => Some("invalid_token"),
            Self::Scope => Some("insufficient_scope"),
            Self::NoKeys(_) => None,
        }
    }

    /// Whether anybody could have made the token.
    pub(super) fn is_guess(&self) -> bool {
        matches!(self, Self::Unsigned(_))
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(why) => f.write_str(why),
            Self::Claims(mistakes) => f.write_str(&mistakes.join("; ")),
            Self::Scope => f.write_str("it lacks a scope that is needed here"),
            Self::NoKeys(issuer) => write!(f, "the keys of {issuer} are not known yet"),
        }
    }
}
