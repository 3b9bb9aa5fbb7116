//! Names of files with secrets, which a cage hides.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use climax_catalog::policy::NamePattern;

#[cfg(native_linux)]
use super::rights::CageRights;

/// Directories with the files of others. The names in them are not those of the project's secrets.
pub(super) const FOREIGN: [&str; 7] = [".git", ".venv", "venv", "node_modules", "vendor", "target", "__pycache__"];

/// Files of the system with secrets, which only root may read. For other users the kernel keeps them.
pub(super) const SYSTEM_SECRETS: [&str; 18] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/security/opasswd",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/ssh/ssh_host_dsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/krb5.keytab",
    "/etc/wireguard",
    "/etc/openvpn",
    "/etc/NetworkManager/system-connections",
    "/run/secrets",
];

/// Names of files with secrets. `*` stands for any characters.
const SECRETS: [&str; 33] = [
    ".env",
    ".env.*",
    "*.env",
    ".envrc.local",
    ".netrc",
    "_netrc",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".pgpass",
    ".my.cnf",
    ".dockercfg",
    ".vault-token",
    ".aws",
    ".ssh",
    ".gnupg",
    ".kube",
    ".azure",
    ".boto",
    ".dev.vars",
    ".password-store",
    ".s3cfg",
    "master.key",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "secrets.*",
];

/// Names of files that are secrets if they hold this text.
const SECRETS_BY_CONTENT: [(&str, &str); 3] = [("*.pem", "PRIVATE KEY"), ("*.key", "PRIVATE KEY"), (".npmrc", "_auth")];

/// Files with the tokens of programs, from the end of their paths, whose names are not those of secrets.
const TOKENS: [&str; 17] = [
    ".docker/config.json",
    ".config/containers/auth.json",
    ".config/gh/hosts.yml",
    ".config/glab-cli/config.yml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".terraform.d/credentials.tfrc.json",
    ".gem/credentials",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".config/gcloud/access_tokens.db",
    ".config/gcloud/application_default_credentials.json",
    ".config/gcloud/credentials.db",
    ".config/rclone/rclone.conf",
    ".gradle/gradle.properties",
    ".m2/settings.xml",
];

/// Names like those of secrets, of files that are published.
const NO_SECRETS: [&str; 6] =
    [".env.example", ".env.sample", ".env.template", ".env.dist", ".env.test", "secrets.example.*"];

/// Most entries of directories among which secrets are looked for.
const MAX_SEEN_ENTRIES: usize = 2_000;

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
}

/// Returns why a path, or one behind the colon of a revision, names a secret; `None` if it does not.
///
/// The names are those that a cage hides, in every directory but those that hold the files of others. A link has the name
/// of what it leads to as well.
#[must_use]
pub fn names_secret(path: &str, directory: &Path, secrets: &[String], open: &[String]) -> Option<String> {
    let path = path.rsplit_once(':').map_or(path, |(_, behind)| behind);
    if path.starts_with("//") {
        // The rest of a URL.
        return None;
    }
    let own;
    let names = if secrets.is_empty() && open.is_empty() {
        usual()
    } else {
        own = SecretNames::with(secrets, open);
        &own
    };
    let reason = |shown: &Path, whole: &Path| {
        let parts = shown.components().filter_map(|part| part.as_os_str().to_str());
        let mut parts = parts.take_while(|part| !FOREIGN.contains(part));
        if whole.starts_with("/proc") && whole.ends_with("environ") {
            Some("holds the variables of a process")
        } else if TOKENS.iter().any(|token| whole.ends_with(token)) {
            Some("holds the token of a program")
        } else if SYSTEM_SECRETS.iter().any(|secret| whole.starts_with(secret)) {
            Some("holds secrets of the system")
        } else {
            parts.any(|part| names.has(part, whole)).then_some("has the name of a file with secrets")
        }
    };
    let whole = directory.join(path);
    let of_link = || {
        let real = whole.canonicalize().ok().filter(|real| *real != whole)?;
        let base = directory.canonicalize().ok();
        let shown = base.and_then(|base| real.strip_prefix(base).ok()).unwrap_or(&real);
        reason(shown, &real)
    };
    reason(Path::new(path), &whole).or_else(of_link).map(|reason| format!("`{path}` {reason}"))
}

/// Returns the names of the secrets below directories as patterns of a shell, without those in directories that hold the files
/// of others. If there are more entries than are looked at, the patterns of names that secrets usually have are among them.
#[must_use]
pub fn secret_names_below(directories: Vec<PathBuf>, secrets: &[String], open: &[String]) -> BTreeSet<String> {
    let names = SecretNames::with(secrets, open);
    let mut found = BTreeSet::new();
    let mut left = MAX_SEEN_ENTRIES;
    // The nearest come first, since most secrets lie at the top of a project.
    let mut directories = VecDeque::from(directories);
    while let Some(directory) = directories.pop_front() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            if left == 0 {
                found.extend(SECRETS.map(str::to_owned).into_iter().chain(secrets.iter().cloned()));
                return found;
            }
            left -= 1;
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if names.has(&name, &path) {
                found.insert(quoted(&name));
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !FOREIGN.contains(&name.as_str()) {
                directories.push_back(path);
            }
        }
    }
    found
}

/// Returns the pattern of a shell that only a name itself matches.
fn quoted(name: &str) -> String {
    let quoted = |c: char| {
        let quote = matches!(c, '\\' | '*' | '?' | '[' | ']' | '{' | '}').then_some('\\');
        quote.into_iter().chain([c])
    };
    name.chars().flat_map(quoted).collect()
}

/// Returns the names without those of a policy.
fn usual() -> &'static SecretNames {
    static USUAL: OnceLock<SecretNames> = OnceLock::new();
    USUAL.get_or_init(|| SecretNames::with(&[], &[]))
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
    let mut head = Vec::new();
    // A named pipe would wait for a writer.
    if path.is_file()
        && let Ok(file) = fs::File::open(path)
    {
        let _ = file.take(HEAD_BYTES).read_to_end(&mut head);
    }
    head.windows(text.len()).any(|part| part == text.as_bytes())
}

#[cfg(all(test, native_linux))]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_policy_go_before_the_usual_ones() {
        let rights = CageRights {
            cage: climax_catalog::Cage::Read,
            project: None,
            frozen: Vec::new(),
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
            ("/proc/self/status", false),
            ("/proc/self/root/etc/shadow", true),
            ("/home/x/.docker/config.json", true),
            ("config.json", false),
        ] {
            let found = names_secret(name, path, &[], &[]);
            assert_eq!(found.is_some(), is_secret, "{name}: {found:?}");
        }
    }
}
