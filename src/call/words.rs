//! The words of an argument on a command line.

use climax_catalog::{ArgView, ChoiceView, FlagTemplate, Place, ResolvedTool, Shape, Spread};

use crate::call::arguments::BoundValue;

/// Returns the words of a value; none for a working directory, standard input or variable.
pub(super) fn words_of_argument(tool: ResolvedTool<'_>, arg: ArgView<'_>, value: &BoundValue) -> Vec<String> {
    match (arg.place(), value) {
        (Place::Stdin | Place::Cwd | Place::Variable, _) => Vec::new(),
        (_, BoundValue::Boolean(false)) => arg.off_words(),
        (_, BoundValue::Integer(count)) if arg.shape() == Shape::Count => counted(tool, arg, *count),
        (_, BoundValue::List(items)) => {
            let pairs: Vec<(&str, &str)> = items.iter().map(|item| ("", item.as_str())).collect();
            several(arg, &pairs)
        }
        (_, BoundValue::Map(pairs)) => {
            let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            several(arg, &pairs)
        }
        (_, single) => one(arg, "", &single.to_string()),
    }
}

/// Returns the words of one value.
fn one(arg: ArgView<'_>, key: &str, value: &str) -> Vec<String> {
    let choice = arg.choices().find(|choice| choice.value == value).and_then(ChoiceView::words);
    match (choice, arg.place()) {
        (Some(words), _) => words,
        (None, Place::Option) => arg.template().filled(key, value),
        (None, _) if key.is_empty() => vec![value.to_owned()],
        (None, _) => vec![format!("{key}={value}")],
    }
}

/// Returns the words of a flag that stands several times: `-vvv` for a short one.
///
/// They stay apart where the program would read the second letter as a value: `git blame -CC` has the value `C`.
fn counted(tool: ResolvedTool<'_>, arg: ArgView<'_>, count: i64) -> Vec<String> {
    let count = usize::try_from(count).unwrap_or_default();
    let words = arg.template().filled("", "");
    let takes_value = |short: &str| {
        let mut flags = tool.args().filter_map(|other| other.flag_words().into_iter().next());
        flags.any(|flag| flag.strip_prefix(short).is_some_and(|rest| rest.starts_with('{')))
    };
    match words.as_slice() {
        [short] if count > 0 && short.len() == 2 && short.starts_with('-') && short != "--" && !takes_value(short) => {
            vec![format!("-{}", short[1..].repeat(count))]
        }
        words => std::iter::repeat_n(words, count).flatten().cloned().collect(),
    }
}

/// Returns the words of a list or map. Items of a list have an empty name.
fn several(arg: ArgView<'_>, pairs: &[(&str, &str)]) -> Vec<String> {
    let spread = match arg.shape() {
        Shape::List(spread) | Shape::Map(spread) => spread,
        Shape::Single | Shape::Count | Shape::Rest(_) => Spread::Repeat,
    };
    match spread {
        _ if pairs.is_empty() => Vec::new(),
        Spread::Repeat => pairs.iter().flat_map(|(key, value)| one(arg, key, value)).collect(),
        Spread::Words if arg.place() == Place::Option && arg.choices().all(|choice| choice.written().is_none()) => {
            arg.template().filled_once(pairs.iter().copied())
        }
        Spread::Words => pairs.iter().flat_map(|(key, value)| one(arg, key, value)).collect(),
        Spread::Joined => joined(arg, pairs),
    }
}

/// Returns the words of values that are joined by a separator.
fn joined(arg: ArgView<'_>, pairs: &[(&str, &str)]) -> Vec<String> {
    let texts = pairs.iter().map(|(key, value)| match key {
        &"" => (*value).to_owned(),
        key => format!("{key}={value}"),
    });
    let text = texts.collect::<Vec<_>>().join(arg.separator());
    match arg.place() {
        Place::Option => FlagTemplate::new(&arg.flag_words(), Shape::Single, false).filled("", &text),
        _ => vec![text],
    }
}
