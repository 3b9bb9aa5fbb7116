//! Limits the rate of requests, and of wrong tokens.

use std::net::IpAddr;
use std::num::NonZero;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::caller::LimitKey;
use crate::call::caller::Caller;

/// Wrong tokens that an address may try in a second.
const MAX_WRONG_TOKENS_PER_SECOND: NonZero<u32> = NonZero::new(10).expect("ten is not zero");

/// Callers whose requests are counted. With more, those without recent requests are removed.
const MAX_COUNTED_CALLERS: usize = 10_000;

/// A number of requests within a time, for each caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    requests: NonZero<u32>,
    per: Duration,
}

impl std::str::FromStr for Rate {
    type Err = String;

    /// Reads `N/s`, `N/m` or `N/h`.
    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected a number and a time, such as 10/s, 600/m or 5000/h; found `{text}`");
        let (requests, unit) = text.split_once('/').ok_or_else(expected)?;
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            _ => return Err(expected()),
        };
        Ok(Self { requests: requests.parse().map_err(|_| expected())?, per: Duration::from_secs(seconds) })
    }
}

/// Counts requests and wrong tokens.
pub(super) struct Limiter {
    requests: Option<DefaultKeyedRateLimiter<LimitKey>>,
    wrong_tokens: DefaultKeyedRateLimiter<IpAddr>,
    clock: DefaultClock,
}

impl Limiter {
    pub(super) fn new(rate: Option<Rate>) -> Self {
        let requests = rate.and_then(|Rate { requests, per }| {
            let quota = Quota::with_period(per / requests.get())?;
            Some(RateLimiter::keyed(quota.allow_burst(requests)))
        });
        let wrong_tokens = RateLimiter::keyed(Quota::per_second(MAX_WRONG_TOKENS_PER_SECOND));
        Self { requests, wrong_tokens, clock: DefaultClock::default() }
    }

    /// Counts a request of a caller. If it is one too many, returns how long the caller has to wait.
    pub(super) fn request(&self, caller: &Caller, address: IpAddr) -> Result<(), Duration> {
        self.requests.as_ref().map_or(Ok(()), |limiter| count(limiter, &LimitKey::of(caller, address), &self.clock))
    }

    /// Counts a wrong token from an address, as [`Self::request`].
    pub(super) fn wrong_token(&self, address: IpAddr) -> Result<(), Duration> {
        count(&self.wrong_tokens, &address, &self.clock)
    }
}

fn count<K: std::hash::Hash + Eq + Clone>(
    limiter: &DefaultKeyedRateLimiter<K>,
    key: &K,
    clock: &DefaultClock,
) -> Result<(), Duration> {
    // So that many addresses do not fill the memory.
    if limiter.len() > MAX_COUNTED_CALLERS {
        limiter.retain_recent();
    }
    limiter.check_key(key).map_err(|not_until| not_until.wait_time_from(clock.now()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_number_and_unit() {
        let rate =
            |requests, seconds| Rate { requests: NonZero::new(requests).unwrap(), per: Duration::from_secs(seconds) };
        assert_eq!("10/s".parse(), Ok(rate(10, 1)));
        assert_eq!("600/m".parse(), Ok(rate(600, 60)));
        for text in ["10", "0/s", "-1/s", "1/d", "/s", "1/s/s"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    #[test]
    fn each_caller_has_its_own_rate() {
        let limiter = Limiter::new(Some("2/h".parse().unwrap()));
        let [here, there] = ["127.0.0.1", "127.0.0.2"].map(|address| address.parse().unwrap());
        let ada = Caller::Token("ada".into());
        assert!(limiter.request(&ada, here).is_ok() && limiter.request(&ada, there).is_ok());
        let wait = limiter.request(&ada, here).unwrap_err();
        assert!((1700..=1800).contains(&wait.as_secs()), "{wait:?}");
        assert!(limiter.request(&Caller::Anyone, here).is_ok() && limiter.request(&Caller::Anyone, there).is_ok());
    }
}
