//! The builtins of directories: `cd`, `pushd`, `popd` and `pwd`.
//!
//! Source: POSIX.1-2024, "cd" and "pwd"; bash(1), "DIRECTORY STACK BUILTINS".

use std::path::{Component, Path, PathBuf};

use super::done::Done;
use super::expansion::absolute;
use super::shell::{Before, Shell};
use crate::call::line::{change_of, changed};
use crate::exec;

/// Prints the directory of a shell, as `pwd` does.
pub(super) fn printed(shell: &Shell, texts: &[&str]) -> Done {
    let is_physical = match change_of(texts) {
        Ok((is_physical, _)) => is_physical,
        Err(option) => return Done::failed(2, format_args!("pwd: {option}: invalid option")),
    };
    let logical = absolute(shell.directory.as_deref());
    let physical = if is_physical { exec::real_path(Path::new(&logical)).ok() } else { None };
    Done::printed(format!("{}\n", physical.map_or(logical, |path| path.display().to_string())))
}

/// Changes the directory as `pushd` does, which `popd` takes back.
pub(super) fn push(shell: &mut Shell, texts: &[&str]) -> Done {
    let before = Before(shell.directory.clone());
    let done = change(shell, "pushd", texts);
    if done.status == 0 {
        shell.left.push(before);
    }
    listed_directories(shell, done)
}

/// Goes back to the directory that the last `pushd` has left.
pub(super) fn pop(shell: &mut Shell) -> Done {
    let Some(before) = shell.left.last().map(|Before(before)| absolute(before.as_deref())) else {
        return Done::failed(1, "popd: directory stack empty");
    };
    let done = change(shell, "popd", &[&before]);
    if done.status == 0 {
        shell.left.pop();
    }
    listed_directories(shell, done)
}

/// Changes the directory, for a builtin of this name.
pub(super) fn change(shell: &mut Shell, name: &str, texts: &[&str]) -> Done {
    let (is_physical, operands) = match change_of(texts) {
        Ok(change) => change,
        Err(option) => return Done::failed(2, format_args!("{name}: {option}: invalid option")),
    };
    let (to, prints) = match operands {
        [] => (exec::variable("HOME"), false),
        ["-"] => match &shell.previous {
            Some(Before(previous)) => (Some(absolute(previous.as_deref())), true),
            None => return Done::failed(1, "cd: OLDPWD not set"),
        },
        [""] => return Done::default(),
        [to] if is_physical => {
            let to = Path::new(&absolute(shell.directory.as_deref())).join(to);
            (Some(exec::real_path(&to).unwrap_or(to).display().to_string()), false)
        }
        [to] => (Some(changed(shell.directory.as_deref(), to)), false),
        _ => return Done::failed(1, "cd: too many arguments"),
    };
    let Some(to) = to else { return Done::failed(1, "cd: HOME not set") };
    // What `..` takes back has to be a directory as well.
    let named = Path::new(operands.first().copied().unwrap_or_default());
    let ends = named.components().zip(1..).filter(|(component, _)| *component == Component::ParentDir);
    let mut taken_back = ends.map(|(_, end)| named.components().take(end - 1).collect::<PathBuf>());
    let checked = taken_back.try_for_each(|part| {
        exec::inspect::check_directory(Path::new(&changed(shell.directory.as_deref(), &part.display().to_string())))
    });
    match checked.and_then(|()| exec::inspect::check_directory(Path::new(&to))) {
        Ok(()) => {
            let before = shell.directory.replace(to);
            shell.previous = Some(Before(before));
            let line = if prints { format!("{}\n", absolute(shell.directory.as_deref())) } else { String::new() };
            Done::printed(line)
        }
        Err(error) => {
            let reason = match error.kind() {
                std::io::ErrorKind::NotFound => "No such file or directory",
                std::io::ErrorKind::NotADirectory => "Not a directory",
                _ => "Permission denied",
            };
            Done::failed(1, format_args!("{name}: {}: {reason}", operands.first().copied().unwrap_or(&to)))
        }
    }
}

/// Prints the directory of a shell and those that `pushd` has left, if the change has succeeded.
fn listed_directories(shell: &Shell, done: Done) -> Done {
    if done.status != 0 {
        return done;
    }
    let home = exec::variable("HOME").filter(|home| home.len() > 1);
    let shown = |directory: Option<&str>| {
        let path = absolute(directory);
        let below = home.as_ref().and_then(|home| path.strip_prefix(home.as_str()));
        match below.filter(|below| below.is_empty() || below.starts_with('/')) {
            Some(below) => format!("~{below}"),
            None => path,
        }
    };
    let left = shell.left.iter().rev().map(|Before(directory)| shown(directory.as_deref()));
    let all: Vec<String> = std::iter::once(shown(shell.directory.as_deref())).chain(left).collect();
    Done::printed(format!("{}\n", all.join(" ")))
}
