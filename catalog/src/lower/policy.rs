//! A policy and its rules for args → rows.

use super::Tables;
use crate::checked::CheckedPolicy;
use crate::executor::Executor;
use crate::offset::Full;
use crate::rule::{ArgRule, Pattern};
use crate::table::{ExecutorDef, PolicyDef, RuleDef};

impl Tables {
    pub(super) fn rule(&mut self, arg: u32, rule: &ArgRule, from_policy: bool) -> Result<RuleDef, Full> {
        let ArgRule { pattern, min, max, values, fixed, within, approval } = rule;
        Ok(RuleDef {
            arg,
            pattern: self.optional(pattern.as_ref().map(Pattern::as_str))?,
            min: *min,
            max: *max,
            values: self.texts(values)?,
            fixed: self.optional(fixed.as_deref())?,
            within: self.texts(within)?,
            approval: self.optional(approval.as_ref().map(Pattern::as_str))?,
            from_policy,
        })
    }

    pub(super) fn policy(&mut self, policy: &CheckedPolicy) -> Result<PolicyDef, Full> {
        let executor = match &policy.executor {
            Executor::Local => ExecutorDef::Local,
            Executor::Container(container) => ExecutorDef::Container {
                runtime: container.runtime,
                image: self.text(&container.image)?,
                volumes: self.texts(&container.volumes)?,
                working_dir: self.optional(container.working_dir.as_deref())?,
                network: self.optional(container.network.as_deref())?,
            },
            Executor::Sandbox(sandbox) => ExecutorDef::Sandbox {
                read: self.texts(&sandbox.read)?,
                write: self.texts(&sandbox.write)?,
                network: sandbox.network,
                limits: sandbox.limits,
            },
        };
        Ok(PolicyDef {
            access: policy.access,
            level: policy.level,
            headless: policy.headless,
            deny: self.texts(&policy.deny)?,
            env: self.pairs(&policy.env)?,
            confine: policy.confine,
            executor,
        })
    }
}
