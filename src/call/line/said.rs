//! What the words of a command say: the arguments, and the places for the words that the config adds.

use climax_catalog::{ArgView, Place, STEPS, Shape, Spread};
use serde_json::{Map, Value};

use super::grammar::{Grammar, Origin, Slot};
use super::operands::{Assigned, OperandPlace, assign};
use super::scan::{Given, Misfit, Scanned, scan};
use crate::call::arguments::Input;
use crate::call::typed_words::TypedWords;

/// What a command is read from.
#[derive(Clone, Copy)]
pub(super) struct Typed<'w> {
    /// The words, the program first.
    pub(super) words: &'w [&'w str],
    /// Variables for the program, by name.
    pub(super) variables: &'w [(&'w str, &'w str)],
    /// Its standard input.
    pub(super) input: Input<'w>,
}

/// What the words of a line say, for one tool.
pub(super) struct Said {
    pub(super) arguments: Map<String, Value>,
    pub(super) repeated: Vec<(String, Value)>,
    pub(super) operands: Vec<OperandPlace>,
    pub(super) typed: TypedWords,
}

/// Reads the arguments of a tool. `separates` says whether `--` separates operands of different meaning for a tool of the
/// same command.
///
/// # Errors
/// The first word that the tool does not take.
pub(super) fn said(grammar: &Grammar<'_>, command: Typed<'_>, separates: bool) -> Result<Said, Misfit> {
    let mut scanned = scan(grammar, command.words)?;
    if let Some(dashes) = scanned.dashes.filter(|_| separates && !grammar.has_dashes()) {
        let problem = format!("`{}` takes no operands behind `--`", grammar.tool.name());
        return Err(Misfit::new(dashes.at, problem));
    }
    let assigned = assign(grammar, &mut scanned, command.words.len())?;

    let mut arguments = Map::new();
    let mut repeated = Vec::new();
    for (name, given) in &scanned.given {
        let mut values = json(given);
        arguments.extend(values.pop().map(|last| ((*name).to_owned(), last)));
        repeated.extend(values.into_iter().map(|value| ((*name).to_owned(), value)));
    }
    if !scanned.steps.is_empty() {
        let step = |step: &Given<'_>| {
            let values = json(step).into_iter();
            Value::from(values.map(|value| (step.arg.name().to_owned(), value)).collect::<Map<String, Value>>())
        };
        arguments.insert(STEPS.to_owned(), scanned.steps.iter().map(step).collect());
    }
    for (name, value) in command.variables {
        let arg = grammar.tool.args().find(|arg| arg.variable() == Some(name));
        let Some(arg) = arg else {
            return Err(Misfit::new(0, format!("the variable `{name}` cannot be set for this command")));
        };
        arguments.insert(arg.name().to_owned(), (*value).into());
    }
    give_input(grammar, command.input, &mut arguments)?;

    let typed = typed_words(grammar, command.words, &scanned, &assigned);
    Ok(Said { arguments, repeated, operands: assigned.places, typed })
}

/// Gives the standard input of a command to its arg.
fn give_input(grammar: &Grammar<'_>, input: Input<'_>, arguments: &mut Map<String, Value>) -> Result<(), Misfit> {
    let tool = grammar.tool;
    let is_stdin = |arg: &ArgView<'_>| arg.place() == Place::Stdin && !arg.is_from_user();
    let stdin = tool.args().find(is_stdin);
    let withheld = tool.withheld_args().find(is_stdin);

    match (input, stdin) {
        (Input::Nothing, _) | (Input::Pipe, Some(_)) => {}
        // The command that it starts has to read it.
        (_, None) if tool.started_command().is_some_and(|arg| arguments.contains_key(arg.name())) => {}
        (Input::Text(text), Some(stdin)) => drop(arguments.insert(stdin.name().to_owned(), text.into())),
        (Input::Text(_) | Input::Pipe, None) => {
            return Err(match withheld {
                Some(arg) => Misfit::withheld(0, arg.name(), tool.name()),
                None => Misfit::new(0, format!("`{}` reads no standard input", tool.name())),
            });
        }
    }

    Ok(())
}

/// Finds the places in a line for the words that the config adds.
fn typed_words(grammar: &Grammar<'_>, words: &[&str], scanned: &Scanned<'_, '_>, assigned: &Assigned) -> TypedWords {
    let operands_end = scanned.dashes.map_or(words.len(), |dashes| dashes.at);
    let behind = |slots: usize| {
        let taken = assigned.slots.iter().filter(|(slot, _)| *slot < slots).map(|(_, at)| at + 1);
        taken.max().unwrap_or(1).min(operands_end)
    };
    let is_word = |slot: &Slot<'_>| matches!(slot, Slot::Word(_));
    let base_words = grammar.slots[..grammar.base_slots].iter().rposition(is_word).map_or(0, |at| at + 1);
    let own_words = grammar.slots.iter().rposition(is_word).map_or(0, |at| at + 1);
    let options_at = grammar.slots_before_options.map_or_else(
        || {
            // Where a call has its options behind its operands, they stand before the first one that was typed.
            let first = scanned.options.iter().copied().find(|at| *at >= behind(own_words));
            first.unwrap_or(operands_end).min(operands_end)
        },
        behind,
    );

    let missing = |origin: Origin| {
        let of_origin = scanned.missing.iter().filter(move |option| option.origin == origin);
        of_origin.flat_map(|option| option.words.iter().cloned()).collect()
    };
    TypedWords {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        base_at: behind(base_words).max(scanned.letters_end),
        command_end: behind(own_words),
        options_at: options_at.max(scanned.letters_end),
        operands_end,
        operands: assigned.places.iter().map(|place| (place.word, place.arg.clone())).collect(),
        base_options: missing(Origin::Base),
        base_always: missing(Origin::Cli),
        always: missing(Origin::Tool),
    }
}

/// Returns what a line says about an arg, as JSON: one value, or all of an option of one value that stands several times.
fn json(given: &Given<'_>) -> Vec<Value> {
    let arg = given.arg;
    let texts = || given.values.iter().map(|(_, value)| value.as_str());
    let one = match arg.shape() {
        Shape::Count => given.count.into(),
        Shape::Single if !given.switches.is_empty() => return given.switches.iter().map(|on| (*on).into()).collect(),
        Shape::Single => return texts().map(Value::from).collect(),
        Shape::List(Spread::Joined) => {
            texts().flat_map(|text| text.split(arg.separator())).map(Value::from).collect::<Vec<_>>().into()
        }
        Shape::List(_) | Shape::Rest(_) => texts().map(Value::from).collect::<Vec<_>>().into(),
        Shape::Map(Spread::Joined) => {
            let pairs = texts().flat_map(|text| text.split(arg.separator()));
            let separator = arg.template().separator().to_owned();
            let separator = if separator.is_empty() { "=" } else { &separator };
            map(pairs.map(|pair| pair.split_once(separator).unwrap_or((pair, ""))))
        }
        Shape::Map(_) => map(given.values.iter().map(|(key, value)| (key.as_str(), value.as_str()))),
    };
    vec![one]
}

/// Makes an object whose members are lists: a line may repeat a key.
fn map<'p>(pairs: impl Iterator<Item = (&'p str, &'p str)>) -> Value {
    let mut members: Map<String, Value> = Map::new();
    for (key, value) in pairs {
        if let Value::Array(values) = members.entry(key).or_insert_with(|| Value::Array(Vec::new())) {
            values.push(value.into());
        }
    }
    members.into()
}
