//! Opens standard input and output as asynchronous streams.
//!
//! Clients pass pipes (Python), sockets (Node) or files. Threads that block in a read would delay each message, and the end of the
//! server.

use std::fs::File;
#[cfg(native_linux)]
use std::fs::OpenOptions;
use std::io;
#[cfg(native_linux)]
use std::os::fd::AsRawFd as _;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt as _;
#[cfg(native_linux)]
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream as StdUnixStream;
#[cfg(not(native_linux))]
use std::time::Duration;

#[cfg(not(native_linux))]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
#[cfg(native_linux)]
use rustix::fs::OFlags;
use tokio::io::{AsyncRead, AsyncWrite, Stdin, Stdout};
#[cfg(native_linux)]
use tokio::io::{Interest, unix::AsyncFd};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
#[cfg(not(native_linux))]
use tokio::time::sleep;
use tokio_util::either::Either;
use tokio_util::sync::CancellationToken;

/// Interval at which a system without an event for it is asked whether the client has closed the input.
#[cfg(not(native_linux))]
const HANGUP_INTERVAL: Duration = Duration::from_millis(100);

/// The kind of a standard stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamKind {
    Pipe,
    UnixSocket,
    /// A file, a terminal, or another kind.
    Other,
}

/// The streams of one client.
#[derive(Debug)]
pub struct Streams<R, W> {
    /// The stream that its messages come from.
    pub input: R,
    /// The stream that its messages go to.
    pub output: W,
    /// Cancelled when the client has closed the input, which may still hold messages.
    pub input_closed: CancellationToken,
}

impl<R, W> Streams<R, W> {
    /// Makes streams whose input is closed when all of it has been read.
    #[must_use]
    pub fn new(input: R, output: W) -> Self {
        Self { input, output, input_closed: CancellationToken::new() }
    }
}

/// Opens standard input and output. Only files and terminals need a thread.
///
/// # Panics
/// Outside of a tokio runtime.
#[must_use]
pub fn open() -> Streams<impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static> {
    let streams = Streams::new(input(), output());
    let closed = streams.input_closed.clone();
    tokio::spawn(async move {
        if hangup().await.is_ok() {
            closed.cancel();
        }
    });
    streams
}

/// Waits until the client has closed standard input, without reading it.
///
/// # Errors
/// Standard input is a file, or of another kind without such an event.
#[cfg(native_linux)]
async fn hangup() -> io::Result<()> {
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    // Every interest includes a hangup, and without an interest in reading, input is no event. Source: `epoll_ctl(2)`, EPOLLHUP.
    #[expect(unsafe_code, reason = "the descriptor is owned, so no other code closes or replaces it")]
    let stdin = unsafe { AsyncFd::register_with_interest(stdin, Interest::PRIORITY) }?;
    stdin.ready(Interest::PRIORITY).await.map(drop)
}

/// Other systems have no such event, so the stream is asked again and again.
#[cfg(not(native_linux))]
async fn hangup() -> io::Result<()> {
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    if kind(stdin.as_fd()) == StreamKind::Other {
        return Err(io::ErrorKind::Unsupported.into());
    }

    loop {
        let mut asked = [PollFd::new(&stdin, PollFlags::empty())];
        if poll(&mut asked, Some(&Timespec::default()))? > 0 && asked[0].revents().contains(PollFlags::HUP) {
            return Ok(());
        }
        sleep(HANGUP_INTERVAL).await;
    }
}

fn input() -> Either<pipe::Receiver, Either<UnixStream, Stdin>> {
    let stdin = io::stdin();
    let blocking = || Either::Right(Either::Right(tokio::io::stdin()));
    match kind(stdin.as_fd()) {
        StreamKind::Pipe => receiver(stdin.as_fd()).map_or_else(|_| blocking(), Either::Left),
        StreamKind::UnixSocket => {
            socket(stdin.as_fd()).map_or_else(|_| blocking(), |stream| Either::Right(Either::Left(stream)))
        }
        StreamKind::Other => blocking(),
    }
}

fn output() -> Either<pipe::Sender, Either<UnixStream, Stdout>> {
    let stdout = io::stdout();
    let blocking = || Either::Right(Either::Right(tokio::io::stdout()));
    match kind(stdout.as_fd()) {
        StreamKind::Pipe => sender(stdout.as_fd()).map_or_else(|_| blocking(), Either::Left),
        StreamKind::UnixSocket => {
            socket(stdout.as_fd()).map_or_else(|_| blocking(), |stream| Either::Right(Either::Left(stream)))
        }
        StreamKind::Other => blocking(),
    }
}

fn kind(stream: BorrowedFd<'_>) -> StreamKind {
    let file_type =
        stream.try_clone_to_owned().map(File::from).and_then(|file| file.metadata()).map(|found| found.file_type());
    match file_type {
        Ok(found) if found.is_fifo() => StreamKind::Pipe,
        Ok(found) if found.is_socket() && is_unix_socket(stream) => StreamKind::UnixSocket,
        _ => StreamKind::Other,
    }
}

/// Whether a socket has an address of the kind that Unix sockets have.
fn is_unix_socket(stream: BorrowedFd<'_>) -> bool {
    stream.try_clone_to_owned().is_ok_and(|socket| StdUnixStream::from(socket).local_addr().is_ok())
}

#[cfg(native_linux)]
fn receiver(stream: BorrowedFd<'_>) -> io::Result<pipe::Receiver> {
    reopened(stream, OpenOptions::new().read(true)).and_then(pipe::Receiver::from_file)
}

#[cfg(native_linux)]
fn sender(stream: BorrowedFd<'_>) -> io::Result<pipe::Sender> {
    reopened(stream, OpenOptions::new().write(true)).and_then(pipe::Sender::from_file)
}

/// The pipe itself, since other systems cannot open one again. Processes that share its end do not block on it either.
#[cfg(not(native_linux))]
fn receiver(stream: BorrowedFd<'_>) -> io::Result<pipe::Receiver> {
    pipe::Receiver::from_owned_fd(stream.try_clone_to_owned()?)
}

#[cfg(not(native_linux))]
fn sender(stream: BorrowedFd<'_>) -> io::Result<pipe::Sender> {
    pipe::Sender::from_owned_fd(stream.try_clone_to_owned()?)
}

/// A pipe, opened again. Blocking is a property of the open file, which other processes may share.
#[cfg(native_linux)]
fn reopened(stream: BorrowedFd<'_>, options: &mut OpenOptions) -> io::Result<File> {
    let path = format!("/proc/self/fd/{}", stream.as_raw_fd());
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
}

/// A socket, which cannot be opened again. Only this process uses its end: the client has the other one, and children get none.
fn socket(stream: BorrowedFd<'_>) -> io::Result<UnixStream> {
    let stream = StdUnixStream::from(stream.try_clone_to_owned()?);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}
