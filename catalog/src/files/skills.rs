//! Reads the files of skills.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{read_regular, unreadable};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::skill::SKILL_FILE;
use crate::skill::check::SkillDirectory;

/// The most skills that are read.
pub const MAX_SKILLS: usize = 100;
/// The most files of one skill.
pub const MAX_SKILL_FILES: usize = 100;
/// The deepest directory of a skill, counted from its own.
const MAX_SKILL_DEPTH: usize = 8;
/// The largest file of a skill, in bytes.
pub const MAX_SKILL_FILE_BYTES: usize = 1 << 20;
/// The most bytes of all files of all skills.
pub const MAX_SKILL_BYTES: usize = 16 << 20;

/// Reads directories of skills. Each of `paths` holds skills in its subdirectories, or is one itself.
///
/// Names that start with a dot are skipped. `shown` returns the path for messages, and the diagnostics name what cannot
/// be read.
pub fn read_skills(paths: &[PathBuf], shown: impl Fn(&Path) -> String) -> (Vec<SkillDirectory>, Diagnostics) {
    let mut reader = Reader { shown: &shown, found: Diagnostics::default(), bytes: 0 };
    let directories: Vec<PathBuf> = paths.iter().flat_map(|path| reader.directories(path)).collect();
    if directories.len() > MAX_SKILLS {
        let message = format!("{} skills are named, expected {MAX_SKILLS} at most", directories.len());
        reader.refuse(&paths[0], message, "name fewer directories");
        return (Vec::new(), reader.found);
    }

    let skills = directories.iter().map(|path| reader.skill(path)).collect();
    (skills, reader.found)
}

struct Reader<'a> {
    shown: &'a dyn Fn(&Path) -> String,
    found: Diagnostics,
    /// The bytes that have been read.
    bytes: usize,
}

impl Reader<'_> {
    /// Returns the directories of the skills of a path.
    fn directories(&mut self, path: &Path) -> Vec<PathBuf> {
        if path.join(SKILL_FILE).exists() {
            // The last part of `.` or of `skills/..` is no name.
            return vec![
                fs::canonicalize(path).ok().filter(|_| name_of(path).is_none()).unwrap_or_else(|| path.to_owned()),
            ];
        }

        let entries = self.entries(path);
        let directories: Vec<PathBuf> = entries.into_iter().filter(|path| path.is_dir()).collect();
        if directories.is_empty() && !self.found.has_errors() {
            let help = format!("name a directory of skills: directories with a {SKILL_FILE} each");
            self.refuse(path, "the directory holds no skill".to_owned(), &help);
        }

        directories
    }

    /// Returns what is in a directory, in the byte order of names, without names that start with a dot.
    fn entries(&mut self, path: &Path) -> Vec<PathBuf> {
        let read = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = match read {
            Ok(entries) => entries,
            Err(error) => {
                self.found.push(unreadable(&(self.shown)(path), &error));
                return Vec::new();
            }
        };
        let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let mut paths: Vec<PathBuf> =
            entries.into_iter().map(|entry| entry.path()).filter(|path| !is_hidden(path)).collect();
        paths.sort();
        paths
    }

    fn skill(&mut self, directory: &Path) -> SkillDirectory {
        let path = (self.shown)(directory);
        let mut files = Vec::new();
        self.files(directory, "", &mut files);
        if !files.iter().any(|(path, _)| path == SKILL_FILE) && !self.found.has_errors() {
            let help = format!("write a {SKILL_FILE} in it, or name directories of skills only");
            self.refuse(directory, format!("the directory of a skill has no {SKILL_FILE}"), &help);
        }
        SkillDirectory { name: name_of(directory).unwrap_or_default().to_owned(), path, files }
    }

    /// Reads the files below `directory`; `prefix` is its path in the skill.
    fn files(&mut self, directory: &Path, prefix: &str, files: &mut Vec<(String, Vec<u8>)>) {
        for path in self.entries(directory) {
            let Some(name) = name_of(&path).filter(|name| is_portable(name)) else {
                let help = "name it with letters, digits, `.`, `_` and `-`, since its URI holds the name";
                self.refuse(&path, "the name of a skill's file has other characters than URIs".to_owned(), help);
                continue;
            };
            let inner = format!("{prefix}{name}");
            match fs::symlink_metadata(&path) {
                Err(error) => self.found.push(unreadable(&(self.shown)(&path), &error)),
                Ok(metadata) if metadata.is_dir() && inner.matches('/').count() + 1 < MAX_SKILL_DEPTH => {
                    self.files(&path, &format!("{inner}/"), files);
                }
                Ok(metadata) if metadata.is_dir() => {
                    let message = format!("directories of a skill are {MAX_SKILL_DEPTH} deep at most");
                    self.refuse(&path, message, "move the files up");
                }
                Ok(metadata) if !metadata.is_file() => {
                    let help = "put a copy of the file there: links may lead out of the skill";
                    self.refuse(&path, "a skill holds regular files and directories only".to_owned(), help);
                }
                Ok(_) if files.len() >= MAX_SKILL_FILES => {
                    let message = format!("a skill has {MAX_SKILL_FILES} files at most");
                    return self.refuse(&path, message, "leave out what no agent reads, or make two skills");
                }
                Ok(_) => files.extend(self.read(&path).map(|content| (inner, content))),
            }
        }
    }

    /// Reads a file, as far as all files together stay within [`MAX_SKILL_BYTES`].
    fn read(&mut self, path: &Path) -> Option<Vec<u8>> {
        match read_regular(path, MAX_SKILL_FILE_BYTES) {
            Ok(content) if self.bytes + content.len() <= MAX_SKILL_BYTES => {
                self.bytes += content.len();
                return Some(content);
            }
            Ok(_) => {
                let message = format!("the files of all skills have more than {} MiB", MAX_SKILL_BYTES >> 20);
                self.found.push(Diagnostic::file(Code::TooLarge, &(self.shown)(path), message, "name fewer skills"));
            }
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                let message = format!("a file of a skill has {} MiB at most", MAX_SKILL_FILE_BYTES >> 20);
                self.found.push(Diagnostic::file(Code::TooLarge, &(self.shown)(path), message, "split or shorten it"));
            }
            Err(error) => self.found.push(unreadable(&(self.shown)(path), &error)),
        }
        None
    }

    fn refuse(&mut self, path: &Path, message: String, help: &str) {
        self.found.push(Diagnostic::file(Code::IllegalSkill, &(self.shown)(path), message, help));
    }
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name().and_then(OsStr::to_str)
}

/// Whether a name stands for itself in a URI.
fn is_portable(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}
