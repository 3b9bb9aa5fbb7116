//! [`LineJudge`]: what judges lines beside a toolbox.

use std::path::Path;
use std::sync::Arc;

use crate::call::judge::{Cause, Decision, Judgement, Rewriter, judge};
use crate::call::toolbox::Toolbox;

/// What a toolbox needs to judge lines: what a rewritten line starts, and what the policy withholds.
#[derive(Clone, Debug)]
pub struct LineJudge {
    rewriter: Rewriter,
    /// All tools that the configs describe, if the policy withholds some.
    unrestricted: Option<Arc<Toolbox>>,
}

impl LineJudge {
    /// Makes a judge. `unrestricted` holds all tools that the configs describe, if the policy withholds some.
    #[must_use]
    pub fn new(rewriter: Rewriter, unrestricted: Option<Toolbox>) -> Self {
        Self { rewriter, unrestricted: unrestricted.map(Arc::new) }
    }

    /// Returns whether the policy withholds tools, so that a line which is not read may hold a call of one.
    #[must_use]
    pub fn withholds_tools(&self) -> bool {
        self.unrestricted.is_some()
    }

    /// Judges a line that a shell is to run in a directory; in that of this process for `None`.
    #[must_use]
    pub fn judge(&self, toolbox: &Toolbox, line: &str, directory: Option<&Path>) -> Judgement {
        if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
            return Judgement::unread(format!(
                "{} is no directory, so that no line can run there",
                directory.display()
            ));
        }

        let judgement = judge(toolbox, line, directory, &self.rewriter);
        let Some(all) = self.unrestricted.as_ref().filter(|_| judgement.cause == Cause::Unread) else {
            return judgement;
        };

        // The tool that would read it may be one that the policy withholds.
        let whole = judge(all, line, directory, &self.rewriter);
        let mut tools = whole.commands.iter().filter_map(|command| command.tool.as_deref());
        let is_withheld = |tool: &str| all.index.get(tool).is_some() && toolbox.index.get(tool).is_none();
        match tools.find(|tool| is_withheld(tool)) {
            Some(tool) => {
                let reason = format!("the policy does not permit {tool}");
                Judgement { decision: Decision::Deny, cause: Cause::Refused, reason, ..judgement }
            }
            None => judgement,
        }
    }

    /// Returns the line that was typed, with its judgement, of a line that is to run in the directory of this process: where
    /// a judge has rewritten a line before, agents may bring it back.
    #[must_use]
    pub fn judge_typed(&self, toolbox: &Toolbox, line: String) -> (String, Judgement) {
        if let Some(original) = self.rewriter.original(&line) {
            let judgement = self.judge(toolbox, &original, None);
            if judgement.rewritten.as_ref() == Some(&line) {
                return (original, judgement);
            }
        }
        let judgement = self.judge(toolbox, &line, None);
        (line, judgement)
    }
}
