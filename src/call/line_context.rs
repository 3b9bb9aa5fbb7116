//! What lines need to know of this machine.

use std::path::{Path, PathBuf};

use climax_catalog::{Cage, Policy, ResolvedTool, Risk, ToolIndex};

use crate::call::arguments::Input;
use crate::call::files::{FileUse, WriteMode};
use crate::call::line::{self, CommandWords, LineContext, Undescribed};
use crate::call::sight::Sight;
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
        let project = || exec::project_of(&exec::directory());
        let sight = Sight::under(self.policy, || project().map(|project| project.directory));
        let context = LineContext {
            env: &exec::variable,
            names_program: &exec::names_program,
            unknown: &|undescribed| {
                let Undescribed::Program(words) = undescribed else { return unknown.question_tool() };
                let tool = unknown.tool(words[0])?;
                let wider = match cage_of_described(self.index, words) {
                    Some(WiderCage::Workspace) => unknown.workspace_tool(),
                    Some(WiderCage::Network) => unknown.network_tool(),
                    None => None,
                };
                wider.or(Some(tool))
            },
            glob: &|pattern, directory, globs| sight.paths(pattern, Path::new(directory.unwrap_or_default()), globs),
            write_mode: &|path, file_use| write_mode(path, file_use, self.made),
            input,
            explains: true,
        };
        read(context)
    }
}

/// A cage for programs that are installed in the project, wider than that of others that no config describes.
enum WiderCage {
    /// `workspace`.
    Workspace,
    /// `workspace`, with network.
    Network,
}

/// Returns the cage of a program that is installed in the project, by what a config says of the program of the same name:
/// `.venv/bin/pytest`, `node_modules/.bin/jest`, and `.venv/bin/pip install six`, which downloads what it installs.
///
/// The described program runs the code of the project in that cage too. Where it runs in none, what the config says of it does
/// not hold for another program.
fn cage_of_described(index: &ToolIndex, words: &[&str]) -> Option<WiderCage> {
    if let Some(name) = exec::environment_program(words[0]) {
        let described = described(index, &[&[name], &words[1..]].concat())?;
        let needs = described.needs()?;
        return match needs.cage {
            _ if needs.has_network() && described.written_risk() == Some(Risk::Write) => Some(WiderCage::Network),
            Some(Cage::Workspace) => Some(WiderCage::Workspace),
            _ => None,
        };
    }
    let name = exec::package_program(words[0])?;
    let described = described(index, &[&["npx", name], &words[1..]].concat())?;
    (described.needs()?.cage == Some(Cage::Workspace)).then_some(WiderCage::Workspace)
}

/// Returns the tool that runs words.
fn described<'i>(index: &'i ToolIndex, words: &[&str]) -> Option<ResolvedTool<'i>> {
    let command = CommandWords {
        words,
        variables: &[],
        input: Input::Nothing,
        names_program: &exec::names_program,
        unknown: &|_| None,
        explains: false,
    };
    line::read(index, command).ok().map(|reading| reading.tool)
}

/// Returns what a redirection would do to a file that it writes; `None` if it reads.
///
/// `made` are files and directories that the session has made.
pub(crate) fn write_mode(path: &Path, file_use: FileUse, made: &[PathBuf]) -> Option<WriteMode> {
    if !file_use.writes() {
        return None;
    }

    let project = exec::project_of(&exec::directory());
    let is_made = || {
        let real = exec::paths::real(&exec::directory().join(path));
        real.is_ok_and(|real| made.iter().any(|made| real.starts_with(made)))
    };
    Some(match exec::place_of(path, project.as_ref().map(|project| project.directory.as_path())) {
        exec::Place::Protected => WriteMode::Protected,
        exec::Place::New => WriteMode::Create,
        exec::Place::Existing if file_use == FileUse::Append => WriteMode::Append,
        exec::Place::Existing if is_made() => WriteMode::Rewrite,
        exec::Place::Existing => WriteMode::Replace,
    })
}
