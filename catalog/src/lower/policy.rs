//! A policy and its rules for args → rows.

use crate::checked::CheckedPolicy;
use crate::executor::Executor;
use crate::offset::Full;
use crate::rule::{ArgRule, Pattern};
use crate::table::{ExecutorDef, PolicyDef, RuleDef, Stored, Tables};

impl Tables {
    pub(super) fn rule(&mut self, arg: u32, rule: &ArgRule, from_policy: bool) -> Result<RuleDef, Full> {
        let ArgRule { pattern, min, max, values, fixed, within, approval } = rule;
        Ok(RuleDef {
            arg,
            pattern: self.optional(pattern.as_ref().map(Pattern::as_str))?,
            min: *min,
            max: *max,
            values: values.store(self)?,
            fixed: self.optional(fixed.as_deref())?,
            within: within.store(self)?,
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
                volumes: container.volumes.store(self)?,
                working_dir: self.optional(container.working_dir.as_deref())?,
                network: self.optional(container.network.as_deref())?,
            },
            Executor::Sandbox(sandbox) => ExecutorDef::Sandbox {
                read: sandbox.read.store(self)?,
                write: sandbox.write.store(self)?,
                network: sandbox.network,
                limits: sandbox.limits,
            },
        };
        Ok(PolicyDef {
            access: policy.access,
            level: policy.level,
            headless: policy.headless,
            deny: policy.deny.store(self)?,
            env: policy.env.store(self)?,
            confine: policy.confine,
            lines: policy.lines,
            send: policy.send.store(self)?,
            judgement: policy.judgement,
            executor,
        })
    }
}
