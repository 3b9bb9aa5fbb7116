//! What a model has to read and write for 40 tasks, on five surfaces: a benchmark without a model.
//!
//! `cargo bench --features budget --bench agents` makes a repository with files, does each task by direct tools, by search
//! and call, by command lines, by chains and by programs, checks that all give the answer of bash, and prints tables.
//! Eight more tasks need loops and files, and are done by lines and programs. `-- --tasks` adds a table with a row for each task.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measuring program prints, starts others, and stops at the first failure"
)]

mod break_even;
#[path = "../client.rs"]
mod client;
mod fixture;
mod report;
mod scripts;
mod surface;
mod task;

use std::process::{Command, Stdio};

use surface::{Cost, Surface, SurfaceKind};

fn main() {
    let work = tempfile::tempdir().unwrap();
    fixture::make(work.path());
    let tasks = task::all();
    let programs = task::clis(&tasks);
    let mut surfaces = SurfaceKind::ALL.map(|kind| Surface::start(kind, &programs, work.path()));
    let mut rows = Vec::new();

    for task in &tasks {
        let expected = bash(&task.line(), work.path());
        let costs: Vec<Cost> = surfaces.iter_mut().map(|surface| surface.does(task, &expected)).collect();
        rows.push((task, costs));
    }
    let wrong: Vec<&str> = surfaces.iter().flat_map(|surface| &surface.wrong).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} answers are not those of bash:\n{}", wrong.len(), wrong.join("\n\n"));
    report::print_lists(work.path());
    report::print(&surfaces, &rows, std::env::args().any(|word| word == "--tasks"));
    scripts::print();
    break_even::print();
}

/// What bash prints for a line.
fn bash(line: &str, directory: &std::path::Path) -> String {
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", line]).current_dir(directory).stdin(Stdio::null());
    let output = command.env("LC_ALL", "C.UTF-8").output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}
