//! What lines need to know of this machine.

use std::path::{Path, PathBuf};

use climax_catalog::{Policy, Risk, ToolIndex};

use crate::call::arguments::Input;
use crate::call::files::WriteMode;
use crate::call::line::{self, CommandWords, LineContext, Undescribed};
use crate::call::unknown::UnknownPrograms;
use crate::exec::{self, FindIsolation};

/// What is served, and by which means.
#[derive(Clone, Copy, Debug)]
pub struct Served<'s> {
    /// The tools. The policy has been applied to them.
    pub index: &'s ToolIndex,
    /// The policy.
    pub policy: &'s Policy,
    /// Finds the means by which programs are held, `None` if there are none. Not asked where no program needs a cage, because
    /// finding them takes a good part of the time of judging a line.
    pub isolation: FindIsolation,
    /// The files that the session has made.
    pub made: &'s [PathBuf],
}

impl Served<'_> {
    /// Calls a function with what a line needs to know of this machine. `input` is the standard input of its first command.
    pub fn with_context<T>(self, input: Input<'_>, read: impl FnOnce(LineContext<'_>) -> T) -> T {
        let unknown = UnknownPrograms::permitted(self.policy, self.index, self.isolation);
        let context = LineContext {
            env: &exec::variable,
            names_program: &exec::names_program,
            unknown: &|undescribed| {
                let Undescribed::Program(words) = undescribed else { return unknown.question_tool() };
                let tool = unknown.tool(words[0])?;
                let network_tool = if installs(self.index, words) { unknown.network_tool() } else { None };
                network_tool.or(Some(tool))
            },
            glob: &|pattern, directory| exec::glob::expand(pattern, Path::new(directory.unwrap_or_default())),
            write_mode: &|path, appends| write_mode(path, appends, self.made),
            input,
            explains: true,
        };
        read(context)
    }
}

/// Returns whether a program of an environment of Python is one that installs what it downloads, as a config describes the
/// program of the same name: `.venv/bin/pip install six`.
///
/// In a cage without network it could not, and what the config describes holds the program less than a cage does.
fn installs(index: &ToolIndex, words: &[&str]) -> bool {
    let Some(name) = exec::environment_program(words[0]) else { return false };
    let words: Vec<&str> = [name].into_iter().chain(words[1..].iter().copied()).collect();
    let command = CommandWords {
        words: &words,
        variables: &[],
        input: Input::Nothing,
        names_program: &exec::names_program,
        unknown: &|_| None,
        explains: false,
    };
    let reading = line::read(index, command);
    reading.is_ok_and(|reading| {
        reading.tool.written_risk() == Some(Risk::Write)
            && reading.tool.needs().is_some_and(|needs| needs.has_network())
    })
}

/// Returns what a redirection would do to a file. `made` are files and directories that the session has made.
pub(crate) fn write_mode(path: &Path, appends: bool, made: &[PathBuf]) -> WriteMode {
    let home = exec::variable("HOME");
    let project = exec::project(&exec::directory(), home.as_deref().map(Path::new));
    match exec::place_of(path, project.as_ref().map(|project| project.directory.as_path())) {
        exec::Place::Protected => WriteMode::Protected,
        exec::Place::New => WriteMode::Create,
        exec::Place::Existing if appends => WriteMode::Append,
        exec::Place::Existing
            if exec::paths::real(&exec::directory().join(path))
                .is_ok_and(|real| made.iter().any(|made| real.starts_with(made))) =>
        {
            WriteMode::Rewrite
        }
        exec::Place::Existing => WriteMode::Replace,
    }
}
