//! Finds parts of the tree that a survey needs to know beforehand.

use std::collections::BTreeSet;

use climax_catalog::expansion::Lookup;
use climax_shell::{Arithmetic, Body, Command, List, Part, Script, Simple, State, Target, Word};

/// Whether a list prints nothing but its own words, as `$(cat <<'EOF' …)` and `$(printf …)` do.
pub(crate) fn prints_itself(list: &List) -> bool {
    let prints = |command: &Command| {
        let Body::Simple(simple) = &command.body else { return false };
        let first = simple.words.first().and_then(Word::plain);
        let has_text = command.redirections.iter().any(|one| matches!(one.target, Target::Text(_)));
        matches!(first, Some("echo" | "printf")) || (simple.words.len() == 1 && first == Some("cat") && has_text)
    };
    list.items.iter().all(|chain| chain.rest.is_empty() && chain.first.commands.iter().all(prints))
}

/// Whether a word may hold what the line has read: the output of commands, or a variable. What a list prints of its own words
/// is none of that, unless these words hold such data.
pub(super) fn holds_data(word: &Word) -> bool {
    word.parts.iter().any(is_data)
}

/// Whether a part of a word may hold what the line has read.
fn is_data(part: &Part) -> bool {
    match part {
        Part::Text(_) | Part::Quoted(_) => false,
        Part::Double(parts) => parts.iter().any(is_data),
        Part::Substitution(list, _) => !prints_itself(list) || words_of(list).any(holds_data),
        Part::Process(..) | Part::Parameter(..) | Part::Arithmetic(..) => true,
    }
}

/// The words of the simple commands of a list, and the texts that these read.
fn words_of(list: &List) -> impl Iterator<Item = &Word> {
    list.items.iter().flat_map(|chain| &chain.first.commands).flat_map(|command| {
        let texts = command.redirections.iter().filter_map(|redirection| match &redirection.target {
            Target::Text(word) => Some(word),
            _ => None,
        });
        let words = if let Body::Simple(simple) = &command.body { simple.words.as_slice() } else { &[] };
        words.iter().chain(texts)
    })
}

/// Finds the variables that an expression sets.
pub(super) fn assigned_in_arithmetic(expression: &Arithmetic, names: &mut BTreeSet<String>) {
    names.extend(expression.assigned());
}

/// Finds the variables that commands set; whether they change the directory.
pub(super) fn assigned(list: &List, names: &mut BTreeSet<String>) -> bool {
    let pipelines = list
        .items
        .iter()
        .flat_map(|chain| std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, pipeline)| pipeline)));
    let commands = pipelines.flat_map(|pipeline| &pipeline.commands);
    let mut changes = false;
    for command in commands {
        changes |= assigned_by(&command.body, names);
    }
    changes
}

/// Finds the variables that the commands of several lists set; whether one of these changes the directory.
fn assigned_in_any<'l>(lists: impl IntoIterator<Item = &'l List>, names: &mut BTreeSet<String>) -> bool {
    let mut changes = false;
    for list in lists {
        changes |= assigned(list, names);
    }
    changes
}

/// Returns the state in which a script starts.
pub(crate) fn first_state(script: &Script, env: Lookup<'_>) -> State {
    let mut names = BTreeSet::new();
    assigned(&script.list, &mut names);
    names.retain(|name| env(name).is_none());
    State { name: "climax".to_owned(), positions: Some(Vec::new()), set_somewhere: names, ..State::default() }
}

/// Finds the variables that a command sets; whether it changes the directory.
fn assigned_by(body: &Body, names: &mut BTreeSet<String>) -> bool {
    match body {
        Body::Simple(simple) => {
            assigned_by_simple(simple, names);
            matches!(simple.words.first().and_then(Word::plain), Some("cd" | "pushd" | "popd"))
        }
        Body::Subshell(_) | Body::Condition(_) => false,
        Body::Group(list) => assigned(list, names),
        Body::If(command) => {
            let branches = command.branches.iter().flat_map(|branch| [&branch.condition, &branch.body]);
            assigned_in_any(branches.chain(&command.otherwise), names)
        }
        Body::For(command) => {
            names.insert(command.name.clone());
            assigned(&command.body, names)
        }
        Body::Count(count) => {
            for part in [&count.start, &count.condition, &count.step].into_iter().flatten() {
                assigned_in_arithmetic(part, names);
            }
            assigned(&count.body, names)
        }
        Body::While(command) => assigned_in_any([&command.condition, &command.body], names),
        Body::Case(case) => assigned_in_any(case.arms.iter().map(|arm| &arm.body), names),
        Body::Arithmetic(expression) => {
            assigned_in_arithmetic(expression, names);
            false
        }
    }
}

/// Finds the variables that a simple command sets, as far as its words name them.
fn assigned_by_simple(simple: &Simple, names: &mut BTreeSet<String>) {
    if simple.words.is_empty() {
        names.extend(simple.assignments.iter().map(|assignment| assignment.name.clone()));
    }

    let plain = |at: usize| simple.words.get(at).and_then(Word::plain);
    if matches!(plain(0), Some("read" | "export" | "unset")) {
        let literals = simple.words[1..].iter().filter_map(|word| {
            word.assignment().map(|assignment| assignment.name).or_else(|| word.plain().map(str::to_owned))
        });
        names.extend(literals.filter(|name| !name.starts_with('-')));
    }
    if let [Some("printf"), Some("-v"), Some(name)] = [0, 1, 2].map(plain) {
        names.insert(name.to_owned());
    }

    for part in simple.words.iter().flat_map(|word| &word.parts) {
        if let Part::Arithmetic(expression, _) = part {
            assigned_in_arithmetic(expression, names);
        }
    }
}
