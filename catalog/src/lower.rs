//! Checked configs → [`Catalog`].

use std::collections::HashMap;

use crate::checked::{Arg, Cli, Resolve, Risk, Tool};
use crate::index::lowercase;
use crate::index::ranked::Builder;
use crate::policy::{Approval, Executor, Policy};
use crate::schema;
use crate::table::{
    ArgDef, ArgRow, Catalog, CliDef, ExecutorDef, Names, PolicyDef, ResolveDef, Rows, RuleDef, SearchText, Str, Texts,
    ToolDef,
};

/// Flattens configs, and the policy that they are under for good. The result depends on content and order only.
pub(crate) fn lower(clis: &[Cli], policy: Option<&Policy>) -> Catalog {
    let mut tables = Tables::default();
    // What every start reads stands together, so that a large catalog is not paged in for it.
    for cli in clis {
        tables.cli_texts(cli);
    }
    for cli in clis {
        tables.cli(cli);
    }
    let policy = policy.map(|policy| tables.policy(policy));
    Catalog { policy, ..tables.finish() }
}

#[derive(Default)]
struct Tables {
    text: String,
    text_ends: Vec<u32>,
    interned: HashMap<String, Str>,
    search: String,
    search_ends: Vec<u32>,
    ranked: Builder,
    clis: Vec<CliDef>,
    tools: Vec<ToolDef>,
    args: Vec<ArgDef>,
    resolves: Vec<ResolveDef>,
    rules: Vec<RuleDef>,
    lists: Vec<u32>,
    names: HashMap<Box<str>, u32>,
}

/// Bytes that the tables of a config take at most, roughly: what a CLI's tools share stands with each of them.
pub(crate) fn size(cli: &Cli, source_bytes: usize) -> usize {
    let tags: usize = cli.tags.iter().map(|tag| tag.len() + 3).sum();
    let shared = cli.name.len() + cli.category.as_ref().map_or(0, String::len) + tags;
    4 * source_bytes + 2 * shared * cli.tools.len()
}

/// A table offset. [`crate::compile`] refuses configs whose tables would be larger.
fn offset(len: usize) -> u32 {
    u32::try_from(len).expect("a catalog's tables fit 32-bit offsets")
}

impl Tables {
    fn cli_texts(&mut self, cli: &Cli) {
        let texts = [&cli.name, &cli.stem, &cli.description];
        for text in texts.into_iter().chain(&cli.category).chain(&cli.tags).chain(cli.words.first()) {
            self.text(text);
        }
    }

    fn cli(&mut self, cli: &Cli) {
        let row = offset(self.clis.len());
        let def = CliDef {
            name: self.text(&cli.name),
            stem: self.text(&cli.stem),
            description: self.text(&cli.description),
            category: cli.category.as_deref().map(|category| self.text(category)),
            tags: self.list(cli.tags.iter().map(String::as_str)),
            words: self.list(cli.words.iter().map(String::as_str)),
            env: self.pairs(&cli.env),
            risk: cli.tools.iter().map(|tool| tool.risk).max().unwrap_or(Risk::Read),
            working_dir: cli.working_dir.as_deref().map(|dir| self.text(dir)),
            global_args: self.args(&cli.global_args),
            tools: Rows(0, 0),
        };
        let first = offset(self.tools.len());
        self.ranked.start(cli);
        for tool in &cli.tools {
            self.tool(row, cli, tool);
        }
        self.clis.push(CliDef { tools: Rows(first, offset(self.tools.len())), ..def });
    }

    fn tool(&mut self, cli_row: u32, cli: &Cli, tool: &Tool) {
        let schema = schema::input_schema(&tool.args);
        let def = ToolDef {
            cli: cli_row,
            name: self.text(&tool.name),
            description: self.text(&tool.description),
            entry: self.text(&schema::index_entry(cli, tool, &schema)),
            schema_bytes: offset(schema.len()),
            words: self.list(tool.words.iter().map(String::as_str)),
            args: self.args(&tool.args),
            timeout_ms: tool.timeout_ms,
            risk: tool.risk,
            asks: tool.asks,
            confirm_message: tool.confirm_message.as_deref().map(|message| self.text(message)),
            resolves: self.resolves(&tool.resolve),
        };
        self.names.insert(tool.name.as_str().into(), offset(self.tools.len()));
        self.tools.push(def);
        self.search_fields(cli, tool);
        self.ranked.add(tool);
    }

    fn search_fields(&mut self, cli: &Cli, tool: &Tool) {
        let fields = [&tool.name, &tool.description, &cli.name].into_iter().chain(&cli.category).chain(&cli.tags);
        for field in fields {
            self.search.push_str(&lowercase(field));
            self.search.push('\0');
        }
        self.search_ends.push(offset(self.search.len()));
    }

    fn args(&mut self, args: &[Arg]) -> Rows {
        let first = offset(self.args.len());
        for arg in args {
            let row = ArgRow {
                name: self.text(&arg.name),
                description: self.text(&arg.description),
                flag: self.text(&arg.flag),
                default: arg.default.as_ref().map(|default| self.text(&default.word)),
                values: self.list(arg.values.iter().map(String::as_str)),
                kind: arg.kind,
                place: arg.place,
                required: arg.required,
                leading_dash: arg.leading_dash,
            };
            for rule in &arg.rules {
                let pattern = rule.pattern.as_ref().map(|pattern| self.text(pattern.as_str()));
                self.rules.push(RuleDef { arg: offset(self.args.len()), pattern, min: rule.min, max: rule.max });
            }
            self.args.push(ArgDef::pack(row));
        }
        Rows(first, offset(self.args.len()))
    }

    fn resolves(&mut self, entries: &[Resolve]) -> Rows {
        let first = offset(self.resolves.len());
        for entry in entries {
            let def = ResolveDef {
                name: self.text(&entry.name),
                words: self.list(entry.words.iter().map(String::as_str)),
                args: self.pairs(&entry.args),
                timeout_ms: entry.timeout_ms,
            };
            self.resolves.push(def);
        }
        Rows(first, offset(self.resolves.len()))
    }

    fn policy(&mut self, policy: &Policy) -> PolicyDef {
        let executor = match &policy.executor {
            Executor::Local => ExecutorDef::Local,
            Executor::Container(container) => ExecutorDef::Container {
                runtime: container.runtime,
                image: self.text(&container.image),
                volumes: self.list(container.volumes.iter().map(String::as_str)),
                working_dir: container.working_dir.as_deref().map(|dir| self.text(dir)),
                network: container.network.as_deref().map(|network| self.text(network)),
            },
            Executor::Sandbox(sandbox) => ExecutorDef::Sandbox {
                read: self.list(sandbox.read.iter().map(String::as_str)),
                write: self.list(sandbox.write.iter().map(String::as_str)),
                network: sandbox.network,
                limits: sandbox.limits,
            },
        };
        let Approval { global, headless, .. } = policy.approval;
        PolicyDef { access: policy.access, level: global, headless, executor }
    }

    fn pairs(&mut self, pairs: &[(String, String)]) -> Rows {
        self.list(pairs.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]))
    }

    fn list<'a>(&mut self, items: impl Iterator<Item = &'a str>) -> Rows {
        let first = offset(self.lists.len());
        for item in items {
            let id = self.text(item);
            self.lists.push(id.0);
        }
        Rows(first, offset(self.lists.len()))
    }

    fn text(&mut self, text: &str) -> Str {
        if let Some(id) = self.interned.get(text) {
            return *id;
        }
        let id = Str(offset(self.text_ends.len()));
        self.text.push_str(text);
        self.text_ends.push(offset(self.text.len()));
        self.interned.insert(text.to_owned(), id);
        id
    }

    fn finish(self) -> Catalog {
        Catalog {
            texts: Texts { text: self.text.into(), ends: self.text_ends.into() },
            search: SearchText { text: self.search.into(), ends: self.search_ends.into() },
            ranked: self.ranked.finish(),
            clis: self.clis.into(),
            tools: self.tools.into(),
            args: self.args.into(),
            resolves: self.resolves.into(),
            rules: self.rules.into(),
            lists: self.lists.into(),
            policy: None,
            sealed: false,
            digest: None,
            names: Names::Hashed(self.names),
        }
    }
}
