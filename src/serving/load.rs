//! Loads the tools to serve: from the compiled-in catalog, config files and a policy.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use climax_catalog::policy::{self, Applied, Confine, ConfineLevel, Executor, PolicyFile, UnknownProgram};
use climax_catalog::{
    Catalog, CliView, Compiled, Diagnostics, Layer, MAX_SUGGESTIONS, Policy, ResolvedTool, ServedItem, Skill, Source,
    Style, ToolIndex, compile, compile_linted, compile_over, files, near_misses,
};

use crate::call::FILES_OF_GIT;
use crate::exec;
use crate::identity;
use crate::serving::skills::{self, Skills};

/// The tools cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No CLI has these names.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    UnknownNames(Vec<UnknownName>),
    /// Config or policy files have errors.
    #[error("{}", .0.render(Style::Plain))]
    Files(Diagnostics),
    /// Config files were given by names of CLIs that are compiled in.
    #[error(
        "--config takes a file, and there is no file `{0}`; the CLI of this name is compiled in: `{name} {0}` serves it",
        name = identity::name()
    )]
    NotAFile(String),
    /// Config files were given for a sealed catalog.
    #[error("this program is sealed: it serves what is compiled in, and refuses --config and --skills")]
    Sealed,
    /// Config files define native tools, which must be compiled in.
    #[error("tools that are written in Rust must be compiled in, and --config adds {}", .0.join(", "))]
    Native(Vec<String>),
    /// The policy requires confinement, and the kernel has none.
    #[error(
        "the policy requires confinement (`confine: {{required: true}}`), and this kernel cannot confine: that needs \
         seccomp and the Landlock of Linux 6.2 or later; run the server on such a kernel, or leave `required` out"
    )]
    Unconfined,
    /// Config files add or replace tools against the compiled-in policy.
    #[error("the compiled-in policy lets no config add or replace {}", .0.join(", "))]
    NotPermitted(Vec<String>),
}

/// A name that no CLI has, with suggestions.
#[derive(Debug)]
pub struct UnknownName {
    /// The name.
    pub name: String,
    /// The catalogs that were searched.
    pub scope: SearchScope,
    /// Names of CLIs that resemble it, nearest first.
    pub suggestions: Vec<String>,
    /// The number of CLIs in these catalogs.
    pub available: usize,
}

/// The catalogs in which a name of a CLI is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchScope {
    /// The compiled-in catalog.
    CompiledIn,
    /// The compiled-in catalog and the files of `--config`.
    WithConfigs,
    /// The files of `--config` alone.
    Configs,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, option) = match self.scope {
            SearchScope::CompiledIn => ("compiled in", ""),
            SearchScope::WithConfigs => ("compiled in or in a file of --config", " --config FILE"),
            SearchScope::Configs => ("in a file of --config", " --config FILE --only"),
        };
        write!(f, "no CLI named `{}` is {place}", self.name)?;
        match self.suggestions.as_slice() {
            [] => write!(f, "; `{} list{option}` shows the {} that are", identity::name(), self.available),
            near => write!(f, "; did you mean `{}`?", near.join("` or `")),
        }
    }
}

impl UnknownName {
    fn new(name: &str, scope: SearchScope, catalogs: &[&Catalog]) -> Self {
        let known = catalogs.iter().copied().flat_map(clis).flat_map(|(_, cli)| [cli.name(), cli.stem()]);
        let mut suggestions = near_misses(name, known, 2 * MAX_SUGGESTIONS);
        suggestions.dedup();
        suggestions.truncate(MAX_SUGGESTIONS);
        let suggestions = suggestions.into_iter().map(str::to_owned).collect();
        let available = catalogs.iter().map(|catalog| catalog.clis.len()).sum();
        Self { name: name.to_owned(), scope, suggestions, available }
    }
}

/// Whether `name` is the name of a CLI or the stem of its file.
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
/// All names that are neither the name of a CLI nor the stem of its file.
pub fn select(catalog: &Catalog, names: &[String]) -> Result<Vec<u32>, Vec<UnknownName>> {
    let (rows, absent) = rows(catalog, names);
    let unknown = |name| UnknownName::new(name, SearchScope::CompiledIn, &[catalog]);
    if absent.is_empty() { Ok(rows) } else { Err(absent.into_iter().map(unknown).collect()) }
}

/// Finds the rows of the CLIs whose programs a line may name, as far as its text says without being read.
fn rows_of_line(catalog: &Catalog, line: &str) -> Vec<u32> {
    let text: String = line.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let is_in_text = |word: &str| text.contains(word.rsplit('/').next().unwrap_or(word));
    let is_named = |(_, cli): &(u32, CliView<'_>)| {
        let own = cli.words().next();
        own.is_some_and(is_in_text)
            || cli.programs().any(|(spelling, _)| spelling.split_whitespace().all(is_in_text))
            || own.is_none() && cli.tools().filter_map(|tool| tool.words().next()).any(is_in_text)
    };
    // Whether git ignores a directory that is removed is asked of git.
    let removes_trees = |tool: ResolvedTool<'_>| {
        tool.words().next().is_some_and(is_in_text) && tool.effects().is_some_and(|effects| !effects.trees.is_empty())
    };
    let named: Vec<_> = clis(catalog).filter(is_named).collect();
    let asks_git = named.iter().any(|(_, cli)| cli.tools().any(removes_trees));
    let lists_files = |(_, cli): &(u32, CliView<'_>)| cli.tools().any(|tool| tool.name() == FILES_OF_GIT);
    let git = clis(catalog).filter(|one| asks_git && !is_named(one) && lists_files(one));
    named.iter().map(|(row, _)| *row).chain(git.map(|(row, _)| row)).collect()
}

/// Finds rows as [`select`] does. Returns them and the names that have none.
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

/// Reads and compiles config files and directories that extend a catalog. `served` says what the catalog defines.
///
/// # Errors
/// All errors in all files.
pub fn read_configs(paths: &[PathBuf], served: &dyn Fn(ServedItem<'_>) -> bool) -> Result<Compiled, Diagnostics> {
    read_and_compile(paths, |sources| compile_over(sources, served))
}

/// Reads and compiles config files and directories as a build does. With `lint` the warnings include advice.
///
/// # Errors
/// All errors in all files.
pub fn check_configs(paths: &[PathBuf], lint: bool) -> Result<Compiled, Diagnostics> {
    read_and_compile(paths, if lint { compile_linted } else { compile })
}

/// Checks the skills of directories, which may mention the tools of the catalog and of `loaded`.
///
/// Returns how many there are, and warnings.
///
/// # Errors
/// All mistakes in all directories.
pub fn check_skills(
    catalog: &'static Catalog,
    directories: &[PathBuf],
    loaded: Option<Layer>,
) -> Result<(usize, Diagnostics), Diagnostics> {
    skills::check(catalog, directories, &ToolIndex::from_configs(loaded.into_iter().collect()))
}

fn read_and_compile(
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

/// Reads config files and directories. The diagnostics name those that cannot be read.
fn read_sources(paths: &[PathBuf]) -> (Vec<Source>, Diagnostics) {
    let path_text = |path: &Path| path.display().to_string();
    let (config_files, mut diagnostics) = files::expand_all(paths, path_text);
    let (sources, unread) = files::read(&config_files, path_text);
    diagnostics.extend(unread);
    (sources, diagnostics)
}

/// The tools to serve and their policy, which has been applied to them.
#[derive(Debug)]
pub struct LoadedTools {
    /// The tools.
    pub index: ToolIndex,
    /// The policy: of the file, else the compiled-in one, else the default.
    pub policy: Policy,
}

/// The CLIs to load, by names and files.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Names of CLIs, compiled-in or of `configs`. No names select all.
    pub names: Vec<String>,
    /// Config files and directories. All their CLIs are loaded.
    pub configs: Vec<PathBuf>,
    /// Whether no compiled-in CLI is loaded.
    pub configs_only: bool,
    /// Directories of skills.
    pub skills: Vec<PathBuf>,
    /// The least level of confinement, besides that of the policy.
    pub confine: Option<ConfineLevel>,
    /// What becomes of programs that no config describes, at most what the policy permits.
    pub unknown: Option<UnknownProgram>,
    /// Whether the tool for jobs is served too.
    pub jobs: bool,
    /// The only line that the tools are to read. Compiled-in CLIs of which it names no program may be left out, because to
    /// apply a policy to thousands of tools takes long.
    pub line: Option<String>,
}

/// The result of loading tools.
#[derive(Debug)]
pub struct Loaded {
    /// The tools and their policy.
    pub served: LoadedTools,
    /// The skills that mention served tools only.
    pub skills: Vec<Skill>,
    /// Names of the served tools that config files define.
    pub of_configs: Vec<String>,
    /// Warnings about the files.
    pub warnings: Diagnostics,
}

/// Loads CLIs of `catalog` and of config files, and applies the policy.
///
/// Tools of config files replace compiled-in tools of the same name.
///
/// # Errors
/// A name is unknown, or a file has errors.
pub fn load_tools(catalog: &'static Catalog, wanted: &Wanted, policy: Option<&Path>) -> Result<Loaded, LoadError> {
    let policy = policy.map(|path| (path, read_policy(path)));
    // The tools of a compiled-in catalog stand as they are, unless something is to be changed about them.
    let is_changed = policy.is_some() || exec::kernel_abi().is_none();
    let line = wanted.line.as_deref().filter(|_| is_changed && wanted.names.is_empty());
    let found = unrestricted(catalog, wanted, line).and_then(|found| {
        let skills = Skills::load(catalog, &wanted.skills, &found.index).map_err(LoadError::Files)?;
        Ok((found, skills))
    });
    let (Unrestricted { index, mut of_configs, mut warnings }, skills) = match (found, &policy) {
        (Ok(found), _) => found,
        // Errors of configs and of the policy are reported together.
        (Err(LoadError::Files(mut found)), Some((_, Err(more)))) => {
            found.extend(more.clone());
            return Err(LoadError::Files(found));
        }
        (Err(error), _) => return Err(error),
    };
    let elsewhere = |name: &str| catalog.find(name).is_some();
    // CLIs that are compiled in and left out are described too.
    let left_out = if wanted.names.is_empty() && !wanted.configs_only && line.is_none() {
        Vec::new()
    } else {
        ToolIndex::from_configs(vec![Layer::compiled(catalog)]).programs().map(str::to_owned).collect()
    };
    let compiled_in = Policy::compiled_in(catalog).with_described_programs(left_out.iter().cloned());
    let flag = Confine { level: wanted.confine, required: false };
    let Some((path, policy)) = policy else {
        let (skills, found) = skills.served(&index);
        warnings.extend(found);
        let index = with_honest_risks(index, &compiled_in.clone().confined(flag))?;
        let served =
            LoadedTools { index, policy: enforceable(compiled_in.confined(flag).with_unknown(wanted.unknown))? };
        return Ok(Loaded { served, skills, of_configs, warnings });
    };
    let policy = policy.and_then(|policy| match catalog.policy {
        Some(_) => policy.narrowing(&compiled_in),
        None => Ok(policy),
    });
    let policy = policy.map_err(|errors| LoadError::Files(policy_mistakes(path, errors, &index, &elsewhere)))?;
    let Applied { policy, index, warnings: found } = policy.apply(index, &elsewhere).map_err(LoadError::Files)?;
    // A policy names more than one line does.
    warnings.extend(if line.is_some() { policy::without_names(&found) } else { found });
    let index = with_honest_risks(index, &policy.clone().confined(flag))?;
    of_configs.retain(|tool| index.get(tool).is_some());
    let policy = enforceable(policy.confined(flag).with_unknown(wanted.unknown).with_described_programs(left_out))?;
    let (skills, found) = skills.served(&index);
    warnings.extend(found);

    Ok(Loaded { served: LoadedTools { index, policy }, skills, of_configs, warnings })
}

/// Gives tools that run in a cage the risk that they have without it, where the policy or the system gives none.
///
/// A kernel that confines has the cage `read`. Tools for `workspace` write in any case.
fn with_honest_risks(index: ToolIndex, policy: &Policy) -> Result<ToolIndex, LoadError> {
    let is_confined = policy.confine().level != Some(ConfineLevel::Off) && *policy.executor() == Executor::Local;
    if is_confined && exec::kernel_abi().is_some() {
        return Ok(index);
    }
    policy::without_cages(&index).map_err(LoadError::Files)
}

/// Checks that the kernel can confine, if the policy requires it.
fn enforceable(policy: Policy) -> Result<Policy, LoadError> {
    let is_missing = policy.confine().required && exec::kernel_abi().is_none();
    if is_missing && *policy.executor() == Executor::Local { Err(LoadError::Unconfined) } else { Ok(policy) }
}

/// Reads a policy file.
///
/// # Errors
/// All errors in it.
pub fn read_policy(path: &Path) -> Result<PolicyFile, Diagnostics> {
    let source = files::read_policy(path).map_err(Diagnostics::from)?;
    policy::read(&source)
}

/// Adds to the errors by which a policy was refused the mistakes in its names.
pub(crate) fn policy_mistakes(
    path: &Path,
    errors: Diagnostics,
    index: &ToolIndex,
    elsewhere: &dyn Fn(&str) -> bool,
) -> Diagnostics {
    match files::read_policy(path) {
        Ok(source) => policy::with_names(&source, errors, index, elsewhere),
        Err(_) => errors,
    }
}

/// The tools before a policy is applied to them.
struct Unrestricted {
    index: ToolIndex,
    /// Names of the tools of config files.
    of_configs: Vec<String>,
    warnings: Diagnostics,
}

/// Builds the index of the wanted CLIs, of the compiled-in ones only those that a line may name, if there is one.
fn unrestricted(catalog: &'static Catalog, wanted: &Wanted, line: Option<&str>) -> Result<Unrestricted, LoadError> {
    let Wanted { names, configs, configs_only, skills, confine: _, unknown: _, jobs, line: _ } = wanted;
    if catalog.sealed && !skills.is_empty() {
        return Err(LoadError::Sealed);
    }

    let compiled = Layer::compiled(catalog);
    let (selected, mut absent) = match rows(catalog, names) {
        _ if *configs_only => (compiled.only(Vec::new()), names.iter().map(String::as_str).collect()),
        (_, absent) if names.is_empty() => match line {
            Some(line) => (compiled.only(rows_of_line(catalog, line)), absent),
            None => (compiled, absent),
        },
        (rows, absent) => (compiled.only(rows), absent),
    };
    let own = if *jobs { Some(Layer::loaded(job_catalog()?)) } else { None };

    if configs.is_empty() {
        check_absent(&absent, SearchScope::CompiledIn, &[catalog])?;
        let index = ToolIndex::from_configs([selected].into_iter().chain(own).collect());
        return Ok(Unrestricted { index, of_configs: Vec::new(), warnings: Diagnostics::default() });
    }

    if catalog.sealed {
        return Err(LoadError::Sealed);
    }

    check_files(catalog, configs)?;
    let compiled_in = ToolIndex::from_configs(vec![selected.clone()]);
    let served = |item: ServedItem<'_>| is_served(&compiled_in, item);
    let Compiled { catalog: added, warnings } = read_configs(configs, &served).map_err(LoadError::Files)?;
    absent.retain(|name| !clis(&added).any(|(_, cli)| is_named(cli, name)));
    if *configs_only {
        check_absent(&absent, SearchScope::Configs, &[&added])?;
    } else {
        check_absent(&absent, SearchScope::WithConfigs, &[catalog, &added])?;
    }

    let added = permitted_additions(catalog, added)?;
    let of_configs = added.tools.iter().map(|tool| added.texts.get(tool.name).to_owned()).collect();
    let index = ToolIndex::from_configs([selected, Layer::loaded(added)].into_iter().chain(own).collect());

    Ok(Unrestricted { index, of_configs, warnings })
}

/// Reads the config of the tool for jobs.
fn job_catalog() -> Result<Catalog, LoadError> {
    let source = Source::new("climax.yaml", include_bytes!("job.yaml").to_vec()).map_err(Diagnostics::from);
    let compiled = source.and_then(|source| compile(&[source])).map_err(LoadError::Files)?;
    Ok(compiled.catalog)
}

/// Fails if a path is no file but the name of a compiled-in CLI.
fn check_files(catalog: &Catalog, configs: &[PathBuf]) -> Result<(), LoadError> {
    let names = configs.iter().filter(|path| !path.exists()).filter_map(|path| path.to_str());
    let mut compiled_in = names.filter(|name| clis(catalog).any(|(_, cli)| is_named(cli, name)));
    compiled_in.next().map_or(Ok(()), |name| Err(LoadError::NotAFile(name.to_owned())))
}

/// Fails with suggestions if names of CLIs were not found.
fn check_absent(absent: &[&str], scope: SearchScope, catalogs: &[&Catalog]) -> Result<(), LoadError> {
    let names = absent.iter().map(|name| UnknownName::new(name, scope, catalogs));
    if absent.is_empty() { Ok(()) } else { Err(LoadError::UnknownNames(names.collect())) }
}

/// Whether the index has a tool, a prompt or a resource.
fn is_served(index: &ToolIndex, item: ServedItem<'_>) -> bool {
    match item {
        ServedItem::Cli(name) => index.summary().any(|summary| summary.cli.name() == name),
        ServedItem::Tool(name) => index.get(name).is_some(),
        ServedItem::Prompt(name) => index.prompts().iter().any(|prompt| prompt.name == name),
        ServedItem::Resource(form) => resource_forms(index).any(|existing| existing == form),
    }
}

/// Checks that config files may add these CLIs to `catalog`, and applies its policy to them.
fn permitted_additions(catalog: &'static Catalog, added: Catalog) -> Result<Catalog, LoadError> {
    let native = native_tools(&added);
    if !native.is_empty() {
        return Err(LoadError::Native(native));
    }

    let Some(policy) = Policy::for_additions(catalog) else { return Ok(added) };
    let denied = denied_additions(&policy, catalog, &added);
    if !denied.is_empty() {
        return Err(LoadError::NotPermitted(denied));
    }

    policy.admit(added).map_err(LoadError::Files)
}

/// Returns the tools, prompts and resources that config files must not add under the catalog's policy.
///
/// Those are the ones that the policy denies, and those that replace a compiled-in one, which would escape its rules.
fn denied_additions(policy: &Policy, catalog: &'static Catalog, added: &Catalog) -> Vec<String> {
    let all = ToolIndex::from_configs(vec![Layer::compiled(catalog)]);
    let additions = ToolIndex::from_configs(vec![Layer::loaded(added.clone())]);
    let is_denied = |tool: &ResolvedTool<'_>| !policy.permits(*tool) || catalog.find(tool.name()).is_some();
    let tools = additions.tools().filter(is_denied).map(|tool| tool.name().to_owned());
    let exists = |name: &str| all.prompts().iter().any(|prompt| prompt.name == name);
    let prompts = additions.prompts().iter().map(|prompt| prompt.name.as_str());
    let prompts = prompts.filter(|name| !policy.permits_prompt(name) || exists(name));
    let existing: HashSet<String> = resource_forms(&all).collect();
    let uris = resource_forms(&additions).filter(|form| existing.contains(form)).map(|form| format!("resource {form}"));
    tools.chain(prompts.map(|name| format!("prompt {name}"))).chain(uris).collect()
}

/// Iterates over the URIs of resources, with `{}` for each placeholder.
fn resource_forms(index: &ToolIndex) -> impl Iterator<Item = String> {
    index.resources().filter_map(|tool| Some(tool.resource_template()?.form()))
}

/// Returns the names of native tools.
fn native_tools(catalog: &Catalog) -> Vec<String> {
    clis(catalog)
        .flat_map(|(_, cli)| cli.tools())
        .filter(|tool| tool.is_native())
        .map(|tool| tool.name().to_owned())
        .collect()
}
