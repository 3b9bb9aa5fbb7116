//! Renders the result of a call: text for the model, and an [`ErrorObject`] for programs.
//!
//! Source of the texts: `docs/contract.md`, `climax_call` and "Execution and result text".

use std::time::Duration;

use climax_catalog::OutputForm;
use serde_json::{Map, Value, json};

use super::ignored::{Ignored, block};
use super::typed;
use crate::call::arguments::{Violation, echo};
use crate::call::concerned;
use crate::call::line::UnreadLine;
use crate::call::visible::TextForm;
use crate::call::{CallError, ErrorCode};
use crate::exec::MAX_WHOLE_OUTPUT_BYTES;
use crate::exec::{Captured, End, FileContent, Kept, Outcome, ResultFile, Stop};

/// The text of a call that printed nothing.
pub(super) const NO_OUTPUT: &str = "(no output)";

/// The rendered result of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The text for the model.
    pub text: String,
    /// The error, if the call failed.
    pub error: Option<ErrorObject>,
    /// The JSON that the program printed, with exit code and standard error, if the tool declares JSON.
    pub typed: Option<Value>,
    /// Standard output if the tool declares a media type for it, then the files that the tool wrote.
    pub media: Vec<Media>,
    /// All of standard output, if the text shows only a part of it.
    pub full_output: Option<Vec<u8>>,
    /// The arguments that were ignored. The text and the structure name them.
    pub ignored: Vec<Ignored>,
}

/// Bytes with their media type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// The media type.
    pub mime: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// The kind of the content block that shows media in a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    /// An image block.
    Image,
    /// An audio block.
    Audio,
    /// An embedded resource.
    Other,
}

impl Media {
    /// The kind, by the media type.
    #[must_use]
    pub fn kind(&self) -> MediaKind {
        match self.mime.split_once('/') {
            Some(("image", _)) => MediaKind::Image,
            Some(("audio", _)) => MediaKind::Audio,
            _ => MediaKind::Other,
        }
    }
}

impl Reply {
    pub(super) fn text(text: String) -> Self {
        Self { text, error: None, typed: None, media: Vec::new(), full_output: None, ignored: Vec::new() }
    }

    fn error(text: String, error: ErrorObject) -> Self {
        Self { error: Some(error), ..Self::text(text) }
    }

    /// Adds what was ignored: as the last block of the text, and to the structure.
    pub(super) fn ignoring(mut self, ignored: impl IntoIterator<Item = Ignored>) -> Self {
        self.ignored.extend(ignored);
        if self.ignored.is_empty() {
            return self;
        }

        let sentences: Vec<String> = self.ignored.iter().map(Ignored::sentence).collect();
        if let Some(error) = &mut self.error {
            error.details.push(json!({ "ignored": sentences }));
        }
        if let Some(typed) = &mut self.typed {
            typed["ignored"] = sentences.into();
        }

        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(&block(&self.ignored));
        self
    }
}

/// An error in the form for programs. Source: `docs/contract.md`, `climax_call`, "Errors".
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorObject {
    /// The kind of error.
    pub code: ErrorCode,
    /// One line of text.
    pub message: String,
    /// The tool that was called.
    pub tool: String,
    /// One object for each violation, the schema of the arguments concerned, or what the programs did.
    pub details: Vec<Value>,
    /// Near misses of an unknown name.
    pub suggestions: Vec<String>,
    /// Whether the same call can succeed later.
    pub retryable: bool,
}

impl ErrorObject {
    pub(super) fn new(code: ErrorCode, tool: &str, message: &str) -> Self {
        let (message, tool) = (message.to_owned(), echo(tool));
        Self { code, message, tool, details: Vec::new(), suggestions: Vec::new(), retryable: false }
    }

    /// The object as `structuredContent` holds it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "error": {
                "code": self.code.as_str(),
                "message": self.message,
                "tool": self.tool,
                "details": self.details,
                "suggestions": self.suggestions,
                "retryable": self.retryable,
            }
        })
    }
}

/// Renders the result of a call of `tool`. `output` is the form of its standard output.
///
/// `form` applies to the text of the program, and never to media.
#[must_use]
pub fn reply(tool: &str, output: OutputForm<'_>, result: Result<Outcome, CallError>, form: TextForm) -> Reply {
    match result {
        Ok(outcome) => render_outcome(tool, output, outcome, form),
        Err(error) => render_failure(tool, error),
    }
}

/// Renders the error of a call that did not run.
fn render_failure(tool: &str, error: CallError) -> Reply {
    let message = error.to_string();
    let object = ErrorObject::new(error.code(), tool, &message);
    match error {
        CallError::UnknownTool { suggestions } => {
            let message = format!("Unknown tool: {}", echo(tool));
            let near = suggestions.iter().map(|name| format!("\n  - {name}"));
            let near = Some(near.collect::<String>()).filter(|near| !near.is_empty());
            let text = near.map_or_else(|| message.clone(), |near| format!("{message}\nDid you mean:{near}"));
            Reply::error(text, ErrorObject { message, suggestions, ..object })
        }
        CallError::InvalidArguments { violations, suggestions, input_schema } => {
            let schema = serde_json::from_str(&input_schema).unwrap_or_default();
            invalid_arguments(tool, &violations, suggestions, &schema)
        }
        CallError::Unread(unread) => {
            Reply::error(message, ErrorObject { details: vec![unread_json(&unread)], ..object })
        }
        CallError::PolicyDenied { violations } => {
            let details = violations.iter().map(violation_json).collect();
            let text = format!("Policy validation failed:{}", violation_lines(&violations));
            Reply::error(text, ErrorObject { details, ..object })
        }
        CallError::ApprovalDenied(denial) => {
            let message = denial.text(tool);
            Reply::error(message.clone(), ErrorObject { message, ..object })
        }
        CallError::LateQuestion | CallError::Sensitive { .. } => Reply::error(message, object),
        CallError::UnusableAnswer { .. } | CallError::Unaudited(_) => {
            Reply::error(message, ErrorObject { retryable: true, ..object })
        }
        CallError::Spawn(problem) => {
            let retryable = problem.is_temporary();
            Reply::error(message, ErrorObject { retryable, ..object })
        }
    }
}

/// Renders the violations of a call's arguments. Of the schema the error has the part that they concern.
#[must_use]
pub fn invalid_arguments(
    tool: &str,
    violations: &[Violation],
    suggestions: Vec<String>,
    input_schema: &Value,
) -> Reply {
    let schema = concerned::schema(input_schema, &concerned::names(violations, &suggestions));
    let schema = schema.map(|schema| json!({ "input_schema": schema }));
    let details = violations.iter().map(violation_json).chain(schema).collect();
    let message = format!("{} of the arguments cannot be used", violations.len());
    let error = ErrorObject { details, suggestions, ..ErrorObject::new(ErrorCode::InvalidArguments, tool, &message) };
    Reply::error(format!("Argument validation failed:{}", violation_lines(violations)), error)
}

/// The place and the problem of a line, with near misses.
fn unread_json(unread: &UnreadLine) -> Value {
    let error = unread.error();
    json!({
        "at": error.range.start,
        "length": error.range.len(),
        "found": echo(&error.found),
        "problem": error.problem,
        "remedy": error.remedy,
    })
}

fn violation_lines(violations: &[Violation]) -> String {
    violations.iter().fold(String::new(), |lines, violation| lines + &format!("\n  - {violation}"))
}

fn violation_json(violation: &Violation) -> Value {
    json!({ "argument": violation.argument, "message": violation.to_string() })
}

/// Renders the outcome of a program.
fn render_outcome(tool: &str, output: OutputForm<'_>, outcome: Outcome, form: TextForm) -> Reply {
    if outcome.succeeded() && (output != OutputForm::Text || !outcome.files.is_empty()) {
        return render_media(tool, output, outcome, form).unwrap_or_else(|reply| *reply);
    }

    let ended = Ended::of(tool, &outcome, form);
    let Some(code) = ended.code else {
        let text = blocks(&ended.stdout, &ended.stderr, &exit_line(&outcome));
        return Reply { full_output: full_output(outcome.stdout), ..Reply::text(text) };
    };
    let error = ErrorObject {
        details: vec![ended.to_json().into()],
        retryable: code != ErrorCode::CommandFailed,
        ..ErrorObject::new(code, tool, &ended.reason)
    };
    let text = blocks(&ended.stdout, &ended.stderr, &format!("[exit code: {}]", ended.status));

    Reply { full_output: full_output(outcome.stdout), ..Reply::error(text, error) }
}

/// How a program ended and what it printed, as results show it.
pub(super) struct Ended {
    /// The kind of failure; `None` if it succeeded.
    code: Option<ErrorCode>,
    /// The exit code, or the negative number of the signal.
    status: i32,
    /// One line about the end.
    reason: String,
    stdout: String,
    stderr: String,
}

impl Ended {
    pub(super) fn of(tool: &str, outcome: &Outcome, form: TextForm) -> Self {
        let code = ErrorCode::of(outcome);
        let (status, reason) = match outcome.end {
            End::Exited(status) => (status, format!("{tool} exited with code {status}")),
            End::Signaled(signal) => (-signal, format!("{tool} was ended by signal {signal}")),
            End::TimedOut(time) => (-1, format!("Command timed out after {}", seconds(time))),
            End::Stopped(Stop::Cancelled) => (-1, "Command cancelled".to_owned()),
            End::Stopped(Stop::ShuttingDown) => (-1, "Command ended: the server is shutting down".to_owned()),
        };

        let stdout = form.apply(outcome.stdout.text().trim_end()).into_owned();
        let mut stderr = stderr_text(outcome, form);
        match (code, &outcome.sandbox) {
            (Some(ErrorCode::TimedOut | ErrorCode::Cancelled), _) => add_line(&mut stderr, &reason),
            (Some(_), Some(sandbox)) => add_line(&mut stderr, sandbox),
            (Some(_), None) | (None, _) => {}
        }
        Self { code, status, reason, stdout, stderr }
    }

    /// The members of an error's details.
    pub(super) fn to_json(&self) -> Map<String, Value> {
        let Self { status, stdout, stderr, .. } = self;
        let members =
            [("exit_code", (*status).into()), ("stdout", stdout.as_str().into()), ("stderr", stderr.as_str().into())];
        members.into_iter().map(|(name, value): (&str, Value)| (name.to_owned(), value)).collect()
    }
}

/// The last line of a result: the exit code with its meaning, if that is an answer; empty for status 0.
fn exit_line(outcome: &Outcome) -> String {
    match (outcome.end, &outcome.answer) {
        (End::Exited(status), Some(meaning)) => format!("[exit code: {status}, {meaning}]"),
        _ => String::new(),
    }
}

/// All of an output of which a text shows only a part.
pub(super) fn full_output(output: Captured) -> Option<Vec<u8>> {
    if output.dropped_bytes() > 0 { output.into_bytes() } else { None }
}

/// Renders media and JSON of a program that has succeeded: standard output if `output` gives its form, and files.
///
/// # Errors
/// Standard output or a file is too long for a result.
fn render_media(tool: &str, output: OutputForm<'_>, outcome: Outcome, form: TextForm) -> Result<Reply, Box<Reply>> {
    let too_long = |bytes: u64, mime: &str, verb: &str| {
        let most = MAX_WHOLE_OUTPUT_BYTES >> 20;
        let message = format!("{tool} {verb} {bytes} bytes of {mime}; a result holds {most} MiB");
        Box::new(Reply::error(message.clone(), ErrorObject::new(ErrorCode::OutputLimit, tool, &message)))
    };
    let exit = exit_line(&outcome);
    let (typed, exit) = typed_content(output, &outcome, form, exit);
    let mut notes = vec![stderr_text(&outcome, form)];
    let mut media = Vec::new();
    let (mut text, mut full) = (String::new(), None);
    let total = outcome.stdout.total_bytes();

    if let OutputForm::Media(mime) = output {
        let bytes = outcome.stdout.into_bytes().ok_or_else(|| too_long(total, mime, "printed"))?;
        media.extend(Some(bytes).filter(|bytes| !bytes.is_empty()).map(|bytes| Media { mime: mime.to_owned(), bytes }));
    } else {
        text = form.apply(&outcome.stdout.text()).into_owned();
        full = full_output(outcome.stdout);
    }

    for ResultFile { file, mime, content } in outcome.files {
        match content {
            FileContent::Whole(bytes) => media.push(Media { mime, bytes }),
            FileContent::TooLong(bytes) => return Err(too_long(bytes, &mime, "wrote")),
            FileContent::Missing => notes.push(format!("{file} was not written")),
        }
    }

    notes.retain(|note| !note.is_empty());
    let has_text = media.is_empty() || !notes.is_empty() || !exit.is_empty() || !text.trim().is_empty();
    let text = if has_text { blocks(&text, &notes.join("\n"), &exit) } else { String::new() };

    Ok(Reply { typed, media, full_output: full, ..Reply::text(text) })
}

/// The text of standard error, and the number of background processes that were ended, if there were any.
fn stderr_text(outcome: &Outcome, form: TextForm) -> String {
    let mut stderr = form.apply(outcome.stderr.text().trim_end()).into_owned();
    match outcome.background_processes {
        0 => {}
        1 => add_line(&mut stderr, "1 background process was ended with the program"),
        count => add_line(&mut stderr, &format!("{count} background processes were ended with the program")),
    }

    let run_on = "after the program, as another user, and could not be ended";
    match outcome.survivors {
        0 => {}
        1 => add_line(&mut stderr, &format!("1 process runs on {run_on}")),
        count => add_line(&mut stderr, &format!("{count} processes run on {run_on}")),
    }

    for note in notes(outcome) {
        add_line(&mut stderr, &note);
    }
    stderr
}

/// Says which files were left out since their names are those of secrets.
fn left_out(names: &[String]) -> String {
    /// The most names that are told.
    const MOST_NAMES: usize = 5;

    let (told, more) = names.split_at(names.len().min(MOST_NAMES));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    let told = told.join(", ");
    format!("files with the names of secrets were left out ({told}{more}): a command that names one is asked about")
}

/// Says of each file that a caged program made or changed for programs outside what has become of it, and which files with
/// secrets were left out.
pub(crate) fn notes(outcome: &Outcome) -> impl Iterator<Item = String> {
    const WHY: &str = "because other programs load it unasked";

    outcome.protected.iter().map(|kept| match kept {
        Kept::LeftOut(names) => left_out(names),
        Kept::MovedAside(from, to) => {
            let [from, to] = [from.display(), to.display()];
            format!("{from} was moved to {to}, {WHY}; to put it back: mv {to} {from}")
        }
        Kept::PutBack(path, Some(aside)) => {
            format!(
                "{} was changed, and has been put back, {WHY}; what it was changed to is {}",
                path.display(),
                aside.display()
            )
        }
        Kept::PutBack(path, None) => format!("{} was removed, and has been put back", path.display()),
        Kept::NotPutBack(path, reason) => {
            format!("{} was changed, and could not be put back ({reason}): look at it, {WHY}", path.display())
        }
        Kept::Left(path) => format!("{} was made or changed: look at it, {WHY}", path.display()),
    })
}

fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// Returns the structured content of a typed result, and the last line with the reason why it has no value.
fn typed_content(output: OutputForm<'_>, outcome: &Outcome, form: TextForm, exit: String) -> (Option<Value>, String) {
    let (true, End::Exited(status)) = (output.is_typed(), outcome.end) else { return (None, exit) };
    let stderr = stderr_text(outcome, form);
    let common = [("answer", outcome.answer.as_deref().unwrap_or_default()), ("stderr", &stderr)];
    match typed::value(&outcome.stdout, output, form) {
        Ok(value) => (Some(typed::content(value, status, &common)), exit),
        Err(reason) => {
            let text = form.apply(outcome.stdout.text().trim_end()).into_owned();
            let instead = [("output", text.as_str()), ("reason", &reason)];
            let content = typed::content(None, status, &[common, instead].concat());
            (Some(content), [format!("[{reason}]"), exit].join("\n\n").trim_end().to_owned())
        }
    }
}

/// The result text: standard output, standard error and the line of the exit code, without the blocks that are empty.
fn blocks(stdout: &str, stderr: &str, exit: &str) -> String {
    let mut blocks = Vec::new();
    let [stdout, stderr] = [stdout, stderr].map(str::trim_end);
    if !stdout.is_empty() {
        blocks.push(stdout.to_owned());
    }
    if !stderr.is_empty() {
        blocks.push(format!("[stderr]\n{stderr}"));
    }
    if !exit.is_empty() {
        blocks.push(exit.to_owned());
    }

    if blocks.is_empty() { NO_OUTPUT.to_owned() } else { blocks.join("\n\n") }
}

/// Renders a duration as `30s` or `0.5s`.
fn seconds(time: Duration) -> String {
    format!("{}s", time.as_secs_f64())
}
