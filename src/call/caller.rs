//! The caller of a request.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The caller of a request, as far as it has authenticated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// The server does not authenticate callers.
    Anyone,
    /// The bearer of the token with this name.
    Token(Arc<str>),
    /// The subject of an access token.
    Subject(Arc<Subject>),
}

/// The subject of an access token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subject {
    /// The claim `sub`.
    pub name: String,
    /// The words of each claim that has any. The texts of `scope` and `scp` are split at spaces. Other texts are one word, and a list
    /// of texts is a word each.
    pub claims: BTreeMap<String, Vec<String>>,
}

impl Caller {
    /// The name of the caller; never its token.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Anyone => "",
            Self::Token(name) => name,
            Self::Subject(subject) => &subject.name,
        }
    }

    /// The id of the caller. It stays the same when a newer token has other claims.
    #[must_use]
    pub fn id(&self) -> CallerId {
        match self {
            Self::Anyone => CallerId::Anyone,
            Self::Token(name) => CallerId::Token(name.clone()),
            Self::Subject(subject) => CallerId::Subject(subject.name.as_str().into()),
        }
    }
}

/// The id of a caller: two requests have the same id only if one caller sent both.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CallerId {
    /// The server does not authenticate callers.
    Anyone,
    /// The name of a token.
    Token(Arc<str>),
    /// The claim `sub`.
    Subject(Arc<str>),
}

impl CallerId {
    /// Bytes that differ for different callers.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (kind, name): (u8, &str) = match self {
            Self::Anyone => (0, ""),
            Self::Token(name) => (1, name),
            Self::Subject(name) => (2, name),
        };
        [&[kind], name.as_bytes()].concat()
    }
}
