//! Who speaks.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Whoever made a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// Nobody is asked who they are.
    Anyone,
    /// Whoever carries the token of this name.
    Token(Arc<str>),
    /// Whom an authorization server vouches for.
    Subject(Arc<Subject>),
}

/// A subject of an access token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subject {
    /// The claim `sub`.
    pub name: String,
    /// The words of claims that have some: of `scope` and `scp` the words in their text, of others the text, or those of a list.
    pub claims: BTreeMap<String, Vec<String>>,
}

impl Caller {
    /// The caller's name; never what opens the server.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Anyone => "",
            Self::Token(name) => name,
            Self::Subject(subject) => &subject.name,
        }
    }

    /// What two callers share only if they are one, whatever else their tokens say.
    #[must_use]
    pub fn identity(&self) -> Identity {
        match self {
            Self::Anyone => Identity::Anyone,
            Self::Token(name) => Identity::Token(name.clone()),
            Self::Subject(subject) => Identity::Subject(subject.name.as_str().into()),
        }
    }
}

/// See [`Caller::identity`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// Nobody is asked who they are.
    Anyone,
    /// The name of a token.
    Token(Arc<str>),
    /// The claim `sub`.
    Subject(Arc<str>),
}

impl Identity {
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
