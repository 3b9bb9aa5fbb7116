//! Tells files with secrets by their names, which a cage hides.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use climax_catalog::policy::NamePattern;

#[cfg(native_linux)]
use super::rights::CageRights;
use super::secret_lists::{
    DEVICES, FOREIGN, NO_SECRETS, SECRET_DIRECTORIES, SECRET_EXAMPLES, SECRETS, SECRETS_BY_CONTENT, SYSTEM_SECRETS,
    TOKEN_DIRECTORIES, TOKENS,
};
use crate::exec::environment::variable;

/// Most entries of directories among which secrets are looked for.
const MAX_SEEN_ENTRIES: usize = 2_000;

/// Most entries of a project among which secrets are looked for to hide them.
#[cfg(native_linux)]
const MAX_HIDDEN_ENTRIES: usize = 50_000;

/// How much of a file is read to tell whether it is a secret, in bytes.
const HEAD_BYTES: u64 = 64 << 10;

/// The names of a cage, prepared to be compared with those of many files.
pub(super) struct SecretNames {
    /// Those that the policy adds, which nothing opens.
    added: Patterns,
    usual: Patterns,
    by_content: Vec<(NamePattern, &'static str)>,
    /// Those that are no secrets, though the usual ones name them.
    open: Patterns,
}

impl SecretNames {
    /// Makes those of a cage.
    #[cfg(native_linux)]
    pub(super) fn new(CageRights { secrets, open, .. }: &CageRights) -> Self {
        Self::with(secrets, open)
    }

    /// Makes the usual ones with more, and without those that are no secrets.
    fn with(secrets: &[String], open: &[String]) -> Self {
        let texts = |texts: &[String]| texts.iter().map(|text| Pattern::new(text)).collect();
        let mut open: Patterns = texts(open);
        open.extend(NO_SECRETS.map(Pattern::new));
        Self {
            added: texts(secrets),
            usual: SECRETS.map(Pattern::new).into(),
            by_content: SECRETS_BY_CONTENT.map(|(pattern, text)| (NamePattern::new(pattern), text)).into(),
            open,
        }
    }

    /// Returns whether a file is a secret, by its name, and by its content if the name leaves it open.
    pub(super) fn has(&self, name: &str, path: &Path) -> bool {
        let is_one_of = |patterns: &Patterns| patterns.iter().any(|pattern| pattern.matches(name));
        let is_usual = || {
            is_one_of(&self.usual)
                || self.by_content.iter().any(|(pattern, text)| pattern.matches(name) && holds(path, text))
        };
        is_one_of(&self.added) || (is_usual() && !is_one_of(&self.open))
    }

    /// Returns the secrets below a directory, the nearest first, without those in directories that hold the files of
    /// others. Links are not followed: what they lead to in the directory is met there.
    #[cfg(native_linux)]
    pub(super) fn below(&self, directory: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut left = MAX_HIDDEN_ENTRIES;
        let mut directories = VecDeque::from([directory.to_owned()]);
        while left > 0
            && let Some(directory) = directories.pop_front()
        {
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten().take(left) {
                left -= 1;
                let path = entry.path();
                let is_foreign = || FOREIGN.iter().any(|name| entry.file_name() == *name);
                if self.reason(&path, &directory).is_some() {
                    found.extend(Some(path).filter(|path| path.exists()));
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !is_foreign() {
                    directories.push_back(path);
                }
            }
        }
        found
    }

    /// Returns why a whole path names a secret. Below `base`, directories with the files of others hold none.
    fn reason(&self, whole: &Path, base: &Path) -> Option<&'static str> {
        let text = whole.to_str().unwrap_or_default();
        let is_token = |token: &str| text.ends_with(token) && whole.ends_with(token);
        if text.starts_with("/proc") && whole.ends_with("environ") {
            return Some("holds the variables of a process");
        }
        let lies_in =
            |directory: &str| text.contains(directory) && whole.ancestors().any(|above| above.ends_with(directory));
        if TOKENS.iter().any(|token| is_token(token))
            || TOKEN_DIRECTORIES.iter().any(|directory| lies_in(directory))
            || is_token(".git/config") && holds_login(whole)
        {
            return Some("holds a token or a password of a program");
        }
        if is_of_machine(text) {
            return Some("holds what is on disks, in memory or typed");
        }
        if SYSTEM_SECRETS.iter().any(|secret| text.starts_with(secret) && whole.starts_with(secret)) {
            return Some("holds secrets of the system");
        }

        let below = whole.strip_prefix(base);
        let is_below = below.is_ok();
        let parts = below.unwrap_or(whole).iter().filter_map(OsStr::to_str);
        let mut parts = parts.take_while(|part| !is_below || !FOREIGN.contains(part));
        let is_secret = parts.any(|part| self.has(part, whole))
            || whole
                .iter()
                .filter_map(OsStr::to_str)
                .any(|part| SECRET_DIRECTORIES.contains(&part) && self.has(part, whole));
        is_secret.then_some("has the name of a file with secrets")
    }
}

/// Returns whether a path is that of a device by which all files, the memory or what is typed can be read, or that of the
/// memory and the open files of a process.
fn is_of_machine(path: &str) -> bool {
    let device = path.strip_prefix("/dev/").unwrap_or_default();
    matches!(path, "/proc/kcore" | "/proc/kmem")
        || is_inside_process(path)
        || DEVICES.iter().any(|start| device.starts_with(start))
}

/// Returns whether a path leads to the memory or the open files of a process that its number names. Source: proc(5).
fn is_inside_process(path: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = path.strip_prefix("/proc/").unwrap_or_default().split('/');
    let is_other = parts.next().is_some_and(is_number);
    let mut parts = parts.skip_while(|part| *part == "task" || is_number(part));
    is_other && matches!(parts.next(), Some("mem" | "fd"))
}

/// Returns why a path, or one behind a colon, as in a revision, names a secret; `None` if it does not.
///
/// The names are those that a cage hides, in every directory but those that hold the files of others. A link has the name
/// of what it leads to as well.
#[must_use]
pub fn names_secret(path: &str, directory: &Path, secrets: &[String], open: &[String]) -> Option<String> {
    let paths: Vec<&str> = match path.split_once("://") {
        Some(("file", path)) => vec![path],
        Some((scheme, _)) if is_scheme(scheme) => return None,
        _ => std::iter::once(path).chain(path.match_indices(':').map(|(at, _)| &path[at + 1..])).collect(),
    };
    let reason = |names: &SecretNames| {
        paths.into_iter().filter(|path| !path.is_empty()).find_map(|path| {
            let whole = directory.join(path);
            // What these lead to in this process says nothing of the one that will open them.
            let is_own_stream = ["/dev/std", "/dev/fd/", "/proc/self/fd/"].iter().any(|start| path.starts_with(start));
            let of_link = || names.reason(&whole.canonicalize().ok()?, &directory.canonicalize().ok()?);
            names.reason(&whole, directory).or_else(|| if is_own_stream { None } else { of_link() })
        })
    };
    with_names(secrets, open, reason).map(|reason| format!("`{path}` {reason}"))
}

/// Returns whether a cage for a project keeps its programs from a file.
///
/// It hides what has the name of a secret at the top of the project and one level below, since it would take too long to
/// look everywhere. What lies outside of the project is not readable in it anyway.
#[must_use]
pub fn is_hidden_by_cage(path: &Path, project: Option<&Path>, secrets: &[String], open: &[String]) -> bool {
    let real = path.canonicalize();
    let real = real.as_deref().unwrap_or(path);
    let Some((project, below)) = project.and_then(|project| Some((project, real.strip_prefix(project).ok()?))) else {
        return true;
    };

    let mut parts = below.iter().take(HIDDEN_LEVELS).filter_map(OsStr::to_str).peekable();
    let is_foreign = parts.peek().is_some_and(|first| FOREIGN.contains(first));
    let mut above = project.to_owned();
    with_names(secrets, open, |names| {
        let is_secret = |part| {
            above.push(part);
            names.has(part, &above)
        };
        parts.take(if is_foreign { 1 } else { HIDDEN_LEVELS }).any(is_secret)
    })
}

/// In how many levels of a project the names of secrets are looked for: at its top, and in the directories there.
const HIDDEN_LEVELS: usize = 2;

/// Returns whether a pattern of file names stands for secrets by its letters: `.env*`, `*nv`, but not `*` or `*.py`.
#[must_use]
pub fn pattern_names_secret(pattern: &str) -> bool {
    let name = pattern.rsplit('/').next().unwrap_or(pattern);
    let letters = name.chars().filter(char::is_ascii_alphanumeric).count();
    let has_letter = letters > usize::from(!name.starts_with('.'));
    let is_pattern = name.contains(['*', '?', '[']);
    let names = || SECRETS.iter().chain(&SECRET_EXAMPLES).filter(|name| !name.contains('*'));
    has_letter
        && is_pattern
        && glob::Pattern::new(&name.to_ascii_lowercase()).is_ok_and(|own| names().any(|secret| own.matches(secret)))
}

/// Returns whether a text is the scheme of a URL. Source: RFC 3986, section 3.1.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Returns the names of the secrets below directories as patterns of a shell, without those in directories that hold the files
/// of others. If there are more entries than are looked at, the patterns of names that secrets usually have are among them.
///
/// Links are followed, since some programs follow them.
#[must_use]
pub fn secret_names_below(directories: Vec<PathBuf>, secrets: &[String], open: &[String]) -> BTreeSet<String> {
    let names = SecretNames::with(secrets, open);
    let mut found = BTreeSet::new();
    let mut left = MAX_SEEN_ENTRIES;
    let holds_programs = directories.iter().any(|directory| holds_files_of_programs(directory));
    let mut seen: HashSet<PathBuf> = directories.iter().filter_map(|directory| directory.canonicalize().ok()).collect();
    // The nearest come first, since most secrets lie at the top of a project.
    let mut directories = VecDeque::from(directories);
    while let Some(directory) = directories.pop_front() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            if left == 0 {
                found.extend(usual_patterns(holds_programs).map(str::to_owned).chain(secrets.iter().cloned()));
                return found;
            }
            left -= 1;
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let kind = entry.file_type().ok();
            let real = kind.filter(fs::FileType::is_symlink).and_then(|_| path.canonicalize().ok());
            let names_secret = |path: &Path| names.reason(path, path.parent().unwrap_or(path)).is_some();
            if names_secret(&path) || real.as_deref().is_some_and(names_secret) {
                found.insert(quoted(&name));
            } else if FOREIGN.contains(&name.as_str()) {
                if name == ".git" && names_secret(&path.join("config")) {
                    found.insert(name);
                }
            } else if let Some(real) = real {
                if real.is_dir() && !seen.iter().any(|seen| real.starts_with(seen)) {
                    seen.insert(real.clone());
                    directories.push_back(real);
                }
            } else if kind.is_some_and(|kind| kind.is_dir()) {
                directories.push_back(path);
            }
        }
    }
    found
}

/// Returns whether programs keep files of their own in a directory, or somewhere below it.
fn holds_files_of_programs(directory: &Path) -> bool {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let home = variable("HOME").and_then(|home| Path::new(&home).canonicalize().ok());
    let in_home = home.as_ref().and_then(|home| directory.strip_prefix(home).ok());
    let is_hidden = in_home.and_then(|path| path.iter().next()).is_some_and(|first| first.as_bytes().starts_with(b"."));
    let holds_home = home.is_some_and(|home| home.starts_with(&directory));
    is_hidden || holds_home || ["/etc", "/proc", "/run"].iter().any(|top| directory.starts_with(top))
}

/// Returns the patterns of the names that secrets usually have.
fn usual_patterns(of_programs: bool) -> impl Iterator<Item = &'static str> {
    let of_programs = of_programs
        .then(|| TOKENS.iter().chain(&TOKEN_DIRECTORIES).chain(&SYSTEM_SECRETS).chain(&["environ"]).copied());
    let last = |path: &'static str| path.rsplit('/').next().unwrap_or(path);
    let by_content = SECRETS_BY_CONTENT.into_iter().map(|(pattern, _)| pattern);
    SECRETS.into_iter().chain(by_content).chain(of_programs.into_iter().flatten().map(last))
}

/// Returns the pattern of a shell that only a name itself matches.
fn quoted(name: &str) -> String {
    let quoted = |c: char| {
        let quote = matches!(c, '\\' | '*' | '?' | '[' | ']' | '{' | '}').then_some('\\');
        quote.into_iter().chain([c])
    };
    name.chars().flat_map(quoted).collect()
}

/// Calls a function with the names of a policy, or with the usual ones, which are prepared once.
fn with_names<T>(secrets: &[String], open: &[String], read: impl FnOnce(&SecretNames) -> T) -> T {
    static USUAL: OnceLock<SecretNames> = OnceLock::new();

    if secrets.is_empty() && open.is_empty() {
        read(USUAL.get_or_init(|| SecretNames::with(&[], &[])))
    } else {
        read(&SecretNames::with(secrets, open))
    }
}

type Patterns = Vec<Pattern>;

/// A pattern, in which `*` stands for any characters.
enum Pattern {
    /// Most are names, which are compared faster.
    Name(String),
    Pattern(NamePattern),
}

impl Pattern {
    fn new(text: &str) -> Self {
        if text.contains('*') { Self::Pattern(NamePattern::new(text)) } else { Self::Name(text.to_owned()) }
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Name(own) => own == name,
            Self::Pattern(pattern) => pattern.matches(name),
        }
    }
}

/// Returns whether a text stands at the start of a file.
fn holds(path: &Path, text: &str) -> bool {
    head(path).windows(text.len()).any(|part| part == text.as_bytes())
}

/// Returns whether the configuration of a repository holds a header or a URL that logs in.
fn holds_login(path: &Path) -> bool {
    let head = head(path);
    String::from_utf8_lossy(&head).lines().any(|line| {
        let authority = line.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or(rest));
        let user = authority.and_then(|authority| Some(authority.rsplit_once('@')?.0));
        // Names alone are no secrets, and no name is as long as a token.
        let is_login = user.is_some_and(|user| user.contains(':') || user.len() >= 20);
        is_login || line.trim_start().to_ascii_lowercase().starts_with("extraheader")
    })
}

/// Returns the start of a file; nothing if it cannot be read.
fn head(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    // A named pipe would wait for a writer.
    if path.is_file()
        && let Ok(file) = fs::File::open(path)
    {
        let _ = file.take(HEAD_BYTES).read_to_end(&mut head);
    }
    head
}

#[cfg(all(test, native_linux))]
mod tests {
    use super::*;
    use crate::exec::SecretDepth;

    #[test]
    fn names_of_the_policy_go_before_the_usual_ones() {
        let rights = CageRights {
            cage: climax_catalog::Cage::Read,
            project: None,
            frozen: Vec::new(),
            tracked: false,
            depth: SecretDepth::Near,
            secrets: vec!["*.token".to_owned(), ".env.example".to_owned()],
            open: vec![".env".to_owned(), "a.token".to_owned()],
        };
        let names = SecretNames::new(&rights);
        for (name, is_secret) in [
            ("a.token", true),
            (".env.example", true),
            (".env", false),
            (".env.local", true),
            (".env.sample", false),
            ("id_rsa", true),
            ("id_rsa.pub", false),
            ("secrets.yaml", true),
            ("secrets.example.yaml", false),
            ("main.rs", false),
        ] {
            assert_eq!(names.has(name, Path::new("/nonexistent")), is_secret, "{name}");
        }
    }

    #[test]
    fn links_and_environments_are_named_by_what_they_lead_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        fs::write(path.join(".env"), "").unwrap();
        fs::write(path.join("plain"), "").unwrap();
        for (target, name) in [(".env", "link"), ("plain", "other"), ("/proc/self/environ", "environment")] {
            std::os::unix::fs::symlink(target, path.join(name)).unwrap();
        }
        for (name, is_secret) in [
            ("link", true),
            ("./link", true),
            ("other", false),
            ("plain", false),
            ("missing", false),
            ("/proc/self/environ", true),
            ("/proc/1/task/1/environ", true),
            ("/proc/1/mem", true),
            ("/proc/1/task/1/fd/0", true),
            ("/proc/1/fdinfo/0", false),
            ("/proc/self/fd/0", false),
            ("/dev/watchdog", true),
            ("/dev/stdin", false),
            ("/dev/random", false),
            ("/proc/self/status", false),
            ("/proc/self/root/etc/shadow", true),
            ("/home/x/.docker/config.json", true),
            ("/home/x/.config/gcloud/legacy_credentials/a/adc.json", true),
            ("/home/x/.local/share/uv/credentials/token", true),
            ("/home/x/.local/share/uv/python/bin/python3", false),
            ("/tmp/krb5cc_1000", true),
            ("login.ppk", true),
            ("config.json", false),
        ] {
            let found = names_secret(name, path, &[], &[]);
            assert_eq!(found.is_some(), is_secret, "{name}: {found:?}");
        }
    }
}
