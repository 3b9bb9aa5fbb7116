//! `climax man`: prints manual pages.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Command;
use clap_mangen::Man;

use crate::command::output::{FAILURE, print, print_bytes};
use crate::command::terminal;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Write a page for each command into this directory, instead of the first page to standard output
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// Prints the first page, or writes all pages. Exit status 1 if a page cannot be written.
pub(crate) fn run(arguments: &Args, command: Command) -> ExitCode {
    let done = match &arguments.directory {
        None => page(command).map(|page| print_bytes(&page, ExitCode::SUCCESS)),
        Some(directory) => fs::create_dir_all(directory)
            .and_then(|()| clap_mangen::generate_to(command, directory))
            .map(|()| print(&format!("{}: written", directory.display()), ExitCode::SUCCESS)),
    };
    done.unwrap_or_else(|error| {
        terminal::complain(&format!("the manual pages cannot be written: {error}"));
        ExitCode::from(FAILURE)
    })
}

/// Renders the page of a command.
fn page(command: Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(page)
}
