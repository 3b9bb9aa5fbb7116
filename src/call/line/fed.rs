//! Reads a command with the standard input and the variables that it has.

use climax_catalog::{Place, ResolvedTool, ToolIndex};
use climax_shell::{Field, Origin, background_count, is_name};

use super::error::LineError;
use super::read_line::Feed;
use super::reading::Reading;
use super::resolve::{ExpandedCommand, LineContext, UnreadLine, read_command};
use super::variables::{check_set_by_env, check_settable, is_harmless};
use crate::call::arguments::Input;
use crate::call::given_code::runs_code;
use crate::call::risk;

/// The standard input that a command has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandInput<'f> {
    pub(crate) feed: &'f Feed,
    /// Whether a redirection of the command itself gives it.
    pub(crate) is_own: bool,
}

impl CommandInput<'_> {
    /// Whether the command need not read it: it is that of what stands around the command.
    fn may_stay_unread(self) -> bool {
        matches!(self.feed, Feed::Inherited | Feed::Inner) && !self.is_own
    }
}

/// A command, read with the standard input and the variables that it has.
#[derive(Clone, Debug)]
pub(crate) struct FedCommand<'a> {
    pub(crate) reading: Reading<'a>,
    /// Whether it reads its standard input.
    pub(crate) reads_input: bool,
    /// The input that its arguments are bound with: none where the operand `-` names it.
    pub(crate) feed: Feed,
    /// The variables that are no arguments, which its program gets as they are.
    pub(crate) variables: Vec<(String, String)>,
}

impl<'a> FedCommand<'a> {
    /// Makes one whose program gets no variables.
    fn new(reading: Reading<'a>, reads_input: bool, feed: Feed) -> Self {
        Self { reading, reads_input, feed, variables: Vec::new() }
    }
}

/// Reads a command with the standard input that it has.
///
/// A command need not read what it inherits, or what stands before the line. Every program may get harmless variables, and
/// one in a cage all.
pub(crate) fn read_fed<'a>(
    index: &'a ToolIndex,
    command: ExpandedCommand<'_>,
    input: CommandInput<'_>,
    context: LineContext<'_>,
) -> Result<FedCommand<'a>, UnreadLine> {
    check_background_numbers(command)?;
    check_set_by_env(command.fields.iter().map(|field| field.text.as_str()))
        .map_err(|refusal| LineError::refused(command.line, command.range.clone(), refusal))?;
    if let Some((behind, variables)) = behind_env(command) {
        let inner = ExpandedCommand { variables: &variables, ..behind };
        if let Ok(fed) = read_fed(index, inner, input, context.quiet()) {
            return Ok(fed);
        }
    }

    let reader = Reader { index, command, input };
    let all = command.variables.iter().cloned();
    let (harmless, own): (Vec<_>, Vec<_>) = all.partition(|(name, value)| is_harmless(name, value));
    match reader.read(&own, context) {
        Ok(fed) => Ok(FedCommand { variables: harmless, ..fed }),
        Err(error) if own.is_empty() => Err(error),
        Err(error) => reader.read_without_ignored(own, harmless, error, context.quiet()),
    }
}

/// Checks that no argument is the number of a command in the background, which is that of no process.
fn check_background_numbers(command: ExpandedCommand<'_>) -> Result<(), LineError> {
    let names_background = |field: &&Field| {
        let count = background_count(field.text.rsplit('=').next().unwrap_or_default());
        count.is_some_and(|count| (1..=command.started).contains(&count))
    };
    let Some(field) = command.fields.iter().skip(1).find(names_background) else { return Ok(()) };

    let place = command.places.get(field.from).unwrap_or(command.range);
    let problem = "`$!` is a number that only `kill`, `wait` and `jobs` of the line know: no process has it";
    let remedy = "write `kill -0 $!` to ask whether the command runs, or `wait $!` to wait for its end";
    Err(LineError::at(command.line, place.clone(), problem, remedy))
}

/// Reads one command with its standard input, perhaps several times with other variables.
#[derive(Clone, Copy)]
struct Reader<'a, 'c> {
    index: &'a ToolIndex,
    command: ExpandedCommand<'c>,
    input: CommandInput<'c>,
}

impl<'a> Reader<'a, '_> {
    /// Reads the command with these variables for its tool, and none for its program.
    fn read(&self, variables: &[(String, String)], context: LineContext<'_>) -> Result<FedCommand<'a>, UnreadLine> {
        if self.input.may_stay_unread() {
            return self.read_beside_input(variables, context);
        }

        let read = |input, context| self.read_with(variables, input, context);
        let feed = self.input.feed;
        match (read(feed.input(), context), feed) {
            (Ok(reading), feed) => Ok(FedCommand::new(reading, *feed != Feed::Nothing, feed.clone())),
            // Without an input it reads the null device, as in a shell that has none.
            (Err(error), Feed::Nothing) => match read(Input::Pipe, context.quiet()) {
                Ok(reading) => Ok(FedCommand::new(reading, false, Feed::Pipe)),
                Err(_) => Err(error),
            },
            (Err(error), _) if self.reads_dash() => match read(Input::Nothing, context.quiet()) {
                Ok(reading) => Ok(FedCommand::new(reading, true, Feed::Nothing)),
                Err(_) => Err(error),
            },
            (Err(error), _) => Err(error),
        }
    }

    /// Reads the command with an input that it may leave unread.
    fn read_beside_input(
        &self,
        variables: &[(String, String)],
        context: LineContext<'_>,
    ) -> Result<FedCommand<'a>, UnreadLine> {
        let read = |input, context| self.read_with(variables, input, context);
        let feed = self.input.feed;
        let Ok(reading) = read(feed.input(), context.quiet()) else {
            let reading = read(Input::Nothing, context)?;
            return Ok(FedCommand::new(reading, self.reads_dash(), Feed::Nothing));
        };

        // A tool that needs none may be meant, as by `git checkout BRANCH`.
        if has_optional_input(reading.tool)
            && let Ok(other) = read(Input::Nothing, context.quiet())
            && other.tool.name() != reading.tool.name()
        {
            return Ok(FedCommand::new(other, self.reads_dash(), Feed::Nothing));
        }
        Ok(FedCommand::new(reading, true, feed.clone()))
    }

    /// Reads the command, which is not read with its `own` variables, without those that mean nothing to its tool.
    ///
    /// # Errors
    /// The first variable that may mean something, or `error` if none does.
    fn read_without_ignored(
        &self,
        own: Vec<(String, String)>,
        harmless: Vec<(String, String)>,
        error: UnreadLine,
        context: LineContext<'_>,
    ) -> Result<FedCommand<'a>, UnreadLine> {
        let Ok(fed) = self.read(&[], context) else { return Err(error) };
        if may_get_any(&fed.reading, &own) {
            return Ok(FedCommand { variables: self.command.variables.to_vec(), ..fed });
        }

        let tool = fed.reading.tool;
        let meant: Vec<_> = own.into_iter().filter(|(name, _)| !ignores(&fed.reading, name)).collect();
        match self.read(&meant, context) {
            Ok(fed) if fed.reading.tool.name() == tool.name() => Ok(FedCommand { variables: harmless, ..fed }),
            Ok(_) | Err(_) => Err(unset_variable(self.command, &meant, tool).unwrap_or(error)),
        }
    }

    /// Reads the command with these variables and this input.
    fn read_with(
        &self,
        variables: &[(String, String)],
        input: Input<'_>,
        context: LineContext<'_>,
    ) -> Result<Reading<'a>, UnreadLine> {
        read_command(self.index, ExpandedCommand { variables, ..self.command }, input, context)
    }

    /// Whether an operand is `-`, which programs of many files take for standard input.
    fn reads_dash(&self) -> bool {
        self.command.fields.iter().any(|field| field.text == "-" && field.origin == Origin::Literal)
    }
}

/// Splits `env NAME=VALUE… COMMAND` with literal words into the command and all of its variables, as it stands without `env`.
fn behind_env(command: ExpandedCommand<'_>) -> Option<(ExpandedCommand<'_>, Vec<(String, String)>)> {
    let is_literal = |at: usize| {
        let [own, written] = [command.fields.get(at)?, command.written.get(at)?];
        (own == written && own.origin == Origin::Literal).then_some(own.text.as_str())
    };
    if is_literal(0)? != "env" {
        return None;
    }
    let assigned = |at: usize| {
        let (name, value) = is_literal(at)?.split_once('=')?;
        is_name(name).then(|| (name.to_owned(), value.to_owned()))
    };
    let own: Vec<(String, String)> = (1..).map_while(assigned).collect();
    let start = own.len() + 1;
    let is_program = is_literal(start).is_some_and(|word| !word.starts_with('-') && !word.contains('='));
    if own.is_empty() || !is_program || own.iter().any(|(name, _)| check_settable(name).is_err()) {
        return None;
    }
    let (fields, written) = (&command.fields[start..], &command.written[start..]);
    Some((ExpandedCommand { written, fields, ..command }, [command.variables, &own].concat()))
}

/// Whether a tool reads its standard input only if there is one.
fn has_optional_input(tool: ResolvedTool<'_>) -> bool {
    tool.args().any(|arg| arg.place() == Place::Stdin && !arg.required())
}

/// Whether a tool takes a variable by an arg, perhaps one that a policy took away.
fn takes(tool: ResolvedTool<'_>, variable: &str) -> bool {
    tool.args().chain(tool.withheld_args()).any(|arg| arg.variable() == Some(variable))
}

/// Whether a variable is known to mean nothing to a command and the one that it starts. What prints variables may read any,
/// and so may hooks and programs that an argument gives.
fn ignores(reading: &Reading<'_>, variable: &str) -> bool {
    let tool = reading.tool;
    let runs_more = || {
        let bound = reading.bind_with_any_input();
        bound.is_ok_and(|bound| runs_code(tool, &bound) || risk::may_run_hooks(tool, risk::of_call(tool, &bound)))
    };
    let may_be_read = match &reading.started {
        Some(started) => !ignores(&started.reading, variable),
        None => tool.started_command().is_some() || tool.is_sensitive() || runs_more(),
    };
    !may_be_read && !takes(tool, variable) && tool.cli().ignores_variable(variable)
}

/// The error of a command that is read without these variables; `None` if its tool takes all of them, so that a value is
/// wrong.
fn unset_variable(
    command: ExpandedCommand<'_>,
    own: &[(String, String)],
    tool: ResolvedTool<'_>,
) -> Option<UnreadLine> {
    let (name, _) = own.iter().find(|(name, _)| !takes(tool, name))?;
    let program = command.fields.first().map_or("", |field| field.text.as_str());
    let problem = format!("the variable `{name}` cannot be set for `{program}` (tool {})", tool.name());
    let remedy = "it may decide what the program does; leave it out, or `unset` it before";
    Some(LineError::at(command.line, command.range.clone(), problem, remedy).into())
}

/// Whether a program may get any variable, as one does that runs code of the directory or of its caller anyway. So may
/// another one that starts it, such as `timeout`, if the variables mean nothing to that one itself.
fn may_get_any(reading: &Reading<'_>, variables: &[(String, String)]) -> bool {
    let Some(started) = &reading.started else { return reading.unknown.is_some() || runs_project_code(reading) };
    let cli = reading.tool.cli();
    variables.iter().all(|(name, _)| cli.ignores_variable(name)) && may_get_any(&started.reading, variables)
}

/// Whether a tool runs code of the directory or of its caller. Where it does not, variables of a line could name programs
/// where there is none.
fn runs_project_code(reading: &Reading<'_>) -> bool {
    reading.tool.needs().is_some_and(|needs| needs.holds_any_code())
}
