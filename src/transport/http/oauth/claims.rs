//! What a verified token must say.
//!
//! Pure. Source: RFC 9068, section 4; RFC 7519, section 4.1; RFC 8707, section 2; MCP 2026-07-28, "Token Handling".

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::call::caller::Subject;
use std::time::Duration;

/// How far the clock of an authorization server may be from ours.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(30);

/// Claims with several words in one text. Source: RFC 8693, section 4.2; `scp` is what some issuers call it.
const SCOPES: [&str; 2] = ["scope", "scp"];

/// Who must have issued a token, and for whom.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub(super) issuer: String,
    pub(super) audience: String,
}

/// Whom a token is of.
///
/// `now` is in seconds since 1970.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn check(claims: &Map<String, Value>, expected: &Expected, now: f64) -> Result<Subject, Vec<String>> {
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

/// Whether a subject was granted a scope.
pub(super) fn has_scope(subject: &Subject, scope: &str) -> bool {
    SCOPES.iter().filter_map(|name| subject.claims.get(*name)).flatten().any(|word| word == scope)
}

/// The words of a claim. Only scopes are split: other texts may be of the subject's own choice.
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

/// A time that can be compared. Source: RFC 7519, section 2, `NumericDate`.
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
            Expected { issuer: "https://a.example".to_owned(), audience: "https://b.example/mcp".to_owned() };
        check(claims.as_object().unwrap(), &expected, NOW)
    }

    #[test]
    fn claims_become_words() {
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
    fn times_have_some_leeway_and_must_be_numbers() {
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
