//! Finds the host in what a call names: a URL, `user@host:path`, or a host.

/// Returns the host that a text names; `None` if it names none. What programs read differently is returned whole, so that
/// it is no host that anybody has named.
///
/// `is_bare` is whether a text without scheme, user and colon is a host too, as for curl. For git it is a remote or a path.
pub(crate) fn of(text: &str, is_bare: bool) -> Option<&str> {
    let (authority, is_certain) = match text.split_once("://") {
        Some((_, rest)) => (rest, true),
        None => (text, false),
    };
    let end = authority.find(['/', '?', '#']).unwrap_or(authority.len());
    let authority = &authority[..end];
    let (has_user, host) = match authority.rsplit_once('@') {
        Some((_, host)) => (true, host),
        None => (false, authority),
    };
    let (has_colon, host) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => (true, address),
        None => match host.split_once(':') {
            Some((host, _)) => (true, host),
            None => (false, host),
        },
    };
    if !(is_certain || has_user || has_colon || is_bare) {
        return None;
    }
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    Some(if host.chars().all(is_plain) && !authority.contains('\\') { host } else { text })
}

/// Returns whether a host is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let is_address = host
        .strip_prefix("127.")
        .is_some_and(|rest| rest.split('.').count() == 3 && rest.split('.').all(|part| part.parse::<u8>().is_ok()));
    is_address || host == "::1" || host.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_in_urls_and_remotes() {
        for (text, is_bare, host) in [
            ("https://user:pw@api.example.com:8080/x?y@z", true, Some("api.example.com")),
            ("https://good.example@evil.example/", true, Some("evil.example")),
            ("https://good.example\\@evil.example/", true, Some("https://good.example\\@evil.example/")),
            ("https://{a,b}.example.com/", true, Some("https://{a,b}.example.com/")),
            ("localhost:3000/health", true, Some("localhost")),
            ("example.com/x", true, Some("example.com")),
            ("http://[::1]:80/", true, Some("::1")),
            ("git@github.com:o/r.git", false, Some("github.com")),
            ("host:path", false, Some("host")),
            ("origin", false, None),
            ("../other", false, None),
        ] {
            assert_eq!(of(text, is_bare), host, "{text}");
        }
        assert!(is_loopback("127.0.0.1") && is_loopback("::1") && is_loopback("LOCALHOST"));
        assert!(!is_loopback("localhost.example.com") && !is_loopback("127.0.0.1.example.com"));
    }
}
