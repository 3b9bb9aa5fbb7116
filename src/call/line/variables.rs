//! Variables of lines: those that they may read, may not set, and may give to every program.

use climax_catalog::expansion::Lookup;
use climax_shell::is_name;

use crate::call::refusal::Refusal;

/// Variables of the environment that a line may read: none of them is a secret.
pub(crate) const READABLE: [&str; 22] = [
    "CARGO_HOME",
    "EDITOR",
    "GOPATH",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "LOGNAME",
    "NVM_DIR",
    "OSTYPE",
    "PAGER",
    "PATH",
    "RUSTUP_HOME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "USER",
    "VIRTUAL_ENV",
    "VISUAL",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];

/// Variables that a line may read and whose values are known once it runs.
pub(crate) const COMPUTED: [&str; 7] = ["PWD", "OLDPWD", "TMPDIR", "RANDOM", "UID", "EUID", "HOSTNAME"];

/// Variables that a line may not set, since they decide which programs run or what programs load.
const UNSETTABLE: [&str; 13] = [
    "PATH",
    "HOME",
    "IFS",
    "CDPATH",
    "PWD",
    "OLDPWD",
    "BASH_ENV",
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

/// Variables that change what programs print and record, and neither what they run nor what they read.
const HARMLESS: [&str; 37] = [
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "DEBUG",
    "DO_NOT_TRACK",
    "FORCE_COLOR",
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GOARCH",
    "GOOS",
    "GREP_COLOR",
    "GREP_COLORS",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LINES",
    "LS_COLORS",
    "MANWIDTH",
    "NEXT_TELEMETRY_DISABLED",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "SOURCE_DATE_EPOCH",
    "TERM",
    "TZ",
];

/// Values of variables that keep programs from starting a pager, an editor or hooks, from asking, from looking for news and
/// from downloading browsers, or that choose among ways of the same result.
const QUIET: [(&str, &[&str]); 52] = [
    ("ANSIBLE_NOCOWS", &["1"]),
    ("ANSIBLE_STDOUT_CALLBACK", &["debug", "default", "json", "minimal", "oneline", "yaml"]),
    ("AWS_PAGER", &["", "cat"]),
    ("BAT_PAGER", &["", "cat"]),
    ("BUILDKIT_PROGRESS", &["auto", "plain", "quiet", "tty"]),
    ("COMPOSE_DOCKER_CLI_BUILD", &["0", "1"]),
    ("CYPRESS_INSTALL_BINARY", &["0"]),
    ("DEBIAN_FRONTEND", &["noninteractive"]),
    ("DOCKER_BUILDKIT", &["0", "1"]),
    ("DOCKER_CLI_HINTS", &["false"]),
    ("DOCKER_DEFAULT_PLATFORM", &["linux/amd64", "linux/arm64"]),
    ("EDITOR", &["true", ":", "cat"]),
    ("GH_PAGER", &["", "cat"]),
    ("GH_PROMPT_DISABLED", &["1", "true"]),
    ("GIT_EDITOR", &["true", ":", "cat"]),
    ("GIT_LFS_SKIP_SMUDGE", &["1"]),
    ("GIT_MERGE_AUTOEDIT", &["no"]),
    ("GIT_OPTIONAL_LOCKS", &["0"]),
    ("GIT_PAGER", &["", "cat"]),
    ("GIT_SEQUENCE_EDITOR", &["true", ":", "cat"]),
    ("GIT_TERMINAL_PROMPT", &["0"]),
    ("GIT_TRACE", &["0", "1", "2", "true"]),
    ("GO111MODULE", &["auto", "off", "on"]),
    ("HOMEBREW_NO_ANALYTICS", &["1"]),
    ("HOMEBREW_NO_AUTO_UPDATE", &["1"]),
    ("HOMEBREW_NO_ENV_HINTS", &["1"]),
    ("HOMEBREW_NO_INSTALL_CLEANUP", &["1"]),
    ("HUSKY", &["0"]),
    ("LESS", &["", "-F", "-FRX", "-R", "FRX", "R"]),
    ("MANPAGER", &["", "cat"]),
    ("NODE_NO_WARNINGS", &["1"]),
    ("NPM_CONFIG_LOGLEVEL", &["silent", "error", "warn", "notice", "http", "info", "verbose"]),
    ("npm_config_loglevel", &["silent", "error", "warn", "notice", "http", "info", "verbose"]),
    ("PAGER", &["", "cat"]),
    ("PIP_DISABLE_PIP_VERSION_CHECK", &["1"]),
    ("PIP_NO_CACHE_DIR", &["1", "off", "true"]),
    ("PIP_NO_INPUT", &["1"]),
    ("PIP_REQUIRE_VIRTUALENV", &["1", "true"]),
    ("PIP_ROOT_USER_ACTION", &["ignore"]),
    ("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", &["1"]),
    ("PSQL_PAGER", &["", "cat"]),
    ("PUPPETEER_SKIP_DOWNLOAD", &["1", "true"]),
    ("PYTHONWARNINGS", &["always", "default", "error", "ignore"]),
    ("SYSTEMD_COLORS", &["0", "1"]),
    ("SYSTEMD_PAGER", &["", "cat"]),
    ("TF_INPUT", &["0", "false"]),
    ("TF_IN_AUTOMATION", &["1", "true"]),
    ("TF_LOG", &["", "ERROR", "INFO", "OFF", "WARN"]),
    ("UV_LINK_MODE", &["clone", "copy", "hardlink", "symlink"]),
    ("UV_NO_CACHE", &["1", "true"]),
    ("UV_NO_PROGRESS", &["1", "true"]),
    ("VISUAL", &["true", ":", "cat"]),
];

/// Whether every program may get a variable with this value from a line.
pub(crate) fn is_harmless(name: &str, value: &str) -> bool {
    is_harmless_always(name) || QUIET.iter().any(|(own, values)| *own == name && values.contains(&value))
}

/// Whether every program may get a variable from a line, whatever its value is.
fn is_harmless_always(name: &str) -> bool {
    HARMLESS.contains(&name) || name.starts_with("LC_")
}

/// Whether programs have a variable from the environment, so that they get what a line sets in its place.
pub(crate) fn is_inherited(name: &str, env: Lookup<'_>) -> bool {
    is_harmless_always(name) && env(name).is_some()
}

/// Checks that a line may set a variable.
///
/// # Errors
/// It may not.
pub(crate) fn check_settable(name: &str) -> Result<(), Refusal> {
    let is_held = UNSETTABLE.contains(&name)
        || name.starts_with("LD_")
        || name.starts_with("DYLD_")
        || name.starts_with("BASH_FUNC");
    let remedy = if name == "IFS" {
        "it decides how all that follows is split; write `IFS=… read -r …` for a line, or `while IFS= read -r line; do …; done`"
    } else if is_held {
        "it decides which programs run or what they load; leave it out"
    } else if OF_SHELL.contains(&name) {
        "a shell gives it a value of its own; use another name"
    } else {
        return Ok(());
    };
    Err(Refusal::new(format!("a line cannot set `{name}`"), remedy))
}

/// Checks that a line may set the variables which `env` would set for its program. Other commands set none.
///
/// # Errors
/// It may not set one of them.
pub(crate) fn check_set_by_env<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<(), Refusal> {
    let mut words = words.into_iter();
    if words.next() != Some("env") {
        return Ok(());
    }
    let assigned = |word: &'w str| word.split_once('=').map(|(name, _)| name).filter(|name| is_name(name));
    words.skip_while(|word| word.starts_with('-')).map_while(assigned).try_for_each(check_settable)
}
