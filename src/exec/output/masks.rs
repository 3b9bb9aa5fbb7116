//! Hides secrets in output.

use std::sync::Arc;

/// Minimum length of a secret that is masked, in bytes. Shorter ones would hide ordinary output.
const MIN_MASKED_BYTES: usize = 4;

/// The text in place of a secret.
const MASK: &[u8] = b"[secret]";

/// The secrets that output does not show.
#[derive(Clone, Debug, Default)]
pub struct Masks(Arc<Vec<Vec<u8>>>);

impl Masks {
    /// Masks these values.
    pub(crate) fn new(mut values: Vec<Vec<u8>>) -> Self {
        values.retain(|value| value.len() >= MIN_MASKED_BYTES);
        // A secret may contain another one.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(Arc::new(values))
    }

    /// Returns the secrets of both.
    pub(crate) fn with(&self, other: &Self) -> Self {
        Self::new(self.0.iter().chain(other.0.iter()).cloned().collect())
    }

    /// Returns whether there is nothing to mask.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Masks the secrets in a whole text.
    pub(crate) fn apply(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.is_empty() { bytes } else { self.scan(&bytes, false).0 }
    }

    /// Masks the secrets, the first and longest first. With `goes_on`, also returns the end that may start a secret.
    fn scan(&self, bytes: &[u8], goes_on: bool) -> (Vec<u8>, Vec<u8>) {
        let mut shown = Vec::with_capacity(bytes.len());
        let mut at = 0;

        while at < bytes.len() {
            let rest = &bytes[at..];
            let found = self.0.iter().find(|secret| rest.starts_with(secret)).map(Vec::len);
            let may_go_on = |secret: &Vec<u8>| secret.len() > rest.len() && secret.starts_with(rest);
            if goes_on && self.0.iter().any(may_go_on) {
                return (shown, rest.to_vec());
            }

            match found {
                Some(_) => shown.extend_from_slice(MASK),
                None => shown.push(rest[0]),
            }
            at += found.unwrap_or(1);
        }

        (shown, Vec::new())
    }
}

/// Masks the secrets of a stream, also where a secret comes in several pieces.
pub(crate) struct MaskedStream<'a> {
    masks: &'a Masks,
    held: Vec<u8>,
}

impl<'a> MaskedStream<'a> {
    /// Makes a stream without output.
    pub(crate) fn new(masks: &'a Masks) -> Self {
        Self { masks, held: Vec::new() }
    }

    /// Adds output. Returns what can be shown: all but an end that may be the start of a secret.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let (shown, held) = self.masks.scan(&self.held, true);
        self.held = held;
        shown
    }

    /// Returns what was held back when the stream has ended.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.masks.apply(self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_in_pieces_of_any_length() {
        let masks =
            Masks::new(["secret", "secret-and-more", "crete", "abc"].map(|text| text.as_bytes().to_vec()).into());
        let text = b"a secret-and-more, secre, a secret; crete abc secret-and-les";
        let expected = b"a [secret], secre, a [secret]; [secret] abc [secret]-and-les".to_vec();
        for size in 1..text.len() {
            let mut stream = MaskedStream::new(&masks);
            let mut shown: Vec<u8> = text.chunks(size).flat_map(|piece| stream.push(piece)).collect();
            shown.extend(stream.finish());
            assert_eq!(String::from_utf8(shown).unwrap(), String::from_utf8(expected.clone()).unwrap(), "{size}");
        }
    }
}
