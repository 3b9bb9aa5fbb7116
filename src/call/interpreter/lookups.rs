//! The builtins that say what a name runs: `which`, `command -v` and `type`.
//!
//! Source: POSIX.1-2024, "command" and "type"; bash(1), "SHELL BUILTIN COMMANDS".

use std::fmt::Write as _;

use super::done::Done;
use super::shell::Shell;
use crate::call::line::is_of_shell;

/// Says where programs are, as `which` and `command -v` do.
pub(super) fn found(shell: &Shell, texts: &[&str]) -> Done {
    match texts.first() {
        Some(&"-v") => return of_command(shell, &texts[1..]),
        Some(&"-V") => return described(shell, &texts[1..]),
        Some(_) => {}
        None => return Done::status(1),
    }
    let mut done = Done::default();
    for name in texts.iter().filter(|text| !text.starts_with('-')) {
        match shell.path_of_program(name) {
            Some(path) => done.output.extend(format!("{}\n", path.display()).into_bytes()),
            None => done.status = 1,
        }
    }
    done
}

/// What `command -v` prints: it succeeds if there is one of the commands.
fn of_command(shell: &Shell, texts: &[&str]) -> Done {
    let mut done = Done::status(1);
    for name in texts {
        let path = shell.path_of_program(name);
        let is_own = is_of_shell(name).is_some() || (name.contains('/') && path.is_some());
        let shown = if is_own { Some((*name).to_owned()) } else { path.map(|path| path.display().to_string()) };
        if let Some(shown) = shown {
            done.output.extend(format!("{shown}\n").into_bytes());
            done.status = 0;
        }
    }
    done
}

/// What `type` and `command -V` print.
pub(super) fn described(shell: &Shell, texts: &[&str]) -> Done {
    let mut done = Done::default();
    let (option, names) = match texts.split_first() {
        Some((option, names)) if option.starts_with('-') => (*option, names),
        _ => ("", texts),
    };
    for name in names {
        let own = is_of_shell(name).filter(|_| !matches!(option, "-P"));
        let path = shell.path_of_program(name).filter(|_| own.is_none());
        match (option, own, &path) {
            ("-t", Some(own), _) => done.output.extend(format!("{own}\n").bytes()),
            ("-t", None, Some(_)) => done.output.extend(b"file\n"),
            ("-p" | "-P", None, Some(path)) => done.output.extend(format!("{}\n", path.display()).bytes()),
            ("-p", Some(_), _) => {}
            ("-t" | "-p" | "-P", None, None) => done.status = 1,
            (_, Some(own), _) => {
                let own = if own == "builtin" { "shell builtin" } else { "shell keyword" };
                done.output.extend(format!("{name} is a {own}\n").bytes());
            }
            _ => {}
        }
        if matches!(option, "-t" | "-p" | "-P") || own.is_some() {
            continue;
        }
        if let Some(path) = path {
            done.output.extend(format!("{name} is {}\n", path.display()).into_bytes());
        } else {
            let _ = writeln!(done.errors, "climax: type: {name}: not found");
            done.status = 1;
        }
    }
    done
}
