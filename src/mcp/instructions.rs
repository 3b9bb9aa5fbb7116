//! The instructions that a client gets when it connects.

use std::fmt::Write as _;

use climax_catalog::ToolIndex;

use super::surface::{CALL, READ, RUN, SEARCH, Surface};

/// The longest instructions without their end, in bytes.
const MAX_INSTRUCTION_BYTES: usize = 1_500;

/// The instructions: how to find tools, and the names of the CLIs as far as [`MAX_INSTRUCTION_BYTES`] has room for them.
pub(super) fn instructions(index: &ToolIndex, surface: &Surface) -> String {
    let mut text = format!("Command-line programs as tools. {}CLIs: ", how_to_use(surface));
    let mut left_out = 0;
    for (at, summary) in index.summary().enumerate() {
        let item = format!("{}{} ({})", if at == 0 { "" } else { ", " }, summary.cli.name(), summary.tool_count);
        if left_out > 0 || text.len() + item.len() > MAX_INSTRUCTION_BYTES {
            left_out += 1;
        } else {
            text.push_str(&item);
        }
    }

    if left_out > 0 {
        let _ = write!(text, ", and {left_out} more");
    }

    text.push('.');
    text
}

/// How to find and run tools; empty where the client sees the tools themselves, or no search.
fn how_to_use(surface: &Surface) -> String {
    let Surface::Meta(meta) = surface else { return String::new() };
    if !meta.has(SEARCH) {
        return String::new();
    }
    let run = match (meta.has(CALL), meta.has(READ)) {
        (true, true) => "climax_read if its risk is read, else with climax_call",
        (true, false) => "climax_call",
        (false, true) => "climax_read if its risk is read",
        (false, false) => "",
    };
    let line = if meta.has(RUN) { "climax_run runs a command line of the programs that are served. " } else { "" };
    let find = "Find a tool with climax_search: say in a few words what is to be done, with the program's name if it matters; \
                or give a CLI's name as `cli`. ";
    if run.is_empty() {
        return format!("{line}{find}");
    }
    format!("{line}{find}Then run it with {run}, by the input_schema that the search returned. ")
}
