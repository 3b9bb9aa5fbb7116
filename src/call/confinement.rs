//! Holds calls to the needs of their tools.
//!
//! Pure: the caller passes the environment.

use std::path::{Path, PathBuf};

use climax_catalog::expansion::{Lookup, policy_path};
use climax_catalog::policy::{AskedCage, ConfineLevel, Executor, Policy};
use climax_catalog::{Cage, Needs, ResolvedTool, Risk};

use crate::call::arguments::Bound;
use crate::call::{cage, command_line, risk};
use crate::exec::{FindIsolation, Invocation, Project, Rights};

/// Variables that every program gets.
const COMMON_VARIABLES: [&str; 8] = ["PATH", "HOME", "LANG", "LC_*", "TERM", "TZ", "USER", "LOGNAME"];

/// Variables that a program with network gets, besides.
const NETWORK_VARIABLES: [&str; 10] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Returns the needs that a call is held to; `None` if it is not confined.
///
/// At the level `read` these are calls that only read, of tools that say so and have needs. A cage holds its programs at
/// every level but `off`.
#[must_use]
pub fn needs_of_call(tool: ResolvedTool<'_>, risk: Risk, level: ConfineLevel) -> Option<Needs> {
    match level {
        ConfineLevel::Off => None,
        _ if tool.is_native() || tool.needs().is_some_and(|needs| needs.processes) => None,
        ConfineLevel::Read => tool.needs().filter(|needs| risk == Risk::Read || needs.cage.is_some()),
        ConfineLevel::All => Some(tool.needs().unwrap_or_default()),
    }
}

/// Returns whether the caller asks for no cage where a tool has one.
pub(crate) fn leaves_cage(tool: ResolvedTool<'_>, asked: Option<AskedCage>) -> bool {
    asked == Some(AskedCage::None) && tool.needs().is_some_and(|needs| needs.cage.is_some())
}

/// What decides how a call is held.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    /// The policy.
    pub(crate) policy: &'c Policy,
    /// Whether a config describes the program.
    pub(crate) is_described: bool,
    /// What the caller asks for, instead of the cage of the tool.
    pub(crate) asked: Option<AskedCage>,
    /// Returns the project of a directory; that of this process for `None`.
    pub(crate) project: &'c dyn Fn(Option<&Path>) -> Option<Project>,
    /// The means that this system has; not asked where no cage is needed.
    pub(crate) isolation: FindIsolation,
    /// Looks up variables of the server's environment.
    pub(crate) env: Lookup<'c>,
}

impl Context<'_> {
    /// Returns the cage of a call with these needs; `None` if it has none, or if this system does not.
    ///
    /// # Errors
    /// The caller asks for a cage that this system does not have.
    fn cage(&self, needs: &Needs) -> Result<Option<Cage>, String> {
        let Some(own) = needs.cage.filter(|_| *self.policy.executor() == Executor::Local) else { return Ok(None) };
        let cage = match self.asked {
            Some(AskedCage::None) => return Ok(None),
            Some(AskedCage::Workspace) => Cage::Workspace,
            Some(AskedCage::Read) | None => own,
        };
        let protection = self.policy.lines().rules.protect;
        match (self.isolation)() {
            Some(isolation) if isolation.holds(cage, protection) => Ok(Some(cage)),
            Some(_) if cage > own => Err(format!(
                "this system cannot keep protected names from programs in the cage `{}`, as the policy demands \
                 (lines.protect); `climax doctor` says why",
                cage.as_str()
            )),
            _ if cage > own => Err(format!("this system has no cage `{}`; `climax doctor` says why", cage.as_str())),
            _ => Ok(None),
        }
    }
}

/// Holds a planned call to the needs of its tool, or puts it in the cage that they name.
///
/// # Errors
/// The caller asks for a cage that this system does not have.
pub(crate) fn confine(
    invocation: &mut Invocation,
    tool: ResolvedTool<'_>,
    bound: &Bound<'_>,
    context: Context<'_>,
) -> Result<(), String> {
    invocation.names_this_machine = risk::names_this_machine(tool, bound);

    let level = context.policy.confine().level.unwrap_or_default();
    let risk = risk::promised(tool, bound);
    let Some(needs) = needs_of_call(tool, risk, level) else { return Ok(()) };
    let cage = context.cage(&needs)?;
    // Whoever may call a described tool may choose its directory. A program that nobody described stays in the project.
    let directory = command_line::directory_of_call(tool, bound, context.env).filter(|_| context.is_described);
    // A cage that is missing is not replaced by needs that were not written for it.
    if needs.cage.is_some() && cage.is_none() && level != ConfineLevel::All {
        return Ok(());
    }

    let mut inherited: Vec<String> = COMMON_VARIABLES.map(str::to_owned).into();
    if needs.has_network() {
        inherited.extend(NETWORK_VARIABLES.map(str::to_owned));
    }
    if cage.is_some() {
        inherited.extend(cage::VARIABLES.map(str::to_owned));
    }
    inherited.extend(needs.env.iter().cloned());
    invocation.inherited = Some(inherited);

    invocation.confinement = Some(match cage {
        Some(cage) => {
            let project = (context.project)(directory.as_deref());
            let lines = context.policy.lines();
            invocation.env.splice(0..0, cage::variables(&needs));
            let surroundings = cage::Surroundings { project: project.as_ref(), lines, env: context.env };
            cage::rights(cage, &needs, surroundings)
        }
        None => rights_of_needs(&needs, risk, invocation, context.env),
    });
    Ok(())
}

/// Returns what a program may do by its needs.
fn rights_of_needs(needs: &Needs, risk: Risk, invocation: &Invocation, env: Lookup<'_>) -> Rights {
    let is_reading = risk == Risk::Read;
    let mut write: Vec<PathBuf> = needs.write.iter().map(|path| policy_path(path, env).into()).collect();
    write.retain(|path| path.is_absolute());
    if !is_reading {
        write.push(invocation.cwd.clone().unwrap_or_else(|| ".".into()));
    }

    Rights {
        write,
        network: needs.has_network(),
        local_sockets: needs.has_local_sockets(),
        metadata: !is_reading,
        ..Rights::default()
    }
}
