//! What a cage permits: the files of the system and of toolchains, the project, and what the needs of a tool add.
//!
//! Pure: the caller passes the environment and the project.

use std::path::PathBuf;

use climax_catalog::expansion::{Lookup, policy_path};
use climax_catalog::policy::Lines;
use climax_catalog::{Cage, Needs};

use crate::exec::{CageRights, Project, Readable, Rights, SYSTEM_FILES, SecretDepth};

/// Toolchains and package caches below the home directory, without the files in which they keep credentials.
const TOOLCHAINS: [&str; 67] = [
    ".asdf/installs",
    ".asdf/shims",
    ".bun/bin",
    ".bun/install/cache",
    ".cabal/packages",
    ".cache/deno",
    ".cache/go-build",
    ".cache/node",
    ".cache/pip",
    ".cache/pnpm",
    ".cache/pre-commit",
    ".cache/pypoetry/virtualenvs",
    ".cache/uv",
    ".cache/yarn",
    ".cargo/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".conda/envs",
    ".conda/pkgs",
    ".deno",
    ".dotnet",
    ".elan",
    ".fnm",
    ".gem/ruby",
    ".ghcup",
    ".goenv",
    ".gradle/caches",
    ".gradle/wrapper",
    ".jenv",
    ".julia/juliaup",
    ".julia/packages",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv/python",
    ".local/share/uv/tools",
    ".local/share/virtualenvs",
    ".m2/repository",
    ".m2/wrapper",
    ".nix-profile",
    ".npm/_cacache",
    ".npm-global",
    ".nuget/packages",
    ".nvm",
    ".opam",
    ".pub-cache/hosted",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rvm",
    ".sdkman/candidates",
    ".stack/programs",
    ".volta",
    "anaconda3",
    "go/bin",
    "go/pkg",
    "mambaforge",
    "miniconda3",
    "miniforge3",
    "sdk",
];

/// Variables that name the directory of a toolchain, with the parts of it that may be read.
const TOOLCHAIN_VARIABLES: [(&str, &[&str]); 11] = [
    ("CARGO_HOME", &["bin", "config", "config.toml", "env", "git", "registry"]),
    ("RUSTUP_HOME", &[""]),
    ("PYENV_ROOT", &[""]),
    ("NVM_DIR", &[""]),
    ("GOROOT", &[""]),
    ("GOPATH", &["bin", "pkg"]),
    ("GOMODCACHE", &[""]),
    ("JAVA_HOME", &[""]),
    ("VIRTUAL_ENV", &[""]),
    ("CONDA_PREFIX", &[""]),
    ("VOLTA_HOME", &[""]),
];

/// Variables of toolchains and of their settings, which every caged program gets. None holds a credential.
pub(super) const VARIABLES: [&str; 31] = [
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "PYTHONPATH",
    "PYTHONUNBUFFERED",
    "NVM_DIR",
    "NODE_ENV",
    "NODE_PATH",
    "GOROOT",
    "GOPATH",
    "GOFLAGS",
    "GOMODCACHE",
    "CGO_ENABLED",
    "JAVA_HOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "VOLTA_HOME",
    "LD_LIBRARY_PATH",
    "PKG_CONFIG_PATH",
    "SHELL",
    "PWD",
    "CI",
    "COLORTERM",
    "COLUMNS",
    "NO_COLOR",
    "FORCE_COLOR",
];

/// What surrounds a caged call.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'s> {
    /// The project, if there is one.
    pub(crate) project: Option<&'s Project>,
    /// What the policy says about secrets.
    pub(crate) lines: &'s Lines,
    /// Looks up variables of the server's environment.
    pub(crate) env: Lookup<'s>,
}

/// Returns what a program may do in a cage.
pub(crate) fn rights(cage: Cage, needs: &Needs, surroundings: Surroundings<'_>) -> Rights {
    let Surroundings { project, lines, env } = surroundings;

    let directory = project.map(|project| project.directory.clone());
    let mut read: Vec<PathBuf> = SYSTEM_FILES.iter().map(PathBuf::from).collect();
    read.extend(toolchains(env));
    read.extend(project.into_iter().flat_map(|project| &project.repository).cloned());
    read.extend(needs.read.iter().map(|path| policy_path(path, env).into()));
    read.extend(directory.clone());

    let mut write: Vec<PathBuf> = needs.write.iter().map(|path| policy_path(path, env).into()).collect();
    write.extend(directory.clone().filter(|_| cage == Cage::Workspace));
    for paths in [&mut read, &mut write] {
        paths.retain(|path| path.is_absolute());
    }

    let in_project = |path: &PathBuf| directory.as_ref().is_some_and(|top| path.starts_with(top));
    let frozen = search_path(env).filter(in_project).collect();
    let (secrets, open) = (lines.secrets.clone(), lines.open.clone());
    Rights {
        read: Readable::Listed(read),
        write,
        network: needs.has_network(),
        local_sockets: needs.has_local_sockets(),
        metadata: true,
        cage: Some(CageRights {
            cage,
            project: directory,
            frozen,
            tracked: needs.tracked,
            depth: SecretDepth::Near,
            secrets,
            open,
        }),
    }
}

/// Returns variables of a caged call that keep programs from files which they cannot read, and without which they run.
pub(crate) fn variables(needs: &Needs) -> impl Iterator<Item = (String, String)> {
    // Git ends if its user's configuration exists and cannot be read, and many programs start git.
    let reads_git = needs.read.iter().any(|path| path.ends_with(".gitconfig"));
    let configuration = (!reads_git).then_some(("GIT_CONFIG_GLOBAL", "/dev/null"));
    // `git status` would write its index for later.
    let variables = configuration.into_iter().chain([("GIT_OPTIONAL_LOCKS", "0")]);
    variables.map(|(name, value)| (name.to_owned(), value.to_owned()))
}

/// Returns the directories of `PATH`. A later call, outside of any cage, could find a program in one of them.
fn search_path(env: Lookup<'_>) -> impl Iterator<Item = PathBuf> {
    let path = env("PATH").unwrap_or_default();
    std::env::split_paths(&path).collect::<Vec<_>>().into_iter()
}

/// Returns where toolchains may be: in the home directory, where variables name them, and on `PATH`.
fn toolchains(env: Lookup<'_>) -> Vec<PathBuf> {
    let home = env("HOME").map(PathBuf::from);
    let of_home = home.iter().flat_map(|home| TOOLCHAINS.iter().map(|name| home.join(name)));

    // A variable that names the home directory, or one above it, would open everything in it.
    let is_narrow = |path: &PathBuf| {
        let holds_home = home.as_ref().is_some_and(|home| home.starts_with(path));
        path.is_absolute() && path.parent().is_some() && !holds_home
    };
    let named = TOOLCHAIN_VARIABLES.iter().flat_map(|(variable, parts)| {
        let root = env(variable).map(PathBuf::from).filter(is_narrow);
        root.into_iter().flat_map(|root| parts.iter().map(move |part| root.join(part)))
    });

    of_home.chain(named).chain(search_path(env).filter(is_narrow)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_variables_nor_the_search_path_open_the_home_directory() {
        let env = |name: &str| match name {
            "HOME" | "VIRTUAL_ENV" => Some("/home/ada".to_owned()),
            "CARGO_HOME" => Some("/home".to_owned()),
            "GOROOT" => Some("relative".to_owned()),
            "NVM_DIR" => Some("/home/ada/nvm".to_owned()),
            "PATH" => Some("/:/home/ada:/home/ada/bin::bin".to_owned()),
            _ => None,
        };
        let paths = toolchains(&env);
        for path in ["/", "/home", "/home/ada", "/home/bin", "relative", "bin", ""] {
            assert!(!paths.contains(&PathBuf::from(path)), "{path}");
        }
        for path in ["/home/ada/nvm", "/home/ada/bin", "/home/ada/.rustup", "/home/ada/.cargo/bin"] {
            assert!(paths.contains(&PathBuf::from(path)), "{path}");
        }
        assert!(paths.iter().all(|path| !path.ends_with(".cargo/credentials.toml") && !path.ends_with(".cargo")));
    }

    #[test]
    fn only_the_workspace_cage_writes_in_the_project() {
        let project = Project { directory: "/srv/p".into(), repository: vec!["/srv/main/.git".into()] };
        let lines = Lines::default();
        let surroundings = |project| Surroundings { project, lines: &lines, env: &|_| None };
        let needs = Needs { write: vec!["/var/x".to_owned(), "$UNSET/y".to_owned()], ..Needs::default() };
        let of = |cage, project| rights(cage, &needs, surroundings(project));
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(of(Cage::Read, Some(&project)).write, paths(&["/var/x"]));
        assert_eq!(of(Cage::Workspace, Some(&project)).write, paths(&["/var/x", "/srv/p"]));
        assert_eq!(of(Cage::Workspace, None).write, paths(&["/var/x"]));
        let Readable::Listed(read) = of(Cage::Read, Some(&project)).read else { panic!("a cage reads by a list") };
        assert!(read.contains(&"/srv/p".into()) && read.contains(&"/srv/main/.git".into()), "{read:?}");
    }
}
