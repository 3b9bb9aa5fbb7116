//! The invariants of `ARCHITECTURE.md` that say what is absent.
//!
//! `cargo test --test it tidy -- --nocapture` prints the rooms with their arrows.

mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use modules::{Package, in_circles};

/// The source directories of the packages, the server's last.
const PACKAGES: [&str; 4] = ["catalog/src", "codegen/src", "import/src", "src"];

/// The modules of each of [`PACKAGES`], read once: there are hundreds of files to parse.
static GRAPHS: LazyLock<[Package; 4]> = LazyLock::new(|| PACKAGES.map(Package::read));

/// The rooms of the server, each with the rooms that it may name.
const ARROWS: [(&str, &[&str]); 12] = [
    ("main", &[]),
    ("cli", &["code", "command", "exec", "identity", "serving"]),
    ("command", &["call", "exec", "identity", "mcp", "serving", "telemetry", "transport"]),
    ("transport", &["call", "identity", "lock", "mcp", "telemetry"]),
    ("mcp", &["call", "code", "exec", "identity", "lock", "serving", "telemetry"]),
    ("serving", &["call", "exec", "identity", "lock", "telemetry"]),
    ("call", &["exec", "lock", "telemetry"]),
    ("code", &["exec"]),
    ("exec", &["identity", "lock"]),
    ("telemetry", &["identity"]),
    ("lock", &[]),
    ("identity", &[]),
];

/// Rust files below `directory`, relative to the repository, with their text.
pub(crate) fn sources(directory: &str) -> Vec<(String, String)> {
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

fn product() -> impl Iterator<Item = (String, String)> {
    PACKAGES.into_iter().flat_map(sources)
}

/// Fails for each file outside `allowed` that names one of `paths` or something below it.
fn only_in(paths: &[&str], allowed: &[&str]) {
    for package in &*GRAPHS {
        for (file, names) in package.names() {
            if allowed.iter().any(|prefix| file.starts_with(prefix)) {
                continue;
            }
            let is_below =
                |name: &&String| paths.iter().any(|path| *name == path || name.starts_with(&format!("{path}::")));
            let found: Vec<&String> = names.iter().filter(is_below).collect();
            assert!(found.is_empty(), "{file} names {found:?}, which only {allowed:?} may");
        }
    }
}

/// The room of a file: its folder below `sources`, or the file itself. The library's root belongs to none.
fn room<'a>(file: &'a str, sources: &str) -> Option<&'a str> {
    let room = file.strip_prefix(sources)?.split('/').next()?;
    Some(room.strip_suffix(".rs").unwrap_or(room)).filter(|room| !matches!(*room, "lib" | "generated"))
}

#[test]
fn no_modules_need_each_other() {
    let found: Vec<_> = GRAPHS.iter().flat_map(|package| in_circles(&package.arrows())).collect();
    assert!(found.is_empty(), "these files name each other in a circle: {found:#?}");
}

#[test]
fn no_rooms_of_the_catalog_need_each_other() {
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let [catalog, ..] = &*GRAPHS;
    for (from, targets) in catalog.arrows() {
        let Some(own) = room(&from, "catalog/src/") else { continue };
        let others = targets.iter().filter_map(|target| room(target, "catalog/src/")).filter(|other| *other != own);
        rooms.entry(own.to_owned()).or_default().extend(others.map(str::to_owned));
    }

    let found = in_circles(&rooms);
    assert!(found.is_empty(), "these rooms name each other in a circle: {found:#?}");
}

#[test]
#[expect(clippy::print_stdout, reason = "`--nocapture` shows the rooms")]
fn rooms_name_only_the_rooms_below_them() {
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let [.., server] = &*GRAPHS;
    for (from, targets) in server.arrows() {
        let Some(own) = room(&from, "src/") else { continue };
        let allowed = ARROWS.iter().find(|(name, _)| *name == own).map(|(_, allowed)| *allowed);
        let allowed = allowed.unwrap_or_else(|| panic!("{from} is in no room that `ARROWS` lists"));
        for target in targets.iter().filter_map(|target| room(target, "src/")).filter(|target| *target != own) {
            assert!(allowed.contains(&target), "{from} names `{target}`; `{own}` may name {allowed:?} only");
            rooms.entry(own.to_owned()).or_default().insert(target.to_owned());
        }
    }
    for (own, allowed) in ARROWS {
        let used = rooms.remove(own).unwrap_or_default();
        println!("{own} → {}", used.iter().map(String::as_str).collect::<Vec<_>>().join(", "));
        let unused: Vec<_> = allowed.iter().filter(|room| !used.contains(**room)).collect();
        assert!(unused.is_empty(), "`{own}` names none of {unused:?}: take them out of `ARROWS`");
    }
}

#[test]
fn one_module_knows_the_yaml_crate() {
    only_in(&["granit_parser"], &["catalog/src/read/yaml.rs"]);
}

#[test]
fn protocol_types_stay_in_mcp_and_transport() {
    only_in(&["rmcp"], &["src/mcp", "src/transport"]);
}

#[test]
fn only_exec_starts_processes() {
    only_in(&["std::process::Command", "tokio::process", "rustix::process"], &["src/exec"]);
}

#[test]
fn the_middle_does_no_io() {
    let edges = [
        "catalog/src/files.rs",
        "catalog/src/files/skills.rs",
        "codegen/src/build.rs",
        "src/exec",
        "src/transport",
        "src/command",
        "src/call/audit.rs",
        "src/code/guest.rs",
        "src/telemetry/log.rs",
    ];
    only_in(
        &["std::fs", "std::net", "tokio::fs", "tokio::net", "std::io::stdin", "std::io::stdout", "std::io::stderr"],
        &edges,
    );
}

#[test]
fn the_environment_is_read_at_the_edges() {
    let edges = ["codegen/src/build.rs", "src/exec", "src/command", "src/cli.rs", "src/code/guest.rs", "src/telemetry"];
    only_in(&["std::env::var", "std::env::var_os", "std::env::vars", "std::env::args_os"], &edges);
}

#[test]
fn only_the_binary_and_the_command_line_choose_exit_codes() {
    only_in(&["std::process::ExitCode", "std::process::exit"], &["src/main.rs", "src/cli.rs", "src/command"]);
}

#[test]
fn only_transport_and_commands_write_to_standard_output() {
    let writers = ["src/transport", "src/command", "src/code/guest.rs", "codegen/src/build.rs"];
    only_in(&["std::io::stdout", "tokio::io::stdout"], &writers);
}

#[test]
fn files_start_with_a_description() {
    for (name, text) in product() {
        assert!(text.starts_with("//! "), "{name} does not say what it is");
    }
}

#[test]
fn nothing_is_left_unfinished() {
    let marks = ["TO\u{44}O", "FIX\u{4d}E", "todo!(", "unimplemented!(", "dbg!(", "#![allow("];
    for (name, text) in product() {
        let found: Vec<_> = marks.iter().filter(|mark| text.contains(**mark)).collect();
        assert!(found.is_empty(), "{name} holds {found:?}");
    }
}

#[test]
fn the_promised_compiler_is_the_one_that_builds_and_tests() {
    let read = |name: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    let value = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.trim().strip_prefix('=')).unwrap();
        line.trim().trim_matches('"').to_owned()
    };
    let promised = value(&read("Cargo.toml"), "rust-version");
    let used = value(&read("rust-toolchain.toml"), "channel");
    assert!(used == promised || used.starts_with(&format!("{promised}.")), "{promised} is promised, {used} is tested");
}
