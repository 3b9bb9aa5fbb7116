//! What a cage and needs add to the start of a program.
//!
//! `cargo bench --bench cages` runs `/bin/true` in turn by `posix_spawn` alone, and by servers over their standard
//! streams: unconfined, confined to needs, and in the cage `read` by each of its means. `-- FILE…` measures the servers of
//! other files beside it. It prints medians.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measuring program prints, starts others, and stops at the first failure"
)]

#[expect(dead_code, reason = "these servers have other files and variables, and their memory is not measured")]
mod client;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use client::{Output, Server};

const CONFIG: &str = "name: bench\ncommand: /bin/true\ntools:\n\
    \x20 - {name: free, description: x}\n\
    \x20 - {name: held, description: x, risk: read, needs: {}}\n\
    \x20 - {name: caged, description: x, needs: {cage: read}}\n";
const ROUNDS: usize = 1_000;

/// Directories of the project, and files in each.
const PROJECT: [usize; 2] = [20, 10];

/// What is measured of a server: its name, the tool, and the means of its cages if not the strongest.
const WAYS: [(&str, &str, Option<&str>); 4] = [
    ("unconfined", "free", None),
    ("needs", "held", None),
    ("cage, by Landlock alone", "caged", Some("landlock")),
    ("cage, by namespaces", "caged", None),
];

/// A way to run the program, with the times that it took.
struct Way {
    name: &'static str,
    tool: &'static str,
    server: Server,
    output: Output,
    times: Vec<Duration>,
}

fn main() {
    let work = tempfile::tempdir().unwrap();
    let config = work.path().join("config.yaml");
    fs::write(&config, CONFIG).unwrap();
    let project = work.path().join("project");
    make_project(&project);

    let mut files = vec![PathBuf::from(env!("CARGO_BIN_EXE_climax"))];
    files.extend(std::env::args_os().skip(1).filter(|word| word != "--bench").map(PathBuf::from));
    let mut servers: Vec<Vec<Way>> =
        files.iter().map(|file| WAYS.map(|way| start(way, file, &config, &project)).into()).collect();

    let mut spawns = Vec::new();
    // The first round warms up caches.
    for round in 0..=ROUNDS {
        let time = spawned();
        spawns.extend((round > 0).then_some(time));
        for way in servers.iter_mut().flatten() {
            let time = way.call();
            way.times.extend((round > 0).then_some(time));
        }
    }

    let bare_ms = median(&mut spawns);
    println!("{:24} {:>9} {:>9}", "way", "p50 ms", "added");
    println!("{:24} {bare_ms:>9.3} {:>9.3}", "posix_spawn and wait", 0.0);
    for (file, ways) in files.iter().zip(&mut servers) {
        println!("\n{}", file.display());
        for Way { name, times, .. } in ways {
            let p50 = median(times);
            println!("{name:24} {p50:>9.3} {:>9.3}", p50 - bare_ms);
        }
    }
}

/// Makes a project of directories with files, and with a secret.
fn make_project(project: &Path) {
    let [directories, files] = PROJECT;
    for directory in 0..directories {
        let directory = project.join(format!("directory-{directory}"));
        fs::create_dir_all(&directory).unwrap();
        (0..files).for_each(|file| fs::write(directory.join(format!("{file}.rs")), "").unwrap());
    }
    fs::create_dir(project.join(".git")).unwrap();
    fs::write(project.join(".env"), "KEY=1").unwrap();
}

fn start(
    (name, tool, isolation): (&'static str, &'static str, Option<&str>),
    file: &Path,
    config: &Path,
    project: &Path,
) -> Way {
    let mut command = Command::new(file);
    command.arg("--config").arg(config).current_dir(project);
    command.envs(isolation.map(|means| ("CLIMAX_ISOLATION", means)));
    let (server, output) = client::start(command);
    Way { name, tool, server, output, times: Vec::new() }
}

impl Way {
    /// Calls the tool, and returns the time until the answer.
    fn call(&mut self) -> Duration {
        let start = Instant::now();
        self.server.request("climax_call", &json!({ "tool_name": self.tool }), false);
        let answer = client::read(&mut self.output).unwrap();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        start.elapsed()
    }
}

/// Starts the program by `posix_spawn`, and returns the time until its end.
fn spawned() -> Duration {
    let start = Instant::now();
    let mut command = Command::new("/bin/true");
    assert!(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
    start.elapsed()
}

/// In milliseconds.
fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}
