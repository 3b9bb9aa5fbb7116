//! Builtins before a line runs: what they change in the state of a shell, as far as it is known by then.

use climax_shell::{Command, Field, Origin, Value};

use super::{Place, Survey};
use crate::call::line::directories::changed;
use crate::call::line::forms::{
    Builtin, Read, Set, Shopt, change_of, loop_count, printed_variable, shift_word, unset_names,
};
use crate::call::line::read_line::{CommandKey, Feed, ReadCall, ReadCommand};
use crate::call::line::resolve::UnreadLine;
use crate::call::line::variables::{READABLE, check_settable};
use crate::call::refusal::Refusal;

/// Variables that an environment of Python has.
const OF_ENVIRONMENTS: [&str; 2] = ["VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT"];

impl Survey<'_, '_> {
    /// Reads a builtin with its arguments, and notes what it changes.
    pub(super) fn builtin(&mut self, command: &Command, builtin: Builtin, words: &[Field]) -> Result<(), UnreadLine> {
        self.note(builtin, words).map_err(|refusal| self.refused(&command.range, refusal))?;

        let texts = words.iter().map(|word| word.text.clone()).collect();
        let read = ReadCommand {
            call: ReadCall::Builtin(builtin),
            is_open: words.iter().any(|word| word.is_open),
            key: CommandKey { words: texts, ..CommandKey::default() },
            feed: Feed::Nothing,
            reads_input: false,
            carries_data: false,
            variables: Vec::new(),
            text: self.source(&command.range),
            then: None,
        };
        self.add(read, &command.range)
    }

    /// Notes what a builtin changes.
    fn note(&mut self, builtin: Builtin, words: &[Field]) -> Result<(), Refusal> {
        match builtin {
            Builtin::ChangeDirectory => self.change_directory(words),
            Builtin::PushDirectory => self.push_directory(words),
            Builtin::PopDirectory => self.pop_directory(words),
            Builtin::Read => self.read(words),
            Builtin::Printf => printed_variable(words).map_or(Ok(()), |name| self.open(name)),
            Builtin::Export => self.export(words),
            Builtin::Unset => self.unset(words),
            Builtin::Set => self.set(words),
            Builtin::Shopt => self.shopt(words),
            Builtin::Shift => {
                shift_word(words)?;
                self.state.positions = None;
                Ok(())
            }
            Builtin::Break | Builtin::Continue => loop_count(words).map(drop),
            Builtin::Source => self.activate(words),
            Builtin::Deactivate => {
                self.set_environment(&Value::Unset);
                Ok(())
            }
            Builtin::True
            | Builtin::False
            | Builtin::Echo
            | Builtin::Test
            | Builtin::PrintDirectory
            | Builtin::Sleep
            | Builtin::Wait
            | Builtin::Jobs
            | Builtin::Kill
            | Builtin::Type
            | Builtin::Which
            | Builtin::Exit => Ok(()),
        }
    }

    /// Notes that a variable has a value which is not known yet.
    fn open(&mut self, name: &str) -> Result<(), Refusal> {
        check_settable(name)?;
        self.state.set(name, Value::Open);
        Ok(())
    }

    /// Notes where the words behind `cd` lead.
    fn change_directory(&mut self, words: &[Field]) -> Result<(), Refusal> {
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        // With an option that it does not have, it changes nothing.
        let Ok((is_physical, operands)) = change_of(&texts) else { return Ok(()) };
        let operands = &words[words.len() - operands.len()..];
        self.directory = match (operands, &self.directory) {
            ([], _) => match (self.context.env)("HOME") {
                Some(home) => Place::Known(Some(home)),
                None => Place::Open,
            },
            // Without links, which are looked up when it runs.
            ([_], _) if is_physical => Place::Open,
            ([to], Place::Known(from)) if !to.is_open && to.text != "-" => {
                Place::Known(Some(changed(from.as_deref(), &to.text)))
            }
            ([to], _) if !to.is_open && to.text.starts_with('/') => Place::Known(Some(changed(None, &to.text))),
            ([_], _) => Place::Open,
            _ => return Err(Refusal::new("`cd` takes one directory", "write `cd DIR && COMMAND`")),
        };
        Ok(())
    }

    /// Notes where the word behind `pushd` leads.
    fn push_directory(&mut self, words: &[Field]) -> Result<(), Refusal> {
        let remedy = "write `pushd DIR`";
        let [to] = words else { return Err(Refusal::new("`pushd` takes one directory", remedy)) };
        if to.text.starts_with(['-', '+']) {
            return Err(Refusal::new("`pushd` takes no option", remedy));
        }
        self.change_directory(words)
    }

    /// Notes that `popd` leads to a directory which is known when it runs.
    fn pop_directory(&mut self, words: &[Field]) -> Result<(), Refusal> {
        if !words.is_empty() {
            return Err(Refusal::new("`popd` takes no argument", "write `popd`"));
        }
        self.directory = Place::Open;
        Ok(())
    }

    /// Notes which variables `read` sets.
    fn read(&mut self, words: &[Field]) -> Result<(), Refusal> {
        let Read { names, .. } = Read::of(words)?;
        let names = if names.is_empty() { vec!["REPLY"] } else { names };
        names.into_iter().try_for_each(|name| self.open(name))
    }

    /// Notes what `export` sets.
    fn export(&mut self, words: &[Field]) -> Result<(), Refusal> {
        for word in words {
            if word.origin == Origin::Literal && word.text.starts_with('-') && word.text != "--" {
                let problem = format!("the option `{}` of `export` is not read", word.text);
                return Err(Refusal::new(problem, "write `export NAME=value`"));
            }
            let (name, value) =
                word.text.split_once('=').map_or((word.text.as_str(), None), |(name, value)| (name, Some(value)));
            let (name, appends) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
            check_settable(name)?;

            if let Some(value) = value {
                let value = if word.is_open || appends { Value::Open } else { Value::Known(value.to_owned()) };
                self.state.set(name, value);
            } else if !self.state.variables.contains_key(name) && !READABLE.contains(&name) {
                self.state.set(name, Value::Unset);
            }
            self.state.export(name);
        }
        Ok(())
    }

    /// Notes which variables `unset` takes away.
    fn unset(&mut self, words: &[Field]) -> Result<(), Refusal> {
        for word in unset_names(words)? {
            check_settable(&word.text)?;
            self.state.set(&word.text, Value::Unset);
        }
        Ok(())
    }

    /// Notes which options of globs `set` changes, and whether it sets the positions.
    fn set(&mut self, words: &[Field]) -> Result<(), Refusal> {
        let set = Set::of(words, self.state.options)?;
        self.state.options.globs = set.options.globs;
        if set.positions.is_some() {
            self.state.positions = None;
        }
        Ok(())
    }

    /// Notes which options of globs `shopt` changes.
    fn shopt(&mut self, words: &[Field]) -> Result<(), Refusal> {
        if let Shopt::Sets(options) = Shopt::of(words, self.state.options)? {
            self.state.options.globs = options.globs;
        }
        Ok(())
    }

    /// Notes that `source` makes an environment of Python the one of the line. Other files are not read.
    fn activate(&mut self, words: &[Field]) -> Result<(), Refusal> {
        let is_activation = matches!(words, [path] if path.text.ends_with("/activate") && !path.is_open);
        if !is_activation {
            let remedy = "write the commands themselves, or for a file of variables `export $(grep -v '^#' FILE | xargs)`; \
                `source DIR/bin/activate` is read";
            return Err(Refusal::new("commands of files are not read", remedy));
        }
        self.set_environment(&Value::Open);
        Ok(())
    }

    /// Notes which value the variables of an environment of Python have.
    fn set_environment(&mut self, value: &Value) {
        for name in OF_ENVIRONMENTS {
            self.state.set(name, value.clone());
        }
    }
}
