//! The input of [`super::Runner`]: a program with its arguments, environment, directory and timeout.

use std::path::PathBuf;
use std::time::Duration;

use super::confine::Rights;

/// A program to run, with its arguments, environment, directory, standard input and timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The program, as a name or path, and its arguments.
    pub argv: Vec<String>,
    /// Variables added to those of the server.
    pub env: Vec<(String, String)>,
    /// Variables that are added too, whose values output does not show.
    pub secrets: Vec<(String, SecretSource)>,
    /// The variables of the server's environment that it gets, by name or with a final `*`; all if `None`.
    pub inherited: Option<Vec<String>>,
    /// What it may reach; everything if `None`. For a program on this machine and outside of a sandbox.
    pub confinement: Option<Rights>,
    /// The directories in which alone it changes files, where the kernel can hold an unconfined program to them; anywhere
    /// if empty.
    pub places: Vec<PathBuf>,
    /// Whether it names hosts, and none but this machine, or lists the sockets of one. Then it may reach the loopback of its session instead of that of
    /// the machine.
    pub names_this_machine: bool,
    /// The directory that a relative program path starts from; the server's directory if `None`.
    ///
    /// This is the config's `working_dir`, never a `cwd` argument: an argument must not choose the program.
    pub program_dir: Option<PathBuf>,
    /// The child's directory; the server's own if `None`.
    pub cwd: Option<PathBuf>,
    /// The text for standard input; the null device if `None`.
    pub stdin: Option<String>,
    /// The directory of its result files. A sandbox or container gets access to it.
    pub files_dir: Option<PathBuf>,
    /// How long the program may take.
    pub timeout: Duration,
}

impl Invocation {
    /// Makes the invocation of a program that gets the server's environment and directory, and no standard input.
    #[must_use]
    pub fn new(argv: Vec<String>, timeout: Duration) -> Self {
        Self {
            argv,
            env: Vec::new(),
            secrets: Vec::new(),
            inherited: None,
            confinement: None,
            places: Vec::new(),
            names_this_machine: false,
            program_dir: None,
            cwd: None,
            stdin: None,
            files_dir: None,
            timeout,
        }
    }
}

/// Where a secret comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// A variable of the server. Without it, the program does not get the secret.
    Variable(String),
    /// A file, read for each call. White space at its end is no part of the secret.
    File(String),
}
