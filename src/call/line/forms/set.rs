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
                let name = match letter {
                    'o' => match rest {
                        [name, behind @ ..] => {
                            rest = behind;
                            name.text.as_str()
                        }
                        [] => "",
                    },
                    'e' => "errexit",
                    'x' => "xtrace",
                    'a' => "allexport",
                    'u' => "nounset",
                    'E' => "errtrace",
                    'T' => "functrace",
                    'h' => "hashall",
                    'B' => "braceexpand",
                    'f' => "noglob",
                    _ => "",
                };
                match name {
                    "errexit" => options.ends_on_failure = is_set,
                    "xtrace" => options.prints_commands = is_set,
                    "pipefail" => options.fails_with_pipes = is_set,
                    "noglob" => options.globs.are_off = is_set,
                    "nounset" => options.fails_on_unset = is_set,
                    // There are no traps, and programs are looked up each time.
                    "errtrace" | "functrace" | "hashall" => {}
                    "braceexpand" if is_set => {}
                    _ => {
                        let problem = format!("`set {}` is not read", word.text);
                        let remedy = if name == "allexport" {
                            "write `export` before each variable that programs are to get, as in `export NAME=VALUE`"
                        } else {
                            "-e, -f, -u, -x, -E and -o pipefail are"
                        };
                        return Err(Refusal::new(problem, remedy));
                    }
                }
            }
        }
        let positions = (!rest.is_empty()).then_some(rest);
        Ok(Self { options, positions })
    }
}
