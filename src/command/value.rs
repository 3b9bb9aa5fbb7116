//! Parses values of options. Error messages say which value is expected.

#[cfg(feature = "http")]
use core::net::IpAddr;
use std::num::NonZero;
use std::str::FromStr;
use std::time::Duration;

/// Parses an integer.
pub(super) fn integer<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "expected a whole number in plain digits, such as 1000".to_owned())
}

/// Parses an integer that is not 0.
pub(super) fn positive(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "expected a whole number in plain digits, 1 at least".to_owned())
}

/// Parses a time of at most a day.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let in_a_day = seconds.filter(|seconds| *seconds <= Duration::from_hours(24));
    in_a_day.ok_or_else(|| "expected seconds from 0 to 86400, such as 20 or 0.5".to_owned())
}

/// Parses a port.
#[cfg(feature = "http")]
pub(super) fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "expected a number from 0 to 65535".to_owned())
}

/// Parses an IP address.
#[cfg(feature = "http")]
pub(super) fn address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| "expected an IP address, such as 127.0.0.1".to_owned())
}
