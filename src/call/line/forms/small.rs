//! Builtins with few words: `cd`, `unset`, `break`, `continue` and `shift`.

use climax_shell::{Field, Origin};

use crate::call::refusal::Refusal;

/// Splits the words behind `cd` or `pwd` into whether links are resolved, and the operands.
///
/// # Errors
/// The word of an option that they do not have.
pub(crate) fn change_of<'w, 't>(mut words: &'w [&'t str]) -> Result<(bool, &'w [&'t str]), &'t str> {
    let mut is_physical = false;
    while let [word, rest @ ..] = words {
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else { break };
        words = rest;
        if *word == "--" {
            break;
        }
        if !letters.chars().all(|letter| "LPe".contains(letter)) {
            return Err(word);
        }
        is_physical = letters.chars().fold(is_physical, |before, letter| match letter {
            'P' => true,
            'L' => false,
            _ => before,
        });
    }
    Ok((is_physical, words))
}

/// Returns the variables that the words behind `unset` name; none behind `-f`, since there are no functions.
///
/// # Errors
/// An option is not read, or is a value.
pub(crate) fn unset_names(mut words: &[Field]) -> Result<&[Field], Refusal> {
    let mut is_of_functions = false;
    while let [word, rest @ ..] = words {
        if word.text.len() < 2 || !word.text.starts_with('-') {
            break;
        }
        if word.origin != Origin::Literal {
            let problem = format!("the value `{}` would be an option of `unset`", word.text);
            return Err(Refusal::new(problem, "write the name out"));
        }
        words = rest;
        match word.text.as_str() {
            "--" => break,
            "-v" => {}
            "-f" => is_of_functions = true,
            option => {
                let problem = format!("the option `{option}` of `unset` is not read");
                return Err(Refusal::new(problem, "write `unset NAME`"));
            }
        }
    }
    Ok(if is_of_functions { &[] } else { words })
}

/// Returns how many loops `break` or `continue` is about.
///
/// # Errors
/// The word is no number above 0, for which a shell would end all loops, or itself.
pub(crate) fn loop_count(words: &[Field]) -> Result<usize, Refusal> {
    let count = match words {
        [] => Some(1),
        [word] if word.is_open => Some(1),
        [word] => word.text.parse().ok().filter(|count| *count > 0),
        _ => None,
    };
    count.ok_or_else(|| {
        let problem = "`break` and `continue` take one number above 0: that of the loops which they end";
        Refusal::new(problem, "write `break`, or as `break 2` how many loops")
    })
}

/// Returns the word behind `shift`, if there is one.
///
/// # Errors
/// There are several words, for which a shell would end.
pub(crate) fn shift_word(words: &[Field]) -> Result<Option<&Field>, Refusal> {
    let words = if words.first().is_some_and(|word| word.text == "--") { &words[1..] } else { words };
    match words {
        [] => Ok(None),
        [word] => Ok(Some(word)),
        _ => Err(Refusal::new("`shift` takes one number", "write `shift`, or as `shift 2` how many words")),
    }
}
