//! The output of a call, for those who read it while the program runs.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use crate::lock::Unpoisoned as _;

/// The most output of a running call that can be read, in bytes. Older output gives way.
pub const MAX_TRANSCRIPT_BYTES: usize = 1 << 20;

/// The end of what a call has printed on both streams, in the order in which it arrived.
#[derive(Debug, Default)]
pub struct Transcript(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    bytes: VecDeque<u8>,
    /// The bytes that have given way.
    dropped: u64,
}

/// A part of a [`Transcript`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Where the part starts, in bytes since the start of the call. It lies behind the wanted offset if that has given way.
    pub start: u64,
    /// The output.
    pub bytes: Vec<u8>,
}

impl Excerpt {
    /// Returns where the next part starts.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl Transcript {
    /// Adds output.
    pub(crate) fn push(&self, bytes: &[u8]) {
        let mut inner = self.lock();

        let end = &bytes[bytes.len().saturating_sub(MAX_TRANSCRIPT_BYTES)..];
        let excess = (inner.bytes.len() + end.len()).saturating_sub(MAX_TRANSCRIPT_BYTES);
        inner.bytes.drain(..excess);
        inner.bytes.extend(end);
        inner.dropped += (bytes.len() - end.len() + excess) as u64;
    }

    /// Returns at most `most` bytes from `offset` on.
    #[must_use]
    pub fn excerpt(&self, offset: u64, most: usize) -> Excerpt {
        let inner = self.lock();

        let end = inner.dropped + inner.bytes.len() as u64;
        let start = offset.clamp(inner.dropped, end);
        let skipped = usize::try_from(start - inner.dropped).unwrap_or(usize::MAX);

        Excerpt { start, bytes: inner.bytes.iter().skip(skipped).take(most).copied().collect() }
    }

    /// Returns the number of bytes that can be read.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.lock().bytes.len()
    }

    /// Returns the last bytes, `most` of them at most.
    #[must_use]
    pub fn end(&self, most: usize) -> Excerpt {
        let inner = self.lock();
        let length = inner.dropped + inner.bytes.len() as u64;
        drop(inner);
        self.excerpt(length.saturating_sub(most as u64), most)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unpoisoned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_start_at_an_offset_of_the_whole_output() {
        let transcript = Transcript::default();
        transcript.push(b"one\ntwo\n");
        assert_eq!(transcript.excerpt(0, 99), Excerpt { start: 0, bytes: b"one\ntwo\n".to_vec() });
        assert_eq!(transcript.excerpt(4, 2), Excerpt { start: 4, bytes: b"tw".to_vec() });
        assert_eq!(transcript.excerpt(99, 2), Excerpt { start: 8, bytes: Vec::new() });
        assert_eq!(transcript.end(4), Excerpt { start: 4, bytes: b"two\n".to_vec() });
    }

    #[test]
    fn older_output_gives_way() {
        let transcript = Transcript::default();
        transcript.push(&vec![b'a'; MAX_TRANSCRIPT_BYTES - 1]);
        transcript.push(b"bcd");
        let excerpt = transcript.excerpt(0, 1);
        assert_eq!((excerpt.start, excerpt.bytes.as_slice()), (2, &b"a"[..]));
        assert_eq!(transcript.end(3).bytes, b"bcd");
        transcript.push(&vec![b'e'; 3 * MAX_TRANSCRIPT_BYTES]);
        let all = transcript.excerpt(0, usize::MAX);
        assert_eq!((all.bytes.len(), all.end()), (MAX_TRANSCRIPT_BYTES, 4 * MAX_TRANSCRIPT_BYTES as u64 + 2));
    }
}
