//! What a call changes on this machine, as far as the effects of its tool say it: protected names, files of the project,
//! and temporary files.

use std::path::{Path, PathBuf};

use climax_catalog::{Effects, Place, ResolvedTool, Risk};

use crate::call::arguments::{Bound, BoundValue};
use crate::call::{files, risk};
use crate::exec::{self, Area};

/// What a call changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// The first path that other programs load or run without being asked.
    pub(crate) protected: Option<PathBuf>,
    /// Whether the call is destructive for single files of the project alone.
    pub(crate) project: ProjectChange,
    /// The temporary files that it may make.
    pub(crate) temporary: Vec<PathBuf>,
    /// The directories that hold all that it changes: the project and those for temporary files. Empty if it may change
    /// more, or if nothing is known about that.
    pub(crate) places: Vec<PathBuf>,
}

/// Whether a call is destructive only because it replaces, moves or removes single files of the project, or what the
/// session has made among the temporary files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ProjectChange {
    /// It is not, or nothing is known about that.
    #[default]
    Other,
    /// It is.
    Files,
    /// It is, if git ignores all of these directories.
    Directories(Vec<PathBuf>),
}

/// Returns what a call changes. `directory` is where its program runs, and `project` returns a path without links; it is
/// looked for only if the call names files that it changes. `made` returns what the session has made.
pub(crate) fn changes<'p>(
    tool: ResolvedTool<'_>,
    bound: &Bound<'_>,
    directory: &Path,
    project: impl FnOnce() -> Option<&'p Path>,
    made: impl FnOnce() -> Vec<PathBuf>,
) -> Changes {
    let Some(effects) = tool.effects().filter(|_| risk::of_call(tool, bound) > Risk::Read) else {
        return Changes::default();
    };
    if overwrites_nothing(tool, bound, &effects, directory) {
        return Changes { project: ProjectChange::Files, ..Changes::default() };
    }
    if effects.files.is_empty() && effects.populates.is_empty() {
        return Changes::default();
    }
    let project = project();
    if populates_an_empty_directory(tool, bound, &effects, directory, project) {
        let places = places(tool, bound, &for_populating(&effects), project);
        return Changes { project: ProjectChange::Files, places, ..Changes::default() };
    }
    if effects.files.is_empty() {
        return Changes::default();
    }
    let given = texts(bound, &effects.files);
    let named = given.iter().filter(|text| !files::is_stream(text)).map(|text| directory.join(text));
    let named: Vec<PathBuf> = named.collect();

    let targets = targets(bound, &named);
    let areas: Vec<Area> = targets.iter().map(|path| exec::area_of(path, project)).collect();
    let protected = areas.iter().position(|area| *area == Area::Protected).map(|at| targets[at].clone());
    let protected = protected
        .or_else(|| put_under_protected_name(bound, &named, project))
        .or_else(|| protected_in_trees(bound, &effects, &targets, project));
    let temporary = targets.iter().zip(&areas).filter(|(_, area)| **area == Area::Temporary);
    let temporary: Vec<PathBuf> = temporary.map(|(path, _)| path.clone()).collect();
    let made = if temporary.is_empty() { Vec::new() } else { made() };
    let is_made = |path: &Path| exec::real_path(path).is_ok_and(|real| made.iter().any(|made| real.starts_with(made)));
    // What is not there yet is looked at again when the call is due.
    let is_own = |(path, area): (&PathBuf, &Area)| match area {
        Area::Project => true,
        Area::Temporary => !exec::is_there(path) || is_made(path),
        Area::Protected | Area::Elsewhere => false,
    };

    let is_all = !given.is_empty()
        && targets.iter().zip(&areas).all(is_own)
        && protected.is_none()
        && risk_beside(tool, bound, &for_files(&effects)) < Risk::Destructive;
    if !is_all {
        return Changes { protected, temporary, ..Changes::default() };
    }
    // A stream may be any file, by a redirection.
    let is_named = named.len() == given.len();
    let places = if is_named { places(tool, bound, &for_files(&effects), project) } else { Vec::new() };
    let of_project: Vec<PathBuf> = targets.into_iter().filter(|path| !is_made(path)).collect();

    Changes { protected, project: project_change(bound, &effects, &of_project, project), temporary, places }
}

/// Returns the directories that hold all that a call changes, if `args` alone name what it changes, and these name files
/// of the project and temporary files. Its config has to say what the program needs, and no places of its own among that;
/// hooks of a repository may change anything.
fn places(tool: ResolvedTool<'_>, bound: &Bound<'_>, args: &[&[String]], project: Option<&Path>) -> Vec<PathBuf> {
    let is_among = |name: &str| args.iter().copied().flatten().any(|own| own == name);
    let mut rest = bound.iter().filter(|(arg, _)| !is_among(arg.name()));
    let changes_more = rest.any(|(arg, value)| risk::of_argument(arg, value).is_some_and(|risk| risk > Risk::Read));
    let has_own_places = tool.needs().is_none_or(|needs| !needs.write.is_empty() || needs.cage.is_some());
    if changes_more || has_own_places || risk::may_run_hooks(tool, risk::of_call(tool, bound)) {
        return Vec::new();
    }
    project.map(Path::to_owned).into_iter().chain(exec::temporary_directories()).collect()
}

/// Returns the texts of the args with these names.
fn texts<'b>(bound: &'b Bound<'_>, names: &[String]) -> Vec<&'b str> {
    let given = bound.iter().filter(|(arg, _)| names.iter().any(|name| name == arg.name()));
    given.flat_map(|(_, value)| value.texts()).collect()
}

/// Returns whether a call could overwrite the files alone that some of its args name, and none of them is there.
///
/// A name with the signs of a pattern, or of git's longer form of path specifications, may stand for files that are there.
fn overwrites_nothing(tool: ResolvedTool<'_>, bound: &Bound<'_>, effects: &Effects, directory: &Path) -> bool {
    let named = texts(bound, &effects.overwrites);
    let is_missing = |name: &&str| {
        !name.is_empty() && !name.contains(['*', '?', '[', '\\', ':']) && !exec::is_there(&directory.join(name))
    };
    !named.is_empty()
        && named.iter().all(is_missing)
        && risk_beside(tool, bound, &for_files(effects)) < Risk::Destructive
}

/// Returns whether a call is destructive, if at all, only for files in a directory in which nothing is.
///
/// A directory with files would not do, even if the session has made all of them: one may be a link, by which the program
/// gets elsewhere.
fn populates_an_empty_directory(
    tool: ResolvedTool<'_>,
    bound: &Bound<'_>,
    effects: &Effects,
    directory: &Path,
    project: Option<&Path>,
) -> bool {
    if effects.populates.is_empty() || risk_beside(tool, bound, &for_populating(effects)) >= Risk::Destructive {
        return false;
    }
    let populated = match texts(bound, &effects.populates).as_slice() {
        [] => directory.to_owned(),
        [one] => directory.join(one),
        // Each may count from the one before.
        _ => return false,
    };
    let is_project = || populated.canonicalize().ok().as_deref() == project;
    let is_empty = || populated.read_dir().is_ok_and(|mut entries| entries.next().is_none());

    let area = exec::area_of(&populated, project);
    matches!(area, Area::Project | Area::Temporary) && (!exec::is_there(&populated) || is_empty() && !is_project())
}

/// Returns what replacing a file by a redirection changes.
pub(crate) fn of_redirection(path: &Path, project: Option<&Path>) -> Changes {
    match exec::area_of(path, project) {
        Area::Protected => Changes { protected: Some(path.to_owned()), ..Changes::default() },
        Area::Project => Changes { project: ProjectChange::Files, ..Changes::default() },
        _ => Changes::default(),
    }
}

/// Returns whether a call is destructive, if at all, only for the files that it names.
pub(crate) fn depends_on_files_alone(tool: ResolvedTool<'_>, bound: &Bound<'_>) -> bool {
    let Some(effects) = tool.effects().filter(Effects::rest_on_files) else { return false };
    let risk = |reasons: &[&[String]]| risk_beside(tool, bound, reasons);
    risk(&for_files(&effects)).min(risk(&for_populating(&effects))) < Risk::Destructive
}

/// Returns the args that have a risk for the files that they name.
fn for_files(effects: &Effects) -> [&[String]; 4] {
    [&effects.files, &effects.overwrites, &effects.by, &effects.trees]
}

/// Returns the args that have a risk for the directory that the program populates.
fn for_populating(effects: &Effects) -> [&[String]; 2] {
    [&effects.populates, &effects.populates_by]
}

/// Returns the risk that a call has for other reasons than some of its args.
fn risk_beside(tool: ResolvedTool<'_>, bound: &Bound<'_>, args: &[&[String]]) -> Risk {
    let is_among = |name: &str| args.iter().copied().flatten().any(|own| own == name);
    let rest = bound.iter().filter(|(arg, _)| !is_among(arg.name()));
    rest.filter_map(|(arg, value)| risk::of_argument(arg, value)).max().unwrap_or(tool.risk().min(Risk::Write))
}

/// Returns a protected name at the top of a directory that is changed with all that is in it.
fn protected_in_trees(
    bound: &Bound<'_>,
    effects: &Effects,
    named: &[PathBuf],
    project: Option<&Path>,
) -> Option<PathBuf> {
    let entries = named.iter().filter(|_| covers_trees(bound, effects)).filter_map(|path| path.read_dir().ok());
    let mut paths = entries.flatten().flatten().map(|entry| entry.path());
    paths.find(|path| exec::area_of(path, project) == Area::Protected)
}

/// The arg that names what is copied or moved, in configs of `cp` and its kin.
const SOURCE: &str = "source";

/// Returns what a call replaces: in a directory to which others are copied or moved, what has their names there.
fn targets(bound: &Bound<'_>, named: &[PathBuf]) -> Vec<PathBuf> {
    let sources = bound.get(SOURCE).map(BoundValue::texts).unwrap_or_default();
    // What ends in a period stands for all that is in it.
    let entries: Option<Vec<_>> =
        sources.into_iter().map(|text| Path::new(text).file_name().filter(|_| !text.ends_with('.'))).collect();
    let is_itself = bound.gives("no_target_directory");
    let Some(entries) = entries.filter(|entries| !entries.is_empty() && !is_itself) else { return named.to_vec() };
    let within = |path: &PathBuf| entries.iter().map(|name| path.join(name)).collect();
    named.iter().flat_map(|path| if path.is_dir() { within(path) } else { vec![path.clone()] }).collect()
}

/// Returns whether a call changes whole directories.
fn covers_trees(bound: &Bound<'_>, effects: &Effects) -> bool {
    effects.always_covers_trees() || effects.trees.iter().any(|name| bound.gives(name))
}

fn project_change(bound: &Bound<'_>, effects: &Effects, named: &[PathBuf], project: Option<&Path>) -> ProjectChange {
    let directories: Vec<PathBuf> = named.iter().filter(|path| path.is_dir()).cloned().collect();
    if !covers_trees(bound, effects) || directories.is_empty() {
        return ProjectChange::Files;
    }
    let is_project = |path: &PathBuf| path.canonicalize().ok().as_deref() == project;
    if directories.iter().any(is_project) { ProjectChange::Other } else { ProjectChange::Directories(directories) }
}

/// Returns the path that a file gets in a directory at the top of the project, if its name is a protected one there.
fn put_under_protected_name(bound: &Bound<'_>, named: &[PathBuf], project: Option<&Path>) -> Option<PathBuf> {
    let top =
        named.iter().find(|path| path.canonicalize().ok().as_deref().is_some_and(|path| Some(path) == project))?;
    let operands = bound.iter().filter(|(arg, _)| arg.place() == Place::Positional);
    let file_names = operands.flat_map(|(_, value)| value.texts()).filter_map(|text| Path::new(text).file_name());
    file_names.map(|name| top.join(name)).find(|path| exec::area_of(path, project) == Area::Protected)
}
