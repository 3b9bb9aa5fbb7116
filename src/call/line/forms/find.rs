//! `find` with the commands that it runs.

use climax_shell::{Field, Origin};

use super::started::check_started;
use crate::call::refusal::Refusal;

/// `find` with what it does for each path that it finds.
#[derive(Clone, Debug)]
pub(crate) struct Find<'f> {
    /// `find` with the words before the first `-exec`.
    pub(crate) words: &'f [Field],
    /// What is done with each path; at least one.
    pub(crate) actions: Actions<'f>,
}

/// What `find` does with the paths that it finds.
#[derive(Clone, Debug)]
pub(crate) enum Actions<'f> {
    /// `-exec COMMAND {} +`: one command for many paths.
    ForMany(&'f [Field]),
    /// `-exec COMMAND \;` and `-print`: for each path one after the other, until one of them fails.
    ForEach(Vec<Action<'f>>),
}

/// An action of `find` for one path.
#[derive(Clone, Debug)]
pub(crate) enum Action<'f> {
    /// `-exec COMMAND \;`, and whether a `!` stands before it.
    Run(&'f [Field], bool),
    /// `-print`, or `-print0`, with what stands behind the path.
    Print(char),
}

impl<'f> Actions<'f> {
    /// The commands, with `{}` where a path stands.
    pub(crate) fn commands(&self) -> Vec<&'f [Field]> {
        match self {
            Self::ForMany(command) => vec![command],
            Self::ForEach(actions) => actions.iter().filter_map(Action::command).collect(),
        }
    }
}

impl<'f> Action<'f> {
    /// The command of `-exec`.
    fn command(&self) -> Option<&'f [Field]> {
        match self {
            Self::Run(command, _) => Some(command),
            Self::Print(_) => None,
        }
    }
}

/// Reads `find` with `-exec` at its end; `None` if it starts nothing.
pub(super) fn find(fields: &[Field]) -> Result<Option<Find<'_>>, Refusal> {
    let is_exec = |field: &Field| ["-exec", "-execdir", "-ok", "-okdir"].iter().any(|text| is(field, text));
    let Some(start) = fields.iter().position(is_exec) else { return Ok(None) };
    let (mut words, mut rest) = fields.split_at(start);
    let mut is_negated = false;
    if let Some((last, before)) = words.split_last()
        && (is(last, "!") || is(last, "-not"))
    {
        (words, is_negated) = (before, true);
    }
    check_tests(words)?;

    let mut actions = Vec::new();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match first.text.as_str() {
            "-exec" => {
                let (command, end, behind) = command_of(rest)?;
                rest = behind;
                if end == "+" {
                    return match (actions.is_empty() && !is_negated, rest) {
                        (true, []) => Ok(Some(Find { words, actions: Actions::ForMany(command) })),
                        _ => refused("`-exec … +` is read as the only action", "write `-exec COMMAND {} \\;`"),
                    };
                }
                actions.push(Action::Run(command, std::mem::take(&mut is_negated)));
            }
            "!" | "-not" if !is_negated => is_negated = true,
            "-a" | "-and" if !is_negated => {}
            "-print" if !is_negated => actions.push(Action::Print('\n')),
            "-print0" if !is_negated => actions.push(Action::Print('\0')),
            "-execdir" | "-ok" | "-okdir" => {
                let problem = format!("`{}` of find is not read", first.text);
                return refused(&problem, "write `-exec COMMAND {} +`");
            }
            other => {
                let problem =
                    format!("`{other}` stands behind `-exec`, where `-exec`, `!`, `-print` and `-print0` are read");
                return refused(&problem, "put tests before `-exec`, or use `find … -print0 | xargs -0 COMMAND`");
            }
        }
    }
    if is_negated {
        return refused("`!` needs an expression behind it", "leave it out");
    }
    Ok(Some(Find { words, actions: Actions::ForEach(actions) }))
}

/// Checks the words before the first action. What they match is found by `-print0` in the place of the actions.
fn check_tests(words: &[Field]) -> Result<(), Refusal> {
    const PRINTING: [&str; 8] = ["-print", "-print0", "-printf", "-ls", "-fprint", "-fprint0", "-fprintf", "-fls"];

    if let Some(action) = words.iter().find(|word| PRINTING.iter().any(|action| is(word, action))) {
        let problem = format!("`{}` stands before `-exec`", action.text);
        return refused(&problem, "put it behind, or use `find … -print0 | xargs -0 COMMAND`");
    }
    let count = |parenthesis: &str| words.iter().filter(|word| is(word, parenthesis)).count();
    if count("(") > count(")") {
        return refused("`-exec` stands in parentheses", "put it behind them");
    }
    Ok(())
}

/// Splits off the command behind `-exec` and what ends it.
fn command_of(words: &[Field]) -> Result<(&[Field], &str, &[Field]), Refusal> {
    let is_end =
        |(at, field): (usize, &Field)| is(field, ";") || is(field, "+") && at > 0 && words[at - 1].text == "{}";
    let Some(end) = words.iter().enumerate().position(is_end) else {
        return refused("`-exec` does not end", "write `\\;` at its end, or `{} +`");
    };
    let (command, behind) = (&words[..end], &words[end + 1..]);
    if command.first().is_none_or(|first| first.text.contains("{}")) {
        return refused("`-exec` needs a command", "write `-exec COMMAND {} +`");
    }
    let places = command.iter().filter(|field| field.text.contains("{}")).count();
    if is(&words[end], "+") && places != 1 {
        return refused("`+` needs one `{}`, before it", "write `-exec COMMAND {} +`");
    }
    check_started(command)?;

    Ok((command, &words[end].text, behind))
}

/// Whether a word is this text, and no value.
fn is(field: &Field, text: &str) -> bool {
    field.origin == Origin::Literal && field.text == text
}

/// Refuses an expression.
fn refused<T>(problem: &str, remedy: &str) -> Result<T, Refusal> {
    Err(Refusal::new(problem, remedy))
}
