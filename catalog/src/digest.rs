//! The digest of everything that is served and how: equal digests mean equal catalogs and policies.
//!
//! Every field of a row is hashed that is not left out by name, with the reason. Args and policies are taken apart field
//! by field, so that a new field of theirs does not compile until it is hashed or left out.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use crate::index::ToolIndex;
use crate::model::{ArgRisk, JudgeRules, LineRules, Order, Risk, SandboxLimits, SensitiveRule, Shape};
use crate::policy::{Approval, ArgRule, Confine, ConfineLevel, Container, Executor, Lines, Pattern, Policy, Sandbox};
use crate::table::{ArgRow, Catalog, Row, Value};
use crate::view::{ArgView, OutputFileView, ResolvedTool, RuleView};

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

/// The fields of tools that the digest leaves out.
const NOT_OF_TOOLS: &[&str] = &[
    // A number of a row, and a number that follows from the entry.
    "cli",
    "schema_bytes",
    // In the entry.
    "name",
    "description",
    // With the needs of the CLI, and with what the policy requires.
    "needs",
    "approval_from",
];

/// The fields of CLIs that the digest leaves out.
const NOT_OF_CLIS: &[&str] = &[
    // In the entries of its tools.
    "name",
    "category",
    "tags",
    // With each tool.
    "needs",
    // Follows from its tools.
    "risk",
    // Changes neither a call nor the description of a tool.
    "stem",
    "description",
];

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

    /// Adds a row: the name and the value of each field that has one, but not of those in `left_out`.
    ///
    /// Rows of other tables are numbers that depend on everything else in the catalog, so the caller adds those rows
    /// themselves.
    fn row(&mut self, catalog: &Catalog, row: &impl Row, left_out: &[&str]) {
        for (name, value) in row.fields() {
            if !left_out.contains(&name) {
                self.field(catalog, name, value);
            }
        }
    }

    /// Adds a field. An absent value adds nothing, so a new key changes the digests of those configs only that use it.
    fn field(&mut self, catalog: &Catalog, name: &str, value: Value) {
        match value {
            Value::Optional(None) | Value::Bool(false) | Value::Rows(_) => {}
            Value::Optional(Some(value)) => self.field(catalog, name, *value),
            Value::Bool(true) => self.add(name),
            Value::Number(number) => self.add_all([name, &number.to_string()]),
            Value::Float(number) => self.add_all([name, &number.to_string()]),
            Value::Text(text) => self.add_all([name, catalog.texts.get(text)]),
            Value::Variant(_, variant) => self.add_all([name, &variant]),
            Value::List(list) => {
                let texts = catalog.list(list);
                if texts.len() > 0 {
                    self.add_all([name, &texts.len().to_string()]);
                    self.add_all(texts);
                }
            }
        }
    }

    fn tool(&mut self, tool: ResolvedTool<'_>, approval_from: Option<Risk>) {
        let catalog = tool.catalog();

        self.row(catalog, tool.def(), NOT_OF_TOOLS);
        self.add(approval_from.map_or("", Risk::as_str));
        if let Some(needs) = tool.needs() {
            self.add("needs");
            self.add_all(needs.pairs().flat_map(|(kind, item)| [kind, item]));
            self.add(END);
        }

        for question in tool.questions() {
            self.row(catalog, question.def(), &[]);
        }

        for resolve in tool.resolves() {
            self.row(catalog, resolve.def(), &[]);
        }

        for group in tool.groups() {
            self.row(catalog, group.def(), &[]);
        }

        for arg in tool.args() {
            self.arg(arg);
        }

        for arg in tool.withheld_args() {
            self.add("withheld");
            self.arg(arg);
        }

        self.row(catalog, tool.cli().def(), NOT_OF_CLIS);
        for arg in tool.cli().global_args() {
            self.add("global");
            self.arg(arg);
        }
    }

    fn arg(&mut self, arg: ArgView<'_>) {
        let ArgRow {
            place,
            leading_dash,
            from_user,
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
        if from_user || !shown {
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
            lines: Lines { rules: LineRules { unknown, widest, protect }, unstated, secrets, open, send },
            judgement: JudgeRules { project, sensitive, hook_allow, bypass },
            // The index holds the tools and prompts as the policy has them, and the hash which tools need approval.
            access: _,
            allow: _,
            deny: _,
            tools: _,
            prompts: _,
            programs: _,
        } = policy;
        self.add(headless.as_str());

        for (name, value) in env {
            self.add_all([name.as_str(), value.as_str()]);
        }

        self.add(level.map_or("", ConfineLevel::as_str));
        self.add(unknown.unwrap_or(*unstated).as_str());
        self.add(widest.as_str());
        self.add(protect.as_str());
        self.add_all(secrets.iter().flat_map(|name| ["secret", name]));
        self.add_all(open.iter().flat_map(|name| ["open", name]));
        self.add_all(send.iter().flat_map(|host| ["send", host]));
        self.add_all([project.as_str(), sensitive.map_or("", SensitiveRule::as_str)]);
        self.add_all([hook_allow.as_str(), bypass.as_str()]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::source::Source;

    fn catalog() -> Catalog {
        let text = "command: date\ntools:\n  - {name: date_now, description: Show the time}\n";
        compile(&[Source::new("date.yaml", text.into()).unwrap()]).unwrap().catalog
    }

    #[test]
    fn what_is_left_out_are_fields() {
        let catalog = catalog();
        for (fields, left_out) in [(catalog.tools[0].fields(), NOT_OF_TOOLS), (catalog.clis[0].fields(), NOT_OF_CLIS)] {
            let names: Vec<&str> = fields.into_iter().map(|(name, _)| name).collect();
            assert!(left_out.iter().all(|name| names.contains(name)), "{left_out:?} {names:?}");
        }
    }

    #[test]
    fn rows_of_other_tables_are_those_that_are_added() {
        let catalog = catalog();
        let tables = |fields: Vec<(&'static str, Value)>| -> Vec<&str> {
            fields.into_iter().filter(|(_, value)| matches!(value, Value::Rows(_))).map(|(name, _)| name).collect()
        };
        assert_eq!(tables(catalog.tools[0].fields()), ["args", "withheld", "groups", "questions", "resolves"]);
        assert_eq!(tables(catalog.clis[0].fields()), ["global_args", "tools"]);
    }
}
