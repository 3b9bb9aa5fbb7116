//! `climax catalog`: writes all served tools as a page for a browser.

mod page;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::call::Toolbox;
use crate::command::output::{FAILURE, counted, print};
use crate::command::selection::Selection;
use crate::command::terminal;
use crate::exec::{Limits, Runner};
use crate::serving::Program;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,
    /// Write one HTML page with all tools to this file. It needs no network
    #[arg(long, value_name = "FILE")]
    html: PathBuf,
}

/// Writes the page. Exit status 1 if it cannot be written.
pub(crate) fn run(program: &Program, arguments: &Args) -> ExitCode {
    let served = match arguments.selection.load(program.catalog) {
        Ok(served) => served,
        Err(code) => return code,
    };
    let runner = Runner::new(served.policy.executor().clone(), Limits::default(), 1);
    let toolbox = Toolbox::new(served.index, served.policy, runner, None);
    let path = arguments.html.display();

    match fs::write(&arguments.html, page::page(&toolbox)) {
        Ok(()) => {
            let tools = counted(toolbox.index.tools().count(), "tool");
            print(&format!("{path}: {tools}"), ExitCode::SUCCESS)
        }
        Err(error) => {
            terminal::complain(&format!("{path} cannot be written: {error}"));
            ExitCode::from(FAILURE)
        }
    }
}
