//! Receives the order of this process, with the directory and the streams of the program.

use std::io::{IoSliceMut, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, FromRawFd as _, OwnedFd};

use rustix::io::{Errno, dup2};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::message::{MOST_DESCRIPTORS, MOST_STREAMS, Message};

/// Waits for the order on standard input, and puts the streams of the program in place of those of this process. Returns
/// the order, and the directory of the program; `None` if no order comes.
pub(super) fn receive() -> Option<(Message, OwnedFd)> {
    let (descriptors, numbers) = descriptors()?;
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

/// Receives the file with the message, the directory and the streams, and the numbers of those beyond the usual three.
fn descriptors() -> Option<(Vec<OwnedFd>, Vec<u8>)> {
    let socket = std::io::stdin();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut received = RecvAncillaryBuffer::new(&mut space);
    let mut bytes = [0; 1 + MOST_STREAMS];
    let count = loop {
        match recvmsg(&socket, &mut [IoSliceMut::new(&mut bytes)], &mut received, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            other => break other.ok()?.bytes,
        }
    };
    let numbers = bytes.get(1..count)?.to_vec();

    let mut descriptors = received.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    Some((descriptors.next()?.collect(), numbers))
}
