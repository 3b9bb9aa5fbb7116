//! Prints the output of a call while its program runs.

use std::future::Future;
use std::io::{self, Write as _};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::call::visible::TextForm;
use crate::exec::{Transcript, Watch};

/// The time between two writes, so that a program that prints all the time is not slowed down.
const INTERVAL: Duration = Duration::from_millis(50);

/// The part of a result's text that is printed before the call has ended.
///
/// A result starts with standard output, or with its head if it is long, so whole lines of the head are certain to be
/// in it.
#[derive(Debug)]
pub(super) struct Live {
    stdout: Arc<Transcript>,
    form: TextForm,
    /// The longest head, in bytes.
    head_bytes: usize,
    printed: String,
}

impl Live {
    /// Prepares to print results of this form. `max_output` limits their standard output.
    pub(super) fn new(form: TextForm, max_output: usize) -> Self {
        Self { stdout: Arc::default(), form, head_bytes: max_output / 2, printed: String::new() }
    }

    /// The watch of the call.
    pub(super) fn watch(&self) -> Watch {
        Watch::default().with_stdout(self.stdout.clone())
    }

    /// Awaits a call and prints what comes.
    pub(super) async fn printing<T>(&mut self, watch: &Watch, call: impl Future<Output = T>) -> T {
        let mut call = pin!(call);
        loop {
            tokio::select! {
                biased;
                result = call.as_mut() => return result,
                () = async {
                    watch.changed().await;
                    sleep(INTERVAL).await;
                } => {}
            }
            self.print();
        }
    }

    /// Prints the whole lines that are new. White space at their end may not be part of the result.
    fn print(&mut self) {
        let head = self.stdout.excerpt(0, self.head_bytes);
        if head.start > 0 {
            return;
        }

        let end = head.bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or_default();
        let text = String::from_utf8_lossy(&head.bytes[..end]);
        let text = self.form.apply(&text);

        if let Some(new) = text.trim_end().strip_prefix(&self.printed).filter(|new| !new.is_empty()) {
            let mut out = io::stdout().lock();
            // The rest of the result meets the same error.
            let _ = out.write_all(new.as_bytes()).and_then(|()| out.flush());
            self.printed.push_str(new);
        }
    }

    /// Returns what is left to print of a result's text.
    pub(super) fn rest(self, text: String) -> String {
        text.strip_prefix(&self.printed).map(str::to_owned).unwrap_or(text)
    }
}
