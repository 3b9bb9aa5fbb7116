//! The builtins that say what a name runs: `which`, `command -v` and `type`.
//!
//! Source: POSIX.1-2024, "command" and "type"; bash(1), "SHELL BUILTIN COMMANDS".

use std::fmt::Write as _;
use std::path::PathBuf;

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
    let has_all = texts.first() == Some(&"-a");
    let names = &texts[usize::from(has_all)..];
    if let Some(option) = names.iter().find(|text| text.starts_with('-')) {
        return Done::failed(2, format_args!("which: {option}: invalid option; of its options -a is known"));
    }
    let mut done = Done::default();
    for name in names {
        let paths = programs(shell, name, has_all);
        done.status |= i32::from(paths.is_empty());
        for path in paths {
            done.output.extend(format!("{}\n", path.display()).into_bytes());
        }
    }
    done
}

/// The programs of a name: the one that runs, or all of them.
fn programs(shell: &Shell, name: &str, has_all: bool) -> Vec<PathBuf> {
    if has_all { shell.paths_of_program(name) } else { shell.path_of_program(name).into_iter().collect() }
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
    let (option, names) = match texts.split_first() {
        Some((option, names)) if option.starts_with('-') => (*option, names),
        _ => ("", texts),
    };
    if !matches!(option, "" | "--" | "-a" | "-t" | "-p" | "-P") {
        return Done::failed(2, format_args!("type: {option}: invalid option; one of -a, -p, -P and -t is known"));
    }

    let mut done = Done::default();
    for name in names {
        let own = is_of_shell(name).filter(|_| option != "-P");
        let has_programs = own.is_none() || option == "-a";
        let paths = if has_programs { programs(shell, name, option == "-a") } else { Vec::new() };
        if let Some(own) = own {
            match option {
                "-t" => done.output.extend(format!("{own}\n").bytes()),
                "-p" => {}
                _ if own == "builtin" => done.output.extend(format!("{name} is a shell builtin\n").bytes()),
                _ => done.output.extend(format!("{name} is a shell keyword\n").bytes()),
            }
        }
        for path in &paths {
            let line = match option {
                "-t" => "file\n".to_owned(),
                "-p" | "-P" => format!("{}\n", path.display()),
                _ => format!("{name} is {}\n", path.display()),
            };
            done.output.extend(line.bytes());
        }

        if own.is_none() && paths.is_empty() {
            done.status = 1;
            if !matches!(option, "-t" | "-p" | "-P") {
                let _ = writeln!(done.errors, "climax: type: {name}: not found");
            }
        }
    }
    done
}
