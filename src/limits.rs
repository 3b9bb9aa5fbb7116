//! Every limit of the server, in one place.

use std::time::Duration;

/// Bounds on what one call may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of each output stream that are kept: half from its start, half from its end.
    pub stream_bytes: usize,
    /// Longest standard output that is kept whole, in bytes, for who reads the rest of it later.
    pub whole_bytes: usize,
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
            whole_bytes: MAX_WHOLE_OUTPUT_BYTES,
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

/// Longest standard output that is kept whole, in bytes: the longest image, and what can be read later of a long text.
pub const MAX_WHOLE_OUTPUT_BYTES: usize = 8 << 20;

/// Bytes of outputs that can be read later, of all calls.
pub const MAX_KEPT_BYTES: usize = 64 << 20;

/// How long an output can be read later.
pub const KEPT_LIMIT: Duration = Duration::from_mins(10);

/// Bytes of an output that one request can read.
pub const MAX_RANGE_BYTES: usize = 256 << 10;

/// How long calls may go on after the client has closed the server's input.
pub const EOF_GRACE: Duration = Duration::from_millis(300);

/// How long the server may take to end once nothing is to be waited for; longer than [`Limits::shutdown_grace`].
pub const SHUTDOWN_LIMIT: Duration = Duration::from_millis(350);

/// Diagnostics that are shown to people; `validate --json` has them all.
pub const MAX_SHOWN_DIAGNOSTICS: usize = 100;

/// Requests over standard input that are being answered.
pub const MAX_OPEN_REQUESTS: usize = 4_096;

/// Answers to lines that are no requests, while they are written.
pub const MAX_OPEN_ANSWERS: usize = 64;

/// Questions and notifications that wait to be written to standard output; while there are so many, no input is read.
pub const MAX_WAITING_MESSAGES: usize = 1_024;

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

/// Lines of standard error that a client of a call is sent as log messages, at most.
pub const MAX_LOG_LINES: usize = 1_000;

/// The same of lines that wait to be sent; what comes while so many wait is left out.
pub const MAX_WAITING_LOG_LINES: usize = 100;

/// The time between two log messages of a call, while its program runs.
pub const MIN_LOG_INTERVAL: Duration = Duration::from_millis(10);

/// Longest JSON-RPC line, in bytes.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// Values and names of objects in one message. The SDK takes up to 3 µs for each.
pub const MAX_MESSAGE_NODES: usize = 20_000;

/// Bytes of JSON that make two tokens, for estimates.
///
/// `climax budget` counts 4.5 bytes a token (`o200k`) in the bundled tools and 4.8 in thousands of others, so an estimate is
/// rather too high than too low.
pub const BYTES_PER_TWO_TOKENS: usize = 9;

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

/// Sessions of clients that have some, at once; another ends one of the caller with the most.
pub const MAX_SESSIONS: usize = 1_000;

/// The time after which a session ends in which nothing is asked or answered.
pub const SESSION_IDLE_LIMIT: Duration = Duration::from_mins(30);

/// The time between two searches for such sessions.
pub const SESSION_SWEEP_INTERVAL: Duration = Duration::from_mins(1);

/// How long the end of a session may wait for its client.
pub const SESSION_END_LIMIT: Duration = Duration::from_secs(1);

/// Connections at once over HTTP, if the system gives enough descriptors.
pub const MAX_CONNECTIONS: usize = 4_096;

/// Descriptors that no connection takes: the server's own, and those of programs that are being started.
pub const SPARE_DESCRIPTORS: usize = 64;

/// Descriptors that a running program takes of the server: its three streams and itself.
pub const DESCRIPTORS_PER_PROGRAM: usize = 4;

/// Longest body of an HTTP request, in bytes.
pub const MAX_BODY_BYTES: usize = 4 << 20;

/// Bytes of a body that are still read, and let go, once it has been refused.
pub const MAX_DISCARDED_BYTES: usize = 16 << 20;

/// How long that may take.
pub const DISCARD_LIMIT: Duration = Duration::from_secs(5);

/// Longest body of a request that opens a session, in bytes: what it says is kept as long as the session.
pub const MAX_OPENING_BYTES: usize = 64 << 10;

/// Bytes of lines over standard input, or of bodies of one caller over HTTP, that are being read or answered. Some copies of each are
/// made.
pub const MAX_OPEN_BODY_BYTES: usize = 64 << 20;

/// Bytes of bodies of all callers that are being read or answered. A caller may hold as many as it leaves to others, so one that is
/// alone has [`MAX_OPEN_BODY_BYTES`].
pub const MAX_OPEN_BODIES_BYTES: usize = 2 * MAX_OPEN_BODY_BYTES;

/// Bytes of a body that are not counted there, so that large bodies do not keep out small ones.
pub const FREE_BODY_BYTES: usize = 16 << 10;

/// Requests of all sessions that are being answered; of one caller as many as it leaves to others. They go on when their connections are closed, so that
/// [`MAX_CONNECTIONS`] is no bound for them.
pub const MAX_SESSION_REQUESTS: usize = 4_096;

/// Bytes of the head of an HTTP request.
pub const MAX_HEAD_BYTES: usize = 32 << 10;

/// How long a client may take to send the head of a request, the first or the next of a connection.
pub const HEAD_LIMIT: Duration = Duration::from_secs(75);

/// How long a client may take to send the body of a request.
pub const BODY_LIMIT: Duration = Duration::from_secs(30);

/// How long what was sent may stay without an answer of the client's system.
pub const SEND_LIMIT: Duration = Duration::from_mins(1);

/// Wrong tokens that an address may try in a second.
pub const MAX_WRONG_TOKENS_PER_SECOND: std::num::NonZero<u32> = std::num::NonZero::new(10).expect("ten is not zero");

/// Longest access token, in bytes.
pub const MAX_ACCESS_TOKEN_BYTES: usize = 16 << 10;

/// How often it is checked that whoever reads a stream would still be let in.
pub const ACCESS_CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// How far the clock of an authorization server may be from ours.
pub const MAX_CLOCK_SKEW: Duration = Duration::from_secs(30);

/// Longest document of an authorization server, in bytes: its metadata, or its keys.
pub const MAX_ISSUER_DOCUMENT_BYTES: u64 = 512 << 10;

/// How long an authorization server may take for one document.
pub const ISSUER_LIMIT: Duration = Duration::from_secs(5);

/// The time after which the keys of an authorization server are read again.
pub const KEYS_INTERVAL: Duration = Duration::from_mins(10);

/// How long keys are used that could not be read again.
pub const MAX_KEYS_AGE: Duration = Duration::from_hours(6);

/// The least time between two readings of the keys because of tokens whose key is unknown.
pub const MIN_UNKNOWN_KEY_INTERVAL: Duration = Duration::from_secs(10);

/// The time after which an authorization server that did not answer is asked again, the first time; then doubled.
pub const MIN_ISSUER_RETRY: Duration = Duration::from_secs(1);

/// The longest time after which an authorization server that did not answer is asked again.
pub const MAX_ISSUER_RETRY: Duration = Duration::from_mins(1);

/// Callers whose requests are counted at once, before those that were not seen lately are forgotten.
pub const MAX_COUNTED_CALLERS: usize = 10_000;

/// Default of `--drain`, in seconds.
pub const DEFAULT_DRAIN_S: u64 = 30;

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

/// Resources that one client can subscribe to.
pub const MAX_SUBSCRIPTIONS: usize = 100;

/// Longest URI of a resource, in bytes.
pub const MAX_URI_BYTES: usize = 8 << 10;
