//! Executors: where programs run.

use crate::model::{Runtime, SandboxLimits};
use crate::table::{Catalog, ExecutorDef, Rows};

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

/// Returns the compiled-in executor.
pub(super) fn compiled_in(catalog: &Catalog, def: ExecutorDef) -> Executor {
    let text = |id| catalog.texts.get(id).to_owned();
    let list = |rows: Rows| catalog.list(rows).map(str::to_owned).collect();
    match def {
        ExecutorDef::Local => Executor::Local,
        ExecutorDef::Container { runtime, image, volumes, working_dir, network } => Executor::Container(Container {
            runtime,
            image: text(image),
            volumes: list(volumes),
            working_dir: working_dir.map(text),
            network: network.map(text),
        }),
        ExecutorDef::Sandbox { read, write, network, limits } => {
            Executor::Sandbox(Sandbox { read: list(read), write: list(write), network, limits })
        }
    }
}
