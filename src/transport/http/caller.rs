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

    /// Who is counted together when requests are limited: a caller, or where nobody is asked an address.
    #[must_use]
    pub(super) fn counted_as(&self, address: IpAddr) -> Counted {
        match self.identity() {
            Identity::Anyone => Counted::Address(address),
            named => Counted::Caller(named),
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

/// See [`Caller::counted_as`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Counted {
    Address(IpAddr),
    Caller(Identity),
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
    /// Reads `NAME`, or `CLAIM:WORD`, where the claim may be a URL.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        // Claims of one's own are named by URLs where names could clash. Source: RFC 7519, section 4.2.
        let scheme = text.find("://").map_or(0, |at| at + "://".len());
        match text[scheme..].find(':').map(|at| text.split_at(scheme + at)) {
            Some((claim, word)) => Self::Claim(claim.to_owned(), word[1..].to_owned()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_may_be_named_by_a_url() {
        let claim = |claim: &str, word: &str| Who::Claim(claim.to_owned(), word.to_owned());
        assert_eq!(Who::parse("ci"), Who::Token("ci".to_owned()));
        assert_eq!(Who::parse("scope:mcp:tools"), claim("scope", "mcp:tools"));
        assert_eq!(Who::parse("https://a.example/roles:admin"), claim("https://a.example/roles", "admin"));
        assert_eq!(Who::parse("https://a.example/roles:x:y"), claim("https://a.example/roles", "x:y"));
    }
}
