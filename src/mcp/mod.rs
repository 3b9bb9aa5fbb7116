//! The Model Context Protocol: the tools that clients see, and the responses to their requests.
//!
//! Only this module and [`crate::transport`] name protocol types.

mod caching;
#[cfg(feature = "http")]
mod call_notifier;
mod chain_reply;
mod client;
#[cfg(has_code)]
mod code;
pub mod decode;
mod errors;
pub mod ignored;
mod instructions;
mod job_tool;
mod jobs;
mod line_reply;
mod log;
mod options;
mod output_store;
mod output_tool;
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
mod roots;
mod server;
mod server_info;
mod skills;
mod subscriptions;
mod surface;
mod tools;
mod typed;

/// The start of the targets of the SDK's log records.
pub(crate) const SDK_TARGET: &str = "rmcp";

#[cfg(feature = "http")]
pub(crate) use call_notifier::CallNotifier;
pub(crate) use job_tool::{JOB_TOOL, JobTool};
pub use jobs::Jobs;
pub use log::MIN_LOG_INTERVAL;
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
#[cfg(feature = "budget")]
pub(crate) use surface::compact_text;
pub use surface::{Answers, CallName, META_TOOLS, MetaSurface, MetaTool, Surface};
pub(crate) use surface::{described, permitted_examples, search_text};
pub use tools::{estimated_tokens, tool_definition, tool_list};
