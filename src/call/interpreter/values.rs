//! Commands that run for each of many values: `xargs` and `find -exec`.

use std::ops::Range;
use std::str::Chars;
use std::sync::Arc;

use climax_shell::{Field, Origin, PLACEHOLDER};
use futures_util::future::Future;

use super::record::Record;
use super::redirections::File;
use super::shell::Shell;
use super::simple::Due;
use super::streams::{Source, Streams};
use super::{Interpreter, MAX_INPUT_BYTES, Ran, failure};
use crate::call::approval::Approver;
use crate::call::arguments::Input;
use crate::call::files::FileUse;
use crate::call::judge::quoted;
use crate::call::line::{
    Action, Actions, CommandInput, ExpandedCommand, Feed, Filled, Find, Form, Most, Separator, Xargs, read_fed,
    text_to_fill,
};
use crate::exec::Stop;

/// Most bytes of a command with its values, each with a byte behind it.
///
/// Source: GNU xargs, "Limits", where more is neither asked for nor refused by the system.
const MAX_BYTES_AT_ONCE: usize = 128 << 10;

/// The remedy for values that are too long, or cannot be read.
const LESS_AT_ONCE: &str = "give it less at once";

impl<A, S> Interpreter<'_, '_, A, S>
where
    A: Approver,
    S: Future<Output = Stop> + Send,
{
    /// Runs a command for the values that standard input has, or the file of `xargs -a`.
    pub(super) async fn xargs(
        &self,
        shell: &mut Shell,
        due: Due<'_>,
        xargs: Xargs<'_>,
        mut streams: Streams,
        record: &mut Record,
    ) -> Ran<()> {
        let input = std::mem::replace(&mut streams.input, Source::Nothing);
        let Some(input) = self.input_of_xargs(shell, due, (&xargs, input), &streams, record).await? else {
            shell.set_status(1);
            return Ok(());
        };
        let values = values_of_xargs(due, &xargs, input).await?;

        let echo = [literal("echo")];
        let command = if xargs.command.is_empty() { &echo[..] } else { xargs.command };
        let groups = values.groups_for(due, &xargs, command)?;
        // Without values GNU xargs runs the command once, and that of BSD never. One that lacks its operands would do nothing.
        let skips = || xargs.skips_empty || xargs.replaced.is_some() || !self.is_whole(command, due);
        if groups.is_empty() && skips() {
            shell.set_status(0);
            return Ok(());
        }

        let is_text = matches!(Form::of(command), Ok(Form::Text(_)));
        let none = Some(0..0).filter(|_| groups.is_empty());
        let mut worst = 0;
        for some in groups.into_iter().chain(none) {
            let some = (command, xargs.replaced.as_deref(), &values.all[some]);
            if xargs.prints_commands {
                let line = printed_command(some);
                self.print(&streams.errors, line.into_bytes(), ("xargs", due.written_text(), 0), record).await;
            }

            let status = self.with_values(shell, due, some, &streams, record).await?;
            // A shell that says that a command does not exist has been started itself.
            let is_unstarted = matches!(status, 126 | 127) && !is_text;
            worst = match status {
                0 => worst,
                _ if is_unstarted => status,
                255 => 124,
                _ => 123,
            };
            if is_unstarted || status == 255 {
                break;
            }
        }
        shell.set_status(worst);
        Ok(())
    }

    /// Returns what `xargs` reads: `input`, or the file of `-a`; `None` if that cannot be opened, which has been said then.
    async fn input_of_xargs(
        &self,
        shell: &mut Shell,
        due: Due<'_>,
        (xargs, input): (&Xargs<'_>, Source),
        streams: &Streams,
        record: &mut Record,
    ) -> Ran<Option<Source>> {
        let Some(file) = &xargs.file else { return Ok(Some(input)) };
        if let Some(process) = streams.process(&file.text) {
            return Ok(Some(Source::File(process)));
        }

        let opened = self.file_named(shell, (due.text, due.range), &file.text, FileUse::Read).await?;
        Ok(match opened {
            File::Opened(file) => Some(Source::File(Arc::new(file))),
            File::Null => Some(Source::Nothing),
            File::Own | File::Stream(_) => Some(input),
            File::Failed(message) => {
                self.print(&streams.errors, message.into_bytes(), ("xargs", due.written_text(), 1), record).await;
                None
            }
        })
    }

    /// Whether a command has all of its operands.
    fn is_whole(&self, command: &[Field], due: Due<'_>) -> bool {
        let Ok(Form::Program(fields)) = Form::of(command) else { return true };
        let command = ExpandedCommand {
            line: due.text.0,
            range: due.range,
            places: due.places,
            written: fields,
            fields,
            variables: &[],
            // What `$!` stands for is an operand too.
            started: 0,
        };
        let index = &self.toolbox.index;
        self.toolbox.with_line_context(Input::Nothing, |context| {
            read_fed(index, command, CommandInput { feed: &Feed::Nothing, is_own: false }, context).is_ok()
        })
    }

    /// Runs `find`, then a command for the paths that it found.
    pub(super) async fn find(
        &self,
        shell: &mut Shell,
        due: Due<'_>,
        find: Find<'_>,
        streams: Streams,
        record: &mut Record,
    ) -> Ran<()> {
        let mut fields = find.words.to_vec();
        fields.push(literal("-print0"));
        let mut written = due.written.get(..find.words.len()).unwrap_or(find.words).to_vec();
        written.push(literal("-print0"));
        let finding = Due { fields: &fields, written: &written, ..due };
        let paths = self.captured(shell, finding, streams.clone(), record).await?;
        let status = shell.status();
        let paths = String::from_utf8(paths).map_err(|_| {
            failure(due.text, due.range.clone(), "a path is not UTF-8", "leave it out by an expression of find")
        })?;
        let paths: Vec<String> = paths.split_terminator('\0').map(str::to_owned).collect();

        let streams = Streams { input: Source::Nothing, ..streams };
        let mut has_failed = false;
        match &find.actions {
            Actions::ForMany(command) => {
                for some in batches(&paths, None, MAX_BYTES_AT_ONCE) {
                    let some = (*command, Some("{}"), &paths[some]);
                    has_failed |= self.with_values(shell, due, some, &streams, record).await? != 0;
                }
            }
            Actions::ForEach(actions) => {
                for path in &paths {
                    self.act_on(shell, due, (actions, path), &streams, record).await?;
                }
            }
        }
        shell.set_status(if status == 0 { i32::from(has_failed) } else { status });
        Ok(())
    }

    /// Runs the actions of `find` for a path until one fails.
    async fn act_on(
        &self,
        shell: &mut Shell,
        due: Due<'_>,
        (actions, path): (&[Action<'_>], &String),
        streams: &Streams,
        record: &mut Record,
    ) -> Ran<()> {
        for action in actions {
            match action {
                Action::Run(command, is_negated) => {
                    let one = (*command, Some("{}"), std::slice::from_ref(path));
                    let status = self.with_values(shell, due, one, streams, record).await?;
                    if (status == 0) == *is_negated {
                        break;
                    }
                }
                Action::Print(end) => {
                    let line = format!("{path}{end}").into_bytes();
                    self.print(&streams.output, line, ("find", due.written_text(), 0), record).await;
                }
            }
        }
        Ok(())
    }

    /// Runs a command with values in the place of `replaced`, or behind its words. Returns its status.
    async fn with_values(
        &self,
        shell: &mut Shell,
        due: Due<'_>,
        (command, replaced, values): (&[Field], Option<&str>, &[String]),
        streams: &Streams,
        record: &mut Record,
    ) -> Ran<i32> {
        let (mut written, mut fields) = (Vec::new(), Vec::new());
        let value = |text: &str, origin: Origin| Field { text: text.to_owned(), origin, is_open: false, from: 0 };
        // The fields of a place are told apart from those of others by where they come from.
        let mut from = due.places.len();
        let text = text_to_fill(command, replaced);
        for (at, word) in command.iter().enumerate() {
            let is_replaced = |replaced: &&str| word.text.contains(replaced) && text != Some(at);
            let Some(replaced) = replaced.filter(is_replaced) else {
                written.push(word.clone());
                fields.push(word.clone());
                continue;
            };
            from += 1;
            let origin = if word.text.starts_with(replaced) { Origin::Value } else { Origin::Mixed };
            written.push(Field { from, ..value(&word.text.replace(replaced, PLACEHOLDER), origin) });
            if word.text == replaced {
                fields.extend(values.iter().map(|text| Field { from, ..value(text, origin) }));
            } else {
                let text = values.first().map(String::as_str).unwrap_or_default();
                fields.push(Field { from, ..value(&word.text.replace(replaced, text), origin) });
            }
        }
        if replaced.is_none() && !values.is_empty() {
            from += 1;
            written.push(Field { from, ..value(PLACEHOLDER, Origin::Value) });
            fields.extend(values.iter().map(|text| Field { from, ..value(text, Origin::Value) }));
        }

        let mut inner = Shell { loops: 0, has_data: true, ..shell.clone() };
        let filled = replaced.filter(|_| text.is_some());
        let filled = filled.map(|replaced| Filled { replaced, value: values.first().map(String::as_str) });
        let own = Due { written: &written, fields: &fields, is_own: false, filled, ..due };
        Box::pin(self.dispatch(&mut inner, own, streams.clone(), record)).await?;
        Ok(inner.status())
    }
}

/// Reads the values of `xargs` from its input.
async fn values_of_xargs(due: Due<'_>, xargs: &Xargs<'_>, input: Source) -> Ran<Values> {
    let refused = |problem: String, remedy| failure(due.text, due.range.clone(), problem, remedy);
    let input = input.read_all(MAX_INPUT_BYTES).await.map_err(|error| refused(error.to_string(), LESS_AT_ONCE))?;
    let input = String::from_utf8(input).map_err(|_| refused("a value is not UTF-8".to_owned(), LESS_AT_ONCE))?;
    if input.contains('\0') && !matches!(xargs.separator, Separator::Character(_)) {
        let problem = "the input of xargs has bytes that are zero".to_owned();
        return Err(refused(problem, "write `xargs -0`, for which they end a value"));
    }

    Values::read(&input, xargs)
        .map_err(|problem| refused(problem, "write `xargs -0` or `-d '\\n'`, for which quotes mean nothing"))
}

/// Makes a word that stands in the line as it is.
fn literal(text: &str) -> Field {
    Field { text: text.to_owned(), origin: Origin::Literal, is_open: false, from: 0 }
}

/// A command with its values, as `xargs -t` prints it.
fn printed_command((command, replaced, values): (&[Field], Option<&str>, &[String])) -> String {
    let value = values.first().map(String::as_str).unwrap_or_default();
    let own = |word: &Field| replaced.map_or_else(|| word.text.clone(), |replaced| word.text.replace(replaced, value));
    let behind = if replaced.is_some() { &[] } else { values };
    let words = command.iter().map(own).chain(behind.iter().cloned());
    words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ") + "\n"
}

/// Splits values into those of one command each.
fn batches(values: &[String], most: Option<usize>, most_bytes: usize) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0;
    for (at, value) in values.iter().enumerate() {
        bytes += value.len() + 1;
        match all.last_mut() {
            Some(last) if bytes <= most_bytes && most.is_none_or(|most| last.len() < most) => last.end = at + 1,
            _ => {
                bytes = value.len() + 1;
                all.push(at..at + 1);
            }
        }
    }
    all
}

/// The values of an input.
#[derive(Default)]
struct Values {
    all: Vec<String>,
    /// The numbers of values up to the end of each line that has any, where lines count.
    ends: Vec<usize>,
}

impl Values {
    /// Reads the input of `xargs`.
    fn read(input: &str, xargs: &Xargs<'_>) -> Result<Self, String> {
        let has_lines = matches!(xargs.most, Some(Most::Lines(_)));
        let mut values = match xargs.separator {
            Separator::Character(byte) => {
                let all: Vec<String> = input.split_terminator(char::from(byte)).map(str::to_owned).collect();
                // Each counts as a line.
                let ends = if has_lines { (1..=all.len()).collect() } else { Vec::new() };
                return Ok(Self { all, ends });
            }
            Separator::Line => Self { all: whole_lines(input)?, ends: Vec::new() },
            Separator::Space => Self::of_words(input, has_lines)?,
        };
        let end = xargs.end.as_ref().and_then(|end| values.all.iter().position(|value| value == end));
        if let Some(end) = end {
            values.all.truncate(end);
            values.ends.retain(|at| *at < end);
            values.ends.extend(Some(end).filter(|end| has_lines && *end > 0));
        }
        Ok(values)
    }

    /// Splits at white space, which quotes and backslashes protect. A line that ends with white space goes on in the next.
    ///
    /// Source: POSIX.1-2024, "xargs".
    fn of_words(input: &str, has_lines: bool) -> Result<Self, String> {
        let (mut values, mut word) = (Self::default(), None);
        let mut is_after_blank = false;
        let mut characters = input.chars();
        while let Some(c) = characters.next() {
            if c.is_ascii_whitespace() {
                values.all.extend(word.take());
                if c == '\n' && has_lines && !is_after_blank {
                    values.end_line();
                }
            } else {
                read_character(c, &mut characters, word.get_or_insert_default())?;
            }
            is_after_blank = c != '\n' && c.is_ascii_whitespace();
        }
        values.all.extend(word);
        if has_lines {
            values.end_line();
        }

        Ok(values)
    }

    /// Notes the end of a line, if it has values.
    fn end_line(&mut self) {
        let end = self.all.len();
        self.ends.extend(Some(end).filter(|end| *end > self.ends.last().copied().unwrap_or_default()));
    }

    /// Splits the values into those of each command.
    ///
    /// # Errors
    /// A value is longer than `xargs -s` permits.
    fn groups_for(&self, due: Due<'_>, xargs: &Xargs<'_>, command: &[Field]) -> Ran<Vec<Range<usize>>> {
        let own_bytes: usize = command.iter().map(|word| word.text.len() + 1).sum();
        let most_bytes = xargs.most_bytes.unwrap_or(MAX_BYTES_AT_ONCE).min(MAX_BYTES_AT_ONCE).saturating_sub(own_bytes);
        if xargs.most_bytes.is_some() && self.all.iter().any(|value| value.len() >= most_bytes) {
            return Err(failure(due.text, due.range.clone(), "a value is longer than a command may be", LESS_AT_ONCE));
        }
        Ok(self.groups(xargs.most, most_bytes))
    }

    /// Splits the values into groups of at most this size.
    fn groups(&self, most: Option<Most>, most_bytes: usize) -> Vec<Range<usize>> {
        match most {
            Some(Most::Lines(count)) => {
                let ends = self.ends.chunks(count).filter_map(<[usize]>::last);
                ends.scan(0, |start, end| Some(std::mem::replace(start, *end)..*end)).collect()
            }
            Some(Most::Values(count)) => batches(&self.all, Some(count), most_bytes),
            None => batches(&self.all, None, most_bytes),
        }
    }
}

/// Splits at line breaks, which quotes and backslashes protect. White space at the start of a line is left out.
fn whole_lines(input: &str) -> Result<Vec<String>, String> {
    let (mut lines, mut line): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut characters = input.chars();
    while let Some(c) = characters.next() {
        match c {
            '\n' => lines.extend(line.take()),
            c if c.is_ascii_whitespace() && line.is_none() => {}
            c => read_character(c, &mut characters, line.get_or_insert_default())?,
        }
    }
    lines.extend(line);
    Ok(lines)
}

/// Adds a character to a value, or what it quotes.
fn read_character(c: char, rest: &mut Chars<'_>, value: &mut String) -> Result<(), String> {
    match c {
        '\'' | '"' => loop {
            match rest.next() {
                Some(end) if end == c => return Ok(()),
                Some('\n') | None => {
                    return Err(format!(
                        "a quote {c} does not end in the values of xargs; with -0 quotes mean nothing"
                    ));
                }
                Some(c) => value.push(c),
            }
        },
        '\\' => value.extend(rest.next()),
        c => value.push(c),
    }
    Ok(())
}
