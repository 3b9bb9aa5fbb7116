//! The keys of an issuer, fetched. It blocks.

use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::discovery::{keys_place, places};
use super::keys::Keys;
use super::url::SafeUrl;
use std::time::Duration;

/// Longest document of an authorization server, in bytes: its metadata, or its keys.
const MAX_ISSUER_DOCUMENT_BYTES: u64 = 512 << 10;

/// How long an authorization server may take for one document.
const ISSUER_LIMIT: Duration = Duration::from_secs(5);

/// Finds the keys of an issuer by its metadata.
///
/// # Errors
/// Where they were looked for, and what was wrong there.
pub(super) fn keys(issuer: &SafeUrl) -> Result<Keys, String> {
    let agent = agent(issuer)?;
    let mut mistakes = Vec::new();
    for place in places(issuer) {
        let found = get(&agent, &place).and_then(|document| keys_place(&document, issuer));
        match found {
            Ok(place) => {
                let keys = get(&agent, place.as_str()).and_then(|document| Keys::parse(&document));
                return keys.map_err(|error| format!("{place}: {error}"));
            }
            Err(error) => mistakes.push(format!("{place}: {error}")),
        }
    }
    Err(mistakes.join("; "))
}

/// It follows no redirection: what was checked is what is read.
fn agent(issuer: &SafeUrl) -> Result<Agent, String> {
    let config = Agent::config_builder()
        .timeout_global(Some(ISSUER_LIMIT))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .max_idle_connections(0)
        .user_agent("climax");
    let config = if issuer.is_encrypted() {
        // Read anew each time, so that certificates can be exchanged while the server runs.
        let found = rustls_native_certs::load_native_certs();
        if found.certs.is_empty() {
            let errors: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
            return Err(format!(
                "this machine has no certificates of authorities (package ca-certificates, or SSL_CERT_FILE): {}",
                errors.join("; ")
            ));
        }
        let roots = found.certs.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(roots)))
            .unversioned_rustls_crypto_provider(Arc::new(default_provider()));
        config.tls_config(tls.build())
    } else {
        config.proxy(None)
    };
    Ok(config.build().into())
}

fn get(agent: &Agent, place: &str) -> Result<Vec<u8>, String> {
    let mut answer = agent.get(place).header("Accept", "application/json").call().map_err(|error| error.to_string())?;
    match answer.status().as_u16() {
        200 => {}
        status @ 300..400 => return Err(format!("the status is {status}, and redirections are not followed")),
        status => return Err(format!("the status is {status}")),
    }
    let body = answer.body_mut().with_config().limit(MAX_ISSUER_DOCUMENT_BYTES);
    body.read_to_vec().map_err(|error| error.to_string())
}
