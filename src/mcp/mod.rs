//! The Model Context Protocol: the tools that clients see, and the responses to their requests.
//!
//! Only this module and [`crate::transport`] name protocol types.

mod caching;
#[cfg(feature = "http")]
mod call_notifier;
mod chain;
mod client;
#[cfg(has_code)]
mod code;
pub mod decode;
mod errors;
mod extended;
pub mod ignored;
mod instructions;
mod job_tool;
mod jobs;
mod lines;
mod log;
mod meta;
mod options;
mod output_store;
pub(crate) mod prerendered;
mod progress;
mod prompts;
mod reader;
mod replay_logs;
mod replica;
pub mod reply;
mod request_context;
mod request_state;
mod resources;
mod revision;
mod server;
mod server_info;
mod skills;
mod subscriptions;
mod surface;
mod tools;
mod typed;

pub(crate) use extended::{described, permitted_examples};

/// The start of the targets of the SDK's log records.
pub(crate) const SDK_TARGET: &str = "rmcp";

#[cfg(feature = "http")]
pub(crate) use call_notifier::CallNotifier;
pub(crate) use job_tool::{JOB_TOOL, JobTool};
pub use jobs::Jobs;
pub use log::MIN_LOG_INTERVAL;
pub(crate) use meta::search_text;
pub use options::{Changes, Options};
pub use output_store::MAX_STORED_BYTES;
pub(crate) use progress::{MAX_PROGRESS_INTERVAL, MIN_PROGRESS_INTERVAL};
#[cfg(feature = "budget")]
pub(crate) use reader::DEFAULT_SEARCH_RESULTS;
pub(crate) use reader::MAX_SEARCH_RESULTS;
pub use replica::ReplicaName;
pub use request_state::RequestStateKey;
pub(crate) use revision::is_whole_modern_request;
pub use server::Server;
pub use surface::{CallName, MetaSurface, MetaTool, Surface};
pub use tools::{estimated_tokens, tool_definition, tool_list};
