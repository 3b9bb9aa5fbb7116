//! The metadata of an authorization server: its URLs, and the URL of the keys in it.
//!
//! Pure. Source: RFC 8414; OpenID.Discovery, section 4; MCP 2026-07-28, "Authorization Server Metadata Discovery".

use serde_json::Value;

use super::safe_url::SafeUrl;

/// The URLs at which an issuer may serve its metadata, in the order of the MCP specification.
pub(super) fn metadata_urls(issuer: &SafeUrl) -> Vec<String> {
    let openid = "openid-configuration";
    let mut urls = vec![issuer.well_known("oauth-authorization-server"), issuer.well_known(openid)];
    if !issuer.path().trim_end_matches('/').is_empty() {
        urls.push(issuer.well_known_below(openid));
    }
    urls
}

/// Returns the URL of the keys of an issuer, from its metadata.
///
/// # Errors
/// The metadata is malformed, of another issuer, or without a safe `jwks_uri`.
pub(super) fn jwks_url(metadata: &[u8], issuer: &SafeUrl) -> Result<SafeUrl, String> {
    let metadata: Value = serde_json::from_slice(metadata).map_err(|error| format!("it is not JSON: {error}"))?;
    match metadata["issuer"].as_str() {
        Some(named) if named == issuer.as_str() => {}
        Some(named) => {
            return Err(format!("it is of the issuer `{}`, expected exactly `{issuer}`", named.escape_debug()));
        }
        None => return Err("it names no `issuer`".to_owned()),
    }
    let url = metadata["jwks_uri"].as_str().ok_or("it has no `jwks_uri`, the URL of the keys")?;
    let url = SafeUrl::endpoint(url).map_err(|error| format!("its `jwks_uri`: {error}"))?;
    if issuer.is_encrypted() && !url.is_encrypted() {
        return Err(format!("its `jwks_uri` is not under https: `{url}`"));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> SafeUrl {
        text.parse().unwrap()
    }

    #[test]
    fn metadata_urls_contain_the_path_of_the_issuer() {
        let plain = [
            "https://a.example/.well-known/oauth-authorization-server",
            "https://a.example/.well-known/openid-configuration",
        ];
        assert_eq!(metadata_urls(&url("https://a.example")), plain);
        assert_eq!(metadata_urls(&url("https://a.example/")), plain);
        let of_tenant = [
            "https://a.example/.well-known/oauth-authorization-server/t/1",
            "https://a.example/.well-known/openid-configuration/t/1",
            "https://a.example/t/1/.well-known/openid-configuration",
        ];
        assert_eq!(metadata_urls(&url("https://a.example/t/1/")), of_tenant);
    }

    #[test]
    fn refuses_metadata_of_another_issuer_and_unsafe_key_urls() {
        let issuer = url("https://a.example");
        let of = |text: &str| jwks_url(text.as_bytes(), &issuer).map(|url| url.to_string());
        assert_eq!(
            of(r#"{"issuer":"https://a.example","jwks_uri":"https://k.example/?v=1"}"#).unwrap(),
            "https://k.example/?v=1"
        );
        for text in [
            r#"{"issuer":"https://a.example/","jwks_uri":"https://k.example"}"#,
            r#"{"jwks_uri":"https://k.example"}"#,
            r#"{"issuer":"https://a.example"}"#,
            r#"{"issuer":"https://a.example","jwks_uri":"http://k.example"}"#,
            r#"{"issuer":"https://a.example","jwks_uri":"http://127.0.0.1"}"#,
            "[]",
            "<html>",
        ] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
