//! The public keys of an authorization server, which verify signatures.
//!
//! Pure. Each type of key allows only its own algorithms, so a token cannot choose an algorithm of another type. Source: RFC 7517;
//! RFC 7518, sections 3 and 6; RFC 8037; RFC 8725, section 3.1.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde_json::Value;

/// Bytes of a coordinate of P-256, and of a key of Ed25519.
const COORDINATE_BYTES: usize = 32;
/// The first byte of an uncompressed point. Source: SEC 1, section 2.3.3.
const UNCOMPRESSED: u8 = 4;

/// The algorithms that are supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rs256,
    Ps256,
    Es256,
    EdDsa,
}

/// The keys of an issuer that verify one of [`Algorithm`].
#[derive(Debug, Default)]
pub(super) struct KeySet(Vec<VerificationKey>);

#[derive(Debug)]
pub(super) struct VerificationKey {
    id: Option<String>,
    /// The one algorithm that the key may be used with, if its issuer names one.
    only: Option<Algorithm>,
    material: KeyMaterial,
}

#[derive(Debug)]
enum KeyMaterial {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl Algorithm {
    /// Source: RFC 7518, section 3.1; RFC 8037, section 3.1; RFC 9864, section 2.2.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "PS256" => Some(Self::Ps256),
            "ES256" => Some(Self::Es256),
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

impl KeySet {
    /// Reads a JWK set. Keys that verify no supported algorithm are left out.
    ///
    /// # Errors
    /// The text is no JWK set, or no key is left.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let set: Value = serde_json::from_slice(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let all = set["keys"].as_array().ok_or("it has no list `keys`")?;
        let keys: Vec<VerificationKey> = all.iter().filter_map(VerificationKey::read).collect();
        if keys.is_empty() {
            return Err(format!("none of its {} keys is for signatures by RS256, PS256, ES256 or EdDSA", all.len()));
        }
        Ok(Self(keys))
    }

    /// Finds the key with this id for an algorithm. Without an id, it must be the only key for the algorithm.
    pub(super) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&VerificationKey> {
        let mut keys = self.0.iter().filter(|key| key.allows(algorithm));
        match id {
            Some(id) => keys.find(|key| key.id.as_deref() == Some(id)),
            None => keys.next().filter(|_| keys.next().is_none()),
        }
    }
}

impl VerificationKey {
    /// Reads a JWK; `None` if it is malformed, of another type, or not meant to verify signatures.
    fn read(jwk: &Value) -> Option<Self> {
        let only = match jwk.get("alg") {
            Some(name) => Some(Algorithm::from_name(name.as_str()?)?),
            None => None,
        };
        let is_for_signatures = jwk.get("use").is_none_or(|purpose| purpose == "sig");
        let can_verify = |operations: &Value| operations.as_array().is_some_and(|all| all.contains(&"verify".into()));
        if !is_for_signatures || !jwk.get("key_ops").is_none_or(can_verify) {
            return None;
        }

        Some(Self { id: jwk["kid"].as_str().map(str::to_owned), only, material: KeyMaterial::read(jwk)? })
    }

    /// Whether the key verifies signatures by `algorithm`.
    fn allows(&self, algorithm: Algorithm) -> bool {
        let is_of_type = match self.material {
            KeyMaterial::Rsa { .. } => matches!(algorithm, Algorithm::Rs256 | Algorithm::Ps256),
            KeyMaterial::P256(_) => algorithm == Algorithm::Es256,
            KeyMaterial::Ed25519(_) => algorithm == Algorithm::EdDsa,
        };
        is_of_type && self.only.is_none_or(|only| only == algorithm)
    }

    /// Whether `signature` is one of `message` by this key and algorithm.
    pub(super) fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let verified = match (&self.material, algorithm) {
            (KeyMaterial::Rsa { modulus: n, exponent: e }, Algorithm::Rs256) => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            (KeyMaterial::Rsa { modulus: n, exponent: e }, Algorithm::Ps256) => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PSS_2048_8192_SHA256, message, signature)
            }
            (KeyMaterial::P256(point), Algorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (KeyMaterial::Ed25519(point), Algorithm::EdDsa) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
            }
            _ => return false,
        };
        self.allows(algorithm) && verified.is_ok()
    }
}

impl KeyMaterial {
    fn read(jwk: &Value) -> Option<Self> {
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(jwk[name].as_str()?).ok();
        let coordinate = |name: &str| bytes(name).filter(|bytes| bytes.len() == COORDINATE_BYTES);
        match (jwk["kty"].as_str()?, jwk["crv"].as_str()) {
            ("RSA", _) => {
                Some(Self::Rsa { modulus: without_zeros(&bytes("n")?), exponent: without_zeros(&bytes("e")?) })
            }
            ("EC", Some("P-256")) => {
                Some(Self::P256([vec![UNCOMPRESSED], coordinate("x")?, coordinate("y")?].concat()))
            }
            ("OKP", Some("Ed25519")) => Some(Self::Ed25519(coordinate("x")?)),
            _ => None,
        }
    }
}

/// A number without leading zeros. Some issuers write a sign byte, which the specification forbids.
fn without_zeros(number: &[u8]) -> Vec<u8> {
    number.iter().copied().skip_while(|byte| *byte == 0).collect()
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{Ed25519KeyPair, KeyPair as _};
    use serde_json::json;

    use super::*;

    const ALGORITHMS: [Algorithm; 4] = [Algorithm::Rs256, Algorithm::Ps256, Algorithm::Es256, Algorithm::EdDsa];

    fn ed25519() -> (Ed25519KeyPair, Value) {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
        let x = URL_SAFE_NO_PAD.encode(pair.public_key());
        (pair, json!({ "kty": "OKP", "crv": "Ed25519", "x": x }))
    }

    fn with(jwk: &Value, name: &str, value: Value) -> Value {
        let mut jwk = jwk.clone();
        jwk[name] = value;
        jwk
    }

    #[test]
    fn verifies_only_its_own_signatures_and_algorithm() {
        let (pair, jwk) = ed25519();
        let key = VerificationKey::read(&jwk).unwrap();
        let signature = pair.sign(b"message");
        assert!(key.verify(Algorithm::EdDsa, b"message", signature.as_ref()));
        assert!(!key.verify(Algorithm::EdDsa, b"other", signature.as_ref()));
        for empty in [&[][..], &[0; 64]] {
            assert!(ALGORITHMS.iter().all(|algorithm| !key.verify(*algorithm, b"message", empty)));
        }
        let others = ALGORITHMS.iter().filter(|algorithm| **algorithm != Algorithm::EdDsa);
        assert!(others.into_iter().all(|other| !key.verify(*other, b"message", signature.as_ref())));
    }

    #[test]
    fn leaves_out_keys_for_other_purposes() {
        let (_, jwk) = ed25519();
        for (name, value) in [("use", json!("sig")), ("key_ops", json!(["sign", "verify"])), ("alg", json!("Ed25519"))]
        {
            assert!(VerificationKey::read(&with(&jwk, name, value.clone())).is_some(), "{name}: {value}");
        }
        for (name, value) in [
            ("use", json!("enc")),
            ("use", json!(["sig"])),
            ("key_ops", json!(["sign"])),
            ("key_ops", json!("verify")),
            ("alg", json!("HS256")),
            ("alg", json!("none")),
            ("alg", json!(null)),
            ("kty", json!("oct")),
            ("kty", json!("EC")),
            ("kty", json!("RSA")),
            ("crv", json!("P-256")),
            ("crv", json!("X25519")),
            ("x", json!("AAAA")),
            ("x", json!("")),
        ] {
            assert!(VerificationKey::read(&with(&jwk, name, value.clone())).is_none(), "{name}: {value}");
        }

        let short = json!({ "kty": "EC", "crv": "P-256", "x": "AAAA", "y": jwk["x"] });
        assert!(VerificationKey::read(&short).is_none());

        assert!(KeySet::parse(json!({ "keys": [{ "kty": "oct", "k": "AAAA" }] }).to_string().as_bytes()).is_err());
    }

    #[test]
    fn one_malformed_key_does_not_spoil_a_set() {
        let (_, jwk) = ed25519();
        let named = |id: &str| with(&jwk, "kid", json!(id));
        let set = json!({ "keys": [5, { "kty": "RSA", "kid": 1 }, named("a"), named("b")] });
        let keys = KeySet::parse(set.to_string().as_bytes()).unwrap();
        assert!(keys.find(Some("a"), Algorithm::EdDsa).is_some());
        assert!(keys.find(Some("a"), Algorithm::Es256).is_none());
        assert!(keys.find(Some("c"), Algorithm::EdDsa).is_none());
        assert!(keys.find(None, Algorithm::EdDsa).is_none(), "there are two");
    }

    /// Ring takes keys of 2048 bits and more.
    #[test]
    fn short_rsa_keys_verify_nothing() {
        let jwk = json!({ "kty": "RSA", "n": URL_SAFE_NO_PAD.encode([0xff; 128]), "e": "AQAB" });
        let key = VerificationKey::read(&jwk).unwrap();
        assert!(!key.verify(Algorithm::Rs256, b"message", &[0; 128]));
    }
}
