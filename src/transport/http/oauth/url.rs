//! URLs that may be trusted with what opens a server.
//!
//! Pure.

use std::fmt;
use std::str::FromStr;

use super::super::host_check::{is_loopback, name_of};

/// A URL under `https`, or under `http` on this machine. It has neither user nor fragment, and is kept as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafeUrl {
    text: String,
    /// Where scheme and authority end.
    origin_end: usize,
}

impl FromStr for SafeUrl {
    type Err = String;

    /// Reads the URL of an issuer or a resource, which has no query either.
    ///
    /// Source: RFC 8414, section 2; RFC 9728, section 1.2; MCP 2026-07-28, "Communication Security".
    fn from_str(text: &str) -> Result<Self, String> {
        match Self::endpoint(text)? {
            url if url.path().contains('?') => Err(format!("expected a URL without query, found `{text}`")),
            url => Ok(url),
        }
    }
}

impl SafeUrl {
    /// Reads a URL that may have a query.
    pub(super) fn endpoint(text: &str) -> Result<Self, String> {
        let expected = |what: &str| format!("expected {what}, found `{}`", text.escape_debug());
        if !is_quotable(text) || text.contains([' ', '#', '<', '>']) {
            return Err(expected("a URL in printable ASCII without spaces and fragment"));
        }
        let (scheme, rest) = text.split_once("://").ok_or_else(|| expected("a URL such as https://login.example"))?;
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        let name = name_of(authority).ok_or_else(|| expected("a host name or address, and maybe a port"))?;
        match scheme {
            "https" => {}
            "http" if is_loopback(&name.to_ascii_lowercase()) => {}
            _ => return Err(expected("https (http is for this machine's own addresses alone)")),
        }
        Ok(Self { text: text.to_owned(), origin_end: scheme.len() + "://".len() + authority.len() })
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Name or address, and the port if there is one.
    #[must_use]
    pub fn authority(&self) -> &str {
        let origin = self.origin();
        origin.split_once("://").map_or(origin, |(_, authority)| authority)
    }

    /// Scheme and authority.
    pub(super) fn origin(&self) -> &str {
        &self.text[..self.origin_end]
    }

    /// What follows the authority: nothing, or something that starts with a slash.
    pub(super) fn path(&self) -> &str {
        &self.text[self.origin_end..]
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.text.starts_with("https:")
    }

    /// The URL of a well-known document about this one, which stands between host and path.
    ///
    /// Source: RFC 8414, section 3.1; RFC 9728, section 3.1.
    pub(super) fn well_known(&self, document: &str) -> String {
        format!("{}/.well-known/{document}{}", self.origin(), self.path().trim_end_matches('/'))
    }
}

impl fmt::Display for SafeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether a text can stand between the quotes of a header as it is. Source: RFC 6750, section 3.
pub(super) fn is_quotable(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_on_the_way_can_change_is_taken() {
        for text in [
            "https://a.example",
            "https://a.example:8443/x/",
            "http://127.0.0.1:9/x",
            "http://localhost",
            "http://[::1]:1",
        ] {
            assert_eq!(text.parse::<SafeUrl>().unwrap().as_str(), text);
        }
        for text in [
            "http://a.example",
            "ftp://a.example",
            "a.example",
            "https://",
            "https:///x",
            "https://u@a.example",
            "https://a.example#x",
            "https://a.example?x",
            "https://a.example/?x",
            "https://a example",
            "https://a.example/\"",
            "https://a.example/\n",
            "http://localhost.evil.example",
            "http://127.0.0.1@evil.example",
            "https://a.example:http",
        ] {
            assert!(text.parse::<SafeUrl>().is_err(), "{text}");
        }
        assert_eq!(SafeUrl::endpoint("https://a.example?x=/y").unwrap().origin(), "https://a.example");
    }
}
