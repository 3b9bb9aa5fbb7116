//! Config files on disk: the only module of this crate that does I/O.

use std::collections::HashSet;
use std::fs::{self, FileType, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

mod skills;

use crate::decode::{MAX_CONFIG_BYTES, too_large};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::source::Source;

pub use skills::{MAX_SKILL_BYTES, MAX_SKILL_FILE_BYTES, MAX_SKILL_FILES, MAX_SKILLS, read_skills};

/// Finds the config files of a path, in the byte order of their names.
///
/// For a directory these are the `*.yaml` and `*.yml` files directly in it, except names that start with a dot. Any
/// other path is a config file. `shown` returns the path for messages.
///
/// # Errors
/// The directory is not readable, or contains no config.
pub fn expand(path: &Path, shown: impl Fn(&Path) -> String) -> Result<Vec<PathBuf>, Diagnostic> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }

    let (mut files, mut others) = (Vec::new(), 0);
    for entry in fs::read_dir(path).map_err(|error| unreadable(&shown(path), &error))? {
        let file = entry.map_err(|error| unreadable(&shown(path), &error))?.path();
        let is_config = file.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        let is_dotfile = file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_config && !is_dotfile && file.is_file() {
            files.push(file);
        } else {
            others += 1;
        }
    }

    if files.is_empty() {
        let (message, help) = match others {
            0 => ("directory is empty".to_owned(), "name a directory with configs, or a file"),
            _ => (
                "directory holds no *.yaml or *.yml file".to_owned(),
                "name a directory with configs directly in it, or files",
            ),
        };
        return Err(Diagnostic::file(Code::NoConfigs, &shown(path), message, help));
    }

    files.sort_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
    Ok(files)
}

/// Finds the config files of all `paths`, each once. The diagnostics name paths without config files.
pub fn expand_all(paths: &[PathBuf], shown: impl Fn(&Path) -> String) -> (Vec<PathBuf>, Diagnostics) {
    let mut files = Vec::new();
    let mut diagnostics = Diagnostics::default();
    let mut seen = HashSet::new();
    for path in paths {
        match expand(path, &shown) {
            Ok(found) => {
                // A path that cannot be resolved is not readable, which is reported later.
                let is_new = |file: &PathBuf| fs::canonicalize(file).map_or(true, |file| seen.insert(file));
                files.extend(found.into_iter().filter(is_new));
            }
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }

    (files, diagnostics)
}

/// Reads config files; `shown` returns the path for messages.
///
/// Returns the readable files; the diagnostics name the others.
pub fn read(files: &[PathBuf], shown: impl Fn(&Path) -> String) -> (Vec<Source>, Diagnostics) {
    let mut sources = Vec::new();
    let mut diagnostics = Diagnostics::default();
    for file in files {
        let name = shown(file);
        match read_regular(file, MAX_CONFIG_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => diagnostics.push(too_large(&name)),
            Err(error) => diagnostics.push(unreadable(&name, &error)),
            Ok(bytes) => match Source::new(&name, bytes) {
                Ok(source) => sources.push(source),
                Err(diagnostic) => diagnostics.push(diagnostic),
            },
        }
    }

    (sources, diagnostics)
}

/// Reads a policy file.
///
/// # Errors
/// The file is not readable, or is not a text.
pub fn read_policy(path: &Path) -> Result<Source, Diagnostic> {
    let name = path.display().to_string();
    let unreadable = |error: io::Error| {
        let help = match error.kind() {
            io::ErrorKind::FileTooLarge => return too_large(&name),
            io::ErrorKind::IsADirectory => "name a file: a policy is one",
            kind => remedy(kind).unwrap_or("name a readable file"),
        };
        Diagnostic::file(Code::Unreadable, &name, format!("cannot read policy: {error}"), help)
    };

    Source::new(&name, read_regular(path, MAX_CONFIG_BYTES).map_err(unreadable)?)
}

/// Reads a regular file, or the one that a symbolic link leads to.
///
/// It waits for no writer of a FIFO, no device and no terminal.
///
/// # Errors
/// The file is not readable, is not regular, or has more than `limit` bytes ([`io::ErrorKind::FileTooLarge`]).
pub fn read_regular(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let without_waiting = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(without_waiting.bits().cast_signed()).open(path)?;
    let kind = file.metadata()?.file_type();

    // Reading a directory fails with the system's own message.
    if !kind.is_file() && !kind.is_dir() {
        let found = format!("it is {}, and only regular files are read", kind_name(kind));
        return Err(io::Error::new(io::ErrorKind::InvalidInput, found));
    }

    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        let found = format!("it has more than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, found));
    }

    Ok(bytes)
}

fn kind_name(kind: FileType) -> &'static str {
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "no file"
    }
}

fn unreadable(path: &str, error: &io::Error) -> Diagnostic {
    let help = remedy(error.kind()).unwrap_or("name a readable file or directory");
    Diagnostic::file(Code::Unreadable, path, format!("cannot read config: {error}"), help)
}

/// Returns help for an I/O error.
fn remedy(error: io::ErrorKind) -> Option<&'static str> {
    match error {
        io::ErrorKind::NotFound => Some("check the path, and which directory it is relative to"),
        io::ErrorKind::PermissionDenied => Some("make it readable for the current user"),
        io::ErrorKind::InvalidInput => Some("name a regular file: save what a command prints to one first"),
        _ => None,
    }
}
