//! Which names a server answers to, and which web pages may speak to it.
//!
//! Pure. A page that a browser has loaded from elsewhere can have its name resolved to this machine (DNS rebinding); then
//! only the `Host` and `Origin` headers tell. Source: MCP 2026-07-28, basic/transports, "Security Warning".

use std::net::IpAddr;
use std::str::FromStr;

use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};

use crate::call::arguments::echo;

/// The hosts and origins that requests may name. This machine's own names for itself always may.
#[derive(Clone, Debug, Default)]
pub struct HostCheck {
    hosts: Vec<Host>,
    origins: Vec<Origin>,
}

/// A name or address that a server answers to: with any port, or with the one that is named.
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
        if is_authority(text) {
            let text = text.to_ascii_lowercase();
            // Without a port an IPv6 address is compared without its brackets.
            let address = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).map(str::to_owned);
            Ok(Self(address.unwrap_or(text)))
        } else {
            Err("expected a name or address as clients send it, and maybe a port, such as tools.example".to_owned())
        }
    }
}

/// Where a web page comes from, as browsers write it: scheme, host, and a port that is not the scheme's own.
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
        if !is_scheme || !is_authority(authority) {
            return Err(expected());
        }
        let own_port = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => "",
        };
        Ok(Self(format!("{scheme}://{}", authority.strip_suffix(own_port).unwrap_or(authority))))
    }
}

/// Why a request is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It names no host, or several, or what is none.
    NoHost,
    /// It names a host that is not served.
    Host(String),
    /// It comes from a web page that is not served.
    Origin(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
    /// Lets in these hosts and origins, besides what is on this machine.
    #[must_use]
    pub fn new(hosts: Vec<Host>, origins: Vec<Origin>) -> Self {
        Self { hosts, origins }
    }

    /// The web page that a request comes from, if it is one that was named.
    #[must_use]
    pub fn page<'a>(&self, headers: &'a HeaderMap) -> Option<&'a HeaderValue> {
        headers.get(ORIGIN).filter(|origin| text(origin).is_some_and(|origin| self.names(&origin)))
    }

    /// Checks the headers of a request, and the host and port in its target if they stand there.
    ///
    /// Those of the target go before the header (RFC 9112, section 3.2.2), which nobody may rely on: both must be let in.
    ///
    /// # Errors
    /// The first of them that is not let in.
    pub fn check(&self, headers: &HeaderMap, target: Option<&str>) -> Result<(), Refusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => text(host).ok_or(Refusal::NoHost)?,
            _ => return Err(Refusal::NoHost),
        };
        self.check_host(host)?;
        if let Some(target) = target {
            self.check_host(target.to_ascii_lowercase())?;
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = text(origin).unwrap_or_else(|| "?".to_owned());
            let is_here =
                origin.split_once("://").and_then(|(_, authority)| name_of(authority)).is_some_and(is_loopback);
            if !is_here && !self.names(&origin) {
                return Err(Refusal::Origin(origin));
            }
        }
        Ok(())
    }

    fn check_host(&self, host: String) -> Result<(), Refusal> {
        let name = name_of(&host).ok_or(Refusal::NoHost)?;
        let is_allowed =
            is_loopback(name) || self.hosts.iter().any(|Host(allowed)| *allowed == host || allowed == name);
        if is_allowed { Ok(()) } else { Err(Refusal::Host(host)) }
    }

    fn names(&self, origin: &str) -> bool {
        self.origins.iter().any(|Origin(allowed)| allowed == origin)
    }
}

fn text(value: &HeaderValue) -> Option<String> {
    value.to_str().ok().map(str::to_ascii_lowercase)
}

/// Whether a text is what clients write: other letters than those of ASCII are encoded then (RFC 5891).
fn is_authority(text: &str) -> bool {
    name_of(text).is_some() && text.chars().all(|c| c.is_ascii_alphanumeric() || ".-_[]:".contains(c))
}

/// The name or address of an authority, without its port.
pub(super) fn name_of(authority: &str) -> Option<&str> {
    let (name, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            rest.split_once(']').map(|(name, port)| (name, port.strip_prefix(':').or(port.is_empty().then_some("0"))))
        }
        None => Some(authority.split_once(':').map_or((authority, Some("0")), |(name, port)| (name, Some(port)))),
    }?;
    let is_port = port.is_some_and(|port| port.parse::<u16>().is_ok());
    (is_port && !name.is_empty() && !name.contains(['/', '@', '\\', ' '])).then_some(name)
}

pub(super) fn is_loopback(name: &str) -> bool {
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(hosts: &[&str], origins: &[&str]) -> HostCheck {
        let hosts = hosts.iter().map(|host| host.parse().unwrap()).collect();
        HostCheck::new(hosts, origins.iter().map(|origin| origin.parse().unwrap()).collect())
    }

    fn check(gate: &HostCheck, headers: &[(&'static str, &'static str)]) -> Result<(), Refusal> {
        let all = headers.iter().map(|(name, value)| ((*name).try_into().unwrap(), HeaderValue::from_static(value)));
        let mut map = HeaderMap::new();
        all.for_each(|(name, value): (hyper::header::HeaderName, _)| {
            map.append(name, value);
        });
        gate.check(&map, None)
    }

    #[test]
    fn this_machine_and_what_is_named_is_let_in() {
        let gate = gate(&["tools.example", "b.example:8443"], &["https://App.example:443"]);
        let gate_of_address =
            HostCheck::new(vec![IpAddr::from([192, 0, 2, 2]).into(), "[2001:db8::2]".parse().unwrap()], vec![]);
        for host in ["192.0.2.2:18100", "[2001:db8::2]", "[2001:DB8::2]:80"] {
            assert_eq!(check(&gate_of_address, &[("host", host)]), Ok(()), "{host}");
        }
        for host in ["localhost", "127.0.0.1:8080", "[::1]:80", "127.9.9.9", "Tools.Example:9", "b.example:8443"] {
            assert_eq!(check(&gate, &[("host", host)]), Ok(()), "{host}");
        }
        assert_eq!(check(&gate, &[("host", "localhost"), ("origin", "https://app.example")]), Ok(()));
        assert_eq!(check(&gate, &[("host", "localhost"), ("origin", "http://localhost:6274")]), Ok(()));
    }

    #[test]
    fn other_names_are_not() {
        let gate = gate(&["b.example:8443"], &["https://app.example"]);
        for host in ["evil.example", "b.example", "b.example:1", "localhost.evil.example", "127.0.0.1.evil.example"] {
            assert_eq!(check(&gate, &[("host", host)]), Err(Refusal::Host(host.to_owned())), "{host}");
        }
        for host in ["", ":80", "localhost:http", "user@localhost", "[::1", "localhost:99999"] {
            assert_eq!(check(&gate, &[("host", host)]), Err(Refusal::NoHost), "{host}");
        }
        assert_eq!(check(&gate, &[]), Err(Refusal::NoHost));
        let mut here = HeaderMap::new();
        here.insert(HOST, HeaderValue::from_static("localhost"));
        assert_eq!(gate.check(&here, Some("127.0.0.1:80")), Ok(()));
        assert_eq!(gate.check(&here, Some("Evil.example")), Err(Refusal::Host("evil.example".to_owned())));
        assert_eq!(check(&gate, &[("host", "localhost"), ("host", "localhost")]), Err(Refusal::NoHost));
        for origin in ["null", "http://app.example", "https://app.example.evil", "http://localhost@evil.example"] {
            let found = check(&gate, &[("host", "localhost"), ("origin", origin)]);
            assert_eq!(found, Err(Refusal::Origin(origin.to_owned())), "{origin}");
        }
    }

    #[test]
    fn what_no_client_sends_cannot_be_named() {
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
