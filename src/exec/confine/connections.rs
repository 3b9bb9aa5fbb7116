//! Lets programs in a cage connect to the Unix sockets of their cage, and to no other of this machine.
//!
//! Neither Landlock before its ABI 9 nor a filter of system calls tells one Unix socket from another: the address of
//! `connect` is in memory, which a filter cannot read. So the kernel asks the init of the cage about each `connect`. The
//! init reads the address once, looks where it leads, and connects the socket of the program itself. To let the kernel go
//! on would not do, since the program could change the address, or the descriptor, in between.
//!
//! Source: `seccomp_unotify`(2), `pidfd_getfd`(2), `unix`(7).

use std::ffi::OsStr;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
    sendmsg, socketpair, sockopt,
};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use rustix::thread::set_no_new_privs;
use seccompiler::sock_filter;

use super::mounts::MEMORY_FILES;
use super::namespaces::Copy;
use super::receive::descriptors;
use super::seccomp::instruction;
use crate::exec::files::temporary_directories;

/// Most calls of `connect` that are answered at once. Some wait for whoever is to accept them.
const MOST_AT_ONCE: usize = 64;

/// The size of the largest address of a socket. Source: `sockaddr_storage` in `socket.h`(0p).
const MOST_ADDRESS_BYTES: usize = 128;

/// The way by which a program's process gives its questions to the init.
#[derive(Debug)]
pub(super) struct Connections {
    of_program: OwnedFd,
    of_init: OwnedFd,
}

impl Connections {
    /// Makes the way, before the process of the program is there.
    ///
    /// # Errors
    /// There are no descriptors to be had, or what surrounds this process does not let it answer, as some containers do.
    pub(super) fn new() -> Result<Self, Errno> {
        can_answer()?;
        let (of_program, of_init) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok(Self { of_program, of_init })
    }

    /// Lets the kernel ask the init about each `connect` of this process and of what it starts.
    ///
    /// # Errors
    /// The kernel cannot ask, or the questions do not get to the init, and every `connect` fails.
    pub(super) fn ask_first(&self) -> Result<(), Errno> {
        let listener = listener(&mut filter())?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let descriptors = [listener.as_fd()];
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        sendmsg(&self.of_program, &[IoSlice::new(b"l")], &mut ancillary, SendFlags::empty()).map(drop)
    }

    /// Answers from now on, on a thread of this process, which is the init. `write` are the files and directories that the
    /// program may change.
    pub(super) fn answer(self, write: &[&Path], project: Option<&Path>) {
        let Self { of_program, of_init } = self;
        drop(of_program);
        let own = own_directories(write, project);
        // Without a thread the questions end with their descriptor, and the kernel refuses every `connect`.
        let _ = std::thread::Builder::new().spawn(move || {
            let listener = descriptors(&of_init, &mut [0]).and_then(|(descriptors, _)| descriptors.into_iter().next());
            if let Some(listener) = listener {
                answer_all(&Arc::new(Answers { listener, own, running: AtomicUsize::new(0) }));
            }
        });
    }
}

/// Returns the directories of temporary files that nobody outside of the cage uses.
fn own_directories(write: &[&Path], project: Option<&Path>) -> Vec<PathBuf> {
    let temporary: Vec<PathBuf> = temporary_directories().collect();
    let is_own = |path: &PathBuf| {
        temporary.iter().any(|top| path.starts_with(top) && path != top)
            && !project.is_some_and(|project| path.starts_with(project) || project.starts_with(path))
    };

    let written = write.iter().filter_map(|path| path.canonicalize().ok()).filter(is_own);
    written.chain([PathBuf::from(MEMORY_FILES)]).collect()
}

/// Returns whether this kernel asks, and lets this process answer, by trying both.
pub(super) fn available() -> bool {
    let mut filter = filter();
    let copy = Copy::start(0, || {
        let asks = set_no_new_privs(true).and_then(|()| listener(&mut filter));
        i32::from(asks.is_err())
    });
    can_answer().is_ok() && copy.is_ok_and(|copy| copy.end() == Some(0))
}

/// What the threads that answer share.
#[derive(Debug)]
struct Answers {
    listener: OwnedFd,
    own: Vec<PathBuf>,
    running: AtomicUsize,
}

/// Installs the filter by which the kernel asks, and returns where the questions come.
fn listener(filter: &mut [sock_filter]) -> Result<OwnedFd, Errno> {
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).unwrap_or_default(),
        filter: filter.as_mut_ptr().cast::<libc::sock_filter>(),
    };
    // With the second flag, of Linux 5.19, only the end of the program interrupts a question, so that none is put twice.
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    #[expect(unsafe_code, reason = "the filter lives as long as the call, and the result is a new descriptor")]
    unsafe {
        let result = libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program);
        match i32::try_from(result) {
            Ok(descriptor) if descriptor >= 0 => Ok(OwnedFd::from_raw_fd(descriptor)),
            _ => Err(last_error()),
        }
    }
}

/// The filter: the kernel asks about `connect`. What another architecture means by this number, other filters refuse.
fn filter() -> Vec<sock_filter> {
    let connect = u32::try_from(libc::SYS_connect).unwrap_or_default();
    vec![
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, connect),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_USER_NOTIF),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// Answers each question, the longer ones side by side.
fn answer_all(answers: &Arc<Answers>) {
    loop {
        let question = match next(answers.listener.as_fd()) {
            Ok(question) => question,
            // The process has ended since.
            Err(Errno::NOENT | Errno::INTR) => continue,
            Err(_) => return,
        };
        if answers.running.fetch_add(1, Ordering::AcqRel) >= MOST_AT_ONCE {
            answers.end(&question, Err(Errno::AGAIN));
            continue;
        }
        let own = Arc::clone(answers);
        let started = std::thread::Builder::new().spawn(move || {
            let answer = connect(&question, &own);
            own.end(&question, answer);
        });
        if started.is_err() {
            answers.end(&question, Err(Errno::AGAIN));
        }
    }
}

impl Answers {
    /// Tells the kernel the result of a `connect`.
    fn end(&self, question: &libc::seccomp_notif, answer: Result<(), Errno>) {
        let error = answer.err().map_or(0, |error| -error.raw_os_error());
        let mut response = libc::seccomp_notif_resp { id: question.id, val: 0, error, flags: 0 };
        // The process may have ended since.
        let _ = control(self.listener.as_fd(), SEND, &mut response);
        self.running.fetch_sub(1, Ordering::AcqRel);
    }
}

/// `SECCOMP_IOCTL_NOTIF_RECV`, `SECCOMP_IOCTL_NOTIF_SEND` and `SECCOMP_IOCTL_NOTIF_ID_VALID`. Source: Linux, `uapi/linux/seccomp.h`.
const RECEIVE: rustix::ioctl::Opcode = rustix::ioctl::opcode::read_write::<libc::seccomp_notif>(b'!', 0);
const SEND: rustix::ioctl::Opcode = rustix::ioctl::opcode::read_write::<libc::seccomp_notif_resp>(b'!', 1);
const IS_VALID: rustix::ioctl::Opcode = rustix::ioctl::opcode::write::<u64>(b'!', 2);

fn control<T>(listener: BorrowedFd<'_>, request: rustix::ioctl::Opcode, argument: &mut T) -> Result<(), Errno> {
    #[expect(unsafe_code, reason = "the argument is the one that the request takes, and lives as long as the call")]
    let result = unsafe {
        libc::syscall(libc::SYS_ioctl, listener.as_raw_fd(), u64::from(request), std::ptr::from_mut(argument))
    };
    if result == 0 { Ok(()) } else { Err(last_error()) }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Waits for a question.
fn next(listener: BorrowedFd<'_>) -> Result<libc::seccomp_notif, Errno> {
    #[expect(unsafe_code, reason = "a question is plain numbers, and the kernel wants zeros")]
    let mut question: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    control(listener, RECEIVE, &mut question)?;
    Ok(question)
}

/// Connects the socket of a program, as it has asked for it.
fn connect(question: &libc::seccomp_notif, answers: &Answers) -> Result<(), Errno> {
    let [number, place, length, ..] = question.data.args;
    let length = usize::try_from(length & u64::from(u32::MAX)).unwrap_or(usize::MAX);
    if !(size_of::<libc::sa_family_t>()..=MOST_ADDRESS_BYTES).contains(&length) {
        return Err(Errno::INVAL);
    }

    let process = i32::try_from(question.pid).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    let address = memory(process, place, length)?;
    #[expect(clippy::cast_possible_truncation, reason = "a descriptor is the lower half of the argument")]
    let socket = pidfd_getfd(descriptor_of(process)?, number as i32, PidfdGetfdFlags::empty())?;
    // Until here another process could have had the number of one that has ended.
    control(answers.listener.as_fd(), IS_VALID, &mut { question.id })?;

    if sockopt::socket_domain(&socket)? != AddressFamily::UNIX {
        return connect_to(&socket, &address);
    }
    let file = file_of(process, &address)?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::Socket {
        return Err(Errno::CONNREFUSED);
    }
    let shown = format!("/proc/self/fd/{}", file.as_raw_fd());
    let place = std::fs::read_link(&shown).map_err(|_| Errno::ACCESS)?;
    if !answers.own.iter().any(|own| place.starts_with(own)) {
        return Err(Errno::ACCESS);
    }
    rustix::net::connect(&socket, &SocketAddrUnix::new(shown)?)
}

/// Connects to an address as it is.
fn connect_to(socket: &OwnedFd, address: &[u8]) -> Result<(), Errno> {
    let length = libc::socklen_t::try_from(address.len()).unwrap_or_default();
    #[expect(unsafe_code, reason = "the address lives as long as the call")]
    let result = unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) };
    if result == 0 { Ok(()) } else { Err(last_error()) }
}

/// Tries on this process what an answer needs to do with others.
fn can_answer() -> Result<(), Errno> {
    let own = getpid();
    let probe = [1_u8];
    memory(own, probe.as_ptr().addr() as u64, probe.len())?;
    let null = openat(CWD, "/dev/null", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    pidfd_getfd(descriptor_of(own)?, null.as_raw_fd(), PidfdGetfdFlags::empty()).map(drop)
}

/// Returns a descriptor of the process that a thread belongs to.
fn descriptor_of(thread: Pid) -> Result<OwnedFd, Errno> {
    /// `PIDFD_THREAD`. Source: Linux 6.9, `uapi/linux/pidfd.h`.
    const THREAD: PidfdFlags = PidfdFlags::from_bits_retain(libc::O_EXCL.cast_unsigned());

    pidfd_open(thread, THREAD).or_else(|_| pidfd_open(thread, PidfdFlags::empty())).or_else(|_| {
        // Before Linux 6.9 only the first thread of a process has a descriptor.
        let status = std::fs::read_to_string(format!("/proc/{}/status", thread.as_raw_nonzero()));
        let first = status.ok().and_then(|status| {
            let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
            Pid::from_raw(line.trim().parse().ok()?)
        });
        pidfd_open(first.ok_or(Errno::SRCH)?, PidfdFlags::empty())
    })
}

/// Reads the memory of a process.
fn memory(process: Pid, place: u64, length: usize) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; length];
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: length };
    let place = usize::try_from(place).map_err(|_| Errno::FAULT)?;
    let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(place), iov_len: length };
    #[expect(unsafe_code, reason = "the bytes live as long as the call, and the kernel checks the place in the other")]
    let count =
        unsafe { libc::process_vm_readv(process.as_raw_nonzero().get(), &raw const local, 1, &raw const remote, 1, 0) };
    match usize::try_from(count) {
        Ok(count) if count == length => Ok(bytes),
        Ok(_) => Err(Errno::FAULT),
        Err(_) => Err(last_error()),
    }
}

/// Opens the file that the address of a Unix socket names, where it stands for the process. Others have no file.
fn file_of(process: Pid, address: &[u8]) -> Result<OwnedFd, Errno> {
    let (family, name) = address.split_first_chunk().ok_or(Errno::INVAL)?;
    if i32::from(libc::sa_family_t::from_ne_bytes(*family)) != libc::AF_UNIX {
        return Err(Errno::INVAL);
    }
    let name = name.split(|byte| *byte == 0).next().filter(|name| !name.is_empty()).ok_or(Errno::CONNREFUSED)?;
    let path = Path::new(OsStr::from_bytes(name));
    if path.is_absolute() {
        return openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    }
    let directory = format!("/proc/{}/cwd", process.as_raw_nonzero());
    let directory = openat(CWD, directory, OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY, Mode::empty())?;
    openat(directory, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}
