//! The args of a drafted tool, and the words that they stand among.

use std::collections::HashSet;

use climax_catalog::{Risk, quote};

use super::selection::Selection;
use crate::arg::{self, ArgPlace, DraftArg, Names};
use crate::command::{Command, Flag, Operand, Several, Value};
use crate::prose;
use crate::rank::Ranking;
use crate::risk;

/// Options that help people at a terminal, not agents.
const FOR_PEOPLE: [&str; 8] =
    ["color", "colour", "no-color", "no-colour", "pager", "no-pager", "progress", "no-progress"];
/// Further ones, if they take no value.
const SWITCHES_FOR_PEOPLE: [&str; 1] = ["version"];
/// Switches that a draft leaves out, since they ask someone or print the page that was read.
const ASKING: [&str; 6] = ["help", "interactive", "tty", "web", "editor", "usage"];

/// The guess of operands that several usage lines have.
pub(crate) const SEVERAL_LINES: &str = "there are several usage lines";
/// The guess of operands that the help leaves out.
pub(super) const UNNAMED: &str = "the help does not name them";

/// The args of a command: its operands, then its options.
///
/// An option that deletes does so in the workspace that a cage leaves open, where `floor` is above the `risk` of the tool.
pub(super) fn args(
    command: &Command,
    (risk, floor): (Risk, Risk),
    selection: &Selection,
    ranking: &Ranking,
) -> Vec<DraftArg> {
    let parts: Vec<Flag> = wanted(command, selection).into_iter().flat_map(arg::parts).collect();
    // What a program as a whole requires, options such as `--list` do without.
    let relaxed_flag = |flag: Flag| Flag { required: flag.required && !command.words.is_empty(), ..flag };
    let parts: Vec<Flag> = parts.into_iter().map(relaxed_flag).collect();
    let wanted: Vec<&Flag> = parts.iter().collect();
    let mut names = Names::new(wanted.iter().copied());
    let mut args = match formless(command) {
        Some(operand) => operands(&[operand], &mut names),
        None => operands(&relaxed(command), &mut names),
    };
    let risks: Vec<(&Flag, Option<Risk>)> = wanted.iter().map(|flag| (*flag, risk::of_option(flag))).collect();
    let shown = ranking.shown(&risks, selection.main);

    let own_floor = |flag: &Flag| if risk == Risk::Write && risk::deletes(flag) { risk } else { floor };
    for (flag, is_main) in wanted.into_iter().zip(shown) {
        let mut arg = arg::of_flag(flag, own_floor(flag), &mut names);
        if (!is_main || is_for_people(flag) || is_second(flag)) && !selection.keeps(flag) {
            arg.hide();
        }
        args.push(arg);
    }
    let leading = command.leading.iter().filter(|(_, flag)| !asks(flag));
    for (depth, flag) in leading.flat_map(|(depth, flag)| arg::parts(flag).into_iter().map(move |flag| (*depth, flag)))
    {
        let mut arg = arg::of_flag(&flag, own_floor(&flag), &mut names);
        arg.place = ArgPlace::Leading(depth);
        arg.hide();
        args.push(arg);
    }

    args
}

/// The operands of a program, without the demand for them: options such as `--list` do without.
fn relaxed(command: &Command) -> Vec<Operand> {
    let mut operands = command.operands.clone();
    let is_fixed = !command.words.is_empty() || command.options.is_empty();
    if is_fixed || operands.iter().any(|operand| operand.rest || operand.behind_dashes) {
        return operands;
    }
    for operand in operands.iter_mut().filter(|operand| operand.required) {
        operand.required = false;
        let separator = if operand.about.is_empty() { "" } else { "; " };
        operand.about = format!("{}{separator}most calls need it", operand.about.trim_end_matches('.'));
    }
    operands
}

/// The one operand of a command whose operands have several forms: a list of words, which the program tells apart.
fn formless(command: &Command) -> Option<Operand> {
    // `[METHOD] URL`: a single word is the second one.
    let is_open = |pair: &[Operand]| !pair[0].required && pair[1].required && !pair[0].behind_dashes && !pair[1].rest;
    let is_shifted = command.operands.windows(2).any(is_open) && !command.operands.iter().any(|operand| operand.rest);
    let form = command.forms.clone().filter(|_| !is_shifted);
    if form.is_none() && !is_shifted {
        return None;
    }

    let shown = command.operands.iter().map(|operand| {
        let dots = if operand.value.several == Several::No { "" } else { "..." };
        let name = operand.name.as_str();
        if operand.required { format!("{name}{dots}") } else { format!("[{name}]{dots}") }
    });
    let form = form.unwrap_or_else(|| shown.collect::<Vec<_>>().join(" "));
    let guess = if form.is_empty() { UNNAMED } else { "they have several forms" };
    Some(Operand {
        name: "operands".to_owned(),
        about: if form.is_empty() { "Operands, such as files".to_owned() } else { prose::shorten(&[form]) },
        required: is_shifted && !command.words.is_empty(),
        value: Value { several: Several::Each, ..Value::default() },
        guesses: vec![guess],
        ..Operand::default()
    })
}

/// The args of operands. An operand that may be absent before one that may not is made required.
fn operands(operands: &[Operand], names: &mut Names) -> Vec<DraftArg> {
    let mut may_end = false;
    let mut args = Vec::new();
    for (at, operand) in operands.iter().enumerate() {
        // The words of a rest need a required operand before them.
        let is_needed = operands[at + 1..].iter().any(|next| next.rest && !next.behind_dashes);
        let is_followed = is_needed || operands[at + 1..].iter().any(|next| next.required);
        let is_open = !operand.required && !is_needed && operand.guesses.contains(&SEVERAL_LINES);
        let is_forced = !operand.required && is_followed && !is_open && !may_end;
        // Behind an operand of one form of several none can be required.
        let required = (operand.required || is_forced) && !may_end;
        may_end |= !required;
        let mut arg = arg::of_operand(operand, required, names);
        if is_forced {
            arg.guesses.push("the help makes it optional, and a required one follows");
        }
        args.push(arg);
    }

    args
}

/// The options of a draft, each once.
fn wanted<'a>(command: &'a Command, selection: &Selection) -> Vec<&'a Flag> {
    let mut seen = HashSet::new();
    let is_wanted = |flag: &&Flag| selection.keeps(flag) || !asks(flag);
    command.options.iter().filter(is_wanted).filter(|flag| seen.insert(flag.spellings[0].clone())).collect()
}

/// The groups of a command, by their keys and the names of their args.
pub(super) fn groups(command: &Command, args: &mut [DraftArg]) -> Vec<(&'static str, Vec<Vec<String>>)> {
    let mut found = [("exactly_one", Vec::new()), ("at_most_one", Vec::new())];
    let mut grouped: Vec<usize> = Vec::new();
    for group in &command.groups {
        let position = |member: &String| args.iter().position(|arg| arg.members.contains(member));
        let Some(mut members) = group.members.iter().map(position).collect::<Option<Vec<usize>>>() else { continue };
        members.dedup();
        let is_free = |at: &usize| !grouped.contains(at) && !args[*at].is_rest;
        let is_optional = |at: &usize| group.required && args[*at].place != ArgPlace::Option || !args[*at].required;
        if members.len() < 2 || !members.iter().all(|at| is_free(at) && is_optional(at)) {
            continue;
        }
        for at in &members {
            args[*at].relax();
        }
        found[usize::from(!group.required)].1.push(members.iter().map(|at| args[*at].name.clone()).collect());
        grouped.extend(members);
    }

    found.into_iter().filter(|(_, groups)| !groups.is_empty()).collect()
}

/// The words of the subcommand, with the places of options before the operands, as far as the order counts.
pub(super) fn command_line(command: &Command, args: &[DraftArg]) -> String {
    let place = |arg: &&DraftArg| format!("{{{}}}", arg.name);
    let leading = |depth| args.iter().filter(move |arg| arg.place == ArgPlace::Leading(depth));
    let mut words: Vec<String> = Vec::new();
    for (depth, word) in command.words.iter().enumerate() {
        words.extend(leading(depth).map(|arg| place(&arg)));
        words.push(quote(word));
    }
    let is_operand = |arg: &&DraftArg| matches!(arg.place, ArgPlace::Operand | ArgPlace::BehindDashes);
    let operands: Vec<&DraftArg> = args.iter().filter(is_operand).collect();
    let has_options = args.iter().any(|arg| arg.place == ArgPlace::Option);

    if let Some(dashes) = operands.iter().position(|arg| arg.place == ArgPlace::BehindDashes) {
        let (before, behind) = operands.split_at(dashes);
        words.extend(has_options.then(|| "{options}".to_owned()));
        words.extend(before.iter().map(place));
        words.push("--".to_owned());
        words.extend(behind.iter().map(place));
    } else if has_options && !operands.is_empty() && !command.options_last && !operands.iter().any(|arg| arg.is_rest) {
        words.push("{options}".to_owned());
    }

    words.join(" ")
}

/// Returns whether an option is for people, so that the schema does not publish it.
fn is_for_people(flag: &Flag) -> bool {
    let is_known = flag.spellings.iter().any(|spelling| {
        let name = spelling.trim_start_matches("--");
        FOR_PEOPLE.contains(&name) || flag.value.is_none() && SWITCHES_FOR_PEOPLE.contains(&name)
    });
    is_known || flag.spellings[0] == "-V" && flag.value.is_none()
}

/// Returns whether a switch asks someone at a terminal, or prints help.
fn asks(flag: &Flag) -> bool {
    let is_named = flag.spellings.iter().any(|spelling| ASKING.contains(&spelling.trim_start_matches("--")));
    let about = flag.about.to_ascii_lowercase();
    let about = about.replace("non-interactively", "").replace("not interactively", "");
    let says = ["interactively", "in the web browser", "into a pager"].iter().any(|sign| about.contains(sign));
    flag.value.is_none() && (is_named || says || matches!(flag.spellings[0].as_str(), "-h" | "-?"))
}

/// Returns whether an option is an alias or the opposite of another one, or deprecated.
fn is_second(flag: &Flag) -> bool {
    let about = flag.about.to_ascii_lowercase();
    let starts = ["opposite of -", "alias of -", "alias for -", "synonym for -", "same as -", "deprecated"];
    // "same as --x but …" is an option of its own.
    starts.iter().any(|start| about.starts_with(start)) && !about.contains(" but ") || about.contains("(deprecated")
}
