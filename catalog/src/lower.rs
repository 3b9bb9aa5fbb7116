//! Checked configs → [`Catalog`].

mod policy;

use std::collections::HashMap;
use std::iter;

use crate::checked::{
    CheckedArg, CheckedChoice, CheckedCli, CheckedGroup, CheckedOutputFile, CheckedPolicy, CheckedQuestion,
    CheckedResolve, CheckedTool, CommandPart,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::index::lowercase;
use crate::index::ranked::Builder;
use crate::model::{ArgRisk, Risk};
use crate::needs::Needs;
use crate::offset::{Full, MAX_OFFSET, offset};
use crate::schema;
use crate::table::{
    ArgDef, ArgRow, Catalog, CliDef, DetailDef, FileDef, GroupDef, Names, PLACE_MARK, PromptDef, QuestionDef,
    ResolveDef, Rows, RuleDef, SearchText, Str, Texts, ToolDef,
};

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
    let mut tables = Tables { max, ..Tables::default() };
    // The texts that every start reads stand together, so that a start does not page in a large catalog.
    for cli in clis {
        tables.cli_texts(cli).map_err(|full| overflow(Some(cli), full))?;
    }
    for cli in clis {
        tables.cli(cli).map_err(|full| overflow(Some(cli), full))?;
    }
    let policy = policy.map(|policy| tables.policy(policy)).transpose();
    let finished = policy.and_then(|policy| Ok(Catalog { policy, ..tables.finish()? }));
    finished.map_err(|full| overflow(clis.last(), full))
}

#[derive(Default)]
struct Tables {
    max: u32,
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
    questions: Vec<QuestionDef>,
    resources: Vec<u32>,
    prompts: Vec<PromptDef>,
    files: Vec<FileDef>,
    groups: Vec<GroupDef>,
    details: Vec<DetailDef>,
    rules: Vec<RuleDef>,
    lists: Vec<u32>,
    names: HashMap<Box<str>, u32>,
}

/// Estimates the most bytes that the tables of a config take. Each tool repeats the texts that it shares with its CLI.
pub(crate) fn size(cli: &CheckedCli, source_bytes: usize) -> usize {
    let tags: usize = cli.tags.iter().map(|tag| tag.len() + 3).sum();
    let shared = cli.name.len() + cli.category.as_ref().map_or(0, String::len) + tags;
    4 * source_bytes + 2 * shared * cli.tools.len()
}

impl Tables {
    fn offset(&self, len: usize, unit: &'static str) -> Result<u32, Full> {
        offset(len, self.max, unit)
    }

    fn cli_texts(&mut self, cli: &CheckedCli) -> Result<(), Full> {
        let texts = [&cli.name, &cli.stem, &cli.description];
        for text in texts.into_iter().chain(&cli.category).chain(&cli.tags) {
            self.text(text)?;
        }
        if let Some(CommandPart::Word(program)) = cli.words.first() {
            self.text(program)?;
        }
        Ok(())
    }

    fn cli(&mut self, cli: &CheckedCli) -> Result<(), Full> {
        let row = self.offset(self.clis.len(), "CLIs")?;
        let def = CliDef {
            name: self.text(&cli.name)?,
            stem: self.text(&cli.stem)?,
            description: self.text(&cli.description)?,
            category: self.optional(cli.category.as_deref())?,
            tags: self.texts(&cli.tags)?,
            words: self.parts(&cli.words)?,
            programs: self.pairs(&cli.programs)?,
            always: self.texts(&cli.always)?,
            env: self.pairs(&cli.env)?,
            needs: self.needs(cli.needs.as_ref())?,
            risk: cli.tools.iter().map(CheckedTool::promised_risk).max().unwrap_or(Risk::Read),
            working_dir: self.optional(cli.working_dir.as_deref())?,
            global_args: self.args(&cli.global_args)?,
            tools: Rows(0, 0),
        };
        let first = self.offset(self.tools.len(), "tools")?;
        self.ranked.start(cli);
        for tool in &cli.tools {
            self.tool(row, cli, tool)?;
        }
        let end = self.offset(self.tools.len(), "tools")?;
        self.clis.push(CliDef { tools: Rows(first, end), ..def });
        for prompt in &cli.prompts {
            let prompt = &prompt.value;
            let def = PromptDef { cli: row, name: self.text(&prompt.name)?, definition: self.text(&prompt.to_json())? };
            self.offset(self.prompts.len(), "prompts")?;
            self.prompts.push(def);
        }
        Ok(())
    }

    fn tool(&mut self, cli_row: u32, cli: &CheckedCli, tool: &CheckedTool) -> Result<(), Full> {
        let CheckedTool {
            name,
            title,
            description,
            words,
            aliases,
            always,
            args,
            withheld,
            groups,
            timeout_ms,
            is_long,
            risk,
            needs,
            approval_from,
            exit_codes,
            phrases,
            output,
            resource,
            questions,
            confirm_message,
            resolve,
            // For diagnostics only.
            name_span: _,
        } = tool;
        let schema = schema::input_schema(args, groups);
        let def = ToolDef {
            cli: cli_row,
            name: self.text(name)?,
            title: self.optional(title.as_deref())?,
            description: self.text(description)?,
            entry: self.text(&schema::index_entry(cli, tool, &schema))?,
            schema_bytes: self.offset(schema.len(), "bytes of schema")?,
            words: self.parts(words)?,
            aliases: self.texts(aliases)?,
            always: self.texts(always)?,
            args: self.args(args)?,
            withheld: self.args(withheld)?,
            groups: self.groups(groups)?,
            timeout_ms: *timeout_ms,
            is_long: *is_long,
            risk: *risk,
            needs: self.needs(needs.as_ref())?,
            approval_from: *approval_from,
            exit_codes: self.exit_codes(exit_codes)?,
            phrases: self.texts(phrases)?,
            output: self.optional(output.as_ref().map(|output| output.mime.as_str()))?,
            output_schema: self.optional(output.as_ref().and_then(|output| output.schema.as_deref()))?,
            resource: self.optional(resource.as_ref().map(|uri| uri.value.as_str()))?,
            questions: self.questions(questions)?,
            confirm_message: self.optional(confirm_message.as_deref())?,
            resolves: self.resolves(resolve)?,
        };
        let row = self.offset(self.tools.len(), "tools")?;
        self.names.insert(name.as_str().into(), row);
        self.resources.extend(resource.is_some().then_some(row));
        self.tools.push(def);
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
        let end = self.offset(self.search.len(), "bytes of searched text")?;
        self.search_ends.push(end);
        Ok(())
    }

    fn args(&mut self, args: &[CheckedArg]) -> Result<Rows, Full> {
        let first = self.offset(self.args.len(), "args")?;
        for arg in args {
            self.arg(arg)?;
        }
        Ok(Rows(first, self.offset(self.args.len(), "args")?))
    }

    fn arg(&mut self, arg: &CheckedArg) -> Result<(), Full> {
        let CheckedArg {
            name,
            description,
            kind,
            required,
            default,
            place,
            flag,
            shape,
            // In the details.
            separator: _,
            aliases: _,
            off: _,
            variable: _,
            min_items: _,
            max_items: _,
            choices,
            constraint,
            shown,
            order,
            risk,
            rules,
            leading_dash,
            asked,
            output,
        } = arg;
        let detail = self.detail(arg)?;
        let row = ArgRow {
            name: self.text(name)?,
            description: self.text(description)?,
            flag: self.text(flag)?,
            default: self.optional(default.as_ref().map(|default| default.word.as_str()))?,
            values: self.list(choices.iter().map(|choice| choice.value.as_str()))?,
            kind: *kind,
            place: *place,
            required: *required,
            leading_dash: *leading_dash,
            asked: *asked,
            shown: *shown,
            order: *order,
            shape: *shape,
            risk: if let ArgRisk::Always(risk) = risk { Some(*risk) } else { None },
            detail,
        };
        let number = self.offset(self.args.len(), "args")?;
        if let Some(CheckedOutputFile { mime, file }) = output {
            let [mime, file] = [self.text(mime)?, self.text(file)?];
            self.files.push(FileDef { arg: number, mime, file });
        }
        let own = Some(constraint).filter(|own| !own.is_empty());
        for (rule, from_policy) in own.into_iter().zip([false]).chain(rules.iter().zip(iter::repeat(true))) {
            let def = self.rule(number, rule, from_policy)?;
            self.rules.push(def);
        }
        self.args.push(ArgDef::pack(row));
        Ok(())
    }

    /// Adds the details of an arg and returns their row; `None` if it has none.
    fn detail(&mut self, arg: &CheckedArg) -> Result<Option<u32>, Full> {
        let CheckedArg { separator, aliases, off, variable, min_items, max_items, choices, risk, .. } = arg;
        let has_words = choices.iter().any(|choice| choice.title.is_some() || choice.words.is_some());
        let risks = match risk {
            ArgRisk::ByValue { values, otherwise } => {
                let last = [(String::new(), *otherwise)];
                values.iter().chain(&last).map(|(value, risk)| (value.clone(), risk.as_str().to_owned())).collect()
            }
            ArgRisk::OfTool | ArgRisk::Always(_) => Vec::new(),
        };
        let texts = [separator, off, variable];
        let is_plain = texts.iter().all(|text| text.is_none()) && min_items.is_none() && max_items.is_none();
        if is_plain && aliases.is_empty() && !has_words && risks.is_empty() {
            return Ok(None);
        }
        let of_choice = |choice: &CheckedChoice| {
            (choice.title.clone().unwrap_or_default(), choice.words.clone().unwrap_or_default())
        };
        let choices: Vec<_> = choices.iter().filter(|_| has_words).map(of_choice).collect();
        let def = DetailDef {
            separator: self.optional(separator.as_deref())?,
            aliases: self.texts(aliases)?,
            off: self.optional(off.as_deref())?,
            variable: self.optional(variable.as_deref())?,
            choices: self.pairs(&choices)?,
            min_items: *min_items,
            max_items: *max_items,
            risks: self.pairs(&risks)?,
        };
        let row = self.offset(self.details.len(), "details of args")?;
        self.details.push(def);
        Ok(Some(row))
    }

    fn groups(&mut self, groups: &[CheckedGroup]) -> Result<Rows, Full> {
        let first = self.offset(self.groups.len(), "groups of args")?;
        for CheckedGroup { kind, args } in groups {
            let args = self.texts(args)?;
            self.groups.push(GroupDef { kind: *kind, args });
        }
        Ok(Rows(first, self.offset(self.groups.len(), "groups of args")?))
    }

    /// Adds the parts of a command. A NUL, which no word contains, marks a place.
    fn parts(&mut self, parts: &[CommandPart]) -> Result<Rows, Full> {
        let text = |part: &CommandPart| match part {
            CommandPart::Word(word) => word.clone(),
            CommandPart::Arg(name) => format!("{PLACE_MARK}{name}"),
            CommandPart::Options => PLACE_MARK.to_string(),
        };
        let texts: Vec<String> = parts.iter().map(text).collect();
        self.texts(&texts)
    }

    fn resolves(&mut self, entries: &[CheckedResolve]) -> Result<Rows, Full> {
        let first = self.offset(self.resolves.len(), "look-ups")?;
        for entry in entries {
            let def = ResolveDef {
                name: self.text(&entry.name)?,
                words: self.texts(&entry.words)?,
                args: self.pairs(&entry.args)?,
                timeout_ms: entry.timeout_ms,
            };
            self.resolves.push(def);
        }
        Ok(Rows(first, self.offset(self.resolves.len(), "look-ups")?))
    }

    fn questions(&mut self, questions: &[CheckedQuestion]) -> Result<Rows, Full> {
        let first = self.offset(self.questions.len(), "questions")?;
        for question in questions {
            let def = QuestionDef {
                name: self.text(&question.name)?,
                message: self.text(&question.message)?,
                args: self.texts(&question.args)?,
            };
            self.questions.push(def);
        }
        Ok(Rows(first, self.offset(self.questions.len(), "questions")?))
    }

    fn exit_codes(&mut self, codes: &[(u8, String)]) -> Result<Rows, Full> {
        let codes: Vec<_> = codes.iter().map(|(code, meaning)| (code.to_string(), meaning.clone())).collect();
        self.pairs(&codes)
    }

    fn needs(&mut self, needs: Option<&Needs>) -> Result<Option<Rows>, Full> {
        needs.map(|needs| self.list(needs.pairs().flat_map(|(kind, item)| [kind, item]))).transpose()
    }

    fn pairs(&mut self, pairs: &[(String, String)]) -> Result<Rows, Full> {
        self.list(pairs.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]))
    }

    fn texts(&mut self, texts: &[String]) -> Result<Rows, Full> {
        self.list(texts.iter().map(String::as_str))
    }

    fn list<'a>(&mut self, items: impl Iterator<Item = &'a str>) -> Result<Rows, Full> {
        let first = self.offset(self.lists.len(), "words in lists")?;
        for item in items {
            let id = self.text(item)?;
            self.lists.push(id.0);
        }
        Ok(Rows(first, self.offset(self.lists.len(), "words in lists")?))
    }

    fn optional(&mut self, text: Option<&str>) -> Result<Option<Str>, Full> {
        text.map(|text| self.text(text)).transpose()
    }

    fn text(&mut self, text: &str) -> Result<Str, Full> {
        if let Some(id) = self.interned.get(text) {
            return Ok(*id);
        }
        let id = Str(self.offset(self.text_ends.len(), "texts")?);
        let end = self.offset(self.text.len() + text.len(), "bytes of text")?;
        self.text.push_str(text);
        self.text_ends.push(end);
        self.interned.insert(text.to_owned(), id);
        Ok(id)
    }

    fn finish(self) -> Result<Catalog, Full> {
        Ok(Catalog {
            texts: Texts { text: self.text.into(), ends: self.text_ends.into() },
            search: SearchText { text: self.search.into(), ends: self.search_ends.into() },
            ranked: self.ranked.finish(self.max)?,
            clis: self.clis.into(),
            tools: self.tools.into(),
            args: self.args.into(),
            resolves: self.resolves.into(),
            questions: self.questions.into(),
            resources: self.resources.into(),
            prompts: self.prompts.into(),
            files: self.files.into(),
            groups: self.groups.into(),
            details: self.details.into(),
            rules: self.rules.into(),
            lists: self.lists.into(),
            skills: None,
            policy: None,
            sealed: false,
            digest: None,
            names: Names::Hashed(self.names),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::{Executor, Sandbox};
    use crate::model::{Access, Confine, Headless, Level};
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
