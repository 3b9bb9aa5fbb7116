//! A signed token: what it says is there only once its signature is verified.
//!
//! Pure. Source: RFC 7515, sections 5.2 and 7.1; RFC 7519, section 7.2; RFC 9068, section 4; RFC 8725, section 3.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use super::keys::{Algorithm, Key};

/// Longest access token, in bytes.
const MAX_ACCESS_TOKEN_BYTES: usize = 16 << 10;

/// Types of tokens that may be access tokens; those of other kinds name themselves. Many issuers name none.
///
/// Source: RFC 9068, section 2.1; RFC 8725, section 3.11.
const TYPES: [&str; 2] = ["at+jwt", "jwt"];

/// A token in its compact form that nobody has verified yet.
#[derive(Debug)]
pub(super) struct Unverified<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) key_id: Option<String>,
    /// What is signed.
    message: &'a str,
    payload: &'a str,
    signature: Vec<u8>,
}

impl<'a> Unverified<'a> {
    /// Reads a token.
    ///
    /// # Errors
    /// It is none that could be verified.
    pub(super) fn read(token: &'a str) -> Result<Self, &'static str> {
        const NO_TOKEN: &str = "it is no signed JWT";
        if token.len() > MAX_ACCESS_TOKEN_BYTES {
            return Err("it is too long");
        }
        let (message, signature) = token.rsplit_once('.').ok_or(NO_TOKEN)?;
        let (header, payload) = message.split_once('.').ok_or(NO_TOKEN)?;
        let header = decoded(header).ok_or(NO_TOKEN)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| NO_TOKEN)?;
        let kind = header.get("typ").map_or(Some("JWT"), Value::as_str).ok_or(NO_TOKEN)?.to_ascii_lowercase();
        if !TYPES.contains(&kind.strip_prefix("application/").unwrap_or(&kind)) {
            return Err("its type is not that of an access token");
        }
        // Extensions that must be understood: there is none that is.
        if header.contains_key("crit") {
            return Err("it needs extensions (crit) that are not there");
        }
        let algorithm = header.get("alg").and_then(Value::as_str).and_then(Algorithm::named);
        let algorithm = algorithm.ok_or("it is not signed by RS256, PS256, ES256 or EdDSA")?;
        let key_id = match header.get("kid") {
            Some(id) => Some(id.as_str().ok_or(NO_TOKEN)?.to_owned()),
            None => None,
        };
        Ok(Self { algorithm, key_id, message, payload, signature })
    }

    /// What the token says, if the owner of the key has signed it.
    pub(super) fn claims(&self, key: &Key) -> Option<Map<String, Value>> {
        key.has_signed(self.algorithm, self.message.as_bytes(), &self.signature).then(|| decoded(self.payload))?
    }
}

fn decoded(part: &str) -> Option<Map<String, Value>> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}
