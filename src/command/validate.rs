//! `climax validate`: reports all errors in configs, and optionally advice, without a build.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use climax_catalog::policy::names_as_errors;
use climax_catalog::{Catalog, Code, Compiled, Diagnostic, Diagnostics, Layer, Severity, ToolIndex, did_you_mean};

use super::targets::{self, Targets};
use super::{annotate, explain};
use crate::command::output::{FAILURE, counted, print};
use crate::command::{terminal, value};
use crate::mcp::{self, Surface};
use crate::serving::load;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Config files, directories of them, patterns such as 'configs/**/*.yaml', or names of compiled-in CLIs;
    /// default: the directory `configs`, if neither a policy nor skills are to be checked
    #[arg(value_name = "FILE|NAME")]
    pub(crate) targets: Vec<String>,
    /// Check this policy too, against the targets and the compiled-in tools
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Check the skills of this directory too, against the targets and the compiled-in tools
    #[arg(long, value_name = "DIR")]
    pub(crate) skills: Vec<PathBuf>,
    /// Give advice too: warnings about valid configs that could be better
    #[arg(long)]
    pub(crate) lint: bool,
    /// Fail on warnings too
    #[arg(long)]
    pub(crate) strict: bool,
    /// Leave out warnings of this code; in a config, `x-allow: [CODE]` does so for a part of it
    #[arg(long, value_name = "CODE", value_parser = warning)]
    pub(crate) allow: Vec<Code>,
    /// Fail if the list of tools that `--classic` offers takes more tokens, by an estimate from its bytes
    #[arg(long, value_name = "N", value_parser = value::integer::<usize>)]
    pub(crate) max_tokens: Option<usize>,
    /// Explain a code: what it means, why, an example, and how to silence it
    #[arg(long, value_name = "CODE", value_parser = code)]
    pub(crate) explain: Option<Code>,
    /// Output format
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) format: Format,
    /// Print JSON: short for --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

/// Output formats of diagnostics.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Human,
    /// For programs
    Json,
    /// For code scanners (SARIF 2.1.0)
    Sarif,
    /// For pull requests (annotations of GitHub Actions)
    Github,
}

/// Parses the name of a diagnostic code.
fn code(name: &str) -> Result<Code, String> {
    Code::named(name).ok_or_else(|| match did_you_mean(name, Code::ALL.iter().map(|code| code.as_str())) {
        Some(near) => format!("there is no such code; did you mean `{near}`?"),
        None => format!("there is no such code; the codes are {}", listed(Code::ALL.iter().copied())),
    })
}

/// Parses the name of a warning.
fn warning(name: &str) -> Result<Code, String> {
    match code(name)? {
        code if code.severity() == Severity::Warning => Ok(code),
        _ => Err(format!("errors cannot be left out; the codes of warnings are {}", listed(Code::silenceable()))),
    }
}

fn listed(codes: impl Iterator<Item = Code>) -> String {
    codes.map(Code::as_str).collect::<Vec<_>>().join(", ")
}

/// The findings of one run.
struct Findings {
    diagnostics: Diagnostics,
    /// The number of tools in the files; `None` without files, or if a file is invalid.
    tools: Option<usize>,
    /// The number of skills; `None` if none were checked, or one is invalid.
    skills: Option<usize>,
    /// Whether a policy was checked.
    policy: bool,
    /// Whether warnings count as errors.
    strict: bool,
}

impl Findings {
    fn is_valid(&self) -> bool {
        if self.strict { self.diagnostics.is_empty() } else { !self.diagnostics.has_errors() }
    }
}

/// Checks all targets together, as a build would.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    if let Some(code) = arguments.explain {
        return explain::run(code);
    }

    let Targets { paths, names, unmatched } = match arguments.targets.as_slice() {
        [] if arguments.policy.is_none() && arguments.skills.is_empty() => {
            Targets { paths: vec!["configs".into()], ..Targets::default() }
        }
        targets => targets::classify(catalog, targets),
    };
    let mut found = Findings {
        diagnostics: unmatched,
        tools: None,
        skills: None,
        policy: arguments.policy.is_some(),
        strict: arguments.strict,
    };
    let loaded = check_files(&paths, arguments.lint, &mut found);

    if let Some(max) = arguments.max_tokens {
        let rows = load::select(catalog, &names).unwrap_or_default();
        let layers = [Layer::compiled(catalog).only(rows)].into_iter().chain(loaded.clone());
        let target = arguments.targets.first().map_or("configs", String::as_str);
        found.diagnostics.extend(over_budget(&ToolIndex::from_configs(layers.collect()), max, target));
    }

    if !arguments.skills.is_empty() {
        match load::check_skills(catalog, &arguments.skills, loaded.clone()) {
            Ok((skills, warnings)) => {
                found.skills = Some(skills);
                found.diagnostics.extend(warnings);
            }
            Err(diagnostics) => found.diagnostics.extend(diagnostics),
        }
    }

    if let Some(policy) = &arguments.policy {
        let layers = [Layer::compiled(catalog)].into_iter().chain(loaded).collect();
        // The tools of files with mistakes are not known.
        let has_unread = !paths.is_empty() && found.tools.is_none();
        found.diagnostics.extend(check_policy(policy, ToolIndex::from_configs(layers), &|_| has_unread));
    }

    found.diagnostics.allow(&arguments.allow);
    let code = if found.is_valid() { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) };

    print(&report(&found, arguments, &names), code)
}

/// Checks config files, if there are any. Returns their tools if all are valid.
fn check_files(paths: &[PathBuf], lint: bool, found: &mut Findings) -> Option<Layer> {
    if paths.is_empty() {
        return None;
    }
    match load::check_configs(paths, lint) {
        Ok(Compiled { catalog, warnings }) => {
            found.tools = Some(catalog.tools.len());
            found.diagnostics.extend(warnings);
            Some(Layer::loaded(catalog))
        }
        Err(diagnostics) => {
            found.diagnostics.extend(diagnostics);
            None
        }
    }
}

/// Checks a policy file against the tools of an index. `elsewhere` returns whether a tool may exist outside of it.
fn check_policy(path: &Path, index: ToolIndex, elsewhere: &dyn Fn(&str) -> bool) -> Diagnostics {
    let found = match load::read_policy(path) {
        Ok(policy) => policy.apply(index, elsewhere).map_or_else(|errors| errors, |applied| applied.warnings),
        Err(errors) => load::policy_mistakes(path, errors, &index, elsewhere),
    };
    names_as_errors(&found)
}

/// Formats the findings for standard output. For people, the diagnostics go to standard error.
fn report(found: &Findings, arguments: &Args, names: &[String]) -> String {
    match if arguments.json { Format::Json } else { arguments.format } {
        Format::Human => {
            terminal::report(&found.diagnostics);
            conclusion(found, names)
        }
        Format::Json => annotate::json(found.is_valid(), found.tools.filter(|_| found.is_valid()), &found.diagnostics),
        Format::Sarif => annotate::sarif(&found.diagnostics),
        Format::Github => annotate::github(&found.diagnostics) + &conclusion(found, names),
    }
}

/// Returns a diagnostic if the tool list of `--classic` takes more than `max` tokens. It names the largest CLIs.
fn over_budget(index: &ToolIndex, max: usize, target: &str) -> Option<Diagnostic> {
    const NAMED_CLIS: usize = 3;
    let list = mcp::tool_list(index, &Surface::Classic);
    let tokens = mcp::estimated_tokens(&list);
    if tokens <= max {
        return None;
    }

    // Estimates are rounded up, so a sum over tools would exceed the estimate of the list.
    let mut by_cli: BTreeMap<&str, String> = BTreeMap::new();
    for tool in index.tools() {
        by_cli.entry(tool.cli().name()).or_default().push_str(&mcp::tool_definition(tool));
    }

    let mut clis: Vec<(&str, usize)> =
        by_cli.into_iter().map(|(name, tools)| (name, mcp::estimated_tokens(&tools))).collect();
    clis.sort_by_key(|(_, tokens)| Reverse(*tokens));
    let most: Vec<String> = clis.iter().take(NAMED_CLIS).map(|(name, tokens)| format!("{name} {tokens}")).collect();
    let message = format!(
        "with --classic the list of tools takes about {tokens} tokens, {max} are allowed (estimated from {} bytes of JSON)",
        list.len()
    );
    let help = format!("most of them: {}; serve fewer CLIs, shorten texts, or do without --classic", most.join(", "));

    Some(Diagnostic::file(Code::OverBudget, target, message, &help))
}

/// Formats the summary for people.
fn conclusion(found: &Findings, names: &[String]) -> String {
    let mut text = String::new();
    let valid = found.is_valid();
    for name in names.iter().filter(|_| valid) {
        let _ = writeln!(text, "{name}: valid, it was checked when it was compiled in");
    }
    let warnings = counted(found.diagnostics.warnings().count(), "warning");
    let counts = [(found.tools, "tool"), (found.skills, "skill")];
    let mut parts: Vec<String> = counts.iter().filter_map(|(count, noun)| Some(counted((*count)?, noun))).collect();
    if parts.is_empty() && found.policy {
        parts.push("the policy".to_owned());
    }
    if valid && !parts.is_empty() {
        let _ = writeln!(text, "valid: {}, {warnings}", parts.join(", "));
    }
    if !valid {
        let _ = writeln!(text, "invalid: {}, {warnings}", counted(found.diagnostics.errors().count(), "error"));
    }
    text
}
