//! Reads and writes settings files, so that no other program ever sees half of one.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The mode of a new file, before the user's mask.
const NEW_FILE: u32 = 0o666;

/// A settings file as it was found.
#[derive(Debug)]
pub(super) struct SettingsFile {
    /// The path, behind all links.
    path: PathBuf,
    /// The text and the mode, if the file exists.
    found: Option<(String, Permissions)>,
}

impl SettingsFile {
    /// Reads a file, which may be absent. Links are followed.
    ///
    /// # Errors
    /// The file cannot be read, cannot be changed, or is a link to nothing.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
                return Ok(Self { path: path.to_owned(), found: None });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(io::Error::new(
                    error.kind(),
                    "it is a link to a file that does not exist: create that file",
                ));
            }
            Err(error) => return Err(error),
        };
        let mode = fs::metadata(&target)?.permissions();
        if mode.readonly() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it is read-only: `chmod u+w` lets it be changed",
            ));
        }

        // Editors of Windows write a byte order mark, which no parser of JSON takes.
        let text = fs::read_to_string(&target)?;
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        Ok(Self { found: Some((text, mode)), path: target })
    }

    /// The text; empty if there is no file.
    pub(super) fn text(&self) -> &str {
        self.found.as_ref().map_or("", |(text, _)| text)
    }

    /// Replaces the file in one step, and keeps its mode. Directories are made where they are absent.
    ///
    /// # Errors
    /// The directory or the file cannot be written.
    pub(super) fn replace(&self, text: &str) -> io::Result<()> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory)?;
        let new = Permissions::from_mode(NEW_FILE);
        let mut temporary = tempfile::Builder::new().prefix(".climax-").permissions(new).tempfile_in(directory)?;
        temporary.write_all(text.as_bytes())?;
        if let Some((_, mode)) = &self.found {
            temporary.as_file().set_permissions(mode.clone())?;
        }

        temporary.as_file().sync_all()?;
        temporary.persist(&self.path)?;

        Ok(())
    }
}

/// Writes a file unless it exists. Returns whether it did. Directories are made where they are absent.
///
/// # Errors
/// The directory or the file cannot be written.
pub(super) fn write_new(path: &Path, text: &str) -> io::Result<bool> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let new = Permissions::from_mode(NEW_FILE);
    let mut temporary = tempfile::Builder::new().prefix(".climax-").permissions(new).tempfile_in(directory)?;
    temporary.write_all(text.as_bytes())?;
    match temporary.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}
