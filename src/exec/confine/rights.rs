//! What a confined program may do.

use std::path::PathBuf;

use climax_catalog::Cage;

use crate::exec::platform::make_private_dir;

/// Files of the system that every program in a cage may read, beside the devices that hold nothing.
pub const SYSTEM_FILES: [&str; 24] = [
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr",
    "/opt",
    "/nix",
    "/gnu",
    "/snap",
    "/etc",
    "/proc",
    "/sys",
    "/run/systemd/resolve",
    "/run/current-system",
    "/run/opengl-driver",
    "/var/lib/gems",
    "/var/lib/dpkg",
    "/var/cache/fontconfig",
    "/home/linuxbrew/.linuxbrew",
    "/System/Library",
    "/Library/Developer",
    "/Library/Frameworks",
];

/// What a confined program may do, beside computing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// The files that it may read and execute.
    pub read: Readable,
    /// Files and directories that it may change, and read. Those that do not exist are left out.
    pub write: Vec<PathBuf>,
    /// Whether it may open sockets of the Internet.
    pub network: bool,
    /// Whether it may open Unix sockets.
    pub local_sockets: bool,
    /// Whether it may change permissions, owners and times of files.
    pub metadata: bool,
    /// What else holds it, if it is in a cage.
    pub cage: Option<CageRights>,
}

/// The files that a confined program may read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Readable {
    /// All that its user may read.
    #[default]
    Everything,
    /// These, and what is below them. Those that do not exist are left out.
    Listed(Vec<PathBuf>),
}

/// How deep in a project a cage hides secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretDepth {
    /// At its top and one level below, where most lie.
    #[default]
    Near,
    /// Everywhere, tokens of programs included. Directories with the files of others hold none.
    Whole,
}

/// What holds a program in a cage, beside the lists of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CageRights {
    /// Which cage it is.
    pub cage: Cage,
    /// The directory whose files it is about; `None` if the call has no project.
    pub project: Option<PathBuf>,
    /// Directories in the project that it may not change, since programs are found in them.
    pub frozen: Vec<PathBuf>,
    /// Whether it sees the content of secrets that the repository of the project tracks.
    pub tracked: bool,
    /// How deep in the project secrets are hidden.
    pub depth: SecretDepth,
    /// Names of files whose content it does not see, beside the usual ones: patterns in which `*` stands for any
    /// characters.
    pub secrets: Vec<String>,
    /// Names of files that are no secrets, though the usual ones name them.
    pub open: Vec<String>,
}

impl Rights {
    /// Permits what another one permits too.
    ///
    /// A cage holds both: a program in a cage does not leave it because it starts another one.
    pub fn widen(&mut self, other: Self) {
        self.write.extend(other.write);
        self.network |= other.network;
        self.local_sockets |= other.local_sockets;
        self.metadata |= other.metadata;

        self.read = match (std::mem::take(&mut self.read), other.read) {
            (Readable::Listed(mut own), Readable::Listed(more)) => {
                own.extend(more);
                Readable::Listed(own)
            }
            (Readable::Everything, listed @ Readable::Listed(_))
            | (listed @ Readable::Listed(_), Readable::Everything) => listed,
            (Readable::Everything, Readable::Everything) => Readable::Everything,
        };
        self.cage = match (self.cage.take(), other.cage) {
            (Some(own), Some(more)) => Some(if more.cage > own.cage { more } else { own }),
            (own, more) => own.or(more),
        };
    }
}

/// Makes the missing directories among `paths` that are below the home directory, for their owner only.
pub(crate) fn make_missing(paths: &[PathBuf]) {
    let Some(home) = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()) else { return };

    for path in paths.iter().filter(|path| path.starts_with(&home) && !path.exists()) {
        // Without it, the program says what it cannot write.
        let _ = make_private_dir(path);
    }
}
