//! Finds out by what means this system can hold programs in cages, and which promises they keep.

use std::sync::OnceLock;

#[cfg(native_linux)]
use super::connections::available as has_connections;
use super::isolation::Isolation;
#[cfg(native_linux)]
use super::landlock::kernel_abi;
#[cfg(native_linux)]
use super::namespaces::available as has_namespaces;
#[cfg(not(native_linux))]
use super::portable::{has_connections, has_namespaces, kernel_abi};

/// The oldest Landlock ABI that keeps signals in the cage.
const SIGNALS_ABI: u8 = 6;

/// The variable that takes means away, so that a kernel without them can be tried: `landlock` leaves out namespaces, and
/// `none` leaves out cages.
const VARIABLE: &str = "CLIMAX_ISOLATION";

impl Isolation {
    /// Returns the strongest means that this kernel has, found by using them once; `None` if it has no cage.
    #[must_use]
    pub fn here() -> Option<Self> {
        static FOUND: OnceLock<Option<Isolation>> = OnceLock::new();

        *FOUND.get_or_init(|| {
            kernel_abi()?;
            match std::env::var(VARIABLE).as_deref() {
                Ok("none") => None,
                Ok("landlock") => Some(Self::Landlock),
                _ if has_namespaces() => Some(Self::Namespaces),
                _ => Some(Self::Landlock),
            }
        })
    }

    /// Returns each promise of a cage, with whether it is kept, and how.
    #[must_use]
    pub fn promises(self) -> [(&'static str, bool, &'static str); 9] {
        let has_namespaces = self == Self::Namespaces;
        let pick = |with: &'static str, without: &'static str| if has_namespaces { with } else { without };
        let has_connections = has_namespaces && has_connections();
        let keeps_signals = has_namespaces || kernel_abi().is_some_and(|abi| abi >= SIGNALS_ABI);

        [
            ("files are read by a list", true, "Landlock"),
            ("secrets of the project", true, pick("hidden by mounts", "left out of the rights, one by one")),
            ("nothing is written but temporary files", true, pick("mounts and Landlock", "Landlock and seccomp")),
            (
                "writes in the project, without protected names",
                has_namespaces,
                pick("mounts", "restored, not prevented"),
            ),
            ("network", true, pick("a loopback of the session", "none, by Landlock and seccomp")),
            (
                "Unix sockets among its own processes",
                has_connections,
                if has_connections { "the cage is asked about each connection" } else { "none but pairs" },
            ),
            (
                "no signals to others",
                keeps_signals,
                if has_namespaces {
                    "namespaces"
                } else if keeps_signals {
                    "Landlock"
                } else {
                    "needs Landlock ABI 6"
                },
            ),
            ("number of processes, and memory", has_namespaces, pick("counted", "needs namespaces")),
            ("nothing is left after the end", has_namespaces, pick("namespaces", "the process group alone")),
        ]
    }
}
