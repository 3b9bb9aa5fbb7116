//! What the arguments of a meta-tool come to: an answer, or the work that leads to one.

use std::time::Duration;

use climax_catalog::policy::AskedCage;
use rmcp::model::ErrorData;
use serde_json::{Map, Value};
use strum::VariantNames as _;

use crate::call::arguments::Violation;
use crate::call::chain::ChainStep;
use crate::call::{LineBounds, LineInput, Purpose, Request};
#[cfg(has_code)]
use crate::code::Program;
use crate::mcp::reader::ArgumentReader;

/// What answers a request for a meta-tool.
pub(in crate::mcp) enum Work {
    /// This text does.
    Answer(String),
    /// A line of another shell is judged.
    Judge(JudgeArguments),
    /// A tool is called by its name.
    Call(CallArguments, Purpose),
    /// A command line runs.
    Line(RunArguments, Purpose),
    /// Tools are called in order.
    Chain(Vec<ChainStep>),
    /// A program runs.
    #[cfg(has_code)]
    Code(CodeArguments),
}

/// The arguments of `climax_call` and `climax_read`.
pub(in crate::mcp) struct CallArguments {
    pub(in crate::mcp) tool_name: String,
    pub(in crate::mcp) arguments: Map<String, Value>,
}

/// The arguments of `climax_run`.
pub(in crate::mcp) struct RunArguments {
    pub(in crate::mcp) command: String,
    pub(in crate::mcp) cwd: Option<String>,
    pub(in crate::mcp) stdin: Option<String>,
    pub(in crate::mcp) bounds: LineBounds,
}

/// The names of the arguments of `climax_run`, with those that stand for `command`.
pub(in crate::mcp) const RUN_KEYS: [&str; 7] = ["command", "cmd", "line", "cwd", "stdin", "cage", "timeout"];

/// The most seconds that a caller may give a line.
const MAX_LINE_SECONDS: i64 = 3600;

impl RunArguments {
    /// Reads the arguments of a tool that runs lines.
    ///
    /// # Errors
    /// All violations.
    pub(in crate::mcp) fn read(arguments: &Map<String, Value>) -> Result<Self, Vec<Violation>> {
        let mut reader = ArgumentReader::new(arguments);
        let command = reader.required_string(&["command", "cmd", "line"]);
        let cage = reader.has("cage").then(|| reader.choice("cage", AskedCage::VARIANTS).parse().ok()).flatten();
        let seconds = reader.has("timeout").then(|| {
            reader.seconds("timeout", (1, MAX_LINE_SECONDS), "a number of seconds from 1 to 3600").unsigned_abs()
        });
        let bounds = LineBounds { cage, timeout: seconds.map(Duration::from_secs) };
        let read = Self { command, cwd: reader.filter("cwd"), stdin: reader.string("stdin"), bounds };
        reader.reject_misspelt(&RUN_KEYS);
        reader.finish()?;
        Ok(read)
    }

    /// Returns the line as a request.
    pub(in crate::mcp) fn request(&self) -> Request<'_> {
        let input = self.stdin.as_deref().map_or(LineInput::Nothing, LineInput::Text);
        Request::Line { text: &self.command, directory: self.cwd.as_deref(), input, bounds: self.bounds }
    }
}

/// The arguments of `climax_check`.
pub(in crate::mcp) struct JudgeArguments {
    pub(in crate::mcp) command: String,
    pub(in crate::mcp) cwd: Option<String>,
}

/// The arguments of `climax_code`.
#[cfg(has_code)]
pub(in crate::mcp) struct CodeArguments {
    pub(in crate::mcp) code: String,
    /// How long the program may compute.
    pub(in crate::mcp) seconds: u64,
}

#[cfg(has_code)]
impl CodeArguments {
    /// Returns the program.
    pub(in crate::mcp) fn program(&self) -> Program<'_> {
        Program { code: &self.code, time: Duration::from_secs(self.seconds) }
    }
}

/// The reason why a request has no result.
pub(in crate::mcp) enum Failure {
    /// The arguments violate the schema. The model can correct them.
    Arguments(Vec<Violation>),
    /// The cursor cannot be used.
    Cursor(ErrorData),
    /// No tool has this name.
    UnknownTool {
        /// The name.
        name: String,
        /// Near misses of the name.
        suggestions: Vec<String>,
    },
}

impl From<Vec<Violation>> for Failure {
    fn from(violations: Vec<Violation>) -> Self {
        Self::Arguments(violations)
    }
}
