//! Executors: where programs run.

use crate::model::{Runtime, SandboxLimits};

/// Executors: where programs run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Executor {
    /// On the host, as the server's user.
    #[default]
    Local,
    /// Each in a container of its own.
    Container(Container),
    /// On the host, in a sandbox of the kernel.
    Sandbox(Sandbox),
}

/// A container that is created for one call and removed after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// The program that runs containers.
    pub runtime: Runtime,
    /// The image, by name.
    pub image: String,
    /// Mounts as the runtime's `--volume` takes them; `$VAR` expands.
    pub volumes: Vec<String>,
    /// The working directory in the container if neither the call nor its CLI sets one.
    pub working_dir: Option<String>,
    /// The network, as the runtime's `--network` takes it.
    pub network: Option<String>,
}

/// What the sandbox permits. The kernel refuses everything else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Files and directories that can be read and run; `~` and `$VAR` expand.
    pub read: Vec<String>,
    /// Files and directories that can be read, run, changed and removed; `~` and `$VAR` expand.
    pub write: Vec<String>,
    /// Whether sockets can be opened.
    pub network: bool,
    /// Resource limits.
    pub limits: SandboxLimits,
}
