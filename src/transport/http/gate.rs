//! Which names a server answers to, and which web pages may speak to it.
//!
//! Pure. A page that a browser has loaded from elsewhere can have its name resolved to this machine (DNS rebinding); then
//! only the `Host` and `Origin` headers tell. Source: MCP 2026-07-28, basic/transports, "Security Warning".

use std::net::IpAddr;

use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};

use crate::arguments::echo;

/// The hosts and origins that requests may name. This machine's own names for itself always may.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    hosts: Vec<String>,
    origins: Vec<String>,
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

impl Gate {
    /// Lets in these hosts (`NAME` for any port, or `NAME:PORT`) and these origins (`SCHEME://NAME[:PORT]`), besides what
    /// is on this machine.
    #[must_use]
    pub fn new(hosts: &[String], origins: &[String]) -> Self {
        let lowercased = |texts: &[String]| texts.iter().map(|text| text.to_ascii_lowercase()).collect();
        Self { hosts: lowercased(hosts), origins: lowercased(origins) }
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
            if !is_here && !self.origins.contains(&origin) {
                return Err(Refusal::Origin(origin));
            }
        }
        Ok(())
    }

    fn check_host(&self, host: String) -> Result<(), Refusal> {
        let name = name_of(&host).ok_or(Refusal::NoHost)?;
        let is_allowed = is_loopback(name) || self.hosts.iter().any(|allowed| *allowed == host || allowed == name);
        if is_allowed { Ok(()) } else { Err(Refusal::Host(host)) }
    }
}

fn text(value: &HeaderValue) -> Option<String> {
    value.to_str().ok().map(str::to_ascii_lowercase)
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

    fn check(gate: &Gate, headers: &[(&'static str, &'static str)]) -> Result<(), Refusal> {
        let all = headers.iter().map(|(name, value)| ((*name).try_into().unwrap(), HeaderValue::from_static(value)));
        let mut map = HeaderMap::new();
        all.for_each(|(name, value): (hyper::header::HeaderName, _)| {
            map.append(name, value);
        });
        gate.check(&map, None)
    }

    #[test]
    fn this_machine_and_what_is_named_is_let_in() {
        let gate =
            Gate::new(&["tools.example".to_owned(), "b.example:8443".to_owned()], &["https://app.example".to_owned()]);
        for host in ["localhost", "127.0.0.1:8080", "[::1]:80", "127.9.9.9", "Tools.Example:9", "b.example:8443"] {
            assert_eq!(check(&gate, &[("host", host)]), Ok(()), "{host}");
        }
        assert_eq!(check(&gate, &[("host", "localhost"), ("origin", "https://app.example")]), Ok(()));
        assert_eq!(check(&gate, &[("host", "localhost"), ("origin", "http://localhost:6274")]), Ok(()));
    }

    #[test]
    fn other_names_are_not() {
        let gate = Gate::new(&["b.example:8443".to_owned()], &["https://app.example".to_owned()]);
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
}
