//! The order to the sandbox shim: what a program may reach, as words of a command line.
//!
//! Pure. The reader is no part of the command line of people: it has to be done before the program could start by itself.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use climax_catalog::policy::SandboxLimits;

/// The subcommand that starts this program as the shim.
pub(crate) const COMMAND: &str = "confine";

/// What the shim has to do before it executes a program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShimOrder {
    /// The start of its error messages.
    pub(super) password: OsString,
    /// Paths to read and run.
    pub(super) read: Vec<OsString>,
    /// Paths to change.
    pub(super) write: Vec<OsString>,
    /// Whether sockets can be opened.
    pub(super) network: bool,
    /// Resource limits.
    pub(super) limits: SandboxLimits,
}

impl ShimOrder {
    /// Returns the words of the order, in the form that [`ShimOrder::read`] takes.
    pub(super) fn words(&self) -> Vec<String> {
        let Self { password, read, write, network, limits } = self;
        let mut words = vec![password.display().to_string()];
        words.extend(read.iter().map(|path| format!("read={}", path.display())));
        words.extend(write.iter().map(|path| format!("write={}", path.display())));
        words.extend(network.then(|| NETWORK.to_owned()));
        let limits = LIMITS.iter().zip([limits.memory_mb, limits.cpu_s, limits.processes, limits.file_mb]);
        words.extend(limits.filter_map(|(name, limit)| Some(format!("{name}={}", limit?))));
        words
    }

    /// Reads an order and the command behind its `--`; `None` if the words are none.
    pub(super) fn read(words: &[OsString]) -> Option<(Self, &[OsString])> {
        let end = words.iter().position(|word| word == "--")?;
        let ([password, rules @ ..], command) = (&words[..end], &words[end + 1..]) else { return None };
        let paths = |key: &str| rules.iter().filter_map(|word| value(word, key)).map(OsStr::to_owned).collect();
        let limit = |name: &str| rules.iter().find_map(|word| value(word, name)?.to_str()?.parse().ok());
        let [memory_mb, cpu_s, processes, file_mb] = LIMITS.map(limit);
        let order = Self {
            password: password.clone(),
            read: paths("read"),
            write: paths("write"),
            network: rules.iter().any(|word| word == NETWORK),
            limits: SandboxLimits { memory_mb, cpu_s, processes, file_mb },
        };
        Some((order, command))
    }
}

const NETWORK: &str = "network";

const LIMITS: [&str; 4] = ["memory-mb", "cpu-s", "processes", "file-mb"];

/// Returns the text behind `key=`.
fn value<'a>(word: &'a OsStr, key: &str) -> Option<&'a OsStr> {
    let rest = word.as_bytes().strip_prefix(key.as_bytes())?;
    rest.strip_prefix(b"=").map(OsStr::from_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let paths = |paths: &[&str]| paths.iter().map(OsString::from).collect::<Vec<_>>();
        let limits = SandboxLimits { memory_mb: Some(7), file_mb: Some(1), ..SandboxLimits::default() };
        for network in [false, true] {
            let order = ShimOrder {
                password: "p".into(),
                read: paths(&["/a=b", "/c"]),
                write: paths(&["network"]),
                network,
                limits,
            };
            let mut words: Vec<OsString> = order.words().into_iter().map(OsString::from).collect();
            words.extend(["--", "/bin/true", "true", "--"].map(OsString::from));
            let (read, command) = ShimOrder::read(&words).unwrap();
            assert_eq!(read, order);
            assert_eq!(command, ["/bin/true", "true", "--"]);
        }
    }
}
