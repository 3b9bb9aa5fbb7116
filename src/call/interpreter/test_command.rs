//! `test` and `[`.
//!
//! Source: POSIX.1-2024, "test"; bash(1), "CONDITIONAL EXPRESSIONS".

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Whether the expression of some words holds. Relative paths start in a directory.
///
/// # Errors
/// The words are no expression.
pub(super) fn holds(words: &[&str], directory: Option<&str>) -> Result<bool, String> {
    match words {
        [] => Ok(false),
        [word] => Ok(!word.is_empty()),
        ["!", rest @ ..] => holds(rest, directory).map(|holds| !holds),
        ["(", inner @ .., ")"] if !inner.is_empty() => holds(inner, directory),
        [operator, word] => unary(operator, word, directory),
        [one, operator, other] if is_binary(operator) => binary(one, operator, other, directory),
        words => {
            let place = |name: &str| words.iter().rposition(|word| *word == name).filter(|at| *at > 0);
            match (place("-o"), place("-a")) {
                (Some(at), _) => Ok(holds(&words[..at], directory)? || holds(&words[at + 1..], directory)?),
                (None, Some(at)) => Ok(holds(&words[..at], directory)? && holds(&words[at + 1..], directory)?),
                (None, None) => Err("too many arguments".to_owned()),
            }
        }
    }
}

fn is_binary(operator: &str) -> bool {
    ["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"].contains(&operator)
}

fn unary(operator: &str, word: &str, directory: Option<&str>) -> Result<bool, String> {
    match operator.strip_prefix('-').filter(|letter| letter.chars().count() == 1).and_then(|text| text.chars().next()) {
        Some(letter) => file_holds(letter, word, directory).ok_or_else(|| format!("{operator}: unary operator expected")),
        None => Err(format!("{operator}: unary operator expected")),
    }
}

/// Whether an operator with one word holds; `None` if there is no such operator.
pub(super) fn file_holds(letter: char, word: &str, directory: Option<&str>) -> Option<bool> {
    let path = in_directory(word, directory);
    let found = || path.metadata().ok();
    let can = |mode: Access| access(&path, mode).is_ok();
    Some(match letter {
        'z' => word.is_empty(),
        'n' => !word.is_empty(),
        _ if word.is_empty() && "abcdefghkprsuwxLNOSG".contains(letter) => false,
        'e' | 'a' => found().is_some(),
        'f' => found().is_some_and(|found| found.is_file()),
        'd' => found().is_some_and(|found| found.is_dir()),
        'h' | 'L' => path.symlink_metadata().is_ok_and(|found| found.file_type().is_symlink()),
        's' => found().is_some_and(|found| found.len() > 0),
        'r' => can(Access::READ_OK),
        'w' => can(Access::WRITE_OK),
        'x' => can(Access::EXEC_OK),
        'b' => found().is_some_and(|found| found.file_type().is_block_device()),
        'c' => found().is_some_and(|found| found.file_type().is_char_device()),
        'p' => found().is_some_and(|found| found.file_type().is_fifo()),
        'S' => found().is_some_and(|found| found.file_type().is_socket()),
        'g' => found().is_some_and(|found| found.mode() & 0o2000 != 0),
        'u' => found().is_some_and(|found| found.mode() & 0o4000 != 0),
        'k' => found().is_some_and(|found| found.mode() & 0o1000 != 0),
        'O' => found().is_some_and(|found| found.uid() == rustix::process::geteuid().as_raw()),
        'G' => found().is_some_and(|found| found.gid() == rustix::process::getegid().as_raw()),
        'N' => found().is_some_and(|found| found.mtime() > found.atime()),
        // No stream of a line is a terminal.
        't' => false,
        _ => return None,
    })
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
        "-nt" => is_newer(one, other, directory),
        "-ot" => is_newer(other, one, directory),
        _ => is_same_file(one, other, directory),
    })
}

/// Reads a decimal number, which is never evaluated again.
pub(super) fn number(text: &str) -> Result<i64, String> {
    text.trim().parse().map_err(|_| format!("{text}: integer expression expected"))
}

pub(super) fn is_newer(one: &str, other: &str, directory: Option<&str>) -> bool {
    let time = |word| in_directory(word, directory).metadata().and_then(|found| found.modified()).ok();
    match (time(one), time(other)) {
        (Some(one), Some(other)) => one > other,
        (one, _) => one.is_some(),
    }
}

fn is_same_file(one: &str, other: &str, directory: Option<&str>) -> bool {
    let identity = |word| in_directory(word, directory).metadata().ok().map(|found| (found.dev(), found.ino()));
    identity(one).is_some_and(|one| Some(one) == identity(other))
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
