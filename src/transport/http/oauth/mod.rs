//! A resource server of OAuth 2.1, which accepts access tokens of an authorization server.
//!
//! Tokens are checked here and not by `jsonwebtoken` 11. That crate ignores `crit`, accepts a list as `iss`, and does not
//! know the algorithm name `Ed25519`. With the feature `arbitrary_precision` of `serde_json` it refuses an `exp` with a
//! fraction.
//!
//! Source: MCP 2025-11-25 and 2026-07-28, basic/authorization; RFC 9728; RFC 9068; RFC 6750.

use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;

use self::claims::ExpectedClaims;
use self::issuer::Issuer;
use self::jws::UnverifiedToken;
use self::safe_url::{SafeUrl, is_quotable};
use super::resource_server::{ResourceServer, TokenError};
use crate::call::caller::Subject;

mod claims;
mod discovery;
mod fetch;
mod issuer;
mod jws;
mod keys;
pub mod safe_url;

/// The well-known document about a resource. Source: RFC 9728, section 3.
const METADATA: &str = "oauth-protected-resource";

/// A text that can stand in a header and in a list separated by spaces: a scope, or an audience. Source: RFC 6749, appendix A.4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeToken(String);

impl FromStr for ScopeToken {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.is_empty() && !text.contains(' ') && is_quotable(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err("expected one word of printable ASCII without quotes and backslashes".to_owned())
        }
    }
}

/// A resource server that verifies JWT access tokens of one issuer.
#[derive(Debug)]
pub struct JwtResourceServer {
    issuer: Issuer,
    expected: ExpectedClaims,
    scopes: Vec<String>,
    /// [`Self::scopes`], separated by spaces.
    scope: String,
    metadata: String,
    metadata_url: String,
    /// The paths of [`Self::metadata`]: for the path of the resource, for `/mcp`, and without a path.
    metadata_paths: [String; 3],
}

impl JwtResourceServer {
    /// Creates a server for the resource at `url`.
    ///
    /// It accepts tokens of `issuer` that are meant for `audience` and grant all of `scopes`. The default of `audience` is `url`.
    #[must_use]
    pub fn new(issuer: SafeUrl, url: &SafeUrl, audience: Option<ScopeToken>, scopes: Vec<ScopeToken>) -> Self {
        let scopes: Vec<String> = scopes.into_iter().map(|ScopeToken(scope)| scope).collect();
        let mut metadata = json!({
            "resource": url.as_str(),
            "authorization_servers": [issuer.as_str()],
            "bearer_methods_supported": ["header"],
        });
        if !scopes.is_empty() {
            metadata["scopes_supported"] = json!(scopes);
        }
        let root = format!("/.well-known/{METADATA}");
        Self {
            expected: ExpectedClaims {
                issuer: issuer.as_str().to_owned(),
                audience: audience.map_or_else(|| url.as_str().to_owned(), |ScopeToken(audience)| audience),
            },
            issuer: Issuer::new(issuer),
            metadata: metadata.to_string(),
            metadata_paths: [url.well_known_path(METADATA), format!("{root}/mcp"), root],
            metadata_url: url.well_known(METADATA),
            scope: scopes.join(" "),
            scopes,
        }
    }

    async fn subject(&self, token: &str) -> Result<Subject, TokenError> {
        let token = UnverifiedToken::read(token).map_err(TokenError::Signature)?;
        let id = token.key_id.as_deref();
        let no_keys = || TokenError::NoKeys(self.issuer.url().to_string());
        let keys = self.issuer.keys_with(id, token.algorithm).await.ok_or_else(no_keys)?;
        let key = keys.find(id, token.algorithm).ok_or(TokenError::Signature("the issuer has no such key"))?;
        let claims = token.verify(key).ok_or(TokenError::Signature("the issuer has not signed it"))?;
        let now = SystemTime::UNIX_EPOCH.elapsed().map_or(f64::INFINITY, |now| now.as_secs_f64());
        let subject = claims::check(&claims, &self.expected, now).map_err(TokenError::Claims)?;

        if self.scopes.iter().all(|scope| claims::grants_scope(&subject, scope)) {
            Ok(subject)
        } else {
            Err(TokenError::Scope)
        }
    }
}

impl ResourceServer for JwtResourceServer {
    fn verify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Arc<Subject>, TokenError>> {
        async move {
            let subject = self.subject(token).await;
            if let Err(error) = &subject {
                tracing::info!("an access token was refused: {error}");
            }
            subject.map(Arc::new)
        }
        .boxed()
    }

    fn refresh_keys(&self) -> BoxFuture<'_, ()> {
        self.issuer.refresh().boxed()
    }

    fn is_ready(&self) -> bool {
        self.issuer.keys().is_some()
    }

    fn metadata(&self, path: &str) -> Option<&str> {
        self.metadata_paths.iter().any(|known| known == path).then_some(&self.metadata)
    }

    fn metadata_url(&self) -> &str {
        &self.metadata_url
    }

    fn scope(&self) -> &str {
        &self.scope
    }
}
