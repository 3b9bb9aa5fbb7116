//! The rules of Codex that ask about lines, or forbid them.
//!
//! Source: the documentation of Codex, "Rules", and what 0.169 does: it applies rules that forbid a line before it starts the
//! hook, and starts the hook in place of the question of a rule that asks. It finds no commands in a line with redirections.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, iter};

use super::places::{files_of, own_directory};
use super::user_rules::UserRules;

/// The settings of whoever manages this machine.
const MANAGED: &str = "/etc/codex";

/// Reads the rules of the user, of the project of a directory, and of whoever manages this machine.
///
/// The files are programs, so what they are about is not computed: one that asks or forbids may be about any line.
pub(super) fn rules(directory: &Path) -> UserRules {
    let own = own_directory("CODEX_HOME", ".codex");
    let projects = directory.ancestors().map(|path| path.join(".codex"));
    let places: Vec<PathBuf> = own.into_iter().chain(projects).chain(iter::once(MANAGED.into())).collect();
    let names = ["requirements.toml", "managed_config.toml", "cloud-config-bundle-cache.json"];
    let asks_always = places.iter().any(|place| {
        let files = files_of(&place.join("rules"), ".rules");
        files.into_iter().chain(names.map(|name| place.join(name))).any(|file| may_ask(&file))
    });
    UserRules { asks_always, ..UserRules::default() }
}

/// Whether a file may hold a rule that asks or forbids: also if it cannot be read.
fn may_ask(file: &Path) -> bool {
    match fs::read_to_string(file) {
        Ok(text) => ["prompt", "forbidden"].into_iter().any(|decision| text.contains(decision)),
        Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}
