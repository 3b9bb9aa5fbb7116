//! `test` and `[`.
//!
//! Source: POSIX.1-2024, "test"; bash(1), "CONDITIONAL EXPRESSIONS".

use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use climax_shell::Value;

use super::shell::Shell;
use super::streams::Source;
use crate::call::line::READABLE;
use crate::exec::{self, inspect};

/// Most parentheses of one condition, which are read within one another.
const MAX_PARENTHESES: usize = 32;

/// Whether the expression of some words holds in a shell.
///
/// # Errors
/// The words are no expression.
pub(super) fn holds(words: &[&str], shell: &Shell) -> Result<bool, String> {
    match words {
        [] => Ok(false),
        [word] => Ok(!word.is_empty()),
        ["!", word] => Ok(word.is_empty()),
        [operator, word] => unary(operator, word, shell),
        [one, operator, other] if is_binary(operator) => binary(one, operator, other, shell),
        [one, "-a", other] => Ok(!one.is_empty() && !other.is_empty()),
        [one, "-o", other] => Ok(!one.is_empty() || !other.is_empty()),
        ["!", rest @ ..] if words.len() < 5 => holds(rest, shell).map(|holds| !holds),
        ["(", inner @ .., ")"] if words.len() < 5 => holds(inner, shell),
        words => {
            if words.iter().filter(|word| **word == "(").count() > MAX_PARENTHESES {
                return Err("too many arguments".to_owned());
            }
            let mut rest = words;
            let holds = any(&mut rest, shell)?;
            if rest.is_empty() { Ok(holds) } else { Err("too many arguments".to_owned()) }
        }
    }
}

/// Reads conditions with `-o` between them.
fn any(words: &mut &[&str], shell: &Shell) -> Result<bool, String> {
    let mut holds = all(words, shell)?;
    while let ["-o", rest @ ..] = *words {
        *words = rest;
        holds |= all(words, shell)?;
    }
    Ok(holds)
}

/// Reads conditions with `-a` between them, which binds more strongly.
fn all(words: &mut &[&str], shell: &Shell) -> Result<bool, String> {
    let mut holds = one(words, shell)?;
    while let ["-a", rest @ ..] = *words {
        *words = rest;
        holds &= one(words, shell)?;
    }
    Ok(holds)
}

/// Reads one condition. `!` is about this one only.
fn one(words: &mut &[&str], shell: &Shell) -> Result<bool, String> {
    let mut is_negated = false;
    while let ["!", rest @ ..] = *words {
        *words = rest;
        is_negated = !is_negated;
    }

    let holds = match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let holds = any(words, shell)?;
            let [")", rest @ ..] = *words else { return Err("`)' expected".to_owned()) };
            *words = rest;
            holds
        }
        [first, operator, other, rest @ ..] if is_binary(operator) => {
            *words = rest;
            binary(first, operator, other, shell)?
        }
        [operator, word, rest @ ..] if unary(operator, word, shell).is_ok() => {
            *words = rest;
            unary(operator, word, shell)?
        }
        [word, rest @ ..] => {
            *words = rest;
            !word.is_empty()
        }
        [] => return Err("argument expected".to_owned()),
    };
    Ok(holds != is_negated)
}

fn is_binary(operator: &str) -> bool {
    ["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"].contains(&operator)
}

fn unary(operator: &str, word: &str, shell: &Shell) -> Result<bool, String> {
    match operator.strip_prefix('-').filter(|letter| letter.chars().count() == 1).and_then(|text| text.chars().next()) {
        Some(letter) => {
            file_holds(letter, word, shell).unwrap_or_else(|| Err(format!("{operator}: unary operator expected")))
        }
        None => Err(format!("{operator}: unary operator expected")),
    }
}

/// Whether a variable or a position has a value. One that the line may not read has none here.
fn is_set(name: &str, shell: &Shell) -> bool {
    if let Ok(position) = name.parse::<usize>() {
        return position == 0 || shell.state.positions.as_ref().is_some_and(|values| position <= values.len());
    }
    match shell.state.variables.get(name) {
        Some(variable) => variable.value != Value::Unset,
        None => name == "PWD" || (READABLE.contains(&name) && exec::variable(name).is_some()),
    }
}

/// Whether an option of `set` is on.
fn is_on(name: &str, shell: &Shell) -> bool {
    let options = &shell.state.options;
    match name {
        "errexit" => options.ends_on_failure,
        "nounset" => options.fails_on_unset,
        "pipefail" => options.fails_with_pipes,
        "xtrace" => options.prints_commands,
        // Those that a shell starts with.
        name => matches!(name, "braceexpand" | "hashall" | "interactive-comments"),
    }
}

/// Whether an operator with one word holds; `None` if there is no such operator.
pub(super) fn file_holds(letter: char, word: &str, shell: &Shell) -> Option<Result<bool, String>> {
    match letter {
        'z' => Some(Ok(word.is_empty())),
        'n' => Some(Ok(!word.is_empty())),
        // No stream of a line is a terminal.
        't' => Some(Ok(false)),
        'v' => Some(Ok(is_set(word, shell))),
        'o' => Some(Ok(is_on(word, shell))),
        'a' => file_holds('e', word, shell),
        letter => {
            if let Some(input) = input_of(word, shell) {
                return inspect::holds(letter, &input).map(Ok);
            }
            let path = in_directory(word, shell);
            let holds = inspect::holds(letter, &path)?;
            Some(shell.sight.check(&path, word).map(|()| holds && !word.is_empty()))
        }
    }
}

/// The standard input of the command around a test, if a word names it. That of this process is another one.
fn input_of(word: &str, shell: &Shell) -> Option<PathBuf> {
    if !matches!(word, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") {
        return None;
    }
    match &shell.around.as_ref()?.input {
        Source::Nothing => Some(PathBuf::from("/dev/null")),
        Source::Text(_) => None,
        Source::File(file) => Some(PathBuf::from(format!("/dev/fd/{}", file.as_raw_fd()))),
    }
}

fn binary(one: &str, operator: &str, other: &str, shell: &Shell) -> Result<bool, String> {
    let numbers = || Ok::<_, String>((number(one)?, number(other)?));
    if ["-nt", "-ot", "-ef"].contains(&operator) {
        [one, other].into_iter().try_for_each(|word| shell.sight.check(&in_directory(word, shell), word))?;
    }
    Ok(match operator {
        "=" | "==" => one == other,
        "!=" => one != other,
        "<" => one < other,
        ">" => one > other,
        "-eq" => numbers().map(|(one, other)| one == other)?,
        "-ne" => numbers().map(|(one, other)| one != other)?,
        "-lt" => numbers().map(|(one, other)| one < other)?,
        "-le" => numbers().map(|(one, other)| one <= other)?,
        "-gt" => numbers().map(|(one, other)| one > other)?,
        "-ge" => numbers().map(|(one, other)| one >= other)?,
        "-nt" => inspect::is_newer(&in_directory(one, shell), &in_directory(other, shell)),
        "-ot" => inspect::is_newer(&in_directory(other, shell), &in_directory(one, shell)),
        _ => inspect::is_same_file(&in_directory(one, shell), &in_directory(other, shell)),
    })
}

/// Reads a decimal number, which is never evaluated again.
fn number(text: &str) -> Result<i64, String> {
    text.trim().parse().map_err(|_| format!("{text}: integer expression expected"))
}

fn in_directory(word: &str, shell: &Shell) -> PathBuf {
    Path::new(shell.directory.as_deref().unwrap_or_default()).join(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_hold_as_in_a_shell() {
        let mut shell = Shell::default();
        shell.state.set("x", Value::Known(String::new()));
        shell.state.options.ends_on_failure = true;
        for (words, expected) in [
            ("", false),
            ("x", true),
            ("! x", false),
            ("-n x", true),
            ("-z x", false),
            ("1 -lt 2", true),
            ("a = b", false),
            ("1 -eq 1 -a 2 -eq 3", false),
            ("1 -eq 2 -o 2 -eq 2", true),
            ("( a = a )", true),
            ("-d /", true),
            ("-f /", false),
            ("-v x -a ! -v y", true),
            ("-o errexit", true),
            ("-o nounset", false),
        ] {
            let words: Vec<&str> = words.split_whitespace().collect();
            assert_eq!(holds(&words, &shell), Ok(expected), "{words:?}");
        }
        assert!(holds(&["a[$(id)]", "-eq", "1"], &shell).is_err(), "a value is not evaluated");
    }
}
