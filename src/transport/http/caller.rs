//! Who speaks.

use std::collections::BTreeMap;
use std::net::IpAddr;
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
    /// Claims with one text, or with several words in one, such as `scope`.
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

    /// Who is counted together when requests are limited: a caller, or where nobody is asked an address.
    #[must_use]
    pub(super) fn counted_as(&self, address: IpAddr) -> Counted {
        match self {
            Self::Anyone => Counted::Address(address),
            named => Counted::Caller(named.name().to_owned()),
        }
    }
}

/// See [`Caller::counted_as`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Counted {
    Address(IpAddr),
    Caller(String),
}

/// Callers that are served under a policy of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// The name of a token.
    Token(String),
    /// A claim of an access token, and a word that it holds.
    Claim(String, String),
}

impl Who {
    /// Reads `NAME`, or `CLAIM:WORD`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.split_once(':') {
            Some((claim, word)) => Self::Claim(claim.to_owned(), word.to_owned()),
            None => Self::Token(text.to_owned()),
        }
    }

    /// Whether the caller is one of these.
    #[must_use]
    pub fn covers(&self, caller: &Caller) -> bool {
        match (self, caller) {
            (Self::Token(name), Caller::Token(token)) => **token == **name,
            (Self::Claim(claim, word), Caller::Subject(subject)) => {
                subject.claims.get(claim).is_some_and(|words| words.contains(word))
            }
            _ => false,
        }
    }
}
