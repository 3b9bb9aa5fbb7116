//! Checks of the number and form of an arg's values, and of the keys that go with them.

use super::Checker;
use crate::checked::CheckedArg;
use crate::diagnostic::Code;
use crate::flag::FlagTemplate;
use crate::model::{ArgRisk, Place, Rest, Risk, Shape, Spread, Type};
use crate::read::config::{ArgConfig, SpreadConfig};
use crate::read::pattern::pattern;
use crate::read::walk::Walker;
use crate::rule::ArgRule;
use crate::source::{Span, Spanned};
use crate::view::is_bare;
use crate::words;

/// Variables by which common programs, the loader and interpreters start other programs or load code.
const PROGRAM_VARIABLES: &[&str] = &[
    "BASH_ENV",
    "BROWSER",
    "EDITOR",
    "ENV",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "LESSOPEN",
    "MANPAGER",
    "NODE_OPTIONS",
    "PAGER",
    "PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "SHELL",
    "VISUAL",
];

/// The largest `min_items` and `max_items`.
const MAX_ITEMS_BOUND: f64 = 10_000.0;

impl Checker<'_> {
    /// Returns the shape of an arg, and its separator.
    pub(super) fn shape(&mut self, arg: &ArgConfig) -> (Shape, Option<String>) {
        let is_set = |set: &Option<Spanned<bool>>| set.as_ref().filter(|set| set.value).map(|set| set.span);
        let named: Vec<(&str, Span)> = [
            ("list", arg.list.as_ref().map(|list| list.span)),
            ("map", arg.map.as_ref().map(|map| map.span)),
            ("count", is_set(&arg.count)),
            ("rest", arg.rest.as_ref().map(|rest| rest.span)),
        ]
        .into_iter()
        .filter_map(|(key, span)| Some((key, span?)))
        .collect();
        let Some(&(key, span)) = named.first() else { return (Shape::Single, None) };

        for (other, at) in &named[1..] {
            self.shape_error(*at, format!("`{other}` and `{key}` exclude each other"), "keep one of the two");
        }

        self.several_values(arg, key, span);
        match key {
            "count" => (Shape::Count, None),
            "rest" => (Shape::Rest(arg.rest.as_ref().map_or(Rest::Words, |rest| rest.value)), None),
            _ => {
                let (spread, separator) = self.spread(arg.list.as_ref().or(arg.map.as_ref()));
                (if key == "list" { Shape::List(spread) } else { Shape::Map(spread) }, separator)
            }
        }
    }

    fn spread(&mut self, config: Option<&Spanned<SpreadConfig>>) -> (Spread, Option<String>) {
        match config.map(|config| (&config.value, config.span)) {
            None | Some((SpreadConfig::Repeat, _)) => (Spread::Repeat, None),
            Some((SpreadConfig::Words, _)) => (Spread::Words, None),
            Some((SpreadConfig::Separator(text), span)) => {
                if text.is_empty() {
                    self.shape_error(span, "the separator is empty", "write one, such as \",\", or `true`");
                }
                (Spread::Joined, Some(text.clone()))
            }
        }
    }

    /// Reports keys that have no meaning for an arg with several values, or with a count.
    fn several_values(&mut self, arg: &ArgConfig, key: &str, span: Span) {
        let is_set = |set: &Option<Spanned<bool>>| set.as_ref().is_some_and(|set| set.value);
        let kind = arg.kind.unwrap_or(Type::String);
        let is_count = key == "count";
        for (other, is_there) in [
            ("cwd", is_set(&arg.cwd)),
            ("stdin", is_set(&arg.stdin)),
            ("variable", arg.variable.is_some()),
            ("output", arg.output.is_some()),
            ("default", arg.default.is_some() && !is_count),
            ("off", arg.off.is_some()),
            ("positional", is_count && is_set(&arg.positional)),
            ("enum", is_count && arg.values.is_some()),
            ("flag", key == "rest" && arg.flag.is_some()),
        ] {
            if is_there {
                self.shape_error(span, format!("`{other}` and `{key}` exclude each other"), "remove one of the two");
            }
        }

        let fits = match key {
            "count" => arg.kind.is_none() || kind == Type::Integer,
            "rest" => kind == Type::String,
            _ => kind != Type::Boolean,
        };

        if !fits {
            let message = format!("an arg of type {} cannot have `{key}`", kind.as_str());
            self.shape_error(span, message, "correct `type`; a count is an integer, and a rest holds strings");
        }
    }

    fn shape_error(&mut self, span: Span, message: impl Into<String>, help: &str) {
        self.report(Code::IllegalShape, span, message, help);
    }

    /// Checks the words of a flag, and that they have the places of the shape.
    pub(super) fn flag(&mut self, flag: &Spanned<String>, kind: Type, shape: Shape) {
        if flag.value.trim().is_empty() {
            let help = "write the option, such as `--label`, or remove `flag`; `positional: true` places a value bare";
            self.report(Code::EmptyValue, flag.span, "`flag` is empty", help);
            return;
        }

        let words = self.words(Some(flag));
        let template = FlagTemplate::new(&words, shape, is_bare(&flag.value, kind, shape));
        if let Err(problem) = template.check(shape) {
            self.shape_error(flag.span, format!("flag `{}`: {problem}", flag.value), "correct the places of the flag");
        }
    }

    /// Splits words with quotes, and reports quotes without a clear meaning.
    pub(super) fn words(&mut self, text: Option<&Spanned<String>>) -> Vec<String> {
        let Some(text) = text else { return Vec::new() };
        let unclear = match words::split(&text.value) {
            Ok(words) => return words,
            Err(unclear) => unclear,
        };

        for words::UnclearQuote { range, rewritings: [as_written, without] } in unclear {
            let message = format!("`{}` has a quote or backslash within a word", &text.value[range.clone()]);
            let help =
                format!("write {as_written} to pass it as it stands, or {without} without it: quotes enclose words");
            let span = self.source.within(text, range);
            self.report(Code::UnclearQuote, span, message, help);
        }

        // Later checks need the number of words only.
        text.value.split_whitespace().map(str::to_owned).collect()
    }

    /// Checks the other spellings of a flag.
    pub(super) fn aliases(&mut self, aliases: Vec<Spanned<String>>, place: Place) -> Vec<String> {
        if let Some(first) = aliases.first().filter(|_| !matches!(place, Place::Option | Place::Cwd)) {
            self.report(Code::NoEffect, first.span, "`aliases` has no effect without a flag", "remove it");
        }

        for alias in &aliases {
            if alias.value.is_empty() || alias.value.contains(char::is_whitespace) {
                let message = format!("alias `{}` is not one word", alias.value);
                self.shape_error(alias.span, message, "write another spelling of the flag, such as `-n`");
            }
        }

        aliases.into_iter().map(|alias| alias.value).collect()
    }

    /// Checks the name of an environment variable.
    pub(super) fn variable(&mut self, arg: &ArgConfig) {
        let Some(name) = &arg.variable else { return };
        let is_legal = name.value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_legal {
            let message = format!("`{}` cannot be the name of an environment variable", name.value.escape_debug());
            self.report(Code::IllegalName, name.span, message, "use letters, digits and `_`");
        }
    }

    /// Reports variables by which programs start others, in a tool that only reads.
    pub(super) fn dangerous_variables(&mut self, args: &[CheckedArg], risk: Option<Risk>, span: Span) {
        let starts_programs = |name: &str| {
            PROGRAM_VARIABLES.contains(&name)
                || ["LD_", "DYLD_"].iter().any(|start| name.starts_with(start))
                || ["_COMMAND", "_PAGER", "_EDITOR", "_ASKPASS", "_PRELOAD"].iter().any(|end| name.ends_with(end))
        };
        for arg in args {
            let Some(variable) = arg.variable.as_deref().filter(|name| starts_programs(name)) else { continue };
            let highest = arg.risk.highest().into_iter().chain(risk).max();
            if highest != Some(Risk::Destructive) {
                let message = format!("`{variable}` can name a program to run, so `{}` is destructive", arg.name);
                self.report(Code::IllegalShape, span, message, "write `risk: destructive` at the arg, or remove it");
            }
        }
    }

    /// Checks the arg's own rule for its values.
    pub(super) fn constraint(&mut self, arg: &ArgConfig, kind: Type, shape: Shape) -> ArgRule {
        let bounds = [("min", &arg.min), ("max", &arg.max)];
        let is_number = matches!(kind, Type::Integer | Type::Number) || shape == Shape::Count;
        for (key, bound) in bounds {
            let Some(bound) = bound else { continue };
            if !is_number {
                let message = format!("`{key}` has no meaning for type {}", kind.as_str());
                self.shape_error(bound.span, message, "remove it, or correct `type`");
            } else if !bound.value.is_finite() {
                self.report(Code::IllegalRange, bound.span, format!("`{key}` must be finite"), "write a number");
            }
        }

        self.range(arg.min.as_ref(), arg.max.as_ref());
        let pattern = arg.pattern.as_ref().and_then(|text| {
            if kind != Type::String {
                let message = format!("`pattern` has no meaning for type {}", kind.as_str());
                self.shape_error(text.span, message, "remove it, or use `min` and `max`");
            }
            pattern(&mut Walker::new(self.source, self.out), text)
        });
        let [min, max] = bounds.map(|(_, bound)| bound.as_ref().map(|bound| bound.value));

        ArgRule { pattern, min, max, ..ArgRule::default() }
    }

    fn range(&mut self, min: Option<&Spanned<f64>>, max: Option<&Spanned<f64>>) {
        if let (Some(min), Some(max)) = (min, max)
            && min.value > max.value
        {
            let message = format!("no number is both at least {} and at most {}", min.value, max.value);
            self.report(Code::IllegalRange, min.span, message, "exchange the two bounds");
        }
    }

    /// Checks the bounds of the number of items.
    pub(super) fn item_bounds(&mut self, arg: &ArgConfig, shape: Shape) -> [Option<u32>; 2] {
        self.range(arg.min_items.as_ref(), arg.max_items.as_ref());
        [("min_items", &arg.min_items), ("max_items", &arg.max_items)].map(|(key, bound)| {
            let bound = bound.as_ref()?;
            if matches!(shape, Shape::Single | Shape::Count) {
                let message = format!("`{key}` has no meaning for an arg with one value");
                self.shape_error(bound.span, message, "remove it, or add `list: true` or `map: true`");
            }
            if bound.value.fract() != 0.0 || !(0.0..=MAX_ITEMS_BOUND).contains(&bound.value) {
                let message = format!("`{key}` must be a whole number from 0 to {MAX_ITEMS_BOUND}");
                self.report(Code::IllegalRange, bound.span, message, "correct the bound");
                return None;
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
            Some(bound.value as u32)
        })
    }

    /// Checks that an arg which no schema shows can be left out.
    pub(super) fn shown(&mut self, arg: &ArgConfig) -> bool {
        let Some(shown) = &arg.shown else { return true };
        if let Some(required) = arg.required.as_ref().filter(|required| required.value && !shown.value) {
            let message = "an arg that is required must be shown";
            self.shape_error(required.span, message, "remove `shown: false` or `required: true`");
        }
        shown.value
    }

    /// Returns the risk that the arg adds, and reports values of it that the `enum` does not have.
    pub(super) fn arg_risk(&mut self, arg: &ArgConfig) -> ArgRisk {
        let Some(risk) = &arg.risk else { return ArgRisk::OfTool };
        if let (ArgRisk::ByValue { values, .. }, Some(choices)) = (&risk.value, &arg.values) {
            let known: Vec<&str> = choices.value.iter().map(|choice| choice.value.value.as_str()).collect();
            for (value, _) in values.iter().filter(|(value, _)| !known.contains(&value.as_str())) {
                self.unknown_name(&Spanned { value: value.clone(), span: risk.span }, "enum value", &known);
            }
        }
        risk.value.clone()
    }
}
