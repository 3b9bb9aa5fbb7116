//! The interface of an OAuth resource server, which the feature `oauth` implements.
//!
//! Source: RFC 6750; RFC 9728.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use hyper::StatusCode;

use crate::call::caller::Subject;

/// Verifies the access tokens of an authorization server.
pub trait ResourceServer: fmt::Debug + Send + Sync {
    /// Verifies an access token and returns its subject.
    fn verify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Arc<Subject>, TokenError>>;

    /// Reads the keys of the issuer, and again from time to time. It never ends.
    fn refresh_keys(&self) -> BoxFuture<'_, ()>;

    /// Whether the keys of the issuer are known.
    fn is_ready(&self) -> bool;

    /// Returns the metadata of the resource, in JSON, if it is served at `path`. Source: RFC 9728, section 2.
    fn metadata(&self, path: &str) -> Option<&str>;

    /// The URL of [`Self::metadata`].
    fn metadata_url(&self) -> &str;

    /// The scopes that a token must grant, separated by spaces.
    fn scope(&self) -> &str;
}

/// The reason why an access token is refused.
#[derive(Debug, PartialEq, Eq)]
pub enum TokenError {
    /// The token is malformed, or the issuer has not signed it.
    Signature(&'static str),
    /// The issuer has signed it, but its claims do not fit this server or this time.
    Claims(Vec<String>),
    /// It lacks a scope.
    Scope,
    /// The keys of this issuer are not known.
    NoKeys(String),
}

impl TokenError {
    /// The status of the response. Source: RFC 6750, section 3.1.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Signature(_) | Self::Claims(_) => StatusCode::UNAUTHORIZED,
            Self::Scope => StatusCode::FORBIDDEN,
            Self::NoKeys(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The error code, if another token would help. Source: RFC 6750, section 3.1.
    pub(super) fn code(&self) -> Option<&'static str> {
        match self {
            Self::Signature(_) | Self::Claims(_) => Some("invalid_token"),
            Self::Scope => Some("insufficient_scope"),
            Self::NoKeys(_) => None,
        }
    }

    /// Whether a client could have made the token without the issuer.
    pub(super) fn is_guess(&self) -> bool {
        matches!(self, Self::Signature(_))
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signature(reason) => f.write_str(reason),
            Self::Claims(mistakes) => f.write_str(&mistakes.join("; ")),
            Self::Scope => f.write_str("it lacks a scope that is needed here"),
            Self::NoKeys(issuer) => write!(f, "the keys of {issuer} are not known yet"),
        }
    }
}
