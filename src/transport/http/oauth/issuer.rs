//! The keys of an authorization server, held and kept fresh.

use std::sync::{Arc, RwLock};

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use super::fetch;
use super::keys::{Algorithm, Keys};
use super::url::SafeUrl;
use crate::lock::Unpoisoned as _;
use std::time::Duration;

/// The time after which the keys of an authorization server are read again.
const KEYS_INTERVAL: Duration = Duration::from_mins(10);

/// How long keys are used that could not be read again.
const MAX_KEYS_AGE: Duration = Duration::from_hours(6);

/// The least time between two readings of the keys because of tokens whose key is unknown.
const MIN_UNKNOWN_KEY_INTERVAL: Duration = Duration::from_secs(10);

/// The time after which an authorization server that did not answer is asked again, the first time; then doubled.
const MIN_ISSUER_RETRY: Duration = Duration::from_secs(1);

/// The longest time after which an authorization server that did not answer is asked again.
const MAX_ISSUER_RETRY: Duration = Duration::from_mins(1);

/// An authorization server.
#[derive(Debug)]
pub(super) struct Issuer {
    url: SafeUrl,
    held: RwLock<Option<Held>>,
    /// When an unknown key last had the keys read again. Held while that goes on, so that it goes on once.
    asked: Mutex<Option<Instant>>,
}

#[derive(Debug)]
struct Held {
    keys: Arc<Keys>,
    read: Instant,
}

impl Issuer {
    pub(super) fn new(url: SafeUrl) -> Self {
        Self { url, held: RwLock::default(), asked: Mutex::default() }
    }

    pub(super) fn url(&self) -> &SafeUrl {
        &self.url
    }

    /// The keys, unless they are unknown or too old.
    pub(super) fn keys(&self) -> Option<Arc<Keys>> {
        let held = self.held.read().unpoisoned();
        held.as_ref().filter(|held| held.read.elapsed() < MAX_KEYS_AGE).map(|held| held.keys.clone())
    }

    /// The keys, read again if one is not among them and that has not happened just before.
    pub(super) async fn keys_with(&self, id: Option<&str>, algorithm: Algorithm) -> Option<Arc<Keys>> {
        let keys = self.keys()?;
        if keys.find(id, algorithm).is_some() {
            return Some(keys);
        }
        let mut asked = self.asked.lock().await;
        // Whoever held the lock before may have brought it.
        let keys = self.keys()?;
        let is_too_soon = asked.is_some_and(|asked| asked.elapsed() < MIN_UNKNOWN_KEY_INTERVAL);
        if is_too_soon || keys.find(id, algorithm).is_some() {
            return Some(keys);
        }
        // Before, since the caller may go away meanwhile; after, so that those who wait do not all ask a slow issuer in turn.
        *asked = Some(Instant::now());
        if let Err(error) = self.read().await {
            tracing::warn!("a token names an unknown key, and the keys of {} cannot be read again: {error}", self.url);
        }
        *asked = Some(Instant::now());
        self.keys()
    }

    /// Reads the keys, and again from time to time, for ever. If that fails it is tried again, ever more slowly.
    pub(super) async fn keep(&self) {
        let mut retry = MIN_ISSUER_RETRY;
        loop {
            match self.read().await {
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

    async fn read(&self) -> Result<(), String> {
        let url = self.url.clone();
        let keys =
            tokio::task::spawn_blocking(move || fetch::keys(&url)).await.map_err(|error| error.to_string())??;
        tracing::info!("the keys of {} were read", self.url);
        let held = Held { keys: Arc::new(keys), read: Instant::now() };
        *self.held.write().unpoisoned() = Some(held);
        Ok(())
    }
}
