//! `xargs` with its options.

use climax_shell::{Field, Origin};

use super::started::check_started;

/// `xargs` with its options.
#[derive(Clone, Debug)]
pub(crate) struct Xargs<'f> {
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
pub(super) fn xargs(words: &[Field]) -> Result<Xargs<'_>, (String, String)> {
    let mut xargs = Xargs {
        separator: Separator::Space,
        replaced: None,
        most: None,
        end: None,
        skips_empty: false,
        most_bytes: None,
        prints_commands: false,
        command: &[],
    };
    let mut at = 0;
    let refused = |word: &str| {
        let remedy = "write the command for each value, as in `xargs -n 1` or `while read -r x; do …; done`";
        (format!("the option `{word}` of xargs is not read"), remedy.to_owned())
    };

    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-') && word.origin == Origin::Literal) {
        at += 1;
        let text = word.text.as_str();
        let (option, attached) = match text {
            "--" => break,
            "--null" => ("-0", ""),
            "--no-run-if-empty" => ("-r", ""),
            "--verbose" => ("-t", ""),
            _ if text.starts_with("--") => text.split_once('=').unwrap_or((text, "")),
            _ => text.split_at(text.char_indices().nth(2).map_or(text.len(), |(at, _)| at)),
        };
        let mut value = || match attached {
            "" => {
                at += 1;
                words.get(at - 1).map(|word| word.text.clone()).ok_or_else(|| refused(text))
            }
            attached => Ok(attached.to_owned()),
        };
        match option {
            "-0" => xargs.separator = Separator::Character(0),
            "-r" => xargs.skips_empty = true,
            "-t" => xargs.prints_commands = true,
            "-x" => {}
            "-n" | "--max-args" => xargs.most = Some(Most::Values(count(&value()?).ok_or_else(|| refused(text))?)),
            "-L" | "--max-lines" => xargs.most = Some(Most::Lines(count(&value()?).ok_or_else(|| refused(text))?)),
            "-E" => xargs.end = Some(value()?).filter(|end| !end.is_empty()),
            "-P" | "--max-procs" => {
                value()?;
            }
            "-s" | "--max-chars" => xargs.most_bytes = Some(count(&value()?).ok_or_else(|| refused(text))?),
            "-I" => xargs.replaced = Some(value()?),
            "-i" | "--replace" if attached.is_empty() => xargs.replaced = Some("{}".to_owned()),
            "-i" | "--replace" => xargs.replaced = Some(attached.to_owned()),
            "-d" | "--delimiter" => {
                xargs.separator = match value()?.as_str() {
                    "\\n" => Separator::Character(b'\n'),
                    "\\t" => Separator::Character(b'\t'),
                    "\\0" => Separator::Character(0),
                    one if one.len() == 1 => Separator::Character(one.as_bytes()[0]),
                    _ => return Err(refused(text)),
                };
            }
            _ => return Err(refused(text)),
        }
        // Letters of a cluster that take no value.
        if matches!(option, "-0" | "-r" | "-t" | "-x") && !attached.is_empty() {
            match attached {
                "r" => xargs.skips_empty = true,
                "0" => xargs.separator = Separator::Character(0),
                "t" => xargs.prints_commands = true,
                _ => return Err(refused(text)),
            }
        }
    }

    if xargs.replaced.is_some() {
        xargs.most = Some(Most::Values(1));
        if xargs.separator == Separator::Space {
            xargs.separator = Separator::Line;
        }
    }
    xargs.command = &words[at.min(words.len())..];
    check_started(xargs.command)?;
    Ok(xargs)
}

/// Reads a number of values or lines.
fn count(text: &str) -> Option<usize> {
    text.parse().ok().filter(|count| *count > 0)
}
