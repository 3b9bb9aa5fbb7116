//! Redirections: each file is a call of `file_read` or `file_write`.

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use climax_shell::{Descriptor, Part, Redirection, Target, Word};
use futures_util::future::Future;

use super::record::Record;
use super::shell::Shell;
use super::streams::{Output, Source, Stream, Streams};
use super::{Halt, Interpreter, Ran, Text, failure, refused};
use crate::call::approval::Approver;
use crate::call::files::{self, FileUse, Special, WriteMode};
use crate::call::line::{CommandKey, Feed, changed, file_call, native_reading};
use crate::call::outcome::Ending;
use crate::call::plan::Stage;
use crate::call::toolbox::LineStage;
use crate::exec::{self, End, Opened, Outcome, Stop};

impl<'a, A, S> Interpreter<'_, 'a, A, S>
where
    A: Approver,
    S: Future<Output = Stop> + Send,
{
    /// Opens redirections in their order. Returns the streams, and whether standard input is among them; `None` if a file
    /// cannot be opened, which has been said then.
    pub(super) async fn redirected(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        redirections: &[Redirection],
        mut streams: Streams,
        record: &mut Record,
    ) -> Ran<Option<(Streams, bool)>> {
        let mut redirects_input = false;
        for redirection in redirections {
            if redirection.descriptor == Descriptor::Input {
                redirects_input = true;
            }
            let opened = match &redirection.target {
                Target::Same(Descriptor::Input) => continue,
                Target::Same(other) => {
                    let output =
                        if *other == Descriptor::Errors { streams.errors.clone() } else { streams.output.clone() };
                    set(&mut streams, redirection.descriptor, output);
                    continue;
                }
                Target::Closed => {
                    set(&mut streams, redirection.descriptor, Output::Nothing);
                    continue;
                }
                Target::Text(word) => {
                    streams.input = Source::Text(self.word(shell, text, word, record).await?.text);
                    continue;
                }
                Target::Read(word) => match printed_by(word, &streams) {
                    Some(file) => {
                        streams.input = Source::File(file);
                        continue;
                    }
                    None => self.file(shell, text, (redirection, word), FileUse::Read, record).await?,
                },
                Target::Write(word) => self.file(shell, text, (redirection, word), FileUse::Write, record).await?,
                Target::Append(word) => self.file(shell, text, (redirection, word), FileUse::Append, record).await?,
            };

            match (opened, redirection.descriptor) {
                (File::Failed(message), _) => {
                    let written = text.0.get(redirection.range.clone()).unwrap_or_default();
                    self.print(&streams.errors, message.into_bytes(), ("redirection", written, 1), record).await;
                    return Ok(None);
                }
                (File::Null, Descriptor::Input) => streams.input = Source::Nothing,
                (File::Null, descriptor) => set(&mut streams, descriptor, Output::Nothing),
                (File::Own, _) | (File::Stream(_), Descriptor::Input) => {}
                (File::Stream(stream), descriptor) => {
                    let output = if stream == Stream::Errors { streams.errors.clone() } else { streams.output.clone() };
                    set(&mut streams, descriptor, output);
                }
                (File::Opened(file), Descriptor::Input) => streams.input = Source::File(Arc::new(file)),
                (File::Opened(file), descriptor) => set(&mut streams, descriptor, Output::File(Arc::new(file))),
            }
        }
        Ok(Some((streams, redirects_input)))
    }

    /// Opens the file of a redirection as a call.
    async fn file(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        (redirection, word): (&Redirection, &Word),
        file_use: FileUse,
        record: &mut Record,
    ) -> Ran<File> {
        let mut fields = Vec::new();
        for word in word.braces().iter().flatten() {
            fields.extend(self.fields(shell, text, std::slice::from_ref(word), record).await?);
        }
        let [field] = fields.as_slice() else {
            let written = text.0.get(word.range.clone()).unwrap_or_default();
            return Ok(File::Failed(format!("climax: {written}: ambiguous redirect\n")));
        };
        self.file_named(shell, (text, &redirection.range), &field.text, file_use).await
    }

    /// Opens a file for a command as a call. `range` is what names it.
    pub(super) async fn file_named(
        &self,
        shell: &mut Shell,
        (text, range): (Text<'_>, &Range<usize>),
        name: &str,
        file_use: FileUse,
    ) -> Ran<File> {
        let mut path = changed(shell.directory.as_deref(), name);
        let special = files::special(&path, file_use);
        match special.map_err(|refusal| refused(text, range.clone(), refusal))? {
            Some(Special::Null) => return Ok(File::Null),
            Some(Special::Input) => return Ok(File::Own),
            Some(Special::Output) => return Ok(File::Stream(Stream::Output)),
            Some(Special::Errors) => return Ok(File::Stream(Stream::Errors)),
            Some(Special::Source) => return Ok(opened(name, exec::open_device(Path::new(&path)))),
            None => {}
        }
        if !self.toolbox.opens_files() {
            let problem = "redirections to files are opened on this machine, where the programs do not run";
            return Err(failure(text, range.clone(), problem, "leave it out"));
        }

        // What is looked at and asked about is what is opened, whatever a program of the line puts in its place meanwhile.
        let whole = exec::directory().join(&path);
        // A link that leads nowhere is not followed, and opening it fails.
        let leads_nowhere = whole.is_symlink() && !whole.exists();
        let real = exec::paths::real(&whole).ok().filter(|_| !leads_nowhere).unwrap_or(whole);
        let mode = self.toolbox.write_mode(&real, file_use);
        // A path that leads to a secret by now was not judged as one: it is, by the name of the secret.
        if mode.is_none() && self.toolbox.secret_in(&real.to_string_lossy(), Path::new("/")).is_some() {
            path = real.to_string_lossy().into_owned();
        }
        let mut stage = self.file_stage((text, range), (&path, mode), shell.directory.as_deref())?;
        self.ask(shell, &mut stage).await?;
        let entry = self.journal.entry(1).map_err(|error| Halt::Failed(Box::new(stage.failure(error))))?;
        let found = match mode {
            None => exec::open_to_read(&real),
            Some(mode) => exec::open_to_write(&real, opened_as(&real, mode, file_use)),
        };
        let status = i32::from(found.is_err());
        self.journal.ended(&stage, entry, Ending::Ran(&Outcome::of_builtin(End::Exited(status))));
        if found.is_ok() && mode.is_some() {
            self.toolbox.made(&real);
        }
        match found {
            // What the line would do without it is something else.
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
                let problem = format!("`{name}` is no file: {error}");
                Err(failure(text, range.clone(), problem, "use a pipe or a file"))
            }
            found => Ok(opened(name, found)),
        }
    }

    /// Plans the call of a redirection, unless it was planned before.
    fn file_stage(
        &self,
        (text, range): (Text<'_>, &Range<usize>),
        (path, mode): (&str, Option<WriteMode>),
        directory: Option<&str>,
    ) -> Ran<Stage<'a>> {
        let tool = if mode.is_some() { files::writing() } else { files::reading() };
        let Some(tool) = tool else {
            return Err(failure(text, range.clone(), "redirections to files are not served", "leave it out"));
        };
        let (arguments, words) = file_call(tool, path, mode);
        let key = CommandKey { words, directory: directory.map(str::to_owned), ..CommandKey::default() };
        if let Some(stage) = self.planned.get(&key) {
            return Ok(stage.clone());
        }

        let stage = LineStage {
            reading: native_reading(tool, arguments),
            reads_input: false,
            feed: &Feed::Nothing,
            text: text.0.get(range.clone()).unwrap_or_default(),
            directory,
            carries_data: false,
            variables: &[],
            bounds: self.bounds,
        };
        self.toolbox.plan_stage(0, stage, self.session).map_err(Halt::Failed)
    }
}

/// What a redirection leads to.
pub(super) enum File {
    Null,
    /// The input that the command has in any case.
    Own,
    Stream(Stream),
    Opened(OwnedFd),
    /// It cannot be opened; the message.
    Failed(String),
}

/// What the file of a name is once it has been opened, or not.
fn opened(name: &str, found: std::io::Result<OwnedFd>) -> File {
    found.map_or_else(|error| File::Failed(format!("climax: {name}: {}\n", reason(&error))), File::Opened)
}

/// How a file is opened that was looked at before.
fn opened_as(path: &Path, mode: WriteMode, file_use: FileUse) -> Opened {
    let is_new = mode == WriteMode::Create || (mode == WriteMode::Protected && !exec::is_there(path));
    match mode {
        _ if is_new => Opened::New,
        _ if file_use == FileUse::Append => Opened::Continued,
        _ => Opened::Replaced,
    }
}

/// Why a file cannot be opened, as a shell says it.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        std::io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        std::io::ErrorKind::IsADirectory => "Is a directory".to_owned(),
        _ => error.to_string(),
    }
}

/// What `<(…)` prints, if a word is nothing else.
fn printed_by(word: &Word, streams: &Streams) -> Option<Arc<OwnedFd>> {
    let [Part::Process(_, number)] = word.parts.as_slice() else { return None };
    streams.processes.iter().find(|(other, _)| other == number).map(|(_, file)| file.clone())
}

/// Sets where a descriptor writes. Standard input, which does not, stays.
fn set(streams: &mut Streams, descriptor: Descriptor, output: Output) {
    match descriptor {
        Descriptor::Input => {}
        Descriptor::Output => streams.output = output,
        Descriptor::Errors => streams.errors = output,
        Descriptor::Both => {
            streams.output = output.clone();
            streams.errors = output;
        }
    }
}
