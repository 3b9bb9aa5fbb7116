//! What is to run, and for whom.

use std::time::Duration;

use climax_catalog::policy::AskedCage;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::call::space::Claim;
use crate::exec::Watch;

/// What is to run. It is part of no session, so that the same request can come from any of them.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// A tool, by its name.
    Tool {
        /// The tool's name.
        name: &'a str,
        /// Its arguments.
        arguments: &'a Map<String, Value>,
    },
    /// A command line, which may name several tools.
    Line {
        /// The command line.
        text: &'a str,
        /// The directory in which it starts; that of the server if `None`.
        directory: Option<&'a str>,
        /// The standard input of the first command.
        input: LineInput<'a>,
        /// How its programs are held.
        bounds: LineBounds,
    },
}

/// How the programs of a line are held, as far as the caller says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineBounds {
    /// The cage of the programs that have one, if it is wider than theirs; or none.
    pub cage: Option<AskedCage>,
    /// How long the line may take, and so each program, whatever time its tool has.
    pub timeout: Option<Duration>,
}

/// The standard input of the first command of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineInput<'a> {
    /// It has none.
    Nothing,
    /// A text.
    Text(&'a str),
    /// A stream of this process, which nobody has read.
    Stream,
}

/// For whom and for what a request runs.
#[derive(Clone, Copy, Debug)]
pub struct Session<'a> {
    /// The caller's name; `None` if callers are anonymous.
    pub caller: Option<&'a str>,
    /// The purpose of the result.
    pub purpose: Purpose,
    /// Environment variables for the programs. Variables of configs override them.
    pub env: &'a [(String, String)],
    /// Reports the progress of the program that runs; of a pipeline, of the last one.
    pub watch: Option<&'a Watch>,
    /// The space that the result takes until the client has read it.
    pub space: Option<&'a Claim>,
    /// Cancelled when the commands of a line have ended and those in the background go on. Without it, these end with the
    /// line.
    pub goes_on: Option<&'a CancellationToken>,
}

impl Session<'_> {
    /// Makes the session of an anonymous caller, whom nothing is reported to.
    #[must_use]
    pub fn anonymous(purpose: Purpose) -> Self {
        Self { caller: None, purpose, env: &[], watch: None, space: None, goes_on: None }
    }
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
    /// A line that the judge has allowed because it reads: it may do no more, and print no secrets.
    #[strum(serialize = "call")]
    Judged,
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
