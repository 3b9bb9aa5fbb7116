//! Checks that the paths of a call are in the directories that policies permit.
//!
//! Pure: the caller resolves paths. The check is of the files as they are now. A program that runs later may find others.

use std::path::{Path, PathBuf};

use climax_catalog::expansion::{Lookup, policy_path};
use climax_catalog::{ArgView, Place, ResolvedTool, RuleView};

use crate::call::arguments::{Bound, BoundValue, Problem, Violation, echo, violations_of_values};
use crate::call::command_line;

/// What paths mean on this machine.
#[derive(Clone, Copy)]
pub(crate) struct Machine<'a> {
    /// The directory of this process.
    pub(crate) directory: &'a Path,
    /// Looks up variables.
    pub(crate) env: Lookup<'a>,
    /// Returns what an absolute path names, or a sentence why that is unknown.
    pub(crate) real: &'a dyn Fn(&Path) -> Result<PathBuf, String>,
}

/// Returns the paths that are in none of the directories of a rule. An absent `cwd` stands for the directory of the call.
pub(crate) fn violations(tool: ResolvedTool<'_>, bound: &Bound<'_>, machine: Machine<'_>) -> Vec<Violation> {
    let child = command_line::directory_of_call(tool, bound, machine.env);
    let child = child.map_or_else(|| machine.directory.to_owned(), |own| machine.directory.join(own));
    let of_arg = |arg: ArgView<'_>| {
        let rules: Vec<Vec<&str>> = arg.rules().map(|rule: RuleView<'_>| rule.within().collect()).collect();
        let rules: Vec<Vec<&str>> = rules.into_iter().filter(|within| !within.is_empty()).collect();
        let problems = |word: &str, path: &Path, base: &Path| {
            rules.iter().filter_map(|within| problem(word, path, within, base, machine)).collect::<Vec<_>>()
        };
        let name = arg.name();
        let of_value = |value: &BoundValue| match arg.place() {
            Place::Cwd => violations_of_values(name, value, |word| problems(word, &child, machine.directory)),
            _ if rules.is_empty() => Vec::new(),
            _ => violations_of_values(name, value, |word| match plain(word) {
                Ok(()) => problems(word, &child.join(word), &child),
                Err(problem) => vec![problem],
            }),
        };
        // A line may give an option several times.
        let values: Vec<&BoundValue> =
            bound.iter().filter(|(other, _)| other.name() == name).map(|(_, value)| value).collect();
        if values.is_empty() && arg.place() == Place::Cwd {
            let found = problems(&child.display().to_string(), &child, machine.directory);
            return found.into_iter().map(|problem| of_absent_directory(name, problem)).collect();
        }
        values.into_iter().flat_map(of_value).collect::<Vec<_>>()
    };
    tool.args().flat_map(of_arg).collect()
}

fn of_absent_directory(name: &str, problem: Problem) -> Violation {
    let because = Box::new(Violation { argument: name.to_owned(), problem });
    Violation { argument: name.to_owned(), problem: Problem::ForbiddenDirectory { because } }
}

/// Returns why a path is refused; `None` if it is in one of the directories.
fn problem(word: &str, path: &Path, within: &[&str], base: &Path, machine: Machine<'_>) -> Option<Problem> {
    let real = match (machine.real)(path) {
        Ok(real) => real,
        Err(reason) => return Some(Problem::Unresolvable { value: echo(word), reason }),
    };
    let permitted = |directory: &&str| {
        let directory = base.join(policy_path(directory, machine.env));
        (machine.real)(&directory).is_ok_and(|directory| real.starts_with(directory))
    };
    let is_inside = within.iter().any(permitted);
    let directories = within.iter().map(|directory| (*directory).to_owned()).collect();

    (!is_inside).then(|| Problem::Outside { value: echo(word), directories })
}

/// Checks that a value is a path and nothing more. Programs read what stands behind `@`, `:` or `=` as a path too, and
/// expand `~`.
///
/// # Errors
/// The problem.
fn plain(word: &str) -> Result<(), Problem> {
    let starts_another = |(at, _): (usize, char)| word[at + 1..].starts_with(['/', '~']);
    let has_another = word.char_indices().filter(|(_, c)| ":=,@".contains(*c)).any(starts_another);
    if has_another || word.starts_with(['~', '@']) {
        let reason = "write a plain path, without `~`, and without `@`, `:`, `=` or `,` before it".to_owned();
        return Err(Problem::Unresolvable { value: echo(word), reason });
    }
    Ok(())
}
