//! Callers over HTTP: which of them share a limit, and which have a policy of their own.

use std::net::IpAddr;

use crate::call::caller::{Caller, CallerId};

/// The key under which limits count requests: a caller, or an address where callers do not authenticate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum LimitKey {
    Address(IpAddr),
    Caller(CallerId),
}

impl LimitKey {
    /// The key of the requests that `caller` sends from `address`.
    pub(super) fn of(caller: &Caller, address: IpAddr) -> Self {
        match caller.id() {
            CallerId::Anyone => Self::Address(address),
            named => Self::Caller(named),
        }
    }
}

/// Matches the callers that a policy of their own applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallerPattern {
    /// The name of a token.
    Token(String),
    /// The name of a claim of an access token, and a word that its value holds.
    Claim(String, String),
}

impl CallerPattern {
    /// Reads `NAME`, or `CLAIM:WORD`. The claim may be a URL.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        // Private claims have URLs as names where others could clash. Source: RFC 7519, section 4.2.
        let scheme = text.find("://").map_or(0, |at| at + "://".len());
        match text[scheme..].find(':').map(|at| text.split_at(scheme + at)) {
            Some((claim, word)) => Self::Claim(claim.to_owned(), word[1..].to_owned()),
            None => Self::Token(text.to_owned()),
        }
    }

    /// Whether the caller is one of these.
    #[must_use]
    pub fn matches(&self, caller: &Caller) -> bool {
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
    fn claim_name_may_be_a_url() {
        let claim = |claim: &str, word: &str| CallerPattern::Claim(claim.to_owned(), word.to_owned());
        assert_eq!(CallerPattern::parse("ci"), CallerPattern::Token("ci".to_owned()));
        assert_eq!(CallerPattern::parse("scope:mcp:tools"), claim("scope", "mcp:tools"));
        assert_eq!(CallerPattern::parse("https://a.example/roles:admin"), claim("https://a.example/roles", "admin"));
        assert_eq!(CallerPattern::parse("https://a.example/roles:x:y"), claim("https://a.example/roles", "x:y"));
    }
}
