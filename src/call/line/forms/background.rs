//! `kill` of commands in the background.
//!
//! Source: POSIX.1-2024, `kill`; bash(1), "JOB CONTROL".

use climax_shell::{Field, background_count};

/// The signals that end a command, by their names and numbers.
const ENDING: [(&str, i32); 5] = [("HUP", 1), ("INT", 2), ("QUIT", 3), ("KILL", 9), ("TERM", 15)];

/// What `kill` does to commands in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// `kill -0`: it asks whether they run.
    Ask,
    /// It ends them by the signal of this number.
    End(i32),
}

/// A command in the background, as a word of `kill` and `wait` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target<'w> {
    /// The command that was started as this one, by its `$!`.
    Number(u32),
    /// `%`, `%%` and `%+`: the last one.
    Last,
    /// `%N`: the Nth of the shell.
    Place(usize),
    /// `%TEXT`: the one whose text starts so.
    Text(&'w str),
}

impl<'w> Target<'w> {
    /// Reads a word; `None` for what is no command in the background, such as the number of a process.
    pub(crate) fn of(word: &'w str) -> Option<Self> {
        match word.strip_prefix('%') {
            None => background_count(word).map(Self::Number),
            Some("" | "%" | "+") => Some(Self::Last),
            Some(text) => Some(text.parse().map_or(Self::Text(text), Self::Place)),
        }
    }
}

/// Reads the arguments of `kill`, if all that it is to end are commands in the background, each behind its word;
/// `None` if it is about processes.
pub(crate) fn ended_by(words: &[Field]) -> Option<(Signal, Vec<(&str, Target<'_>)>)> {
    let mut signal = Signal::End(15);
    let mut words = words.iter().map(|word| word.text.as_str()).peekable();
    while let Some(word) = words.next_if(|word| word.starts_with('-')) {
        let name = match word {
            "--" => break,
            "-s" | "-n" => words.next()?,
            word => word.get(1..)?,
        };
        signal = signal_of(name)?;
    }
    let targets: Vec<_> = words.map(|word| Some((word, Target::of(word)?))).collect::<Option<_>>()?;
    (!targets.is_empty()).then_some((signal, targets))
}

fn signal_of(name: &str) -> Option<Signal> {
    if name == "0" {
        return Some(Signal::Ask);
    }
    let name = name.strip_prefix("SIG").unwrap_or(name);
    let known = ENDING.iter().find(|(own, number)| *own == name || number.to_string() == name);
    known.map(|(_, number)| Signal::End(*number))
}

#[cfg(test)]
mod tests {
    use climax_shell::{Origin, background_number};

    use super::*;

    #[test]
    fn only_commands_in_the_background_are_ended_without_a_program() {
        let number = background_number(1).to_string();
        let read = |text: &str| {
            let text = text.replace('@', &number);
            let field = |text: &str| Field { text: text.to_owned(), origin: Origin::Literal, is_open: false, from: 0 };
            let fields: Vec<Field> = text.split_whitespace().map(field).collect();
            ended_by(&fields).map(|(signal, targets)| (signal, targets.len()))
        };
        for (text, expected) in [
            ("@", Some((Signal::End(15), 1))),
            ("-9 @ %1", Some((Signal::End(9), 2))),
            ("-s KILL -- %%", Some((Signal::End(9), 1))),
            ("-SIGINT %npm", Some((Signal::End(2), 1))),
            ("-0 @", Some((Signal::Ask, 1))),
            ("@ 4242", None),
            ("-STOP @", None),
            ("-9", None),
            ("-1", None),
            ("1", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
