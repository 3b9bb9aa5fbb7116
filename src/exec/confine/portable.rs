//! What stands in for confinement on systems that have none: needs permit everything, and the sandbox is refused.

use std::collections::BTreeSet;
use std::env::consts::OS;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use super::order::Preparation;
use super::rights::Rights;

/// Starts a process by `start`, unconfined.
///
/// # Errors
/// None: only a system that can confine may refuse to.
#[expect(clippy::unnecessary_wraps, reason = "the signature is that of Linux")]
pub(crate) fn start<T: Send + 'static>(
    _: &Rights,
    start: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<io::Result<T>, String> {
    Ok(start())
}

/// Starts a process by `start`, which changes files wherever its user may.
///
/// # Errors
/// None: only a system that can confine may refuse to.
#[expect(clippy::unnecessary_wraps, reason = "the signature is that of Linux")]
pub(crate) fn start_in_places<T: Send>(
    _: &[PathBuf],
    start: impl FnOnce() -> io::Result<T> + Send,
) -> Result<io::Result<T>, String> {
    Ok(start())
}

/// Returns the newest Landlock ABI of use: none, since only Linux has Landlock.
#[must_use]
pub fn kernel_abi() -> Option<u8> {
    None
}

/// Returns whether programs can have namespaces of their own: none, since only Linux has them.
pub(crate) fn has_namespaces() -> bool {
    false
}

/// Returns whether programs in a cage can have Unix sockets of their own: none, since only Linux has cages.
pub(crate) fn has_connections() -> bool {
    false
}

/// The loopback of a session: none.
#[derive(Debug)]
pub(crate) enum Loopback {}

impl Loopback {
    /// Makes none.
    ///
    /// # Errors
    /// Always: only Linux has networks to give.
    pub(crate) fn make() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns what a child needs to enter it.
    ///
    /// # Errors
    /// None.
    pub(crate) fn descriptors(&self) -> io::Result<[(i32, OwnedFd); 2]> {
        match *self {}
    }

    /// Returns whether a program of the session waits for connections at one of these ports.
    pub(crate) fn serves(&self, _: &BTreeSet<u16>) -> bool {
        match *self {}
    }
}

/// Why a child could not execute the program.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The start of error messages.
    pub(crate) password: OsString,
    /// The reason.
    pub(crate) problem: String,
}

/// Refuses to execute a program. No child is started for it, since [`refusal`] is asked before.
pub(crate) fn execute(_: Preparation) -> Result<Option<u8>, Failure> {
    Err(Failure { password: OsString::new(), problem: refusal().unwrap_or_default() })
}

/// Returns why no program can be confined by a child.
#[expect(clippy::unnecessary_wraps, reason = "the signature is that of Linux")]
pub(crate) fn refusal() -> Option<String> {
    Some(format!(
        "`executor: sandbox` of the policy, and cages, need Landlock and seccomp of Linux, and this climax was built for {OS} without \
         them; use `executor: container`, or run climax on Linux"
    ))
}

/// No copies, since no program in a cage writes.
pub(crate) mod copies {
    use std::path::Path;

    use super::super::rights::CageRights;
    use crate::exec::outcome::Kept;

    /// Copies of nothing.
    pub(crate) struct Copies;

    impl Copies {
        /// Copies nothing.
        ///
        /// # Errors
        /// None: only a system that can hold programs copies.
        #[expect(clippy::unnecessary_wraps, reason = "the signature is that of Linux")]
        pub(crate) fn before(_: &CageRights, _: &Path) -> Result<Self, String> {
            Ok(Self)
        }

        /// Puts nothing back.
        pub(crate) fn put_back(self) -> Vec<Kept> {
            let Self = self;
            Vec::new()
        }
    }
}
