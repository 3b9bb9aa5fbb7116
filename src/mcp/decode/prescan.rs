//! Scans JSON before it is parsed: counts its nodes, and finds the names at its top.
//!
//! Pure. One pass over the bytes, without a tree. For text that is not JSON the results mean nothing.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use memchr::memchr2;
use rmcp::model::RequestId;

/// The most nodes in one message: values, and names of members. The SDK takes up to 3 µs for each.
pub(crate) const MAX_MESSAGE_NODES: usize = 20_000;

/// The outline of a message.
#[derive(Debug)]
pub(super) struct Outline<'a> {
    /// The number of values and names, at every depth.
    pub(super) nodes: usize,
    /// The members of the outermost object, and of the objects that are their values; at most [`MAX_MESSAGE_NODES`].
    members: Vec<Member<'a>>,
}

#[derive(Debug)]
struct Member<'a> {
    /// The index of the member of the outermost object whose value holds this one.
    parent: Option<usize>,
    /// The name as it is written, with quotes and escapes.
    name: &'a [u8],
    /// The text after the colon.
    rest: &'a [u8],
}

impl<'a> Outline<'a> {
    /// Scans JSON.
    pub(super) fn of(json: &'a [u8]) -> Self {
        let mut outline = Self { nodes: 1, members: Vec::new() };
        let (mut at, mut depth) = (0, 0_usize);
        let mut string = 0..0;
        let mut outer = 0;
        // Whether the innermost array or object has no element yet.
        let mut is_empty = false;

        while let Some(byte) = json.get(at) {
            match byte {
                b'"' => {
                    string = string_at(json, at);
                    at = string.end;
                    is_empty = false;
                    continue;
                }
                // Counts the first element or name in advance. The closing bracket takes it back if there is none.
                b'[' | b'{' => {
                    outline.nodes += 1;
                    depth += 1;
                    is_empty = true;
                }
                b']' | b'}' => {
                    outline.nodes -= usize::from(is_empty);
                    depth = depth.saturating_sub(1);
                    is_empty = false;
                }
                b',' => outline.nodes += 1,
                b':' => {
                    outline.nodes += 1;
                    if depth == 1 {
                        outer = outline.members.len();
                    }
                    if depth <= 2 && outline.nodes <= MAX_MESSAGE_NODES {
                        let parent = (depth == 2).then_some(outer);
                        outline.members.push(Member { parent, name: &json[string.clone()], rest: &json[at + 1..] });
                    }
                }
                byte => is_empty &= byte.is_ascii_whitespace(),
            }
            at += 1;
        }

        outline
    }

    /// The first name that two members of one object share, of the outermost object or an object that is its member.
    pub(super) fn duplicate_name(&self) -> Option<Cow<'a, str>> {
        let mut seen = HashSet::new();
        let duplicate = self.members.iter().find(|member| !seen.insert((member.parent, member.name())));
        duplicate.map(Member::name)
    }

    /// The id of a request, if it is a string or a whole number.
    pub(super) fn id(&self) -> Option<RequestId> {
        let member = self.members.iter().find(|member| member.parent.is_none() && member.name() == "id")?;
        let rest = member.rest.trim_ascii_start();
        let end = match rest.first()? {
            b'"' => string_at(rest, 0).end,
            _ => rest.iter().position(|byte| !matches!(byte, b'-' | b'0'..=b'9'))?,
        };
        serde_json::from_slice(&rest[..end]).ok()
    }
}

impl<'a> Member<'a> {
    fn name(&self) -> Cow<'a, str> {
        let inner = self.name.get(1..self.name.len().saturating_sub(1)).unwrap_or_default();
        match serde_json::from_slice::<String>(self.name) {
            Ok(name) if self.name.contains(&b'\\') => Cow::Owned(name),
            _ => String::from_utf8_lossy(inner),
        }
    }
}

/// The range of the string that starts at `start`, with its quotes.
fn string_at(json: &[u8], start: usize) -> Range<usize> {
    let mut at = start + 1;
    while let Some(found) = json.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if json[at - 1] == b'"' {
            return start..at;
        }
        // An escaped character does not end the string.
        at += 1;
    }

    start..json.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn nodes(value: &Value) -> usize {
        1 + match value {
            Value::Array(all) => all.iter().map(nodes).sum(),
            Value::Object(all) => all.values().map(|value| 1 + nodes(value)).sum(),
            _ => 0,
        }
    }

    #[test]
    fn nodes_are_values_and_names() {
        for text in [
            "1",
            "[]",
            "[ ]",
            "{\n}",
            r#"{"a":1}"#,
            r#"[1,[2,{}],{"a":[],"b":{"c":"d"}}]"#,
            r#"{"a,b\"[{:":"\\","c":"\\\""}"#,
            "[[[[1]]],[],null,true,-1.5e3]",
        ] {
            assert_eq!(Outline::of(text.as_bytes()).nodes, nodes(&serde_json::from_str(text).unwrap()), "{text}");
        }
    }

    #[test]
    fn duplicate_names_are_found_behind_escapes() {
        let duplicate = |text: &'static str| Outline::of(text.as_bytes()).duplicate_name();
        assert_eq!(duplicate(r#"{"id":1,"\u0069d":2}"#).as_deref(), Some("id"));
        assert_eq!(duplicate(r#"{"id":1,"params":{"name":2,"id":2,"name":2}}"#).as_deref(), Some("name"));
        assert_eq!(duplicate(r#"{"id":1,"params":{"id":2,"x":{"y":1,"y":1}},"z":{"id":3}}"#), None);
        assert_eq!(duplicate(r#"{"a":"b","b":"a","x":["a:",{"a":1},{"a":1}]}"#), None);
    }

    #[test]
    fn the_id_is_a_member_of_the_outermost_object() {
        let id = |text: &'static str| Outline::of(text.as_bytes()).id();
        assert_eq!(id(r#"{"params":{"id":1},"id" : 7 ,"x":"id"}"#), Some(RequestId::Number(7)));
        assert_eq!(id(r#"{"id":"a\"b"}"#), Some(RequestId::String("a\"b".into())));
        for none in [r#"{"id":null}"#, r#"{"id":[1]}"#, r#"{"id":"#, r#"{"id":"1"#, r#"["id",1]"#, ""] {
            assert_eq!(id(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_scanned(bytes in proptest::collection::vec(prop_oneof![Just(b'"'), Just(b'\\'), Just(b':'), Just(b'{'), any::<u8>()], 0..64)) {
            let outline = Outline::of(&bytes);
            outline.duplicate_name();
            outline.id();
        }
    }
}
