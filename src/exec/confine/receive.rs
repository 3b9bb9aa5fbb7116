//! Receives the order of this process, with the directory and the streams of the program.

use std::io::{IoSliceMut, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, FromRawFd as _, OwnedFd};

use rustix::io::{Errno, dup2};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::message::{MOST_DESCRIPTORS, MOST_STREAMS, Message};

/// Waits for the order on standard input, and puts the streams of the program in place of those of this process. Returns
/// the order, and the directory of the program; `None` if no order comes.
pub(super) fn receive() -> Option<(Message, OwnedFd)> {
    let mut bytes = [0; 1 + MOST_STREAMS];
    let (descriptors, count) = descriptors(std::io::stdin(), &mut bytes)?;
    let numbers = bytes.get(1..count)?.to_vec();
    let mut descriptors = descriptors.into_iter();
    let (file, directory) = (descriptors.next()?, descriptors.next()?);

    let mut bytes = Vec::new();
    std::fs::File::from(file).read_to_end(&mut bytes).ok()?;

    let numbers = [0, 1, 2].into_iter().chain(numbers.into_iter().map(i32::from));
    for (number, stream) in numbers.zip(descriptors) {
        #[expect(unsafe_code, reason = "nothing in this process uses the stream of this number, or will")]
        let mut own = unsafe { std::mem::ManuallyDrop::new(OwnedFd::from_raw_fd(number)) };
        dup2(stream.as_fd(), &mut own).ok()?;
    }
    Some((Message::read(&bytes)?, directory))
}

/// Receives descriptors, and the bytes that come with them. Returns the number of these; `None` if nothing comes.
pub(super) fn descriptors(socket: impl AsFd, bytes: &mut [u8]) -> Option<(Vec<OwnedFd>, usize)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut received = RecvAncillaryBuffer::new(&mut space);
    let count = loop {
        match recvmsg(&socket, &mut [IoSliceMut::new(bytes)], &mut received, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            other => break other.ok()?.bytes,
        }
    };

    let mut descriptors = received.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    Some((descriptors.next()?.collect(), count))
}
