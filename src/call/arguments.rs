//! Binds the JSON arguments of a call to a tool's args.
//!
//! Pure. All violations are reported at once, so that a model can repair its call in one turn.

mod coercion;
mod input;
mod rules;
mod steps;
mod value;
mod violation;
mod withheld;

use std::path::{Path, PathBuf};

use climax_catalog::{ArgView, GroupKind, OutputFileView, Place, ResolvedTool, Risk, STEPS, Shape, Type, near_misses};
use serde_json::{Map, Value};

pub use self::coercion::{BoundValue, coerce};
pub use self::input::Input;
use self::rules::RuleOrigin;
pub(crate) use self::rules::of_values as violations_of_values;
use self::value::Absent;
pub(crate) use self::value::{MAX_ARGUMENT_BYTES, MAX_STDIN_BYTES};
pub use self::violation::{Problem, Violation, echo, type_problem};
pub use self::withheld::{unstated_defaults, withheld};

/// Maximum unknown keys of a call that are compared with the names of args, and that results and audit lines name.
pub(crate) const MAX_UNKNOWN_KEYS: usize = 32;

/// Maximum length of all arguments of a command line together, in bytes.
///
/// Half of what Linux allows for arguments and environment with the usual stack of 8 MiB. Source: execve(2), `ARG_MAX`.
pub(crate) const MAX_COMMAND_LINE_BYTES: usize = 1 << 20;

/// The checked values of a call, defaults included. Args without a value are absent.
#[derive(Clone, Debug)]
pub struct Bound<'a> {
    values: Vec<(ArgView<'a>, BoundValue)>,
}

impl<'a> Bound<'a> {
    /// Returns the value of the arg called `name`; of several the last.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&BoundValue> {
        self.iter().filter(|(arg, _)| arg.name() == name).last().map(|(_, value)| value)
    }

    /// Returns whether an arg of this name has a value, and is not switched off.
    #[must_use]
    pub fn gives(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| *value != BoundValue::Boolean(false))
    }

    /// Adds the values of options that stand several times in a line, so that checks see all of them.
    ///
    /// # Errors
    /// All violations of these values.
    pub fn with_repeated(self, tool: ResolvedTool<'a>, repeated: &[(String, Value)]) -> Result<Self, Vec<Violation>> {
        let mut values = Vec::with_capacity(repeated.len() + self.values.len());
        let mut violations = Vec::new();
        for (name, value) in repeated {
            let Some(arg) = tool.args().find(|arg| arg.name() == name) else { continue };
            let dash_allowed = tool.is_behind_dashes(arg) || arg.leading_dash() == Some(true);
            match value::bind(arg, Some(value), Absent::Omitted, dash_allowed) {
                Ok(bound) => values.extend(bound.map(|bound| (arg, bound))),
                Err(found) => violations.extend(found),
            }
        }

        values.extend(self.values);
        if violations.is_empty() { Ok(Self { values }) } else { Err(violations) }
    }

    /// Adds the paths of result files, in definition order of the args.
    #[must_use]
    pub fn with_files(self, tool: ResolvedTool<'a>, path: impl Fn(OutputFileView<'a>) -> String) -> Self {
        let given: Vec<(ArgView<'a>, BoundValue)> = self.values;
        let mut values = Vec::with_capacity(given.len());
        let mut given = given.into_iter().peekable();

        for arg in tool.args() {
            values.extend(arg.output().map(|output| (arg, BoundValue::String(path(output)))));
            // The options of `steps` stand together, where the first of them is defined.
            let is_here = |(other, _): &(ArgView<'a>, BoundValue)| {
                other.name() == arg.name() || other.is_ordered() && arg.is_ordered()
            };
            while let Some(next) = given.next_if(is_here) {
                values.push(next);
            }
        }

        Self { values }
    }

    /// Iterates over the args that have a value, in definition order. Values of options that a line repeats come first.
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
    let given = |arg: ArgView<'_>| is_from_agent(arg).then(|| arguments.get(arg.name()));
    let bound = bind_args(tool, Absent::Default, given, arguments).and_then(|bound| whole(tool, bound));
    let refused = refused_keys(tool, arguments);
    match bound {
        Ok(bound) if refused.is_empty() => Ok(bound),
        Ok(_) => Err(refused),
        Err(violations) => Err(violations.into_iter().chain(refused).collect()),
    }
}

/// Converts and checks the arguments of a command that was read from a line. What the line leaves out has no value, except
/// for variables of the environment, which harden a program.
///
/// Rules about several args are left to the program, which knows what it does with the words. Only an arg of a group of
/// which a call gives exactly one has to be there.
///
/// # Errors
/// All violations, in definition order of the args.
pub fn bind_line<'a>(
    tool: ResolvedTool<'a>,
    arguments: &Map<String, Value>,
    input: Input<'_>,
) -> Result<Bound<'a>, Vec<Violation>> {
    let piped = Value::from("");
    let given = |arg: ArgView<'_>| {
        let is_piped = input == Input::Pipe && arg.place() == Place::Stdin;
        is_from_agent(arg).then(|| arguments.get(arg.name()).or(is_piped.then_some(&piped)))
    };
    let bound = bind_args(tool, Absent::Omitted, given, arguments)?;
    let lacks_all = |violation: &Violation| match &violation.problem {
        Problem::NotExactlyOne { names } => names.iter().all(|name| bound.get(name).is_none()),
        Problem::LineTooLong { .. } => true,
        _ => false,
    };
    let violations: Vec<Violation> = check_whole(tool, &bound).into_iter().filter(lacks_all).collect();
    if violations.is_empty() { Ok(bound) } else { Err(violations) }
}

/// Returns whether an arg takes a value of a line. `key` is empty except for maps.
pub(crate) fn accepts(arg: ArgView<'_>, key: &str, value: &str) -> bool {
    let value = match arg.shape() {
        Shape::Single => Value::from(value),
        Shape::Map(_) => Map::from_iter([(key.to_owned(), value.into())]).into(),
        Shape::Count | Shape::List(_) | Shape::Rest(_) => Value::from(vec![value]),
    };
    value::bind(arg, Some(&value), Absent::Omitted, true).is_ok()
}

/// Whether an agent gives the arg, not the user or the server.
fn is_from_agent(arg: ArgView<'_>) -> bool {
    !arg.is_from_user() && arg.output().is_none()
}

/// Returns the first 32 keys that no arg of the tool has. A call that [`bind`] accepts ignores them.
pub fn unknown_keys<'v>(tool: ResolvedTool<'v>, arguments: &'v Map<String, Value>) -> impl Iterator<Item = &'v str> {
    keys_beside(tool.args().chain(tool.withheld_args()), arguments)
}

/// Returns the first 32 keys of an agent that a call ignores.
///
/// These include args that the user or the server gives. Otherwise an agent could find out their names.
pub fn keys_ignored_from_agents<'v>(
    tool: ResolvedTool<'v>,
    arguments: &'v Map<String, Value>,
) -> impl Iterator<Item = &'v str> {
    keys_beside(tool.agent_args().chain(tool.withheld_args()), arguments)
}

fn keys_beside<'v>(
    args: impl Iterator<Item = ArgView<'v>> + Clone,
    arguments: &'v Map<String, Value>,
) -> impl Iterator<Item = &'v str> {
    let given = arguments.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key.as_str());
    let is_known = move |key: &str| {
        args.clone().any(|arg| arg.name() == key) || key == STEPS && args.clone().any(ArgView::is_ordered)
    };
    given.filter(move |key| !is_known(key)).take(MAX_UNKNOWN_KEYS)
}

/// Maximum args that the violation of an unknown name lists.
const MAX_LISTED_ARGS: usize = 16;

/// Returns a violation for each unknown key. The published args are listed first.
pub(crate) fn unknown_violations(tool: ResolvedTool<'_>, arguments: &Map<String, Value>) -> Vec<Violation> {
    let args = || tool.args().filter(|arg| arg.output().is_none() && arg.fixed().is_none());
    let shown = args().filter(|arg| arg.is_shown());
    let known: Vec<String> = shown.take(MAX_LISTED_ARGS).map(|arg| arg.name().to_owned()).collect();
    let more = args().count() - known.len();
    let problem = || Problem::Unknown { known: known.clone(), more };
    let violation = |key: &str| Violation { argument: key.to_owned(), problem: problem() };
    unknown_keys(tool, arguments).map(violation).collect()
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
            None if names_directory(key, &arguments[key]) => Some(directory_problem(tool)),
            None => (lacks_dry_run && requests_dry_run(key, &arguments[key])).then_some(Problem::NoDryRun),
        }
    };
    let violation = |key: &str| Some(Violation { argument: key.to_owned(), problem: problem(key)? });

    unknown_keys(tool, arguments).filter_map(violation).collect()
}

/// Whether an unknown key names the directory in which the program is to run, by a common name for that.
fn names_directory(key: &str, value: &Value) -> bool {
    const NAMES: [&str; 4] = ["cwd", "workdir", "workingdir", "workingdirectory"];
    NAMES.contains(&bare_name(key).as_str()) && !matches!(value.as_str(), Some("" | "."))
}

/// The problem of a directory for a tool that has another name for it, or none.
fn directory_problem(tool: ResolvedTool<'_>) -> Problem {
    match tool.agent_args().find(|arg| arg.place() == Place::Cwd) {
        Some(arg) => Problem::Misspelt { meant: arg.name().to_owned() },
        None => Problem::NoDirectory,
    }
}

/// Returns a name in lower case and without separators.
fn bare_name(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether an unknown key requests a dry run.
fn requests_dry_run(key: &str, value: &Value) -> bool {
    is_name_of_dry_run(key) && coerce(value, Type::Boolean) != Ok(BoundValue::Boolean(false))
}

/// Whether this is a common name for an argument that requests a dry run.
fn is_name_of_dry_run(key: &str) -> bool {
    const NAMES: [&str; 6] = ["dryrun", "noact", "noop", "preview", "simulate", "whatif"];
    NAMES.contains(&bare_name(key).as_str())
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
    let given = |arg: ArgView<'_>| arg.output().is_none().then(|| values(arg).get(arg.name()));
    let bound = bind_args(tool, Absent::Default, given, arguments);
    bound.and_then(|bound| whole(tool, bound))
}

/// Checks the rules about several args together.
fn whole<'a>(tool: ResolvedTool<'_>, bound: Bound<'a>) -> Result<Bound<'a>, Vec<Violation>> {
    let violations = check_whole(tool, &bound);
    if violations.is_empty() { Ok(bound) } else { Err(violations) }
}

/// Returns the names of the args of a form for which the user's answers are invalid or violate the policy.
#[must_use]
pub fn unusable_answers(tool: ResolvedTool<'_>, names: &[&str], answers: &Map<String, Value>) -> Vec<String> {
    let given = |arg: ArgView<'_>| names.contains(&arg.name()).then(|| answers.get(arg.name()));
    let bound = bind_args(tool, Absent::Default, given, &Map::new());
    let violations = bound.and_then(|bound| check(&bound)).err().unwrap_or_default();
    let mut names: Vec<String> = violations.into_iter().map(|violation| violation.argument).collect();
    names.dedup();
    names
}

/// Binds the args for which `given` returns `Some`: the value, or `None` for an absent one.
fn bind_args<'a, 'v>(
    tool: ResolvedTool<'a>,
    absent: Absent,
    given: impl Fn(ArgView<'a>) -> Option<Option<&'v Value>>,
    arguments: &Map<String, Value>,
) -> Result<Bound<'a>, Vec<Violation>> {
    let mut values = Vec::new();
    let mut violations = Vec::new();
    let mut steps = Some(arguments.get(STEPS));

    for (arg, value) in tool.args().filter_map(|arg| Some((arg, given(arg)?))) {
        let fixed = arg.fixed().filter(|_| value.is_none_or(Value::is_null)).map(|word| fixed_value(arg, word));
        if arg.is_ordered() && fixed.is_none() {
            violations.extend(value.filter(|value| !value.is_null()).map(|_| outside_steps(arg)));
            // All of them stand where the first one would.
            match steps.take().flatten().map_or_else(|| Ok(Vec::new()), |given| steps::bind(tool, given)) {
                Ok(bound) => values.extend(bound),
                Err(found) => violations.extend(found),
            }
            if arg.required() && !values.iter().any(|(given, _): &(ArgView<'_>, _)| given.name() == arg.name()) {
                violations.push(Violation { argument: format!("{STEPS}.{}", arg.name()), problem: Problem::Missing });
            }
            continue;
        }
        let dash_allowed = tool.is_behind_dashes(arg) || arg.leading_dash() == Some(true) || fixed.is_some();
        match value::bind(arg, fixed.as_ref().or(value), absent, dash_allowed) {
            Ok(Some(value)) => values.push((arg, value)),
            Ok(None) => {}
            Err(found) => violations.extend(found),
        }
    }

    if violations.is_empty() { Ok(Bound { values }) } else { Err(violations) }
}

/// The violation of an option that stands beside `steps`, where its order is not said.
fn outside_steps(arg: ArgView<'_>) -> Violation {
    Violation { argument: arg.name().to_owned(), problem: Problem::OutsideSteps }
}

/// Returns the value that a policy gives an arg, as an agent would give it.
fn fixed_value(arg: ArgView<'_>, word: &str) -> Value {
    if arg.shape().is_list() { Value::from(vec![word]) } else { Value::from(word) }
}

/// Returns whether the value of one of the args needs approval by the policy.
#[must_use]
pub fn need_approval(bound: &Bound<'_>) -> bool {
    bound.iter().any(|(arg, value)| rules::need_approval(arg, value))
}

/// Returns the violation of a call that leaves out an operand before one that it gives: the program would take the
/// second for the first.
fn missing_operand(tool: ResolvedTool<'_>, bound: &Bound<'_>) -> Option<Violation> {
    let operands: Vec<ArgView<'_>> = tool.positionals().filter(|arg| !tool.is_behind_dashes(*arg)).collect();
    let is_absent = |arg: &ArgView<'_>| {
        let is_optional = arg.shape() == Shape::Single && !arg.required() && arg.output().is_none();
        // The user may give it later.
        is_optional && !arg.is_from_user() && bound.get(arg.name()).is_none()
    };
    let at = operands.iter().position(is_absent)?;
    let next = operands[at..].iter().find(|arg| arg.required())?;
    let problem = Problem::NeededBefore { next: next.name().to_owned() };
    Some(Violation { argument: operands[at].name().to_owned(), problem })
}

/// Checks the groups of a tool, and the length of the command line.
fn check_whole(tool: ResolvedTool<'_>, bound: &Bound<'_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    for group in tool.groups() {
        let names = || group.args().map(str::to_owned).collect();
        let given = group.args().filter(|name| bound.gives(name)).count();
        let problem = match group.kind() {
            GroupKind::ExactlyOne if given != 1 => Problem::NotExactlyOne { names: names() },
            GroupKind::AtMostOne if given > 1 => Problem::SeveralOfOne { names: names() },
            GroupKind::Together if given > 0 && given < group.args().len() => Problem::NotTogether { names: names() },
            GroupKind::ExactlyOne | GroupKind::AtMostOne | GroupKind::Together => continue,
        };
        violations.push(Violation { argument: group.args().next().unwrap_or_default().to_owned(), problem });
    }

    violations.extend(missing_operand(tool, bound));
    let on_line = |(arg, _): &(ArgView<'_>, &BoundValue)| !matches!(arg.place(), Place::Stdin | Place::Cwd);
    let length = |value: &BoundValue| value.words().map(|word| word.len() + 1).sum::<usize>();
    let lengths = || bound.iter().filter(on_line).map(|(arg, value)| (length(value), arg.name()));
    let bytes = lengths().map(|(bytes, _)| bytes).sum();

    if bytes > MAX_COMMAND_LINE_BYTES {
        let problem = Problem::LineTooLong { bytes, limit: MAX_COMMAND_LINE_BYTES };
        let longest = lengths().max().map_or("", |(_, name)| name);
        violations.push(Violation { argument: longest.to_owned(), problem });
    }

    violations
}

/// Checks the directory of a call without a `cwd` against the policy's rules for that arg. `server` is the directory of
/// this process.
///
/// # Errors
/// The violation.
pub fn check_default_directory(tool: ResolvedTool<'_>, bound: &Bound<'_>, server: &Path) -> Result<(), Violation> {
    let absent = tool.args().find(|arg| arg.place() == Place::Cwd && bound.get(arg.name()).is_none());
    let Some(arg) = absent else { return Ok(()) };
    let directory = tool.cli().working_dir().map_or_else(|| server.to_owned(), |own| server.join(own));
    // Without `.` in the path.
    let directory: PathBuf = directory.components().collect();
    let value = BoundValue::String(directory.display().to_string());

    match rules::violations(arg, &value, RuleOrigin::Policy).pop() {
        None => Ok(()),
        Some(found) => {
            let problem = Problem::ForbiddenDirectory { because: Box::new(found) };
            Err(Violation { argument: arg.name().to_owned(), problem })
        }
    }
}

/// Checks values, defaults included, against the rules that policies set for the tool's args.
///
/// # Errors
/// All violations, in definition order of the args.
pub fn check(bound: &Bound<'_>) -> Result<(), Vec<Violation>> {
    let violations: Vec<Violation> =
        bound.iter().flat_map(|(arg, value)| rules::violations(arg, value, RuleOrigin::Policy)).collect();
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}
