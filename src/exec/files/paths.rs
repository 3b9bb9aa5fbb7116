//! Real paths: what a path names once links and `..` are followed.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::exec::platform::may_write;

/// Maximum links in one path. Source: `path_resolution(7)`.
const MAX_LINKS: usize = 40;

/// Returns what an absolute path names, without links and `..`. The last part may be missing.
///
/// # Errors
/// A sentence, if another part is missing or cannot be read, or if the links have no end.
pub fn real(path: &Path) -> Result<PathBuf, String> {
    let mut left = parts(path);
    let mut found = PathBuf::from("/");
    let mut links = 0;

    while let Some(part) = left.pop_front() {
        if part == ".." {
            found.pop();
            continue;
        }

        let next = found.join(&part);
        match next.symlink_metadata() {
            Ok(entry) if entry.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(format!("{} leads through too many links", path.display()));
                }

                let target = next.read_link().map_err(|error| format!("{}: {error}", next.display()))?;
                if target.is_absolute() {
                    found = PathBuf::from("/");
                }
                for part in parts(&target).into_iter().rev() {
                    left.push_front(part);
                }
            }
            Ok(_) => found = next,
            Err(error) if error.kind() == io::ErrorKind::NotFound && left.is_empty() => found = next,
            Err(error) => return Err(format!("{}: {error}", next.display())),
        }
    }

    Ok(found)
}

/// Returns whether this process may write a path, or make it.
#[must_use]
pub fn could_write(path: &Path) -> bool {
    may_write(if path.exists() { path } else { path.parent().unwrap_or(path) })
}

/// Returns the names and `..` in a path.
fn parts(path: &Path) -> VecDeque<OsString> {
    let parts = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_and_parents_are_followed_as_the_kernel_does() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("in/deep")).unwrap();
        fs::create_dir(root.join("out")).unwrap();
        symlink("../out", root.join("in/link")).unwrap();
        symlink(root.join("gone"), root.join("in/dangling")).unwrap();
        symlink("loop", root.join("in/loop")).unwrap();

        for (path, expected) in [
            ("in/deep", Some("in/deep")),
            ("in/./deep/../new", Some("in/new")),
            ("in/link", Some("out")),
            ("in/link/..", Some("")),
            ("in/link/new", Some("out/new")),
            ("in/dangling", Some("gone")),
            ("in/new/file", None),
            ("in/new/../../out", None),
            ("in/loop", None),
        ] {
            let found = real(&root.join(path)).ok();
            let expected = expected.map(|path| root.join(path).components().collect::<PathBuf>());
            assert_eq!(found, expected, "{path}");
        }
    }
}
