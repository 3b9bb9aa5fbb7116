//! A guest: a child that runs this program again, to compute on messages and do nothing else.
//!
//! Messages are lines on its standard streams. It leads a process group of its own, and has no environment.

use std::io;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::children;
use super::group::Group;
use super::janitor::{CleanupGuard, Janitor};
use super::start_queue::{RunningProgram, StartQueue};
use crate::exec::error::SpawnError;
use crate::exec::outcome::End;
use crate::exec::platform::{KILL_SIGNAL, this_program};
use crate::identity;

/// Maximum length of a message of a guest, in bytes.
const MAX_GUEST_MESSAGE_BYTES: usize = 16 << 20;

/// A guest. Dropping it kills it.
pub(crate) struct Guest<'a> {
    group: Group,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The part of the next message that has been read.
    partial: Vec<u8>,
    cleanup: Option<CleanupGuard<'a>>,
    _running: RunningProgram<'a>,
}

impl<'a> Guest<'a> {
    /// Starts this program as the guest that `command` names.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) async fn start(command: &str, queue: &'a StartQueue, janitor: &'a Janitor) -> Result<Self, SpawnError> {
        let failed = |error: io::Error| SpawnError::System(command.to_owned(), error);

        janitor.prepare();
        let (running, mut child) = queue.start(|| spawn(command).map_err(failed)).await?;
        let group = Group::led_by(&child).map_err(failed)?;
        let cleanup = Some(janitor.register_group(group.id()));

        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        };
        let (output, partial) = (BufReader::new(output), Vec::new());
        Ok(Self { group, child, input, output, partial, cleanup, _running: running })
    }

    /// Sends a message. One without line breaks is one message.
    ///
    /// # Errors
    /// The guest has ended.
    pub(crate) async fn send(&mut self, message: &str) -> io::Result<()> {
        self.input.write_all(message.as_bytes()).await?;
        self.input.write_all(b"\n").await?;
        self.input.flush().await
    }

    /// Waits for the next message; `None` if the guest has ended, or its message is too long.
    ///
    /// A wait that is dropped loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Vec<u8>> {
        let room = MAX_GUEST_MESSAGE_BYTES.saturating_sub(self.partial.len()) as u64;
        let mut bounded = (&mut self.output).take(room);
        bounded.read_until(b'\n', &mut self.partial).await.ok()?;

        let message = std::mem::take(&mut self.partial);
        message.strip_suffix(b"\n").map(<[u8]>::to_vec)
    }

    /// Kills the guest, unless it has ended.
    pub(crate) fn kill(&self) {
        self.group.kill();
    }

    /// Kills the guest, and waits until it has ended. Returns how it has ended, if that was not by this.
    pub(crate) async fn end(mut self) -> Option<End> {
        self.kill();

        // Before the guest is reaped: afterwards another group could get the ID.
        drop(self.cleanup.take());
        let status = self.child.wait().await;
        children::waited_for(self.group.id());
        self.group.disarm();

        status.ok().map(End::from).filter(|end| *end != End::Signaled(KILL_SIGNAL))
    }
}

fn spawn(command: &str) -> io::Result<Child> {
    #[expect(clippy::disallowed_methods, reason = "guests are part of `exec`")]
    let mut start = Command::new(this_program());

    start
        .arg0(identity::name())
        .arg(command)
        .env_clear()
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // Until `Group` takes over.
        .kill_on_drop(true);

    children::start(|| start.spawn(), Child::id)
}
