//! The completions for a program that are installed on this machine.

use std::fs;
use std::path::{Path, PathBuf};

use climax_import::{Completions, MAX_HELP_BYTES};

use crate::exec::variable;

/// Where fish has completions: below these directories, in `fish/completions` and `fish/vendor_completions.d`.
const ROOTS: [&str; 3] = ["/usr/local/share", "/usr/share", "/opt/homebrew/share"];

/// Where zsh has completions, in files whose names start with `_`.
const ZSH: [&str; 5] = [
    "/usr/local/share/zsh/site-functions",
    "/usr/share/zsh/vendor-completions",
    "/usr/share/zsh/site-functions",
    "/usr/share/zsh/functions/Completion/Unix",
    "/opt/homebrew/share/zsh/site-functions",
];

/// Reads the completions for a program, the most trusted first.
pub(super) fn of(program: &str) -> Vec<Completions> {
    let Some(name) = Path::new(program).file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    if program.contains('/') && !Path::new(program).starts_with("/usr") {
        return Vec::new();
    }

    let fish = first(fish_directories().into_iter().map(|directory| directory.join(format!("{name}.fish"))));
    let zsh = first(ZSH.iter().map(|directory| Path::new(directory).join(format!("_{name}"))));
    let fish = fish.map(|text| Completions::fish(&text, name));
    let zsh = zsh.map(|text| Completions::zsh(&text));
    fish.into_iter().chain(zsh).collect()
}

fn fish_directories() -> Vec<PathBuf> {
    let own = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let own = own.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".config")));
    let shared = ROOTS.iter().flat_map(|root| {
        ["completions", "vendor_completions.d"].map(|directory| Path::new(root).join("fish").join(directory))
    });
    own.map(|own| own.join("fish/completions")).into_iter().chain(shared).collect()
}

/// Reads the first file that exists.
fn first(mut files: impl Iterator<Item = PathBuf>) -> Option<String> {
    let file = files.find(|file| file.is_file())?;
    let is_short = file.metadata().is_ok_and(|metadata| metadata.len() <= MAX_HELP_BYTES as u64);
    let bytes = fs::read(&file).ok().filter(|_| is_short)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
