//! Completions that are installed on a machine → options that the help of a program leaves out.
//!
//! They are read as texts: a completion is a script, and running it would run a foreign program.

mod fish;
mod zsh;

use crate::command::{Command, Flag, Several, Sure};

/// What the completions for a program say.
#[derive(Clone, Debug, Default)]
pub struct Completions {
    source: &'static str,
    /// Options with the words of the subcommands that have them; none for the program itself.
    options: Vec<(Vec<String>, Flag)>,
}

impl Completions {
    /// Reads completions for fish.
    #[must_use]
    pub fn fish(text: &str, program: &str) -> Self {
        Self { source: "fish", options: fish::options(text, program) }
    }

    /// Reads completions for zsh.
    #[must_use]
    pub fn zsh(text: &str) -> Self {
        Self { source: "zsh", options: zsh::options(text).into_iter().map(|flag| (Vec::new(), flag)).collect() }
    }

    /// Returns the shell that they are for.
    #[must_use]
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// Adds what commands lack: options, spellings and descriptions. Returns whether there was anything to add.
    ///
    /// What a help says of an option stays: a completion offers the usual values, not all that are allowed.
    pub fn complete(&self, commands: &mut [Command]) -> bool {
        let mut is_changed = false;
        for (words, flag) in &self.options {
            // With one command, options of all subcommands would be mixed up.
            if let Some(command) = commands.iter_mut().find(|command| command.words == *words) {
                is_changed |= add(command, flag, self.source);
            }
        }
        is_changed
    }
}

/// Completes a command from its manual page: options, spellings, operands and description.
pub fn complete_from_manual(command: &mut Command, manual: Command) {
    if !manual.about.is_empty() {
        command.about = manual.about;
    }
    if command.operands.is_empty() && command.options.is_empty() {
        command.operands.clone_from(&manual.operands);
        command.options_last = manual.options_last;
    }
    // `[FILE]` of a summary is `[file ...]` in the manual.
    if let (Some(own), Some(other)) = (command.operands.last_mut(), manual.operands.last())
        && own.value.several == Several::No
        && own.name.eq_ignore_ascii_case(&other.name)
        && !own.rest
    {
        own.value.several = other.value.several;
    }
    drop_modes(command, &manual.options);
    for flag in &manual.options {
        add(command, flag, MANUAL);
    }
}

/// How many long options with values show that a manual names the values of all.
const ENOUGH_VALUES: usize = 5;

/// Makes switches of options that only a usage line gives a value, a plain word, if a manual that names values lists them
/// without any: `prog --make device`.
fn drop_modes(command: &mut Command, manual: &[Flag]) {
    let is_long = |flag: &&Flag| flag.spellings.iter().any(|own| own.starts_with("--"));
    if manual.iter().filter(is_long).filter(|flag| flag.value.is_some()).count() < ENOUGH_VALUES {
        return;
    }
    let is_switch = |known: &Flag| {
        let mut same = manual.iter().filter(|flag| flag.spellings.contains(&known.spellings[0])).peekable();
        same.peek().is_some() && same.all(|flag| flag.value.is_none() && !flag.about.is_empty())
    };
    for known in command.options.iter_mut().filter(|known| known.about.is_empty() && is_long(&&**known)) {
        let is_plain = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        if known.value.as_ref().is_some_and(|value| is_plain(&value.name)) && is_switch(known) {
            known.value = None;
        }
    }
}

/// The source of what manual pages add.
const MANUAL: &str = "man";

/// Adds an option, or what the known one lacks.
fn add(command: &mut Command, flag: &Flag, source: &'static str) -> bool {
    let known = command
        .options
        .iter_mut()
        .position(|known| known.spellings.iter().chain(&known.off).any(|own| flag.spellings.contains(own)));
    let Some(at) = known else {
        if command.options.iter().any(|known| crate::help::is_example(flag, known)) {
            return false;
        }
        command.options.push(Flag { source: Some(source), required: false, ..flag.clone() });
        return true;
    };

    // `-f, --quiet` of one of its commands beside `-f <file>`.
    let is_other = source == MANUAL
        && command.options[at].value.is_some()
        && flag.value.is_none()
        && flag.spellings[0].starts_with("--")
        && !command.options[at].spellings[0].starts_with("--");
    if is_other {
        return false;
    }

    // A spelling that is an option of its own is none of this one.
    let taken: Vec<String> = command.options.iter().flat_map(|known| known.spellings.clone()).collect();
    let known = &mut command.options[at];
    let new: Vec<String> = flag.spellings.iter().filter(|own| !taken.contains(own)).cloned().collect();
    let is_described = known.about.is_empty() && !flag.about.is_empty();
    if is_described {
        known.about.clone_from(&flag.about);
    }
    // A summary may leave the value out, which the manual then names. `-errors (markup: no)` names none.
    let is_name = |name: &str| {
        let is_literal = ["auto", "yes", "no", "on", "off", "true", "false"].contains(&name);
        !is_literal && !name.contains([':', ' ']) && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '#')
    };
    if source == MANUAL
        && known.value.is_none()
        && known.off.is_none()
        && !known.counts
        && flag.value.as_ref().is_some_and(|value| is_name(&value.name))
    {
        known.value.clone_from(&flag.value);
        known.more.clone_from(&flag.more);
    }
    // A summary rarely says which options may stand several times.
    if let (MANUAL, Some(value), Some(other)) = (source, &mut known.value, &flag.value)
        && (value.several, other.several) == (Several::No, Several::Each)
        && (value.optional, other.optional) == (false, false)
        && known.more.is_empty()
    {
        value.several = Several::Each;
    }
    let values = |flag: &Flag| flag.value.as_ref().and_then(|value| Some(value.values.as_ref()?.get().clone()));
    if let (Some(mut own), Some(other)) = (values(known), values(flag))
        && let Some(value) = &mut known.value
    {
        // A summary may leave out some of the values.
        own.extend(other.into_iter().filter(|value| !own.contains(value)).collect::<Vec<_>>());
        value.values = Some(Sure::Guessed(own));
    }
    let is_changed = is_described || !new.is_empty();
    known.spellings.extend(new);
    known.spellings.sort_by_key(|spelling| !spelling.starts_with("--"));
    is_changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    #[test]
    fn a_manual_names_the_values_that_a_summary_leaves_out() {
        let mut command =
            read("usage: mill\n\nOptions:\n  --sack     which sack\n  --errors   show errors\n", &[]).command;
        let manual =
            "usage: mill\n\nOptions:\n  --sack NAME            which sack\n  --errors (markup: no)  show errors\n";
        complete_from_manual(&mut command, read(manual, &[]).command);
        let values = command.options.iter().map(|flag| flag.value.as_ref().map(|value| value.name.as_str()));
        assert_eq!(values.collect::<Vec<_>>(), [Some("NAME"), None]);
    }

    /// Options with values in one section, for pages that name all values.
    const VALUED: &str =
        "  --rye=N    rye\n  --oat=N    oat\n  --hull=N   hull\n  --chaff=N  chaff\n  --bran=N   bran\n";

    #[test]
    fn a_mode_in_front_of_a_plain_word_takes_no_value() {
        let mut command = read("Usage: mill --grind sack options...\n       mill --sift sacks\n", &[]).command;
        let is_valued = |command: &Command| command.options.iter().any(|flag| flag.value.is_some());
        assert!(is_valued(&command));
        let manual = format!("usage: mill\n\nOptions:\n{VALUED}  -g, --grind  grind it\n  -s, --sift   sift it\n");
        let manual = read(&manual, &[]).command;
        drop_modes(&mut command, &manual.options);
        assert!(!is_valued(&command), "{:?}", command.options);
    }

    #[test]
    fn a_manual_tells_which_options_stand_several_times() {
        let mut command = read("usage: mill\n\nOptions:\n  --sack=NAME  which sack\n", &[]).command;
        let manual = "usage: mill\n\nOptions:\n  --sack=NAME  which sack; may be given multiple times\n";
        complete_from_manual(&mut command, read(manual, &[]).command);
        let several = command.options[0].value.as_ref().map(|value| value.several);
        assert_eq!(several, Some(Several::Each));
    }

    #[test]
    fn a_switch_of_a_manual_is_no_option_with_a_value() {
        let mut command = read("usage: mill\n\nOptions:\n  -f <file>  what to grind\n", &[]).command;
        let manual = "usage: mill\n\nOptions:\n  -f, --fine  grind finely\n";
        complete_from_manual(&mut command, read(manual, &[]).command);
        assert_eq!(command.options.iter().flat_map(|flag| &flag.spellings).collect::<Vec<_>>(), ["-f"]);
    }
}
