//! Runs foreign programs for their help: in a cage that reads, with a home directory of their own.

use std::future::pending;
use std::path::{Path, PathBuf};
use std::time::Duration;

use climax_catalog::policy::{Executor, Lines, Protection};
use climax_catalog::{Cage, Needs};
use climax_import::{self as import, MAX_HELP_BYTES};

use crate::call::cage;
use crate::exec::{
    self, End, Invocation, Limits, Rights, Runner, SpawnError, default_concurrency, path_of_program, variable,
};

/// Environment variables that disable pagers, colours, prompts, translations, line wrapping and justified text.
const ENVIRONMENT: [(&str, &str); 14] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("AWS_PAGER", "cat"),
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    ("COLUMNS", "500"),
    ("MANWIDTH", "200"),
    // Words that are spread over a line look like columns.
    ("MANOPT", "--nj --nh"),
    ("LC_ALL", "C.UTF-8"),
    ("LANGUAGE", "en"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Variables that a program in a cage gets from the user's environment. None holds a credential.
const INHERITED: [&str; 16] = [
    "PATH",
    "LANG",
    "TZ",
    "USER",
    "LOGNAME",
    "GOROOT",
    "GOPATH",
    "JAVA_HOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "NODE_PATH",
    "RUSTUP_TOOLCHAIN",
    "PYENV_VERSION",
    "MANPATH",
];

/// Variables that lead launchers to their toolchains where the home directory is another one.
const TOOLCHAINS: [(&str, &str); 5] = [
    ("CARGO_HOME", ".cargo"),
    ("RUSTUP_HOME", ".rustup"),
    ("PYENV_ROOT", ".pyenv"),
    ("NVM_DIR", ".nvm"),
    ("VOLTA_HOME", ".volta"),
];

/// Why a program printed nothing that can be read.
pub(super) enum Failure {
    /// It could not be started.
    Start(SpawnError),
    /// It was still running when its time was over.
    TimedOut,
}

/// Runs foreign programs, a limited number at once. Without cages on this system they run as the user would run them.
pub(crate) struct ScratchRunner {
    runner: Runner,
    is_caged: bool,
    variables: Vec<(String, String)>,
}

impl ScratchRunner {
    pub(crate) fn new() -> Self {
        let limits =
            Limits { stream_bytes: 2 * MAX_HELP_BYTES, grace: Duration::from_millis(200), ..Limits::default() };
        let runner = Runner::new(Executor::Local, limits, default_concurrency());
        let runner = runner.with_helper_processes().for_one_session();
        let is_caged =
            runner.find_isolation()().is_some_and(|isolation| isolation.holds(Cage::Read, Protection::default()));
        let mut variables = ENVIRONMENT.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        if is_caged {
            variables.extend(toolchain_variables());
            variables.push(("HOME".to_owned(), runner.temporary_directory()));
        }
        Self { runner, is_caged, variables }
    }

    /// Returns whether a cage holds what it runs.
    pub(super) fn is_caged(&self) -> bool {
        self.is_caged
    }

    /// Runs a command. Returns its standard output, or its standard error if that is empty, without escape sequences.
    pub(super) async fn output(&self, argv: Vec<String>, limit: Duration) -> Result<String, Failure> {
        let mut invocation = Invocation { env: self.variables.clone(), ..Invocation::new(argv, limit) };
        if self.is_caged {
            invocation.inherited = Some(INHERITED.map(str::to_owned).to_vec());
            invocation.confinement = Some(rights(&invocation.argv[0]));
        }

        let outcome = self.runner.run(&invocation, None, pending()).await.map_err(Failure::Start)?;
        if let End::TimedOut(_) = outcome.end {
            return Err(Failure::TimedOut);
        }

        let [stdout, stderr] = [outcome.stdout, outcome.stderr].map(|stream| import::clean(&stream.text()));
        Ok(if stdout.trim().is_empty() { stderr } else { stdout })
    }
}

/// Returns what a program may read: the system, the project, and where it is installed.
fn rights(program: &str) -> Rights {
    let own = path_of_program(program);
    let real = own.as_deref().and_then(|path| path.canonicalize().ok());
    let own = [own, real].into_iter().flatten();
    let own = own.filter_map(|path| Some(installed_in(&path)?.display().to_string()));
    let needs = Needs { read: own.collect(), ..Needs::default() };
    let project = exec::project_of(&exec::directory());
    let lines = Lines::default();
    let surroundings = cage::Surroundings { project: project.as_ref(), lines: &lines, env: &variable };
    cage::rights(Cage::Read, &needs, surroundings)
}

/// Returns the variables of [`TOOLCHAINS`], as they are or as their programs assume them.
fn toolchain_variables() -> impl Iterator<Item = (String, String)> {
    let home = variable("HOME").map(PathBuf::from);
    TOOLCHAINS.into_iter().filter_map(move |(name, directory)| {
        let assumed = || home.as_ref().map(|home| home.join(directory)).filter(|path| path.is_dir());
        let value = variable(name).or_else(|| assumed().map(|path| path.display().to_string()))?;
        Some((name.to_owned(), value))
    })
}

/// Returns the directory that holds a program with what it loads: that of its packages, the environment of Python that it
/// belongs to, or that of its file.
fn installed_in(path: &Path) -> Option<&Path> {
    let directory = path.parent()?;
    let is_packages = |path: &&Path| path.file_name().is_some_and(|name| name == "node_modules");
    directory.ancestors().find(is_packages).or_else(|| exec::python_environment(path)).or(Some(directory))
}
