//! What commands of a line leave for those behind them: variables, positions, statuses, options.

use std::collections::{BTreeMap, BTreeSet};

/// The largest number of a process on any system.
pub(crate) const LARGEST_PROCESS: u64 = 1 << 22;

/// Returns the value of `$!` for the command that was started as this one in the background. No process has this number, so
/// that no program takes the one for the other.
#[must_use]
pub fn background_number(count: u32) -> u64 {
    2 * LARGEST_PROCESS + u64::from(count)
}

/// Returns which command in the background a value of `$!` stands for; `None` for every other text.
#[must_use]
pub fn background_count(number: &str) -> Option<u32> {
    let number: u64 = number.parse().ok()?;
    number.checked_sub(2 * LARGEST_PROCESS).and_then(|count| count.try_into().ok())
}

/// The value of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Known(String),
    /// It will be known once the line runs.
    Open,
    /// It has none, because the line took it away.
    #[default]
    Unset,
}

/// A variable of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its value.
    pub value: Value,
    /// Whether programs get it.
    pub is_exported: bool,
}

/// What globs match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of `set` or `shopt`")]
pub struct Globs {
    /// `set -f`: they stay as they are written.
    pub are_off: bool,
    /// `shopt -s nullglob`: one that matches nothing is left out.
    pub vanish: bool,
    /// `shopt -s dotglob`: names that start with a period too.
    pub see_hidden: bool,
    /// `shopt -s globstar`: `**` stands for directories at any depth.
    pub descend: bool,
}

/// Options of `set` and `shopt`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of `set` or `shopt`")]
pub struct Options {
    /// `set -e`: a command that fails ends the line.
    pub ends_on_failure: bool,
    /// `set -x`: commands are printed on standard error before they run.
    pub prints_commands: bool,
    /// `set -o pipefail`: a pipeline fails with the last command that failed.
    pub fails_with_pipes: bool,
    /// `set -u`: a parameter without a value ends the line.
    pub fails_on_unset: bool,
    /// `shopt -s inherit_errexit`: a command in a word ends on failure too.
    pub ends_inner_on_failure: bool,
    /// What globs match.
    pub globs: Globs,
}

/// What commands leave for those behind them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The variables that the line has set.
    pub variables: BTreeMap<String, Variable>,
    /// The variables that the line sets somewhere, and that it does not get from its surroundings.
    pub set_somewhere: BTreeSet<String>,
    /// Variables whose values are open, and that no command has set where all commands so far run in their order.
    pub unset_so_far: BTreeSet<String>,
    /// `$0`
    pub name: String,
    /// `$1`, `$2`, …; `None` where they are not known yet.
    pub positions: Option<Vec<String>>,
    /// `$?`; `None` where it is not known yet.
    pub status: Option<i32>,
    /// `$!`
    pub background: Value,
    /// The statuses of the last pipeline.
    pub pipe_statuses: Vec<i32>,
    /// The options.
    pub options: Options,
    /// The steps that matches of patterns have taken.
    pub pattern_steps: u64,
}

impl State {
    /// Sets a variable. Programs get it if they did before.
    pub fn set(&mut self, name: &str, value: Value) {
        let is_exported = self.variables.get(name).is_some_and(|variable| variable.is_exported);
        self.unset_so_far.remove(name);
        self.variables.insert(name.to_owned(), Variable { value, is_exported });
    }

    /// Lets programs get a variable from now on, if there is one of the name.
    pub fn export(&mut self, name: &str) {
        if let Some(variable) = self.variables.get_mut(name) {
            variable.is_exported = true;
        }
    }

    /// Returns the variables that programs get, whose values are known.
    pub fn exported(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().filter(|(_, variable)| variable.is_exported).filter_map(|(name, variable)| {
            if let Value::Known(text) = &variable.value { Some((name.as_str(), text.as_str())) } else { None }
        })
    }
}
