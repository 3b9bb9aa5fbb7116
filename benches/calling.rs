//! A server of one config whose calls are measured or cancelled, and the program that its tools run.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::client::{Output, Server, start_with};

/// Starts a server of this config, which runs up to 64 programs at once, and opens the conversation.
pub(crate) fn start(config: &Path) -> (Server, Output) {
    let config = config.display().to_string();
    start_with(&["--max-concurrency", "64", "--config", &config], Path::new("."))
}

impl Server {
    /// Asks for a tool and returns the request's id, which is the progress token too if there is one.
    pub(crate) fn call(&mut self, tool: &str, watched: bool) -> u64 {
        self.request("climax_call", &json!({ "tool_name": tool }), watched)
    }

    /// Has the request given up.
    pub(crate) fn cancel(&mut self, id: u64) {
        let params = json!({ "requestId": id });
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    }
}

/// Builds the program of `tests/bin/fakecli.rs` beside this one.
pub(crate) fn fakecli() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--release", "--quiet", "--example", "fakecli"]);
    assert!(cargo.status().unwrap().success(), "cannot build fakecli");
    let bench = std::env::current_exe().unwrap();
    bench.parent().and_then(Path::parent).unwrap().join("examples/fakecli")
}
