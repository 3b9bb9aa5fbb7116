//! Refuses the policy's sandbox on systems that have none.

use std::convert::Infallible;
use std::env::consts::OS;
use std::ffi::OsString;

use super::shim_order::ShimOrder;

/// Refuses to execute the program.
pub(super) fn execute(_: &ShimOrder, _: &[OsString]) -> Result<Infallible, String> {
    Err(format!(
        "the policy's `executor: sandbox` needs Landlock and seccomp of Linux, and this climax was built for {OS} without \
         them; use `executor: container`, or run climax on Linux"
    ))
}
