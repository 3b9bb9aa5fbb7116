//! Expands globs of command lines: the paths in a directory that match.

use std::fs;
use std::path::{Path, PathBuf};

use climax_shell::{Globs, Pattern};

/// Maximum paths that a glob may match.
const MAX_GLOB_MATCHES: usize = 1_000;

/// Maximum directory entries that one glob looks at.
const MAX_GLOB_ENTRIES: usize = 100_000;

/// Returns the paths that match `pattern`, sorted; empty if none does. A relative pattern starts at `directory`.
///
/// A backslash takes a character's meaning. What cannot be read is skipped, as in a shell, and `**` follows no links.
///
/// # Errors
/// A sentence, if too many paths match or too many entries have to be looked at.
pub fn expand(pattern: &str, directory: &Path, globs: Globs) -> Result<Vec<String>, String> {
    let (mut found, mut looked) = (vec![String::new()], Looked::default());
    let mut rest = pattern;
    while !rest.is_empty() {
        let (slashes, behind) = rest.split_at(rest.len() - rest.trim_start_matches('/').len());
        let (component, behind) = behind.split_at(behind.find('/').unwrap_or(behind.len()));
        rest = behind;
        if component == "**" && globs.descend {
            let is_end = rest.is_empty();
            rest = rest.trim_start_matches('/');
            let kind = match (is_end, rest.is_empty()) {
                (true, _) => Below::Everything,
                (false, true) => Below::DirectoriesAndLinks,
                (false, false) => Below::Directories,
            };
            let mut next = Vec::new();
            for parent in found.into_iter().map(|parent| format!("{parent}{slashes}")) {
                add_below(&parent, directory, (globs, kind), &mut looked, &mut next)?;
                // Without a name it stands for where the glob starts, which only what is behind it can name.
                next.extend(Some(parent).filter(|parent| !parent.is_empty() || !rest.is_empty()));
            }
            found = next;
            continue;
        }
        let mut next = Vec::new();
        for parent in found.into_iter().map(|parent| format!("{parent}{slashes}")) {
            if component.is_empty() {
                // Several at the end become one.
                let path = format!("{}/", parent.trim_end_matches('/'));
                next.extend(Some(path).filter(|path| directory.join(path).is_dir()));
                continue;
            }
            for name in names(component, &directory.join(&parent), globs, &mut looked)? {
                let path = format!("{parent}{name}");
                let below = directory.join(&path);
                let matches = if rest.is_empty() { below.symlink_metadata().is_ok() } else { below.is_dir() };
                next.extend(Some(path).filter(|_| matches));
            }
        }

        found = next;
    }

    found.sort_unstable();
    // Several `**` find the same in several ways.
    found.dedup();
    if found.len() > MAX_GLOB_MATCHES {
        return Err(format!("more than {MAX_GLOB_MATCHES} paths match"));
    }
    Ok(found)
}

/// Returns the paths that start with `start`, sorted. A directory ends in `/`. A relative path starts at `directory`.
///
/// There are none if there are too many.
#[must_use]
pub fn starting_with(start: &str, directory: &Path) -> Vec<String> {
    let escaped: String =
        start.chars().flat_map(|c| ["*?[]\\".contains(c).then_some('\\'), Some(c)]).flatten().collect();
    let mut found = expand(&format!("{escaped}*"), directory, Globs::default()).unwrap_or_default();

    for path in found.iter_mut().filter(|path| directory.join(path.as_str()).is_dir()) {
        path.push('/');
    }
    found
}

/// What one glob has looked at.
#[derive(Default)]
struct Looked {
    entries: usize,
    /// The steps of its patterns.
    steps: u64,
}

/// What `**` stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    /// Files and directories: it is the end of the glob.
    Everything,
    /// Directories: more of the glob follows.
    Directories,
    /// Directories, and links to them: slashes follow, and nothing else.
    DirectoriesAndLinks,
}

/// Adds what is below a path that is empty or ends in a slash. Directories get a slash at their end, unless files are
/// added too.
fn add_below(
    parent: &str,
    directory: &Path,
    (globs, kind): (Globs, Below),
    looked: &mut Looked,
    found: &mut Vec<String>,
) -> Result<(), String> {
    for name in names("*", &directory.join(parent), globs, looked)? {
        let path = format!("{parent}{name}");
        let real = directory.join(&path);
        let is_directory = real.symlink_metadata().is_ok_and(|about| about.is_dir());
        let inner = format!("{path}/");
        match kind {
            Below::Everything => found.push(path),
            Below::Directories => found.extend(Some(inner.clone()).filter(|_| is_directory)),
            Below::DirectoriesAndLinks => found.extend(Some(inner.clone()).filter(|_| real.is_dir())),
        }
        if is_directory {
            add_below(&inner, directory, (globs, kind), looked, found)?;
        }
    }
    Ok(())
}

/// Returns the names in a directory that match one component of a pattern.
fn names(component: &str, directory: &Path, globs: Globs, looked: &mut Looked) -> Result<Vec<String>, String> {
    let Some(pattern) = compiled(component) else { return Ok(vec![unescaped(component)]) };
    let takes_hidden = globs.see_hidden || component.starts_with('.') || component.starts_with("\\.");
    let listed = fs::read_dir(if directory == Path::new("") { Path::new(".") } else { directory });

    let mut names = Vec::new();
    for entry in listed.into_iter().flatten().flatten() {
        looked.entries += 1;
        if looked.entries > MAX_GLOB_ENTRIES {
            return Err(format!("the glob would look at more than {MAX_GLOB_ENTRIES} directory entries"));
        }
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !takes_hidden && name.starts_with('.') {
            continue;
        }
        if pattern.matches(&name, &mut looked.steps).map_err(|error| error.to_string())? {
            names.push(name);
        }
    }
    Ok(names)
}

/// Compiles a component; `None` if it is a plain name.
fn compiled(component: &str) -> Option<Pattern> {
    let mut characters = Vec::new();
    let mut chars = component.chars();
    while let Some(c) = chars.next() {
        characters.push(if c == '\\' { (chars.next().unwrap_or('\\'), true) } else { (c, false) });
    }
    let is_glob = characters.iter().any(|(c, is_quoted)| !is_quoted && "*?[".contains(*c));
    is_glob.then(|| Pattern::new(&characters))
}

fn unescaped(component: &str) -> String {
    let mut text = String::new();
    let mut chars = component.chars();
    while let Some(c) = chars.next() {
        text.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    text
}

/// Returns the directory that the `cd` commands of a line lead to, from `start`.
#[must_use]
pub fn directory_of(directories: &[String], start: &Path) -> PathBuf {
    directories.iter().fold(start.to_owned(), |at, directory| at.join(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_in_a_shell() {
        let scratch = tempfile::tempdir().unwrap();
        for name in ["a.rs", "b.rs", ".hidden.rs", "[x]", "sub/c.rs", "sub/d.txt"] {
            let path = scratch.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }

        for (pattern, expected) in [
            ("*.rs", vec!["a.rs", "b.rs"]),
            ("**.rs", vec!["a.rs", "b.rs"]),
            ("*/*.rs", vec!["sub/c.rs"]),
            ("*/", vec!["sub/"]),
            ("[^b].rs", vec!["a.rs"]),
            (r"\[x]*", vec!["[x]"]),
            (".h*", vec![".hidden.rs"]),
            ("*.*", vec!["a.rs", "b.rs"]),
            ("*.h*", vec![]),
            ("[.]h*", vec![]),
            (r"\.h*", vec![".hidden.rs"]),
            ("*hidden*", vec![]),
            ("sub//*.rs", vec!["sub//c.rs"]),
            ("s*//", vec!["sub/"]),
            ("x*", vec![]),
            ("[[:alpha:]].rs", vec!["a.rs", "b.rs"]),
            (r"*[\]]", vec!["[x]"]),
            (r"[a\-b].rs", vec!["a.rs", "b.rs"]),
            (r"[\!b].rs", vec!["b.rs"]),
            (r"[!\]]*s", vec!["a.rs", "b.rs"]),
        ] {
            assert_eq!(expand(pattern, scratch.path(), Globs::default()).unwrap(), expected, "{pattern}");
        }

        let absolute = format!("{}/s*/d*", scratch.path().display());
        assert_eq!(
            expand(&absolute, Path::new(""), Globs::default()).unwrap(),
            [format!("{}/sub/d.txt", scratch.path().display())]
        );
    }
}
