//! The pipeline: texts of config files → catalog, or every mistake in them.

use std::collections::HashMap;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::lower;
use crate::prompt::Prompt;
use crate::read::check::{self, ServedItem};
use crate::read::config;
use crate::read::lint::{self, Silenced};
use crate::read::yaml;
use crate::source::{Source, Spanned};
use crate::table::{Catalog, CheckedCli, CheckedTool};
use crate::uri::UriTemplate;

/// A catalog, and warnings about its configs.
#[derive(Debug)]
pub struct Compiled {
    /// The tables.
    pub catalog: Catalog,
    /// Warnings only.
    pub warnings: Diagnostics,
}

/// Compiles config files into a catalog.
///
/// If two files define a tool of the same name, the later file wins, with a warning. Two CLIs of the same name are a
/// warning.
///
/// # Errors
/// Returns every mistake in every file, and the warnings.
///
/// ```
/// use climax_catalog::{Diagnostics, Source, compile};
///
/// let text = "command: date\ntools:\n  - {name: date_now, description: Show the time}\n";
/// let compiled = compile(&[Source::new("date.yaml", text.into())?])?;
/// assert_eq!(compiled.catalog.tools.len(), 1);
///
/// let mistaken = text.replace("name:", "nmae:");
/// let found = compile(&[Source::new("date.yaml", mistaken.into())?]).unwrap_err();
/// assert_eq!(found.iter().next().unwrap().code().as_str(), "unknown-key");
/// # Ok::<(), Diagnostics>(())
/// ```
pub fn compile(sources: &[Source]) -> Result<Compiled, Diagnostics> {
    Files::read(sources, Advice::None).compile(&|_| false)
}

/// Compiles config files like [`compile`], with lints among the warnings.
///
/// # Errors
/// As [`compile`].
pub fn compile_linted(sources: &[Source]) -> Result<Compiled, Diagnostics> {
    Files::read(sources, Advice::Lints).compile(&|_| false)
}

/// Compiles config files for a server that has other items already; `served` returns whether it has an item.
///
/// Replacing a served item is a warning too, and so is a CLI of the same name.
///
/// # Errors
/// Returns every mistake in every file, and the warnings.
pub fn compile_over(sources: &[Source], served: &dyn Fn(ServedItem<'_>) -> bool) -> Result<Compiled, Diagnostics> {
    Files::read(sources, Advice::None).compile(served)
}

/// Whether files are linted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Advice {
    None,
    Lints,
}

/// A file, as far as it was readable.
struct File<'a> {
    source: &'a Source,
    cli: Option<CheckedCli>,
    silenced: Silenced,
    found: Vec<Diagnostic>,
}

struct Files<'a> {
    files: Vec<File<'a>>,
}

impl<'a> File<'a> {
    fn read(source: &'a Source, advice: Advice) -> Self {
        let mut found = Vec::new();
        let config = yaml::parse(source, &mut found).and_then(|root| config::parse(source, &root, &mut found));
        let Some(config) = config else {
            if found.is_empty() {
                let message = "config is empty".to_owned();
                let help = "write at least `command:` and `tools:`";
                found.push(Diagnostic::file(Code::EmptyConfig, source.path(), message, help));
            }
            return Self { source, cli: None, silenced: Silenced::default(), found };
        };

        let silenced = Silenced::new(source, &config);
        if advice == Advice::Lints {
            lint::lint(source, &config, &mut found);
        }

        let cli = check::check(source, config, &mut found);
        if advice == Advice::Lints {
            lint::lint_tools(source, &cli, &mut found);
        }

        Self { source, cli: Some(cli), silenced, found }
    }
}

impl<'a> Files<'a> {
    fn read(sources: &'a [Source], advice: Advice) -> Self {
        Self { files: sources.iter().map(|source| File::read(source, advice)).collect() }
    }

    /// Warns of each CLI whose name an earlier file or a served CLI has.
    fn warn_of_second_clis(&mut self, served: &dyn Fn(ServedItem<'_>) -> bool) {
        let mut first: HashMap<String, usize> = HashMap::new();
        for at in 0..self.files.len() {
            let Some(cli) = &self.files[at].cli else { continue };
            let name = cli.name.clone();
            let earlier = first.get(&name).map(|earlier| place_of_name(&self.files[*earlier]));
            first.entry(name.clone()).or_insert(at);
            let (other, help) = match earlier {
                Some(place) => {
                    (format!("in {place}"), "give one of the two another `name`, or put all tools into one file")
                }
                None if served(ServedItem::Cli(&name)) => (
                    "compiled in".to_owned(),
                    "both are served; give this one another `name`, or serve the files alone with `--only`",
                ),
                None => continue,
            };
            let warning = if let Some(span) = cli.name_span {
                let message = format!("a second CLI named `{name}`; the first is {other}");
                self.files[at].source.diagnostic(Code::DuplicateCli, span, message).help(help)
            } else {
                let message = format!("a second CLI named `{name}`, after its file; the first is {other}");
                Diagnostic::file(Code::DuplicateCli, &cli.path, message, help)
            };
            self.files[at].found.push(warning);
        }
    }

    /// Maps each tool to the last file that defines it.
    fn last_definitions(&self) -> HashMap<String, String> {
        let clis = self.files.iter().filter_map(|file| file.cli.as_ref());
        clis.flat_map(|cli| cli.tools.iter().map(|tool| (tool.name.clone(), cli.path.clone()))).collect()
    }

    /// Reports each text that occurs a second time, in the same or in another file.
    fn refuse_second(&mut self, what: &str, code: Code, texts: impl Fn(&CheckedCli) -> Vec<Spanned<String>>) {
        let mut first: HashMap<String, String> = HashMap::new();
        for file in &mut self.files {
            for text in file.cli.as_ref().map(&texts).unwrap_or_default() {
                let position = file.source.position(text.span.start);
                let place = format!("{}:{}:{}", file.source.path(), position.line, position.column);
                match first.get(&text.value) {
                    None => drop(first.insert(text.value, place)),
                    Some(other) => {
                        let message = format!("a second {what} `{}`; the first is in {other}", text.value);
                        let error = file.source.diagnostic(code, text.span, message);
                        file.found.push(error.help("change or remove one of the two"));
                    }
                }
            }
        }
    }

    /// Lowers the configs, unless there are errors.
    fn compile(mut self, served: &dyn Fn(ServedItem<'_>) -> bool) -> Result<Compiled, Diagnostics> {
        self.warn_of_second_clis(served);
        self.refuse_second("prompt named", Code::DuplicatePrompt, |cli| {
            let name = |prompt: &Spanned<Prompt>| Spanned { value: prompt.value.name.clone(), span: prompt.span };
            cli.prompts.iter().map(name).collect()
        });
        let last = self.last_definitions();
        self.refuse_second("resource", Code::DuplicateResource, |cli| {
            let stays = |tool: &&CheckedTool| last.get(&tool.name) == Some(&cli.path);
            let form = |tool: &CheckedTool| {
                let uri = tool.resource.as_ref()?;
                Some(Spanned { value: UriTemplate::parse(&uri.value).ok()?.form(), span: uri.span })
            };
            cli.tools.iter().filter(stays).filter_map(form).collect()
        });
        let (mut clis, mut sources, mut found, mut silenced) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let count = self.files.len();

        for file in self.files {
            clis.extend(file.cli);
            sources.push(file.source.clone());
            found.push(file.silenced.apply(file.found));
            silenced.push(file.silenced);
        }

        if clis.len() == count {
            found.push(check::override_earlier(&mut clis, &sources, &silenced, served));
        }

        found.extend(too_large(&clis, &sources).map(|one| vec![one]));
        let mut diagnostics = Diagnostics::in_order(found);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }

        match lower::lower(&clis, None) {
            Ok(catalog) => Ok(Compiled { catalog, warnings: diagnostics }),
            Err(overflow) => {
                diagnostics.push(overflow.diagnostic());
                Err(diagnostics)
            }
        }
    }
}

/// Returns the location of the CLI's name, for messages.
fn place_of_name(file: &File<'_>) -> String {
    let path = file.source.path();
    match file.cli.as_ref().and_then(|cli| cli.name_span) {
        Some(span) => {
            let position = file.source.position(span.start);
            format!("{path}:{}:{}", position.line, position.column)
        }
        None => format!("{path}, named after its file"),
    }
}

/// Reports configs whose tables would be larger than 1 GiB.
fn too_large(clis: &[CheckedCli], sources: &[Source]) -> Option<Diagnostic> {
    const MAX_TABLE_BYTES: usize = 1 << 30;
    let mut total = 0;
    let (_, source) = clis.iter().zip(sources).find(|(cli, source)| {
        total += lower::size(cli, source.text().len());
        total > MAX_TABLE_BYTES
    })?;
    let message = "the tables of all configs up to this one would be larger than 1 GiB".to_owned();
    Some(Diagnostic::file(Code::TooLarge, source.path(), message, "use fewer or shorter tags, or fewer tools"))
}
