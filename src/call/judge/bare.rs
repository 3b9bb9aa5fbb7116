//! Whether a line may run as it was typed: without the provenance of values, hardening and cages of climax.

use climax_catalog::policy::Lines;
use climax_catalog::{Place, Risk};
use climax_shell::{Body, Command, Descriptor, List, Part, Script, Target, Word, parse};

use crate::call::files;
use crate::call::host;
use crate::call::line::{Builtin, Form};
use crate::call::plan::{Plan, PlannedCall};
use crate::exec;

/// How long the shell lives that would run a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShellLife {
    /// Later lines run in it too, as far as anybody knows.
    #[default]
    Session,
    /// Each line has one of its own, and at most its directory is that of the next one.
    Line,
}

/// Builtins that read nothing of a file and change nothing, whatever shell runs them.
const HARMLESS: [&str; 13] =
    ["true", "false", ":", "echo", "printf", "test", "[", "pwd", "cd", "exit", "which", "type", "command"];

/// Returns whether all of a line is read alike by every shell, and each of its programs is harmless by itself. `script` was
/// read from `line`.
pub(super) fn runs_as_typed((line, script): (&str, &Script), plan: &Plan<'_>, lines: &Lines, allowed: Risk) -> bool {
    script.beyond_posix(line).is_none()
        && is_plain_list(&script.list)
        && plan.calls().all(|call| is_harmless(call, lines, allowed))
}

/// Returns whether a program is harmless without what climax adds.
fn is_harmless(call: &PlannedCall<'_>, lines: &Lines, allowed: Risk) -> bool {
    if call.tool.is_native() {
        return false;
    }
    let Some(effects) = call.tool.effects() else { return false };
    let is_known = |host: &str| host::is_loopback(host) || lines.sends_to(host);
    let named = call.bound.iter().filter(|(arg, _)| effects.hosts.iter().any(|name| name == arg.name()));
    let has_known_hosts =
        named.flat_map(|(_, value)| value.texts()).all(|text| host::of(text, true).is_some_and(is_known));
    // A variable that hardens is missing in the typed line.
    let is_hardened = call.bound.iter().any(|(arg, _)| arg.place() == Place::Variable);
    effects.bare.is_some_and(|bare| bare.max(call.risk()) <= allowed)
        && call.cage().is_none()
        && has_known_hosts
        && !is_hardened
        && call.invocation.argv.first().is_some_and(|program| is_of_system(program))
}

fn is_plain_list(list: &List) -> bool {
    list.items.iter().all(|chain| {
        chain.background.is_none()
            && std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, pipeline)| pipeline)).all(|pipeline| {
                // Some shells run the last command of a pipeline themselves, and are in another directory then.
                let moves = pipeline.commands.len() > 1 && pipeline.commands.iter().any(|one| starts(one, "cd"));
                pipeline.times.is_none() && !moves && pipeline.commands.iter().all(is_plain)
            })
    })
}

/// Returns whether a word is the first one of a command.
fn starts(command: &Command, word: &str) -> bool {
    matches!(&command.body, Body::Simple(simple) if simple.words.first().and_then(Word::plain) == Some(word))
}

/// Returns whether a command is a program or a harmless builtin with literal words.
fn is_plain(command: &Command) -> bool {
    let Body::Simple(simple) = &command.body else { return false };
    let has_plain_redirections = command.redirections.iter().all(|redirection| match &redirection.target {
        Target::Same(_) | Target::Closed => redirection.descriptor != Descriptor::Input,
        Target::Write(word) | Target::Append(word) | Target::Read(word) => {
            word.literal().is_some_and(|text| text == files::NULL)
        }
        Target::Text(_) => false,
    });
    let words: Option<Vec<String>> = simple.words.iter().map(literal).collect();
    let Some(words) = words else { return false };
    // Assignments alone change the shell.
    let Some(first) = words.first() else { return false };
    let fields: Vec<climax_shell::Field> = words
        .iter()
        .enumerate()
        .map(|(from, text)| climax_shell::Field {
            text: text.clone(),
            origin: climax_shell::Origin::Literal,
            is_open: false,
            from,
        })
        .collect();
    let is_known_form = match Form::of(&fields) {
        Ok(Form::Program(_)) => true,
        Ok(Form::Builtin(builtin, own)) => {
            is_harmless_builtin(builtin, first) && !names_variable(builtin, own) && takes_as_all_do(builtin, own)
        }
        Ok(Form::Text(_) | Form::Xargs(_) | Form::Find(_)) | Err(_) => false,
    };
    // `nohup` writes a file where it has a terminal.
    simple.assignments.is_empty() && has_plain_redirections && is_known_form && first != "nohup"
}

fn is_harmless_builtin(builtin: Builtin, word: &str) -> bool {
    HARMLESS.contains(&word) && !matches!(builtin, Builtin::Source | Builtin::Read | Builtin::Set)
}

/// Whether every shell takes the words of a builtin as POSIX says: zsh has options of its own for `cd`, and a stack of
/// directories behind `cd +1`, and `exit` evaluates what is no number.
fn takes_as_all_do(builtin: Builtin, words: &[climax_shell::Field]) -> bool {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let behind_options = texts.iter().skip_while(|text| matches!(**text, "-L" | "-P")).copied().collect::<Vec<_>>();
    match builtin {
        Builtin::ChangeDirectory => match behind_options.as_slice() {
            [] | ["-" | "--"] => true,
            [to] | ["--", to] => !to.starts_with(['-', '+']),
            _ => false,
        },
        Builtin::PrintDirectory => behind_options.is_empty(),
        Builtin::Exit => texts.len() <= 1 && texts.iter().all(|text| is_number(text)),
        _ => true,
    }
}

/// Whether a text is a number for every shell. Of other texts zsh makes an expression, whose indices run commands.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit()) && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Whether a word of a builtin may be the name of a variable, whose index a shell would evaluate: behind `printf -v` and
/// `test -v`, for `%n` and in some shells `%d` of `printf`, beside `-eq` and behind `test -t`.
fn names_variable(builtin: Builtin, words: &[climax_shell::Field]) -> bool {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let evaluates = |texts: &[&str]| {
        matches!(texts, [left, operator, right]
            if climax_shell::compares_numbers(operator) && !(is_number(left) && is_number(right)))
    };
    let opens = |texts: &[&str]| matches!(texts, ["-t", descriptor] if !is_number(descriptor));
    match builtin {
        Builtin::Printf => {
            let behind = if texts.first() == Some(&"--") { &texts[1..] } else { &texts };
            let Some((format, operands)) = behind.split_first() else { return false };
            format.starts_with('-') || !conversions(format).is_some_and(|each| are_taken_alike(&each, operands))
        }
        Builtin::Test => {
            texts.iter().any(|text| matches!(*text, "-v" | "-R"))
                || texts.windows(3).any(evaluates)
                || texts.windows(2).any(opens)
        }
        _ => false,
    }
}

/// What a conversion of `printf` takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Conversion {
    Text,
    Number,
}

/// What the conversions of a format of `printf` take, in order, a `*` as a conversion of its own. `None` if one does other
/// than print, as `%n` does, which sets a variable, or says itself which operand it takes, as `%1$d` does. Source:
/// printf(3), "Format of the format string".
fn conversions(format: &str) -> Option<Vec<Conversion>> {
    let mut found = Vec::new();
    let mut behind_signs = format.split('%').skip(1);
    while let Some(conversion) = behind_signs.next() {
        let letter = conversion.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #'*.hlLjzt".contains(c));
        let signs = &conversion[..conversion.len() - letter.len()];
        found.extend(signs.matches('*').map(|_| Conversion::Number));
        match letter.chars().next() {
            Some(letter) if "scbq".contains(letter) => found.push(Conversion::Text),
            Some(letter) if "diouxXeEfFgGaA".contains(letter) => found.push(Conversion::Number),
            // The second of two signs, which print one.
            None if behind_signs.next().is_some() => {}
            _ => return None,
        }
    }
    Some(found)
}

/// Whether each operand that is taken as a number is one. A format is used again until no operand is left.
fn are_taken_alike(conversions: &[Conversion], operands: &[&str]) -> bool {
    conversions.iter().cycle().zip(operands).all(|(taken, text)| *taken == Conversion::Text || is_number(text))
}

/// Returns the text of a word that no shell expands; `None` for every other word.
fn literal(word: &Word) -> Option<String> {
    let text = word.literal()?;
    let is_bare = |part: &Part| match part {
        // What one shell expands and another does not.
        Part::Text(text) => {
            !text.contains(['*', '?', '[', '{', '~', '!', '=', '^', '#', '%', '(', ')']) || is_option(text)
        }
        Part::Quoted(_) => true,
        Part::Double(parts) => parts.iter().all(|part| matches!(part, Part::Text(_) | Part::Quoted(_))),
        Part::Substitution(..) | Part::Process(..) | Part::Parameter(..) | Part::Arithmetic(..) => false,
    };
    word.parts.iter().all(is_bare).then_some(text)
}

/// Whether a text is an option with a value, as `--format=%h` has one.
fn is_option(text: &str) -> bool {
    text.starts_with('-') && !text.contains(['*', '?', '[', '{', '~', '!', '^', '(', ')'])
}

/// Builtins that change the directory of their shell.
const MOVING: [&str; 3] = ["cd", "pushd", "popd"];

/// Builtins that change their shell otherwise.
const CHANGING: [&str; 11] =
    ["export", "unset", "source", ".", "deactivate", "set", "shopt", "shift", "exit", "umask", "alias"];

/// Returns whether a text holds commands that change what later lines find in the shell which runs it.
pub(super) fn changes_shell(list: &List, life: ShellLife) -> bool {
    list.items.iter().any(|chain| {
        let pipelines = std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, pipeline)| pipeline));
        pipelines.into_iter().any(|pipeline| match pipeline.commands.as_slice() {
            [command] => command_changes_shell(command, life),
            // The commands of a pipeline run in shells of their own.
            _ => false,
        })
    })
}

fn command_changes_shell(command: &Command, life: ShellLife) -> bool {
    match &command.body {
        Body::Simple(simple) => match simple.words.first() {
            None => life == ShellLife::Session && !simple.assignments.is_empty(),
            Some(first) => first.literal().is_none_or(|first| {
                MOVING.contains(&first.as_str()) || life == ShellLife::Session && CHANGING.contains(&first.as_str())
            }),
        },
        Body::Subshell(_) | Body::Condition(_) => false,
        Body::Group(list) => changes_shell(list, life),
        Body::If(own) => {
            own.branches
                .iter()
                .any(|branch| changes_shell(&branch.condition, life) || changes_shell(&branch.body, life))
                || own.otherwise.as_ref().is_some_and(|list| changes_shell(list, life))
        }
        // A variable of a loop stays behind, and nobody reads it.
        Body::For(own) => changes_shell(&own.body, life),
        Body::Count(own) => changes_shell(&own.body, life),
        Body::While(own) => changes_shell(&own.condition, life) || changes_shell(&own.body, life),
        Body::Case(own) => own.arms.iter().any(|arm| changes_shell(&arm.body, life)),
        Body::Arithmetic(_) => life == ShellLife::Session,
    }
}

/// Splits `cd DIR && REST` with a literal directory into both.
pub(super) fn leading_change<'l>(line: &'l str, script: &Script) -> Option<(&'l str, &'l str, List)> {
    let chain = script.list.items.first()?;
    let [command] = chain.first.commands.as_slice() else { return None };
    let Body::Simple(simple) = &command.body else { return None };
    let [cd, directory] = simple.words.as_slice() else { return None };
    let (joint, next) = chain.rest.first()?;
    let is_change = cd.plain() == Some("cd")
        && literal(directory).is_some_and(|text| !text.starts_with('-'))
        && *joint == climax_shell::Joint::And
        && command.redirections.is_empty()
        && simple.assignments.is_empty();
    if !is_change {
        return None;
    }
    let (head, rest) = (line.get(..command.range.end)?, line.get(next.range.start..)?);
    Some((head.trim(), rest, parse(rest).ok()?.list))
}

/// Returns whether a program lies where only the system installs programs.
fn is_of_system(program: &str) -> bool {
    let Some(path) = exec::path_of_program(program) else { return false };
    let real = path.canonicalize().unwrap_or(path);
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"].iter().any(|top| real.starts_with(top))
}
