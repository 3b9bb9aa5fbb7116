//! The programs of this machine, and those that its user starts.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use climax_catalog::ToolIndex;

use super::program::is_bundled;
use crate::exec::{path_of_program, variable};

/// Directories of the base system where no list of packages tells what belongs to it.
const SYSTEM: [&str; 4] = ["/bin", "/sbin", "/usr/bin", "/usr/sbin"];

/// The database of Debian's packages.
const DPKG: &str = "/var/lib/dpkg";

/// The longest history that is read, in bytes.
const MAX_HISTORY_BYTES: u64 = 64 << 20;

/// Returns the programs on the `PATH` that belong neither to the base system nor to the bundled ones, each file once.
pub(super) fn installed(bundled: &ToolIndex) -> Vec<String> {
    let base = base_files();
    let mut names: HashMap<PathBuf, String> = HashMap::new();
    for directory in std::env::split_paths(&variable("PATH").unwrap_or_default()) {
        let is_system = SYSTEM.iter().any(|system| Path::new(system) == directory);
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            let is_base = match &base {
                Some(base) => base.contains(&format!("/usr/bin/{name}")) || base.contains(&format!("/usr/sbin/{name}")),
                None => true,
            };
            if !is_name(&name) || is_system && is_base || is_bundled(bundled, &name) {
                continue;
            }
            // The one that would run, and of its names the shortest: `gcc` rather than `gcc-12`.
            let Some(path) = path_of_program(&name).and_then(|path| path.canonicalize().ok()) else { continue };
            let known = names.entry(path).or_insert_with(|| name.clone());
            if (name.len(), &name) < (known.len(), known) {
                *known = name;
            }
        }
    }

    let mut names: Vec<String> = names.into_values().collect();
    names.sort();
    names
}

/// Returns the programs that lines of the shells' histories start with, the most frequent first.
///
/// Nothing else of a line is kept.
pub(super) fn used(bundled: &ToolIndex) -> Vec<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for text in histories() {
        for name in text.lines().filter_map(first_word) {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }

    let mut found: Vec<(String, usize)> = counts.into_iter().collect();
    found.sort_by(|(one, most), (other, more)| more.cmp(most).then(one.cmp(other)));
    let is_wanted = |name: &String| is_name(name) && path_of_program(name).is_some() && !is_bundled(bundled, name);
    found.into_iter().map(|(name, _)| name).filter(is_wanted).collect()
}

fn histories() -> impl Iterator<Item = String> {
    let home = variable("HOME").map(PathBuf::from);
    let files = [".bash_history", ".zsh_history", ".local/share/fish/fish_history"];
    let own = home.into_iter().flat_map(move |home| files.map(|file| home.join(file)));
    let named = variable("HISTFILE").map(PathBuf::from);
    let files: HashSet<PathBuf> = own.chain(named).collect();
    files.into_iter().filter_map(|file| {
        let metadata = file.metadata().ok()?;
        let is_readable = metadata.is_file() && metadata.len() <= MAX_HISTORY_BYTES;
        is_readable.then(|| fs::read(&file).ok()).flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    })
}

/// Returns the program of a line of a history, behind the marks of zsh and fish and behind variables.
fn first_word(line: &str) -> Option<&str> {
    let line = line.strip_prefix("- cmd: ").unwrap_or(line);
    let line = match line.strip_prefix(": ") {
        Some(timed) => timed.split_once(';')?.1,
        None => line,
    };
    let is_variable = |word: &&str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    line.split_whitespace().find(|word| !is_variable(word) && *word != "sudo")
}

/// Returns whether a text is the name of a program, rather than of a variant for another machine.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
        && !name.contains("-linux-")
}

/// Returns the programs of the packages that make up the base system; `None` where no list of packages is known.
///
/// Source: the Debian Policy Manual, 2.5 "Priorities".
fn base_files() -> Option<HashSet<String>> {
    let status = fs::read_to_string(Path::new(DPKG).join("status")).ok()?;
    let mut files = HashSet::new();
    for paragraph in status.split("\n\n") {
        let field = |name: &str| paragraph.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let is_base = matches!(field("Priority"), Some("required" | "important" | "standard"));
        let (Some(package), true) = (field("Package"), is_base) else { continue };
        let architecture = field("Architecture").unwrap_or_default();
        let lists = [format!("{package}.list"), format!("{package}:{architecture}.list")];
        let list = lists.iter().find_map(|list| fs::read_to_string(Path::new(DPKG).join("info").join(list)).ok());
        // Both `/bin` and `/usr/bin`, since one is a link to the other.
        let programs = list.iter().flat_map(|list| list.lines()).filter_map(|path| {
            let path = path.strip_prefix("/usr").unwrap_or(path);
            SYSTEM.iter().any(|system| path.starts_with(system)).then(|| format!("/usr{path}"))
        });
        files.extend(programs);
    }

    (!files.is_empty()).then_some(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_program_of_a_line_is_read() {
        for (line, program) in [
            ("rg secret src", Some("rg")),
            (": 1700000000:0;fd -e rs", Some("fd")),
            ("- cmd: A=1 sudo just build", Some("just")),
            ("  when: 1700000000", Some("when:")),
            ("", None),
        ] {
            assert_eq!(first_word(line), program, "{line}");
        }
        assert!(!is_name("when:") && !is_name("./x") && is_name("g++"));
    }
}
