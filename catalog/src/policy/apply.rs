//! Policy and index → the index of the permitted tools.

use super::file::PolicyFile;
use super::restrict::{changes, lowered};
use super::{Executor, Policy};
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::index::{Layer, ToolIndex};
use crate::model::{Headless, JudgeRules};
use crate::table::Catalog;

/// A policy and the index of the tools that it permits.
#[derive(Debug)]
pub struct Applied {
    /// The policy.
    pub policy: Policy,
    /// The permitted tools, with the descriptions of the policy.
    pub index: ToolIndex,
    /// Likely mistakes in the policy.
    pub warnings: Diagnostics,
}

/// Makes warnings about names that do not exist errors.
#[must_use]
pub fn names_as_errors(found: &Diagnostics) -> Diagnostics {
    let mut all = Diagnostics::default();
    all.extend(found.iter().cloned().map(unknown_as_error));
    all
}

/// Leaves out the warnings about names that do not exist, and about permitting nothing: an index of some CLIs says neither.
#[must_use]
pub fn without_names(found: &Diagnostics) -> Diagnostics {
    let is_about_names = |one: &&Diagnostic| {
        matches!(one.code(), Code::UnknownTool | Code::UnknownArg | Code::UnknownPrompt | Code::NothingPermitted)
    };
    let mut others = Diagnostics::default();
    others.extend(found.iter().filter(|one| !is_about_names(one)).cloned());
    others
}

/// Makes a warning about a name that does not exist an error.
fn unknown_as_error(one: Diagnostic) -> Diagnostic {
    match one.code() {
        Code::UnknownTool | Code::UnknownArg | Code::UnknownPrompt => one.into_error(),
        _ => one,
    }
}

impl PolicyFile {
    /// Restricts the policy to what the compiled-in policy permits.
    ///
    /// # Errors
    /// The policy has another executor than the compiled-in policy.
    pub fn narrowing(mut self, compiled_in: &Policy) -> Result<Self, Diagnostics> {
        if compiled_in.headless() == Headless::Deny {
            self.policy.approval.headless = Headless::Deny;
        }

        self.policy.env.retain(|(name, _)| compiled_in.env.iter().all(|(fixed, _)| fixed != name));
        self.policy.env.extend(compiled_in.env.iter().cloned());
        self.policy.confine = self.policy.confine.stricter(compiled_in.confine);
        self.policy.lines.rules = self.policy.lines.rules.stricter(compiled_in.lines.rules);
        // A pattern is no name that another pattern fits by chance, so that it stays only if a pattern covers it.
        self.policy.lines.send.retain(|host| compiled_in.lines.sends_to(host));
        let sensitive = Some(self.policy.sensitive().max(compiled_in.sensitive()));
        self.policy.judgement = JudgeRules { sensitive, ..self.policy.judgement.stricter(compiled_in.judgement) };

        match (&compiled_in.executor, self.keys.executor) {
            (Executor::Local, _) => {}
            (fixed, Some(span)) if *fixed != self.policy.executor => {
                let message = "the compiled-in policy says where programs run, and it is not here";
                let error = self.source.diagnostic(Code::Widening, span, message);
                let mut all = Diagnostics::default();
                all.push(
                    error.help("remove `executor`: a policy at run time can only narrow the one that is compiled in"),
                );
                return Err(all);
            }
            (fixed, _) => self.policy.executor = fixed.clone(),
        }

        Ok(self)
    }

    /// Applies the policy to an index. `elsewhere` returns whether a tool exists outside of the index.
    ///
    /// The resulting index holds the permitted tools only. Where the policy changes anything it is built from scratch,
    /// so that words and ranks of a search do not reveal hidden tools.
    ///
    /// # Errors
    /// The permitted tools of all layers together do not fit one catalog.
    ///
    /// ```
    /// use climax_catalog::{Diagnostics, Layer, Source, ToolIndex, compile, policy};
    ///
    /// let config = "command: date\ntools:\n  - {name: date_now, description: Show the time}\n  \
    ///               - {name: date_set, description: Set the time, risk: write}\n";
    /// let catalog = compile(&[Source::new("date.yaml", config.into())?])?.catalog;
    /// let index = ToolIndex::from_configs(vec![Layer::loaded(catalog)]);
    ///
    /// let policy = policy::read(&Source::new("policy.yaml", "tools: {date_now: {}}\n".into())?)?;
    /// let applied = policy.apply(index, &|_| false)?;
    /// assert!(applied.index.get("date_now").is_some());
    /// assert!(applied.index.get("date_set").is_none());
    /// # Ok::<(), Diagnostics>(())
    /// ```
    pub fn apply(self, index: ToolIndex, elsewhere: &dyn Fn(&str) -> bool) -> Result<Applied, Diagnostics> {
        let found: Vec<Diagnostic> = self.name_warnings(&index, elsewhere);
        let unknown: Vec<Diagnostic> = self.unknown_prompts(&index);
        let mut warnings = self.warnings;
        warnings.extend(found);
        warnings.extend(unknown);
        let (policy, index) = if changes(&self.policy, &index) {
            let narrowed = ToolIndex::from_configs(vec![Layer::loaded(lowered(&self.policy, &index, None)?)]);
            (self.policy.with_described_programs(index.programs().map(str::to_owned)), narrowed)
        } else {
            (self.policy, index)
        };

        if index.tools().next().is_none() {
            let message = "the policy permits no tool that is served".to_owned();
            let help = "name tools under `tools:` or `allow:`, or write `default: enabled`";
            warnings.push(Diagnostic::file(Code::NothingPermitted, self.source.path(), message, help));
        }

        Ok(Applied { policy, index, warnings })
    }

    /// Compiles the policy into a catalog.
    ///
    /// # Errors
    /// The policy names tools or args that do not exist, or the tools no longer fit one catalog.
    pub fn compile_in(self, catalog: Catalog) -> Result<Compiled, Diagnostics> {
        let index = ToolIndex::from_configs(vec![Layer::loaded(catalog)]);
        let found: Vec<Diagnostic> = self.name_warnings(&index, &|_| false);
        let mut warnings = self.warnings;
        warnings.extend(found.into_iter().map(unknown_as_error));
        if warnings.has_errors() {
            return Err(warnings);
        }
        Ok(Compiled { catalog: lowered(&self.policy, &index, Some(&self.policy))?, warnings })
    }
}

impl Policy {
    /// Applies a compiled-in policy to tools that are added at run time.
    ///
    /// # Errors
    /// The tools no longer fit one catalog.
    pub fn admit(&self, catalog: Catalog) -> Result<Catalog, Diagnostics> {
        lowered(self, &ToolIndex::from_configs(vec![Layer::loaded(catalog)]), None)
    }
}
