//! Commands that programs start: `xargs`, `find -exec`.

use climax_shell::Field;

use crate::call::refusal::Refusal;

/// Refuses commands that only a shell has, where a program starts the command.
pub(super) fn check_started(command: &[Field]) -> Result<(), Refusal> {
    const OF_SHELLS: [&str; 13] =
        [":", "cd", "read", "shift", "wait", "type", "source", ".", "export", "unset", "set", "exit", "command"];

    match command.first().filter(|first| OF_SHELLS.contains(&first.text.as_str())) {
        None => Ok(()),
        Some(first) => {
            let problem = format!("`{}` is a command of the shell, and a program is started here", first.text);
            Err(Refusal::new(problem, "write it in a loop, as in `while read -r x; do …; done`"))
        }
    }
}
