//! Binds the JSON arguments of a call to a tool's args.
//!
//! Pure. All violations are reported at once, so that a model can repair its call in one turn.

mod coercion;
mod violation;

use climax_catalog::policy::{ArgRule, RuleViolation};
use climax_catalog::{ArgView, OutputFileView, Place, ResolvedTool, Risk, Type, near_misses};
use serde_json::{Map, Value};

pub use self::coercion::{BoundValue, coerce};
use self::violation::json_text;
pub use self::violation::{Problem, Violation, echo, type_problem};

/// Maximum unknown keys of a call that are compared with the names of args, and that results and audit lines name.
pub(crate) const MAX_UNKNOWN_KEYS: usize = 32;

/// Maximum length of an argument, in bytes, except for standard input: the limit of Linux for one word.
///
/// Source: `MAX_ARG_STRLEN`, execve(2), less the NUL at its end.
pub(crate) const MAX_ARGUMENT_BYTES: usize = (128 << 10) - 1;

/// Maximum length of the text for a program's standard input, in bytes.
pub(crate) const MAX_STDIN_BYTES: usize = 8 << 20;

/// The checked values of a call, defaults included. Args without a value are absent.
#[derive(Clone, Debug)]
pub struct Bound<'a> {
    values: Vec<(ArgView<'a>, BoundValue)>,
}

impl<'a> Bound<'a> {
    /// Returns the value of the arg called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&BoundValue> {
        self.iter().find(|(arg, _)| arg.name() == name).map(|(_, value)| value)
    }

    /// Adds the paths of result files, in definition order of the args.
    #[must_use]
    pub fn with_files(self, tool: ResolvedTool<'a>, path: impl Fn(OutputFileView<'a>) -> String) -> Self {
        let given: Vec<(ArgView<'a>, BoundValue)> = self.values;
        let value = |arg: ArgView<'a>| match arg.output() {
            Some(output) => Some(BoundValue::String(path(output))),
            None => given.iter().find(|(other, _)| other.name() == arg.name()).map(|(_, value)| value.clone()),
        };
        Self { values: tool.args().filter_map(|arg| Some((arg, value(arg)?))).collect() }
    }

    /// Iterates over the args that have a value, in definition order.
    pub fn iter(&self) -> impl Iterator<Item = (ArgView<'a>, &BoundValue)> {
        self.values.iter().map(|(arg, value)| (*arg, value))
    }
}

/// Converts and checks the agent's arguments of one call; null counts as absent.
///
/// Args that the user fills in and args for result files are skipped. Unknown keys are ignored ([`unknown_keys`]), with two
/// exceptions: a misspelt name of an arg without a value, and a request for a dry run that the tool does not support.
/// Ignoring these could change something that the agent did not intend.
///
/// Of a policy only `allow_leading_dash` applies here. [`check`] applies its rules.
///
/// # Errors
/// All violations: first of args, in definition order, then unknown keys.
///
/// Source: `docs/contract.md`, "Arguments".
///
/// ```
/// use climax::call::arguments::bind;
/// use climax::catalog::{Layer, ToolIndex};
/// use serde_json::{Map, json};
///
/// let index = ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]);
/// let git_log = index.get("git_log").expect("this package compiles it in");
///
/// let arguments = Map::from_iter([("max_count".to_owned(), json!("3"))]);
/// let bound = bind(git_log, &arguments).expect("text is converted to an integer");
/// assert_eq!(bound.get("max_count").map(ToString::to_string).as_deref(), Some("3"));
///
/// let arguments = Map::from_iter([("max_count".to_owned(), json!("many"))]);
/// let violations = bind(git_log, &arguments).unwrap_err();
/// assert_eq!(violations[0].to_string(), "Argument 'max_count': cannot convert 'many' to integer");
/// ```
pub fn bind<'a>(tool: ResolvedTool<'a>, arguments: &Map<String, Value>) -> Result<Bound<'a>, Vec<Violation>> {
    let bound =
        bind_args(tool, |arg| (!arg.is_from_user() && arg.output().is_none()).then(|| arguments.get(arg.name())));
    let refused = refused_keys(tool, arguments);
    match bound {
        Ok(bound) if refused.is_empty() => Ok(bound),
        Ok(_) => Err(refused),
        Err(violations) => Err(violations.into_iter().chain(refused).collect()),
    }
}

/// Returns the first 32 keys that no arg of the tool has. A call that [`bind`] accepts ignores them.
pub fn unknown_keys<'v>(tool: ResolvedTool<'v>, arguments: &'v Map<String, Value>) -> impl Iterator<Item = &'v str> {
    keys_beside(tool.args(), arguments)
}

/// Returns the first 32 keys of an agent that a call ignores.
///
/// These include args that the user or the server gives. Otherwise an agent could find out their names.
pub fn keys_ignored_from_agents<'v>(
    tool: ResolvedTool<'v>,
    arguments: &'v Map<String, Value>,
) -> impl Iterator<Item = &'v str> {
    keys_beside(tool.agent_args(), arguments)
}

fn keys_beside<'v>(
    args: impl Iterator<Item = ArgView<'v>> + Clone,
    arguments: &'v Map<String, Value>,
) -> impl Iterator<Item = &'v str> {
    let given = arguments.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key.as_str());
    given.filter(move |key| args.clone().all(|arg| arg.name() != *key)).take(MAX_UNKNOWN_KEYS)
}

/// Returns the unknown keys that must not be ignored.
fn refused_keys(tool: ResolvedTool<'_>, arguments: &Map<String, Value>) -> Vec<Violation> {
    let given = |name: &str| arguments.get(name).is_some_and(|value| !value.is_null());
    let lacks_dry_run =
        tool.promised_risk() != Risk::Read && !tool.agent_args().any(|arg| is_name_of_dry_run(arg.name()));
    let problem = |key: &str| {
        let free = tool.agent_args().map(ArgView::name).filter(|name| !given(name));
        match near_misses(key, free, 1).first() {
            Some(meant) => Some(Problem::Misspelt { meant: (*meant).to_owned() }),
            None => (lacks_dry_run && requests_dry_run(key, &arguments[key])).then_some(Problem::NoDryRun),
        }
    };
    let violation = |key: &str| Some(Violation { argument: key.to_owned(), problem: problem(key)? });
    unknown_keys(tool, arguments).filter_map(violation).collect()
}

/// Whether an unknown key requests a dry run.
fn requests_dry_run(key: &str, value: &Value) -> bool {
    is_name_of_dry_run(key) && coerce(value, Type::Boolean) != Ok(BoundValue::Boolean(false))
}

/// Whether this is a common name for an argument that requests a dry run.
fn is_name_of_dry_run(key: &str) -> bool {
    const NAMES: [&str; 6] = ["dryrun", "noact", "noop", "preview", "simulate", "whatif"];
    let name: String = key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    NAMES.contains(&name.as_str())
}

/// Binds the agent's arguments together with the user's answers to the tool's forms.
///
/// # Errors
/// All violations, of arguments and of answers, in definition order.
pub fn bind_answered<'a>(
    tool: ResolvedTool<'a>,
    arguments: &Map<String, Value>,
    answers: &Map<String, Value>,
) -> Result<Bound<'a>, Vec<Violation>> {
    let values = |arg: ArgView<'_>| if arg.is_from_user() { answers } else { arguments };
    bind_args(tool, |arg| arg.output().is_none().then(|| values(arg).get(arg.name())))
}

/// Returns the names of the args of a form for which the user's answers are invalid or violate the policy.
#[must_use]
pub fn unusable_answers(tool: ResolvedTool<'_>, names: &[&str], answers: &Map<String, Value>) -> Vec<String> {
    let bound = bind_args(tool, |arg| names.contains(&arg.name()).then(|| answers.get(arg.name())));
    let violations = bound.and_then(|bound| check(&bound)).err().unwrap_or_default();
    let mut names: Vec<String> = violations.into_iter().map(|violation| violation.argument).collect();
    names.dedup();
    names
}

/// Binds the args for which `given` returns `Some`: the value, or `None` for an absent one.
fn bind_args<'a, 'v>(
    tool: ResolvedTool<'a>,
    given: impl Fn(ArgView<'a>) -> Option<Option<&'v Value>>,
) -> Result<Bound<'a>, Vec<Violation>> {
    let after_dashes = tool.words().last() == Some("--");
    let mut values = Vec::new();
    let mut violations = Vec::new();
    for (arg, value) in tool.args().filter_map(|arg| Some((arg, given(arg)?))) {
        let dash_allowed = after_dashes || arg.leading_dash() == Some(true);
        match bind_one(arg, value, dash_allowed) {
            Ok(Some(value)) => values.push((arg, value)),
            Ok(None) => {}
            Err(problem) => violations.push(Violation { argument: arg.name().to_owned(), problem }),
        }
    }
    if violations.is_empty() { Ok(Bound { values }) } else { Err(violations) }
}

/// Checks values, defaults included, against the rules that policies set for the tool's args.
///
/// # Errors
/// All violations, in definition order of the args.
pub fn check(bound: &Bound<'_>) -> Result<(), Vec<Violation>> {
    let violations = bound.iter().flat_map(|(arg, value)| {
        let problems = arg.rules().filter_map(move |rule| problem(&rule.to_rule(), &value.to_string()));
        problems.map(move |problem| Violation { argument: arg.name().to_owned(), problem })
    });
    let violations: Vec<Violation> = violations.collect();
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

/// Describes how a word violates a rule; `None` if it does not.
fn problem(rule: &ArgRule, word: &str) -> Option<Problem> {
    let value = echo(word);
    Some(match rule.check(word)? {
        RuleViolation::Pattern(pattern) => Problem::Pattern { value, pattern: pattern.to_owned() },
        RuleViolation::TooLong(pattern) => Problem::Uncheckable { bytes: word.len(), pattern: pattern.to_owned() },
        RuleViolation::NotANumber => Problem::NotANumber { value },
        RuleViolation::BelowMinimum(minimum) => Problem::BelowMinimum { value, minimum: minimum.to_string() },
        RuleViolation::AboveMaximum(maximum) => Problem::AboveMaximum { value, maximum: maximum.to_string() },
    })
}

/// Converts and checks the value of one arg.
fn bind_one(arg: ArgView<'_>, given: Option<&Value>, dash_allowed: bool) -> Result<Option<BoundValue>, Problem> {
    let Some(given) = given.filter(|value| !value.is_null()) else {
        return if arg.required() { Err(Problem::Missing) } else { Ok(default_value(arg)) };
    };
    let value = coerce(given, arg.kind())?;
    let word = value.to_string();
    if word.contains('\0') {
        return Err(Problem::Nul);
    }
    let limit = if arg.place() == Place::Stdin { MAX_STDIN_BYTES } else { MAX_ARGUMENT_BYTES };
    if word.len() > limit {
        return Err(Problem::TooLong { bytes: word.len(), limit });
    }
    if arg.values().len() > 0 && !arg.values().any(|allowed| allowed == word) {
        return Err(Problem::NotInEnum { allowed: arg.values().map(str::to_owned).collect() });
    }
    if arg.place() == Place::Positional && word.starts_with('-') && !dash_allowed {
        return Err(Problem::LeadingDash { value: json_text(given) });
    }
    Ok(Some(value))
}

/// Returns the default of an arg, which was checked when the catalog was compiled.
fn default_value(arg: ArgView<'_>) -> Option<BoundValue> {
    let word = arg.default()?;
    Some(match arg.kind() {
        Type::Boolean => BoundValue::Boolean(word == "true"),
        Type::String | Type::Integer | Type::Number => BoundValue::String(word.to_owned()),
    })
}
