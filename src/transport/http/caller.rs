//! Callers over HTTP: which share a limit, and which are served under a policy of their own.

use std::net::IpAddr;

use crate::call::caller::{Caller, Identity};

/// What requests are counted under: a caller, or an address where callers have no names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Counted {
    Address(IpAddr),
    Caller(Identity),
}

impl Counted {
    /// What the requests of `caller` from `address` are counted under.
    pub(super) fn of(caller: &Caller, address: IpAddr) -> Self {
        match caller.identity() {
            Identity::Anyone => Self::Address(address),
            named => Self::Caller(named),
        }
    }
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
