//! What [`super::Runner`] runs.

use std::path::PathBuf;
use std::time::Duration;

/// A program to run, with everything that it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The program, as a name or path, and its arguments.
    pub argv: Vec<String>,
    /// Variables added to the server's environment.
    pub env: Vec<(String, String)>,
    /// Where a program that is given as a relative path is looked for; the server's directory if `None`.
    ///
    /// The config's `working_dir`, never a `cwd` argument: a value cannot choose the program.
    pub program_dir: Option<PathBuf>,
    /// The child's directory; the server's own if `None`.
    pub cwd: Option<PathBuf>,
    /// What is piped to standard input; the null device if `None`.
    pub stdin: Option<String>,
    /// The directory of the files that it writes for its result, wherever it runs.
    pub files_dir: Option<PathBuf>,
    /// How long the program may take.
    pub timeout: Duration,
}
