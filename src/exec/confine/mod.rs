//! Confines programs: takes rights from them before they start, by means of the kernel.
//!
//! Four kinds of programs are confined:
//!
//! - A tool's program is confined to its *needs*, which its config lists. It may read files, and change and reach what
//!   its [`Rights`] name. [`needs`] starts it on a thread that is confined first, as it does with a program that keeps its
//!   rights, but is held to the places of the files that its call names.
//! - A program in a *cage* may read and change what a list names, whatever it is. This binary is started again as a
//!   [`child`], which prepares itself and waits to [`receive`] a [`message`]. In it is an [`order`] by [`parent`], which
//!   the child carries out: in [`namespaces`], which have the [`mounts`] of the cage and its [`bounds`], or without them.
//!   The programs of a session share a [`loopback`], and those of a cage have [`connections`] by Unix sockets.
//!   [`system_rules`] grant what all cages may read before the order comes. [`project`] finds secrets by their
//!   [`secret_names`], which [`secret_lists`] hold. [`project_guard`] puts back what a program should not change:
//!   [`protected`] knows the names of files that programs outside of the cage load, and [`copies`] keep their contents
//!   where the kernel cannot. [`probe`] tries what this system can.
//! - The *sandbox* is an executor that the policy chooses. It permits only the files and the network that the policy
//!   names. It takes the same way, with the order of [`sandbox`].
//! - A *guest* of `climax_code` computes, and does nothing else. It isolates itself by [`isolate()`].
//!
//! The means of the kernel are shared, and each has a file. [`landlock`] holds the rules for files and TCP. [`seccomp`]
//! holds the filters of system calls, over the tables in [`system_calls`]. [`capabilities`] gives up the rights of root.
//! Systems without these means have [`portable`] instead. `seatbelt` writes the rights as a profile of macOS, which nothing
//! runs yet.

#[cfg(native_linux)]
mod bounds;
#[cfg(native_linux)]
mod capabilities;
#[cfg(native_linux)]
mod child;
#[cfg(native_linux)]
mod connections;
#[cfg(native_linux)]
mod copies;
#[cfg(has_code)]
mod isolate;
mod isolation;
#[cfg(native_linux)]
mod landlock;
#[cfg(native_linux)]
mod loopback;
pub(super) mod message;
#[cfg(native_linux)]
mod mounts;
#[cfg(native_linux)]
mod namespaces;
#[cfg(native_linux)]
mod needs;
pub(super) mod order;
pub(super) mod parent;
#[cfg(not(native_linux))]
mod portable;
mod probe;
#[cfg(native_linux)]
mod project;
pub(super) mod project_guard;
mod protected;
#[cfg(native_linux)]
mod receive;
pub(super) mod rights;
pub(super) mod sandbox;
// Until somebody has tried it on macOS.
#[cfg(test)]
mod seatbelt;
#[cfg(native_linux)]
mod seccomp;
mod secret_lists;
mod secret_names;
#[cfg(native_linux)]
mod system_calls;
#[cfg(native_linux)]
mod system_rules;

#[cfg(native_linux)]
pub(super) use child::{Failure, execute, refusal};
#[cfg(has_code)]
pub(crate) use isolate::isolate;
pub use isolation::{FindIsolation, Isolation};
#[cfg(native_linux)]
pub use landlock::kernel_abi;
#[cfg(native_linux)]
pub(super) use loopback::Loopback;
#[cfg(native_linux)]
pub(super) use needs::{start, start_in_places};
#[cfg(not(native_linux))]
pub use portable::kernel_abi;
#[cfg(not(native_linux))]
pub(super) use portable::{Failure, Loopback, copies, execute, refusal, start, start_in_places};
pub use rights::{CageRights, Readable, Rights, SYSTEM_FILES, SecretDepth};
pub use secret_names::{is_hidden_by_cage, names_secret, pattern_names_secret, secret_names_below};
