//! Views of args: their files and their rules.

use crate::model::{Place, Type};
use crate::policy::{ArgRule, Pattern};
use crate::table::{ArgDef, ArgRow, Catalog, Rows, RuleDef};

/// An arg of a tool.
#[derive(Clone, Copy, Debug)]
pub struct ArgView<'a> {
    catalog: &'a Catalog,
    row: ArgRow,
    /// The row's number.
    at: u32,
}

impl<'a> ArgView<'a> {
    /// The JSON property.
    #[must_use]
    pub fn name(self) -> &'a str {
        self.catalog.texts.get(self.row.name)
    }

    /// What the value means; may be empty.
    #[must_use]
    pub fn description(self) -> &'a str {
        self.catalog.texts.get(self.row.description)
    }

    /// The flag. Only the places flag, joined and switch use it.
    #[must_use]
    pub fn flag(self) -> &'a str {
        self.catalog.texts.get(self.row.flag)
    }

    /// The default, as it stands on the command line.
    #[must_use]
    pub fn default(self) -> Option<&'a str> {
        self.row.default.map(|default| self.catalog.texts.get(default))
    }

    /// The allowed values, as they stand on the command line; empty if any value is allowed.
    #[must_use]
    pub fn values(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.catalog.list(self.row.values)
    }

    /// The type of the value.
    #[must_use]
    pub fn kind(self) -> Type {
        self.row.kind
    }

    /// Where the value goes.
    #[must_use]
    pub fn place(self) -> Place {
        self.row.place
    }

    /// Whether a call must give it.
    #[must_use]
    pub fn required(self) -> bool {
        self.row.required
    }

    /// The file that the program writes to the path in this arg. The server sets such an arg.
    #[must_use]
    pub fn output(self) -> Option<OutputFileView<'a>> {
        let files = &self.catalog.files;
        let found = files.binary_search_by_key(&self.at, |file| file.arg).ok()?;
        let text = |id| self.catalog.texts.get(id);
        Some(OutputFileView { mime: text(files[found].mime), file: text(files[found].file) })
    }

    /// Whether the user gives the arg. The schema for the agent has no such arg.
    #[must_use]
    pub fn is_from_user(self) -> bool {
        self.row.asked
    }

    /// Whether a policy permits a positional value to start with a dash; `None` without a policy.
    #[must_use]
    pub fn leading_dash(self) -> Option<bool> {
        self.row.leading_dash
    }

    /// The rules of policies for its values.
    pub fn rules(self) -> impl Iterator<Item = RuleView<'a>> + Clone {
        let Self { catalog, at, .. } = self;
        let first = catalog.rules.partition_point(|rule| rule.arg < at);
        let own = catalog.rules[first..].iter().take_while(move |rule| rule.arg == at);
        own.map(move |def| RuleView { catalog, def })
    }

    pub(crate) fn row(self) -> ArgRow {
        self.row
    }
}

/// A file that a program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputFileView<'a> {
    /// The media type of what is written.
    pub mime: &'a str,
    /// The last part of its path.
    pub file: &'a str,
}

/// A rule of a policy for the values of an arg.
#[derive(Clone, Copy, Debug)]
pub struct RuleView<'a> {
    catalog: &'a Catalog,
    def: &'a RuleDef,
}

impl RuleView<'_> {
    /// The smallest permitted number.
    #[must_use]
    pub fn min(self) -> Option<f64> {
        self.def.min
    }

    /// The largest permitted number.
    #[must_use]
    pub fn max(self) -> Option<f64> {
        self.def.max
    }

    /// Compiles the rule.
    ///
    /// # Panics
    /// Panics if a pattern does not compile. This crate puts only compiled patterns into catalogs.
    #[must_use]
    pub fn to_rule(self) -> ArgRule {
        let compiled = |text| Pattern::compile(text).expect("patterns in catalogs have been compiled before");
        ArgRule {
            pattern: self.def.pattern.map(|pattern| compiled(self.catalog.texts.get(pattern))),
            min: self.def.min,
            max: self.def.max,
        }
    }
}

/// Views some rows of [`Catalog::args`].
pub(super) fn args(catalog: &Catalog, rows: Rows) -> impl ExactSizeIterator<Item = ArgView<'_>> + Clone {
    let defs = catalog.args[rows.range()].iter().zip(rows.0..rows.1);
    defs.map(move |(def, at): (&ArgDef, u32)| ArgView { catalog, row: def.unpack(), at })
}
