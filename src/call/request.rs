//! The request for one call.

use serde_json::{Map, Value};

use crate::call::space::Claim;
use crate::exec::Watch;

/// The request for one call.
#[derive(Clone, Copy, Debug)]
pub struct CallRequest<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: &'a Map<String, Value>,
    /// Reports the progress of the call while it runs.
    pub watch: Option<&'a Watch>,
    /// Environment variables for this call. Variables of the config override them.
    pub env: &'a [(String, String)],
    /// The caller's name; `None` if callers are anonymous.
    pub caller: Option<&'a str>,
    /// The purpose of the result.
    pub purpose: Purpose,
    /// The space that the result takes until the client has read it.
    pub space: Option<&'a Claim>,
}

/// The purpose of a call's result. It is part of the audit line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Purpose {
    /// The response to a call.
    Call,
    /// The output of a call on the command line. It names no argument that the tool does not have.
    #[strum(serialize = "call")]
    CommandLine,
    /// The response to a call that may only read: its tool states `risk: read`.
    Read {
        /// The property that holds the name of the tool.
        call_name: &'static str,
        /// The meta-tool that calls other tools, if one is served.
        caller: Option<&'static str>,
    },
    /// The answer to a call of a program in `climax_code`.
    Code {
        /// The number of the program's run, counted from the start of the server.
        run: u64,
    },
    /// The content of a resource.
    Resource,
    /// A part of a prompt.
    Prompt,
}

impl Purpose {
    /// Returns the number of the run of a program; `None` for other purposes.
    #[must_use]
    pub fn run(&self) -> Option<u64> {
        if let Self::Code { run } = self { Some(*run) } else { None }
    }

    /// Returns the name in the audit file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
