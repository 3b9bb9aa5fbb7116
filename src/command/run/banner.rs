//! The line on standard error that says what a server serves.

use std::collections::HashSet;

use crate::command::output::counted;
use crate::command::selection::Selection;
use crate::identity;
use crate::serving::reload::Published;

/// Maximum CLIs of config files that the start line names.
const MAX_NAMED_CLIS: usize = 3;

/// Returns the line. If compiled-in tools come with config files unasked, it names the option that leaves them out.
pub(super) fn line(published: &Published, selection: &Selection) -> String {
    let name = identity::name();
    let toolbox = published.handle.toolbox();
    let total = toolbox.index.tools().count();

    if published.of_configs.is_empty() {
        let clis = toolbox.index.summary().count();
        return format!("{name}: serving {} of {}", counted(total, "tool"), counted(clis, "CLI"));
    }

    let names = clis(published);
    let own = counted(published.of_configs.len(), "tool");
    let compiled_in = total - published.of_configs.len();
    let others = match (compiled_in, selection.names().is_empty()) {
        (0, _) => String::new(),
        (_, false) => format!(" and {}", counted(compiled_in, "compiled-in tool")),
        (_, true) => format!(" and {}; --only serves {names} alone", counted(compiled_in, "compiled-in tool")),
    };

    format!("{name}: serving {own} of {names}{others}")
}

/// Returns the names of the CLIs of config files, or how many there are.
fn clis(published: &Published) -> String {
    let toolbox = published.handle.toolbox();
    let of_configs: HashSet<&str> = published.of_configs.iter().map(String::as_str).collect();
    let mut names: Vec<&str> = Vec::new();

    for tool in toolbox.index.tools().filter(|tool| of_configs.contains(tool.name())) {
        if !names.contains(&tool.cli().name()) {
            names.push(tool.cli().name());
        }
    }

    if names.len() > MAX_NAMED_CLIS { format!("the {} CLIs of --config", names.len()) } else { names.join(" and ") }
}
