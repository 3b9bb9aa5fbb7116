//! OAuth: a resource server that verifies access tokens.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use self::issuer::{Issuer, Key, encoded, now};
use crate::support::{PATIENCE, climax, fake_config, run, until};

mod issuer;

const READY: &str = "climax serves MCP at ";

/// A server over HTTP. Killed when dropped.
struct Server {
    child: Child,
    address: SocketAddr,
    errors: Arc<Mutex<String>>,
}

struct Response {
    status: u16,
    head: String,
    body: String,
}

impl Server {
    /// Starts a server, and waits until it has the keys.
    fn start(issuer: &Issuer, args: &[&str]) -> Self {
        let server = Self::spawn(issuer, args);
        until("the keys", || server.get("/readyz").status == 200);
        server
    }

    fn spawn(issuer: &Issuer, args: &[&str]) -> Self {
        Self::spawn_by(climax(), issuer, args)
    }

    fn spawn_by(mut command: Command, issuer: &Issuer, args: &[&str]) -> Self {
        command.args(["--transport", "streamable-http", "--port", "0", "--oauth-issuer", &issuer.url()]).args(args);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let all = Arc::new(Mutex::new(String::new()));
        let shared = all.clone();
        std::thread::spawn(move || {
            errors.lines().map_while(Result::ok).for_each(|line| shared.lock().unwrap().push_str(&(line + "\n")));
        });
        let mut address = None;
        until("the server", || {
            let errors = all.lock().unwrap();
            let url = errors.lines().find_map(|line| line.strip_prefix(READY)).map(str::to_owned);
            address = url.map(|url| url["http://".len()..url.len() - "/mcp".len()].parse().unwrap());
            address.is_some()
        });
        Self { child, address: address.unwrap(), errors: all }
    }

    fn errors(&self) -> String {
        self.errors.lock().unwrap().clone()
    }

    fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    fn exchange(&self, request: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let host = if headers.iter().any(|(name, _)| *name == "host") {
            String::new()
        } else {
            "host: localhost\r\n".to_owned()
        };
        let headers: String = headers.iter().flat_map(|(name, value)| [name, ": ", value, "\r\n"]).collect();
        let length = body.len();
        write!(
            stream,
            "{request} HTTP/1.1\r\n{host}{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Response { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn get(&self, path: &str) -> Response {
        self.exchange(&format!("GET {path}"), &[], "")
    }

    fn post(&self, token: &str, session: Option<&str>, body: &Value) -> Response {
        let bearer = format!("Bearer {token}");
        let mut headers = vec![("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        if !token.is_empty() {
            headers.push(("authorization", &bearer));
        }
        if let Some(session) = session {
            headers.extend([("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")]);
        }
        self.exchange("POST /mcp", &headers, &body.to_string())
    }

    /// Opens a session.
    fn open(&self, token: &str) -> Response {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "0" } });
        self.post(token, None, &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }))
    }

    /// Searches for the tool `two` in a session.
    fn search(&self, token: &str, session: &str) -> Response {
        let params = json!({ "name": "climax_search", "arguments": { "query": "two" } });
        self.post(token, Some(session), &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Response {
    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    #[track_caller]
    fn is(&self, status: u16, text: &str) {
        let challenge = self.header("www-authenticate").unwrap_or_default();
        let has_text = challenge.contains(text) || self.body.contains(text);
        assert!(self.status == status && has_text, "expected {status}, {text}; found {}\n{}", self.head, self.body);
    }
}

/// `claims` with some changed, or without those that become null.
fn with(claims: &Value, changes: Value) -> Value {
    let mut claims = claims.clone();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

#[test]
fn accepts_tokens_of_each_algorithm() {
    let keys = [Key::es256(), Key::ed_dsa(), Key::rs256(), Key::ps256()];
    let others = [
        json!({ "kty": "oct", "kid": "x", "k": "AAAA" }),
        json!({ "kty": "RSA", "use": "enc", "n": "AQAB", "e": "AQAB" }),
    ];
    let jwks: Vec<Value> = keys.iter().map(|key| key.jwk(key.algorithm())).chain(others).collect();
    let issuer = Issuer::start(&jwks);
    let server = Server::start(&issuer, &[]);
    let claims = issuer.claims(&server.url());
    for key in &keys {
        server.open(&key.token(key.algorithm(), &claims)).is(200, "serverInfo");
        // Without an id, the key must be the only one for its algorithm.
        server.open(&key.token_under(&json!({ "alg": key.algorithm() }), &claims)).is(200, "serverInfo");
    }
    let [rs256, ps256] = [&keys[2], &keys[3]];
    let crossed = rs256.token_under(&json!({ "alg": "RS256", "kid": "PS256" }), &claims);
    server.open(&crossed).is(401, "no such key");
    let crossed = ps256.token_under(&json!({ "alg": "RS256", "kid": "RS256" }), &claims);
    server.open(&crossed).is(401, "has not signed");
    let several = with(&claims, json!({ "aud": ["https://other.example", server.url()] }));
    server.open(&rs256.token("RS256", &several)).is(200, "serverInfo");
}

#[test]
fn stream_ends_when_its_token_expires() {
    let key = Key::es256();
    let issuer = Issuer::start(&[key.jwk("1")]);
    let server = Server::start(&issuer, &[]);
    let claims = issuer.claims(&server.url());
    // The leeway for clocks is 30 seconds.
    let token = key.token("1", &with(&claims, json!({ "exp": now() - 27 })));
    let opened = server.open(&token);
    let session = opened.header("mcp-session-id").unwrap();
    let bearer = format!("Bearer {token}");
    let headers = [("accept", "text/event-stream"), ("authorization", &bearer), ("mcp-session-id", session)];
    let stream = server.exchange("GET /mcp", &headers, "");
    stream.is(200, "");
    server.open(&token).is(401, "expired");
}

#[test]
fn refuses_tokens_the_issuer_has_not_signed() {
    let (key, other) = (Key::es256(), Key::es256());
    let public = key.jwk("1");
    let issuer = Issuer::start(std::slice::from_ref(&public));
    let server = Server::start(&issuer, &[]);
    let claims = issuer.claims(&server.url());
    let good = key.token("1", &claims);
    server.open(&good).is(200, "serverInfo");

    server.open(&other.token("1", &claims)).is(401, "the issuer has not signed it");
    let (message, signature) = good.rsplit_once('.').unwrap();
    let (header, _) = message.split_once('.').unwrap();
    let changed = format!("{header}.{}.{signature}", encoded(with(&claims, json!({ "sub": "root" })).to_string()));
    server.open(&changed).is(401, "the issuer has not signed it");
    let payload = encoded(claims.to_string());
    for name in ["none", "None", "NONE", ""] {
        let unsigned = format!("{}.{payload}.", encoded(json!({ "alg": name, "kid": "1" }).to_string()));
        server.open(&unsigned).is(401, "it is not signed by RS256, PS256, ES256 or EdDSA");
    }
    let secrets = [public.to_string(), public["x"].as_str().unwrap().to_owned(), String::new()];
    for secret in secrets {
        let message = format!("{}.{payload}", encoded(json!({ "alg": "HS256", "kid": "1" }).to_string()));
        let mac =
            ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes()), message.as_bytes());
        server.open(&format!("{message}.{}", encoded(mac))).is(401, "it is not signed by RS256");
    }
}

#[test]
fn refuses_forged_tokens() {
    let (key, attacker, encryption) = (Key::es256(), Key::es256(), Key::ed_dsa());
    let mut not_for_signatures = encryption.jwk("2");
    not_for_signatures["use"] = json!("enc");
    let issuer = Issuer::start(&[key.jwk("1"), not_for_signatures]);
    let server = Server::start(&issuer, &[]);
    let claims = issuer.claims(&server.url());
    let good = key.token("1", &claims);

    // The header brings the key, or its URL.
    let embedded = json!({ "alg": "ES256", "kid": "1", "jwk": attacker.jwk("1"), "jku": "https://evil.example/keys" });
    server.open(&attacker.token_under(&embedded, &claims)).is(401, "the issuer has not signed it");
    // A key for encryption, and the algorithm of another type of key.
    server.open(&encryption.token("2", &claims)).is(401, "the issuer has no such key");
    server.open(&encryption.token("1", &claims)).is(401, "the issuer has no such key");
    let (message, signature) = good.rsplit_once('.').unwrap();
    server.open(&format!("{message}.")).is(401, "the issuer has not signed it");
    server.open(&format!("{message}.{signature}=")).is(401, "it is no signed JWT");
    server.open(&format!("{good}.{signature}")).is(401, "the issuer has not signed it");
    assert_eq!(server.open(&"x".repeat(40_000)).status, 431);

    let bearer = format!("Bearer {good}");
    let twice = server.exchange("POST /mcp", &[("authorization", &bearer), ("authorization", &bearer)], "{}");
    twice.is(401, "invalid_token");
    server.open(&good).is(200, "serverInfo");
}

#[test]
fn refuses_tokens_of_other_types() {
    let key = Key::es256();
    let issuer = Issuer::start(&[key.jwk("1")]);
    let server = Server::start(&issuer, &[]);
    let claims = issuer.claims(&server.url());
    for header in [
        json!({ "typ": "dpop+jwt" }),
        json!({ "crit": ["x"], "x": 1 }),
        json!({ "kid": 1 }),
        json!({ "alg": ["ES256"] }),
    ] {
        let header = with(&json!({ "alg": "ES256", "kid": "1" }), header);
        server.open(&key.token_under(&header, &claims)).is(401, "invalid_token");
    }
    let long = with(&claims, json!({ "x": "x".repeat(16 << 10) }));
    server.open(&key.token("1", &long)).is(401, "it is too long");
    for token in ["x", "a.b.c", "..", "eyJhbGciOiJFUzI1NiJ9"] {
        server.open(token).is(401, "it is no signed JWT");
    }
}

#[test]
fn refuses_wrong_issuer_audience_time_and_subject() {
    let key = Key::ed_dsa();
    let issuer = Issuer::start(&[key.jwk("1")]);
    let server = Server::start(&issuer, &[]);
    let claims = issuer.claims(&server.url());
    for (change, text) in [
        (json!({ "exp": now() - 31 }), "it has expired"),
        (json!({ "exp": null }), "it does not say when it expires"),
        (json!({ "nbf": now() + 300 }), "it is not valid yet"),
        (json!({ "aud": "https://other.example/mcp" }), "it is not meant for http://127.0.0.1"),
        (json!({ "aud": null }), "it is not meant for"),
        (json!({ "iss": "https://evil.example" }), "it was not issued by http://127.0.0.1"),
        (json!({ "iss": format!("{}/", issuer.url()) }), "it was not issued by"),
        (json!({ "sub": null }), "it names no subject"),
    ] {
        let response = server.open(&key.token("1", &with(&claims, change)));
        response.is(401, text);
        response.is(401, r#"error="invalid_token""#);
    }
    let wrong = with(&claims, json!({ "sub": null, "exp": 0 }));
    server.open(&key.token("1", &wrong)).is(401, "it has expired; it names no subject");
    // The issuer has signed them, so they do not count as guesses.
    for _ in 0..20 {
        server.open(&key.token("1", &wrong)).is(401, "expired");
    }
    let fine = with(&claims, json!({ "exp": now() - 5, "nbf": now() + 5 }));
    server.open(&key.token("1", &fine)).is(200, "serverInfo");
}

#[test]
fn unknown_key_fetches_the_keys_again_at_intervals() {
    let (old, new) = (Key::es256(), Key::ed_dsa());
    let issuer = Issuer::start(&[old.jwk("old")]);
    let server = Server::start(&issuer, &[]);
    let claims = issuer.claims(&server.url());
    assert_eq!(issuer.fetches(), 1);
    // The issuer rotates its keys: a token by the new one is accepted at once, and the old one is refused.
    issuer.state().keys = json!({ "keys": [new.jwk("new")] });
    server.open(&new.token("new", &claims)).is(200, "serverInfo");
    assert_eq!(issuer.fetches(), 2);
    std::thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| server.open(&old.token("old", &claims)).is(401, "the issuer has no such key"));
        }
    });
    assert_eq!(issuer.fetches(), 2);
    server.open(&new.token("new", &claims)).is(200, "serverInfo");
}

#[test]
fn cached_keys_are_used_while_the_issuer_is_down() {
    let (key, other) = (Key::es256(), Key::es256());
    let issuer = Issuer::start(&[key.jwk("1")]);
    let server = Server::start(&issuer, &[]);
    let claims = issuer.claims(&server.url());
    issuer.state().is_down = true;
    server.open(&key.token("1", &claims)).is(200, "serverInfo");
    server.open(&other.token("2", &claims)).is(401, "the issuer has no such key");
    server.open(&key.token("1", &claims)).is(200, "serverInfo");
    assert_eq!(server.get("/readyz").status, 200);
}

#[test]
fn server_without_keys_is_not_ready() {
    let key = Key::es256();
    let issuer = Issuer::start(&[key.jwk("1")]);
    issuer.state().is_down = true;
    let server = Server::spawn(&issuer, &[]);
    let token = key.token("1", &issuer.claims(&server.url()));
    let response = server.open(&token);
    response.is(503, "the keys of http://127.0.0.1");
    assert!(
        response.header("retry-after").is_some() && response.header("www-authenticate").is_none(),
        "{}",
        response.head
    );
    server.get("/readyz").is(503, "waiting for the keys");
    assert_eq!(server.get("/healthz").status, 200);
    issuer.state().is_down = false;
    until("the keys", || server.get("/readyz").status == 200);
    server.open(&token).is(200, "serverInfo");
}

#[test]
fn finds_openid_metadata_and_refuses_that_of_another_issuer() {
    let key = Key::es256();
    let issuer = Issuer::start(&[key.jwk("1")]);
    issuer.state().metadata_path = "/.well-known/openid-configuration";
    let server = Server::start(&issuer, &[]);
    server.open(&key.token("1", &issuer.claims(&server.url()))).is(200, "serverInfo");

    let impostor = Issuer::start(&[key.jwk("1")]);
    impostor.state().issuer = issuer.url();
    let server = Server::spawn(&impostor, &[]);
    until("both URLs", || impostor.state().requests.iter().any(|path| path.contains("openid")));
    server.get("/readyz").is(503, "waiting");
    server.open(&key.token("1", &impostor.claims(&server.url()))).is(503, "not known yet");
    assert_eq!(impostor.fetches(), 0);
}

#[test]
fn issuer_needs_a_certificate_of_a_known_authority() {
    let authority = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/oauth/authority.pem");
    let key = Key::es256();
    let issuer = Issuer::start_encrypted(&[key.jwk("1")]);
    let trusting = |authority: Option<&str>| {
        let mut command = climax();
        command.env("no_proxy", "localhost").env_remove("SSL_CERT_DIR").env_remove("SSL_CERT_FILE");
        command.envs(authority.map(|path| ("SSL_CERT_FILE", path)));
        Server::spawn_by(command, &issuer, &[])
    };
    let server = trusting(Some(authority));
    until("the keys", || server.get("/readyz").status == 200);
    server.open(&key.token("1", &issuer.claims(&server.url()))).is(200, "serverInfo");

    let requests = issuer.state().requests.len();
    let server = trusting(None);
    until("errors", || server.errors().contains("cannot be read"));
    server.open(&key.token("1", &issuer.claims(&server.url()))).is(503, "not known yet");
    assert_eq!(issuer.state().requests.len(), requests);
}

#[test]
fn requires_scopes_and_names_them() {
    let key = Key::es256();
    let issuer = Issuer::start(&[key.jwk("1")]);
    let server = Server::start(&issuer, &["--oauth-scope", "tools", "--oauth-scope", "mcp:use"]);
    let claims = issuer.claims(&server.url());
    let metadata = format!(r#"resource_metadata="http://{}/.well-known/oauth-protected-resource/mcp""#, server.address);
    let scope = r#"scope="tools mcp:use""#;

    let challenge = format!(r#"Bearer realm="climax", {metadata}, {scope}"#);
    assert_eq!(server.open("").header("www-authenticate"), Some(challenge.as_str()));
    let response = server.open(&key.token("1", &claims));
    assert_eq!(response.status, 403);
    let challenge = format!(
        r#"Bearer realm="climax", {metadata}, error="insufficient_scope", error_description="it lacks a scope that is needed here", {scope}"#
    );
    assert_eq!(response.header("www-authenticate"), Some(challenge.as_str()));
    for granted in [json!({ "scope": "mcp:use tools" }), json!({ "scope": null, "scp": ["tools", "mcp:use"] })] {
        server.open(&key.token("1", &with(&claims, granted))).is(200, "serverInfo");
    }
    for refused in
        [json!({ "scope": "tools mcp:user" }), json!({ "scope": "tools,mcp:use" }), json!({ "name": "mcp:use" })]
    {
        server.open(&key.token("1", &with(&claims, refused))).is(403, "insufficient_scope");
    }
}

#[test]
fn serves_resource_metadata_for_the_public_url() {
    let key = Key::es256();
    let issuer = Issuer::start(&[key.jwk("1")]);
    let url = "https://tools.example/team/mcp";
    let args = ["--host", "0.0.0.0", "--public-url", url, "--oauth-audience", "api://tools", "--oauth-scope", "tools"];
    let server = Server::start(&issuer, &args);
    let root = "/.well-known/oauth-protected-resource";
    for path in [root.to_owned(), format!("{root}/mcp"), format!("{root}/team/mcp")] {
        let response = server.exchange(&format!("GET {path}"), &[("host", "tools.example")], "");
        let expected = json!({
            "resource": url, "authorization_servers": [issuer.url()], "bearer_methods_supported": ["header"],
            "scopes_supported": ["tools"],
        });
        assert_eq!(serde_json::from_str::<Value>(&response.body).unwrap(), expected, "{path}");
        assert_eq!(response.header("content-type"), Some("application/json"));
    }
    assert_eq!(server.get(&format!("{root}/other")).status, 404);
    assert_eq!(server.exchange(&format!("GET {root}"), &[("host", "evil.example")], "").status, 403);
    server
        .open("")
        .is(401, r#"resource_metadata="https://tools.example/.well-known/oauth-protected-resource/team/mcp""#);
    server.open(&key.token("1", &issuer.claims("api://tools"))).is(200, "serverInfo");
    server.open(&key.token("1", &issuer.claims(url))).is(401, "it is not meant for api://tools");
}

#[test]
fn claims_select_the_policy_and_sessions_belong_to_one_subject_and_policy() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let tools = "  - {name: one, description: First.}\n  - {name: two, description: Second.}\n";
    let config = file("fake.yaml", &fake_config(tools));
    let [few, all] =
        [("few.yaml", "tools: {one: {}}"), ("all.yaml", "default: enabled")].map(|(name, text)| file(name, text));
    let key = Key::es256();
    let issuer = Issuer::start(&[key.jwk("1")]);
    let all = format!("groups:ops={all}");
    let server = Server::start(&issuer, &["git", "--config", &config, "--policy", &few, "--policy-for", &all]);
    let claims = issuer.claims(&server.url());
    let session = |token: &str| server.open(token).header("mcp-session-id").unwrap().to_owned();
    let finds = |token: &str, session: &str| server.search(token, session).body.contains(r#"\"two\""#);

    let anybody = key.token("1", &with(&claims, json!({ "sub": "eve", "jti": "1" })));
    let of_ops = with(&claims, json!({ "groups": ["dev", "ops"], "jti": "2" }));
    let operator = key.token("1", &of_ops);
    let [few, all] = [&anybody, &operator].map(|token| session(token));
    assert!(!finds(&anybody, &few) && finds(&operator, &all));
    assert_eq!(server.search(&anybody, &all).status, 404);
    // A newer token of the same subject continues the session; one with another policy does not.
    let newer = key.token("1", &with(&of_ops, json!({ "jti": "3", "exp": now() + 900 })));
    assert!(finds(&newer, &all));
    assert_eq!(server.search(&key.token("1", &claims), &all).status, 404);
}

#[test]
fn accepts_tokens_of_a_file_too() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tokens");
    std::fs::write(&path, "ada 0123456789abcdef0123456789\n").unwrap();
    let key = Key::es256();
    let issuer = Issuer::start(&[key.jwk("1")]);
    issuer.state().is_down = true;
    let server = Server::start(&issuer, &["--token-file", path.to_str().unwrap()]);
    let opened = server.open("0123456789abcdef0123456789");
    opened.is(200, "serverInfo");
    issuer.state().is_down = false;
    let token = key.token("1", &issuer.claims(&server.url()));
    until("the keys", || server.open(&token).status == 200);
    // The subject has the same name as the token, but is another caller.
    let session = opened.header("mcp-session-id").unwrap();
    assert_eq!(server.search(&token, session).status, 404);
    assert_eq!(server.search("0123456789abcdef0123456789", session).status, 200);
    server.open("0123456789abcdef0123456780").is(401, "it is no signed JWT");
}

#[test]
fn contradictory_options_fail_the_start() {
    for (args, status, text) in [
        (&["--oauth-issuer", "http://login.example"][..], 2, "expected https"),
        (&["--oauth-issuer", "https://login.example", "--insecure-no-auth"], 2, "cannot be used with"),
        (&["--oauth-scope", "x"], 2, "--oauth-issuer"),
        (&["--oauth-issuer", "https://login.example", "--oauth-scope", "a b"], 2, "one word"),
        (&["--oauth-issuer", "https://login.example", "--host", "0.0.0.0"], 1, "such as --public-url"),
        (&["--policy-for", "groups:ops=policy.yaml"], 1, "--policy-for groups:ops matches no caller"),
    ] {
        let (code, _, errors) = run(climax().args(["--transport", "streamable-http", "--port", "0"]).args(args));
        assert!(code == status && errors.contains(text), "{args:?}: {code} {errors}");
    }
}
