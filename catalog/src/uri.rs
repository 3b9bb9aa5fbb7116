//! URIs of resources: templates of RFC 6570, level 1, such as `git://{repo}/status`.
//!
//! Pure. A variable stands for one segment of a path or a part of one, percent-encoded.

use std::fmt::Write as _;
use std::ops::Range;

use crate::template::{self, Piece};

/// A parsed URI template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate<'a> {
    parts: Vec<Part<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part<'a> {
    Literal(&'a str),
    Variable(&'a str),
}

impl<'a> UriTemplate<'a> {
    /// Reads a template.
    ///
    /// # Errors
    /// Returns the problem and its range in bytes of `text`.
    pub fn parse(text: &'a str) -> Result<Self, (Range<usize>, String)> {
        let mut parts: Vec<Part<'a>> = Vec::new();
        for (range, piece) in template::parse(text) {
            match piece {
                Piece::Malformed(help) => return Err((range, help.to_owned())),
                Piece::Placeholder(name) if matches!(parts.last(), Some(Part::Variable(_))) => {
                    return Err((range, format!("nothing tells where `{{{name}}}` starts; put a `/` before it")));
                }
                Piece::Placeholder(name) if parts.contains(&Part::Variable(name)) => {
                    return Err((range, format!("`{{{name}}}` stands twice")));
                }
                // RFC 6570, section 2.3.
                Piece::Placeholder(name) if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                    return Err((range, "variables of URIs have letters, digits and `_` only".to_owned()));
                }
                Piece::Placeholder(name) => parts.push(Part::Variable(name)),
                Piece::Literal(literal) => {
                    if let Some(wrong) = literal.chars().find(|c| !is_uri_character(*c)) {
                        return Err((range, format!("`{}` stands in no URI; write it as %XX", wrong.escape_debug())));
                    }
                    if decoded(literal).is_none() {
                        return Err((range, "`%` is followed by two hexadecimal digits, as in %20".to_owned()));
                    }
                    parts.push(Part::Literal(literal));
                }
            }
        }

        match parts.first() {
            Some(Part::Literal(literal)) if scheme(literal).is_some() => Ok(Self { parts }),
            _ => Err((0..text.len(), "a URI starts with a scheme, such as `git:`".to_owned())),
        }
    }

    /// The literal text before the first variable.
    #[must_use]
    pub fn start(&self) -> &'a str {
        match self.parts.first() {
            Some(Part::Literal(literal)) => literal,
            _ => "",
        }
    }

    /// The scheme, such as `git`.
    #[must_use]
    pub fn scheme(&self) -> &'a str {
        scheme(self.start()).unwrap_or_default()
    }

    /// The template with `{}` for each variable. Templates of the same form match the same URIs.
    #[must_use]
    pub fn form(&self) -> String {
        let part = |part: &Part<'a>| match part {
            Part::Literal(literal) => literal,
            Part::Variable(_) => "{}",
        };
        self.parts.iter().map(part).collect()
    }

    /// The names of its variables, in their order.
    pub fn variables(&self) -> impl Iterator<Item = &'a str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Variable(name) => Some(*name),
            Part::Literal(_) => None,
        })
    }

    /// Reads the values of the variables from a URI; `None` if the URI does not match.
    #[must_use]
    pub fn values(&self, uri: &str) -> Option<Vec<(&'a str, String)>> {
        let mut rest = uri;
        let mut values = Vec::new();
        let mut parts = self.parts.iter().peekable();
        while let Some(part) = parts.next() {
            match part {
                Part::Literal(literal) => rest = rest.strip_prefix(literal)?,
                Part::Variable(name) => {
                    let next = parts.peek().copied();
                    let end = match next {
                        // The last literal must end the URI.
                        Some(Part::Literal(last)) if parts.clone().count() == 1 => rest.strip_suffix(last)?.len(),
                        Some(Part::Literal(next)) => rest.find(next)?,
                        _ => rest.len(),
                    };
                    let (value, after) = rest.split_at(end);
                    let is_part = !value.is_empty() && !value.contains(['/', '?', '#']);
                    values.push((*name, is_part.then(|| decoded(value))??));
                    rest = after;
                }
            }
        }

        rest.is_empty().then_some(values)
    }

    /// Builds the URI with these values; `None` if a variable has no value, or the URI would be read back with other
    /// values.
    #[must_use]
    pub fn expand(&self, value: impl Fn(&str) -> Option<String>) -> Option<String> {
        let parts = self.parts.iter().map(|part| match part {
            Part::Literal(literal) => Some((*literal).to_owned()),
            Part::Variable(name) => value(name).map(|value| encoded(&value)),
        });
        let uri: String = parts.collect::<Option<_>>()?;
        let is_same = |(name, read): &(&str, String)| value(name).as_ref() == Some(read);
        self.values(&uri)?.iter().all(is_same).then_some(uri)
    }
}

/// Returns the scheme at the start of a URI. Source: RFC 3986, section 3.1.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some(scheme)
}

/// Source: RFC 3986, section 2.
fn is_uri_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c)
}

/// Percent-encodes a text for use in a URI. Source: RFC 3986, section 2.3.
#[must_use]
pub fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to memory does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

/// Decodes the percent encoding; `None` if it is malformed or not UTF-8.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
            let digits = std::str::from_utf8(digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }

    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expanded_uri_is_read_back_with_the_same_values() {
        let template = UriTemplate::parse("git://{repo}/log/{from}..{to}").unwrap();
        assert_eq!(template.scheme(), "git");
        assert_eq!(template.variables().collect::<Vec<_>>(), ["repo", "from", "to"]);
        let value = |name: &str| Some(if name == "repo" { "a/b ü".to_owned() } else { name.to_owned() });
        let uri = template.expand(value).unwrap();
        assert_eq!(uri, "git://a%2Fb%20%C3%BC/log/from..to");
        let values = template.values(&uri).unwrap();
        assert_eq!(values, [("repo", "a/b ü".into()), ("from", "from".into()), ("to", "to".into())]);
        assert_eq!(template.expand(|name| (name != "to").then(|| name.to_owned())), None);
        // `a..b` would be read back with other values.
        assert_eq!(template.expand(|name| Some(if name == "from" { "a..b" } else { name }.to_owned())), None);
        let file = UriTemplate::parse("git:file/{name}.json").unwrap();
        assert_eq!(file.values("git:file/x.json.json"), Some(vec![("name", "x.json".to_owned())]));
    }

    #[test]
    fn uris_of_another_form_do_not_match() {
        let template = UriTemplate::parse("git://{repo}/status").unwrap();
        for uri in [
            "git://status",
            "git:///status",
            "git://a/b/status",
            "git://a/status/",
            "git://a/status?x",
            "git://%zz/status",
            "git://%ff/status",
            "git://a%2/status",
            "git://a%+2/status",
        ] {
            assert_eq!(template.values(uri), None, "{uri}");
        }
        let fixed = UriTemplate::parse("git:status").unwrap();
        assert_eq!(fixed.values("git:status"), Some(Vec::new()));
        assert_eq!(fixed.values("git:status2"), None);
    }

    #[test]
    fn rejects_invalid_templates() {
        for text in [
            "",
            "status",
            "{scheme}:x",
            "1a:x",
            "a:{x}{y}",
            "a:{x}/{x}",
            "a: b",
            "a:{x",
            "a:{{x}}",
            "a:{+x}",
            "a:{a-b}",
            "a:%zz",
        ] {
            assert!(UriTemplate::parse(text).is_err(), "{text}");
        }
    }
}
