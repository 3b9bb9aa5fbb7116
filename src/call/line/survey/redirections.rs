//! Reads redirections as calls that read and write files.

use std::ops::Range;
use std::path::Path;

use climax_catalog::ResolvedTool;
use climax_shell::{Field, Part, Redirection, Target, Word};
use serde_json::{Map, Value as Json};

use super::{Place, Survey};
use crate::call::files::{self, FileUse, Special, WriteMode};
use crate::call::line::directories::changed;
use crate::call::line::read_line::{CommandKey, Feed, ReadCall, ReadCommand};
use crate::call::line::reading::Reading;
use crate::call::line::resolve::UnreadLine;
use crate::call::typed_words::TypedWords;

impl Survey<'_, '_> {
    /// Reads redirections. Returns the standard input if one gives it.
    pub(super) fn redirections(&mut self, redirections: &[Redirection]) -> Result<Option<Feed>, UnreadLine> {
        let mut feed = None;
        for redirection in redirections {
            match &redirection.target {
                Target::Same(_) | Target::Closed => {}
                Target::Text(word) => {
                    self.substitutions([word])?;
                    let text = self.text(word)?;
                    feed = Some(if text.is_open { Feed::Pipe } else { Feed::Text(text.text) });
                }
                Target::Read(word) if matches!(word.parts.as_slice(), [Part::Process(..)]) => {
                    feed = Some(Feed::Pipe);
                    self.substitutions([word])?;
                }
                Target::Read(word) => {
                    feed = Some(Feed::Pipe);
                    if self.file(redirection, word, FileUse::Read)? {
                        feed = Some(Feed::Nothing);
                    }
                }
                Target::Write(word) => {
                    self.file(redirection, word, FileUse::Write)?;
                }
                Target::Append(word) => {
                    self.file(redirection, word, FileUse::Append)?;
                }
            }
        }
        Ok(feed)
    }

    /// Reads the file of a redirection as a call. Returns whether it is the null device.
    fn file(&mut self, redirection: &Redirection, word: &Word, file_use: FileUse) -> Result<bool, UnreadLine> {
        self.substitutions([word])?;
        let mut fields = Vec::new();
        for word in word.braces().into_iter().flatten() {
            fields.extend(self.fields(std::slice::from_ref(&word), &redirection.range)?.expanded);
        }
        // With several words, nothing is opened.
        let [field] = fields.as_slice() else { return Ok(false) };
        self.file_named(field, &redirection.range, file_use)
    }

    /// Reads a file that is opened for a command as a call. Returns whether it is the null device. `range` is what names it.
    pub(super) fn file_named(
        &mut self,
        field: &Field,
        range: &Range<usize>,
        file_use: FileUse,
    ) -> Result<bool, UnreadLine> {
        let is_open = field.is_open || self.directory == Place::Open;
        let directory = self.directory.known();
        let path = changed(directory.as_deref(), &field.text);
        let is_known = !field.is_open && (!is_open || field.text.starts_with('/'));
        let special = if is_known { files::special(&path, file_use) } else { Ok(None) };
        if let Some(special) = special.map_err(|refusal| self.refused(range, refusal))? {
            return Ok(special == Special::Null);
        }
        let tool = if file_use.writes() { files::writing() } else { files::reading() };
        let Some(tool) = tool else { return Ok(false) };
        // A path that is not known may be any.
        let mode = if is_open {
            file_use.writes().then_some(WriteMode::Protected)
        } else {
            (self.context.write_mode)(Path::new(&path), file_use)
        };
        let (arguments, words) = file_call(tool, &path, mode);
        let text = self.source(range);
        let key = CommandKey { words, directory, ..CommandKey::default() };
        let call = ReadCall::Tool(Box::new(native_reading(tool, arguments)));
        self.add(
            ReadCommand {
                call,
                is_open,
                key,
                feed: Feed::Nothing,
                reads_input: false,
                carries_data: false,
                variables: Vec::new(),
                text,
                then: None,
            },
            range,
        )?;
        Ok(false)
    }
}

/// The arguments of the call of a redirection, and the words by which it is told from others.
pub(crate) fn file_call(
    tool: ResolvedTool<'_>,
    path: &str,
    mode: Option<WriteMode>,
) -> (Map<String, Json>, Vec<String>) {
    let mut arguments = Map::from_iter([("path".to_owned(), path.into())]);
    let mut words = vec![tool.name().to_owned(), path.to_owned()];
    if let Some(mode) = mode {
        let mode: &str = mode.into();
        arguments.insert("mode".to_owned(), mode.into());
        words.push(mode.to_owned());
    }
    (arguments, words)
}

/// The reading of a call of a native tool.
pub(crate) fn native_reading(tool: ResolvedTool<'static>, arguments: Map<String, Json>) -> Reading<'static> {
    Reading {
        tool,
        arguments,
        repeated: Vec::new(),
        typed: TypedWords::default(),
        operands: Vec::new(),
        started: None,
        spelling: None,
        unknown: None,
    }
}
