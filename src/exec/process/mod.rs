//! A program from its start to the end of its process group.
//!
//! [`run()`] takes one program through its life, in these steps:
//!
//! 1. [`slots`] makes it wait until fewer programs run.
//! 2. [`start`] finds it, and [`start_queue`] starts it once the system has room. Its streams are those of a [`joint`].
//!    In a cage or a sandbox it is started by a child that is [`waiting`].
//! 3. [`streams`] carries what it reads and prints.
//! 4. [`group`] ends it, with all that it has started. [`children`] keeps track of who waits for which process.
//! 5. [`janitor`] does the same from outside, if the server is killed.
//!
//! [`guest`] keeps a program to exchange messages with.

mod caller_slots;
mod children;
mod group;
#[cfg(has_code)]
mod guest;
pub(super) mod janitor;
mod joint;
mod run;
mod slots;
mod start;
mod start_queue;
mod streams;
mod waiting;

#[cfg(has_code)]
pub(crate) use caller_slots::CallerSlots;
pub use children::reap_given_children;
#[cfg(has_code)]
pub(crate) use guest::Guest;
pub(crate) use janitor::CleanupGuard;
pub(super) use janitor::Janitor;
pub(crate) use joint::{ErrorSink, Joint, Sink, pipe_between};
pub(super) use run::{RunContext, run};
pub(super) use slots::Slots;
pub(super) use start_queue::StartQueue;
pub(super) use waiting::Spare;
