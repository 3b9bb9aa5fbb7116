//! Files and directories at the top of a directory for temporary files that the words of a caged program name:
//! `-o /tmp/report`, `-m venv /tmp/env`.
//!
//! A cage opens what is there. A file that is not there yet becomes a link into a directory of this call, which the program
//! follows when it makes the file, and which is replaced by that file once the program has ended. That directory lies where
//! no caged program can put a link in its place. A directory that is not there yet is made, since programs that take an
//! empty one refuse a link to one, and removed if it stays empty.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::files::{is_there, temporary_directories};
use super::invocation::Invocation;
use super::process::{CleanupGuard, Janitor};
use super::temporary::{self, SessionFiles};

/// Maximum number of files that the words of one program may name.
const MAX_NAMED_FILES: usize = 16;

/// What a name becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
}

/// The files and directories that a program may make by their names.
pub(super) struct NamedFiles<'c> {
    /// Where files are made; `None` if the words name none.
    directory: Option<TempDir>,
    links: Vec<Link>,
    /// The directories, which are there now.
    made: Vec<PathBuf>,
    /// Removes all of them if this process is killed.
    cleanups: Vec<CleanupGuard<'c>>,
}

/// A link at a name, and what it leads to.
struct Link {
    path: PathBuf,
    target: PathBuf,
}

impl<'c> NamedFiles<'c> {
    /// Makes links and directories at the names that are free.
    ///
    /// A name for which nothing can be made is left out: the program then fails to make it.
    pub(super) fn before(invocation: &Invocation, janitor: Option<&'c Janitor>) -> Self {
        let mut named = Self { directory: None, links: Vec::new(), made: Vec::new(), cleanups: Vec::new() };
        for top in temporary_directories() {
            for (name, kind) in names_below(&top, invocation) {
                let path = top.join(&name);
                if named.links.len() + named.made.len() >= MAX_NAMED_FILES || is_there(&path) {
                    continue;
                }
                match kind {
                    Kind::File => named.link(path, &name, janitor),
                    Kind::Directory => named.make(path, janitor),
                };
            }
        }
        named
    }

    /// Makes a directory for its owner only, as [`tempfile`] does.
    fn make(&mut self, path: PathBuf, janitor: Option<&'c Janitor>) -> Option<()> {
        DirBuilder::new().mode(0o700).create(&path).ok()?;
        self.cleanups.extend(janitor.map(|janitor| janitor.register_removal(&path)));
        self.made.push(path);
        Some(())
    }

    /// Makes a link, if the file can be moved to its place: it takes its name only within one file system.
    fn link(&mut self, path: PathBuf, name: &str, janitor: Option<&'c Janitor>) -> Option<()> {
        let directory = self.directory.take().map_or_else(temporary::make, Ok).ok()?;
        let own = directory.path().canonicalize().ok();
        if self.directory.insert(directory).path().metadata().ok()?.dev() != path.parent()?.metadata().ok()?.dev() {
            return None;
        }
        let own = own?;
        let target = own.join(name);
        if is_there(&target) {
            return None;
        }
        self.cleanups.extend(janitor.map(|janitor| janitor.register_removal(&own)));
        self.cleanups.extend(janitor.map(|janitor| janitor.register_removal(&path)));
        symlink(&target, &path).ok()?;
        self.links.push(Link { path, target });
        Some(())
    }

    /// The directories in which the program may write, without links.
    pub(super) fn writable(&self) -> Vec<PathBuf> {
        let of_files = self.directory.iter().map(TempDir::path);
        of_files.chain(self.made.iter().map(PathBuf::as_path)).filter_map(|path| path.canonicalize().ok()).collect()
    }

    /// Puts what the program has made in the place of its link, and removes the other links and empty directories.
    pub(super) fn keep(mut self, session: &SessionFiles) {
        for path in std::mem::take(&mut self.made) {
            if fs::remove_dir(&path).is_err() {
                session.note_made(&path);
            }
        }
        for Link { path, target } in self.links.iter().filter(|link| link.is_there()) {
            // A link, or a second name of another file, would open what it leads to.
            let is_kept = match target.symlink_metadata().ok() {
                Some(made) => made.is_file() && made.nlink() == 1,
                None => false,
            };
            if is_kept && fs::rename(target, path).is_ok() {
                session.note_made(path);
            }
        }
    }
}

impl Drop for NamedFiles<'_> {
    fn drop(&mut self) {
        for link in self.links.iter().filter(|link| link.is_there()) {
            let _ = fs::remove_file(&link.path);
        }
        for path in &self.made {
            let _ = fs::remove_dir_all(path);
        }
    }
}

impl Link {
    /// Whether nobody has put anything else in its place.
    fn is_there(&self) -> bool {
        fs::read_link(&self.path).is_ok_and(|found| found == self.target)
    }
}

/// Returns the names directly below a directory that the words, variables and input of a program have.
fn names_below(top: &Path, invocation: &Invocation) -> Vec<(String, Kind)> {
    let Some(top) = top.to_str() else { return Vec::new() };
    let top = format!("{top}/");
    let mut names: Vec<(String, Kind)> = Vec::new();
    let mut add = |text: &str, before: &str| {
        for (name, kind) in names_in(text, before, &top) {
            match names.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) if kind == Kind::Directory => *known = kind,
                Some(_) => {}
                None => names.push((name, kind)),
            }
        }
    };

    // Options may stand between this word and its directory.
    let subcommand = invocation.argv.iter().find(|word| ["venv", "virtualenv"].contains(&word.as_str()));
    for pair in invocation.argv.windows(2) {
        add(&pair[1], subcommand.unwrap_or(&pair[0]));
    }
    for (name, value) in &invocation.env {
        add(value, name);
    }
    add(invocation.stdin.as_deref().unwrap_or_default(), "");

    names
}

/// Returns the names below a directory in a text. `before` is the word before it, which may say that it names a directory.
fn names_in(text: &str, before: &str, top: &str) -> Vec<(String, Kind)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-+%@".contains(c);
    let mut found = Vec::new();
    for (at, _) in text.match_indices(top) {
        if text[..at].ends_with(|c: char| is_part(c) || "/~}".contains(c)) {
            continue;
        }
        let rest = &text[at + top.len()..];
        let name = &rest[..rest.find(|c: char| !is_part(c)).unwrap_or(rest.len())];
        let next = rest[name.len()..].chars().next();
        // A pattern or a part of a longer name is none, nor is what other programs look for by its name.
        let is_whole = !next.is_some_and(|c| "*?[{$~".contains(c) || c.is_alphanumeric());
        if name.is_empty() || !is_whole || name.starts_with(['.', '-']) || name == "node_modules" {
            continue;
        }

        let start = text[..at].rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let says_directory = |word: &str| {
            let word = word.to_ascii_lowercase();
            ["dir", "folder", "venv", "virtualenv", "prefix"].iter().any(|part| word.contains(part)) || word == "-b"
        };
        let own = &text[start..at];
        let is_directory = next == Some('/') || says_directory(own) || own.is_empty() && says_directory(before);
        let kind = if is_directory { Kind::Directory } else { Kind::File };
        found.push((name.trim_end_matches('.').to_owned(), kind));
    }

    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_words_texts_and_variables() {
        let names = |text: &str, before: &str| {
            let shown = |(name, kind)| if kind == Kind::Directory { format!("{name}/") } else { name };
            names_in(text, before, "/tmp/").into_iter().map(shown).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("/tmp/c.out", "-o"), "c.out");
        assert_eq!(names("-coverprofile=/tmp/c.out", "test"), "c.out");
        assert_eq!(names("/tmp/types", "--outDir"), "types/");
        assert_eq!(names("/tmp/t", "CARGO_TARGET_DIR"), "t/");
        assert_eq!(names("--target-dir=/tmp/t", "x"), "t/");
        assert_eq!(names("/tmp/v", "venv"), "v/");
        assert_eq!(names("/tmp/b", "-B"), "b/");
        assert_eq!(names("open('/tmp/a.json', 'w'); os.makedirs('/tmp/b')\n", "-c"), "a.json b/");
        assert_eq!(names("/tmp/d/file", "-o"), "d/");
        for text in ["/srv/tmp/x", "/tmp/", "/tmp/*.log", "/tmp/.git", "/tmp/node_modules", "/tmp/x$i", "~/tmp/x"] {
            assert_eq!(names(text, ""), "", "{text}");
        }
    }
}
