//! Builtins.
//!
//! Source: POSIX.1-2024, "Special Built-In Utilities" and "Utilities"; bash(1), "SHELL BUILTIN COMMANDS".

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use climax_shell::{Field, Value, is_name};
use futures_util::future::Future;

use super::done::Done;
use super::expansion::absolute;
use super::printf::{PrintfError, echoed, printed};
use super::record::{Record, builtin_stage};
use super::shell::{Flow, Shell};
use super::simple::{Due, appended, name_of, settable};
use super::streams::{Output, Source, Streams, blocking, write_all};
use super::test_command::holds;
use super::{Halt, Interpreter, Interruption, MAX_SUBSTITUTION_BYTES, Ran, TIMED_OUT, failure};
use super::{background, directories, lookups};
use crate::call::approval::Approver;
use crate::call::line::{
    Builtin, READABLE, Read, Set, Shopt, changed, loop_count, printed_variable, shift_word, unset_names,
};
use crate::call::plan_outcome::StepOutcome;
use crate::exec::{self, Stop};
use crate::lock::Unpoisoned as _;

/// The status of what a closed pipe has ended: 128 and the number of SIGPIPE.
const BROKEN_PIPE: i32 = 141;

impl<A, S> Interpreter<'_, '_, A, S>
where
    A: Approver,
    S: Future<Output = Stop> + Send,
{
    /// Runs a builtin.
    pub(super) async fn builtin(
        &self,
        shell: &mut Shell,
        due: Due<'_>,
        (builtin, words): (Builtin, &[Field]),
        streams: Streams,
        record: &mut Record,
    ) -> Ran<Flow> {
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let mut flow = Flow::Next;
        let done = match builtin {
            Builtin::True => Done::default(),
            Builtin::False => Done::status(1),
            Builtin::Echo if shell.is_sh && texts.iter().any(|text| text.contains('\\')) => {
                let problem = "`echo` of `sh` may read the backslashes of a value";
                return Err(failure(due.text, due.range.clone(), problem, "write `printf '%s\\n'`, or `bash -c`"));
            }
            Builtin::Echo => Done::printed(echoed(&texts)),
            Builtin::Printf => Self::printf(shell, due, words)?,
            Builtin::Test => match holds(&texts, shell) {
                Ok(holds) => Done::status(i32::from(!holds)),
                Err(message) => Done::failed(2, format_args!("test: {message}")),
            },
            Builtin::PrintDirectory => directories::printed(shell, &texts),
            Builtin::ChangeDirectory => directories::change(shell, "cd", &texts),
            Builtin::PushDirectory => directories::push(shell, &texts),
            Builtin::PopDirectory => directories::pop(shell),
            Builtin::Read => self.read(shell, due, words, streams.input.clone()).await?,
            Builtin::Shift => {
                let word = shift_word(words).map_err(|refusal| due.refused(refusal))?;
                shift(shell, word.map(|word| word.text.as_str()))
            }
            Builtin::Sleep => self.sleep(shell, &texts).await?,
            Builtin::Wait => self.wait(shell, &texts).await?,
            Builtin::Jobs => background::listed(&shell.jobs, &texts),
            Builtin::Kill => background::kill(&shell.jobs, &self.background.jobs.lock().unpoisoned(), words),
            Builtin::Type => lookups::described(shell, &texts),
            Builtin::Which => lookups::found(shell, &texts),
            Builtin::Source => Self::activate(shell, due, &texts)?,
            Builtin::Deactivate => deactivate(shell),
            Builtin::Export => Self::export(shell, due, words)?,
            Builtin::Unset => unset(shell, due, words)?,
            Builtin::Set => set(shell, due, words)?,
            Builtin::Shopt => shopt(shell, due, words)?,
            Builtin::Exit => {
                flow = Flow::Exit;
                exit_status(shell, &texts)
            }
            Builtin::Break | Builtin::Continue => {
                let loops = loop_count(words).map_err(|refusal| due.refused(refusal))?;
                flow = leaving(builtin, loops, shell.loops);
                Done::default()
            }
        };

        let status = self.say(due, builtin, done, &streams, record).await;
        shell.set_status(status);
        // A shell that writes into a pipe without a reader is ended by the signal.
        Ok(if status == BROKEN_PIPE { Flow::Exit } else { flow })
    }

    /// Prints what a builtin has to say, and returns its status.
    async fn say(&self, due: Due<'_>, builtin: Builtin, done: Done, streams: &Streams, record: &mut Record) -> i32 {
        let Done { output, errors, mut status } = done;
        let mut shown = Vec::new();
        for (stream, bytes) in [(&streams.output, output), (&streams.errors, errors.into_bytes())] {
            if bytes.is_empty() {
                continue;
            }
            match stream {
                Output::Nothing => {}
                Output::Result(stream) => shown.push((*stream, self.shown(bytes))),
                Output::File(file) => match write_all(file, bytes).await {
                    Ok(()) => {}
                    Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => status = BROKEN_PIPE,
                    Err(_) => status = 1,
                },
            }
        }
        if !shown.is_empty() {
            let stage = builtin_stage(name_of(builtin), due.written_text(), status, shown);
            record.push(StepOutcome { stages: vec![stage] }, self.most_bytes);
        }
        status
    }

    /// Waits for the sum of times, and at most as long as a program may take.
    async fn sleep(&self, shell: &Shell, texts: &[&str]) -> Ran<Done> {
        let mut seconds = 0.0;
        if texts.is_empty() {
            return Ok(Done::failed(1, "sleep: missing operand"));
        }
        for text in texts {
            let (number, unit) = match text.char_indices().next_back() {
                Some((at, 's')) => (&text[..at], 1.0),
                Some((at, 'm')) => (&text[..at], 60.0),
                Some((at, 'h')) => (&text[..at], 3600.0),
                Some((at, 'd')) => (&text[..at], 86400.0),
                _ => (*text, 1.0),
            };
            match number.parse::<f64>() {
                Ok(number) if number >= 0.0 && number.is_finite() => seconds += number * unit,
                _ => return Ok(Done::failed(1, format_args!("sleep: invalid time interval '{text}'"))),
            }
        }
        let limit = self.bounds.timeout.unwrap_or(self.longest.max(Duration::from_mins(2)));
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let left = self.time_left(shell)?;
        tokio::select! {
            why = self.stop_of(shell) => Err(Halt::Ended(Interruption::Stopped(why))),
            () = tokio::time::sleep(time.min(limit).min(left)) => {
                if time <= limit.min(left) {
                    return Ok(Done::default());
                }
                if left < limit {
                    return Err(Halt::Ended(Interruption::TimedOut));
                }
                let message = format_args!("sleep: timed out after {} s", limit.as_secs_f64());
                Ok(Done::failed(TIMED_OUT, message))
            }
        }
    }

    /// Reads a line into variables.
    async fn read(&self, shell: &mut Shell, due: Due<'_>, words: &[Field], input: Source) -> Ran<Done> {
        let Read { is_raw, delimiter, names } = Read::of(words).map_err(|refusal| due.refused(refusal))?;
        if let Some(name) = names.iter().find(|name| !is_name(name)) {
            return Ok(Done::failed(1, format_args!("read: `{name}': not a valid identifier")));
        }
        let Source::File(file) = self.as_file(due, input).await? else {
            Self::assign(shell, due, &names, &[], Some(""))?;
            return Ok(Done::status(1));
        };
        let file = file.as_fd().try_clone_to_owned();
        let read = match file {
            Ok(file) => blocking(move || exec::read_line(&file, delimiter, is_raw, MAX_SUBSTITUTION_BYTES)).await,
            Err(error) => Err(error),
        };
        let line = match read {
            Ok(line) => line,
            // Other characters in its place would be wrong data.
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                let remedy = "let a program read it, by a pipe";
                return Err(failure(due.text, due.range.clone(), error.to_string(), remedy));
            }
            Err(_) => return Ok(Done::status(1)),
        };
        shell.has_data = true;
        let separators = due.variables.iter().find(|(name, _)| name == "IFS").map(|(_, value)| value.as_str());
        Self::assign(shell, due, &names, &line.characters, separators)?;
        Ok(Done::status(i32::from(!line.is_whole)))
    }

    /// Prints by a format, or sets the variable of `printf -v`.
    fn printf(shell: &mut Shell, due: Due<'_>, words: &[Field]) -> Ran<Done> {
        // That of `sh` may not know `-v`.
        let variable = printed_variable(words).filter(|_| !shell.is_sh);
        let texts: Vec<&str> = words.iter().skip(variable.map_or(0, |_| 2)).map(|word| word.text.as_str()).collect();
        let remedy = if texts.first().is_some_and(|format| format.contains(")T")) {
            "print a time by `date -d @SECONDS +FORMAT`"
        } else {
            "write it out"
        };
        let refused = |problem: String| failure(due.text, due.range.clone(), problem, remedy);
        let (output, status) = match printed(&texts) {
            Ok(printed) => printed,
            Err(PrintfError::Failed(status, message)) => {
                return Ok(Done::failed(status, format_args!("printf: {message}")));
            }
            Err(PrintfError::Unread(message)) => return Err(refused(format!("printf: {message}"))),
        };
        let Some(name) = variable else { return Ok(Done { output, status, ..Done::default() }) };

        settable(due.text, due.range, name)?;
        let text = String::from_utf8(output).ok().filter(|text| text.len() <= MAX_SUBSTITUTION_BYTES);
        let text = text.ok_or_else(|| refused("the value would be too long, or is no text".to_owned()))?;
        shell.state.set(name, Value::Known(text.replace('\0', "")));
        Ok(Done::status(status))
    }

    /// Gives the parts of a line to variables, the rest to the last. A character that a backslash protects separates none.
    fn assign(
        shell: &mut Shell,
        due: Due<'_>,
        names: &[&str],
        line: &[(char, bool)],
        separators: Option<&str>,
    ) -> Ran<()> {
        let is_separator = |(c, is_escaped): &(char, bool)| !is_escaped && separators.unwrap_or(" \t\n").contains(*c);
        let is_space = |one: &(char, bool)| matches!(one.0, ' ' | '\t' | '\n') && is_separator(one);
        let without_spaces = |line: &'_ [(char, bool)]| line.iter().take_while(|one| is_space(one)).count();
        let text = |line: &[(char, bool)]| Value::Known(line.iter().map(|(c, _)| *c).collect());
        if names.is_empty() {
            shell.state.set("REPLY", text(line));
        }

        let mut rest = &line[without_spaces(line)..];
        for (at, name) in names.iter().enumerate() {
            settable(due.text, due.range, name)?;
            let end = rest.iter().position(is_separator).unwrap_or(rest.len());
            // Behind a value stands one separator, with white space around it.
            let mut next = &rest[end..];
            next = &next[without_spaces(next)..];
            next = &next[usize::from(next.first().is_some_and(is_separator))..];
            next = &next[without_spaces(next)..];
            let is_rest = at + 1 == names.len() && !next.is_empty();
            let spaces = if is_rest { rest.iter().rev().take_while(|one| is_space(one)).count() } else { 0 };
            shell.state.set(name, text(if is_rest { &rest[..rest.len() - spaces] } else { &rest[..end] }));
            rest = next;
        }
        Ok(())
    }

    /// Sets variables that programs get, or makes those that are set such.
    fn export(shell: &mut Shell, due: Due<'_>, words: &[Field]) -> Ran<Done> {
        let mut done = Done::default();
        for word in words.iter().filter(|word| word.text != "--") {
            if word.text.starts_with('-') {
                let problem = format!("the option `{}` of `export` is not read", word.text);
                return Err(failure(due.text, due.range.clone(), problem, "write `export NAME=value`"));
            }
            let (name, value) = match word.text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word.text.as_str(), None),
            };
            let added = name.strip_suffix('+').filter(|_| value.is_some());
            let name = added.unwrap_or(name);
            settable(due.text, due.range, name)?;
            if !is_name(name) {
                done = Done::failed(1, format_args!("export: `{name}': not a valid identifier"));
                continue;
            }
            if let Some(value) = value {
                let old = shell.state.variables.get(name).map(|variable| &variable.value);
                let value = match old {
                    Some(Value::Known(old)) if added.is_some() => appended(due.text, due.range, old, value)?,
                    _ => value.to_owned(),
                };
                shell.state.set(name, Value::Known(value));
            } else if !shell.state.variables.contains_key(name) && !READABLE.contains(&name) {
                shell.state.set(name, Value::Unset);
            }
            shell.state.export(name);
        }
        Ok(done)
    }

    /// Activates an environment of Python. The file is not run: what it would set is set here.
    fn activate(shell: &mut Shell, due: Due<'_>, texts: &[&str]) -> Ran<Done> {
        let refused = |problem: String| {
            let remedy = "write the commands themselves; `source DIR/bin/activate` of an environment of Python is read";
            Err(failure(due.text, due.range.clone(), problem, remedy))
        };
        let [path] = texts else { return refused("commands of files are not read".to_owned()) };
        let path = PathBuf::from(absolute(Some(&changed(shell.directory.as_deref(), path))));
        let environment = path.parent().and_then(Path::parent).map(Path::to_owned);
        let Some(environment) = environment.filter(|_| path.ends_with("bin/activate")) else {
            return refused("commands of files are not read".to_owned());
        };
        if !path.is_file() {
            return Ok(Done::failed(1, format_args!("{}: No such file or directory", texts[0])));
        }
        if !environment.join("pyvenv.cfg").is_file() {
            return refused(format!("`{}` is no environment of Python", environment.display()));
        }
        shell.state.set("VIRTUAL_ENV", Value::Known(environment.display().to_string()));
        shell.state.export("VIRTUAL_ENV");
        shell.environment = Some(environment);
        Ok(Done::default())
    }
}

/// Leaves the environment of Python that the line has activated.
fn deactivate(shell: &mut Shell) -> Done {
    if shell.environment.take().is_none() {
        return Done::failed(127, "deactivate: command not found");
    }
    shell.state.set("VIRTUAL_ENV", Value::Unset);
    Done::default()
}

/// Unsets variables.
fn unset(shell: &mut Shell, due: Due<'_>, words: &[Field]) -> Ran<Done> {
    for word in unset_names(words).map_err(|refusal| due.refused(refusal))? {
        settable(due.text, due.range, &word.text)?;
        shell.state.set(&word.text, Value::Unset);
    }
    Ok(Done::default())
}

/// Returns the status with which `exit` ends a shell, of which it has the lowest eight bits.
fn exit_status(shell: &Shell, texts: &[&str]) -> Done {
    match texts.first().map(|text| text.parse::<i64>()) {
        None => Done::status(shell.status()),
        Some(Ok(status)) => Done::status(i32::from(status.to_le_bytes()[0])),
        Some(Err(_)) => Done::failed(2, format_args!("exit: {}: numeric argument required", texts[0])),
    }
}

/// Returns how a line goes on after `break` or `continue` with a count, in a number of loops. Outside of loops they do nothing.
fn leaving(builtin: Builtin, count: usize, loops: usize) -> Flow {
    match count.min(loops) {
        0 => Flow::Next,
        count if builtin == Builtin::Break => Flow::Break(count),
        count => Flow::Continue(count),
    }
}

/// Drops the first positional parameters, as many as the word says.
fn shift(shell: &mut Shell, word: Option<&str>) -> Done {
    let count: i128 = match word.map(|word| word.trim().parse()) {
        None => 1,
        Some(Ok(count)) => count,
        Some(Err(_)) => {
            return Done::failed(1, format_args!("shift: {}: numeric argument required", word.unwrap_or_default()));
        }
    };
    let Ok(count) = usize::try_from(count) else {
        return Done::failed(1, format_args!("shift: {count}: shift count out of range"));
    };
    let positions = shell.state.positions.get_or_insert_default();
    if count > positions.len() {
        return Done::status(1);
    }
    positions.drain(..count);
    Done::default()
}

/// Sets options of globs and others, or tells whether they are set.
fn shopt(shell: &mut Shell, due: Due<'_>, words: &[Field]) -> Ran<Done> {
    let shopt = Shopt::of(words, shell.state.options).map_err(|refusal| due.refused(refusal))?;
    Ok(match shopt {
        Shopt::Sets(options) => {
            shell.state.options = options;
            Done::default()
        }
        Shopt::Tells(are_set) => Done::status(i32::from(!are_set)),
    })
}

/// Sets options and positions.
fn set(shell: &mut Shell, due: Due<'_>, words: &[Field]) -> Ran<Done> {
    let set = Set::of(words, shell.state.options).map_err(|refusal| due.refused(refusal))?;
    shell.state.options = set.options;
    if let Some(positions) = set.positions {
        shell.state.positions = Some(positions.iter().map(|word| word.text.clone()).collect());
    }
    Ok(Done::default())
}
