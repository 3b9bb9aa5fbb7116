//! The message by which a child that waits gets its order, and the program to become.
//!
//! It is the content of a file. The descriptor of the file goes with those of the program's directory and its three
//! streams, in this order, and with those of further streams, whose numbers in the program go as bytes behind a zero. Pure.
//! Each text goes with its length, because a separator could be part of one.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use super::order::Order;

/// The most further streams of a program.
pub(crate) const MOST_STREAMS: usize = 8;

/// The most descriptors that go to a child.
pub(crate) const MOST_DESCRIPTORS: usize = 5 + MOST_STREAMS;

/// What a child is told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// What the program may do.
    pub(crate) order: Order,
    /// The path of the program, its name, and its arguments.
    pub(crate) command: Vec<OsString>,
    /// The variables of the program.
    pub(crate) variables: Vec<(OsString, OsString)>,
}

impl Message {
    /// Returns its bytes, in the form that [`Message::read`] takes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let Self { order, command, variables } = self;
        let mut bytes = Vec::new();
        let order: Vec<OsString> = order.words().into_iter().map(OsString::from).collect();
        append(&mut bytes, order.iter().map(OsString::as_os_str));
        append(&mut bytes, command.iter().map(OsString::as_os_str));
        append(&mut bytes, variables.iter().flat_map(|(name, value)| [name.as_os_str(), value.as_os_str()]));
        bytes
    }

    /// Reads a message; `None` if the bytes are none.
    #[cfg_attr(not(native_linux), allow(dead_code, reason = "only Linux has children that wait"))]
    pub(crate) fn read(mut bytes: &[u8]) -> Option<Self> {
        let (order, command) = (texts(&mut bytes)?, texts(&mut bytes)?);
        let variables = texts(&mut bytes)?;
        let (pairs, rest) = variables.as_chunks::<2>();
        if !bytes.is_empty() || !rest.is_empty() {
            return None;
        }
        let variables = pairs.iter().cloned().map(|[name, value]| (name, value)).collect();
        Some(Self { order: Order::read(&order)?, command, variables })
    }
}

/// Appends a list of texts.
fn append<'t>(bytes: &mut Vec<u8>, texts: impl Iterator<Item = &'t OsStr>) {
    let texts: Vec<&OsStr> = texts.collect();
    bytes.extend(texts.len().to_le_bytes());
    for text in texts {
        bytes.extend(text.len().to_le_bytes());
        bytes.extend(text.as_bytes());
    }
}

/// Takes a list of texts from the start of `bytes`.
fn texts(bytes: &mut &[u8]) -> Option<Vec<OsString>> {
    let count = number(bytes)?;
    let mut texts = Vec::new();
    for _ in 0..count {
        let length = number(bytes)?;
        let (text, rest) = bytes.split_at_checked(length)?;
        texts.push(OsString::from_vec(text.to_vec()));
        *bytes = rest;
    }
    Some(texts)
}

/// Takes a number from the start of `bytes`.
fn number(bytes: &mut &[u8]) -> Option<usize> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(usize::from_le_bytes(*number))
}

#[cfg(test)]
mod tests {
    use climax_catalog::policy::SandboxLimits;

    use super::super::order::{Holder, Network};
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let words = |words: &[&[u8]]| words.iter().map(|word| OsStr::from_bytes(word).to_owned()).collect::<Vec<_>>();
        let message = Message {
            order: Order {
                password: "p".into(),
                read: words(&[b"/a b"]),
                write: Vec::new(),
                network: Network::Machine,
                holder: Holder::Sandbox(SandboxLimits::default()),
            },
            command: words(&[b"/bin/x", b"", b"--", b"a\0b\n=\xff"]),
            variables: vec![("LD_PRELOAD".into(), "".into()), ("A".into(), "b=c\nd".into())],
        };
        let bytes = message.bytes();
        assert_eq!(Message::read(&bytes), Some(message));
        for end in 0..bytes.len() {
            assert_eq!(Message::read(&bytes[..end]), None, "{end}");
        }
        assert_eq!(Message::read(&[bytes, vec![0]].concat()), None);
    }
}
