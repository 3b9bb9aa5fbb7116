//! `climax install`: writes climax into the settings of a client.

mod client;
mod file;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use climax_catalog::{Catalog, Style};
use serde_json::{Map, Value};

pub(crate) use self::client::Client;
use self::client::Places;
use self::file::SettingsFile;
use self::settings::Change;
use crate::command::output::{FAILURE, print, usage};
use crate::command::terminal;
use crate::serving::load::{self, Wanted};

/// The name of the server in settings.
const SERVER: &str = "climax";

/// The policy that is written if there is none.
const POLICY: &str = "\
# Written by `climax install`. Change it as you like: it is not written again.
# `climax validate --policy FILE` checks it, `climax schema policy` describes the format.
default: enabled
approval:
  # The user is asked before calls that may destroy something.
  global: destructive
  # What happens where the client cannot ask: `deny` or `approve`.
  headless: deny
";

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The client
    #[arg(value_enum)]
    client: Client,
    /// Change the settings of the project in the current directory, not the user's
    #[arg(long)]
    project: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    print: bool,
    /// Take climax out of the settings
    #[arg(long)]
    remove: bool,
    /// Serve without a policy, and write none
    #[arg(long)]
    no_policy: bool,
    /// Names and options for the server, such as `-- git jq --config /path/to/mine.yaml`
    #[arg(last = true, value_name = "ARG")]
    server: Vec<String>,
}

/// Writes the settings. Exit status 1 if a file is invalid or cannot be written; then no settings are changed.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let Some(home) = variable("HOME") else {
        return usage("the variable HOME is not set, so the place of settings is unknown: set it");
    };
    let places = Places { home, variable };
    let path = match (arguments.project, arguments.client.project_file(&directory())) {
        (false, _) => arguments.client.user_file(&places),
        (true, Some(path)) => path,
        (true, None) => {
            let title = arguments.client.title();
            return usage(&format!("{title} has no settings for projects: leave out --project"));
        }
    };
    let done = if arguments.remove { remove(arguments, &path) } else { install(catalog, arguments, &path, &places) };
    match done {
        Ok(lines) => print(&lines.join("\n"), ExitCode::SUCCESS),
        Err(message) => {
            terminal::error(&format!("climax: {message}"));
            ExitCode::from(FAILURE)
        }
    }
}

/// Returns the directory that a variable names.
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn directory() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

/// Adds or updates the entry, and writes a policy if there is none. Returns what it did.
fn install(catalog: &'static Catalog, arguments: &Args, path: &Path, places: &Places) -> Result<Vec<String>, String> {
    let client = arguments.client;
    let policy = policy_path(arguments, places);
    if let Some(policy) = &policy {
        check_policy(catalog, policy)?;
    }
    let entry = client.entry(&command(arguments)?, &server_arguments(arguments, policy.as_deref()));
    let file = SettingsFile::read(path).map_err(|error| not_read(path, &error))?;
    let text = changed(client, path, file.text(), Change::Set(&entry))?;
    if arguments.print {
        return shown(client, path, &entry, policy.as_deref());
    }
    let mut lines = Vec::new();
    if let Some(policy) = &policy {
        let is_new = file::write_new(policy, POLICY).map_err(|error| not_written(policy, &error))?;
        lines.push(match is_new {
            true => format!("{}: written; it asks before destructive calls", policy.display()),
            false => format!("{}: kept as it is", policy.display()),
        });
    }
    if text == file.text() {
        lines.push(format!("{}: nothing to change, {SERVER} is there already", path.display()));
        return Ok(lines);
    }
    file.replace(&text).map_err(|error| not_written(path, &error))?;
    lines.push(format!("{}: set `{}.{SERVER}`", path.display(), client.servers_key()));
    if arguments.project && !arguments.no_policy {
        lines
            .push("A project's settings are for everyone who works on it, so they name no policy of yours.".to_owned());
    }
    lines.push(client.advice().to_owned());
    Ok(lines)
}

/// Removes the entry. Returns what it did.
fn remove(arguments: &Args, path: &Path) -> Result<Vec<String>, String> {
    let place = format!("`{}.{SERVER}`", arguments.client.servers_key());
    let file = SettingsFile::read(path).map_err(|error| not_read(path, &error))?;
    let nothing = || vec![format!("{}: nothing to remove, there is no {place}", path.display())];
    if file.text().trim().is_empty() {
        return Ok(nothing());
    }
    let text = changed(arguments.client, path, file.text(), Change::Remove)?;
    if text.trim_end() == file.text().trim_end() {
        return Ok(nothing());
    }
    if arguments.print {
        return Ok(vec![format!("{}: {place} would be removed", path.display())]);
    }
    file.replace(&text).map_err(|error| not_written(path, &error))?;
    Ok(vec![format!("{}: removed {place}", path.display())])
}

/// Shows the entry in settings that hold nothing else, since others may be secret, and the policy.
fn shown(
    client: Client,
    path: &Path,
    entry: &Map<String, Value>,
    policy: Option<&Path>,
) -> Result<Vec<String>, String> {
    let text = changed(client, path, "", Change::Set(entry))?;
    let mut lines = vec![format!("{}:\n\n{text}", path.display())];
    if let Some(policy) = policy {
        let is_there = fs::symlink_metadata(policy).is_ok();
        let text = if is_there { "(kept as it is)\n" } else { POLICY };
        lines.push(format!("{}:\n\n{text}", policy.display()));
    }
    lines.push("Nothing was written.".to_owned());
    Ok(lines)
}

/// Returns the text of settings after the change.
fn changed(client: Client, path: &Path, text: &str, change: Change<'_>) -> Result<String, String> {
    settings::changed(client.format(), text, (client.servers_key(), SERVER), change).map_err(|problem| {
        format!("{}: {problem}\nNothing was written. Correct the file, then run the command again.", path.display())
    })
}

/// Returns the program that the client starts: this one by its path, since clients pass on no PATH. Settings of a
/// project go to other machines, so they hold the name.
fn command(arguments: &Args) -> Result<String, String> {
    if arguments.project {
        return Ok(SERVER.to_owned());
    }
    let program = std::env::current_exe().map_err(|error| format!("the path of this program is unknown: {error}"))?;
    let text = program.to_str().map(str::to_owned);
    text.ok_or_else(|| format!("the path of this program is not UTF-8, and settings are: {}", program.display()))
}

/// Returns the arguments of the server: the user's own, and those of the client and the policy that they do not give.
fn server_arguments(arguments: &Args, policy: Option<&Path>) -> Vec<String> {
    let is_given = |option: &str| gives(&arguments.server, option);
    let options = arguments.client.options();
    let options = options.iter().filter(|_| !is_given("--meta") && !is_given("--classic")).map(|&word| word.to_owned());
    let policy = policy.into_iter().flat_map(|path| ["--policy".to_owned(), path.display().to_string()]);
    arguments.server.iter().cloned().chain(options).chain(policy).collect()
}

/// Whether words give an option.
fn gives(words: &[String], option: &str) -> bool {
    words.iter().any(|word| word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
}

/// Returns the file of the user's policy; `None` if the server is to have none, or has another one.
fn policy_path(arguments: &Args, places: &Places) -> Option<PathBuf> {
    let is_wanted = !arguments.no_policy && !arguments.project && !gives(&arguments.server, "--policy");
    is_wanted.then(|| places.config().join("climax/policy.yaml"))
}

/// Checks a policy that is there, because a server does not start with an invalid one.
fn check_policy(catalog: &'static Catalog, path: &Path) -> Result<(), String> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let wanted = Wanted::default();
    let loaded = load::load_tools(catalog, &wanted, Some(path));
    let reason = |error: load::LoadError| match error {
        load::LoadError::Files(found) => found.render(Style::Plain),
        other => other.to_string(),
    };
    let advice = "Nothing was written. Correct the policy, or serve without it: --no-policy";
    loaded.map(drop).map_err(|error| format!("the policy cannot be used\n{}\n{advice}", reason(error)))
}

fn not_read(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}. Nothing was written.", path.display())
}

fn not_written(path: &Path, error: &std::io::Error) -> String {
    format!("{}: cannot be written: {error}", path.display())
}
