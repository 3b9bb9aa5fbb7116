//! Start-up, memory and build time against the number of compiled-in tools.
//!
//! `cargo bench --bench scale` builds servers with 10, 200, 1,000 and 5,000 synthetic tools and the bare SDK server
//! with one profile, starts them in turn, and prints the medians. `cargo bench --bench scale -- DIR…` adds a server
//! with the configs of each DIR.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measuring program prints, starts others, and stops at the first failure"
)]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 60;
const SIZES: [usize; 4] = [10, 200, 1_000, 5_000];
const OPENING: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"#,
    r#""clientInfo":{"name":"bench","version":"0"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    "\n",
);

struct Variant {
    name: String,
    program: PathBuf,
    build: Duration,
    bytes: u64,
    starts: Vec<Duration>,
    resident_kib: Vec<u64>,
    private_kib: Vec<u64>,
}

fn main() {
    let work = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench-scale");
    std::fs::create_dir_all(&work).unwrap();
    let mut variants = vec![build(&work, "bare SDK server", None)];
    for size in SIZES {
        let dir = work.join(format!("configs-{size}"));
        write_configs(&dir, size);
        variants.push(build(&work, &format!("{size} tools"), Some(&dir)));
    }
    for dir in std::env::args().skip(1).filter(|argument| !argument.starts_with('-')) {
        variants.push(build(&work, &dir, Some(Path::new(&dir))));
    }
    for round in 0..=ROUNDS {
        for variant in &mut variants {
            let (start, resident, private) = start(&variant.program);
            // The first round warms up the page cache.
            if round > 0 {
                variant.starts.push(start);
                variant.resident_kib.push(resident);
                variant.private_kib.push(private);
            }
        }
    }
    println!(
        "{:24} {:>12} {:>12} {:>10} {:>12} {:>10} {:>10}",
        "server", "start, median", "start, min", "RSS KiB", "private KiB", "file KiB", "build s"
    );
    for variant in &mut variants {
        variant.starts.sort();
        variant.resident_kib.sort_unstable();
        variant.private_kib.sort_unstable();
        println!(
            "{:24} {:>10} µs {:>7} µs {:>10} {:>12} {:>10} {:>10.1}",
            variant.name,
            variant.starts[ROUNDS / 2].as_micros(),
            variant.starts[0].as_micros(),
            variant.resident_kib[ROUNDS / 2],
            variant.private_kib[ROUNDS / 2],
            variant.bytes >> 10,
            variant.build.as_secs_f64(),
        );
    }
}

/// Writes configs with one CLI per hundred tools and five args per tool.
fn write_configs(dir: &Path, tools: usize) {
    let _ = std::fs::remove_dir_all(dir);
    std::fs::create_dir_all(dir).unwrap();
    for first in (0..tools).step_by(100) {
        let mut yaml = format!("name: cli{first}\ncommand: cli{first}\ncategory: synthetic\ntags: [bench]\ntools:\n");
        for tool in first..tools.min(first + 100) {
            let _ = write!(
                yaml,
                "  - name: cli{first}_tool_{tool}\n    description: Tool {tool} reads, writes and lists things of kind {}\n    command: sub{tool}\n    args:\n",
                tool % 17
            );
            for arg in 0..5 {
                let _ = writeln!(
                    yaml,
                    "      - {{name: arg_{arg}, description: \"Argument {arg} of tool {tool}\", flag: --arg-{arg}=}}"
                );
            }
        }
        std::fs::write(dir.join(format!("cli{first}.yaml")), yaml).unwrap();
    }
}

/// Builds the server with these configs, or the bare one, and copies the binary.
///
/// Returns the time of the second build, in which only the configs are new.
fn build(work: &Path, name: &str, configs: Option<&Path>) -> Variant {
    let cargo = |configs: Option<&Path>| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--release", "--quiet"]);
        cargo.env("CARGO_TARGET_DIR", work.join("target"));
        match configs {
            None => cargo.args(["--example", "bare"]).env_remove("CLIMAX_CONFIGS"),
            Some(dir) => cargo.args(["--bin", "climax"]).env("CLIMAX_CONFIGS", std::path::absolute(dir).unwrap()),
        };
        assert!(cargo.stderr(Stdio::null()).status().unwrap().success(), "cannot build {name}");
    };
    if configs.is_some() {
        // Builds everything that does not depend on the configs.
        cargo(Some(&Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/jq.yaml")));
    }
    let before = Instant::now();
    cargo(configs);
    let build = before.elapsed();
    let binary = work.join("target/release").join(if configs.is_some() { "climax" } else { "examples/bare" });
    let program = work.join(name.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
    std::fs::copy(binary, &program).unwrap();
    let bytes = program.metadata().unwrap().len();
    Variant {
        name: name.to_owned(),
        program,
        build,
        bytes,
        starts: Vec::new(),
        resident_kib: Vec::new(),
        private_kib: Vec::new(),
    }
}

/// Returns the time from the start to the response of `tools/list`, and the memory then, in KiB: all resident memory,
/// and the part that is not backed by the program's file.
fn start(program: &Path) -> (Duration, u64, u64) {
    let before = Instant::now();
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(OPENING.as_bytes()).unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"id\":2") {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "{} ended", program.display());
    }
    let taken = before.elapsed();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let kib = |name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        value.split_whitespace().next().unwrap().parse().unwrap()
    };
    let (resident, private) = (kib("VmRSS:"), kib("RssAnon:"));
    drop(child.stdin.take());
    child.wait().unwrap();
    (taken, resident, private)
}
