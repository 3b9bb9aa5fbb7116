//! From how many calls on a program is shorter than the other ways: which of N files has the most commits?

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::report;
use crate::surface::{Cost, Surface, SurfaceKind, Work};

/// The numbers of files, and so of calls.
const FILES: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// The surfaces that are compared.
const KINDS: [SurfaceKind; 3] = [SurfaceKind::SearchCall, SurfaceKind::Run, SurfaceKind::Code];

/// What the user asks.
const QUESTION: &str = "Which file of the directory has the most commits?";

/// Measures and prints the table.
pub(crate) fn print() {
    let work = tempfile::tempdir().unwrap();
    make(work.path());
    let clis = ["coreutils", "git"].map(str::to_owned);
    let mut surfaces = KINDS.map(|kind| Surface::start(kind, &clis, work.path()));
    let rows = FILES.map(|files| (files, surfaces.each_mut().map(|surface| cost(surface, files))));
    report::print_break_even(&KINDS, &rows);
}

/// Makes a repository with a directory for each number of files. The last file but one has 3 commits, others 1 or 2.
fn make(root: &Path) {
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=Bench", "-c", "user.email=bench@localhost"];
        let status = Command::new("git").args(identity).args(args).current_dir(root).status().unwrap();
        assert!(status.success(), "git {args:?}");
    };
    git(&["init", "--quiet"]);
    for round in 0..3 {
        for files in FILES {
            let directory = root.join(files.to_string());
            fs::create_dir_all(&directory).unwrap();
            for at in (0..files).filter(|at| round < commits(*at, files)) {
                fs::write(directory.join(name(at)), round.to_string()).unwrap();
                git(&["add", "."]);
                git(&["commit", "--quiet", "--message", &format!("change {} of {files} files again", name(at))]);
            }
        }
    }
}

fn name(at: usize) -> String {
    format!("part{at:02}.rs")
}

fn commits(at: usize, files: usize) -> usize {
    if at == most(files) { 3 } else { 1 + at % 2 }
}

/// The file with the most commits.
fn most(files: usize) -> usize {
    files.saturating_sub(2)
}

/// Answers the question on one surface.
fn cost(surface: &mut Surface, files: usize) -> Cost {
    let kind = surface.kind;
    let mut work = Work::of(surface, QUESTION);
    let names: Vec<String> = match kind {
        SurfaceKind::Code => {
            let code = format!(
                "const files = (await run(\"ls {files}\")).stdout.trim().split(\"\\n\");
const counts = await Promise.all(files.map(async (file) => {{
  const {{ stdout }} = await run(`git log --oneline -- {files}/${{file}}`);
  return [stdout.split(\"\\n\").length, file];
}}));
counts.sort((a, b) => b[0] - a[0])[0][1]"
            );
            let answer = work.ask("climax_code", &json!({ "code": code }));
            assert_eq!(answer, name(most(files)));
            return work.ended();
        }
        SurfaceKind::Run => {
            let line = format!(
                "for f in {files}/*; do echo \"$(git log --oneline -- \"$f\" | wc -l) $f\"; done | sort -rn | head -n 1"
            );
            let answer = work.ask("climax_run", &json!({ "command": line }));
            assert!(answer.trim().ends_with(&name(most(files))), "{answer}");
            return work.ended();
        }
        _ => {
            work.search("list the files of a directory");
            lines(
                &work.ask(
                    "climax_call",
                    &json!({ "tool_name": "coreutils_ls", "args": { "path": [files.to_string()] } }),
                ),
            )
        }
    };
    assert_eq!(names.len(), files);
    work.search("show the commit history of a file");
    for name in &names {
        let args = json!({ "path": [format!("{files}/{name}")], "oneline": true });
        work.ask("climax_call", &json!({ "tool_name": "git_log", "args": args }));
    }
    work.ended()
}

/// The names in the output of `ls`.
fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| line.contains("part")).map(str::to_owned).collect()
}
