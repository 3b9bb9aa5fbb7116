//! What an authorization server says of itself: where that is found, and where it leads.
//!
//! Pure. Source: RFC 8414; OpenID.Discovery, section 4; MCP 2026-07-28, "Authorization Server Metadata Discovery".

use serde_json::Value;

use super::url::SafeUrl;

/// Where the metadata of an issuer may be, the likeliest place first.
pub(super) fn places(issuer: &SafeUrl) -> Vec<String> {
    let openid = "openid-configuration";
    let mut places = vec![issuer.well_known("oauth-authorization-server"), issuer.well_known(openid)];
    let path = issuer.path().trim_end_matches('/');
    if !path.is_empty() {
        places.push(format!("{}{path}/.well-known/{openid}", issuer.origin()));
    }
    places
}

/// Where the keys of an issuer are, by its metadata.
///
/// # Errors
/// The document is not the issuer's, or does not say it.
pub(super) fn keys_place(document: &[u8], issuer: &SafeUrl) -> Result<SafeUrl, String> {
    let metadata: Value = serde_json::from_slice(document).map_err(|error| format!("it is not JSON: {error}"))?;
    match metadata["issuer"].as_str() {
        Some(named) if named == issuer.as_str() => {}
        Some(named) => {
            return Err(format!("it is of the issuer `{}`, expected exactly `{issuer}`", named.escape_debug()));
        }
        None => return Err("it names no `issuer`".to_owned()),
    }
    let place = metadata["jwks_uri"].as_str().ok_or("it has no `jwks_uri`, which leads to the keys")?;
    let place = SafeUrl::endpoint(place).map_err(|error| format!("its `jwks_uri`: {error}"))?;
    if issuer.is_encrypted() && !place.is_encrypted() {
        return Err(format!("its `jwks_uri` is not under https: `{place}`"));
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> SafeUrl {
        text.parse().unwrap()
    }

    #[test]
    fn places_follow_the_path_of_the_issuer() {
        let plain = [
            "https://a.example/.well-known/oauth-authorization-server",
            "https://a.example/.well-known/openid-configuration",
        ];
        assert_eq!(places(&url("https://a.example")), plain);
        assert_eq!(places(&url("https://a.example/")), plain);
        let of_tenant = [
            "https://a.example/.well-known/oauth-authorization-server/t/1",
            "https://a.example/.well-known/openid-configuration/t/1",
            "https://a.example/t/1/.well-known/openid-configuration",
        ];
        assert_eq!(places(&url("https://a.example/t/1/")), of_tenant);
    }

    #[test]
    fn only_the_issuer_s_own_metadata_leads_to_its_keys() {
        let issuer = url("https://a.example");
        let of = |text: &str| keys_place(text.as_bytes(), &issuer).map(|place| place.to_string());
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
