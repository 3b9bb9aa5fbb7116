//! Programs that no config describes: which they are, and the tools by which lines run them.

use std::sync::OnceLock;

use climax_catalog::policy::{AskedCage, ConfineLevel, Executor, LineRules, Protection};
use climax_catalog::{Cage, Layer, Policy, ResolvedTool, Source, ToolIndex, compile};

use crate::exec::{self, FindIsolation};

/// Programs that report on processes, sockets and users. In a cage they would see their own alone, and answer falsely.
const REPORTING: [&str; 24] = [
    "ps",
    "pgrep",
    "pkill",
    "pidof",
    "kill",
    "killall",
    "top",
    "htop",
    "btop",
    "ss",
    "netstat",
    "lsof",
    "fuser",
    "who",
    "w",
    "last",
    "users",
    "systemctl",
    "journalctl",
    "loginctl",
    "free",
    "uptime",
    "vmstat",
    "iostat",
];

/// Programs that start others with the rights of another user, or outside of the cage.
const LEAVING: [&str; 9] = ["sudo", "su", "doas", "pkexec", "runuser", "at", "batch", "crontab", "systemd-run"];

/// The programs that lines may run though no config describes them.
#[derive(Clone, Copy, Debug)]
pub struct UnknownPrograms<'a> {
    cage: Option<Cage>,
    widest: AskedCage,
    protection: Protection,
    isolation: FindIsolation,
    index: &'a ToolIndex,
    hidden: &'a [String],
}

impl<'a> UnknownPrograms<'a> {
    /// Returns those that a policy permits in addition to the tools of an index, as far as there are means to hold them.
    #[must_use]
    pub fn permitted(policy: &'a Policy, index: &'a ToolIndex, isolation: FindIsolation) -> Self {
        let is_confined = policy.confine().level != Some(ConfineLevel::Off) && *policy.executor() == Executor::Local;
        let cage = policy.lines().unknown().cage().filter(|_| is_confined);
        let LineRules { widest, protect: protection, .. } = policy.lines().rules;
        Self { cage, widest, protection, isolation, index, hidden: policy.described_programs() }
    }

    /// Returns the tool that runs a program; `None` if a config describes it, or if no cage would hold it truthfully.
    ///
    /// A program that does not exist has one: a line ends with status 127 where it stands, as in a shell.
    #[must_use]
    pub fn tool(&self, program: &str) -> Option<ResolvedTool<'static>> {
        // A word with a dash in front belongs to the program that would start this one, as in `uv run -q pytest`.
        let may_run = !program.starts_with('-') && objection(program).is_none();
        let cage = self.cage.filter(|_| may_run)?;
        let hidden = self.hidden.iter().map(String::as_str);
        let is_described = self.index.programs().chain(hidden).any(|name| exec::names_program(program, name));
        if is_described || !self.is_held(cage) { None } else { tool(cage) }
    }

    /// Returns the tool that runs a described program which is asked about itself; `None` if no cage would hold it.
    #[must_use]
    pub fn question_tool(&self) -> Option<ResolvedTool<'static>> {
        self.cage.filter(|cage| self.is_held(*cage)).and_then(tool)
    }

    /// Returns the tool that runs a program in the cage `workspace` with network; `None` if the policy permits no call so
    /// wide a cage, or if this system does not have it.
    #[must_use]
    pub fn network_tool(&self) -> Option<ResolvedTool<'static>> {
        if self.permits_workspace() { network_tool() } else { None }
    }

    /// Returns the tool that runs a program in the cage `workspace`; `None` as with [`Self::network_tool`].
    #[must_use]
    pub fn workspace_tool(&self) -> Option<ResolvedTool<'static>> {
        if self.permits_workspace() { tool(Cage::Workspace) } else { None }
    }

    fn permits_workspace(&self) -> bool {
        self.widest >= AskedCage::Workspace && self.is_held(Cage::Workspace)
    }

    fn is_held(&self, cage: Cage) -> bool {
        (self.isolation)().is_some_and(|isolation| isolation.holds(cage, self.protection))
    }
}

/// Returns the tool that runs an unknown program in a cage.
#[must_use]
pub(crate) fn tool(cage: Cage) -> Option<ResolvedTool<'static>> {
    own_tool(match cage {
        Cage::Read => "program_read",
        Cage::Workspace => "program_workspace",
    })
}

fn network_tool() -> Option<ResolvedTool<'static>> {
    own_tool("program_network")
}

fn own_tool(name: &str) -> Option<ResolvedTool<'static>> {
    static INDEX: OnceLock<Option<ToolIndex>> = OnceLock::new();

    let index = INDEX.get_or_init(|| {
        let source = Source::new("program.yaml", include_bytes!("program.yaml").to_vec()).ok()?;
        Some(ToolIndex::from_configs(vec![Layer::loaded(compile(&[source]).ok()?.catalog)]))
    });
    index.as_ref()?.get(name)
}

/// Returns whether a tool is one that runs programs which no config describes.
#[must_use]
pub(crate) fn runs(program: ResolvedTool<'_>) -> bool {
    let own = [tool(Cage::Read), tool(Cage::Workspace), network_tool()];
    own.into_iter().flatten().any(|own| own.name() == program.name())
}

/// Returns why a program does not run in a cage, though no config describes it.
#[must_use]
pub(crate) fn objection(program: &str) -> Option<&'static str> {
    let name = program.rsplit('/').next().unwrap_or(program);
    if REPORTING.contains(&name) {
        return Some("it reports on processes, sockets or users, of which a cage shows its own alone");
    }
    LEAVING.contains(&name).then_some("it starts programs with the rights of others")
}

#[cfg(test)]
mod tests {
    use climax_catalog::Risk;

    use super::*;

    #[test]
    fn each_cage_has_a_tool_of_its_risk() {
        for (cage, risk) in [(Cage::Read, Risk::Read), (Cage::Workspace, Risk::Write)] {
            let tool = tool(cage).unwrap();
            assert_eq!((tool.written_risk(), tool.needs().and_then(|needs| needs.cage)), (Some(risk), Some(cage)));
        }
    }
}
