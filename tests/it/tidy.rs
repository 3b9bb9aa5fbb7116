//! The invariants of `ARCHITECTURE.md` that are about what is absent.

mod modules;

use std::fs;
use std::path::{Path, PathBuf};

/// Rust files below `directory`, relative to the package, with their text.
fn sources(directory: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut open = vec![root.join(directory)];
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(&path).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

fn product() -> Vec<(String, String)> {
    ["src", "catalog/src", "codegen/src", "import/src"].into_iter().flat_map(sources).collect()
}

/// Fails for each file outside `allowed` that holds one of `words`.
fn only_in(words: &[&str], allowed: &[&str]) {
    for (name, text) in product() {
        if allowed.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        let code: String =
            text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        for word in words {
            assert!(!code.contains(word), "{name} holds `{word}`, which only {allowed:?} may");
        }
    }
}

#[test]
fn one_module_knows_the_yaml_crate() {
    only_in(&["serde_yaml", "granit"], &["catalog/src/read/yaml.rs"]);
}

#[test]
fn the_protocol_s_types_stay_at_the_edge() {
    only_in(&["rmcp"], &["src/mcp", "src/transport"]);
}

#[test]
fn one_module_starts_processes() {
    only_in(&["Command::new(", "std::process::Command", "tokio::process", "rustix::process"], &["src/exec"]);
}

#[test]
fn the_middle_does_no_io() {
    let edges = [
        "catalog/src/read/files.rs",
        "codegen/src/build.rs",
        "src/exec",
        "src/transport",
        "src/command",
        "src/call/audit.rs",
        "src/telemetry/log.rs",
    ];
    only_in(&["std::fs", "std::net", "fs::", "io::stdin", "io::stdout", "io::stderr", "println!", "print!("], &edges);
}

#[test]
fn the_environment_is_read_at_the_edges() {
    let edges = ["codegen/src/build.rs", "src/exec", "src/command", "src/telemetry"];
    only_in(&["env::var", "env::var_os"], &edges);
}

#[test]
fn only_the_binary_and_the_command_line_choose_exit_codes() {
    only_in(&["ExitCode", "process::exit"], &["src/main.rs", "src/serving/program.rs", "src/cli.rs", "src/command"]);
}

#[test]
fn only_transport_and_commands_write_to_standard_output() {
    only_in(&["stdout()"], &["src/transport", "src/command", "codegen/src/build.rs"]);
}

#[test]
fn files_are_short_and_say_what_they_are() {
    for (name, text) in product() {
        assert!(text.lines().count() <= 500, "{name} has {} lines", text.lines().count());
        assert!(text.starts_with("//! "), "{name} does not say what it is");
    }
}

#[test]
fn nothing_is_left_unfinished() {
    only_in(&["todo!(", "unimplemented!(", "dbg!(", "#![allow("], &[]);
    for (name, text) in product() {
        let marks = ["TO\u{44}O", "FIX\u{4d}E"];
        assert!(marks.iter().all(|mark| !text.contains(mark)), "{name}");
    }
}

#[test]
fn no_modules_need_each_other() {
    for directory in ["src", "catalog/src", "codegen/src", "import/src"] {
        let package = modules::Package::read(directory);
        for circle in modules::circles(&package.arrows()) {
            println!("{directory}: {} files: {circle:?}", circle.len());
        }
    }
}
