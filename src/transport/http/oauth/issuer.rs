//! The keys of an authorization server, which are cached and refreshed.

use std::sync::{Arc, RwLock};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use super::fetch;
use super::keys::{Algorithm, KeySet};
use super::safe_url::SafeUrl;
use crate::lock::Unpoisoned as _;

/// The time after which the keys of an authorization server are fetched again.
const KEYS_INTERVAL: Duration = Duration::from_mins(10);

/// How long keys of an authorization server are used if they cannot be fetched again.
const MAX_KEYS_AGE: Duration = Duration::from_hours(6);

/// The least time between two fetches of keys because of tokens with an unknown key.
const MIN_UNKNOWN_KEY_INTERVAL: Duration = Duration::from_secs(10);

/// The time until the first retry of a failed fetch of keys. It doubles with each further one.
const MIN_ISSUER_RETRY: Duration = Duration::from_secs(1);

/// The longest time until a retry of a failed fetch of keys.
const MAX_ISSUER_RETRY: Duration = Duration::from_mins(1);

/// An authorization server.
#[derive(Debug)]
pub(super) struct Issuer {
    url: SafeUrl,
    cache: RwLock<Option<CachedKeys>>,
    /// The time of the last fetch because of an unknown key. The lock is held during the fetch, so that there is one at a time.
    unknown_key_fetch: Mutex<Option<Instant>>,
}

#[derive(Debug)]
struct CachedKeys {
    keys: Arc<KeySet>,
    fetched: Instant,
}

impl Issuer {
    pub(super) fn new(url: SafeUrl) -> Self {
        Self { url, cache: RwLock::default(), unknown_key_fetch: Mutex::default() }
    }

    pub(super) fn url(&self) -> &SafeUrl {
        &self.url
    }

    /// The cached keys, unless there are none or they are too old.
    pub(super) fn keys(&self) -> Option<Arc<KeySet>> {
        let cache = self.cache.read().unpoisoned();
        cache.as_ref().filter(|cache| cache.fetched.elapsed() < MAX_KEYS_AGE).map(|cache| cache.keys.clone())
    }

    /// The keys, fetched again if this one is unknown and [`MIN_UNKNOWN_KEY_INTERVAL`] has passed.
    pub(super) async fn keys_with(&self, id: Option<&str>, algorithm: Algorithm) -> Option<Arc<KeySet>> {
        let keys = self.keys()?;
        if keys.find(id, algorithm).is_some() {
            return Some(keys);
        }

        let mut last_fetch = self.unknown_key_fetch.lock().await;
        // Another request may have fetched it while this one waited for the lock.
        let keys = self.keys()?;
        let is_too_soon = last_fetch.is_some_and(|last| last.elapsed() < MIN_UNKNOWN_KEY_INTERVAL);
        if is_too_soon || keys.find(id, algorithm).is_some() {
            return Some(keys);
        }

        // Set before the fetch, since the caller may disconnect meanwhile. Set again after it, so that the requests that wait for a
        // slow issuer do not each start another fetch.
        *last_fetch = Some(Instant::now());
        if let Err(error) = self.fetch().await {
            tracing::warn!("a token names an unknown key, and the keys of {} cannot be read again: {error}", self.url);
        }

        *last_fetch = Some(Instant::now());
        self.keys()
    }

    /// Fetches the keys again and again, without end. After a failure it retries, with a longer wait each time.
    pub(super) async fn refresh(&self) {
        let mut retry = MIN_ISSUER_RETRY;
        loop {
            match self.fetch().await {
                Ok(()) => {
                    retry = MIN_ISSUER_RETRY;
                    sleep(KEYS_INTERVAL).await;
                }
                Err(error) => {
                    let effect = match self.keys() {
                        Some(_) => "those that are known are used for some hours more",
                        None => "its access tokens are answered with status 503",
                    };
                    tracing::error!("the keys of {} cannot be read; {effect}: {error}", self.url);
                    sleep(retry).await;
                    retry = (retry * 2).min(MAX_ISSUER_RETRY);
                }
            }
        }
    }

    async fn fetch(&self) -> Result<(), String> {
        let url = self.url.clone();
        let keys =
            tokio::task::spawn_blocking(move || fetch::keys(&url)).await.map_err(|error| error.to_string())??;
        tracing::info!("the keys of {} were read", self.url);
        let cached = CachedKeys { keys: Arc::new(keys), fetched: Instant::now() };
        *self.cache.write().unpoisoned() = Some(cached);
        Ok(())
    }
}
