//! Isolates this process, so that it can compute and use its standard streams, and do nothing else (seccomp).

use std::collections::BTreeMap;

use libc::c_long;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::CapabilitySet;
use seccompiler::{BpfProgram, SeccompAction, SeccompCmpOp, SeccompFilter, SeccompRule};

use super::capabilities::drop_capabilities;
use super::seccomp::rule;

/// Address space of an isolated process, in bytes. The program itself takes a part of it.
const MAX_ADDRESS_BYTES: u64 = 512 << 20;

/// System calls without effect on anything but this process.
const PERMITTED: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getrandom,
    libc::SYS_gettimeofday,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
];

/// Takes all rights from this process but the use of its standard streams. All later system calls fail, other than the
/// permitted ones.
///
/// # Errors
/// The kernel cannot isolate the process.
pub(crate) fn isolate() -> Result<(), String> {
    for (resource, most) in [(Resource::As, MAX_ADDRESS_BYTES), (Resource::Core, 0)] {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
            .map_err(|error| format!("a limit cannot be set: {error}"))?;
    }
    forbid_all()
}

/// Takes all rights from this thread but the use of its standard streams.
fn forbid_all() -> Result<(), String> {
    drop_capabilities(CapabilitySet::empty())?;
    seccompiler::apply_filter(&filter()?).map_err(|error| error.to_string())
}

/// Returns the filter that permits nothing but [`PERMITTED`] system calls, standard streams, and memory without code.
fn filter() -> Result<BpfProgram, String> {
    let mut rules: BTreeMap<i64, _> = PERMITTED.iter().map(|number| (*number, Vec::new())).collect();

    rules.insert(libc::SYS_read, vec![equals(0, libc::STDIN_FILENO)?]);
    rules.insert(libc::SYS_write, vec![equals(0, libc::STDOUT_FILENO)?, equals(0, libc::STDERR_FILENO)?]);
    rules.insert(libc::SYS_mmap, vec![no_code()?]);
    rules.insert(libc::SYS_mprotect, vec![no_code()?]);

    let arch = std::env::consts::ARCH.try_into().map_err(|_| "no filter of system calls for this processor")?;
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let filter = SeccompFilter::new(rules, refuse, SeccompAction::Allow, arch).map_err(|error| error.to_string())?;
    filter.try_into().map_err(|error: seccompiler::BackendError| error.to_string())
}

/// Makes a rule for one value of an argument.
fn equals(argument: u8, value: libc::c_int) -> Result<SeccompRule, String> {
    rule(&[(argument, SeccompCmpOp::Eq, u64::from(value.cast_unsigned()))])
}

/// Makes a rule for memory that is not executed: the third argument of `mmap` and `mprotect`.
fn no_code() -> Result<SeccompRule, String> {
    let flag = u64::from(libc::PROT_EXEC.cast_unsigned());
    rule(&[(2, SeccompCmpOp::MaskedEq(flag), 0)])
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind::PermissionDenied;
    use std::net::TcpListener;
    use std::os::unix::net::UnixStream;
    use std::process::Command;

    use rustix::process::{Signal, getpid, kill_process};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the start must fail")]
    fn an_isolated_thread_reaches_nothing() {
        let this = getpid();
        let found = std::thread::spawn(move || {
            forbid_all().unwrap();
            let (code, flags) = (libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            #[expect(unsafe_code, reason = "the address is left to the kernel, and nothing is read or written")]
            let mapped = unsafe { libc::mmap(std::ptr::null_mut(), 4096, code, flags, -1, 0) };
            let not_mapped = (mapped == libc::MAP_FAILED).then(std::io::Error::last_os_error);
            let errors = [
                std::fs::read("/dev/null").err(),
                std::fs::write("/tmp/climax-isolated", "x").err(),
                TcpListener::bind("127.0.0.1:0").err(),
                UnixStream::pair().err(),
                Command::new("/bin/true").spawn().err(),
                kill_process(this, Signal::URG).err().map(Into::into),
                not_mapped,
            ];
            errors.map(|error| error.map(|error| error.kind()))
        });
        assert_eq!(found.join().unwrap(), [Some(PermissionDenied); 7]);
    }
}
