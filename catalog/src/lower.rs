//! Checked configs → [`Catalog`].

mod arg;
mod policy;

use std::collections::HashMap;

use crate::checked::{CheckedPolicy, CommandPart};
use crate::diagnostic::{Code, Diagnostic};
use crate::index::lowercase;
use crate::index::ranked::Builder;
use crate::model::Risk;
use crate::offset::{Full, MAX_OFFSET};
use crate::prompt::Prompt;
use crate::schema;
use crate::table::{Catalog, CheckedCli, CheckedTool, CliDef, Names, PromptDef, Rows, SearchText, Tables, Texts};

/// The error that tables would need larger offsets than 32 bits.
#[derive(Debug, PartialEq)]
pub(crate) struct Overflow {
    /// The config whose rows no longer fit.
    path: String,
    /// The unit that the full table counts, such as `bytes of text`.
    unit: &'static str,
}

impl Overflow {
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        let message = format!("the configs up to this one have more than {MAX_OFFSET} {}", self.unit);
        let help = "compile fewer configs into one catalog; mind aliases, which stand for their text each time";
        Diagnostic::file(Code::TooLarge, &self.path, message, help)
    }
}

/// Flattens configs and the policy that is compiled in with them. The result depends on content and order only.
///
/// # Errors
/// A table would need larger offsets than 32 bits.
pub(crate) fn lower(clis: &[CheckedCli], policy: Option<&CheckedPolicy>) -> Result<Catalog, Overflow> {
    lower_within(clis, policy, MAX_OFFSET)
}

fn lower_within(clis: &[CheckedCli], policy: Option<&CheckedPolicy>, max: u32) -> Result<Catalog, Overflow> {
    let overflow = |cli: Option<&CheckedCli>, Full(unit): Full| Overflow {
        path: cli.map_or_else(String::new, |cli| cli.path.clone()),
        unit,
    };
    let mut lowering = Lowering { tables: Tables::new(max), ..Lowering::default() };

    // The texts that every start reads stand together, so that a start does not page in a large catalog.
    for cli in clis {
        lowering.first_texts(cli).map_err(|full| overflow(Some(cli), full))?;
    }

    for cli in clis {
        lowering.cli(cli).map_err(|full| overflow(Some(cli), full))?;
    }

    let policy = policy.map(|policy| lowering.tables.policy(policy)).transpose();
    let finished = policy.and_then(|policy| Ok(Catalog { policy, ..lowering.finish()? }));
    finished.map_err(|full| overflow(clis.last(), full))
}

/// A catalog that is being made: its tables, and what follows from them.
#[derive(Default)]
struct Lowering {
    tables: Tables,
    search: String,
    search_ends: Vec<u32>,
    ranked: Builder,
    resources: Vec<u32>,
    names: HashMap<Box<str>, u32>,
}

impl Lowering {
    /// Stores the texts of a CLI that every start reads.
    fn first_texts(&mut self, cli: &CheckedCli) -> Result<(), Full> {
        let texts = [&cli.name, &cli.stem, &cli.description];
        for text in texts.into_iter().chain(&cli.category).chain(&cli.tags) {
            self.tables.text(text)?;
        }
        if let Some(CommandPart::Word(program)) = cli.words.first() {
            self.tables.text(program)?;
        }
        Ok(())
    }

    fn cli(&mut self, cli: &CheckedCli) -> Result<(), Full> {
        let number = self.tables.offset(self.tables.clis.len(), "CLIs")?;
        let risk = cli.tools.iter().map(CheckedTool::promised_risk).max().unwrap_or(Risk::Read);
        let row = cli.to_row(&mut self.tables, risk, Rows(0, 0))?;

        let first = self.tables.offset(self.tables.tools.len(), "tools")?;
        self.ranked.start(cli);
        for tool in &cli.tools {
            self.tool(number, cli, tool)?;
        }

        let end = self.tables.offset(self.tables.tools.len(), "tools")?;
        self.tables.clis.push(CliDef { tools: Rows(first, end), ..row });

        for prompt in &cli.prompts {
            self.prompt(number, &prompt.value)?;
        }

        Ok(())
    }

    fn prompt(&mut self, cli: u32, prompt: &Prompt) -> Result<(), Full> {
        let tables = &mut self.tables;
        let row = PromptDef { cli, name: tables.text(&prompt.name)?, definition: tables.text(&prompt.to_json())? };
        tables.offset(tables.prompts.len(), "prompts")?;
        tables.prompts.push(row);
        Ok(())
    }

    fn tool(&mut self, cli_number: u32, cli: &CheckedCli, tool: &CheckedTool) -> Result<(), Full> {
        let tables = &mut self.tables;
        let schema = schema::input_schema(&tool.args, &tool.groups);
        let entry = tables.text(&schema::index_entry(cli, tool, &schema))?;
        let schema_bytes = tables.offset(schema.len(), "bytes of schema")?;
        let row = tool.to_row(tables, cli_number, entry, schema_bytes)?;

        let number = tables.offset(tables.tools.len(), "tools")?;
        tables.tools.push(row);
        self.names.insert(tool.name.as_str().into(), number);

        if tool.resource.is_some() {
            self.resources.push(number);
        }

        self.search_fields(cli, tool)?;
        self.ranked.add(tool);
        Ok(())
    }

    fn search_fields(&mut self, cli: &CheckedCli, tool: &CheckedTool) -> Result<(), Full> {
        let fields = [&tool.name, &tool.description, &cli.name].into_iter().chain(&cli.category).chain(&cli.tags);
        for field in fields {
            self.search.push_str(&lowercase(field));
            self.search.push('\0');
        }
        let end = self.tables.offset(self.search.len(), "bytes of searched text")?;
        self.search_ends.push(end);
        Ok(())
    }

    fn finish(self) -> Result<Catalog, Full> {
        let Self { tables, search, search_ends, ranked, resources, names } = self;
        let ranked = ranked.finish(tables.max())?;

        Ok(Catalog {
            texts: Texts { text: tables.text.into(), ends: tables.text_ends.into() },
            search: SearchText { text: search.into(), ends: search_ends.into() },
            ranked,
            clis: tables.clis.into(),
            tools: tables.tools.into(),
            args: tables.args.into(),
            resolves: tables.resolves.into(),
            questions: tables.questions.into(),
            resources: resources.into(),
            prompts: tables.prompts.into(),
            files: tables.files.into(),
            groups: tables.groups.into(),
            details: tables.details.into(),
            rules: tables.rules.into(),
            lists: tables.lists.into(),
            skills: None,
            policy: None,
            sealed: false,
            digest: None,
            names: Names::Hashed(names),
        })
    }
}

/// Estimates the most bytes that the tables of a config take. Each tool repeats the texts that it shares with its CLI.
pub(crate) fn size(cli: &CheckedCli, source_bytes: usize) -> usize {
    let tags: usize = cli.tags.iter().map(|tag| tag.len() + 3).sum();
    let shared = cli.name.len() + cli.category.as_ref().map_or(0, String::len) + tags;
    4 * source_bytes + 2 * shared * cli.tools.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::{Executor, Sandbox};
    use crate::model::{Access, Confine, Headless, JudgeRules, Level, LineRules};
    use crate::source::Source;

    fn clis() -> Vec<CheckedCli> {
        let text = "command: a b\ncategory: c\ntags: [t]\nenv: {K: v}\nglobal_args: [{name: g, default: d}]\ntools:\n  \
                    - {name: one, description: Show one, args: [{name: x, enum: [y, z], default: y}],\n     \
                       resolve: {r: {command: r, args: {k: v}}}, confirm_message: m,\n     \
                       ask: [{name: q, message: Which?, args: [x]}]}\n  - {name: two, description: Show two, risk: read, resource: \"t:t\"}\n\
                    prompts: [{name: p, description: Show p, messages: [p]}]\n";
        let read = |path: &str| {
            let source = Source::new(path, text.as_bytes().to_vec()).unwrap();
            let mut found = Vec::new();
            let root = crate::read::yaml::parse(&source, &mut found).unwrap();
            let config = crate::read::config::parse(&source, &root, &mut found).unwrap();
            crate::read::check::check(&source, config, &mut found)
        };
        vec![read("first.yaml"), read("second.yaml")]
    }

    #[test]
    fn every_table_that_overflows_its_offsets_is_an_error() {
        let policy = CheckedPolicy {
            access: Access::default(),
            level: Level::default(),
            headless: Headless::default(),
            deny: Vec::new(),
            env: Vec::new(),
            confine: Confine::default(),
            lines: LineRules::default(),
            send: Vec::new(),
            judgement: JudgeRules::default(),
            executor: Executor::Sandbox(Sandbox::default()),
        };
        let whole = lower(&clis(), Some(&policy)).unwrap();
        let needed = [whole.texts.text.len(), whole.search.text.len(), whole.ranked.postings.len()];
        let needed = u32::try_from(*needed.iter().max().unwrap()).unwrap();
        for max in 0..needed {
            let overflow = lower_within(&clis(), Some(&policy), max).unwrap_err();
            assert!(
                ["first.yaml", "second.yaml"].contains(&overflow.path.as_str()) && !overflow.unit.is_empty(),
                "{overflow:?}"
            );
        }
        assert_eq!(lower_within(&clis(), Some(&policy), needed).unwrap(), whole);
        let second = lower_within(&clis(), None, needed - 1).unwrap_err().diagnostic();
        assert_eq!(
            second.headline(),
            "second.yaml:1:1: the configs up to this one have more than 4294967295 bytes of text [too-large]"
        );
    }
}
