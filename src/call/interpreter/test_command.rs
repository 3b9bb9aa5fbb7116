//! `test` and `[`.
//!
//! Source: POSIX.1-2024, "test"; bash(1), "CONDITIONAL EXPRESSIONS".

use std::path::{Path, PathBuf};

use crate::exec::inspect;

/// Most parentheses of one condition, which are read within one another.
const MAX_PARENTHESES: usize = 32;

/// Whether the expression of some words holds. Relative paths start in a directory.
///
/// # Errors
/// The words are no expression.
pub(super) fn holds(words: &[&str], directory: Option<&str>) -> Result<bool, String> {
    match words {
        [] => Ok(false),
        [word] => Ok(!word.is_empty()),
        ["!", word] => Ok(word.is_empty()),
        [operator, word] => unary(operator, word, directory),
        [one, operator, other] if is_binary(operator) => binary(one, operator, other, directory),
        [one, "-a", other] => Ok(!one.is_empty() && !other.is_empty()),
        [one, "-o", other] => Ok(!one.is_empty() || !other.is_empty()),
        ["!", rest @ ..] if words.len() < 5 => holds(rest, directory).map(|holds| !holds),
        ["(", inner @ .., ")"] if words.len() < 5 => holds(inner, directory),
        words => {
            if words.iter().filter(|word| **word == "(").count() > MAX_PARENTHESES {
                return Err("too many arguments".to_owned());
            }
            let mut rest = words;
            let holds = any(&mut rest, directory)?;
            if rest.is_empty() { Ok(holds) } else { Err("too many arguments".to_owned()) }
        }
    }
}

/// Reads conditions with `-o` between them.
fn any(words: &mut &[&str], directory: Option<&str>) -> Result<bool, String> {
    let mut holds = all(words, directory)?;
    while let ["-o", rest @ ..] = *words {
        *words = rest;
        holds |= all(words, directory)?;
    }
    Ok(holds)
}

/// Reads conditions with `-a` between them, which binds more strongly.
fn all(words: &mut &[&str], directory: Option<&str>) -> Result<bool, String> {
    let mut holds = one(words, directory)?;
    while let ["-a", rest @ ..] = *words {
        *words = rest;
        holds &= one(words, directory)?;
    }
    Ok(holds)
}

/// Reads one condition. `!` is about this one only.
fn one(words: &mut &[&str], directory: Option<&str>) -> Result<bool, String> {
    let mut is_negated = false;
    while let ["!", rest @ ..] = *words
        && !matches!(*words, [_, operator, _, ..] if is_binary(operator))
    {
        *words = rest;
        is_negated = !is_negated;
    }

    let holds = match *words {
        [first, operator, other, rest @ ..] if is_binary(operator) => {
            *words = rest;
            binary(first, operator, other, directory)?
        }
        ["(", rest @ ..] => {
            *words = rest;
            let holds = any(words, directory)?;
            let [")", rest @ ..] = *words else { return Err("`)' expected".to_owned()) };
            *words = rest;
            holds
        }
        [operator, word, rest @ ..] if unary(operator, word, directory).is_ok() => {
            *words = rest;
            unary(operator, word, directory)?
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

fn unary(operator: &str, word: &str, directory: Option<&str>) -> Result<bool, String> {
    match operator.strip_prefix('-').filter(|letter| letter.chars().count() == 1).and_then(|text| text.chars().next()) {
        Some(letter) => {
            file_holds(letter, word, directory).ok_or_else(|| format!("{operator}: unary operator expected"))
        }
        None => Err(format!("{operator}: unary operator expected")),
    }
}

/// Whether an operator with one word holds; `None` if there is no such operator.
pub(super) fn file_holds(letter: char, word: &str, directory: Option<&str>) -> Option<bool> {
    match letter {
        'z' => Some(word.is_empty()),
        'n' => Some(!word.is_empty()),
        // No stream of a line is a terminal.
        't' => Some(false),
        letter => inspect::holds(letter, &in_directory(word, directory)).map(|holds| holds && !word.is_empty()),
    }
}

fn binary(one: &str, operator: &str, other: &str, directory: Option<&str>) -> Result<bool, String> {
    let numbers = || Ok::<_, String>((number(one)?, number(other)?));
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
        "-nt" => inspect::is_newer(&in_directory(one, directory), &in_directory(other, directory)),
        "-ot" => inspect::is_newer(&in_directory(other, directory), &in_directory(one, directory)),
        _ => inspect::is_same_file(&in_directory(one, directory), &in_directory(other, directory)),
    })
}

/// Reads a decimal number, which is never evaluated again.
fn number(text: &str) -> Result<i64, String> {
    text.trim().parse().map_err(|_| format!("{text}: integer expression expected"))
}

fn in_directory(word: &str, directory: Option<&str>) -> PathBuf {
    Path::new(directory.unwrap_or_default()).join(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_hold_as_in_a_shell() {
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
        ] {
            let words: Vec<&str> = words.split_whitespace().collect();
            assert_eq!(holds(&words, None), Ok(expected), "{words:?}");
        }
        assert!(holds(&["a[$(id)]", "-eq", "1"], None).is_err(), "a value is not evaluated");
    }
}
