//! `set` with its options.

use climax_shell::{Field, Options, Origin};

use crate::call::refusal::Refusal;

/// What `set` sets.
#[derive(Clone, Debug)]
pub(crate) struct Set<'f> {
    /// All options, with those that it changes.
    pub(crate) options: Options,
    /// The new positions; `None` if they stay.
    pub(crate) positions: Option<&'f [Field]>,
}

impl<'f> Set<'f> {
    /// Reads the words behind `set`, which change `options`.
    ///
    /// # Errors
    /// There are no words, or an option is not read or is a value.
    pub(crate) fn of(words: &'f [Field], mut options: Options) -> Result<Self, Refusal> {
        if words.is_empty() {
            return Err(Refusal::new("`set` prints the variables of a shell", "write `env`, or `echo \"$NAME\"`"));
        }

        let mut rest = words;
        while let [word, behind @ ..] = rest {
            let Some(letters) = word.text.strip_prefix(['-', '+']).filter(|_| !word.is_open) else { break };
            if word.origin != Origin::Literal {
                return Err(Refusal::new(
                    format!("the value `{}` would be an option of `set`", word.text),
                    "write `set -- …`",
                ));
            }

            rest = behind;
            if word.text == "--" {
                return Ok(Self { options, positions: Some(rest) });
            }

            let is_set = word.text.starts_with('-');
            if letters.is_empty() {
                options.prints_commands &= !is_set;
                break;
            }
            for letter in letters.chars() {
                let name = match (letter, rest) {
                    ('o', [name, behind @ ..]) => {
                        rest = behind;
                        Some(name.text.as_str())
                    }
                    (letter, _) => name_of(letter),
                };
                name.and_then(|name| set_named(&mut options, name, is_set)).ok_or_else(|| not_read(word, name))?;
            }
        }

        let positions = (!rest.is_empty()).then_some(rest);
        Ok(Self { options, positions })
    }
}

/// Returns the name of the option that a letter sets; `None` for a letter that is not read.
fn name_of(letter: char) -> Option<&'static str> {
    Some(match letter {
        'e' => "errexit",
        'x' => "xtrace",
        'a' => "allexport",
        'u' => "nounset",
        'E' => "errtrace",
        'T' => "functrace",
        'h' => "hashall",
        'B' => "braceexpand",
        'f' => "noglob",
        _ => return None,
    })
}

/// Sets the option with a name; `None` if it is not read.
fn set_named(options: &mut Options, name: &str, is_set: bool) -> Option<()> {
    match name {
        "errexit" => options.ends_on_failure = is_set,
        "xtrace" => options.prints_commands = is_set,
        "pipefail" => options.fails_with_pipes = is_set,
        "noglob" => options.globs.are_off = is_set,
        "nounset" => options.fails_on_unset = is_set,
        // There are no traps, and programs are looked up each time.
        "errtrace" | "functrace" | "hashall" => {}
        "braceexpand" if is_set => {}
        _ => return None,
    }
    Some(())
}

/// The refusal of a word with an option that is not read.
fn not_read(word: &Field, option: Option<&str>) -> Refusal {
    let remedy = match option {
        Some("allexport") => "write `export` before each variable that programs are to get, as in `export NAME=VALUE`",
        _ => "-e, -f, -u, -x, -E and -o pipefail are",
    };
    Refusal::new(format!("`set {}` is not read", word.text), remedy)
}
