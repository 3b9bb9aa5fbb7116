//! Where `cd` leads.

use std::path::{Component, Path, PathBuf};

use climax_catalog::expansion;
use climax_shell::{Body, Pipeline, parse};

/// Returns the directories of a line of `cd DIR` commands only, in order; `None` for every other line.
pub fn directory_change(line: &str, env: expansion::Lookup<'_>) -> Option<Vec<String>> {
    let script = parse(line).ok()?;
    if script.list.items.iter().any(|chain| chain.background.is_some()) {
        return None;
    }
    let directory = |pipeline: &Pipeline| {
        let [command] = pipeline.commands.as_slice() else { return None };
        let Body::Simple(simple) = &command.body else { return None };
        match simple.words.as_slice() {
            [cd, directory] if cd.plain() == Some("cd") => directory.literal(),
            _ => None,
        }
    };
    let chains = script.list.items.iter().flat_map(|chain| {
        let rest = chain.rest.iter().map(|(_, pipeline)| pipeline);
        std::iter::once(&chain.first).chain(rest)
    });
    let whole = |pipeline: &Pipeline| directory(pipeline).map(|directory| expansion::home(&directory, env));
    let found: Option<Vec<String>> = chains.map(whole).collect();
    found.filter(|found| !found.is_empty())
}

/// Returns the directory to which `cd` leads from another: `..` takes back a name, also one of a link.
///
/// Source: POSIX.1-2024, `cd`, step 8.
pub(crate) fn changed(from: Option<&str>, to: &str) -> String {
    let mut path = PathBuf::new();
    for component in Path::new(from.unwrap_or_default()).join(to).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if path.file_name().is_some() => drop(path.pop()),
            Component::ParentDir if path.has_root() => {}
            component => path.push(component),
        }
    }
    if path.as_os_str().is_empty() { ".".to_owned() } else { path.display().to_string() }
}
