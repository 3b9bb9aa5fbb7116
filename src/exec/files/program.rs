//! Finds programs by name, as `execvp` does.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf, absolute};

use climax_catalog::expansion::command_word;
use climax_catalog::{CliView, EnvValue};

use crate::exec::environment::variable;
use crate::exec::platform::is_executable;

/// Bytes of the first line of a script that the kernel reads.
///
/// Source: execve(2), "Interpreter scripts".
const MAX_INTERPRETER_BYTES: u64 = 256;

/// Finds the absolute path of a program.
///
/// A name with a slash is relative to `dir`, or to the server's directory if that is `None`. Any other name is looked
/// up in `search_path`, or in the server's `PATH`. A file that is not executable is returned only if no other is
/// found: then the start fails with the system's own error.
pub(crate) fn resolve(name: &str, search_path: Option<&OsStr>, dir: Option<&Path>) -> Option<PathBuf> {
    let base = absolute(dir.unwrap_or(Path::new("."))).ok()?;

    if name.contains('/') {
        let path = base.join(name);
        return path.exists().then_some(path);
    }

    let directories = directories(search_path);
    let files = || directories.iter().map(|dir| base.join(dir).join(name)).filter(|path| path.is_file());
    files().find(|path| is_executable(path)).or_else(|| files().next())
}

/// Returns the directories of a search path, or of the server's `PATH`.
fn directories(search_path: Option<&OsStr>) -> Vec<PathBuf> {
    let inherited = std::env::var_os("PATH");
    let search_path = search_path.or(inherited.as_deref()).unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    std::env::split_paths(search_path).collect()
}

/// Returns the interpreter that a script names in its first line, if there is no such file.
///
/// Without this look, the system's error for the script is the same as for a missing program.
pub(crate) fn missing_interpreter(script: &Path) -> Option<String> {
    let mut start = Vec::new();
    File::open(script).ok()?.take(MAX_INTERPRETER_BYTES).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let interpreter = std::str::from_utf8(line).ok()?.split_whitespace().next()?;
    (interpreter.starts_with('/') && !Path::new(interpreter).exists()).then(|| interpreter.to_owned())
}

/// Returns whether a word of a command line is a program: a path, or a name that is found on `PATH`.
#[must_use]
pub fn is_program(word: &str) -> bool {
    word.contains('/') || resolve(word, None, None).is_some_and(|path| is_executable(&path))
}

/// Returns the path of the program that a name or a path names.
pub(crate) fn path_of_program(word: &str) -> Option<PathBuf> {
    resolve(word, None, None).filter(|path| path.is_file() && is_executable(path))
}

/// Returns the paths of all programs of a name on the `PATH`, in its order; for a path, this one.
pub(crate) fn paths_of_program(word: &str) -> Vec<PathBuf> {
    if word.contains('/') {
        return path_of_program(word).into_iter().collect();
    }
    let files = directories(None).into_iter().map(|dir| dir.join(word));
    files.filter(|path| path.is_file() && is_executable(path)).collect()
}

/// Returns whether the first word of a command line names the program that a config names as `word`.
///
/// That is the same name, or a path to the file that would run.
#[must_use]
pub fn names_program(first: &str, word: &str) -> bool {
    // Most words are plain names, and a line is compared with many.
    if !first.contains('/') && !word.contains(['/', '$', '~']) {
        return first == word;
    }

    let word = command_word(word, &variable);
    if first == word || Path::new(&word).file_name().is_some_and(|name| name == first) {
        return true;
    }

    // The interpreter of an environment of Python is a link to that of the system, but finds other packages by its path.
    let is_of_environment = || environment_program(first).is_some();
    first.starts_with('/')
        && Path::new(first).file_name() == Path::new(&word).file_name()
        && resolve(&word, None, None).is_some_and(|path| {
            path == Path::new(first) || !is_of_environment() && is_same_file(&path, Path::new(first))
        })
}

/// Returns the name of a program that lies in an environment of Python, by its path; `None` elsewhere.
///
/// A relative path counts from the directory of this process.
#[must_use]
pub fn environment_program(path: &str) -> Option<&str> {
    let path = Path::new(path);
    python_environment(path)?;
    path.file_name()?.to_str()
}

/// Returns the program that another spelling of one names, if it is not that one: `pip3` if there is such a program, and for
/// `python3 -m pip` the `pip` beside that interpreter.
///
/// Run as it is typed, `python3 -m pip` would run a file `pip.py` of the directory.
#[must_use]
pub fn spelled_program(spelling: &[String], program: &str) -> Option<String> {
    match spelling {
        [name] => path_of_program(name).map(|_| name.clone()),
        [interpreter, option, ..] if option == "-m" => {
            let beside = path_of_program(interpreter)?.parent()?.join(program);
            (path_of_program(program).as_ref() != Some(&beside)).then(|| beside.display().to_string())
        }
        _ => None,
    }
}

/// Returns the name of a program of a package that npm has installed in a project, by its path; `None` elsewhere.
#[must_use]
pub fn package_program(path: &str) -> Option<&str> {
    let path = Path::new(path);
    let directory = path.parent().filter(|directory| directory.ends_with("node_modules/.bin"))?;
    path.file_name()?.to_str().filter(|_| directory.is_dir())
}

/// Returns the environment of Python that a program lies in, by its path; `None` elsewhere.
#[must_use]
pub fn python_environment(program: &Path) -> Option<&Path> {
    program.parent()?.parent().filter(|root| root.join("pyvenv.cfg").is_file())
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// Finds the program that `word` names in a config of `cli`.
#[must_use]
pub fn locate(cli: CliView<'_>, word: &str) -> Option<PathBuf> {
    let search_path = cli.env().filter_map(|(name, value)| match value {
        EnvValue::Literal(value) if name == "PATH" => Some(OsStr::new(value)),
        EnvValue::Literal(_) | EnvValue::From(_) | EnvValue::File(_) => None,
    });

    let search_path = search_path.last();
    resolve(&command_word(word, &variable), search_path, cli.working_dir().map(Path::new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn links_of_environments_of_python_are_other_programs() {
        let directory = tempfile::tempdir().unwrap();
        let link = |environment: &str| {
            let path = directory.path().join(environment).join("bin/sh");
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(resolve("sh", None, None).unwrap(), &path).unwrap();
            path.display().to_string()
        };
        let (plain, environment) = (link("plain"), link("environment"));
        std::fs::write(directory.path().join("environment/pyvenv.cfg"), "").unwrap();
        assert!(names_program(&plain, "sh"));
        assert!(!names_program(&environment, "sh"));
        assert!(names_program(&environment, &environment));
    }
}
