//! Views of args: their files and their rules.

use crate::flag::FlagTemplate;
use crate::model::{ArgRisk, Order, Place, Risk, Sensitive, Shape, Type};
use crate::needs::ANY;
use crate::rule::{ArgRule, Pattern};
use crate::table::{ArgDef, ArgRow, Catalog, DetailDef, List, Rows, RuleDef, Str};
use crate::words::quoted_words;

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

    /// The flag, as it is written. Only options use it.
    #[must_use]
    pub fn flag(self) -> &'a str {
        self.catalog.texts.get(self.row.flag)
    }

    /// The template of the flag's words.
    #[must_use]
    pub fn template(self) -> FlagTemplate {
        FlagTemplate::new(&self.flag_words(), self.shape(), self.is_bare())
    }

    /// The words of the flag.
    #[must_use]
    pub fn flag_words(self) -> Vec<String> {
        quoted_words(self.flag())
    }

    /// Whether the flag takes no value.
    #[must_use]
    pub fn is_bare(self) -> bool {
        is_bare(self.flag(), self.kind(), self.shape())
    }

    /// The number and form of its values.
    #[must_use]
    pub fn shape(self) -> Shape {
        self.row.shape
    }

    /// The separator of a joined list or map; empty for others.
    #[must_use]
    pub fn separator(self) -> &'a str {
        self.detail().and_then(|detail| detail.separator).map_or("", |text| self.catalog.texts.get(text))
    }

    /// Other spellings of the flag.
    pub fn aliases(self) -> impl Iterator<Item = &'a str> + Clone {
        self.detail().into_iter().flat_map(move |detail| self.catalog.list(detail.aliases))
    }

    /// The words of a boolean that is false; empty if it has none.
    #[must_use]
    pub fn off_words(self) -> Vec<String> {
        quoted_words(self.off().unwrap_or_default())
    }

    /// The flag of a boolean that is false, as it is written.
    #[must_use]
    pub fn off(self) -> Option<&'a str> {
        self.detail().and_then(|detail| detail.off).map(|text| self.catalog.texts.get(text))
    }

    /// The name of the environment variable that the value goes into.
    #[must_use]
    pub fn variable(self) -> Option<&'a str> {
        self.detail().and_then(|detail| detail.variable).map(|text| self.catalog.texts.get(text))
    }

    /// The smallest number of items.
    #[must_use]
    pub fn min_items(self) -> Option<u32> {
        self.detail().and_then(|detail| detail.min_items)
    }

    /// The largest number of items.
    #[must_use]
    pub fn max_items(self) -> Option<u32> {
        self.detail().and_then(|detail| detail.max_items)
    }

    /// Whether the published schema has it.
    #[must_use]
    pub fn is_shown(self) -> bool {
        self.row.shown
    }

    /// Its order among other options.
    #[must_use]
    pub fn order(self) -> Order {
        self.row.order
    }

    /// Whether calls give it as an item of the list `steps`.
    #[must_use]
    pub fn is_ordered(self) -> bool {
        self.row.order == Order::Given
    }

    /// How much the argument can change beyond its tool.
    ///
    /// # Panics
    /// Panics if a risk in the catalog has another name. This crate puts only names of risks into catalogs.
    #[must_use]
    pub fn risk(self) -> ArgRisk {
        let parse = |risk: &str| risk.parse().expect("risks in catalogs have been parsed before");
        let pairs = self.detail().map(|detail| self.catalog.pairs(detail.risks));
        let mut values: Vec<(String, Risk)> =
            pairs.into_iter().flatten().map(|(value, risk)| (value.to_owned(), parse(risk))).collect();
        match (values.pop(), self.row.risk) {
            (Some((_, otherwise)), _) => ArgRisk::ByValue { values, otherwise },
            (None, Some(risk)) => ArgRisk::Always(risk),
            (None, None) => ArgRisk::OfTool,
        }
    }

    /// Whether a call that gives it prints secrets.
    #[must_use]
    pub fn sensitive(self) -> Sensitive {
        let values = self.detail().map(|detail| self.catalog.list(detail.sensitive));
        let values: Vec<String> = values.into_iter().flatten().map(str::to_owned).collect();
        match values.as_slice() {
            [] => Sensitive::Never,
            [any] if any == ANY => Sensitive::Always,
            _ => Sensitive::Values(values),
        }
    }

    /// The allowed values with their titles and words.
    pub fn choices(self) -> impl Iterator<Item = ChoiceView<'a>> + Clone {
        let details = self.detail().into_iter().flat_map(move |detail| self.catalog.pairs(detail.choices));
        let details =
            details.map(|(title, words)| [title, words].map(|text| Some(text).filter(|text| !text.is_empty())));
        self.values().zip(details.chain(std::iter::repeat([None, None]))).map(|(value, [title, words])| ChoiceView {
            value,
            title,
            words,
        })
    }

    fn detail(self) -> Option<&'a DetailDef> {
        self.row.detail.map(|row| &self.catalog.details[row as usize])
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
        self.row.from_user
    }

    /// Whether a policy permits a positional value to start with a dash; `None` without a policy.
    #[must_use]
    pub fn leading_dash(self) -> Option<bool> {
        self.row.leading_dash
    }

    /// The rules of the config and of policies for its values.
    pub fn rules(self) -> impl Iterator<Item = RuleView<'a>> + Clone {
        let Self { catalog, at, .. } = self;
        let first = catalog.rules.partition_point(|rule| rule.arg < at);
        let own = catalog.rules[first..].iter().take_while(move |rule| rule.arg == at);
        own.map(move |def| RuleView { catalog, def })
    }

    /// The value that a policy gives it in every call.
    #[must_use]
    pub fn fixed(self) -> Option<&'a str> {
        self.rules().find_map(RuleView::fixed)
    }

    pub(crate) fn row(self) -> ArgRow {
        self.row
    }
}

/// Returns whether a flag takes no value: that of a count, or of a boolean without a place for it.
pub(crate) fn is_bare(flag: &str, kind: Type, shape: Shape) -> bool {
    let has_place = flag.ends_with('=') || flag.contains("{}");
    shape == Shape::Count || (kind == Type::Boolean && shape == Shape::Single && !has_place)
}

/// An allowed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceView<'a> {
    /// The value that the agent gives.
    pub value: &'a str,
    /// The name that users see.
    pub title: Option<&'a str>,
    words: Option<&'a str>,
}

impl<'a> ChoiceView<'a> {
    /// The words that stand for the value, as they are written; `None` if the value stands for itself.
    #[must_use]
    pub fn written(self) -> Option<&'a str> {
        self.words
    }

    /// The words that stand for the value; `None` if the value stands for itself.
    #[must_use]
    pub fn words(self) -> Option<Vec<String>> {
        self.words.map(quoted_words)
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

impl<'a> RuleView<'a> {
    /// Whether a policy sets it, not the config.
    #[must_use]
    pub fn is_from_policy(self) -> bool {
        self.def.from_policy
    }

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

    /// Whether it forbids some values.
    #[must_use]
    pub fn restricts(self) -> bool {
        let RuleDef { pattern, min, max, values, within, fixed: _, approval: _, arg: _, from_policy: _ } = *self.def;
        let has_bound = min.is_some() || max.is_some();
        pattern.is_some() || has_bound || !values.range().is_empty() || !within.range().is_empty()
    }

    /// Whether some values need approval.
    #[must_use]
    pub fn has_approval(self) -> bool {
        self.def.approval.is_some()
    }

    /// The value that every call has.
    #[must_use]
    pub fn fixed(self) -> Option<&'a str> {
        self.def.fixed.map(|text| self.catalog.texts.get(text))
    }

    /// The directories that the path must be in; empty for any.
    #[must_use]
    pub fn within(self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.catalog.list(self.def.within)
    }

    /// Returns the rule by itself.
    #[must_use]
    pub fn to_rule(self) -> ArgRule {
        let pattern = |text: Option<Str>| text.map(|text| Pattern::of_catalog(self.catalog.texts.get(text)));
        let list = |list: List| self.catalog.list(list).map(str::to_owned).collect();
        ArgRule {
            pattern: pattern(self.def.pattern),
            min: self.def.min,
            max: self.def.max,
            values: list(self.def.values),
            fixed: self.fixed().map(str::to_owned),
            within: list(self.def.within),
            approval: pattern(self.def.approval),
        }
    }
}

/// Views some rows of [`Catalog::args`].
pub(crate) fn args(catalog: &Catalog, rows: Rows) -> impl ExactSizeIterator<Item = ArgView<'_>> + Clone {
    let defs = catalog.args[rows.range()].iter().zip(rows.0..rows.1);
    defs.map(move |(def, at): (&ArgDef, u32)| ArgView { catalog, row: def.unpack(), at })
}
