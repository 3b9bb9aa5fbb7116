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

/// Returns whether a host gives whoever asks it the credentials of the machine of a cloud, in any form of its address.
///
/// Source: the documents of AWS, Google Cloud, Azure, Oracle Cloud and Alibaba Cloud on metadata of machines.
pub(crate) fn gives_credentials(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let names = ["metadata", "metadata.google.internal", "metadata.goog", "instance-data", "fd00:ec2::254"];
    if names.contains(&name.as_str()) || name.starts_with("instance-data.") {
        return true;
    }
    let mapped = name.strip_prefix("::ffff:").unwrap_or(&name);
    address(mapped).is_some_and(|address| {
        address >> 16 == LINK_LOCAL || matches!(address, METADATA_OF_ALIBABA | METADATA_OF_ORACLE)
    })
}

/// The first half of link-local addresses: 169.254.
const LINK_LOCAL: u32 = 0xa9fe;

/// 100.100.100.200
const METADATA_OF_ALIBABA: u32 = 0x6464_64c8;

/// 192.0.0.192
const METADATA_OF_ORACLE: u32 = 0xc000_00c0;

/// Reads an address of IPv4 as programs do: one to four numbers, decimal, octal or hexadecimal. Source:
/// `inet_aton`(3).
fn address(text: &str) -> Option<u32> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    };
    let numbers = text.split('.').map(number).collect::<Option<Vec<u32>>>()?;
    let (last, first) = numbers.split_last()?;
    if first.len() > 3 || first.iter().any(|number| *number > 255) {
        return None;
    }
    let high = first.iter().enumerate().fold(0, |sum, (place, number)| sum | number << (24 - 8 * place));
    Some(high | last)
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
        for host in [
            "169.254.169.254",
            "2852039166",
            "0xa9fea9fe",
            "0251.0376.0251.0376",
            "169.254.43518",
            "metadata",
            "metadata.goog",
            "instance-data.ec2.internal",
            "192.0.0.192",
        ] {
            assert!(gives_credentials(host), "{host}");
        }
        for host in ["example.com", "10.0.0.1", "metadata.example.com", "169.253.1.1", "a.b.c.d", "1.2.3.4.5"] {
            assert!(!gives_credentials(host), "{host}");
        }
        assert!(is_loopback("127.0.0.1") && is_loopback("::1") && is_loopback("LOCALHOST"));
        assert!(!is_loopback("localhost.example.com") && !is_loopback("127.0.0.1.example.com"));
    }
}
