//! Refuses heads of requests whose lines do not end in CRLF.
//!
//! The HTTP library takes a bare LF for the end of a line. A proxy in front may not, and would then see another request
//! than this server. Source: RFC 9112, section 2.2.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of a line that are looked at. A header with the length of a body is shorter.
const MAX_LINE_BYTES: usize = 128;

/// What stands for a bare LF: a byte that the HTTP library refuses anywhere in a head, with the status 400.
const REFUSED: u8 = 0;

/// A connection. Lines in heads of its requests end in CRLF, or the request is refused.
#[derive(Debug)]
pub(super) struct CheckedLines<S> {
    stream: S,
    position: Position,
}

impl<S> CheckedLines<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, position: Position::default() }
    }
}

/// Where in its requests a connection is.
#[derive(Debug)]
enum Position {
    Head(Head),
    /// In a body of which so many bytes are to come.
    Body(u64),
    /// In a body of unknown length. No request follows it: see [`super::close_after`].
    LastBody,
}

impl Default for Position {
    fn default() -> Self {
        Self::Head(Head::default())
    }
}

/// What is known of a head from its lines so far.
#[derive(Debug, Default)]
struct Head {
    /// The start of the last line.
    line: Vec<u8>,
    after_cr: bool,
    /// Whether the line of the request has been read. Empty lines may stand before it.
    has_begun: bool,
    length: Option<u64>,
    is_chunked: bool,
}

impl Position {
    /// Goes on over these bytes, and makes those of them illegal that the library would take for the end of a line.
    fn check(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            match self {
                Self::LastBody => return,
                Self::Body(rest) => {
                    let taken = usize::try_from(*rest).unwrap_or(usize::MAX).min(bytes.len());
                    bytes = &mut bytes[taken..];
                    *rest -= taken as u64;
                    if *rest == 0 {
                        *self = Self::default();
                    }
                }
                Self::Head(head) => {
                    let (byte, rest) = bytes.split_at_mut(1);
                    bytes = rest;
                    match head.take(&mut byte[0]) {
                        None => {}
                        Some((_, true)) => *self = Self::LastBody,
                        Some((0, false)) => *self = Self::default(),
                        Some((length, false)) => *self = Self::Body(length),
                    }
                }
            }
        }
    }
}

impl Head {
    /// Takes a byte. At the end of the head, returns the length of the body, and whether it is chunked instead.
    fn take(&mut self, byte: &mut u8) -> Option<(u64, bool)> {
        let after_cr = std::mem::replace(&mut self.after_cr, *byte == b'\r');
        match *byte {
            b'\r' => None,
            b'\n' => {
                if !after_cr || !self.end_line() {
                    *byte = REFUSED;
                    return None;
                }
                let is_end = self.has_begun && self.line.is_empty();
                self.has_begun |= !self.line.is_empty();
                self.line.clear();
                is_end.then(|| (self.length.unwrap_or_default(), self.is_chunked))
            }
            other => {
                if self.line.len() <= MAX_LINE_BYTES {
                    self.line.push(other);
                }
                None
            }
        }
    }

    /// Reads the line that ends. Returns whether it leaves no doubt about the length of the body.
    fn end_line(&mut self) -> bool {
        let Some(colon) = self.line.iter().position(|byte| *byte == b':').filter(|_| self.has_begun) else {
            return true;
        };
        let (name, value) = (&self.line[..colon], self.line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.is_chunked = true;
        }
        if !name.eq_ignore_ascii_case(b"content-length") {
            return true;
        }

        let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit) && self.line.len() <= MAX_LINE_BYTES;
        let length = str::from_utf8(value).ok().filter(|_| is_number).and_then(|value| value.parse().ok());

        length.is_some() && self.length.replace(length.unwrap_or_default()).is_none()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CheckedLines<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.position.check(&mut buffer.filled_mut()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CheckedLines<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks bytes that come in parts of this length. Returns them as they are passed on.
    fn checked(text: &str, part: usize) -> String {
        let mut position = Position::default();
        let mut bytes = text.as_bytes().to_vec();
        bytes.chunks_mut(part).for_each(|part| position.check(part));
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn heads_with_bare_line_feeds_are_made_illegal_and_bodies_pass() {
        let good = "\r\nPOST / HTTP/1.1\r\nContent-Length:  5 \r\n\r\n{\n\n}\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\n";
        for part in 1..good.len() {
            assert_eq!(checked(good, part), good);
            assert_eq!(checked(chunked, part), chunked);
        }

        for bad in [
            "GET / HTTP/1.1\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\n",
            "\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n\nGET / HTTP/1.1\nHost: a\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
        ] {
            assert!((1..bad.len()).all(|part| checked(bad, part).contains('\0')), "{bad}");
        }
    }
}
