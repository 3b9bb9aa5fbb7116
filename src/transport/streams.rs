//! Standard input and output as streams that do not wait, whatever a client has made of them.
//!
//! Clients hand over pipes (Python), sockets (Node) or files. Threads that wait in a read would delay each message, and the
//! end of the server.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream as StdUnixStream;

use rustix::fs::OFlags;
use rustix::net::AddressFamily;
use rustix::net::sockopt::socket_domain;
use tokio::io::{AsyncRead, AsyncWrite, Stdin, Stdout};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio_util::either::Either;

/// What a standard stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pipe,
    UnixSocket,
    /// A file, a terminal, something else.
    Other,
}

/// Opens standard input and output. Only files and terminals cost a thread.
///
/// # Panics
/// Outside of a tokio runtime.
#[must_use]
pub fn open() -> (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static) {
    (input(), output())
}

fn input() -> Either<pipe::Receiver, Either<UnixStream, Stdin>> {
    let stdin = io::stdin();
    let waiting = || Either::Right(Either::Right(tokio::io::stdin()));
    match kind(stdin.as_fd()) {
        Kind::Pipe => {
            let reopened = reopened(stdin.as_fd(), OpenOptions::new().read(true)).and_then(pipe::Receiver::from_file);
            reopened.map_or_else(|_| waiting(), Either::Left)
        }
        Kind::UnixSocket => {
            socket(stdin.as_fd()).map_or_else(|_| waiting(), |stream| Either::Right(Either::Left(stream)))
        }
        Kind::Other => waiting(),
    }
}

fn output() -> Either<pipe::Sender, Either<UnixStream, Stdout>> {
    let stdout = io::stdout();
    let waiting = || Either::Right(Either::Right(tokio::io::stdout()));
    match kind(stdout.as_fd()) {
        Kind::Pipe => {
            let reopened = reopened(stdout.as_fd(), OpenOptions::new().write(true)).and_then(pipe::Sender::from_file);
            reopened.map_or_else(|_| waiting(), Either::Left)
        }
        Kind::UnixSocket => {
            socket(stdout.as_fd()).map_or_else(|_| waiting(), |stream| Either::Right(Either::Left(stream)))
        }
        Kind::Other => waiting(),
    }
}

fn kind(stream: BorrowedFd<'_>) -> Kind {
    let file_type =
        stream.try_clone_to_owned().map(File::from).and_then(|file| file.metadata()).map(|found| found.file_type());
    match file_type {
        Ok(found) if found.is_fifo() => Kind::Pipe,
        Ok(found) if found.is_socket() && socket_domain(stream) == Ok(AddressFamily::UNIX) => Kind::UnixSocket,
        _ => Kind::Other,
    }
}

/// A pipe, opened once more: whether reads wait is a property of the open file, which others may share.
fn reopened(stream: BorrowedFd<'_>, options: &mut OpenOptions) -> io::Result<File> {
    let path = format!("/proc/self/fd/{}", stream.as_raw_fd());
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
}

/// A socket cannot be opened once more; the client has the other end, and children get neither.
fn socket(stream: BorrowedFd<'_>) -> io::Result<UnixStream> {
    let stream = StdUnixStream::from(stream.try_clone_to_owned()?);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}
