//! Runs JavaScript that calls tools: `climax_code`.
//!
//! The program runs in a child of this one, the guest, which can do nothing but compute and send messages. The host drives
//! it here, and answers its calls. Source: `docs/contract.md`, "Code".

pub(crate) mod guest;
mod host;
mod message;
mod replay;

pub(crate) use host::{Callee, CodeEnd, CodeOutcome, MAX_CODE_CALLS, Program, RunEnd, now_ms, run};
pub(crate) use message::{Answer, Failure, Printed, Request, Thrown};
pub(crate) use replay::ReplayLog;
