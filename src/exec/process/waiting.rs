//! Children of this binary that wait for an order, to confine themselves and become a program.
//!
//! What does not depend on the order is done before it comes. So a server keeps one child ready for the next call, once a
//! call has needed one.

use std::fs::File;
use std::io::{self, IoSlice, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::children;
use super::joint::{Stream, give, pipe_between};
use crate::exec::confine::message::{MOST_DESCRIPTORS, Message};
use crate::exec::confine::order::{COMMAND, Network, Preparation};
use crate::exec::platform::{anonymous_file, this_program};
use crate::exec::shared_loopback::SharedLoopback;
use crate::identity;
use crate::lock::Unpoisoned as _;

/// How long after the end of a call the next child is started, so that the answer goes out first.
const PAUSE: Duration = Duration::from_millis(1);

/// The child that waits for the next order, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    waiting: Mutex<Option<Waiting>>,
    /// Whether a child is kept ready.
    is_kept: bool,
}

/// The streams of a program, before it starts.
pub(super) struct Streams {
    pub(super) input: Stream,
    pub(super) output: Stream,
    pub(super) errors: Stream,
    pub(super) more: Vec<(u32, OwnedFd)>,
}

/// A child that waits.
#[derive(Debug)]
struct Waiting {
    preparation: Preparation,
    child: Child,
    /// Where it waits for its order. It ends if this is closed before.
    socket: UnixStream,
    /// What is mounted, which becomes readable with each change.
    mounts: Option<File>,
}

impl Spare {
    /// Sends a message to the child that waits, or else to a new one. Returns the child, with its ends of the streams.
    ///
    /// # Errors
    /// The system lacks something.
    pub(super) fn send(
        &self,
        message: &Message,
        (directory, loopback): (&Path, Option<&SharedLoopback>),
        open: impl Fn() -> io::Result<Streams>,
    ) -> io::Result<Child> {
        let preparation = Preparation::of(&message.order);
        let directory = File::open(directory)?;
        let mut file = anonymous_file()?;
        file.write_all(&message.bytes())?;
        io::Seek::rewind(&mut file)?;
        let more = [file.as_fd(), directory.as_fd()];

        if let Some(mut kept) = self.waiting.lock().unpoisoned().take() {
            if kept.is_fit_for(preparation)
                && let Ok(()) = kept.send(more, open()?)
            {
                return Ok(kept.child);
            }
            kept.discard();
        }

        let mut waiting = Waiting::start(preparation, loopback)?;
        waiting.send(more, open()?)?;
        Ok(waiting.child)
    }

    /// Makes one that keeps a child ready.
    pub(crate) fn kept() -> Self {
        Self { is_kept: true, ..Self::default() }
    }

    /// Starts the next child soon, prepared like one before, if one is kept.
    pub(crate) fn renew(self: &Arc<Self>, preparation: Preparation, loopback: Option<&Arc<SharedLoopback>>) {
        // Few programs that are in no cage enter the network of a session.
        if !self.is_kept || preparation.isolation.is_none() {
            return;
        }
        let (spare, loopback) = (self.clone(), loopback.cloned());
        tokio::spawn(async move {
            tokio::time::sleep(PAUSE).await;
            let mut waiting = spare.waiting.lock().unpoisoned();
            if waiting.is_none() {
                // Without it, the next call starts one.
                *waiting = Waiting::start(preparation, loopback.as_deref()).ok();
            }
        });
    }
}

impl Waiting {
    /// Starts a child as the leader of a new process group.
    fn start(preparation: Preparation, loopback: Option<&SharedLoopback>) -> io::Result<Self> {
        let (socket, of_child) = UnixStream::pair()?;
        let mounts = File::open("/proc/self/mountinfo").ok();

        #[expect(clippy::disallowed_methods, reason = "children that confine themselves are part of `exec`")]
        let mut command = Command::new(this_program());
        command
            .arg0(identity::name())
            .arg(COMMAND)
            .args(preparation.words())
            .env_clear()
            .current_dir("/")
            .stdin(OwnedFd::from(of_child))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            // Until `Group` takes over.
            .kill_on_drop(true);
        if preparation.network == Network::Session {
            let loopback = loopback.and_then(SharedLoopback::made).ok_or(io::ErrorKind::NotConnected)?;
            give(&mut command, loopback.descriptors()?.into_iter())?;
        }
        let child = children::start(|| command.spawn(), Child::id)?;
        Ok(Self { preparation, child, socket, mounts })
    }

    /// Returns whether it can take an order, and sees what is mounted now.
    fn is_fit_for(&self, preparation: Preparation) -> bool {
        let is_changed = |mounts: &File| {
            let mut fds = [PollFd::new(mounts, PollFlags::PRI)];
            !poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|changed| changed == 0)
        };
        self.preparation == preparation && !self.mounts.as_ref().is_some_and(is_changed)
    }

    /// Sends it what it becomes, and gives the child its ends of the streams.
    fn send(&mut self, more: [BorrowedFd<'_>; 2], streams: Streams) -> io::Result<()> {
        let Self { child, socket, .. } = self;
        let input = match streams.input {
            Stream::Piped => {
                let (read, write) = pipe_between()?;
                child.stdin = Some(ChildStdin::from_std(write.into())?);
                read
            }
            Stream::Null => File::open("/dev/null")?.into(),
            Stream::Descriptor(descriptor) => descriptor,
        };
        let (output, own_output) = written(streams.output)?;
        let (errors, own_errors) = written(streams.errors)?;
        child.stdout = own_output.map(|own| ChildStdout::from_std(own.into())).transpose()?;
        child.stderr = own_errors.map(|own| ChildStderr::from_std(own.into())).transpose()?;

        let [file, directory] = more;
        let own = [file, directory, input.as_fd(), output.as_fd(), errors.as_fd()];
        let more = streams.more.iter().map(|(_, stream)| stream.as_fd());
        let descriptors: Vec<BorrowedFd<'_>> = own.into_iter().chain(more).collect();
        let numbers: Vec<u8> = streams.more.iter().filter_map(|(number, _)| u8::try_from(*number).ok()).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // A child that is gone is an error here, since Rust programs ignore SIGPIPE.
        sendmsg(socket, &[IoSlice::new(&[0]), IoSlice::new(&numbers)], &mut control, SendFlags::empty())?;
        Ok(())
    }

    /// Ends it.
    fn discard(self) {
        let Self { mut child, .. } = self;
        tokio::spawn(async move {
            let id = child.id();
            let _ = child.kill().await;
            if let Some(id) = id {
                children::waited_for(id.cast_signed());
            }
        });
    }
}

/// Returns the end of a stream that a program writes to, and the one that this server reads from, if it does.
fn written(stream: Stream) -> io::Result<(OwnedFd, Option<OwnedFd>)> {
    Ok(match stream {
        Stream::Piped => {
            let (read, write) = pipe_between()?;
            (write, Some(read))
        }
        Stream::Null => (File::options().write(true).open("/dev/null")?.into(), None),
        Stream::Descriptor(descriptor) => (descriptor, None),
    })
}
