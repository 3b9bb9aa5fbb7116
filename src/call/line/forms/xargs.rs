//! `xargs` with its options.

use std::slice::Iter;

use climax_shell::{Field, Origin};

use super::cluster::{Cluster, is_option};
use super::started::check_started;
use crate::call::refusal::Refusal;

/// `xargs` with its options.
#[derive(Clone, Debug)]
pub(crate) struct Xargs<'f> {
    /// `-a`: the file that has the values, in place of standard input.
    pub(crate) file: Option<Field>,
    /// What separates the values.
    pub(crate) separator: Separator,
    /// `-I`: what each value replaces in the command.
    pub(crate) replaced: Option<String>,
    /// `-n` and `-L`: how much one command takes at most.
    pub(crate) most: Option<Most>,
    /// `-E`: the value that ends the input.
    pub(crate) end: Option<String>,
    /// `-r`: nothing runs without values.
    pub(crate) skips_empty: bool,
    /// `-s`: the most bytes of a command.
    pub(crate) most_bytes: Option<usize>,
    /// `-t`: each command is printed on standard error before it runs.
    pub(crate) prints_commands: bool,
    /// The command; `echo` if there is none.
    pub(crate) command: &'f [Field],
}

/// What separates the values of `xargs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// White space; quotes and backslashes protect it.
    Space,
    /// Line breaks, for `-I`; quotes and backslashes protect them.
    Line,
    /// A character, for `-0` and `-d`.
    Character(u8),
}

/// How much of the input of `xargs` one command takes at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Most {
    /// So many values.
    Values(usize),
    /// The values of so many lines.
    Lines(usize),
}

/// Reads the options of `xargs`.
pub(super) fn xargs(words: &[Field]) -> Result<Xargs<'_>, Refusal> {
    let mut xargs = Xargs {
        file: None,
        separator: Separator::Space,
        replaced: None,
        most: None,
        end: None,
        skips_empty: false,
        most_bytes: None,
        prints_commands: false,
        command: &[],
    };
    let mut rest = words.iter();
    while let Some(word) = rest.as_slice().first().filter(|word| is_option(word)) {
        rest.next();
        if word.text == "--" {
            break;
        }
        let refused = || {
            let remedy = "write the command for each value, as in `xargs -n 1` or `while read -r x; do …; done`";
            Refusal::new(format!("the option `{}` of xargs is not read", word.text), remedy)
        };
        let mut options = Cluster::of(&word.text);
        while let Some(option) = options.next() {
            xargs.set(&option, &mut options, &mut rest).ok_or_else(refused)?;
        }
        if options.attached().is_some() {
            return Err(refused());
        }
    }

    if xargs.replaced.is_some() {
        xargs.most = Some(Most::Values(1));
        if xargs.separator == Separator::Space {
            xargs.separator = Separator::Line;
        }
    }
    xargs.command = rest.as_slice();
    check_started(xargs.command)?;
    Ok(xargs)
}

impl Xargs<'_> {
    /// Sets an option, whose value stands behind it in its word or is the next word. `None` if it is not read.
    ///
    /// Source: xargs(1) of GNU findutils 4.9.
    fn set(&mut self, option: &str, word: &mut Cluster<'_>, rest: &mut Iter<'_, Field>) -> Option<()> {
        let mut value = || word.attached().or_else(|| rest.next().map(|word| word.text.clone()));
        match option {
            "-a" | "--arg-file" => {
                let attached = |text| Field { text, origin: Origin::Literal, is_open: false, from: 0 };
                self.file = Some(word.attached().map(attached).or_else(|| rest.next().cloned())?);
            }
            "-0" | "--null" => self.separator = Separator::Character(0),
            "-r" | "--no-run-if-empty" => self.skips_empty = true,
            "-t" | "--verbose" => self.prints_commands = true,
            "-x" | "--exit" => {}
            "-n" | "--max-args" => self.most = Some(Most::Values(count(&value()?)?)),
            "-L" => self.most = Some(Most::Lines(count(&value()?)?)),
            "-l" | "--max-lines" => {
                let lines = word.attached().map_or(Some(1), |lines| count(&lines))?;
                self.most = Some(Most::Lines(lines));
            }
            "-E" => self.end = Some(value()?).filter(|end| !end.is_empty()),
            // One behind the other is one of the orders in which commands beside each other may end.
            "-P" | "--max-procs" => drop(value()?.parse::<u32>().ok()?),
            "-s" | "--max-chars" => self.most_bytes = Some(count(&value()?)?),
            "-I" => self.replaced = Some(value().filter(|replaced| !replaced.is_empty())?),
            "-i" | "--replace" => self.replaced = Some(word.attached().unwrap_or_else(|| "{}".to_owned())),
            "-d" | "--delimiter" => {
                self.separator = Separator::Character(match value()?.as_str() {
                    "\\n" => b'\n',
                    "\\t" => b'\t',
                    "\\0" => 0,
                    one if one.len() == 1 => one.as_bytes()[0],
                    _ => return None,
                });
            }
            _ => return None,
        }
        Some(())
    }
}

/// Reads a number of values or lines.
fn count(text: &str) -> Option<usize> {
    text.parse().ok().filter(|count| *count > 0)
}
