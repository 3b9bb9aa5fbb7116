//! Views: rows of a [`Catalog`] with their texts. Compiled-in and loaded catalogs have the same views.

use crate::effects::Effects;
use crate::model::{Place, Rest, Risk, Shape};
use crate::needs::{EnvValue, Needs};
use crate::output::OutputForm;
use crate::prompt::Prompt;
use crate::table::{Catalog, CliDef, Rows, ToolDef};
use crate::uri::UriTemplate;

mod arg;
mod command;
mod question;

pub(crate) use arg::args;
pub(crate) use arg::is_bare;
pub use arg::{ArgView, ChoiceView, OutputFileView, RuleView};
use command::words;
pub use command::{CommandPart, GroupView};
pub use question::{QuestionView, ResolveView};

/// A CLI of a catalog.
#[derive(Clone, Copy, Debug)]
pub struct CliView<'a> {
    catalog: &'a Catalog,
    def: &'a CliDef,
    row: u32,
}

impl<'a> CliView<'a> {
    /// Views one row of [`Catalog::clis`].
    ///
    /// # Panics
    /// Panics if the catalog has no such row.
    #[must_use]
    pub fn new(catalog: &'a Catalog, row: u32) -> Self {
        Self { catalog, def: &catalog.clis[row as usize], row }
    }

    /// The name that results show and the `cli` filter matches.
    #[must_use]
    pub fn name(self) -> &'a str {
        self.catalog.texts.get(self.def.name)
    }

    /// The file name without extension.
    #[must_use]
    pub fn stem(self) -> &'a str {
        self.catalog.texts.get(self.def.stem)
    }

    /// What the program is for; may be empty.
    #[must_use]
    pub fn description(self) -> &'a str {
        self.catalog.texts.get(self.def.description)
    }

    /// The free-text category.
    #[must_use]
    pub fn category(self) -> Option<&'a str> {
        self.def.category.map(|category| self.catalog.texts.get(category))
    }

    /// The words for discovery.
    #[must_use]
    pub fn tags(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.catalog.list(self.def.tags)
    }

    /// The words of the base command, not yet expanded, without the places of args.
    pub fn words(self) -> impl Iterator<Item = &'a str> + Clone {
        words(self.parts())
    }

    /// The parts of the base command.
    pub fn parts(self) -> impl Iterator<Item = CommandPart<'a>> + Clone {
        self.catalog.list(self.def.words).map(CommandPart::new)
    }

    /// Other spellings of the program that command lines may have, each with the words that it stands for. Both are
    /// quoted words.
    pub fn programs(self) -> impl Iterator<Item = (&'a str, &'a str)> + Clone {
        self.catalog.pairs(self.def.programs)
    }

    /// Words that stand behind the base command in every call.
    #[must_use]
    pub fn always(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.catalog.list(self.def.always)
    }

    /// Whether the program reads `--flag=true` and `--flag=false` for each option without a value, as programs in Go and npm do.
    #[must_use]
    pub fn has_boolean_values(self) -> bool {
        self.def.has_boolean_values
    }

    /// Whether the program reads `-x=V` as `-x V`, as those with boolean values and those with clap or argparse do.
    #[must_use]
    pub fn has_letter_equals(self) -> bool {
        self.def.has_letter_equals || self.def.has_boolean_values
    }

    /// Returns whether a variable is known to mean nothing to its programs.
    #[must_use]
    pub fn ignores_variable(self, name: &str) -> bool {
        let mut read = self.catalog.list(self.def.variables).peekable();
        let is_read = |pattern: &str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == pattern,
        };
        read.peek().is_some() && !read.any(is_read)
    }

    /// Variables that are added to the child's environment.
    pub fn env(self) -> impl Iterator<Item = (&'a str, EnvValue<'a>)> + Clone {
        self.catalog.pairs(self.def.env).map(|(name, value)| (name, EnvValue::decoded(value)))
    }

    /// What its programs have to reach, for tools that say nothing of theirs.
    #[must_use]
    pub fn needs(self) -> Option<Needs> {
        self.def.needs.map(|list| Needs::of_pairs(self.catalog.pairs(list)))
    }

    /// The child's directory.
    #[must_use]
    pub fn working_dir(self) -> Option<&'a str> {
        self.def.working_dir.map(|dir| self.catalog.texts.get(dir))
    }

    /// The args that every call gets.
    #[must_use]
    pub fn global_args(self) -> impl ExactSizeIterator<Item = ArgView<'a>> + Clone {
        args(self.catalog, self.def.global_args)
    }

    /// The highest promised risk of its tools.
    #[must_use]
    pub fn promised_risk(self) -> Risk {
        self.def.risk
    }

    /// Its tools, in the order of their definition.
    pub fn tools(self) -> impl Iterator<Item = ResolvedTool<'a>> {
        (self.def.tools.0..self.def.tools.1).map(move |row| ResolvedTool::new(self.catalog, row))
    }

    /// Its prompts, in the order of their definition.
    pub fn prompts(self) -> impl Iterator<Item = Prompt> {
        let first = self.catalog.prompts.partition_point(|prompt| prompt.cli < self.row);
        let own = self.catalog.prompts[first..].iter().take_while(move |prompt| prompt.cli == self.row);
        let text = |id| self.catalog.texts.get(id);
        own.map(move |prompt| Prompt::from_json(text(prompt.name), text(prompt.definition)))
    }

    pub(crate) fn catalog(self) -> &'a Catalog {
        self.catalog
    }

    pub(crate) fn tool_rows(self) -> Rows {
        self.def.tools
    }

    pub(crate) fn def(self) -> &'a CliDef {
        self.def
    }
}

/// A tool with its CLI: everything that a call needs.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedTool<'a> {
    catalog: &'a Catalog,
    def: &'a ToolDef,
}

impl<'a> ResolvedTool<'a> {
    /// Views one row of [`Catalog::tools`].
    ///
    /// # Panics
    /// Panics if the catalog has no such row.
    #[must_use]
    pub fn new(catalog: &'a Catalog, row: u32) -> Self {
        Self { catalog, def: &catalog.tools[row as usize] }
    }

    /// The tool's name.
    #[must_use]
    pub fn name(self) -> &'a str {
        self.catalog.texts.get(self.def.name)
    }

    /// The name that is shown to users, if it differs from the tool's or prompt's name.
    #[must_use]
    pub fn title(self) -> Option<&'a str> {
        self.def.title.map(|title| self.catalog.texts.get(title))
    }

    /// What it does and when to use it.
    #[must_use]
    pub fn description(self) -> &'a str {
        self.catalog.texts.get(self.def.description)
    }

    /// Returns whether the tool is native: written in Rust, in the program that its config is compiled into. Every
    /// other tool has words that start a program.
    #[must_use]
    pub fn is_native(self) -> bool {
        self.cli().words().chain(self.words()).next().is_none()
    }

    /// The CLI that it belongs to.
    #[must_use]
    pub fn cli(self) -> CliView<'a> {
        CliView::new(self.catalog, self.def.cli)
    }

    /// The words of the subcommand, without the places of args.
    pub fn words(self) -> impl Iterator<Item = &'a str> + Clone {
        words(self.parts())
    }

    /// The parts of the subcommand.
    pub fn parts(self) -> impl Iterator<Item = CommandPart<'a>> + Clone {
        self.catalog.list(self.def.words).map(CommandPart::new)
    }

    /// Other spellings of the words of its command that command lines may have, each of quoted words.
    #[must_use]
    pub fn aliases(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.catalog.list(self.def.aliases)
    }

    /// Options that every call has.
    #[must_use]
    pub fn always(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.catalog.list(self.def.always)
    }

    /// Returns whether the words of an arg stand behind `--`, where no program reads options.
    #[must_use]
    pub fn is_behind_dashes(self, arg: ArgView<'_>) -> bool {
        let dashes = self.parts().position(|part| part == CommandPart::Word("--"));
        let place = self.parts().position(|part| part == CommandPart::Arg(arg.name()));
        dashes.is_some_and(|dashes| match place {
            Some(place) => dashes < place,
            None => arg.place() == Place::Positional,
        })
    }

    /// The positionals in the order of the command line: those with a place, then the others as they are defined.
    pub fn positionals(self) -> impl Iterator<Item = ArgView<'a>> + Clone {
        let placed = self.parts().filter_map(move |part| match part {
            CommandPart::Arg(name) => self.args().find(|arg| arg.name() == name),
            CommandPart::Word(_) | CommandPart::Options => None,
        });
        let has_place = move |arg: ArgView<'_>| self.parts().any(|part| part == CommandPart::Arg(arg.name()));
        placed.chain(self.args().filter(move |arg| !has_place(*arg))).filter(|arg| arg.place() == Place::Positional)
    }

    /// The groups of args, in definition order.
    pub fn groups(self) -> impl Iterator<Item = GroupView<'a>> + Clone {
        let Self { catalog, def } = self;
        catalog.groups[def.groups.range()].iter().map(move |def| GroupView::new(catalog, def))
    }

    /// The args, in definition order.
    #[must_use]
    pub fn args(self) -> impl ExactSizeIterator<Item = ArgView<'a>> + Clone {
        args(self.catalog, self.def.args)
    }

    /// The args that policies took away, in definition order. Calls and lines that give one are refused by its name.
    pub fn withheld_args(self) -> impl Iterator<Item = ArgView<'a>> + Clone {
        args(self.catalog, self.def.withheld)
    }

    /// The args that the agent gives. The user, the server or a policy gives the others.
    pub fn agent_args(self) -> impl Iterator<Item = ArgView<'a>> + Clone {
        self.args().filter(|arg| !arg.is_from_user() && arg.output().is_none() && arg.fixed().is_none())
    }

    /// How long a call may take, in milliseconds.
    #[must_use]
    pub fn timeout_ms(self) -> u32 {
        self.def.timeout_ms
    }

    /// Whether calls usually outlast what clients wait for.
    #[must_use]
    pub fn is_long(self) -> bool {
        self.def.is_long
    }

    /// Whether every call prints secrets.
    #[must_use]
    pub fn is_sensitive(self) -> bool {
        self.def.is_sensitive
    }

    /// What its calls change and reach, as far as its config says.
    #[must_use]
    pub fn effects(self) -> Option<Effects> {
        self.def.effects.map(|list| Effects::of_pairs(self.catalog.pairs(list)))
    }

    /// How much the tool can change, as approval counts it: without a written risk it reads.
    #[must_use]
    pub fn risk(self) -> Risk {
        self.def.risk.unwrap_or(Risk::Read)
    }

    /// How much the tool can change, as annotations state it: without a written risk it may write.
    #[must_use]
    pub fn promised_risk(self) -> Risk {
        let args = self.args().filter_map(|arg| arg.shape().highest_risk().max(arg.risk().highest()));
        args.chain([Risk::promised(self.def.risk)]).max().unwrap_or(Risk::Write)
    }

    /// The arg whose words are a command that the program starts here.
    #[must_use]
    pub fn started_command(self) -> Option<ArgView<'a>> {
        self.args().find(|arg| arg.shape() == Shape::Rest(Rest::Command))
    }

    /// The risk that the config states.
    #[must_use]
    pub fn written_risk(self) -> Option<Risk> {
        self.def.risk
    }

    /// What its program has to reach, if the tool or its CLI says so.
    #[must_use]
    pub fn needs(self) -> Option<Needs> {
        self.def.needs.map(|list| Needs::of_pairs(self.catalog.pairs(list))).or_else(|| self.cli().needs())
    }

    /// The least risk of calls that need approval by the policy that the catalog was compiled with.
    #[must_use]
    pub fn approval_from(self) -> Option<Risk> {
        self.def.approval_from
    }

    /// The exit codes that are answers, with their meanings.
    pub fn exit_codes(self) -> impl Iterator<Item = (u8, &'a str)> + Clone {
        self.catalog.exit_codes(self.def.exit_codes)
    }

    /// Requests that the tool serves, in users' words.
    #[must_use]
    pub fn phrases(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.catalog.list(self.def.phrases)
    }

    /// The URI template of the resource that it prints.
    #[must_use]
    pub fn resource(self) -> Option<&'a str> {
        self.def.resource.map(|uri| self.catalog.texts.get(uri))
    }

    /// The parsed URI template of the resource. Every template in a catalog has been parsed before.
    #[must_use]
    pub fn resource_template(self) -> Option<UriTemplate<'a>> {
        UriTemplate::parse(self.resource()?).ok()
    }

    /// The questions that the user answers before each call, in this order.
    #[must_use]
    pub fn questions(self) -> impl ExactSizeIterator<Item = QuestionView<'a>> + Clone {
        let Self { catalog, def } = self;
        catalog.questions[def.questions.range()].iter().map(move |def| QuestionView::new(catalog, def))
    }

    /// The media type of what it prints, if that is more than text.
    #[must_use]
    pub fn output(self) -> Option<&'a str> {
        self.def.output.map(|mime| self.catalog.texts.get(mime))
    }

    /// The schema of the JSON values that it prints, as JSON.
    #[must_use]
    pub fn output_schema(self) -> Option<&'a str> {
        self.def.output_schema.map(|schema| self.catalog.texts.get(schema))
    }

    /// The form of what it prints.
    #[must_use]
    pub fn output_form(self) -> OutputForm<'a> {
        OutputForm::new(self.output(), self.output_schema())
    }

    /// Template of the approval question.
    #[must_use]
    pub fn confirm_message(self) -> Option<&'a str> {
        self.def.confirm_message.map(|message| self.catalog.texts.get(message))
    }

    /// The look-ups of readable names that the approval question needs.
    #[must_use]
    pub fn resolves(self) -> impl ExactSizeIterator<Item = ResolveView<'a>> + Clone {
        let Self { catalog, def } = self;
        catalog.resolves[def.resolves.range()].iter().map(move |def| ResolveView::new(catalog, def))
    }

    /// The finished input schema, as JSON text.
    #[must_use]
    pub fn input_schema(self) -> &'a str {
        self.entry().input_schema()
    }

    /// The finished index entry.
    #[must_use]
    pub fn entry(self) -> ToolIndexEntry<'a> {
        ToolIndexEntry { tool: self, json: self.catalog.texts.get(self.def.entry) }
    }

    pub(crate) fn catalog(self) -> &'a Catalog {
        self.catalog
    }

    pub(crate) fn def(self) -> &'a ToolDef {
        self.def
    }
}

/// The entry of a tool in search results (`docs/contract.md`, "Tool index").
#[derive(Clone, Copy, Debug)]
pub struct ToolIndexEntry<'a> {
    tool: ResolvedTool<'a>,
    json: &'a str,
}

impl<'a> ToolIndexEntry<'a> {
    /// The whole entry as JSON text, keys in the documented order.
    #[must_use]
    pub fn as_json(self) -> &'a str {
        self.json
    }

    /// The tool's name.
    #[must_use]
    pub fn tool_name(self) -> &'a str {
        self.tool.name()
    }

    /// What the tool does and when to use it.
    #[must_use]
    pub fn description(self) -> &'a str {
        self.tool.description()
    }

    /// The name of its CLI.
    #[must_use]
    pub fn cli_name(self) -> &'a str {
        self.tool.cli().name()
    }

    /// The category of its CLI.
    #[must_use]
    pub fn category(self) -> Option<&'a str> {
        self.tool.cli().category()
    }

    /// The tags of its CLI.
    #[must_use]
    pub fn tags(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.tool.cli().tags()
    }

    /// The input schema, as JSON text: the end of the entry, before the closing brace.
    #[must_use]
    pub fn input_schema(self) -> &'a str {
        let end = self.json.len() - 1;
        &self.json[end - self.tool.def.schema_bytes as usize..end]
    }

    /// The tool itself.
    #[must_use]
    pub fn tool(self) -> ResolvedTool<'a> {
        self.tool
    }
}
