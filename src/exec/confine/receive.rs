//! Receives the order of this process, with the directory and the streams of the program.

use std::io::{IoSliceMut, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, FromRawFd as _, OwnedFd};

use rustix::io::{Errno, dup2};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::message::{DESCRIPTORS, Message};

/// Waits for the order on standard input, and puts the streams of the program in place of those of this process. Returns
/// the order, and the directory of the program; `None` if no order comes.
pub(super) fn receive() -> Option<(Message, OwnedFd)> {
    let [file, directory, streams @ ..] = descriptors()?;

    let mut bytes = Vec::new();
    std::fs::File::from(file).read_to_end(&mut bytes).ok()?;

    for (number, stream) in (0..).zip(streams) {
        #[expect(unsafe_code, reason = "the stream is one of this process, and nothing in it uses it any more")]
        let mut own = unsafe { std::mem::ManuallyDrop::new(OwnedFd::from_raw_fd(number)) };
        dup2(stream.as_fd(), &mut own).ok()?;
    }
    Some((Message::read(&bytes)?, directory))
}

/// Receives the file with the message, the directory and the streams.
fn descriptors() -> Option<[OwnedFd; DESCRIPTORS]> {
    let socket = std::io::stdin();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut received = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let count = loop {
        match recvmsg(&socket, &mut [IoSliceMut::new(&mut byte)], &mut received, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            other => break other.ok()?.bytes,
        }
    };
    if count == 0 {
        return None;
    }

    let mut descriptors = received.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let descriptors: Vec<OwnedFd> = descriptors.next()?.collect();
    descriptors.try_into().ok()
}
