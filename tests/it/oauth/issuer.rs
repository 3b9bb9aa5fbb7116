//! A local authorization server: its metadata, its keys, and the tokens that it signs.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PSS_SHA256,
    RsaKeyPair, RsaPublicKeyComponents,
};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// A private key.
pub(super) enum Key {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
    Rs256(RsaKeyPair),
    Ps256(RsaKeyPair),
}

pub(super) fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Key {
    pub(super) fn es256() -> Self {
        let (kind, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        Self::Es256(EcdsaKeyPair::from_pkcs8(kind, pkcs8.as_ref(), &random).unwrap())
    }

    pub(super) fn ed_dsa() -> Self {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::EdDsa(Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap())
    }

    /// A key for tests: ring cannot generate one.
    fn rsa() -> RsaKeyPair {
        RsaKeyPair::from_der(include_bytes!("rsa.der")).unwrap()
    }

    pub(super) fn rs256() -> Self {
        Self::Rs256(Self::rsa())
    }

    pub(super) fn ps256() -> Self {
        Self::Ps256(Self::rsa())
    }

    pub(super) fn algorithm(&self) -> &'static str {
        match self {
            Self::Es256(_) => "ES256",
            Self::EdDsa(_) => "EdDSA",
            Self::Rs256(_) => "RS256",
            Self::Ps256(_) => "PS256",
        }
    }

    /// The public key as a JWK.
    pub(super) fn jwk(&self, id: &str) -> Value {
        match self {
            Self::Es256(key) => {
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "kid": id, "use": "sig", "x": encoded(x), "y": encoded(y) })
            }
            Self::EdDsa(key) => json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "x": encoded(key.public_key()) }),
            Self::Rs256(key) | Self::Ps256(key) => {
                let parts: RsaPublicKeyComponents<Vec<u8>> = key.public().into();
                let [n, e] = [parts.n, parts.e].map(encoded);
                json!({ "kty": "RSA", "kid": id, "alg": self.algorithm(), "n": n, "e": e })
            }
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        let by_rsa = |key: &RsaKeyPair, padding| {
            let mut signature = vec![0; key.public().modulus_len()];
            key.sign(padding, &random, message, &mut signature).unwrap();
            signature
        };
        match self {
            Self::Es256(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::EdDsa(key) => key.sign(message).as_ref().to_vec(),
            Self::Rs256(key) => by_rsa(key, &RSA_PKCS1_SHA256),
            Self::Ps256(key) => by_rsa(key, &RSA_PSS_SHA256),
        }
    }

    /// A token with these claims.
    pub(super) fn token(&self, id: &str, claims: &Value) -> String {
        self.token_under(&json!({ "alg": self.algorithm(), "typ": "at+jwt", "kid": id }), claims)
    }

    /// A token with any header.
    pub(super) fn token_under(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
        format!("{message}.{}", encoded(self.sign(message.as_bytes())))
    }
}

/// The state that the responses depend on.
pub(super) struct State {
    pub(super) issuer: String,
    /// The path of its metadata.
    pub(super) metadata_path: &'static str,
    pub(super) keys: Value,
    /// Whether it closes connections without a response.
    pub(super) is_down: bool,
    /// The paths of all requests.
    pub(super) requests: Vec<String>,
}

/// An authorization server.
pub(super) struct Issuer {
    url: String,
    state: Arc<Mutex<State>>,
}

impl Issuer {
    pub(super) fn start(keys: &[Value]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        Self::serve(listener, url, keys, |stream| stream)
    }

    /// Starts one with https. The authority of `authority.pem` has signed its certificate.
    pub(super) fn start_encrypted(keys: &[Value]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        let certificate = CertificateDer::from_slice(include_bytes!("localhost.der"));
        let key = PrivatePkcs8KeyDer::from(&include_bytes!("localhost-key.der")[..]);
        let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key.into());
        let config = Arc::new(config.unwrap());
        Self::serve(listener, url, keys, move |stream| {
            StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream)
        })
    }

    fn serve<S: Read + Write>(
        listener: TcpListener,
        url: String,
        keys: &[Value],
        open: impl Fn(TcpStream) -> S + Send + 'static,
    ) -> Self {
        let state = State {
            issuer: url,
            metadata_path: "/.well-known/oauth-authorization-server",
            keys: json!({ "keys": keys }),
            is_down: false,
            requests: Vec::new(),
        };
        let state = Arc::new(Mutex::new(state));
        let (shared, url) = (state.clone(), state.lock().unwrap().issuer.clone());
        std::thread::spawn({
            let url = url.clone();
            move || listener.incoming().for_each(|stream| respond(open(stream.unwrap()), &shared, &url))
        });
        Self { url, state }
    }

    pub(super) fn url(&self) -> String {
        self.url.clone()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The number of times its keys were fetched.
    pub(super) fn fetches(&self) -> usize {
        self.state().requests.iter().filter(|path| *path == "/keys").count()
    }

    /// Claims of a valid token for the resource at `audience`.
    pub(super) fn claims(&self, audience: &str) -> Value {
        json!({ "iss": self.url(), "aud": audience, "sub": "ada", "exp": now() + 300, "scope": "tools" })
    }
}

fn respond(mut stream: impl Read + Write, state: &Mutex<State>, url: &str) {
    let mut lines = BufReader::new(&mut stream).lines().map_while(Result::ok);
    let Some(request) = lines.next() else { return };
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut state = state.lock().unwrap();
    state.requests.push(path.clone());
    if state.is_down {
        return;
    }
    let (status, body) = match path.as_str() {
        "/keys" => (200, state.keys.to_string()),
        path if path == state.metadata_path => {
            (200, json!({ "issuer": state.issuer, "jwks_uri": format!("{url}/keys") }).to_string())
        }
        _ => (404, String::new()),
    };
    let length = body.len();
    let response = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    let _ = stream.write_all(response.as_bytes()).and_then(|()| stream.flush());
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs()
}
