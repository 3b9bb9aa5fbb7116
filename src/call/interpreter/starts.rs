//! What commands in the background are handed over in, from the list that starts them to the line that runs them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize};

use climax_shell::List;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::job::Job;
use super::shell::Shell;
use super::streams::Streams;

/// What starts commands in the background.
pub(in crate::call) struct Background {
    pub(super) sender: mpsc::UnboundedSender<Start>,
    pub(super) started: AtomicU32,
    pub(super) running: AtomicUsize,
    /// All that the line has started, in whatever subshell.
    pub(super) jobs: Mutex<Vec<Job>>,
    /// Ends all of them.
    pub(super) ending: CancellationToken,
}

/// The commands that are to run in the background.
pub(in crate::call) struct Starts(pub(super) mpsc::UnboundedReceiver<Start>);

/// A command that is to run in the background, with all that it needs.
pub(super) struct Start {
    pub(super) job: Job,
    pub(super) status: watch::Sender<Option<i32>>,
    pub(super) shell: Shell,
    /// The text that the ranges of the list are about.
    pub(super) text: String,
    pub(super) list: List,
    pub(super) streams: Streams,
}

impl Background {
    /// Makes it, with what receives the commands.
    pub(in crate::call) fn new() -> (Self, Starts) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let (started, running) = (AtomicU32::new(0), AtomicUsize::new(0));
        let jobs = Mutex::default();
        (Self { sender, started, running, jobs, ending: CancellationToken::new() }, Starts(receiver))
    }
}
