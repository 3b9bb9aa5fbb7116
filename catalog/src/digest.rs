//! The digest of everything that is served and how: equal digests mean equal catalogs and policies.
//!
//! Every row and every policy is taken apart field by field. So a new field does not compile until it is hashed, or left
//! out by name with the reason.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use crate::index::ToolIndex;
use crate::model::{ArgRisk, Order, Risk, SandboxLimits, Shape};
use crate::policy::{Approval, ArgRule, Confine, ConfineLevel, Container, Executor, Pattern, Policy, Sandbox};
use crate::table::{ArgRow, CliDef, GroupDef, QuestionDef, ResolveDef, Str, ToolDef};
use crate::view::{ArgView, CliView, OutputFileView, QuestionView, ResolveView, ResolvedTool, RuleView};

/// Ends a list of texts.
const END: &str = "\0";

/// Computes the SHA-256 over what is served, in hexadecimal: entries, command lines, limits, risks, approval, executor;
/// in the order of the tools.
///
/// The same configs and policy give the same digest on every machine, whatever their formatting. The digest of a
/// compiled-in catalog is computed when the catalog is compiled in.
#[must_use]
pub fn digest<'a>(index: &'a ToolIndex, policy: &Policy) -> Cow<'a, str> {
    let finished = index.whole().filter(|catalog| policy.adds_nothing_to(catalog)).and_then(|catalog| catalog.digest);
    finished.map_or_else(|| computed(index, policy).into(), Cow::Borrowed)
}

fn computed(index: &ToolIndex, policy: &Policy) -> String {
    let mut hash = Hash::default();
    for tool in index.tools() {
        hash.tool(tool, policy.approval_from(tool));
    }
    for prompt in index.prompts() {
        hash.add(&prompt.name);
        hash.add(&prompt.to_json());
    }
    hash.policy(policy);
    hex::encode(hash.sha256.finalize())
}

/// A hash of texts, each with its length before it.
#[derive(Default)]
struct Hash {
    sha256: Sha256,
}

impl Hash {
    fn add(&mut self, text: &str) {
        self.sha256.update((text.len() as u64).to_le_bytes());
        self.sha256.update(text);
    }

    fn add_all<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) {
        for text in texts {
            self.add(text);
        }
    }

    fn pairs<'a>(&mut self, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
        self.add_all(pairs.flat_map(|(name, value)| [name, value]));
    }

    fn tool(&mut self, tool: ResolvedTool<'_>, approval_from: Option<Risk>) {
        let catalog = tool.catalog();
        let ToolDef {
            entry,
            risk,
            timeout_ms,
            is_long,
            output,
            output_schema,
            confirm_message,
            resource,
            title,
            words,
            aliases,
            always,
            phrases,
            // Read through the view.
            needs: _,
            exit_codes: _,
            cli: _,
            args: _,
            withheld: _,
            groups: _,
            questions: _,
            resolves: _,
            // In the entry.
            name: _,
            description: _,
            schema_bytes: _,
            // The parameter is this and the rule of the policy.
            approval_from: _,
        } = *tool.def();
        let optional = |text: Option<Str>| text.map(|text| catalog.texts.get(text)).unwrap_or_default();
        self.add(catalog.texts.get(entry));
        self.add(risk.map_or("", Risk::as_str));
        self.add(&timeout_ms.to_string());
        self.add(&is_long.to_string());
        self.add(approval_from.map_or("", Risk::as_str));
        self.add_all([output, output_schema, confirm_message, resource, title].map(optional));
        for (code, meaning) in tool.exit_codes() {
            self.add_all([code.to_string().as_str(), meaning]);
        }
        self.add_all([END].into_iter().chain(catalog.list(phrases)).chain([END]));
        tool.questions().for_each(|question| self.question(question));
        tool.resolves().for_each(|resolve| self.resolve(resolve));
        self.add_all(catalog.list(tool.cli().def().words).chain([END]).chain(catalog.list(tool.cli().def().always)));
        self.add_all(
            [END].into_iter().chain(catalog.list(tool.cli().def().programs)).chain([END]).chain(catalog.list(aliases)),
        );
        self.add_all([END].into_iter().chain(catalog.list(words)).chain([END]).chain(catalog.list(always)));
        for group in tool.groups() {
            let GroupDef { kind, args } = *group.def();
            self.add_all([kind.as_str()].into_iter().chain(catalog.list(args)).chain([END]));
        }
        if let Some(needs) = tool.needs() {
            self.add("needs");
            self.add_all(needs.pairs().flat_map(|(kind, item)| [kind, item]));
        }
        tool.args().for_each(|arg| self.arg(arg));
        for arg in tool.withheld_args() {
            self.add("withheld");
            self.arg(arg);
        }
        self.cli(tool.cli());
    }

    /// Adds all of a CLI but its words, which stand before those of its tools.
    fn cli(&mut self, cli: CliView<'_>) {
        let CliDef {
            // Before the words of each tool.
            words: _,
            programs: _,
            always: _,
            // Read through the view.
            global_args: _,
            env: _,
            working_dir: _,
            // With each tool.
            needs: _,
            // In the entries of its tools.
            name: _,
            category: _,
            tags: _,
            // Follows from its tools.
            risk: _,
            tools: _,
            // Changes neither a call nor the description of a tool.
            stem: _,
            description: _,
        } = *cli.def();
        cli.global_args().for_each(|arg| self.arg(arg));
        for (name, value) in cli.env() {
            self.add_all([name, value.encoded().as_ref()]);
        }
        self.add(cli.working_dir().unwrap_or_default());
    }

    fn question(&mut self, question: QuestionView<'_>) {
        let QuestionDef { name: _, message: _, args: _ } = *question.def();
        self.add_all([question.name(), question.message()].into_iter().chain(question.args()).chain([END]));
    }

    fn resolve(&mut self, resolve: ResolveView<'_>) {
        let ResolveDef { name: _, words: _, args: _, timeout_ms } = *resolve.def();
        self.add(resolve.name());
        self.add(&timeout_ms.to_string());
        self.add_all(resolve.words().chain([END]));
        self.pairs(resolve.args());
    }

    fn arg(&mut self, arg: ArgView<'_>) {
        let ArgRow {
            place,
            leading_dash,
            asked,
            kind,
            shown,
            order,
            shape,
            // Read through the view.
            name: _,
            flag: _,
            default: _,
            description: _,
            values: _,
            risk: _,
            detail: _,
            // In the schema of the entry.
            required: _,
        } = arg.row();
        let dash = if leading_dash == Some(true) { "-" } else { "" };
        if order == Order::Given {
            self.add("ordered");
        }
        self.add_all([arg.name(), place.as_str(), arg.flag(), arg.default().unwrap_or_default(), dash]);
        if let Some(OutputFileView { mime, file }) = arg.output() {
            self.add_all([mime, file]);
        }
        self.detail(arg, shape);
        if asked || !shown {
            // The schema has no arg that the user gives, and none that is not shown.
            self.add_all([kind.as_str(), arg.description()].into_iter().chain(arg.values()));
        }
    }

    /// Adds the details of an arg, with the rules that the schema of the entry does not hold.
    fn detail(&mut self, arg: ArgView<'_>, shape: Shape) {
        self.add_all([
            shape.as_str(),
            arg.separator(),
            arg.off().unwrap_or_default(),
            arg.variable().unwrap_or_default(),
        ]);
        for choice in arg.choices() {
            self.add_all([choice.title, choice.written()].map(Option::unwrap_or_default));
        }
        self.add_all(arg.aliases().chain([END]));
        for number in [arg.min_items(), arg.max_items()] {
            self.add(&number.map(|number| number.to_string()).unwrap_or_default());
        }
        match arg.risk() {
            ArgRisk::OfTool => {}
            ArgRisk::Always(risk) => self.add(risk.as_str()),
            ArgRisk::ByValue { values, otherwise } => {
                self.add_all(values.iter().flat_map(|(value, risk)| [value.as_str(), risk.as_str()]));
                self.add(otherwise.as_str());
            }
        }
        for rule in arg.rules().map(RuleView::to_rule) {
            self.rule(&rule);
        }
    }

    /// Adds what a rule says beside its pattern and its bounds.
    fn rule(&mut self, rule: &ArgRule) {
        // The schema holds these.
        let ArgRule { pattern: _, min: _, max: _, values, fixed, within, approval } = rule;
        let approval = approval.as_ref().map(Pattern::as_str);
        for (key, text) in [("fixed", fixed.as_deref()), ("approval", approval)] {
            self.add_all(text.into_iter().flat_map(|text| [key, text]));
        }
        for (key, texts) in [("values", values), ("within", within)] {
            self.add_all(texts.iter().flat_map(|text| [key, text]));
        }
    }

    fn policy(&mut self, policy: &Policy) {
        let Policy {
            executor,
            approval: Approval { headless, global: _, tools: _ },
            env,
            confine: Confine { level, required },
            // The index holds the tools and prompts as the policy has them, and the hash which tools need approval.
            access: _,
            allow: _,
            deny: _,
            tools: _,
            prompts: _,
        } = policy;
        self.add(headless.as_str());
        for (name, value) in env {
            self.add_all([name.as_str(), value.as_str()]);
        }
        self.add(level.map_or("", ConfineLevel::as_str));
        self.add(&required.to_string());
        self.executor(executor);
    }

    fn executor(&mut self, executor: &Executor) {
        match executor {
            Executor::Local => self.add("local"),
            Executor::Container(container) => {
                let Container { runtime, image, volumes, working_dir, network } = container;
                self.add_all([runtime.as_str(), image]);
                self.add_all([working_dir, network].map(|text| text.as_deref().unwrap_or_default()));
                self.add_all(volumes.iter().map(String::as_str));
            }
            Executor::Sandbox(Sandbox { read, write, network, limits }) => {
                let SandboxLimits { memory_mb, cpu_s, processes, file_mb } = *limits;
                self.add("sandbox");
                self.add(&network.to_string());
                for limit in [memory_mb, cpu_s, processes, file_mb] {
                    self.add(&limit.map(|limit| limit.to_string()).unwrap_or_default());
                }
                self.add_all(read.iter().map(String::as_str).chain([END]).chain(write.iter().map(String::as_str)));
            }
        }
    }
}
