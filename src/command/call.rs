//! `climax call`: runs one call, in the same way as a call of an agent.

mod live;

use std::convert::Infallible;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use climax_catalog::{ArgView, OutputForm, ResolvedTool};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use self::live::Live;
use crate::call::approval::{Approver, Denial, FormAnswer, Verdict};
use crate::call::digest::RequestDigest;
use crate::call::form::Form;
use crate::call::visible::TextForm;
use crate::call::{CallError, CallResult, ErrorCode, Plan, Purpose, Session, Toolbox};
use crate::command::output::{FAILURE, print, print_bytes, usage};
use crate::command::runtime::{audit, runtime, text_form};
use crate::command::selection::Sources;
use crate::command::signals::EndSignal;
use crate::command::{dry_run, terminal, value};
use crate::exec::{Limits, Runner, Watch};
use crate::mcp::reply::{Reply, reply};
use crate::serving::Program;
use crate::serving::load::LoadedTools;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The tool's name
    pub(crate) tool: String,
    /// Arguments as `key=value`
    #[arg(value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) pairs: Vec<(String, String)>,
    /// Arguments as a JSON object, `@FILE` to read it from a file, `-` from standard input; `key=value` pairs are
    /// added to it
    #[arg(long = "args", value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) object: Option<String>,
    #[command(flatten)]
    pub(crate) sources: Sources,
    /// How many bytes of standard output, and of standard error, the result holds at most
    #[arg(long, value_name = "BYTES", default_value_t = crate::exec::DEFAULT_OUTPUT_BYTES, value_parser = value::integer::<usize>)]
    pub(crate) max_output: usize,
    /// Append a JSON line for the call to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// Print text as the program printed it, including terminal escapes and invisible characters
    #[arg(long)]
    pub(crate) raw_output: bool,
    /// Print the command line, the directory, the risk and whether approval is needed; run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE, such as max_count=3".to_owned()),
    }
}

/// Runs the call and prints its result. Exit status 1 if it is an error.
pub(crate) fn run(program: &Program, arguments: &Args) -> ExitCode {
    let values = match merged(arguments) {
        Ok(values) => values,
        Err(message) => return usage(&message),
    };
    let LoadedTools { index, policy } = match arguments.sources.load(program.catalog) {
        Ok(served) => served,
        Err(code) => return code,
    };
    let audit = match audit(arguments.audit.as_deref()) {
        Ok(audit) => audit,
        Err(code) => return code,
    };
    let limits = Limits { stream_bytes: arguments.max_output, ..Limits::default() };
    let runner = Runner::new(policy.executor().clone(), limits, 1).with_helper_processes();
    let toolbox = Toolbox::new(index, policy, runner, audit).with_natives(program.natives.clone());
    let call = Call { toolbox: &toolbox, name: &arguments.tool, arguments: &values };
    let ran = runtime().and_then(|runtime| {
        if arguments.dry_run {
            return Ok(call.plan(&runtime, arguments.json));
        }
        let form = text_form(arguments.raw_output);
        let mut live = Live::new(form, arguments.max_output);
        let watch = live.watch();
        let watch = Some(&watch).filter(|_| !arguments.json && call.prints_text());
        let (mut reply, ended) = call.execute(runtime, watch, &mut live, form)?;
        reply.text = live.rest(reply.text);
        let code = write_reply(&reply, arguments.json);
        Ok(ended.map_or(code, ExitCode::from))
    });

    ran.unwrap_or_else(|error| {
        terminal::complain(&error);
        ExitCode::from(FAILURE)
    })
}

/// Prints a reply: the text or the media to standard output, suggestions to standard error.
pub(super) fn write_reply(reply: &Reply, as_json: bool) -> ExitCode {
    let code = if reply.error.is_some() { ExitCode::from(FAILURE) } else { ExitCode::SUCCESS };
    if as_json {
        return print(&json(reply).to_string(), code);
    }

    // The text of an unknown tool names the near misses already.
    let error = reply.error.as_ref().filter(|error| error.code != ErrorCode::UnknownTool);
    let near = error.map(|error| error.suggestions.join("`, `")).filter(|near| !near.is_empty());
    if let Some(near) = near {
        terminal::complain(&format!("did you mean `{near}`?"));
    }

    match reply.media.as_slice() {
        [] => print(&reply.text, code),
        [only] if !io::stdout().is_terminal() => {
            if !reply.text.is_empty() {
                terminal::error(&reply.text);
            }
            print_bytes(&only.bytes, code)
        }
        all => {
            let lines = all.iter().map(|media| format!("({}, {} bytes)", media.mime, media.bytes.len()));
            let text = Some(reply.text.clone()).filter(|text| !text.is_empty());
            print(&lines.chain(text).collect::<Vec<_>>().join("\n"), code)
        }
    }
}

/// The call of the command line.
#[derive(Clone, Copy)]
struct Call<'a> {
    toolbox: &'a Toolbox,
    name: &'a str,
    arguments: &'a Map<String, Value>,
}

impl Call<'_> {
    /// Prints how the call would run. Exit status 1 if it would fail before.
    fn plan(self, runtime: &Runtime, as_json: bool) -> ExitCode {
        let approver = Terminal { values: self.arguments, is_interactive: false };
        let session = Session::anonymous(Purpose::CommandLine);
        match runtime.block_on(self.toolbox.dry_run(self.name, self.arguments, session, &approver)) {
            Ok(call) if as_json => print(&dry_run::json(&call).to_string(), ExitCode::SUCCESS),
            Ok(call) => print(&dry_run::text(&call), ExitCode::SUCCESS),
            Err(result) => write_reply(&self.rendered(result, TextForm::Visible), as_json),
        }
    }

    /// Runs the call until it ends or a signal cancels it. Returns the exit status for that signal too.
    fn execute(
        self,
        runtime: Runtime,
        watch: Option<&Watch>,
        live: &mut Live,
        form: TextForm,
    ) -> io::Result<(Reply, Option<u8>)> {
        let signal = EndSignal::default();
        let result = runtime.block_on(async {
            let stop = signal.stop()?;
            let approver = Terminal { values: self.arguments, is_interactive: Terminal::can_ask() };
            let session = Session { watch, ..Session::anonymous(Purpose::CommandLine) };
            let call = Box::pin(self.toolbox.call(self.name, self.arguments, session, &approver, stop));
            io::Result::Ok(match watch {
                Some(watch) => live.printing(watch, call).await,
                None => call.await,
            })
        });

        // A thread may still wait for input at the terminal.
        runtime.shutdown_background();
        Ok((self.rendered(result?, form), signal.status()))
    }

    /// The tool, if it is served.
    fn tool(&self) -> Option<ResolvedTool<'_>> {
        self.toolbox.index.get(self.name)
    }

    /// Whether the result of the call is the text that its program prints.
    fn prints_text(self) -> bool {
        self.tool().is_some_and(|tool| tool.output().is_none())
    }

    /// Renders the result of the call. Says on standard error what the command line lacks.
    fn rendered(self, result: CallResult<Infallible>, form: TextForm) -> Reply {
        match result {
            CallResult::Ran(outcome) => {
                let output = self.tool().map_or(OutputForm::Text, ResolvedTool::output_form);
                reply(self.name, output, Ok(outcome), form)
            }
            CallResult::Failed(error) => {
                if matches!(error, CallError::ApprovalDenied(Denial::Unanswerable)) {
                    terminal::complain(&format!(
                        "there is no terminal to ask for the user's values: add {} to the command line",
                        self.unanswered().join(" ")
                    ));
                }
                reply(self.name, OutputForm::Text, Err(error), form)
            }
            CallResult::InputRequired(never) => match never {},
        }
    }

    /// Returns the missing values of the user as words for the command line, `name=VALUE`.
    fn unanswered(self) -> Vec<String> {
        let args = self.tool().into_iter().flat_map(ResolvedTool::args);
        let is_missing =
            |arg: &ArgView<'_>| arg.is_from_user() && arg.required() && !self.arguments.contains_key(arg.name());
        args.filter(is_missing).map(|arg| format!("{}=VALUE", arg.name())).collect()
    }
}

/// An approver that asks at the terminal. Values for forms can be given on the command line instead.
struct Terminal<'a> {
    /// The arguments of the command line.
    values: &'a Map<String, Value>,
    is_interactive: bool,
}

impl Terminal<'_> {
    /// Whether standard input and standard error are terminals.
    fn can_ask() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }
}

impl Approver for Terminal<'_> {
    type Question = Infallible;

    async fn fill_in(&self, form: &Form<'_>, _: &RequestDigest) -> FormAnswer<Infallible> {
        let mut given = Map::new();
        let mut message = Some(form.message.clone());
        for field in &form.fields {
            let value = match self.values.get(field.name) {
                Some(value) => Some(value.clone()),
                None if self.is_interactive => {
                    let label = terminal::label(field);
                    let question = message.take().map_or(label.clone(), |message| format!("{message}\n{label}"));
                    let answer = tokio::task::spawn_blocking(move || terminal::prompt(&question)).await;
                    answer.ok().flatten().map(Value::from)
                }
                None if field.required => return FormAnswer::Denied(Denial::Unanswerable),
                None => None,
            };
            given.extend(value.map(|value| (field.name.to_owned(), value)));
        }

        FormAnswer::Filled(given)
    }

    async fn approve(&self, plan: &Plan<'_>) -> Verdict<Infallible> {
        if !self.is_interactive {
            return plan.headless();
        }
        let question = plan.question().await;
        match tokio::task::spawn_blocking(move || terminal::confirm(&question)).await {
            Ok(true) => Verdict::Approved,
            Ok(false) | Err(_) => Verdict::Denied(Denial::ByUser),
        }
    }
}

/// Reads the JSON object of `--args`: from standard input for `-`, from a file for `@FILE`.
fn object(given: &str) -> Result<Map<String, Value>, String> {
    let unread = |from: &str, error: io::Error| format!("--args: cannot read {from}: {error}");
    let (from, text) = match given.strip_prefix('@') {
        Some(path) => (path, fs::read_to_string(path).map_err(|error| unread(path, error))?),
        None if given == "-" => {
            let from = "standard input";
            (from, io::read_to_string(io::stdin()).map_err(|error| unread(from, error))?)
        }
        None => ("the given text", given.to_owned()),
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => {
            Err(format!("--args takes a JSON object, such as '{{\"max_count\": 3}}', and {from} is another value"))
        }
        Err(error) => Err(format!("--args takes a JSON object, and {from} is not JSON: {error}")),
    }
}

/// Merges the JSON object and the pairs of the command line.
fn merged(arguments: &Args) -> Result<Map<String, Value>, String> {
    let mut values = match arguments.object.as_deref() {
        None => Map::new(),
        Some(given) => object(given)?,
    };
    for (at, (key, value)) in arguments.pairs.iter().enumerate() {
        if let Some((_, earlier)) = arguments.pairs[..at].iter().find(|(other, _)| other == key) {
            return Err(format!("`{key}` is given twice, as `{earlier}` and as `{value}`: give it once"));
        }
        values.insert(key.clone(), Value::from(value.as_str()));
    }

    Ok(values)
}

fn json(reply: &Reply) -> Value {
    let mut json = json!({ "text": reply.text, "is_error": reply.error.is_some() });
    if let Some(typed) = &reply.typed {
        json["structured_content"] = typed.clone();
    }
    if !reply.media.is_empty() {
        let media = reply.media.iter().map(
            |media| json!({ "mime": media.mime, "bytes": media.bytes.len(), "base64": BASE64_STANDARD.encode(&media.bytes) }),
        );
        json["media"] = media.collect();
    }
    if let (Some(error), Some(object)) = (&reply.error, json.as_object_mut()) {
        object.extend(error.to_json().as_object().cloned().unwrap_or_default());
    }
    json
}
