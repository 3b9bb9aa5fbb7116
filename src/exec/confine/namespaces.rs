//! Moves this process into namespaces of its own, where nothing outside can be seen or outlived.
//!
//! Three processes hold a program: the first one, which the server started and waits for, tells its end to the server.
//! The second is the init of the new process namespace: when it ends, the kernel ends all processes in there. The third
//! becomes the program, since an init ignores signals that other programs expect to end them.
//!
//! Source: `user_namespaces`(7), `pid_namespaces`(7), `mount_namespaces`(7).

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, FromRawFd as _, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getgid, getpid, getuid, kill_process, kill_process_group,
    set_parent_process_death_signal, setrlimit, setsid, wait, waitpid,
};
use rustix::thread::UnshareFlags;

use super::bounds;

/// What the first process tells the second and third, and the other way round.
struct Links {
    /// Where the init writes how the program ended.
    status: (io::PipeReader, io::PipeWriter),
    /// Closed when the first process has ended.
    alive: (io::PipeReader, io::PipeWriter),
}

/// What this process has become by [`separate`].
pub(super) enum Separated {
    /// The init of new namespaces.
    Init(Init),
    /// The first process, after the init has ended. It is to end with this status, as the program did.
    Ended(u8),
}

/// What this process has to do after [`Init::hold`].
pub(super) enum Entered {
    /// Become the program.
    Program,
    /// End with this status.
    Ended(u8),
}

/// The init of new namespaces, with all capabilities in them.
pub(super) struct Init {
    /// Where it writes how the program ended.
    status: io::PipeWriter,
}

/// Moves this process into namespaces. Returns twice: in the init, and in the first process once the init has ended.
///
/// Standard input of the first process is left to the init.
///
/// # Errors
/// The kernel refuses a namespace.
pub(super) fn separate(own_network: bool) -> Result<Separated, String> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    unshare(own_network)?;
    map_users("/proc/self", user, group)?;

    let links = Links { status: io::pipe().map_err(failed)?, alive: io::pipe().map_err(failed)? };
    block_signals();

    if let Some(init) = fork().map_err(failed)? {
        // Only the init may go on to be told what to do.
        return Ok(Separated::Ended(relay(init, links).unwrap_or(u8::MAX)));
    }

    let Links { status: (_, status), alive: (alive, writer) } = links;
    drop(writer);
    become_init(&alive).map_err(failed)?;
    if own_network {
        // Without it programs have no 127.0.0.1, and say so.
        let _ = raise_loopback();
    }
    Ok(Separated::Init(Init { status }))
}

impl Init {
    /// Starts the process that is to become the program. Returns twice: in that process, and in the init once it has
    /// ended, which does something else `meanwhile`.
    ///
    /// # Errors
    /// There is no process to be had.
    pub(super) fn hold(self, meanwhile: impl FnOnce()) -> Result<Entered, String> {
        if let Some(program) = fork().map_err(failed)? {
            meanwhile();
            reap(program, self.status).map_err(failed)?;
            return Ok(Entered::Ended(0));
        }
        unblock_signals();
        Ok(Entered::Program)
    }
}

fn failed(error: impl std::fmt::Display) -> String {
    format!("cannot start a process: {error}")
}

/// Gives the user namespace of a process the user and the group of this one, so that files keep their owners.
pub(super) fn map_users(process: &str, user: u32, group: u32) -> Result<(), String> {
    let maps = [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ];
    maps.into_iter().try_for_each(|(file, text)| {
        fs::write(format!("{process}/{file}"), text).map_err(|error| format!("cannot map users ({file}): {error}"))
    })
}

/// Returns whether this kernel makes the namespaces for this user, by making them once.
pub(super) fn available() -> bool {
    const FLAGS: libc::c_int = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS;

    // Ubuntu gives the namespace and refuses what it is for.
    let copy = Copy::start(FLAGS, || i32::from(super::mounts::set_read_only(c"/").is_err()));
    copy.is_ok_and(|copy| copy.end() == Some(0))
}

/// A copy of this process in namespaces of its own. Dropping it kills it.
pub(super) struct Copy(libc::pid_t);

impl Copy {
    /// Starts a copy that ends with the status that `run` returns.
    ///
    /// This process may have other threads, which the copy lacks: `run` calls the kernel alone.
    ///
    /// # Errors
    /// The kernel refuses the namespaces.
    pub(super) fn start(flags: libc::c_int, run: impl FnOnce() -> i32) -> io::Result<Self> {
        #[expect(unsafe_code, reason = "the copy calls the kernel alone, and ends at once")]
        let copy = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
        match copy {
            0 => {
                let status = run();
                #[expect(unsafe_code, reason = "nothing of the server may run in the copy, not even its cleanup")]
                unsafe {
                    libc::_exit(status)
                }
            }
            -1 => Err(io::Error::last_os_error()),
            id => libc::pid_t::try_from(id).map(Self).map_err(io::Error::other),
        }
    }

    /// Returns its process ID.
    pub(super) fn id(&self) -> libc::pid_t {
        self.0
    }

    /// Waits for its end. Returns how it has ended, as `waitpid` tells it.
    pub(super) fn end(self) -> Option<i32> {
        std::mem::ManuallyDrop::new(self).wait()
    }

    fn wait(&self) -> Option<i32> {
        let mut status = -1;
        #[expect(unsafe_code, reason = "without a signal at its end, only `__WALL` waits for the copy")]
        let waited = unsafe { libc::waitpid(self.0, &raw mut status, libc::__WALL) };
        (waited > 0).then_some(status)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the copy has not been waited for, so that no other process has its ID")]
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
        }
        self.wait();
    }
}

/// Makes the namespaces.
fn unshare(own_network: bool) -> Result<(), String> {
    let mut flags = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS;
    flags.set(UnshareFlags::NEWNET, own_network);

    #[expect(unsafe_code, reason = "this process has one thread, and shares no descriptors")]
    let made = unsafe { rustix::thread::unshare_unsafe(flags) };
    made.map_err(|error| format!("the kernel refuses namespaces: {error}"))
}

/// Starts a copy of this process; `None` in the copy.
fn fork() -> io::Result<Option<Pid>> {
    #[expect(unsafe_code, reason = "this process has one thread")]
    let child = unsafe { libc::fork() };
    match child {
        0 => Ok(None),
        -1 => Err(io::Error::last_os_error()),
        id => Ok(Pid::from_raw(id)),
    }
}

/// The signals that the first process and the init wait for.
fn signals() -> libc::sigset_t {
    #[expect(unsafe_code, reason = "a set of signals is plain bits, and `sigemptyset` fills all of them")]
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
            libc::sigaddset(&raw mut set, signal);
        }
        set
    }
}

/// Keeps the signals until they are waited for.
fn block_signals() {
    let signals = signals();
    #[expect(unsafe_code, reason = "the set lives as long as the call")]
    unsafe {
        libc::sigprocmask(libc::SIG_BLOCK, &raw const signals, std::ptr::null_mut());
    }
}

/// Lets all signals come, as programs expect at their start.
fn unblock_signals() {
    #[expect(unsafe_code, reason = "a set of signals is plain bits, and `sigemptyset` fills all of them")]
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Waits for one of the signals, for at most this time; `None` after it.
fn wait_for_signal(milliseconds: i32) -> Option<i32> {
    let time = libc::timespec {
        tv_sec: (milliseconds / 1000).into(),
        tv_nsec: libc::c_long::from(milliseconds % 1000) * 1_000_000,
    };
    let signals = signals();
    #[expect(unsafe_code, reason = "the set and the time live as long as the call")]
    let signal = unsafe { libc::sigtimedwait(&raw const signals, std::ptr::null_mut(), &raw const time) };
    (signal > 0).then_some(signal)
}

/// The first process: passes signals on, and ends as the program did.
fn relay(init: Pid, Links { status: (mut status, writer), alive }: Links) -> io::Result<u8> {
    drop((writer, alive.0));
    // The server writes there to the init alone.
    leave_streams(&[0])?;

    let ended = loop {
        match wait_for_signal(60_000) {
            Some(libc::SIGCHLD) | None => {
                if let Some((_, ended)) = waitpid(Some(init), WaitOptions::NOHANG)? {
                    break ended;
                }
            }
            Some(signal) => {
                // The init leads the session of the program. Before it does, nothing runs that could need a signal.
                let signal = Signal::from_named_raw(signal).unwrap_or(Signal::TERM);
                if kill_process_group(init, signal).is_err() {
                    let _ = kill_process(init, Signal::KILL);
                }
            }
        }
    };

    let mut told = [0; 4];
    let told = status.read_exact(&mut told).is_ok().then(|| i32::from_le_bytes(told));
    match (told, ended.exit_status()) {
        (Some(told), _) if libc::WIFSIGNALED(told) => Ok(end_by_signal(libc::WTERMSIG(told))),
        (Some(told), _) => Ok(status_of(libc::WEXITSTATUS(told))),
        // The init failed before the program, and has said why.
        (None, Some(status)) => Ok(status_of(status)),
        (None, None) => Ok(end_by_signal(libc::SIGKILL)),
    }
}

/// Returns an exit status as a byte, which it is.
fn status_of(status: i32) -> u8 {
    u8::try_from(status).unwrap_or(u8::MAX)
}

/// Ends this process by a signal. Returns the status that stands for it, if the signal does not end processes.
fn end_by_signal(signal: i32) -> u8 {
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    unblock_signals();
    #[expect(unsafe_code, reason = "the default action replaces no handler of this process, which has none")]
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    status_of(128 + signal)
}

/// Makes this process the init: it ends with the first process, and has no terminal.
fn become_init(alive: &io::PipeReader) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The first process may have ended before.
    let mut fds = [PollFd::new(alive, PollFlags::IN)];
    if poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))? > 0 {
        return Err(io::ErrorKind::BrokenPipe.into());
    }

    setsid()?;
    Ok(())
}

/// The init: reaps processes until the program ends, and holds all of them to their bounds.
fn reap(program: Pid, mut status: io::PipeWriter) -> io::Result<()> {
    // A pipe ends when its last writer is gone, so only the program may hold it.
    leave_streams(&[0, 1])?;

    let mut bounds = bounds::Watch::new();
    loop {
        while let Ok(Some((ended, how))) = wait(WaitOptions::NOHANG) {
            if ended == program {
                return status.write_all(&how.as_raw().to_le_bytes());
            }
        }

        // Signals are for the group, which the program is in too.
        let _ = wait_for_signal(bounds.interval_ms());
        if let Some(broken) = bounds.broken(getpid()) {
            let _ = writeln!(io::stderr(), "climax: the cage has ended all processes: {broken}");
            return status.write_all(&libc::SIGKILL.to_le_bytes());
        }
    }
}

/// Replaces streams by the null device.
fn leave_streams(streams: &[i32]) -> io::Result<()> {
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    for stream in streams {
        #[expect(unsafe_code, reason = "the stream is one of this process, and nothing in it uses it any more")]
        let mut stream = unsafe { std::mem::ManuallyDrop::new(OwnedFd::from_raw_fd(*stream)) };
        rustix::io::dup2(null.as_fd(), &mut stream)?;
    }
    Ok(())
}

/// Switches the loopback of a new network on.
pub(super) fn raise_loopback() -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketType, socket};
    use std::os::fd::AsRawFd as _;

    /// `IFF_UP`. Source: `netdevice`(7).
    const UP: libc::c_short = 1;

    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    #[expect(unsafe_code, reason = "the request is plain bytes, which live as long as the call")]
    let raised = unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l'.cast_signed();
        request.ifr_name[1] = b'o'.cast_signed();
        request.ifr_ifru.ifru_flags = UP;
        libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request)
    };
    if raised == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
