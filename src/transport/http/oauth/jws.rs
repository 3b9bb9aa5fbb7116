//! Access tokens in the compact form of JWS. The claims can be read only after the signature is verified.
//!
//! Pure. Source: RFC 7515, sections 5.2 and 7.1; RFC 7519, section 7.2; RFC 9068, section 4; RFC 8725, section 3.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use super::keys::{Algorithm, VerificationKey};

/// Longest access token, in bytes.
const MAX_ACCESS_TOKEN_BYTES: usize = 16 << 10;

/// Values of `typ` that an access token may have. Other kinds of tokens have other values, and the tokens of many
/// issuers have none.
///
/// Source: RFC 9068, section 2.1; RFC 8725, section 3.11.
const TYPES: [&str; 2] = ["at+jwt", "jwt"];

/// A token whose signature is not verified yet.
#[derive(Debug)]
pub(super) struct UnverifiedToken<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) key_id: Option<String>,
    /// Header and payload, which the signature is for.
    message: &'a str,
    payload: &'a str,
    signature: Vec<u8>,
}

impl<'a> UnverifiedToken<'a> {
    /// Reads the header of a token.
    ///
    /// # Errors
    /// The token is malformed, of another type, or needs an algorithm or an extension that is not supported.
    pub(super) fn read(token: &'a str) -> Result<Self, &'static str> {
        const MALFORMED: &str = "it is no signed JWT";
        if token.len() > MAX_ACCESS_TOKEN_BYTES {
            return Err("it is too long");
        }

        let (message, signature) = token.rsplit_once('.').ok_or(MALFORMED)?;
        let (header, payload) = message.split_once('.').ok_or(MALFORMED)?;
        let header = json_object(header).ok_or(MALFORMED)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| MALFORMED)?;
        let kind = header.get("typ").map_or(Some("JWT"), Value::as_str).ok_or(MALFORMED)?.to_ascii_lowercase();
        if !TYPES.contains(&kind.strip_prefix("application/").unwrap_or(&kind)) {
            return Err("its type is not that of an access token");
        }

        // A token with extensions that the reader does not support must be refused. RFC 7515, section 4.1.11.
        if header.contains_key("crit") {
            return Err("it needs extensions (crit) that are not there");
        }

        let algorithm = header.get("alg").and_then(Value::as_str).and_then(Algorithm::from_name);
        let algorithm = algorithm.ok_or("it is not signed by RS256, PS256, ES256 or EdDSA")?;
        let key_id = match header.get("kid") {
            Some(id) => Some(id.as_str().ok_or(MALFORMED)?.to_owned()),
            None => None,
        };

        Ok(Self { algorithm, key_id, message, payload, signature })
    }

    /// Returns the claims, if the signature is one by `key`.
    pub(super) fn verify(&self, key: &VerificationKey) -> Option<Map<String, Value>> {
        key.verify(self.algorithm, self.message.as_bytes(), &self.signature).then(|| json_object(self.payload))?
    }
}

fn json_object(part: &str) -> Option<Map<String, Value>> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn token(header: &Value) -> String {
        format!("{}.{}.AAAA", URL_SAFE_NO_PAD.encode(header.to_string()), URL_SAFE_NO_PAD.encode("{}"))
    }

    fn refusal(token: &str) -> Option<&'static str> {
        UnverifiedToken::read(token).err()
    }

    #[test]
    fn reads_headers_of_access_tokens() {
        for header in [
            json!({ "alg": "ES256" }),
            json!({ "alg": "Ed25519", "typ": "at+jwt", "kid": "1" }),
            json!({ "alg": "PS256", "typ": "application/AT+JWT", "x5t": "AAAA", "jku": "https://evil.example" }),
        ] {
            assert_eq!(refusal(&token(&header)), None, "{header}");
        }
    }

    #[test]
    fn refuses_algorithms_types_and_extensions_that_are_not_supported() {
        for (header, reason) in [
            (json!({}), "signed by"),
            (json!({ "alg": "none" }), "signed by"),
            (json!({ "alg": "nOnE" }), "signed by"),
            (json!({ "alg": "HS256" }), "signed by"),
            (json!({ "alg": "RS1" }), "signed by"),
            (json!({ "alg": "es256" }), "signed by"),
            (json!({ "alg": ["ES256"] }), "signed by"),
            (json!({ "alg": "ES256", "typ": "dpop+jwt" }), "type"),
            (json!({ "alg": "ES256", "typ": null }), "signed JWT"),
            (json!({ "alg": "ES256", "crit": ["b64"], "b64": false }), "crit"),
            (json!({ "alg": "ES256", "crit": [] }), "crit"),
            (json!({ "alg": "ES256", "crit": null }), "crit"),
            (json!({ "alg": "ES256", "kid": 1 }), "signed JWT"),
            (json!({ "alg": "ES256", "kid": null }), "signed JWT"),
            (json!(["ES256"]), "signed JWT"),
        ] {
            let found = refusal(&token(&header));
            assert!(found.is_some_and(|found| found.contains(reason)), "{header}: {found:?}");
        }
    }

    #[test]
    fn refuses_malformed_and_long_tokens() {
        let good = token(&json!({ "alg": "ES256" }));
        let padded = format!("{good}A=");
        for token in ["", ".", "..", "x", "a.b.c", good.replacen('.', "", 1).as_str(), &padded, &format!("{good}\n")] {
            assert_eq!(refusal(token), Some("it is no signed JWT"), "{token}");
        }
        let long = good + &"A".repeat(MAX_ACCESS_TOKEN_BYTES);
        assert_eq!(refusal(&long), Some("it is too long"));
    }
}
