//! What a confined program may reach.

use std::path::PathBuf;

use crate::exec::platform::make_private_dir;

/// What a confined program may reach, beside reading files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// Files and directories that it may change. Those that do not exist are left out.
    pub write: Vec<PathBuf>,
    /// Whether it may open sockets of the Internet.
    pub network: bool,
    /// Whether it may open Unix sockets.
    pub local_sockets: bool,
    /// Whether it may change permissions, owners and times of files.
    pub metadata: bool,
}

impl Rights {
    /// Permits what another one permits too.
    pub fn widen(&mut self, other: Self) {
        self.write.extend(other.write);
        self.network |= other.network;
        self.local_sockets |= other.local_sockets;
        self.metadata |= other.metadata;
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
