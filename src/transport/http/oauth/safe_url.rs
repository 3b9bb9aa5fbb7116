//! URLs that nobody on the network can redirect.
//!
//! Pure. The parser is that of the HTTP client which requests these URLs, so both read a URL alike. It leaves a URL as it is written,
//! which matters: issuers are compared letter by letter.

use std::fmt;
use std::str::FromStr;

use hyper::Uri;

use super::super::host_check::{host_name, is_loopback};

/// A URL with scheme `https`, or with `http` and a local host. It has neither user nor fragment, and stays as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafeUrl {
    text: String,
    /// Scheme and authority.
    origin: String,
    authority: String,
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
        // The parser would drop a fragment.
        if !is_quotable(text) || text.contains([' ', '#', '<', '>']) {
            return Err(expected("a URL in printable ASCII without spaces and fragment"));
        }

        let uri: Uri = text.parse().map_err(|_| expected("a URL such as https://login.example"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(expected("a URL such as https://login.example"));
        };
        let name = host_name(authority.as_str()).ok_or_else(|| expected("a host name or address, and maybe a port"))?;

        match scheme {
            "https" => {}
            "http" if is_loopback(&name.to_ascii_lowercase()) => {}
            _ => return Err(expected("https (http is only for this machine's own addresses)")),
        }

        let origin = format!("{scheme}://{authority}");
        if !text.starts_with(&origin) {
            return Err(expected("a scheme in small letters"));
        }

        Ok(Self { text: text.to_owned(), origin, authority: authority.to_string() })
    }

    /// The URL as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Name or address, and the port if there is one.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Path and query: nothing, or a text that starts with a slash or a question mark.
    pub(super) fn path(&self) -> &str {
        &self.text[self.origin.len()..]
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.text.starts_with("https:")
    }

    /// The URL of a well-known document about this URL.
    pub(super) fn well_known(&self, document: &str) -> String {
        format!("{}{}", self.origin, self.well_known_path(document))
    }

    /// The path of [`Self::well_known`], which ends with that of this URL.
    ///
    /// Source: RFC 8414, section 3.1; RFC 9728, section 3.1.
    pub(super) fn well_known_path(&self, document: &str) -> String {
        format!("/.well-known/{document}{}", self.path().trim_end_matches('/'))
    }

    /// The URL of a well-known document, where it is below the path of this URL.
    ///
    /// Source: OpenID.Discovery, section 4.
    pub(super) fn well_known_below(&self, document: &str) -> String {
        format!("{}{}/.well-known/{document}", self.origin, self.path().trim_end_matches('/'))
    }
}

impl fmt::Display for SafeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether a text can stand between the quotes of a header without escapes. Source: RFC 6750, section 3.
pub(super) fn is_quotable(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_https_and_local_http() {
        for text in [
            "https://a.example",
            "https://a.example:8443/x/",
            "http://127.0.0.1:9/x",
            "http://localhost",
            "http://LOCALHOST",
            "http://[::1]:1",
        ] {
            assert_eq!(text.parse::<SafeUrl>().unwrap().as_str(), text);
        }

        let endpoint = SafeUrl::endpoint("https://a.example:1?x=/y").unwrap();
        assert_eq!((endpoint.authority(), endpoint.path()), ("a.example:1", "?x=/y"));
    }

    #[test]
    fn rejects_unencrypted_and_ambiguous_urls() {
        for text in [
            "",
            "http://a.example",
            "HTTP://a.example",
            "HTTPS://a.example",
            "ftp://a.example",
            "a.example",
            "/x",
            "https:a.example",
            "https:/a.example",
            "https://",
            "https:///x",
            "https://:443",
            "https://u@a.example",
            "https://u:p@a.example",
            "https://a.example#x",
            "https://a.example?x",
            "https://a.example/?x",
            "https://a example",
            "https://a.example/\"",
            "https://a.example/\n",
            "https://a.example\\@evil.example",
            "http://localhost.evil.example",
            "http://127.0.0.1@evil.example",
            "http://2130706433",
            "https://a.example:http",
            "https://a.example:",
            "https://a.example:99999",
            "https://[::1",
            "https://ä.example",
        ] {
            assert!(text.parse::<SafeUrl>().is_err(), "{text}");
        }
    }
}
