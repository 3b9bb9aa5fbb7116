//! Bearer tokens and their file.
//!
//! Pure. Source: RFC 6750, section 2.1.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};

/// Shortest valid token, in characters: 128 bits in base 64.
const MIN_TOKEN_CHARS: usize = 22;

/// The tokens that open a server, each with the name of its bearer.
#[derive(Clone, Default)]
pub struct Tokens(Vec<Token>);

#[derive(Clone)]
struct Token {
    name: String,
    /// SHA-256 of the token. All digests have one length, so comparing them does not leak the length of a token.
    digest: [u8; 32],
}

/// Shows the names, never the tokens.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|token| &token.name)).finish()
    }
}

impl Tokens {
    /// Reads the text of a file with one `NAME TOKEN` a line; `#` starts a comment line.
    ///
    /// # Errors
    /// All mistakes, without the tokens.
    pub fn parse(text: &str) -> Result<Self, Vec<String>> {
        let mut tokens: Vec<Token> = Vec::new();
        let mut mistakes = Vec::new();
        for (at, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        {
            let mut words = line.split_whitespace();
            let (Some(name), Some(token), None) = (words.next(), words.next(), words.next()) else {
                mistakes.push(format!("line {at}: expected a name, a space and a token"));
                continue;
            };
            if token.len() < MIN_TOKEN_CHARS {
                let found = token.len();
                mistakes.push(format!(
                    "line {at}: the token of `{name}` has {found} characters, expected {MIN_TOKEN_CHARS} at least: \
                     make one with `openssl rand -hex 32`"
                ));
                continue;
            }
            let digest = Sha256::digest(token).into();
            if let Some(other) = tokens.iter().find(|other| other.name == name || other.digest == digest) {
                let what = if other.name == name { "name" } else { "token" };
                mistakes.push(format!(
                    "line {at}: the {what} of `{name}` stands in an earlier line too: each line needs its own"
                ));
                continue;
            }
            tokens.push(Token { name: name.to_owned(), digest });
        }
        if tokens.is_empty() && mistakes.is_empty() {
            mistakes.push("it holds no token: write one `NAME TOKEN` a line".to_owned());
        }
        if mistakes.is_empty() { Ok(Self(tokens)) } else { Err(mistakes) }
    }

    /// The names of the bearers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|token| token.name.as_str())
    }

    /// The name of the bearer of `token`. The time depends on the number of tokens, not on their text.
    #[must_use]
    pub fn find(&self, token: &str) -> Option<&str> {
        let digest: [u8; 32] = Sha256::digest(token).into();
        let mut found = 0_u64;
        let mut is_found = Choice::from(0);

        for (at, known) in (0..).zip(&self.0) {
            let same = known.digest.ct_eq(&digest);
            found = u64::conditional_select(&found, &at, same);
            is_found |= same;
        }

        let at = usize::try_from(found).ok()?;
        bool::from(is_found).then(|| self.0[at].name.as_str())
    }
}

/// The token of an `Authorization` header.
#[must_use]
pub fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    let token = token.trim_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_name_of_a_token() {
        let tokens =
            Tokens::parse("# who\nada 0123456789abcdef0123456789\n\nbob  abcdef0123456789abcdef0123\n").unwrap();
        assert_eq!(tokens.find("0123456789abcdef0123456789"), Some("ada"));
        assert_eq!(tokens.find("abcdef0123456789abcdef0123"), Some("bob"));
        assert_eq!(tokens.find("0123456789abcdef012345678"), None);
        assert_eq!(tokens.find(""), None);
        assert_eq!(format!("{tokens:?}"), r#"{"ada", "bob"}"#);
        assert_eq!(bearer("Bearer  abc"), Some("abc"));
        assert_eq!([bearer("Basic abc"), bearer("Bearer "), bearer("Bearer")], [None; 3]);
    }

    #[test]
    fn reports_each_mistake_without_tokens() {
        let text = "ada short\nbob 0123456789abcdef0123456789\nbob abcdef0123456789abcdef0123\n\
                    eve 0123456789abcdef0123456789\nno token here\n";
        let mistakes = Tokens::parse(text).unwrap_err();
        assert_eq!(mistakes.len(), 4, "{mistakes:?}");
        assert!(!mistakes.join("").contains("0123456789"), "{mistakes:?}");
        assert_eq!(Tokens::parse("# nothing\n").unwrap_err().len(), 1);
    }
}
