//! The keys of an authorization server, and signatures by them.
//!
//! Pure. Each kind of key has the algorithms that it verifies: none of another kind can be made of it. Source: RFC 7517; RFC
//! 7518, sections 3 and 6; RFC 8037; RFC 8725, section 3.1.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde_json::Value;

/// Bytes of a coordinate of P-256, and of a key of Ed25519.
const COORDINATE_BYTES: usize = 32;
/// What stands before the coordinates of a point that is not compressed. Source: SEC 1, section 2.3.3.
const UNCOMPRESSED: u8 = 4;

/// Algorithms that tokens may be signed with. There is no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rs256,
    Ps256,
    Es256,
    EdDsa,
}

/// The public keys of an issuer that verify one of [`Algorithm`].
#[derive(Debug, Default)]
pub(super) struct Keys(Vec<Key>);

#[derive(Debug)]
pub(super) struct Key {
    id: Option<String>,
    /// The one algorithm that the key is for, if its owner says so.
    only: Option<Algorithm>,
    material: Material,
}

#[derive(Debug)]
enum Material {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl Algorithm {
    /// The algorithm of this name. Source: RFC 7518, section 3.1; RFC 8037, section 3.1; RFC 9864, section 2.2.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "PS256" => Some(Self::Ps256),
            "ES256" => Some(Self::Es256),
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

impl Keys {
    /// Reads a JWK set. Keys for something else are left out.
    ///
    /// # Errors
    /// It is none, or holds no key that a token could be verified with.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let set: Value = serde_json::from_slice(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let all = set["keys"].as_array().ok_or("it has no list `keys`")?;
        let keys: Vec<Key> = all.iter().filter_map(Key::read).collect();
        if keys.is_empty() {
            return Err(format!("none of its {} keys is for signatures by RS256, PS256, ES256 or EdDSA", all.len()));
        }
        Ok(Self(keys))
    }

    /// The key of this name for an algorithm. Without a name it must be the only one for it.
    pub(super) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&Key> {
        let mut fitting = self.0.iter().filter(|key| key.fits(algorithm));
        match id {
            Some(id) => fitting.find(|key| key.id.as_deref() == Some(id)),
            None => fitting.next().filter(|_| fitting.next().is_none()),
        }
    }
}

impl Key {
    fn read(jwk: &Value) -> Option<Self> {
        let only = match jwk["alg"].as_str() {
            Some(name) => Some(Algorithm::named(name)?),
            None => None,
        };
        let is_for_signatures = jwk["use"].as_str().is_none_or(|what| what == "sig");
        let verifies = jwk["key_ops"].as_array().is_none_or(|what| what.iter().any(|what| what == "verify"));
        let material = Material::read(jwk).filter(|_| is_for_signatures && verifies)?;
        Some(Self { id: jwk["kid"].as_str().map(str::to_owned), only, material })
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        let is_of_kind = match self.material {
            Material::Rsa { .. } => matches!(algorithm, Algorithm::Rs256 | Algorithm::Ps256),
            Material::P256(_) => algorithm == Algorithm::Es256,
            Material::Ed25519(_) => algorithm == Algorithm::EdDsa,
        };
        is_of_kind && self.only.is_none_or(|only| only == algorithm)
    }

    /// Whether the owner of this key has signed a message.
    pub(super) fn has_signed(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let verified = match (&self.material, algorithm) {
            (Material::Rsa { modulus: n, exponent: e }, Algorithm::Rs256) => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            (Material::Rsa { modulus: n, exponent: e }, Algorithm::Ps256) => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PSS_2048_8192_SHA256, message, signature)
            }
            (Material::P256(point), Algorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (Material::Ed25519(point), Algorithm::EdDsa) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
            }
            _ => return false,
        };
        self.fits(algorithm) && verified.is_ok()
    }
}

impl Material {
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

/// Some issuers write numbers with a sign byte.
fn without_zeros(number: &[u8]) -> Vec<u8> {
    number.iter().copied().skip_while(|byte| *byte == 0).collect()
}
