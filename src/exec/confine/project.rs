//! Finds what a cage hides and keeps in a project: secrets, and files that programs outside load.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use climax_catalog::policy::NamePattern;

use super::protected::PROTECTED;
use super::rights::CageRights;

/// Names of files with secrets. `*` stands for any characters.
const SECRETS: [&str; 28] = [
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

/// Names like those of secrets, of files that are published.
const NO_SECRETS: [&str; 6] =
    [".env.example", ".env.sample", ".env.template", ".env.dist", ".env.test", "secrets.example.*"];

/// Directories with the files of others. The names in them are not those of the project's secrets.
const FOREIGN: [&str; 7] = [".git", ".venv", "venv", "node_modules", "vendor", "target", "__pycache__"];

/// Files of the system with secrets, which only root may read. For other users the kernel keeps them.
const SYSTEM_SECRETS: [&str; 17] = [
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
];

/// How much of a file is read to tell whether it is a secret, in bytes.
const HEAD_BYTES: u64 = 64 << 10;

/// Maximum number of paths by which a directory is granted without its secrets.
const MAX_ENTRIES: usize = 1000;

/// Returns the secrets of the system that this user may read.
pub(super) fn system_secrets() -> Vec<PathBuf> {
    let readable =
        |path: &PathBuf| if path.is_dir() { fs::read_dir(path).is_ok() } else { fs::File::open(path).is_ok() };
    SYSTEM_SECRETS.iter().map(PathBuf::from).filter(readable).collect()
}

/// Returns the secrets at the top of the project and one level below.
pub(super) fn secrets(rights: &CageRights) -> Vec<PathBuf> {
    let Some(project) = &rights.project else { return Vec::new() };
    let mut found = Vec::new();

    for (name, path, is_dir) in entries(project) {
        if is_secret(&name, &path, rights) {
            found.push(path);
        } else if is_dir && !FOREIGN.contains(&name.as_str()) {
            let below = entries(&path).into_iter().filter(|(name, path, _)| is_secret(name, path, rights));
            found.extend(below.map(|(_, path, _)| path));
        }
    }
    // What a link leads to has another name, by which it could be read.
    let targets = found.iter().filter(|path| path.is_symlink()).filter_map(|path| path.canonicalize().ok());
    let targets: Vec<PathBuf> = targets.filter(|path| path != project && path.starts_with(project)).collect();
    found.extend(targets);
    found
}

/// Returns whether a path leads through a project to somewhere else, so that whoever may write there chooses where.
pub(super) fn leads_through(path: &Path, project: &Path) -> bool {
    let is_inside = |path: &Path| path.canonicalize().is_ok_and(|path| path.starts_with(project));
    path != project && path.symlink_metadata().is_ok() && path.ancestors().any(is_inside)
}

/// Returns what a program may not change in a project, as far as it exists: the protected names at its top, and `more`. Of
/// a link in the project it is what the link leads to.
pub(super) fn frozen(project: &Path, more: &[PathBuf]) -> Vec<PathBuf> {
    let all = PROTECTED.iter().map(|name| project.join(name)).chain(more.iter().cloned());
    let found = all.filter_map(|path| path.canonicalize().ok());
    found.filter(|path| path != project && path.starts_with(project)).collect()
}

/// Returns the paths that grant a directory without what is hidden in it.
///
/// # Errors
/// There are too many.
pub(super) fn around(directory: &Path, hidden: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    if hidden.iter().any(|path| path == directory) {
        return Ok(Vec::new());
    }
    if !hidden.iter().any(|path| path.starts_with(directory)) {
        return Ok(vec![directory.to_owned()]);
    }

    let mut granted = Vec::new();
    for (_, path, _) in entries(directory) {
        // The right would be for what a link leads to: a secret, or anything outside.
        if path.is_symlink() {
            continue;
        }
        granted.extend(around(&path, hidden)?);
        if granted.len() > MAX_ENTRIES {
            let directory = directory.display();
            return Err(format!(
                "{directory} holds secrets beside more than {MAX_ENTRIES} other files, and this kernel cannot hide single \
                 files: move the secrets, or run climax where user namespaces are permitted"
            ));
        }
    }
    Ok(granted)
}

fn is_secret(name: &str, path: &Path, CageRights { secrets, open, .. }: &CageRights) -> bool {
    let is_one_of = |patterns: &[String]| patterns.iter().any(|pattern| matches(name, pattern));
    if is_one_of(secrets) {
        return true;
    }
    if is_one_of(open) || NO_SECRETS.iter().any(|pattern| matches(name, pattern)) {
        return false;
    }
    let has = |text: &str| head(path).windows(text.len()).any(|part| part == text.as_bytes());
    SECRETS.iter().any(|pattern| matches(name, pattern))
        || SECRETS_BY_CONTENT.iter().any(|(pattern, text)| matches(name, pattern) && has(text))
}

/// Returns whether a name fits a pattern with one or two `*`.
fn matches(name: &str, pattern: &str) -> bool {
    NamePattern::new(pattern).matches(name)
}

/// Returns the start of a file.
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

/// Returns the entries of a directory: name, path, and whether it is a directory. Names that are no text are left out.
fn entries(directory: &Path) -> Vec<(String, PathBuf, bool)> {
    let Ok(found) = fs::read_dir(directory) else { return Vec::new() };
    let entry = |entry: fs::DirEntry| {
        // A link that leads nowhere hides nothing, and nothing can be mounted over it.
        let is_dir = fs::metadata(entry.path()).ok()?.is_dir() && entry.file_type().is_ok_and(|kind| kind.is_dir());
        Some((entry.file_name().to_string_lossy().into_owned(), entry.path(), is_dir))
    };
    found.flatten().filter_map(entry).collect()
}
