//! Commands that run for each of many values: `xargs` and `find -exec`.

use std::str::Chars;

use climax_shell::{Field, Origin, PLACEHOLDER};
use futures_util::future::Future;

use super::record::Record;
use super::shell::Shell;
use super::simple::Due;
use super::streams::{Source, Streams};
use super::{Interpreter, MAX_INPUT_BYTES, Ran, failure};
use crate::call::approval::Approver;
use crate::call::line::{Find, Form, Most, Separator, Xargs};
use crate::exec::Stop;

/// Most bytes of the values of one command.
const MAX_BYTES_AT_ONCE: usize = 64 << 10;

impl<A, S> Interpreter<'_, '_, A, S>
where
    A: Approver,
    S: Future<Output = Stop> + Send,
{
    /// Runs a command for the values that standard input has.
    pub(super) async fn xargs(
        &self,
        shell: &mut Shell,
        due: Due<'_>,
        xargs: Xargs<'_>,
        streams: Streams,
        record: &mut Record,
    ) -> Ran<()> {
        let broken = |problem: String| failure(due.text, due.range.clone(), problem, "give it less at once");
        let input = streams.input.read_all(MAX_INPUT_BYTES).await.map_err(|error| broken(error.to_string()))?;
        let input = String::from_utf8(input).map_err(|_| broken("a value is not UTF-8".to_owned()))?;
        let unquoted = "write `xargs -0` or `-d '\\n'`, for which quotes mean nothing";
        let groups =
            groups(&input, &xargs).map_err(|problem| failure(due.text, due.range.clone(), problem, unquoted))?;

        let streams = Streams { input: Source::Nothing, ..streams };
        let echo = [literal("echo")];
        let command = if xargs.command.is_empty() { &echo[..] } else { xargs.command };
        if groups.is_empty() && (xargs.skips_empty || xargs.replaced.is_some()) {
            shell.set_status(0);
            return Ok(());
        }
        let is_text = matches!(Form::of(command), Ok(Form::Text { .. }));
        let mut worst = 0;
        // Without values the command runs once.
        let groups = if groups.is_empty() { vec![Vec::new()] } else { groups };
        for some in &groups {
            let status =
                self.with_values(shell, due, (command, xargs.replaced.as_deref(), some), &streams, record).await?;
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
        for some in batches(&paths, if find.many { None } else { Some(1) }) {
            let run = self.with_values(shell, due, (find.command, Some("{}"), some), &streams, record).await?;
            has_failed |= find.many && run != 0;
        }
        shell.set_status(if status == 0 { i32::from(has_failed) } else { status });
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
        for word in command {
            let Some(replaced) = replaced.filter(|replaced| word.text.contains(replaced)) else {
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
        let own = Due { written: &written, fields: &fields, is_own: false, ..due };
        Box::pin(self.dispatch(&mut inner, own, streams.clone(), record)).await?;
        Ok(inner.status())
    }
}

fn literal(text: &str) -> Field {
    Field { text: text.to_owned(), origin: Origin::Literal, is_open: false, from: 0 }
}

/// Splits values into those of one command each.
fn batches(values: &[String], most: Option<usize>) -> Vec<&[String]> {
    let mut all = Vec::new();
    let mut rest = values;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fitting = rest.iter().take_while(|value| {
            bytes += value.len() + 1;
            bytes <= MAX_BYTES_AT_ONCE
        });
        let count = fitting.count().max(1).min(most.unwrap_or(usize::MAX));
        let (some, others) = rest.split_at(count);
        all.push(some);
        rest = others;
    }
    all
}

/// Splits the input of `xargs` into the values of each command.
fn groups(input: &str, xargs: &Xargs<'_>) -> Result<Vec<Vec<String>>, String> {
    let mut lines = match xargs.separator {
        Separator::Character(byte) => {
            vec![input.split_terminator(char::from(byte)).map(str::to_owned).collect()]
        }
        Separator::Line => vec![whole_lines(input)?],
        Separator::Space => lines_of_values(input)?,
    };
    if let Some(end) = xargs.end.as_ref().filter(|_| !matches!(xargs.separator, Separator::Character(_))) {
        let last = lines.iter().position(|line| line.contains(end));
        lines.truncate(last.map_or(lines.len(), |last| last + 1));
        if let Some(line) = lines.last_mut() {
            line.truncate(line.iter().position(|value| value == end).unwrap_or(line.len()));
        }
        lines.retain(|line| !line.is_empty());
    }

    let owned = |batches: Vec<&[String]>| batches.into_iter().map(<[String]>::to_vec).collect();
    Ok(match xargs.most {
        Some(Most::Lines(count)) => lines.chunks(count).map(<[Vec<String>]>::concat).collect(),
        Some(Most::Values(count)) => owned(batches(&lines.concat(), Some(count))),
        None => owned(batches(&lines.concat(), None)),
    })
}

/// Splits at white space, which quotes and backslashes protect. Returns the values of each line that has any; one that ends
/// with white space goes on in the next.
///
/// Source: POSIX.1-2024, "xargs".
fn lines_of_values(input: &str) -> Result<Vec<Vec<String>>, String> {
    let (mut lines, mut line, mut word) = (Vec::new(), Vec::new(), None);
    let mut is_after_blank = false;
    let mut characters = input.chars();
    while let Some(c) = characters.next() {
        if c == '\n' {
            line.extend(word.take());
            if !is_after_blank && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
        } else if c.is_ascii_whitespace() {
            line.extend(word.take());
        } else {
            read_character(c, &mut characters, word.get_or_insert_default())?;
        }
        is_after_blank = c != '\n' && c.is_ascii_whitespace();
    }
    line.extend(word);
    lines.extend(Some(line).filter(|line| !line.is_empty()));
    Ok(lines)
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
