//! The order to the child of the sandbox: what a program may reach, as words of a command line.
//!
//! Pure. The command line of people knows nothing of it, because the child has to be done before the program could start
//! by itself.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use climax_catalog::policy::SandboxLimits;

/// The subcommand that starts this binary as the child of the sandbox.
pub(crate) const COMMAND: &str = "confine";

/// What the child has to do before it executes a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The start of its error messages.
    pub(crate) password: OsString,
    /// Paths to read and run.
    pub(crate) read: Vec<OsString>,
    /// Paths to change.
    pub(crate) write: Vec<OsString>,
    /// Whether sockets can be opened.
    pub(crate) network: bool,
    /// Resource limits.
    pub(crate) limits: SandboxLimits,
}

impl Order {
    /// Returns the words of the order, in the form that [`Order::read`] takes.
    pub(crate) fn words(&self) -> Vec<String> {
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
    pub(crate) fn read(words: &[OsString]) -> Option<(Self, &[OsString])> {
        let end = words.iter().position(|word| word == "--")?;
        let ([password, rules @ ..], command) = (&words[..end], &words[end + 1..]) else { return None };

        let [memory_mb, cpu_s, processes, file_mb] = LIMITS.map(|name| limit(rules, name));
        let order = Self {
            password: password.clone(),
            read: paths(rules, "read"),
            write: paths(rules, "write"),
            network: rules.iter().any(|word| word == NETWORK),
            limits: SandboxLimits { memory_mb, cpu_s, processes, file_mb },
        };

        Some((order, command))
    }
}

const NETWORK: &str = "network";

const LIMITS: [&str; 4] = ["memory-mb", "cpu-s", "processes", "file-mb"];

/// Returns the texts behind each `key=`.
fn paths(rules: &[OsString], key: &str) -> Vec<OsString> {
    rules.iter().filter_map(|word| value(word, key)).map(OsStr::to_owned).collect()
}

/// Returns the number behind `name=`.
fn limit(rules: &[OsString], name: &str) -> Option<u32> {
    rules.iter().find_map(|word| value(word, name)?.to_str()?.parse().ok())
}

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
            let order = Order {
                password: "p".into(),
                read: paths(&["/a=b", "/c"]),
                write: paths(&["network"]),
                network,
                limits,
            };
            let mut words: Vec<OsString> = order.words().into_iter().map(OsString::from).collect();
            words.extend(["--", "/bin/true", "true", "--"].map(OsString::from));
            let (read, command) = Order::read(&words).unwrap();
            assert_eq!(read, order);
            assert_eq!(command, ["/bin/true", "true", "--"]);
        }
    }
}
