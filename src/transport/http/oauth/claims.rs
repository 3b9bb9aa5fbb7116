//! Checks the claims of a verified token.
//!
//! Pure. Source: RFC 9068, section 4; RFC 7519, section 4.1; RFC 8707, section 2; MCP 2026-07-28, "Token Handling".

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::call::caller::Subject;

/// How far the clock of an authorization server may differ from ours.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(30);

/// Claims whose text is a list of words. Source: RFC 8693, section 4.2. Some issuers write `scp`.
const SCOPES: [&str; 2] = ["scope", "scp"];

/// The claims that every token must have.
#[derive(Clone, Debug)]
pub(super) struct ExpectedClaims {
    pub(super) issuer: String,
    pub(super) audience: String,
}

/// Checks issuer, audience, times and subject. Returns the subject.
///
/// `now` is in seconds since 1970.
///
/// # Errors
/// All claims that do not fit.
pub(super) fn check(claims: &Map<String, Value>, expected: &ExpectedClaims, now: f64) -> Result<Subject, Vec<String>> {
    let mut mistakes = Vec::new();
    if claims.get("iss").and_then(Value::as_str) != Some(&expected.issuer) {
        mistakes.push(format!("it was not issued by {}", expected.issuer));
    }
    if !words("aud", claims.get("aud")).contains(&expected.audience) {
        mistakes.push(format!("it is not meant for {}", expected.audience));
    }

    let skew = MAX_CLOCK_SKEW.as_secs_f64();
    match claims.get("exp").and_then(seconds) {
        None => mistakes.push("it does not say when it expires".to_owned()),
        Some(end) if end + skew <= now => mistakes.push("it has expired".to_owned()),
        Some(_) => {}
    }

    match claims.get("nbf").map(seconds) {
        None => {}
        Some(Some(start)) if start - skew <= now => {}
        Some(_) => mistakes.push("it is not valid yet".to_owned()),
    }

    let name = claims.get("sub").and_then(Value::as_str).filter(|name| !name.is_empty());
    match name {
        Some(name) if mistakes.is_empty() => {
            let claims = claims.iter().map(|(name, value)| (name.clone(), words(name, Some(value))));
            let claims: BTreeMap<_, _> = claims.filter(|(_, words)| !words.is_empty()).collect();
            Ok(Subject { name: name.to_owned(), claims })
        }
        Some(_) => Err(mistakes),
        None => {
            mistakes.push("it names no subject".to_owned());
            Err(mistakes)
        }
    }
}

/// Whether the token of a subject grants a scope.
pub(super) fn grants_scope(subject: &Subject, scope: &str) -> bool {
    SCOPES.iter().filter_map(|name| subject.claims.get(*name)).flatten().any(|word| word == scope)
}

/// The words of a claim. Only scopes are split, since subjects may choose other texts themselves.
fn words(name: &str, value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) if SCOPES.contains(&name) => {
            text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
        }
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// A time in seconds since 1970, maybe with a fraction. Source: RFC 7519, section 2, `NumericDate`.
fn seconds(value: &Value) -> Option<f64> {
    value.as_f64().filter(|seconds| seconds.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOW: f64 = 1_800_000_000.0;

    fn checked(change: &Value) -> Result<Subject, Vec<String>> {
        let mut claims = json!({ "iss": "https://a.example", "aud": ["x", "https://b.example/mcp"], "sub": "ada", "exp": NOW + 60.0 });
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let expected =
            ExpectedClaims { issuer: "https://a.example".to_owned(), audience: "https://b.example/mcp".to_owned() };
        check(claims.as_object().unwrap(), &expected, NOW)
    }

    #[test]
    fn splits_claims_into_words() {
        let subject = checked(&json!({
            "scope": "read  write", "groups": ["ops", 1, "dev team"], "name": "Ada admin", "n": 1, "deep": {"roles": ["x"]},
        }));
        let Subject { name, claims } = subject.unwrap();
        assert_eq!(name, "ada");
        let of = |name: &str| claims.get(name).map(|words| words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(of("scope").unwrap(), ["read", "write"]);
        assert_eq!(of("groups").unwrap(), ["ops", "dev team"]);
        assert_eq!(of("name").unwrap(), ["Ada admin"]);
        assert_eq!([of("n"), of("deep"), of("exp")], [None, None, None]);
    }

    #[test]
    fn checks_claims_with_leeway_for_times() {
        for fine in
            [json!({ "exp": NOW - 29.5 }), json!({ "nbf": NOW + 29.0 }), json!({ "aud": "https://b.example/mcp" })]
        {
            assert!(checked(&fine).is_ok(), "{fine}");
        }
        for wrong in [
            json!({ "exp": NOW - 30.0 }),
            json!({ "exp": "1900000000" }),
            json!({ "exp": null }),
            json!({ "nbf": NOW + 31.0 }),
            json!({ "nbf": "0" }),
            json!({ "nbf": null }),
            json!({ "aud": "https://b.example" }),
            json!({ "aud": [] }),
            json!({ "aud": "https://b.example/mcp/" }),
            json!({ "iss": ["https://a.example"] }),
            json!({ "iss": "https://a.example/" }),
            json!({ "sub": "" }),
            json!({ "sub": 1 }),
        ] {
            assert_eq!(checked(&wrong).unwrap_err().len(), 1, "{wrong}");
        }

        assert_eq!(checked(&json!({ "exp": 0, "aud": "", "iss": 1, "sub": null })).unwrap_err().len(), 4);
    }
}
