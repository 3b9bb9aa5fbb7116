//! `shopt` with its options.

use climax_shell::{Field, Options, Origin};

use crate::call::refusal::Refusal;

/// Options that change nothing here: there are no aliases, no history and no terminal.
const WITHOUT_EFFECT: [&str; 6] =
    ["checkwinsize", "cmdhist", "expand_aliases", "histappend", "histverify", "huponexit"];

/// What `shopt` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shopt {
    /// It sets options: all of them, with those that it changes.
    Sets(Options),
    /// It tells whether its options are all set.
    Tells(bool),
}

impl Shopt {
    /// Reads the words behind `shopt`, which change or ask for `options`.
    ///
    /// # Errors
    /// A word is a value, or names an option that is not read.
    pub(crate) fn of(words: &[Field], mut options: Options) -> Result<Self, Refusal> {
        if let Some(value) = words.iter().find(|word| word.origin != Origin::Literal) {
            let problem = format!("the value `{}` would be a word of `shopt`", value.text);
            return Err(Refusal::new(problem, "write the name of the option"));
        }
        let names = words.get(1..).unwrap_or_default();
        let how = words.first().map(|word| word.text.as_str());
        let (Some(how @ ("-s" | "-u" | "-q")), false) = (how, names.is_empty()) else {
            return Err(Refusal::new(
                "`shopt` is read with `-s`, `-u` or `-q` and names of options",
                "write it as in `shopt -s nullglob`",
            ));
        };

        let mut are_all_set = true;
        for Field { text: name, .. } in names {
            if how != "-q" && WITHOUT_EFFECT.contains(&name.as_str()) {
                continue;
            }
            let Some(option) = named(&mut options, name) else {
                let remedy = instead_of(name).unwrap_or("leave it out; nullglob, dotglob and globstar are read");
                return Err(Refusal::new(format!("the option `{name}` of `shopt` is not read"), remedy));
            };
            are_all_set &= *option;
            match how {
                "-s" => *option = true,
                "-u" => *option = false,
                _ => {}
            }
        }
        Ok(if how == "-q" { Self::Tells(are_all_set) } else { Self::Sets(options) })
    }
}

/// Returns the option with a name.
fn named<'o>(options: &'o mut Options, name: &str) -> Option<&'o mut bool> {
    Some(match name {
        "nullglob" => &mut options.globs.vanish,
        "dotglob" => &mut options.globs.see_hidden,
        "globstar" => &mut options.globs.descend,
        "inherit_errexit" => &mut options.ends_inner_on_failure,
        _ => return None,
    })
}

/// What to write instead of an option that is not read.
fn instead_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "failglob" => "leave it out; `[ -e \"$f\" ] || exit 1` ends the line where a glob matches nothing",
        "extglob" => "leave it out; write the alternatives out, or use `[[ =~ ]]` or `grep -E`",
        "nocasematch" => "leave it out; compare `${x,,}` with small letters",
        "nocaseglob" => "leave it out; write both letters, as in `*.[jJ][pP][gG]`",
        "lastpipe" => "leave it out; `while read -r x; do …; done < <(…)` keeps its variables",
        _ => return None,
    })
}
