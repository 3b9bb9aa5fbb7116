//! The instructions that a client gets when it connects.

use std::fmt::Write as _;

use climax_catalog::ToolIndex;

use super::Mode;

/// The longest instructions without their end, in bytes.
const MAX_INSTRUCTION_BYTES: usize = 1_500;

/// The instructions: how to find tools, and the names of the CLIs as far as [`MAX_INSTRUCTION_BYTES`] has room for them.
pub(super) fn instructions(index: &ToolIndex, mode: Mode) -> String {
    let mut text = match mode {
        Mode::Meta | Mode::Extended => "Command-line programs as tools. Find a tool with climax_search: say in a few words what is to be \
                       done, with the program's name if it matters; or give a CLI's name as `cli`. Then run it with climax_call, \
                       by the input_schema that the search returned. CLIs: ",
        Mode::Classic => "Command-line programs as tools. CLIs: ",
    }
    .to_owned();
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
