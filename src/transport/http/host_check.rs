//! Checks which host a request names, and which web page sends it.
//!
//! Pure. A web page from elsewhere can have its name resolved to this machine (DNS rebinding). Only the headers `Host` and `Origin`
//! reveal that. Source: MCP 2026-07-28, basic/transports, "Security Warning".

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
use hyper::http::uri::Authority;

use crate::call::arguments::echo;

/// The hosts and origins that requests may name. Local names and addresses are always allowed.
#[derive(Clone, Debug, Default)]
pub struct HostCheck {
    hosts: Vec<Host>,
    origins: Vec<Origin>,
}

/// A name or address that requests may send in `Host`: with any port, or with the one that is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host(String);

impl From<IpAddr> for Host {
    fn from(address: IpAddr) -> Self {
        Self(address.to_string())
    }
}

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if is_ascii_authority(text) {
            let text = text.to_ascii_lowercase();
            // Without a port an IPv6 address is compared without its brackets.
            let address = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).map(str::to_owned);
            Ok(Self(address.unwrap_or(text)))
        } else {
            Err("expected a name or address as clients send it, and maybe a port, such as tools.example".to_owned())
        }
    }
}

/// The origin of a web page as browsers send it: scheme, host, and the port unless it is the default of the scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl FromStr for Origin {
    type Err = String;

    /// Source: RFC 6454, section 6.2.
    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || "expected an origin as browsers send it, without a path, such as https://app.example".to_owned();
        let lowercased = text.to_ascii_lowercase();
        let (scheme, authority) = lowercased.split_once("://").ok_or_else(expected)?;
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        if !is_scheme || !is_ascii_authority(authority) {
            return Err(expected());
        }

        let default_port = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => "",
        };

        Ok(Self(format!("{scheme}://{}", authority.strip_suffix(default_port).unwrap_or(authority))))
    }
}

/// The reason why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostError {
    /// It has no `Host` header, several, or a malformed one.
    NoHost,
    /// It names a host that is not allowed.
    Host(String),
    /// It comes from a web page whose origin is not allowed.
    Origin(String),
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHost => f.write_str("expected one Host header with a name or address"),
            Self::Host(host) => write!(
                f,
                "the host `{0}` is not served here; if it should be, start the server with --allowed-host {0}",
                echo(host)
            ),
            Self::Origin(origin) => write!(
                f,
                "web pages of `{0}` are not served; if they should be, start the server with --allowed-origin {0}",
                echo(origin)
            ),
        }
    }
}

impl HostCheck {
    /// Allows these hosts and origins besides the local ones.
    #[must_use]
    pub fn new(hosts: Vec<Host>, origins: Vec<Origin>) -> Self {
        Self { hosts, origins }
    }

    /// The origin of a request, if it is one of those given to [`Self::new`].
    #[must_use]
    pub fn allowed_origin<'a>(&self, headers: &'a HeaderMap) -> Option<&'a HeaderValue> {
        headers.get(ORIGIN).filter(|origin| lowercase(origin).is_some_and(|origin| self.allows_origin(&origin)))
    }

    /// Checks the headers of a request, and the authority of its target if there is one.
    ///
    /// The target takes precedence over `Host` (RFC 9112, section 3.2.2), but a proxy may read either. Both must be allowed.
    ///
    /// # Errors
    /// The first host or origin that is not allowed.
    pub fn check(&self, headers: &HeaderMap, target: Option<&str>) -> Result<(), HostError> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => lowercase(host).ok_or(HostError::NoHost)?,
            _ => return Err(HostError::NoHost),
        };
        self.check_host(host)?;
        if let Some(target) = target {
            self.check_host(target.to_ascii_lowercase())?;
        }

        for origin in headers.get_all(ORIGIN) {
            let origin = lowercase(origin).unwrap_or_else(|| "?".to_owned());
            let name = origin.split_once("://").and_then(|(_, authority)| host_name(authority));
            if !name.is_some_and(|name| is_loopback(&name)) && !self.allows_origin(&origin) {
                return Err(HostError::Origin(origin));
            }
        }

        Ok(())
    }

    fn check_host(&self, host: String) -> Result<(), HostError> {
        let name = host_name(&host).ok_or(HostError::NoHost)?;
        let is_allowed =
            is_loopback(&name) || self.hosts.iter().any(|Host(allowed)| *allowed == host || *allowed == name);
        if is_allowed { Ok(()) } else { Err(HostError::Host(host)) }
    }

    fn allows_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|Origin(allowed)| allowed == origin)
    }
}

fn lowercase(value: &HeaderValue) -> Option<String> {
    value.to_str().ok().map(str::to_ascii_lowercase)
}

/// Whether a text is an authority as clients send it. They encode other letters than those of ASCII (RFC 5891).
fn is_ascii_authority(text: &str) -> bool {
    host_name(text).is_some() && text.chars().all(|c| c.is_ascii_alphanumeric() || ".-_[]:".contains(c))
}

/// The name or address in an authority, without its port and brackets; `None` for one that is malformed or names a user.
pub(super) fn host_name(authority: &str) -> Option<String> {
    let parsed: Authority = authority.parse().ok()?;
    let host = parsed.host();
    // The parser skips a user, and ports that are no numbers.
    let is_complete = match parsed.port() {
        Some(port) => authority == format!("{host}:{port}"),
        None => authority == host,
    };
    let name = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    (is_complete && !name.is_empty()).then(|| name.to_owned())
}

/// Whether a name or address, in small letters, is one by which only this machine reaches itself.
pub(super) fn is_loopback(name: &str) -> bool {
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host_check(hosts: &[&str], origins: &[&str]) -> HostCheck {
        let hosts = hosts.iter().map(|host| host.parse().unwrap()).collect();
        HostCheck::new(hosts, origins.iter().map(|origin| origin.parse().unwrap()).collect())
    }

    fn check(host_check: &HostCheck, headers: &[(&'static str, &'static str)]) -> Result<(), HostError> {
        let all = headers.iter().map(|(name, value)| ((*name).try_into().unwrap(), HeaderValue::from_static(value)));
        let mut map = HeaderMap::new();
        all.for_each(|(name, value): (hyper::header::HeaderName, _)| {
            map.append(name, value);
        });
        host_check.check(&map, None)
    }

    #[test]
    fn allows_local_and_named_hosts() {
        let allowed = host_check(&["tools.example", "b.example:8443"], &["https://App.example:443"]);
        let allowed_addresses =
            HostCheck::new(vec![IpAddr::from([192, 0, 2, 2]).into(), "[2001:db8::2]".parse().unwrap()], vec![]);
        for host in ["192.0.2.2:18100", "[2001:db8::2]", "[2001:DB8::2]:80"] {
            assert_eq!(check(&allowed_addresses, &[("host", host)]), Ok(()), "{host}");
        }
        for host in ["localhost", "127.0.0.1:8080", "[::1]:80", "127.9.9.9", "Tools.Example:9", "b.example:8443"] {
            assert_eq!(check(&allowed, &[("host", host)]), Ok(()), "{host}");
        }

        assert_eq!(check(&allowed, &[("host", "localhost"), ("origin", "https://app.example")]), Ok(()));
        assert_eq!(check(&allowed, &[("host", "localhost"), ("origin", "http://localhost:6274")]), Ok(()));
    }

    #[test]
    fn refuses_other_hosts_and_origins() {
        let allowed = host_check(&["b.example:8443"], &["https://app.example"]);
        for host in ["evil.example", "b.example", "b.example:1", "localhost.evil.example", "127.0.0.1.evil.example"] {
            assert_eq!(check(&allowed, &[("host", host)]), Err(HostError::Host(host.to_owned())), "{host}");
        }
        for host in
            ["", ":80", "localhost:http", "user@localhost", "[::1", "[::1]x", "localhost:", "localhost:99999", "a:1:2"]
        {
            assert_eq!(check(&allowed, &[("host", host)]), Err(HostError::NoHost), "{host}");
        }
        assert_eq!(check(&allowed, &[]), Err(HostError::NoHost));
        let mut here = HeaderMap::new();
        here.insert(HOST, HeaderValue::from_static("localhost"));
        assert_eq!(allowed.check(&here, Some("127.0.0.1:80")), Ok(()));
        assert_eq!(allowed.check(&here, Some("Evil.example")), Err(HostError::Host("evil.example".to_owned())));
        assert_eq!(check(&allowed, &[("host", "localhost"), ("host", "localhost")]), Err(HostError::NoHost));

        for origin in ["null", "http://app.example", "https://app.example.evil", "http://localhost@evil.example"] {
            let found = check(&allowed, &[("host", "localhost"), ("origin", origin)]);
            assert_eq!(found, Err(HostError::Origin(origin.to_owned())), "{origin}");
        }
    }

    #[test]
    fn rejects_hosts_and_origins_no_client_sends() {
        for host in ["", "https://tools.example", "tools.example/", "tools.example:http", "tööls.example", "*"] {
            assert!(host.parse::<Host>().is_err(), "{host}");
        }

        for origin in ["app.example", "https://", "https://app.example/", "https://a@app.example", "*", "null", "://a"]
        {
            assert!(origin.parse::<Origin>().is_err(), "{origin}");
        }
        let extension = "chrome-extension://abcdefghijklmnop";
        assert_eq!(extension.parse(), Ok(Origin(extension.to_owned())));
        assert_eq!("http://app.example:443".parse(), Ok(Origin("http://app.example:443".to_owned())));
    }
}
