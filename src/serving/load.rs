//! Which tools are served: names of compiled-in CLIs, config files and a policy → [`Served`].

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use climax_catalog::policy::{self, Applied, PolicyFile};
use climax_catalog::{
    Catalog, CliView, Compiled, Diagnostics, Layer, Policy, ServedItem, Source, Style, ToolIndex, compile,
    compile_linted, compile_over, files, near_misses,
};

use climax_catalog::MAX_SUGGESTIONS;

/// What was asked for cannot be served.
#[derive(Debug)]
pub enum LoadError {
    /// Names that no CLI has.
    UnknownNames(Vec<UnknownName>),
    /// Config or policy files with mistakes in them.
    Files(Diagnostics),
    /// Configs for a catalog that is sealed.
    Sealed,
    /// Native tools, which nothing can implement that are not compiled in.
    Native(Vec<String>),
    /// Tools that the compiled-in policy does not let anybody add, or replace.
    NotPermitted(Vec<String>),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownNames(names) => {
                let names: Vec<String> = names.iter().map(ToString::to_string).collect();
                f.write_str(&names.join("; "))
            }
            Self::Files(diagnostics) => f.write_str(&diagnostics.render(Style::Plain)),
            Self::Sealed => {
                f.write_str("this program is sealed: it serves what is compiled in, and --config is refused")
            }
            Self::Native(names) => {
                let names = names.join(", ");
                write!(f, "tools that are written in Rust must be compiled in, and --config adds {names}")
            }
            Self::NotPermitted(names) => {
                write!(f, "the compiled-in policy lets no config add or replace {}", names.join(", "))
            }
        }
    }
}

impl std::error::Error for LoadError {}

/// A name that no CLI has.
#[derive(Debug)]
pub struct UnknownName {
    /// The name.
    pub name: String,
    /// Where it was looked for.
    pub searched: Searched,
    /// What may have been meant, nearest first.
    pub suggestions: Vec<String>,
    /// How many CLIs there are to choose from.
    pub available: usize,
}

/// Where names of CLIs are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Searched {
    /// Among what is compiled in.
    CompiledIn,
    /// There, and in the files of `--config`.
    WithConfigs,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, option) = match self.searched {
            Searched::CompiledIn => ("", ""),
            Searched::WithConfigs => (" or in a file of --config", " --config FILE"),
        };
        write!(f, "no CLI named `{}` is compiled in{place}", self.name)?;
        match self.suggestions.as_slice() {
            [] => write!(f, "; `climax list{option}` shows the {} that are", self.available),
            near => write!(f, "; did you mean `{}`?", near.join("` or `")),
        }
    }
}

impl UnknownName {
    fn new(name: &str, searched: Searched, catalogs: &[&Catalog]) -> Self {
        let known = catalogs.iter().copied().flat_map(clis).flat_map(|(_, cli)| [cli.name(), cli.stem()]);
        let mut suggestions = near_misses(name, known, 2 * MAX_SUGGESTIONS);
        suggestions.dedup();
        suggestions.truncate(MAX_SUGGESTIONS);
        let suggestions = suggestions.into_iter().map(str::to_owned).collect();
        let available = catalogs.iter().map(|catalog| catalog.clis.len()).sum();
        Self { name: name.to_owned(), searched, suggestions, available }
    }
}

/// Whether `name` stands for a CLI: it is its name, or the stem of its file.
#[must_use]
pub fn is_named(cli: CliView<'_>, name: &str) -> bool {
    cli.name() == name || cli.stem() == name
}

fn clis(catalog: &Catalog) -> impl Iterator<Item = (u32, CliView<'_>)> {
    (0..).zip(catalog.clis.iter()).map(move |(row, _)| (row, CliView::new(catalog, row)))
}

/// Finds the rows of the CLIs with these names, each once, in the order of the names.
///
/// # Errors
/// Every name that neither is a CLI's name nor the stem of its file.
pub fn select(catalog: &Catalog, names: &[String]) -> Result<Vec<u32>, Vec<UnknownName>> {
    let (rows, absent) = rows(catalog, names);
    let unknown = |name| UnknownName::new(name, Searched::CompiledIn, &[catalog]);
    if absent.is_empty() { Ok(rows) } else { Err(absent.into_iter().map(unknown).collect()) }
}

/// The rows as of [`select`], and the names that have none.
fn rows<'a>(catalog: &Catalog, names: &'a [String]) -> (Vec<u32>, Vec<&'a str>) {
    let mut rows = Vec::new();
    let mut absent = Vec::new();
    for name in names {
        let found: Vec<u32> = clis(catalog).filter(|(_, cli)| is_named(*cli, name)).map(|(row, _)| row).collect();
        if found.is_empty() {
            absent.push(name.as_str());
        }
        rows.extend(found.into_iter().filter(|row| !rows.contains(row)).collect::<Vec<_>>());
    }
    (rows, absent)
}

/// Reads and compiles config files and directories, to be served over what `served` knows.
///
/// # Errors
/// Every mistake in every file.
pub fn read_configs(paths: &[PathBuf], served: &dyn Fn(ServedItem<'_>) -> bool) -> Result<Compiled, Diagnostics> {
    read_and(paths, |sources| compile_over(sources, served))
}

/// Reads and compiles config files and directories as a build would, if asked for with advice among the warnings.
///
/// # Errors
/// Every mistake in every file.
pub fn check_configs(paths: &[PathBuf], lint: bool) -> Result<Compiled, Diagnostics> {
    read_and(paths, if lint { compile_linted } else { compile })
}

fn read_and(
    paths: &[PathBuf],
    compile: impl FnOnce(&[Source]) -> Result<Compiled, Diagnostics>,
) -> Result<Compiled, Diagnostics> {
    let (sources, mut diagnostics) = read_sources(paths);
    let compiled = compile(&sources);
    if !diagnostics.has_errors() {
        return compiled;
    }
    diagnostics.extend(compiled.err().unwrap_or_default());
    Err(diagnostics)
}

/// Reads config files and directories; what cannot be read is in the diagnostics.
fn read_sources(paths: &[PathBuf]) -> (Vec<Source>, Diagnostics) {
    let shown = |path: &Path| path.display().to_string();
    let (config_files, mut diagnostics) = files::expand_all(paths, shown);
    let (sources, unread) = files::read(&config_files, shown);
    diagnostics.extend(unread);
    (sources, diagnostics)
}

/// What is served, under the policy that has been put over it.
#[derive(Debug)]
pub struct Served {
    /// The tools.
    pub index: ToolIndex,
    /// The policy; the default one if no file was named.
    pub policy: Policy,
}

/// Serves the named CLIs of `catalog` (no names mean all) and all of `configs`, which override them, as far as the policy
/// permits; with warnings. A name may be that of a CLI of `configs`.
///
/// # Errors
/// A name is unknown, or a file has mistakes.
pub fn served(
    catalog: &'static Catalog,
    names: &[String],
    configs: &[PathBuf],
    policy: Option<&Path>,
) -> Result<(Served, Diagnostics), LoadError> {
    let policy = policy.map(read_policy).transpose().map_err(LoadError::Files);
    let (index, mut warnings) = match (index(catalog, names, configs), &policy) {
        (Ok(found), _) => found,
        // Mistakes of both kinds of files in one run.
        (Err(LoadError::Files(mut found)), Err(LoadError::Files(more))) => {
            found.extend(more.clone());
            return Err(LoadError::Files(found));
        }
        (Err(error), _) => return Err(error),
    };
    let compiled_in = Policy::compiled_in(catalog);
    let Some(policy) = policy? else { return Ok((Served { index, policy: compiled_in }, warnings)) };
    let policy = match catalog.policy {
        Some(_) => policy.narrowing(&compiled_in).map_err(LoadError::Files)?,
        None => policy,
    };
    let Applied { policy, index, warnings: found } =
        policy.apply(index, &|name| catalog.find(name).is_some()).map_err(LoadError::Files)?;
    warnings.extend(found);
    Ok((Served { index, policy }, warnings))
}

/// Reads a policy file.
///
/// # Errors
/// Every mistake in it.
pub fn read_policy(path: &Path) -> Result<PolicyFile, Diagnostics> {
    let source = files::read_policy(path).map_err(Diagnostics::from)?;
    policy::read(&source)
}

/// The index of the named CLIs of `catalog` and of all of `configs`.
fn index(
    catalog: &'static Catalog,
    names: &[String],
    configs: &[PathBuf],
) -> Result<(ToolIndex, Diagnostics), LoadError> {
    let compiled = Layer::compiled(catalog);
    let (rows, mut absent) = rows(catalog, names);
    let first = if names.is_empty() { compiled } else { compiled.only(rows) };
    let unknown = |absent: &[&str], searched, catalogs: &[&Catalog]| {
        let names = absent.iter().map(|name| UnknownName::new(name, searched, catalogs));
        if absent.is_empty() { Ok(()) } else { Err(LoadError::UnknownNames(names.collect())) }
    };
    let compiled_in = ToolIndex::from_configs(vec![first.clone()]);
    if configs.is_empty() {
        unknown(&absent, Searched::CompiledIn, &[catalog])?;
        return Ok((compiled_in, Diagnostics::default()));
    }
    if catalog.sealed {
        return Err(LoadError::Sealed);
    }
    let served = |offer: ServedItem<'_>| match offer {
        ServedItem::Tool(name) => compiled_in.get(name).is_some(),
        ServedItem::Prompt(name) => compiled_in.prompts().iter().any(|prompt| prompt.name == name),
        ServedItem::Resource(form) => forms(&compiled_in).any(|own| own == form),
    };
    let Compiled { catalog: mut added, warnings } = read_configs(configs, &served).map_err(LoadError::Files)?;
    absent.retain(|name| !clis(&added).any(|(_, cli)| is_named(cli, name)));
    unknown(&absent, Searched::WithConfigs, &[catalog, &added])?;
    let native = native_tools(&added);
    if !native.is_empty() {
        return Err(LoadError::Native(native));
    }
    if let Some(policy) = Policy::for_additions(catalog) {
        let refused = refused(&policy, catalog, &added);
        if !refused.is_empty() {
            return Err(LoadError::NotPermitted(refused));
        }
        added = policy.admit(added).map_err(LoadError::Files)?;
    }
    Ok((ToolIndex::from_configs(vec![first, Layer::loaded(added)]), warnings))
}

/// What a config may not add under the policy of the catalog: something that stands for what that has would be one without
/// the rules for it.
fn refused(policy: &Policy, catalog: &'static Catalog, added: &Catalog) -> Vec<String> {
    let whole = ToolIndex::from_configs(vec![Layer::compiled(catalog)]);
    let additions = ToolIndex::from_configs(vec![Layer::loaded(added.clone())]);
    let tools = added.tools.iter().map(|tool| added.texts.get(tool.name));
    let tools = tools.filter(|name| !policy.permits(name) || catalog.find(name).is_some()).map(str::to_owned);
    let is_there = |name: &str| whole.prompts().iter().any(|prompt| prompt.name == name);
    let prompts = additions.prompts().iter().map(|prompt| prompt.name.as_str());
    let prompts = prompts.filter(|name| !policy.permits_prompt(name) || is_there(name));
    let own: HashSet<String> = forms(&whole).collect();
    let uris = forms(&additions).filter(|form| own.contains(form)).map(|form| format!("resource {form}"));
    tools.chain(prompts.map(|name| format!("prompt {name}"))).chain(uris).collect()
}

/// The forms of the URIs of resources.
fn forms(index: &ToolIndex) -> impl Iterator<Item = String> {
    index.resources().filter_map(|tool| Some(tool.resource_template()?.form()))
}

fn native_tools(catalog: &Catalog) -> Vec<String> {
    clis(catalog)
        .flat_map(|(_, cli)| cli.tools())
        .filter(|tool| tool.is_native())
        .map(|tool| tool.name().to_owned())
        .collect()
}
