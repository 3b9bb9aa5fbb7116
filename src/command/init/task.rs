//! A task for the user's agent: requests in people's words, by which tools are found.

use std::path::PathBuf;
use std::process::ExitCode;

use climax_catalog::Catalog;

use crate::command::output::print;
use crate::command::selection::report_load_error;
use crate::identity;
use crate::serving::load::{self, Wanted};

/// Prints the task. Tools that have phrases are left out.
pub(super) fn run(catalog: &'static Catalog, files: &[PathBuf]) -> ExitCode {
    let wanted = Wanted { configs: files.to_vec(), configs_only: true, ..Wanted::default() };
    let index = match load::load_tools(catalog, &wanted, None) {
        Ok(loaded) => loaded.served.index,
        Err(error) => return report_load_error(error),
    };
    let lacking: Vec<String> = index
        .tools()
        .filter(|tool| tool.phrases().len() == 0)
        .map(|tool| format!("- {}: {}", tool.name(), tool.description()))
        .collect();
    if lacking.is_empty() {
        return print("every tool has phrases", ExitCode::SUCCESS);
    }

    let files = files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ");
    let name = identity::name();
    print(
        &format!(
            "Add `phrases` to the tools below, in the config files {files}. `phrases` is a list behind `description` of a \
             tool; people's requests are compared with it, and nothing shows it:\n\n  \
             phrases: [find text in files, which files mention a word]\n\n\
             For each tool write two requests that it serves, in the words of somebody who does not know the program: no \
             name of the program, of an option or of a subcommand, three to eight words, and the second one in other words \
             than the first. If two tools serve the same request, say in each what only it does. Read the help of the \
             program where the description is not enough. Change nothing else.\n\n\
             Then run `{name} validate --lint {files}`, and correct what it reports.\n\n{}",
            lacking.join("\n")
        ),
        ExitCode::SUCCESS,
    )
}
