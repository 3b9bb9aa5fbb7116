//! Says on standard error what an import does while it takes long.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::time::Duration;

use crate::command::terminal;

/// Time after which the import says what it does.
const FIRST: Duration = Duration::from_secs(1);

/// Time between two lines after that.
const NEXT: Duration = Duration::from_secs(3);

/// What an import is doing.
#[derive(Debug, Default)]
pub(super) struct Progress {
    done: Cell<usize>,
    known: Cell<usize>,
    /// The command that was started last.
    current: RefCell<String>,
}

impl Progress {
    /// Notes that there are more commands to read.
    pub(super) fn add(&self, commands: usize) {
        self.known.set(self.known.get() + commands);
    }

    /// Notes that a command was started.
    pub(super) fn started(&self, command: &str) {
        command.clone_into(&mut self.current.borrow_mut());
    }

    /// Notes that the help of a command was read.
    pub(super) fn finished(&self) {
        self.done.set(self.done.get() + 1);
    }

    /// Completes `work`, and prints a line after a second and further ones while it goes on.
    pub(super) async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        let mut pause = FIRST;
        loop {
            match tokio::time::timeout(pause, &mut work).await {
                Ok(result) => return result,
                Err(_) => self.print(),
            }
            pause = NEXT;
        }
    }

    fn print(&self) {
        let (done, known, current) = (self.done.get(), self.known.get(), self.current.borrow());
        terminal::complain(&format!("read the help of {done} of {known} commands; started last: `{current}`"));
    }
}
