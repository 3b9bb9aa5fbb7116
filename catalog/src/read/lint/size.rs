//! The size of what a tool publishes.

use crate::schema::input_schema;
use crate::table::CheckedTool;

/// The most args that a model reads with care.
const MAX_SHOWN_ARGS: usize = 25;

/// The most bytes of a schema, about 1,500 tokens.
const MAX_SCHEMA_BYTES: usize = 6 << 10;

/// Returns what is too large about a tool, with the limit.
pub(super) fn excess(tool: &CheckedTool) -> Option<String> {
    let shown = tool.args.iter().filter(|arg| arg.shown && !arg.from_user && arg.output.is_none()).count();
    let bytes = input_schema(&tool.args, &tool.groups).len();
    if shown > MAX_SHOWN_ARGS {
        return Some(format!("publishes {shown} args, more than {MAX_SHOWN_ARGS}"));
    }
    (bytes > MAX_SCHEMA_BYTES).then(|| format!("publishes a schema of {bytes} bytes, more than {MAX_SCHEMA_BYTES}"))
}
