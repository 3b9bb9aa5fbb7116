//! What a program prints: captured, watched while it runs, and without secrets.

mod capture;
mod masks;
mod stderr_lines;
mod transcript;
mod watch;

pub(crate) use capture::Capture;
pub use capture::Captured;
pub(super) use masks::MaskedStream;
pub use masks::Masks;
pub use stderr_lines::{MAX_LOG_LINES, MAX_WAITING_LOG_LINES, RemainingLines, StderrLines};
pub use transcript::{Excerpt, MAX_TRANSCRIPT_BYTES, Transcript};
pub use watch::{CallState, Watch};
