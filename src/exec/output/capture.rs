//! Captures output: the head and the tail of a stream, and the number of bytes dropped between them.

use std::borrow::Cow;
use std::collections::VecDeque;

/// Captures a stream while it is read.
pub(crate) struct Capture {
    prefix: Prefix,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    dropped: u64,
}

/// The captured start of a stream.
enum Prefix {
    /// The whole stream so far, and the limit in bytes.
    Whole(Vec<u8>, usize),
    /// The head only: the stream is longer than the limit.
    Head(Vec<u8>),
}

impl Capture {
    /// Makes a capture whose text has at most `limit` bytes.
    ///
    /// The whole stream is captured besides, unless it is longer than `whole_limit` bytes.
    pub(crate) fn new(limit: usize, whole_limit: usize) -> Self {
        let head_limit = limit.div_ceil(2);
        Self {
            prefix: Prefix::Whole(Vec::new(), whole_limit.max(head_limit)),
            tail: VecDeque::new(),
            head_limit,
            tail_limit: limit - head_limit,
            dropped: 0,
        }
    }

    /// Adds output.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let (Prefix::Whole(prefix, _) | Prefix::Head(prefix)) = &self.prefix;
        let (head, rest) = bytes.split_at(self.head_limit.saturating_sub(prefix.len()).min(bytes.len()));

        match &mut self.prefix {
            Prefix::Whole(whole, limit) if whole.len() + bytes.len() <= *limit => whole.extend_from_slice(bytes),
            Prefix::Whole(whole, _) => {
                whole.extend_from_slice(head);
                whole.truncate(self.head_limit);
                whole.shrink_to_fit();
                self.prefix = Prefix::Head(std::mem::take(whole));
            }
            Prefix::Head(_) => {}
        }

        let end = &rest[rest.len().saturating_sub(self.tail_limit)..];
        let excess = (self.tail.len() + end.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..excess);
        self.tail.extend(end);
        self.dropped += (rest.len() - end.len() + excess) as u64;
    }

    /// Ends the capture.
    pub(crate) fn finish(self) -> Captured {
        let (head, whole) = match self.prefix {
            Prefix::Whole(mut whole, _) if self.dropped > 0 => {
                whole.shrink_to_fit();
                (whole[..self.head_limit].to_vec(), Some(whole))
            }
            Prefix::Whole(mut head, _) | Prefix::Head(mut head) => {
                head.truncate(self.head_limit);
                (head, None)
            }
        };

        Captured { head, tail: self.tail.into(), dropped: self.dropped, whole }
    }
}

/// A captured stream: its head, its tail, and sometimes the whole.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    head: Vec<u8>,
    tail: Vec<u8>,
    dropped: u64,
    /// The whole stream, if it is longer than head and tail and within the limit.
    whole: Option<Vec<u8>>,
}

impl Captured {
    /// Captures `bytes`, of which the text has at most `limit`.
    pub(crate) fn from_bytes(bytes: &[u8], limit: usize) -> Self {
        let mut capture = Capture::new(limit, 0);
        capture.push(bytes);
        capture.finish()
    }

    /// Returns the stream with nothing but the number of its bytes.
    pub(crate) fn without_text(&self) -> Self {
        Self { dropped: self.total_bytes(), ..Self::default() }
    }

    /// Returns this stream with another behind it.
    pub(crate) fn followed_by(&self, other: &Self) -> Self {
        let own = [self.head.as_slice(), &self.tail].concat();
        let next = [other.head.as_slice(), &other.tail].concat();
        Self { head: own, tail: next, dropped: self.dropped + other.dropped, whole: None }
    }

    /// Returns the number of bytes that were read.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.dropped + (self.head.len() + self.tail.len()) as u64
    }

    /// Returns the number of bytes that are neither in the head nor in the tail.
    #[must_use]
    pub fn dropped_bytes(&self) -> u64 {
        self.dropped
    }

    /// Returns the number of bytes that a result may show; `None` if it shows the whole stream.
    #[must_use]
    pub fn limit(&self) -> Option<usize> {
        (self.dropped > 0).then(|| self.head.len() + self.tail.len())
    }

    /// Returns the whole stream without consuming it; `None` if it was longer than the limit.
    #[must_use]
    pub fn bytes(&self) -> Option<Cow<'_, [u8]>> {
        match &self.whole {
            Some(whole) => Some(whole.into()),
            None if self.dropped > 0 => None,
            None => Some([self.head.as_slice(), &self.tail].concat().into()),
        }
    }

    /// Returns the whole stream; `None` if it was longer than the limit.
    #[must_use]
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        match self.whole {
            Some(whole) => Some(whole),
            None if self.dropped > 0 => None,
            None => Some([self.head, self.tail].concat()),
        }
    }

    /// Returns the text. Invalid UTF-8 becomes U+FFFD; a marker with the number of dropped bytes fills the gap.
    #[must_use]
    pub fn text(&self) -> String {
        if self.dropped == 0 {
            let whole = [self.head.as_slice(), self.tail.as_slice()].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }

        let head = &self.head[..self.head.len() - cut_at_end(&self.head)];
        let tail = &self.tail[cut_at_start(&self.tail)..];
        let omitted = self.dropped + (self.head.len() - head.len() + self.tail.len() - tail.len()) as u64;

        let [head, tail] = [head, tail].map(String::from_utf8_lossy);
        let marker = format!("[… {omitted} bytes omitted …]");
        let parts = [head.as_ref(), &marker, &tail];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

/// Returns the length of an incomplete character at the end of `bytes`.
fn cut_at_end(bytes: &[u8]) -> usize {
    let back = bytes.iter().rev().take(3).take_while(|byte| is_continuation(**byte)).count();
    let lead = bytes.len().checked_sub(back + 1).map(|at| bytes[at].leading_ones() as usize);
    match lead {
        Some(length @ 2..=4) if length > back + 1 => back + 1,
        _ => 0,
    }
}

/// Returns the length of an incomplete character at the start of `bytes`.
fn cut_at_start(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| is_continuation(**byte)).count()
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}
