//! Fetches the keys of an issuer. It blocks.

use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring::default_provider;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::discovery::{jwks_url, metadata_urls};
use super::keys::KeySet;
use super::safe_url::SafeUrl;
use crate::identity;

/// Longest document of an authorization server, in bytes: its metadata, or its keys.
const MAX_ISSUER_DOCUMENT_BYTES: u64 = 512 << 10;

/// How long an authorization server may take for one document.
const ISSUER_LIMIT: Duration = Duration::from_secs(5);

/// Fetches the keys of an issuer, whose URL is in its metadata.
///
/// # Errors
/// The URLs that were tried, and what was wrong with each.
pub(super) fn keys(issuer: &SafeUrl) -> Result<KeySet, String> {
    let agent = agent(issuer)?;
    let mut mistakes = Vec::new();
    for metadata_url in metadata_urls(issuer) {
        let found = get(&agent, &metadata_url).and_then(|metadata| jwks_url(&metadata, issuer));
        match found {
            Ok(url) => {
                let keys = get(&agent, url.as_str()).and_then(|document| KeySet::parse(&document));
                return keys.map_err(|error| format!("{url}: {error}"));
            }
            Err(error) => mistakes.push(format!("{metadata_url}: {error}")),
        }
    }

    Err(mistakes.join("; "))
}

/// An HTTP client. It follows no redirections, which could lead to other URLs than those that were checked.
fn agent(issuer: &SafeUrl) -> Result<Agent, String> {
    let config = Agent::config_builder()
        .timeout_global(Some(ISSUER_LIMIT))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .max_idle_connections(0)
        .user_agent(identity::name());
    let config = if issuer.is_encrypted() {
        // Certificates may change while the server runs.
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

fn get(agent: &Agent, url: &str) -> Result<Vec<u8>, String> {
    let mut response = agent.get(url).header("Accept", "application/json").call().map_err(|error| error.to_string())?;
    match response.status().as_u16() {
        200 => {}
        status @ 300..400 => return Err(format!("the status is {status}, and redirections are not followed")),
        status => return Err(format!("the status is {status}")),
    }
    let body = response.body_mut().with_config().limit(MAX_ISSUER_DOCUMENT_BYTES);
    body.read_to_vec().map_err(|error| error.to_string())
}
