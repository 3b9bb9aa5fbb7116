//! Captured output: the head and the tail of a stream, and how much was left out between.

use std::collections::VecDeque;

/// A stream while it is read.
pub(super) struct Capture {
    start: Start,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    dropped: u64,
}

/// What is kept of the start of a stream.
enum Start {
    /// Everything, up to so many bytes.
    Whole(Vec<u8>, usize),
    /// The head, since the whole was too much.
    Head(Vec<u8>),
}

impl Capture {
    /// Shows at most `limit` bytes, and keeps the whole besides as long as it is no longer than `whole_limit`.
    pub(super) fn new(limit: usize, whole_limit: usize) -> Self {
        let head_limit = limit.div_ceil(2);
        Self {
            start: Start::Whole(Vec::new(), whole_limit.max(head_limit)),
            tail: VecDeque::new(),
            head_limit,
            tail_limit: limit - head_limit,
            dropped: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let (Start::Whole(start, _) | Start::Head(start)) = &self.start;
        let (head, rest) = bytes.split_at(self.head_limit.saturating_sub(start.len()).min(bytes.len()));
        match &mut self.start {
            Start::Whole(whole, limit) if whole.len() + bytes.len() <= *limit => whole.extend_from_slice(bytes),
            Start::Whole(whole, _) => {
                whole.extend_from_slice(head);
                whole.truncate(self.head_limit);
                whole.shrink_to_fit();
                self.start = Start::Head(std::mem::take(whole));
            }
            Start::Head(_) => {}
        }
        let kept = &rest[rest.len().saturating_sub(self.tail_limit)..];
        let excess = (self.tail.len() + kept.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..excess);
        self.tail.extend(kept);
        self.dropped += (rest.len() - kept.len() + excess) as u64;
    }

    pub(super) fn finish(self) -> Captured {
        let (head, whole) = match self.start {
            Start::Whole(mut whole, _) if self.dropped > 0 => {
                whole.shrink_to_fit();
                (whole[..self.head_limit].to_vec(), Some(whole))
            }
            Start::Whole(mut head, _) | Start::Head(mut head) => {
                head.truncate(self.head_limit);
                (head, None)
            }
        };
        Captured { head, tail: self.tail.into(), dropped: self.dropped, whole }
    }
}

/// What is left of a stream.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    head: Vec<u8>,
    tail: Vec<u8>,
    dropped: u64,
    /// All of it, if more was kept than is shown.
    whole: Option<Vec<u8>>,
}

impl Captured {
    /// What is left of `bytes` if at most `limit` are kept.
    pub(super) fn of(bytes: &[u8], limit: usize) -> Self {
        let mut capture = Capture::new(limit, 0);
        capture.push(bytes);
        capture.finish()
    }

    /// Bytes that were read.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.dropped + (self.head.len() + self.tail.len()) as u64
    }

    /// Bytes that were read and not kept.
    #[must_use]
    pub fn dropped_bytes(&self) -> u64 {
        self.dropped
    }

    /// All bytes; `None` if they were too many to be kept.
    #[must_use]
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        match self.whole {
            Some(whole) => Some(whole),
            None if self.dropped > 0 => None,
            None => Some([self.head, self.tail].concat()),
        }
    }

    /// The text: invalid UTF-8 becomes U+FFFD, and the gap, if there is one, is named.
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

/// Length of the start of a character that the end of `bytes` cuts off.
fn cut_at_end(bytes: &[u8]) -> usize {
    let back = bytes.iter().rev().take(3).take_while(|byte| is_continuation(**byte)).count();
    let lead = bytes.len().checked_sub(back + 1).map(|at| bytes[at].leading_ones() as usize);
    match lead {
        Some(length @ 2..=4) if length > back + 1 => back + 1,
        _ => 0,
    }
}

/// Length of the rest of a character that the start of `bytes` cuts off.
fn cut_at_start(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| is_continuation(**byte)).count()
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}
