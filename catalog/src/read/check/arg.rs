//! Checks of args: place, default, enum.

use std::collections::HashMap;

use super::{Checker, text_or};
use crate::checked::{CheckedArg, CheckedChoice, DefaultValue};
use crate::diagnostic::Code;
use crate::json::{enum_json, json_string};
use crate::model::{Order, Place, Shape, Spread, Type};
use crate::read::config::{ArgConfig, ChoiceConfig};
use crate::read::yaml::{Meaning, Scalar, shorten};
use crate::source::{Span, Spanned};

impl Checker<'_> {
    /// Checks the args of one tool.
    pub(super) fn args(&mut self, args: Vec<ArgConfig>) -> Vec<CheckedArg> {
        self.arg_names(&args);
        let file = |arg: &ArgConfig| arg.output.as_ref()?.value.file.clone().or_else(|| arg.name.clone());
        let files: Vec<_> = args.iter().filter_map(file).collect();
        self.defined_once(&files.iter().collect::<Vec<_>>(), "output file", Code::IllegalOutput);
        args.into_iter().map(|arg| self.arg(arg)).collect()
    }

    /// Checks global args. Only their flag and default have an effect.
    pub(super) fn global_args(&mut self, args: Vec<ArgConfig>) -> Vec<CheckedArg> {
        self.arg_names(&args);
        args.into_iter().map(|arg| self.global_arg(arg)).collect()
    }

    fn global_arg(&mut self, mut arg: ArgConfig) -> CheckedArg {
        let help = "a global arg is always a flag with its default";
        for (key, field) in [
            ("positional", &mut arg.positional),
            ("cwd", &mut arg.cwd),
            ("stdin", &mut arg.stdin),
            ("required", &mut arg.required),
        ] {
            if let Some(set) = field.take()
                && set.value
            {
                self.report(Code::NoEffect, set.span, format!("`{key}` has no effect on a global arg"), help);
            }
        }

        if let (None, Some(name)) = (&arg.default, &arg.name) {
            let message = format!("global arg `{}` has no default, so it is never passed", name.value);
            self.report(Code::NoEffect, name.span, message, "add `default:`");
        }

        // A variable is expanded at run time, so its type cannot be checked here.
        let variable =
            arg.default.take_if(|default| matches!(default.value.meaning(), Meaning::Str(text) if text.contains('$')));
        let mut checked = self.arg(arg);

        if let Some(text) = variable {
            let word = text.value.text;
            checked.default = Some(DefaultValue { json: json_string(&word), word });
        }

        checked
    }

    fn arg_names(&mut self, args: &[ArgConfig]) {
        let names: Vec<_> = args.iter().filter_map(|arg| arg.name.as_ref()).collect();
        for name in &names {
            self.not_empty(name, "`name` of an arg");
        }
        self.defined_once(&names, "arg", Code::DuplicateArg);
    }

    /// Reports a second `cwd` or `stdin`: a program has one of each.
    pub(super) fn repeated_places(&mut self, args: &[ArgConfig]) {
        for (key, field) in [
            ("cwd", (|arg| arg.cwd.as_ref()) as fn(&ArgConfig) -> Option<&Spanned<bool>>),
            ("stdin", |arg| arg.stdin.as_ref()),
        ] {
            let mut set = args.iter().filter_map(field).filter(|set| set.value);
            let Some(first) = set.next() else { continue };
            for again in set {
                let message = format!("a second `{key}` arg in one tool");
                let error = self.source.diagnostic(Code::RepeatedPlace, again.span, message);
                self.out.push(error.also(first.span, "the first one").help(format!("keep `{key}: true` on one arg")));
            }
        }
    }

    fn arg(&mut self, mut arg: ArgConfig) -> CheckedArg {
        let output = self.output_file(&arg);
        let (shape, separator) = self.shape(&arg);
        let place = self.place(&arg, shape);
        let kind = arg.kind.unwrap_or(if shape == Shape::Count { Type::Integer } else { Type::String });
        let written = arg.values.as_ref().map(values_of);
        self.enum_values(written.as_ref(), kind);
        let choices = arg.values.take().map_or_else(Vec::new, |values| self.choices(values, place, shape));
        let default = arg.default.as_ref().and_then(|default| self.default(default, kind));

        if let (Some(default), Some(span), Some(values)) = (&default, arg.default.as_ref().map(|d| d.span), &written) {
            self.default_in_enum(&default.word, span, values);
        }

        let required = arg.must_be_given();
        if let (Some(Spanned { value: true, .. }), Some(default)) = (&arg.required, &arg.default) {
            let message = "an arg with a default is never required";
            self.report(Code::RequiredDefault, default.span, message, "remove `required: true` or `default:`");
        }

        if let (Some(flag), Place::Option) = (&arg.flag, place) {
            self.flag(flag, kind, shape);
        }

        self.variable(&arg);
        self.off(&arg, kind);
        let constraint = self.constraint(&arg, kind, shape);
        let [min_items, max_items] = self.item_bounds(&arg, shape);
        let shown = self.shown(&arg);
        let risk = self.arg_risk(&arg);
        let name = text_or(arg.name, "");
        let flag = arg.flag.map_or_else(|| format!("--{}", name.replace('_', "-")), |flag| flag.value);

        CheckedArg {
            description: text_or(arg.description, ""),
            kind,
            required,
            default,
            place,
            flag,
            shape,
            separator,
            aliases: self.aliases(arg.aliases, place),
            off: arg.off.map(|off| off.value),
            variable: arg.variable.map(|variable| variable.value),
            choices,
            constraint,
            min_items,
            max_items,
            shown,
            order: Order::Defined,
            risk,
            sensitive: arg.sensitive.unwrap_or_default(),
            rules: Vec::new(),
            leading_dash: None,
            from_user: false,
            output,
            name,
        }
    }

    /// Checks the titles and words of enum values.
    fn choices(&mut self, values: Spanned<Vec<ChoiceConfig>>, place: Place, shape: Shape) -> Vec<CheckedChoice> {
        let has_words = matches!(place, Place::Option | Place::Positional)
            && !matches!(shape, Shape::List(Spread::Joined) | Shape::Map(_) | Shape::Rest(_));
        let mut choice = |choice: ChoiceConfig| {
            if let Some(words) = &choice.words {
                self.not_empty(words, "the words of an enum value");
                self.words(Some(words));
                if !has_words {
                    let message = "words of an enum value have no place here";
                    let help = "remove them: only an option or operand has words, a joined list and a map have values";
                    self.report(Code::IllegalShape, words.span, message, help);
                }
            }
            CheckedChoice {
                value: choice.value.value,
                title: choice.title.filter(|title| !title.is_empty()),
                words: choice.words.map(|words| words.value),
            }
        };
        values.value.into_iter().map(&mut choice).collect()
    }

    /// Checks the flag of a boolean that is false.
    fn off(&mut self, arg: &ArgConfig, kind: Type) {
        let Some(off) = &arg.off else { return };
        self.not_empty(off, "`off`");
        self.words(Some(off));
        if kind != Type::Boolean {
            let message = format!("`off` has no meaning for type {}", kind.as_str());
            self.report(Code::IllegalShape, off.span, message, "remove it, or write `type: boolean`");
        }
    }

    /// Returns the place that the keys name.
    fn place(&mut self, arg: &ArgConfig, shape: Shape) -> Place {
        let named: Vec<(&str, Place, Span)> = [
            ("positional", Place::Positional, &arg.positional),
            ("cwd", Place::Cwd, &arg.cwd),
            ("stdin", Place::Stdin, &arg.stdin),
        ]
        .into_iter()
        .filter_map(|(key, place, set)| set.as_ref().filter(|set| set.value).map(|set| (key, place, set.span)))
        .chain(arg.variable.as_ref().map(|variable| ("variable", Place::Variable, variable.span)))
        .collect();

        let &[(key, place, span), ref more @ ..] = named.as_slice() else {
            return if matches!(shape, Shape::Rest(_)) { Place::Positional } else { Place::Option };
        };

        for (other, _, at) in more {
            let message = format!("`{other}` and `{key}` exclude each other: a value goes to one place");
            let error = self.source.diagnostic(Code::ConflictingPlaces, *at, message);
            self.out.push(error.also(span, format!("`{key}` is set here")).help("keep one of the two"));
        }

        if arg.kind == Some(Type::Boolean) && place != Place::Variable {
            let message = format!("a boolean cannot be `{key}`: it is a switch");
            self.report(Code::BooleanPlace, span, message, format!("remove `{key}`, or give the arg another type"));
        }

        if let Some(flag) = arg.flag.as_ref().filter(|flag| !flag.value.is_empty()) {
            let message = format!("`flag` has no effect beside `{key}`");
            self.report(Code::NoEffect, flag.span, message, format!("remove `flag` or `{key}`"));
        }

        place
    }

    pub(super) fn enum_values(&mut self, values: Option<&Spanned<Vec<Spanned<String>>>>, kind: Type) -> Vec<String> {
        let Some(values) = values else { return Vec::new() };
        if values.value.is_empty() {
            self.report(
                Code::EmptyEnum,
                values.span,
                "`enum` has no values",
                "list the allowed values, or remove `enum`",
            );
        }

        let mut seen: HashMap<&str, Span> = HashMap::new();
        for value in &values.value {
            if let Some(first) = seen.get(value.value.as_str()) {
                let message = format!("enum value `{}` stands twice", shorten(&value.value));
                let error = self.source.diagnostic(Code::RepeatedEnumValue, value.span, message);
                self.out.push(error.label("again here").also(*first, "first here").help("remove one of the two"));
            } else {
                seen.insert(&value.value, value.span);
            }
            if enum_json(&value.value, kind).is_none() {
                let message = format!("no {} can equal the enum value `{}`", kind.as_str(), shorten(&value.value));
                self.report(Code::EnumType, value.span, message, "correct the value, or the arg's `type`");
            }
        }

        values.value.iter().map(|value| value.value.clone()).collect()
    }

    fn default(&mut self, default: &Spanned<Scalar>, kind: Type) -> Option<DefaultValue> {
        let scalar = &default.value;
        let value = match (kind, scalar.meaning()) {
            (Type::String, Meaning::Str(text)) => Some((text.to_owned(), json_string(text))),
            (Type::Integer | Type::Number, Meaning::Int(value)) => Some((value.to_string(), value.to_string())),
            (Type::Number, Meaning::Float(value)) if value.is_finite() => {
                let text = number_text(&scalar.text, value);
                Some((text.clone(), text))
            }
            (Type::Boolean, Meaning::Bool(value)) => Some((value.to_string(), value.to_string())),
            _ => None,
        };

        if let Some((word, json)) = value {
            return Some(DefaultValue { word, json });
        }

        let found = match scalar.meaning() {
            Meaning::Null => "nothing".to_owned(),
            Meaning::Bool(value) => format!("the boolean `{value}`"),
            Meaning::Int(_) | Meaning::Float(_) => format!("the number `{}`", scalar.text),
            Meaning::Str(text) => format!("the string `{}`", shorten(text)),
        };
        let help = match kind {
            Type::String => format!("quote it: \"{}\"", scalar.text),
            Type::Integer => "write a whole number without quotes, or correct the arg's `type`".to_owned(),
            Type::Number => "write a finite number without quotes, or correct the arg's `type`".to_owned(),
            Type::Boolean => "write true or false without quotes, or correct the arg's `type`".to_owned(),
        };
        let message = format!("default is not of the arg's type {}: found {found}", kind.as_str());
        self.report(Code::DefaultType, default.span, message, help);

        None
    }

    fn default_in_enum(&mut self, word: &str, span: Span, values: &Spanned<Vec<Spanned<String>>>) {
        if values.value.is_empty() || values.value.iter().any(|value| value.value == word) {
            return;
        }

        let names = values.value.iter().map(|value| value.value.as_str());
        let help = match crate::suggest::did_you_mean(word, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write one of {}", names.collect::<Vec<_>>().join(", ")),
        };
        let message = format!("default `{}` is none of the enum values", shorten(word));
        let error = self.source.diagnostic(Code::DefaultNotInEnum, span, message);

        self.out.push(error.label("not in the enum").also(values.span, "allowed values").help(help));
    }
}

/// The values of an `enum`, without titles and words.
pub(super) fn values_of(choices: &Spanned<Vec<ChoiceConfig>>) -> Spanned<Vec<Spanned<String>>> {
    Spanned { value: choices.value.iter().map(|choice| choice.value.clone()).collect(), span: choices.span }
}

/// Returns the text of a finite number: as written if that is valid JSON, so that `1.10` stays `1.10`.
fn number_text(written: &str, value: f64) -> String {
    let is_json = serde_json::from_str::<serde_json::Value>(written).is_ok_and(|json| json.is_number());
    if is_json { written.to_owned() } else { serde_json::Value::from(value).to_string() }
}
