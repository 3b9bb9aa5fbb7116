//! What the options and operands of a page say about each other: negations, and the words of another program.

use std::collections::HashMap;

use crate::command::{Flag, Operand, Several, Value};
use crate::{shape, values};

/// Words by which a description speaks of the opposite of its option.
const OPPOSITES: [&str; 7] = ["disable", "overrid", "turn off", "turned off", "undo", "negate", "opposite"];

/// Finds `--no-x` in the description of `--x`, and `--x` in that of `--no-x`, where that turns the switch off.
pub(super) fn opposite_in(spelling: &str, text: &str) -> Option<String> {
    let name = spelling.strip_prefix("--")?;
    let opposite = match name.strip_prefix("no-") {
        Some(bare) => format!("--{bare}"),
        None => format!("--no-{name}"),
    };
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let says = |sentence: &str| {
        let lower = sentence.to_ascii_lowercase();
        OPPOSITES.iter().any(|word| lower.contains(word))
            && sentence.split(|c: char| !is_part(c)).any(|word| word == opposite)
    };

    text.split(". ").any(says).then_some(opposite)
}

/// The guess of a program to start that a call may leave out.
pub(crate) const OPTIONAL_PROGRAM: &str = "the help makes it optional, but its words need it";

/// Starts of descriptions of what an option is given: "Path to a file".
const GIVEN: [&str; 22] = [
    "path to ",
    "paths to ",
    "list of ",
    "number of ",
    "name of ",
    "port to ",
    "address to ",
    "url of ",
    "specify ",
    "ignore file",
    "file extension",
    "default file extension",
    "username ",
    "password ",
    "comma separated ",
    "comma-separated ",
    "maximum number of ",
    "maximum ",
    "minimum ",
    "the number of ",
    "size of ",
    "output file",
];

/// Starts of descriptions of what an option switches: "Print as a list".
const SWITCHING: [&str; 11] = [
    "output ",
    "print ",
    "show ",
    "display ",
    "enable ",
    "disable ",
    "suppress ",
    "skip ",
    "force ",
    "do not ",
    "don't ",
];

/// Whether a description says by its start that its option is a switch.
pub(super) fn is_switching(about: &str) -> bool {
    let about = about.to_ascii_lowercase();
    SWITCHING.iter().any(|start| about.starts_with(start))
}

/// Whether a description says by its start, or by how several are given, that its option has a value.
pub(super) fn is_given(about: &str) -> bool {
    let about = about.to_ascii_lowercase();
    GIVEN.iter().any(|start| about.starts_with(start))
        || about.contains("can be comma-separated")
        || about.contains("use the given ")
        || about.contains(" to connect to")
        || names_choices(&about)
}

/// Whether brackets hold nothing but a list of quoted words: `("fine", "coarse" or "husk")`.
fn names_choices(about: &str) -> bool {
    let is_quoted = |word: &str| word.len() > 2 && word.starts_with('"') && word.ends_with('"');
    let inner = about.split('(').skip(1).filter_map(|rest| rest.split_once(')'));
    inner.map(|(inner, _)| inner.split([',', ' ']).filter(|word| !word.is_empty() && *word != "or")).any(|words| {
        let words: Vec<&str> = words.collect();
        words.len() > 1 && words.into_iter().all(is_quoted)
    })
}

/// Gives values to options of a page that shows none, where their descriptions say that they have one.
///
/// The help of yargs and of optimist names no values.
pub(super) fn guess_values(options: &mut [Flag]) {
    let with_values = options.iter().filter(|flag| flag.value.is_some()).count();
    if options.len() < 5 || with_values * 6 > options.len() {
        return;
    }
    for flag in options.iter_mut().filter(|flag| flag.value.is_none() && flag.off.is_none()) {
        let about = flag.about.to_ascii_lowercase();
        let is_repeated = flag.counts && !flag.spellings.iter().any(|spelling| spelling.len() == 2);
        if flag.counts && !is_repeated {
            continue;
        }
        // `Port to use [8080]`, but not `Watch files [false]`.
        let default = about.rsplit_once('[').and_then(|(_, rest)| rest.split(']').next());
        let has_default =
            default.is_some_and(|text| !text.is_empty() && !matches!(text, "true" | "false" | "boolean" | "default"));
        let named = values::default(&about);
        let has_default =
            has_default || named.is_some_and(|text| !matches!(text.as_str(), "true" | "false" | "on" | "off"));
        if has_default || is_given(&about) || about.contains(" this string") {
            flag.is_on = false;
            flag.counts = false;
            let several = if is_repeated || shape::gathers(&flag.spellings) { Several::Each } else { Several::No };
            flag.value = Some(Value { several, ..Value::default() });
        }
    }
}

/// Joins `--x` and `--no-x` into one switch.
pub(super) fn join_negations(options: &mut Vec<Flag>) {
    let by_spelling: HashMap<String, usize> = options
        .iter()
        .enumerate()
        .flat_map(|(at, flag)| flag.spellings.iter().map(move |spelling| (spelling.clone(), at)))
        .collect();

    let mut joined = Vec::new();
    for at in 0..options.len() {
        let flag = &options[at];
        let Some(opposite) = flag.spellings.iter().find_map(|spelling| negated(spelling)) else { continue };
        let Some(other) = by_spelling.get(&opposite).copied().filter(|other| *other != at) else { continue };
        let is_switch = |flag: &Flag| flag.value.is_none() && !flag.counts && !flag.is_on;
        // "opposite of --no-x" says less than the other.
        let is_second = flag.about.to_ascii_lowercase().starts_with("opposite of");
        let (kept, gone) = if is_second { (other, at) } else { (at, other) };
        if is_switch(flag) && is_switch(&options[other]) {
            // What turns a switch off has one spelling in a config.
            if options[gone].spellings.len() > 1 {
                continue;
            }
            options[kept].off = if is_second { options[at].spellings.first().cloned() } else { Some(opposite) };
            joined.push(gone);
        } else {
            options[at].off = None;
        }
    }

    let mut numbers = 0..;
    options.retain(|_| !joined.contains(&numbers.next().unwrap_or(usize::MAX)));

    // A spelling that is an option of its own turns no other off.
    for flag in options.iter_mut().filter(|flag| flag.value.is_some() || flag.counts) {
        flag.off = None;
    }
}

/// `--no-x` for `--x`, and `--noX` has none.
fn negated(spelling: &str) -> Option<String> {
    let name = spelling.strip_prefix("--").filter(|name| !name.starts_with("no-"))?;
    Some(format!("--no-{name}"))
}

/// Whether options stand at several places among the operands of a usage line, so that their order counts:
/// `[options] FILE [[options] FILE]... [options] FILE`, `[OPTION | FILE]...`.
pub(super) fn order_counts(usages: &[String]) -> bool {
    let counts = |usage: &String| {
        let words: Vec<&str> = usage
            .split(|c: char| c.is_whitespace() || "[](){}|".contains(c))
            .map(|word| word.trim_matches(['.', '<', '>', '-']))
            .filter(|word| !word.is_empty())
            .skip(1)
            .collect();

        let is_options = |word: &&str| {
            let word = word.to_ascii_lowercase();
            word.ends_with("options") || word.ends_with("opts") || word.ends_with("opt")
        };
        let places: Vec<usize> =
            words.iter().enumerate().filter(|(_, word)| is_options(word)).map(|(at, _)| at).collect();

        let has_command = words.iter().any(|word| {
            let word = word.to_ascii_lowercase();
            ["command", "cmd", "program", "args", "arg", "arguments"].contains(&word.as_str())
        });
        let is_parted = places.windows(2).any(|pair| pair[1] > pair[0] + 1);
        !has_command && (is_parted || mixes_options(usage))
    };

    usages.iter().any(counts)
}

/// Whether options and operands are one repeated choice: `[OPTION | FILE]...`.
fn mixes_options(usage: &str) -> bool {
    let mixes = |group: &str| {
        let (inner, after) = group.split_once(']').unwrap_or((group, ""));
        let names: Vec<String> = inner.split('|').map(|name| name.trim().to_ascii_lowercase()).collect();
        let is_name = |name: &String| name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_options = |name: &&String| matches!(name.as_str(), "option" | "options");
        let options = names.iter().filter(is_options).count();
        after.starts_with("...") && names.iter().all(is_name) && options > 0 && options < names.len()
    };
    usage.split('[').skip(1).any(mixes)
}

/// Keeps all words behind the first operand in their order, since what an option changes depends on its place.
pub(super) fn keep_order(operands: &mut Vec<Operand>) {
    let Some(first) = operands.first_mut() else { return };
    first.required = true;
    first.value.several = Several::No;
    first.value.kind = None;
    first.guesses.clear();
    operands.truncate(1);
    operands.push(Operand {
        name: "words".to_owned(),
        about: "Further options and operands in the order in which they take effect".to_owned(),
        rest: true,
        ..Operand::default()
    });
}

/// Whether names differ in a number alone: `path1`, `path2`, `pathN`.
fn are_numbered(first: &str, next: &str) -> bool {
    let stem = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, 'N' | 'n')).to_owned();
    first.ends_with('1') && next.ends_with(|c: char| c.is_ascii_digit() || matches!(c, 'N' | 'n')) && {
        let (first, next) = (stem(first), stem(next));
        !first.is_empty() && first.eq_ignore_ascii_case(&next)
    }
}

/// Joins `FILE [FILE...]` and `FILE1 FILE2 ... FILEN` into one operand with several values.
pub(super) fn join_repeated(operands: &mut Vec<Operand>) {
    let is_list = operands.iter().any(|operand| operand.value.several != Several::No);
    operands.dedup_by(|next, first| {
        let is_same =
            (next.name == first.name || is_list && are_numbered(&first.name, &next.name)) && !next.name.is_empty();
        if is_same {
            first.value.several = Several::Each;
        }
        is_same
    });
}

/// Finds the operands that are the command line of another program: `COMMAND [ARG...]`.
pub(super) fn settle_rest(operands: &mut Vec<Operand>, words: &[String], is_nested: bool) {
    // `prog-and-args`: the two in one word.
    if let [.., last] = operands.as_mut_slice()
        && is_program_with_args(&last.name)
    {
        let required = last.required || operands.len() == 1;
        operands.pop();
        let program = Operand { name: "program".to_owned(), required, ..Operand::default() };
        operands.push(program);
        operands.push(Operand { name: "args".to_owned(), rest: true, ..Operand::default() });
        operands.last_mut().into_iter().for_each(|args| args.required = false);
        return;
    }
    // `COMMAND ...`, and `[--] <args>...` of a command that runs one.
    let runs = words.last().is_some_and(|word| matches!(word.as_str(), "run" | "exec" | "x"));
    if let [before @ .., last] = operands.as_mut_slice()
        && last.value.several == Several::Each
        && (is_program(&last.name)
            || runs && last.behind_dashes && is_arguments(&last.name)
            || runs && before.is_empty() && (last.required || !is_arguments(&last.name)))
    {
        last.value = Value::default();
        last.behind_dashes = false;
        last.required = true;
        if is_arguments(&last.name) {
            "program".clone_into(&mut last.name);
        }
        let about = "Arguments of the command".to_owned();
        operands.push(Operand { name: "args".to_owned(), about, rest: true, ..Operand::default() });
        return;
    }
    // `run [TARGET] [ARGS]...`
    if let [target, last] = operands.as_mut_slice()
        && runs
        && is_arguments(&last.name)
        && last.value.several == Several::Each
        && target.value.several == Several::No
    {
        target.required = true;
        last.value = Value::default();
        last.rest = true;
        last.required = false;
        return;
    }
    // `run [script] ...` with a list of `script` and `args`.
    if let [program, last] = operands.as_mut_slice()
        && runs
        && is_program(&program.name)
        && is_arguments(&last.name)
    {
        program.required = true;
        program.value = Value::default();
        last.value = Value::default();
        (last.rest, last.required) = (true, false);
        return;
    }
    let starts = |operand: &Operand| is_program(&operand.name) && operand.value.several == Several::No;
    // `[DEVICE [COMMAND [PARAMETERS]]]`: without the first there is no program.
    if is_nested && words.is_empty() {
        return;
    }
    if let Some(at) = operands.iter().position(starts)
        && operands[at + 1..].iter().all(|operand| is_arguments(&operand.name))
    {
        return settle_program(operands, at, words);
    }
    let Some((last, before)) = operands.split_last_mut() else { return };
    let about = last.about.to_ascii_lowercase();
    let passes = ["passed to", "pass to", "arguments to ", "arguments for ", "forwarded"];
    let is_said = passes.iter().any(|phrase| about.contains(phrase));

    if is_said && before.is_empty() && is_arguments(&last.name) && last.value.several != Several::No {
        // All programs take `--` before words that may have dashes.
        last.behind_dashes = true;
    }

    let follows = last.behind_dashes || before.last().is_some_and(|operand| operand.required);
    let is_behind_program = before.last().is_some_and(|operand| is_program(&operand.name));
    if follows
        && is_arguments(&last.name)
        && last.value.several != Several::No
        && (is_said || is_behind_program || last.behind_dashes)
    {
        last.rest = true;
    }
}

/// Settles the operands from a program on.
fn settle_program(operands: &mut Vec<Operand>, at: usize, words: &[String]) {
    let has_arguments = at + 1 < operands.len();
    let before = at.checked_sub(1).map(|before| &operands[before]);
    if operands[at].behind_dashes || before.is_some_and(|operand| operand.required) {
        operands.truncate(at + 1);
        operands[at].rest = true;
        return;
    }

    let about = operands[at].about.to_ascii_lowercase();
    let runs = words.last().is_some_and(|word| matches!(word.as_str(), "run" | "exec" | "x"))
        || ["to run", "to execute", "to invoke"].iter().any(|phrase| about.contains(phrase));
    if !has_arguments && !runs {
        return;
    }
    let program = &mut operands[at];
    if !program.required {
        program.required = true;
        program.guesses.push(OPTIONAL_PROGRAM);
    }

    operands.truncate(at + 2);
    match operands.get_mut(at + 1) {
        Some(arguments) => arguments.rest = true,
        None => operands.push(Operand {
            name: "args".to_owned(),
            about: "Arguments of the command".to_owned(),
            rest: true,
            guesses: vec!["the help does not name them"],
            ..Operand::default()
        }),
    }

    operands[at + 1].required = false;
}

/// Whether an operand is a program with its arguments, by its name: `prog-and-args`.
fn is_program_with_args(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let has = |list: &[&str]| name.split(['-', '_', ' ']).any(|part| list.contains(&part));
    has(&["and"]) && has(&["prog", "program", "command", "cmd"]) && has(&["args", "arguments", "options"])
}

/// Whether an operand is a program to start, by its name.
pub(super) fn is_program(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(
        name.as_str(),
        "command" | "cmd" | "program" | "prog" | "executable" | "utility" | "function" | "applet" | "script"
    )
}

/// Whether an operand holds arguments, by its name.
fn is_arguments(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let last = name.rsplit(['-', '_', ' ']).next().unwrap_or_default();
    matches!(last, "arg" | "args" | "argument" | "arguments" | "params" | "parameters")
}
