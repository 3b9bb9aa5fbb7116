//! The prompt of `climax sh`: history, completion, and errors underlined while a line is written.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fs::DirBuilder;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use climax_catalog::{Style, ToolIndex};
use climax_shell::Globs;
use rustyline::completion::{Completer, Pair};
use rustyline::config::Configurer as _;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Context, Editor, Helper};

use crate::call::WriteMode;
use crate::call::approval::{Approver, Denial, FormAnswer, LateQuestions, Verdict};
use crate::call::arguments::Input;
use crate::call::digest::RequestDigest;
use crate::call::form::Form;
use crate::call::line::{Candidate, CompletionContext, LineContext, Undescribed, complete, read_line};
use crate::call::{Plan, Toolbox, UnknownPrograms};
use crate::command::runtime::user_directory;
use crate::command::shell::Shell;
use crate::command::terminal;
use crate::exec::{self, Isolation};
use crate::identity;

/// Lines that the history keeps.
const MAX_HISTORY: usize = 10_000;

/// Reads lines from the terminal and runs each, until Ctrl-D or `exit`. Returns the last exit status.
pub(super) fn run(shell: &mut Shell<'_>) -> io::Result<u8> {
    let toolbox = shell.toolbox;
    let mut editor = editor(toolbox).map_err(io::Error::other)?;
    let history = history();

    if let Some(path) = &history {
        // A first prompt has no history.
        let _ = editor.load_history(path);
    }

    let mut status = 0;
    loop {
        if let Some(writer) = editor.helper_mut() {
            writer.directory = shell.directory().map(Path::to_path_buf).unwrap_or_default();
        }
        let line = match editor.readline(&label(shell.directory())) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(status),
            Err(error) => return Err(io::Error::other(error)),
        };
        save_in_history(&mut editor, history.as_deref(), &line);
        match shell.take(&line, status, &Asking) {
            ControlFlow::Continue(next) => status = next,
            ControlFlow::Break(last) => return Ok(last),
        }
    }
}

type LineEditor<'s> = Editor<Writer<'s>, FileHistory>;

fn editor(Toolbox { index, policy, .. }: &Toolbox) -> rustyline::Result<LineEditor<'_>> {
    let mut editor = Editor::new()?;
    editor.set_completion_type(CompletionType::List);
    editor.set_completion_show_all_if_ambiguous(true);
    editor.set_max_history_size(MAX_HISTORY)?;
    editor.set_history_ignore_space(true);
    let is_colored = terminal::style(&io::stdout()) == Style::Colored;
    let unknown = UnknownPrograms::permitted(policy, index, Isolation::here);
    editor.set_helper(Some(Writer { index, unknown, directory: PathBuf::new(), is_colored }));
    Ok(editor)
}

/// The text in front of a line: where it starts.
fn label(directory: Option<&Path>) -> String {
    let directory = directory.map(Path::to_path_buf).or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    format!("{} {}> ", identity::name(), directory.display())
}

/// The file of the history, in a directory that only its user reads; `None` if there can be none.
fn history() -> Option<PathBuf> {
    let directory = user_directory("XDG_STATE_HOME", ".local/state")?;
    match DirBuilder::new().recursive(true).mode(0o700).create(&directory) {
        Ok(()) => Some(directory.join("history")),
        Err(error) => {
            terminal::complain(&format!("lines are not kept: cannot make {}: {error}", directory.display()));
            None
        }
    }
}

/// Adds a line to the history and its file.
fn save_in_history(editor: &mut LineEditor<'_>, history: Option<&Path>, line: &str) {
    let is_new = editor.add_history_entry(line).unwrap_or_default();
    if let Some(path) = history.filter(|_| is_new)
        && let Err(error) = editor.append_history(path)
    {
        terminal::complain(&format!("the line is not kept in {}: {error}", path.display()));
    }
}

/// Helps to write a line.
struct Writer<'s> {
    index: &'s ToolIndex,
    unknown: UnknownPrograms<'s>,
    /// Where the line starts; empty for the directory of this process.
    directory: PathBuf,
    is_colored: bool,
}

impl Completer for Writer<'_> {
    type Candidate = Pair;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let paths = |start: &str| exec::glob::starting_with(start, &self.directory);
        let context = CompletionContext { names_program: &exec::names_program, paths: &paths };
        let found = complete(self.index, line, cursor, context);
        let widest = found.candidates.iter().map(|one| one.text.chars().count()).max().unwrap_or_default();
        let columns = usize::from(terminal::width());
        let pairs = found.candidates.iter();
        let pairs = pairs.map(|one| Pair { display: display(one, widest, columns), replacement: one.written() });
        Ok((found.range.start, pairs.collect()))
    }
}

/// The candidate with its description beside it, in one row of the terminal.
fn display(candidate: &Candidate, widest: usize, columns: usize) -> String {
    let Candidate { text, description, .. } = candidate;
    if description.is_empty() {
        return text.clone();
    }

    let whole = format!("{text:widest$}  {description}");
    let row = columns.saturating_sub(2);
    if whole.chars().count() <= row {
        whole
    } else {
        whole.chars().take(row.saturating_sub(1)).chain(['…']).collect()
    }
}

impl Highlighter for Writer<'_> {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        let no_paths = |_: &str, _: Option<&str>, _: Globs| Ok(Vec::new());
        let context = LineContext {
            env: &exec::variable,
            names_program: &exec::names_program,
            unknown: &|undescribed| match undescribed {
                Undescribed::Program(words) => self.unknown.tool(words[0]).filter(|_| exec::is_program(words[0])),
                Undescribed::Question => self.unknown.question_tool(),
            },
            glob: &no_paths,
            write_mode: &|_, file_use| file_use.writes().then_some(WriteMode::Protected),
            input: Input::Nothing,
            explains: true,
        };
        let error = match read_line(self.index, line, None, context) {
            Err(error) if !line.trim().is_empty() => error,
            _ => return line.into(),
        };
        let range = error.error().range.clone();
        let (Some(before), Some(wrong), Some(after)) =
            (line.get(..range.start), line.get(range.clone()), line.get(range.end..))
        else {
            return line.into();
        };
        let style = if self.is_colored { "\x1b[4;31m" } else { "\x1b[4m" };

        if wrong.is_empty() { line.into() } else { format!("{before}{style}{wrong}\x1b[0m{after}").into() }
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}

impl Hinter for Writer<'_> {
    type Hint = String;
}

impl Validator for Writer<'_> {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let is_unfinished = climax_shell::is_unfinished(context.input());
        Ok(if is_unfinished { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Helper for Writer<'_> {}

/// An approver that asks at the terminal.
struct Asking;

impl Approver for Asking {
    type Question = Infallible;

    async fn fill_in(&self, _: &Form<'_>, _: &RequestDigest) -> FormAnswer<Infallible> {
        FormAnswer::Denied(Denial::Unanswerable)
    }

    async fn approve(&self, plan: &Plan<'_>) -> Verdict<Infallible> {
        terminal::error(&plan.question().await);
        // The editor reads keys itself, so that Ctrl-C ends the question.
        let answer = rustyline::DefaultEditor::new().and_then(|mut editor| editor.readline("Approve? [y/N] "));
        match answer {
            Ok(answer) if terminal::is_yes(&answer) => Verdict::Approved,
            _ => Verdict::Denied(Denial::ByUser),
        }
    }

    fn late_questions(&self) -> LateQuestions {
        LateQuestions::Asked
    }
}
