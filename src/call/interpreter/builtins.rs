//! Builtins.
//!
//! Source: POSIX.1-2024, "Special Built-In Utilities" and "Utilities"; bash(1), "SHELL BUILTIN COMMANDS".

use std::fmt::Write as _;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use climax_shell::{Field, Value};
use futures_util::future::Future;

use super::printf::{echoed, printed};
use super::record::{Record, builtin_stage};
use super::shell::{Before, Flow, Shell};
use super::simple::{Due, absolute, name_of, settable};
use super::streams::{Output, Source, Streams, blocking, write_all};
use super::test_command::holds;
use super::{Halt, Interpreter, MAX_SUBSTITUTION_BYTES, Ran, TIMED_OUT, failure};
use crate::call::approval::Approver;
use crate::call::line::{Builtin, changed};
use crate::call::plan_outcome::StepOutcome;
use crate::exec::{self, Stop};

/// What a builtin prints, and its status.
#[derive(Default)]
struct Done {
    output: Vec<u8>,
    errors: String,
    status: i32,
}

impl Done {
    fn status(status: i32) -> Self {
        Self { status, ..Self::default() }
    }

    fn printed(output: impl Into<Vec<u8>>) -> Self {
        Self { output: output.into(), ..Self::default() }
    }

    fn failed(status: i32, message: impl std::fmt::Display) -> Self {
        Self { errors: format!("climax: {message}\n"), status, ..Self::default() }
    }
}

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
            Builtin::Echo => Done::printed(echoed(&texts)),
            Builtin::Printf => match printed(&texts) {
                Ok((output, status)) => Done { output, status, ..Done::default() },
                Err(message) => Done::failed(2, format_args!("printf: {message}")),
            },
            Builtin::Test => match holds(&texts, shell.directory.as_deref()) {
                Ok(holds) => Done::status(i32::from(!holds)),
                Err(message) => Done::failed(2, format_args!("test: {message}")),
            },
            Builtin::PrintDirectory => Done::printed(format!("{}\n", absolute(shell.directory.as_deref()))),
            Builtin::ChangeDirectory => change_directory(shell, &texts),
            Builtin::Read => self.read(shell, due, &texts, streams.input.clone()).await?,
            Builtin::Shift => shift(shell, &texts),
            Builtin::Sleep => self.sleep(&texts).await?,
            Builtin::Type => described(&texts),
            Builtin::Which => found(&texts),
            Builtin::Source => Self::activate(shell, due, &texts)?,
            Builtin::Export => Self::export(shell, due, words)?,
            Builtin::Unset => {
                for name in texts.iter().filter(|name| !name.starts_with('-')) {
                    settable(due.text, due.range, name)?;
                    shell.state.set(name, Value::Unset);
                }
                Done::default()
            }
            Builtin::Set => set(shell, due, &texts)?,
            Builtin::Exit => {
                flow = Flow::Exit;
                let status = texts.first().and_then(|text| text.parse::<i32>().ok());
                Done::status(status.map_or_else(|| shell.status(), |status| status & 0xff))
            }
            Builtin::Break | Builtin::Continue => {
                let loops = texts.first().and_then(|text| text.parse().ok()).unwrap_or(1).clamp(1, shell.loops.max(1));
                if shell.loops > 0 {
                    flow = if builtin == Builtin::Break { Flow::Break(loops) } else { Flow::Continue(loops) };
                }
                Done::default()
            }
        };

        let status = self.say(due, builtin, done, &streams, record).await;
        shell.set_status(status);
        Ok(flow)
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
                Output::Result(stream) => shown.push((*stream, self.masks.apply(bytes))),
                Output::File(file) => {
                    if write_all(file, bytes).await.is_err() {
                        status = 1;
                    }
                }
            }
        }
        if !shown.is_empty() {
            let stage = builtin_stage(name_of(builtin), due.written_text(), status, shown);
            record.push(StepOutcome { stages: vec![stage] }, self.most_bytes);
        }
        status
    }

    async fn sleep(&self, texts: &[&str]) -> Ran<Done> {
        let mut seconds = 0.0;
        for text in texts {
            let (number, unit) = match text.char_indices().next_back() {
                Some((at, 's')) => (&text[..at], 1.0),
                Some((at, 'm')) => (&text[..at], 60.0),
                Some((at, 'h')) => (&text[..at], 3600.0),
                _ => (*text, 1.0),
            };
            match number.parse::<f64>() {
                Ok(number) if number >= 0.0 && number.is_finite() => seconds += number * unit,
                _ => return Ok(Done::failed(1, format_args!("sleep: invalid time interval '{text}'"))),
            }
        }
        let limit = self.bounds.timeout.unwrap_or(self.longest.max(Duration::from_mins(2)));
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        tokio::select! {
            why = self.stop.clone() => Err(Halt::Ended(Some(why))),
            () = tokio::time::sleep(time.min(limit)) => {
                if time <= limit {
                    return Ok(Done::default());
                }
                let message = format_args!("sleep: timed out after {} s", limit.as_secs_f64());
                Ok(Done::failed(TIMED_OUT, message))
            }
        }
    }

    /// Reads a line into variables.
    async fn read(&self, shell: &mut Shell, due: Due<'_>, texts: &[&str], input: Source) -> Ran<Done> {
        let mut is_raw = false;
        let mut delimiter = b'\n';
        let mut names = Vec::new();
        let mut words = texts.iter();
        while let Some(word) = words.next() {
            match *word {
                "-r" => is_raw = true,
                "-d" => delimiter = words.next().and_then(|text| text.bytes().next()).unwrap_or(0),
                "-p" => {
                    words.next();
                }
                word if word.starts_with("-r") && word.len() == 3 && word.ends_with('d') => {
                    is_raw = true;
                    delimiter = words.next().and_then(|text| text.bytes().next()).unwrap_or(0);
                }
                "-s" => {}
                word if word.starts_with('-') => {
                    let problem = format!("the option `{word}` of `read` is not read");
                    return Err(failure(due.text, due.range.clone(), problem, "write `read -r NAME`"));
                }
                name => names.push(name),
            }
        }

        let Source::File(file) = self.as_file(due, input).await? else { return Ok(Done::status(1)) };
        let file = file.as_fd().try_clone_to_owned();
        let read = match file {
            Ok(file) => blocking(move || exec::read_line(&file, delimiter, is_raw, MAX_SUBSTITUTION_BYTES)).await,
            Err(error) => Err(error),
        };
        let Ok((line, is_whole)) = read else { return Ok(Done::status(1)) };
        shell.has_data = true;
        let splits = due.variables.iter().all(|(name, value)| name != "IFS" || !value.is_empty());
        let separator = due.variables.iter().find(|(name, _)| name == "IFS").map(|(_, value)| value.as_str());
        Self::assign(shell, due, &names, (&line, separator.filter(|_| splits), splits))?;
        Ok(Done::status(i32::from(!is_whole)))
    }

    /// Gives the parts of a line to variables, the rest to the last.
    fn assign(
        shell: &mut Shell,
        due: Due<'_>,
        names: &[&str],
        (line, separator, splits): (&str, Option<&str>, bool),
    ) -> Ran<()> {
        let is_space = |c: char| matches!(c, ' ' | '\t' | '\n');
        let is_separator = |c: char| separator.map_or_else(|| is_space(c), |separator| separator.contains(c));
        let trims = splits && separator.is_none_or(|separator| separator.chars().all(is_space));
        let names = if names.is_empty() { &["REPLY"] } else { names };
        let mut rest = if trims && names != ["REPLY"] { line.trim_matches(is_separator) } else { line };
        for (at, name) in names.iter().enumerate() {
            settable(due.text, due.range, name)?;
            let end = if at + 1 == names.len() || !splits { None } else { rest.find(is_separator) };
            let (value, next) = match end {
                None => (rest, ""),
                Some(end) => {
                    let next = &rest[end..];
                    let skipped = next.chars().next().map_or(0, char::len_utf8);
                    (&rest[..end], if trims { next.trim_start_matches(is_separator) } else { &next[skipped..] })
                }
            };
            shell.state.set(name, Value::Known(value.to_owned()));
            rest = next;
        }
        Ok(())
    }

    fn export(shell: &mut Shell, due: Due<'_>, words: &[Field]) -> Ran<Done> {
        for word in words.iter().filter(|word| !word.text.starts_with('-')) {
            let (name, value) = match word.text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word.text.as_str(), None),
            };
            settable(due.text, due.range, name)?;
            if let Some(value) = value {
                shell.state.set(name, Value::Known(value.to_owned()));
            }
            if let Some(variable) = shell.state.variables.get_mut(name) {
                variable.is_exported = true;
            }
        }
        Ok(Done::default())
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
        if let Some(variable) = shell.state.variables.get_mut("VIRTUAL_ENV") {
            variable.is_exported = true;
        }
        shell.environment = Some(environment);
        Ok(Done::default())
    }
}

/// Changes the directory of a shell.
fn change_directory(shell: &mut Shell, texts: &[&str]) -> Done {
    let operands: Vec<&str> = texts.iter().copied().filter(|text| !matches!(*text, "--" | "-P" | "-L")).collect();
    let (to, prints) = match operands.as_slice() {
        [] => (exec::variable("HOME"), false),
        ["-"] => match &shell.previous {
            Some(Before(previous)) => (Some(absolute(previous.as_deref())), true),
            None => return Done::failed(1, "cd: OLDPWD not set"),
        },
        [to] => (Some(changed(shell.directory.as_deref(), to)), false),
        _ => return Done::failed(1, "cd: too many arguments"),
    };
    let Some(to) = to else { return Done::failed(1, "cd: HOME not set") };
    match exec::inspect::check_directory(Path::new(&to)) {
        Ok(()) => {
            let before = shell.directory.replace(to);
            shell.previous = Some(Before(before));
            let line = if prints { format!("{}\n", absolute(shell.directory.as_deref())) } else { String::new() };
            Done::printed(line)
        }
        Err(error) => {
            let reason = match error.kind() {
                std::io::ErrorKind::NotFound => "No such file or directory",
                std::io::ErrorKind::NotADirectory => "Not a directory",
                _ => "Permission denied",
            };
            Done::failed(1, format_args!("cd: {}: {reason}", operands.first().copied().unwrap_or(&to)))
        }
    }
}

fn shift(shell: &mut Shell, texts: &[&str]) -> Done {
    let count: usize = texts.first().and_then(|text| text.parse().ok()).unwrap_or(1);
    let positions = shell.state.positions.get_or_insert_default();
    if count > positions.len() {
        return Done::status(1);
    }
    positions.drain(..count);
    Done::default()
}

/// Sets options and positions.
fn set(shell: &mut Shell, due: Due<'_>, texts: &[&str]) -> Ran<Done> {
    let mut words = texts.iter();
    while let Some(word) = words.next() {
        let Some(letters) = word.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty()) else {
            shell.state.positions = Some(std::iter::once(word).chain(words).map(|text| (*text).to_owned()).collect());
            break;
        };
        if *word == "--" {
            shell.state.positions = Some(words.map(|text| (*text).to_owned()).collect());
            break;
        }
        let is_set = word.starts_with('-');
        for letter in letters.chars() {
            let option = match letter {
                'o' => words.next().copied().unwrap_or_default(),
                'e' => "errexit",
                'x' => "xtrace",
                'u' => "nounset",
                _ => "",
            };
            match option {
                "errexit" => shell.state.options.ends_on_failure = is_set,
                "xtrace" => shell.state.options.prints_commands = is_set,
                "pipefail" => shell.state.options.fails_with_pipes = is_set,
                // A variable that the line does not set is refused in any case.
                "nounset" => {}
                _ => {
                    let problem = format!("`set {word}` is not read");
                    return Err(failure(due.text, due.range.clone(), problem, "-e, -u, -x and -o pipefail are"));
                }
            }
        }
    }
    Ok(Done::default())
}

/// Says where programs are, as `which` and `command -v` do.
fn found(texts: &[&str]) -> Done {
    let mut done = Done::default();
    for name in texts.iter().filter(|text| !text.starts_with('-')) {
        match exec::path_of_program(name) {
            Some(path) => done.output.extend(format!("{}\n", path.display()).into_bytes()),
            None => done.status = 1,
        }
    }
    done
}

fn described(texts: &[&str]) -> Done {
    let mut done = Done::default();
    for name in texts.iter().filter(|text| !text.starts_with('-')) {
        if let Some(path) = exec::path_of_program(name) {
            done.output.extend(format!("{name} is {}\n", path.display()).into_bytes());
        } else {
            let _ = writeln!(done.errors, "climax: type: {name}: not found");
            done.status = 1;
        }
    }
    done
}
