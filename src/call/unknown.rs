//! Programs that no config describes: which they are, and the tools by which lines run them.

use std::sync::OnceLock;

use climax_catalog::policy::{ConfineLevel, Executor, Protection};
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
        let protection = policy.lines().rules.protect;
        Self { cage, protection, isolation, index, hidden: policy.described_programs() }
    }

    /// Returns the tool that runs a program; `None` if a config describes it, or if no cage would hold it truthfully.
    ///
    /// A program that does not exist has one: a line ends with status 127 where it stands, as in a shell.
    #[must_use]
    pub fn tool(&self, program: &str) -> Option<ResolvedTool<'static>> {
        let cage = self.cage.filter(|_| objection(program).is_none())?;
        let hidden = self.hidden.iter().map(String::as_str);
        let is_described = self.index.programs().chain(hidden).any(|name| exec::names_program(program, name));
        let is_held = || (self.isolation)().is_some_and(|isolation| isolation.holds(cage, self.protection));
        if is_described || !is_held() { None } else { tool(cage) }
    }
}

/// Returns the tool that runs an unknown program in a cage.
#[must_use]
pub(crate) fn tool(cage: Cage) -> Option<ResolvedTool<'static>> {
    static INDEX: OnceLock<Option<ToolIndex>> = OnceLock::new();

    let index = INDEX.get_or_init(|| {
        let source = Source::new("program.yaml", include_bytes!("program.yaml").to_vec()).ok()?;
        Some(ToolIndex::from_configs(vec![Layer::loaded(compile(&[source]).ok()?.catalog)]))
    });
    index.as_ref()?.get(match cage {
        Cage::Read => "program_read",
        Cage::Workspace => "program_workspace",
    })
}

/// Returns whether a tool is one that runs programs which no config describes.
#[must_use]
pub(crate) fn runs(program: ResolvedTool<'_>) -> bool {
    [Cage::Read, Cage::Workspace].into_iter().filter_map(tool).any(|own| own.name() == program.name())
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
