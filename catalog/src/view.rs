//! Views: rows of a [`Catalog`] with their texts. Readers use these and cannot tell compiled-in from loaded.

use crate::model::Risk;
use crate::prompt::Prompt;
use crate::table::{Catalog, CliDef, QuestionDef, ResolveDef, Rows, ToolDef};
use crate::uri::UriTemplate;

mod arg;

use arg::args;
pub use arg::{ArgView, OutputFileView, RuleView};

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
    /// If there is no such row.
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

    /// The words of the base command, not yet expanded.
    #[must_use]
    pub fn words(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.catalog.list(self.def.words)
    }

    /// What is added to the child's environment.
    pub fn env(self) -> impl Iterator<Item = (&'a str, &'a str)> + Clone {
        pairs(self.catalog, self.def.env)
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

    /// The most that one of its tools may do to the world.
    #[must_use]
    pub fn risk(self) -> Risk {
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

    pub(crate) fn tool_rows(self) -> Rows {
        self.def.tools
    }

    pub(crate) fn def(self) -> &'a CliDef {
        self.def
    }
}

/// A tool with the CLI that it belongs to (seed 001).
#[derive(Clone, Copy, Debug)]
pub struct ResolvedTool<'a> {
    catalog: &'a Catalog,
    def: &'a ToolDef,
}

impl<'a> ResolvedTool<'a> {
    /// Views one row of [`Catalog::tools`].
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn new(catalog: &'a Catalog, row: u32) -> Self {
        Self { catalog, def: &catalog.tools[row as usize] }
    }

    /// The tool's name.
    #[must_use]
    pub fn name(self) -> &'a str {
        self.catalog.texts.get(self.def.name)
    }

    /// What people see in place of the name, if that is something else.
    #[must_use]
    pub fn title(self) -> Option<&'a str> {
        self.def.title.map(|title| self.catalog.texts.get(title))
    }

    /// What it does and when to use it.
    #[must_use]
    pub fn description(self) -> &'a str {
        self.catalog.texts.get(self.def.description)
    }

    /// Whether it is written in Rust, in the program that its config is compiled into. Every other tool has words that start
    /// a program.
    #[must_use]
    pub fn is_native(self) -> bool {
        self.cli().words().chain(self.words()).next().is_none()
    }

    /// The CLI that it belongs to.
    #[must_use]
    pub fn cli(self) -> CliView<'a> {
        CliView::new(self.catalog, self.def.cli)
    }

    /// The words of the subcommand.
    #[must_use]
    pub fn words(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.catalog.list(self.def.words)
    }

    /// The args, in definition order.
    #[must_use]
    pub fn args(self) -> impl ExactSizeIterator<Item = ArgView<'a>> + Clone {
        args(self.catalog, self.def.args)
    }

    /// Those that the agent gives: not the user, and not the server.
    pub fn agent_args(self) -> impl Iterator<Item = ArgView<'a>> + Clone {
        self.args().filter(|arg| !arg.is_asked() && arg.output().is_none())
    }

    /// How long a call may take, in milliseconds.
    #[must_use]
    pub fn timeout_ms(self) -> u32 {
        self.def.timeout_ms
    }

    /// What it may do to the world.
    #[must_use]
    pub fn risk(self) -> Risk {
        self.def.risk
    }

    /// Whether the policy that its catalog was made under has somebody asked before a call.
    #[must_use]
    pub fn asks(self) -> bool {
        self.def.asks
    }

    /// The URI template of the resource that it prints.
    #[must_use]
    pub fn resource(self) -> Option<&'a str> {
        self.def.resource.map(|uri| self.catalog.texts.get(uri))
    }

    /// The same, to look for values and to fill in. Every template in a catalog has been read before.
    #[must_use]
    pub fn resource_template(self) -> Option<UriTemplate<'a>> {
        UriTemplate::parse(self.resource()?).ok()
    }

    /// What the user is asked before each call, in this order.
    #[must_use]
    pub fn questions(self) -> impl ExactSizeIterator<Item = QuestionView<'a>> + Clone {
        let Self { catalog, def } = self;
        catalog.questions[def.questions.range()].iter().map(move |def| QuestionView { catalog, def })
    }

    /// The media type of what it prints, if that is more than text.
    #[must_use]
    pub fn output(self) -> Option<&'a str> {
        self.def.output.map(|mime| self.catalog.texts.get(mime))
    }

    /// Template of the question that is asked before a call.
    #[must_use]
    pub fn confirm_message(self) -> Option<&'a str> {
        self.def.confirm_message.map(|message| self.catalog.texts.get(message))
    }

    /// The look-ups that the question needs.
    #[must_use]
    pub fn resolves(self) -> impl ExactSizeIterator<Item = ResolveView<'a>> + Clone {
        let Self { catalog, def } = self;
        catalog.resolves[def.resolves.range()].iter().map(move |def| ResolveView { catalog, def })
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

/// What a search says about one tool (seed 001).
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

/// A look-up of a readable name.
#[derive(Clone, Copy, Debug)]
pub struct ResolveView<'a> {
    catalog: &'a Catalog,
    def: &'a ResolveDef,
}

impl<'a> ResolveView<'a> {
    /// The placeholder that it fills.
    #[must_use]
    pub fn name(self) -> &'a str {
        self.catalog.texts.get(self.def.name)
    }

    /// The words of the subcommand.
    #[must_use]
    pub fn words(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.catalog.list(self.def.words)
    }

    /// Arg names and the templates of their values.
    pub fn args(self) -> impl Iterator<Item = (&'a str, &'a str)> + Clone {
        pairs(self.catalog, self.def.args)
    }

    /// How long it may take, in milliseconds.
    #[must_use]
    pub fn timeout_ms(self) -> u32 {
        self.def.timeout_ms
    }

    pub(crate) fn def(self) -> &'a ResolveDef {
        self.def
    }
}

/// A question that the user answers before a call.
#[derive(Clone, Copy, Debug)]
pub struct QuestionView<'a> {
    catalog: &'a Catalog,
    def: &'a QuestionDef,
}

impl<'a> QuestionView<'a> {
    /// What answers are known by.
    #[must_use]
    pub fn name(self) -> &'a str {
        self.catalog.texts.get(self.def.name)
    }

    /// What the user is asked.
    #[must_use]
    pub fn message(self) -> &'a str {
        self.catalog.texts.get(self.def.message)
    }

    /// The names of the args that it asks for.
    #[must_use]
    pub fn args(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.catalog.list(self.def.args)
    }

    pub(crate) fn def(self) -> &'a QuestionDef {
        self.def
    }
}

fn pairs(catalog: &Catalog, rows: Rows) -> impl Iterator<Item = (&str, &str)> + Clone {
    catalog.lists[rows.range()].chunks_exact(2).map(|pair| {
        let text = |id: u32| catalog.texts.get(crate::table::Str(id));
        (text(pair[0]), text(pair[1]))
    })
}
