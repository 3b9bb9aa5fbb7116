//! Every limit of the server, in one place.

use std::time::Duration;

/// Bounds on what one call may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of each output stream that are kept: half from its start, half from its end.
    pub stream_bytes: usize,
    /// How long a process group may take to end after TERM.
    pub grace: Duration,
    /// The same when the server itself is about to end.
    pub shutdown_grace: Duration,
    /// How long pipes that a descendant holds are awaited after the program has ended.
    pub drain: Duration,
    /// How long a container runtime may take to remove a container.
    pub removal: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            stream_bytes: DEFAULT_OUTPUT_BYTES,
            grace: Duration::from_secs(2),
            shutdown_grace: Duration::from_millis(150),
            drain: Duration::from_millis(100),
            removal: Duration::from_secs(10),
        }
    }
}

/// Default of `--max-concurrency`: four programs a processor.
#[must_use]
pub fn default_concurrency() -> usize {
    4 * std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Default of `--max-output`.
pub const DEFAULT_OUTPUT_BYTES: usize = 256 << 10;

/// How long calls may go on after the client has closed the server's input.
pub const EOF_GRACE: Duration = Duration::from_millis(300);

/// How long the server may take to end once nothing is to be waited for; longer than [`Limits::shutdown_grace`].
pub const SHUTDOWN_LIMIT: Duration = Duration::from_millis(350);

/// Diagnostics that are shown to people; `validate --json` has them all.
pub const MAX_SHOWN_DIAGNOSTICS: usize = 100;

/// Answers to lines that are no requests, while they are written.
pub const MAX_OPEN_ANSWERS: usize = 64;

/// Characters of a client's value that a message repeats.
pub const MAX_ECHOED_CHARS: usize = 200;

/// Characters of a value that a question shows.
pub const MAX_SHOWN_CHARS: usize = 4_000;

/// Arguments of a call that a line of the audit file names.
pub const MAX_AUDITED_ARGUMENTS: usize = 64;

/// Room that there must be for the audit file, in bytes.
pub const MIN_AUDIT_SPACE_BYTES: u64 = 1 << 20;

/// Unknown keys of a call for which near misses are looked for.
pub const MAX_UNKNOWN_KEYS: usize = 32;

/// Longest value of an argument, in bytes, but for standard input: what one word of a Linux command line can hold.
///
/// Source: `MAX_ARG_STRLEN`, execve(2), less the NUL at its end.
pub const MAX_ARGUMENT_BYTES: usize = (128 << 10) - 1;

/// Longest text for a program's standard input, in bytes.
pub const MAX_STDIN_BYTES: usize = 8 << 20;

/// How long somebody may take to approve a call.
pub const APPROVAL_LIMIT: Duration = Duration::from_mins(10);

/// The time between two progress notifications of a call, if its program prints that often.
pub const MIN_PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The time between two progress notifications of a call that has nothing to tell.
pub const MAX_PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Longest JSON-RPC line, in bytes.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// Search results that a request gets if it does not say.
pub const DEFAULT_SEARCH_RESULTS: i64 = 10;

/// Search results that a request can get.
pub const MAX_SEARCH_RESULTS: i64 = 100;

/// Length of the instructions that a client gets, but for their end.
pub const MAX_INSTRUCTION_BYTES: usize = 1_500;

/// Tools that one request may have described.
pub const MAX_DESCRIBED_TOOLS: usize = 10;

/// Example calls of a tool that a request can get.
pub const MAX_EXAMPLES: i64 = 5;

/// Near misses that an error names.
pub const MAX_SUGGESTIONS: usize = 3;

/// How long a program may take to print its help.
pub const HELP_LIMIT: Duration = Duration::from_secs(10);

/// Longest help page that is read, in bytes; what is beyond is cut.
pub const MAX_HELP_BYTES: usize = 1 << 20;

/// Longest line of a help page that is read, in bytes.
pub const MAX_HELP_LINE_BYTES: usize = 16 << 10;

/// Options that are taken from one help page.
pub const MAX_PAGE_OPTIONS: usize = 400;

/// Subcommands that are taken from one help page.
pub const MAX_PAGE_COMMANDS: usize = 400;

/// Default of `import --max-commands`.
pub const DEFAULT_IMPORTED_COMMANDS: usize = 400;

/// Default of `import --depth`: levels of subcommands.
pub const DEFAULT_IMPORT_DEPTH: usize = 3;
