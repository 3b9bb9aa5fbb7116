//! Variables of lines: those that they may read, may not set, and may give to every program.

use climax_catalog::expansion::Lookup;

/// Variables of the environment that a line may read.
pub(crate) const READABLE: [&str; 5] = ["HOME", "USER", "LOGNAME", "TMPDIR", "LANG"];

/// Variables that a line may not set, since they decide which programs run or what programs load.
const UNSETTABLE: [&str; 14] = [
    "PATH",
    "HOME",
    "IFS",
    "CDPATH",
    "PWD",
    "OLDPWD",
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "GLOBIGNORE",
    "SHELL",
    "PIPESTATUS",
    "GLIBC_TUNABLES",
];

/// Variables that a shell gives values of its own, whatever a line says.
const OF_SHELL: [&str; 15] = [
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "LINENO",
    "UID",
    "EUID",
    "PPID",
    "BASHPID",
    "GROUPS",
    "DIRSTACK",
    "FUNCNAME",
    "HISTCMD",
    "BASH_SUBSHELL",
];

/// Variables that change what programs print, and neither what they run nor what they read.
const HARMLESS: [&str; 24] = [
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "DEBUG",
    "FORCE_COLOR",
    "GOARCH",
    "GOOS",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// Whether every program may get a variable from a line.
pub(crate) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || name.starts_with("LC_")
}

/// Whether programs have a variable from the environment, so that they get what a line sets in its place.
pub(crate) fn is_inherited(name: &str, env: Lookup<'_>) -> bool {
    is_harmless(name) && env(name).is_some()
}

/// Returns why a line may not set a variable; `None` if it may.
pub(crate) fn unsettable(name: &str) -> Option<(String, String)> {
    let is_held = UNSETTABLE.contains(&name)
        || name.starts_with("LD_")
        || name.starts_with("DYLD_")
        || name.starts_with("BASH_FUNC");
    let remedy = if is_held {
        "it decides which programs run or what they load; leave it out"
    } else if OF_SHELL.contains(&name) {
        "a shell gives it a value of its own; use another name"
    } else {
        return None;
    };
    Some((format!("a line cannot set `{name}`"), remedy.to_owned()))
}
