//! `climax install`: writes climax into the settings of a client.

mod client;
mod file;
mod hook;
mod policy;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args as _, ValueEnum as _};
use climax_catalog::Catalog;
use climax_shell::{Body, Word};
use serde_json::{Map, Value};

use self::client::{Client, Places};
use self::file::SettingsFile;
use self::hook::HookPlace;
use self::policy::OwnPolicy;
use self::settings::Change;
use crate::command::hook::HookOptions;
use crate::command::output::{FAILURE, print, usage};
use crate::command::run::RunArguments;
use crate::command::selection::Selection;
use crate::command::terminal;
use crate::identity;

#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    settings: Settings,
    /// Show what would be written, and write nothing
    #[arg(long)]
    print: bool,
    /// Take the server, or with --hook the hook, out of the settings
    #[arg(long)]
    remove: bool,
    /// Instead of the server write a hook, which judges the lines of the client's own shell
    #[arg(long, conflicts_with_all = ["names", "no_policy", "project"])]
    hook: bool,
    /// Write the hook of a client whose hooks nobody has run with this program
    #[arg(long, requires = "hook")]
    untried: bool,
    /// Serve without a policy, and write none
    #[arg(long)]
    no_policy: bool,
    #[command(flatten)]
    selection: Selection,
    /// Further options for the server, such as `-- --meta search,run`, or for the hook, such as `-- --audit FILE`
    #[arg(last = true, value_name = "OPTION")]
    server: Vec<String>,
}

/// Which settings are changed.
#[derive(clap::Args, Debug)]
struct Settings {
    /// The client
    #[arg(value_enum)]
    client: Client,
    /// Change the settings of the project in the current directory, not the user's
    #[arg(long)]
    project: bool,
}

/// Writes the settings. Exit status 1, with all settings unchanged, if the server could not start, or if a file is
/// invalid or cannot be written.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let path = match settings_path(arguments).and_then(|path| check_options(arguments).map(|()| path)) {
        Ok(path) => path,
        Err(message) => return usage(&message),
    };
    let policy = own_policy(arguments).filter(|_| wants_policy(catalog, arguments));
    if !arguments.remove {
        let mut selection = arguments.selection.clone();
        selection.sources.policy = selection.sources.policy.or(policy.as_ref().and_then(OwnPolicy::existing));
        // A server with a broken config would not start, and clients do not say why.
        if let Err(code) = selection.load(catalog) {
            return code;
        }
    }

    let done = match (arguments.hook, arguments.remove) {
        (true, _) => change_hook(arguments, policy.as_ref()),
        (false, true) => remove(arguments, &path),
        (false, false) => install(arguments, &path, policy.as_ref()),
    };
    match done {
        Ok(lines) => print(&lines.join("\n"), ExitCode::SUCCESS),
        Err(message) => {
            terminal::complain(&message);
            ExitCode::from(FAILURE)
        }
    }
}

/// Checks the options for the server or the hook: with a wrong one it would not start, and clients do not say why.
fn check_options(arguments: &Args) -> Result<(), String> {
    let (kind, parser) = if arguments.hook {
        ("hook", HookOptions::augment_args(clap::Command::new("hook").no_binary_name(true)))
    } else {
        ("server", RunArguments::augment_args(clap::Command::new("run").no_binary_name(true)))
    };
    match parser.try_get_matches_from(&arguments.server) {
        Err(error) if error.use_stderr() => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Err(format!("the {kind} does not take the options after `--`: {first}"))
        }
        _ => Ok(()),
    }
}

/// The policy of the user, or of the project whose settings are changed.
fn own_policy(arguments: &Args) -> Option<OwnPolicy> {
    if arguments.settings.project {
        return Some(OwnPolicy::of_project(&directory()));
    }
    places().map(|places| OwnPolicy::of_user(&places))
}

/// Whether the server gets a policy of its own. One that is compiled in already says what is asked before.
fn wants_policy(catalog: &Catalog, arguments: &Args) -> bool {
    let has_other = arguments.selection.sources.policy.is_some() || gives(&arguments.server, "--policy");
    !arguments.no_policy && !has_other && catalog.policy.is_none()
}

/// Returns the file of the settings to change.
fn settings_path(arguments: &Args) -> Result<PathBuf, String> {
    let client = arguments.settings.client;
    if arguments.settings.project {
        let none = || format!("{} has no settings for projects: leave out --project", client.title());
        return client.project_file(&directory()).ok_or_else(none);
    }
    let places = places().ok_or("HOME is not set, so the settings cannot be found: set HOME")?;
    Ok(client.user_file(&places))
}

/// Returns the directories that settings are in; `None` without a home directory.
fn places() -> Option<Places> {
    variable("HOME").map(|home| Places { home, variable })
}

/// Returns the directory that a variable names.
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn directory() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

/// A server, or a hook, that the settings of a client start.
pub(super) struct InstalledServer {
    pub(super) client: &'static str,
    /// The settings.
    pub(super) path: PathBuf,
    /// The words of the command, or why they cannot be read.
    pub(super) command: Result<Vec<String>, String>,
}

/// Finds this program in the settings of the user's clients and of the project in the current directory.
pub(super) fn installed_servers() -> Vec<InstalledServer> {
    let places = places();
    let files = Client::value_variants().iter().flat_map(|&client| {
        let user = places.as_ref().map(|places| client.user_file(places));
        // In the home directory both may be one file.
        let project = client.project_file(&directory()).filter(|path| Some(path) != user.as_ref());
        [user, project].into_iter().flatten().map(move |path| (client, path))
    });
    files.filter_map(|(client, path)| installed_server(client, path)).collect()
}

/// Finds the hooks of this program in the settings of the user's clients, each with the words of its command.
pub(super) fn installed_hooks() -> Vec<InstalledServer> {
    let Some(places) = places() else { return Vec::new() };
    let hooks = Client::value_variants().iter().filter_map(|&client| {
        let place = HookPlace::of(client, &places)?;
        let line = place.command(&fs::read_to_string(&place.path).ok()?, &hook_mark(client))?;
        Some(InstalledServer { client: client.title(), path: place.path, command: words_of_line(&line) })
    });
    hooks.collect()
}

/// Returns the words of the command of a hook.
fn words_of_line(line: &str) -> Result<Vec<String>, String> {
    let script = climax_shell::parse(line).map_err(|error| error.to_string())?;
    let command = script.list.items.first().and_then(|chain| chain.first.commands.first());
    let words = match command.map(|command| &command.body) {
        Some(Body::Simple(simple)) => simple.words.iter().map(Word::literal).collect::<Option<Vec<String>>>(),
        _ => None,
    };
    words.ok_or_else(|| format!("the command of the hook is not one of this program: {line}"))
}

/// Reads a client's settings; `None` without settings or without this program in them.
fn installed_server(client: Client, path: PathBuf) -> Option<InstalledServer> {
    let text = fs::read_to_string(&path).ok()?;
    let place = (client.servers_key(), identity::name());
    let command = match settings::entry(client.format(), &text, place) {
        Ok(entry) => words_of(&entry?),
        // Settings that do not name this program are no matter of its own.
        Err(_) if !text.contains(identity::name()) => return None,
        Err(problem) => Err(problem.to_string()),
    };
    Some(InstalledServer { client: client.title(), path, command })
}

/// Returns the words of the command that an entry starts.
fn words_of(entry: &Value) -> Result<Vec<String>, String> {
    let texts = |value: &Value| match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let words = [texts(&entry["command"]), texts(&entry["args"])].concat();
    if words.is_empty() { Err("the entry has no `command`".to_owned()) } else { Ok(words) }
}

/// Adds or updates the entry, and writes the policy if there is none. Returns what it did.
fn install(arguments: &Args, path: &Path, policy: Option<&OwnPolicy>) -> Result<Vec<String>, String> {
    let client = arguments.settings.client;
    let entry = client.entry(&command(arguments)?, &server_arguments(arguments, policy)?);
    let file = SettingsFile::read(path).map_err(|error| not_read(path, &error))?;
    let text = changed(client, path, file.text(), Change::Set(&entry))?;
    if arguments.print {
        return shown(client, path, &entry, policy);
    }

    let written =
        policy.map(|policy| policy.write().map_err(|error| not_written(policy.path(), &error))).transpose()?;
    let mut lines = Vec::from_iter(written);
    if text == file.text() {
        lines.push(format!("{}: nothing to change, {} is there already", path.display(), identity::name()));
        return Ok(lines);
    }

    file.replace(&text).map_err(|error| not_written(path, &error))?;
    lines.push(format!("{}: set `{}.{}`", path.display(), client.servers_key(), identity::name()));
    lines.push(client.advice().into_owned());

    Ok(lines)
}

/// Removes the entry. Returns what it did.
fn remove(arguments: &Args, path: &Path) -> Result<Vec<String>, String> {
    let place = format!("`{}.{}`", arguments.settings.client.servers_key(), identity::name());
    let file = SettingsFile::read(path).map_err(|error| not_read(path, &error))?;
    let nothing = || vec![format!("{}: nothing to remove, there is no {place}", path.display())];
    if file.text().trim().is_empty() {
        return Ok(nothing());
    }

    let text = changed(arguments.settings.client, path, file.text(), Change::Remove)?;
    if text.trim_end() == file.text().trim_end() {
        return Ok(nothing());
    }
    if arguments.print {
        return Ok(vec![format!("{}: {place} would be removed", path.display())]);
    }

    file.replace(&text).map_err(|error| not_written(path, &error))?;
    Ok(vec![format!("{}: removed {place}", path.display())])
}

/// Adds, updates or removes the hook. Returns what it did.
fn change_hook(arguments: &Args, policy: Option<&OwnPolicy>) -> Result<Vec<String>, String> {
    let client = arguments.settings.client;
    let title = client.title();
    let places = places().ok_or("HOME is not set, so the settings cannot be found: set HOME")?;
    let place = HookPlace::of(client, &places).ok_or_else(|| {
        format!("{title} has no hooks that this program can write: see its guide in the documentation")
    })?;
    if client == Client::Cursor && !arguments.untried && !arguments.remove {
        return Err(format!(
            "nobody has run a hook of {title} with this program: add --untried to write it all the same"
        ));
    }

    let path = &place.path;
    let mark = hook_mark(client);
    let file = SettingsFile::read(path).map_err(|error| not_read(path, &error))?;
    let invalid = |problem| format!("{}: {problem}\nNothing was written.", path.display());
    if arguments.remove {
        let text = place.without(file.text(), &mark).map_err(invalid)?;
        if place.command(file.text(), &mark).is_none() {
            return Ok(vec![format!(
                "{}: nothing to remove, there is no hook of {}",
                path.display(),
                identity::name()
            )]);
        }
        if arguments.print {
            return Ok(vec![format!("{}: the hook would be removed", path.display())]);
        }
        let removed = match text {
            Some(text) => file.replace(&text),
            None => fs::remove_file(path),
        };
        removed.map_err(|error| not_written(path, &error))?;
        return Ok(vec![format!("{}: removed the hook", path.display())]);
    }

    let mut words = vec![command(arguments)?, "hook".to_owned(), name_of(client)];
    words.extend(source_words(&arguments.selection, policy)?);
    words.extend(arguments.server.iter().cloned());
    let text = place.with(file.text(), &words, &mark).map_err(invalid)?;
    if arguments.print {
        let shown = place.with("", &words, &mark).map_err(invalid)?;
        return Ok(vec![format!("{}:\n\n{shown}", path.display()), "Nothing was written.".to_owned()]);
    }
    let written =
        policy.map(|policy| policy.write().map_err(|error| not_written(policy.path(), &error))).transpose()?;
    let mut lines = Vec::from_iter(written);
    if text == file.text() {
        lines.push(format!("{}: nothing to change, the hook is there already", path.display()));
        return Ok(lines);
    }
    file.replace(&text).map_err(|error| not_written(path, &error))?;
    lines.push(format!("{}: {title} asks `{}` about each line of its shell", path.display(), identity::name()));
    lines.extend(hook::advice(client).map(str::to_owned));
    Ok(lines)
}

/// The words by which the hook of a client is known in its settings, behind the program.
fn hook_mark(client: Client) -> String {
    format!(" hook {}", name_of(client))
}

/// The name of a client on the command line.
fn name_of(client: Client) -> String {
    client.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Shows the entry and the policy alone, since the rest of the settings may hold secrets.
fn shown(
    client: Client,
    path: &Path,
    entry: &Map<String, Value>,
    policy: Option<&OwnPolicy>,
) -> Result<Vec<String>, String> {
    let text = changed(client, path, "", Change::Set(entry))?;
    let mut lines = vec![format!("{}:\n\n{text}", path.display())];
    lines.extend(policy.map(OwnPolicy::shown));
    lines.push("Nothing was written.".to_owned());
    Ok(lines)
}

/// Returns the text of settings after the change.
fn changed(client: Client, path: &Path, text: &str, change: Change<'_>) -> Result<String, String> {
    settings::changed(client.format(), text, (client.servers_key(), identity::name()), change).map_err(|problem| {
        format!("{}: {problem}\nNothing was written. Correct the file, then run the command again.", path.display())
    })
}

/// Returns the program that the client starts: this one by its path, since clients pass on no PATH. Settings of a
/// project go to other machines, so they hold the name.
fn command(arguments: &Args) -> Result<String, String> {
    if arguments.settings.project {
        return Ok(identity::name().to_owned());
    }
    let program = std::env::current_exe().map_err(|error| format!("the path of this program is unknown: {error}"))?;
    let text = program.to_str().map(str::to_owned);
    text.ok_or_else(|| format!("settings are UTF-8, but the path of this program is not: {}", program.display()))
}

/// Returns the arguments of the server: the user's own, and the options that suit the client. Paths become absolute,
/// because clients start servers in directories of their own choice.
fn server_arguments(arguments: &Args, policy: Option<&OwnPolicy>) -> Result<Vec<String>, String> {
    let mut words = arguments.selection.names();
    words.extend(source_words(&arguments.selection, policy)?);
    let is_given = |option: &str| gives(&arguments.server, option);
    if !["--meta", "--classic", "--extended", "--answers"].into_iter().any(is_given) {
        words.extend(OPTIONS.iter().map(|&word| word.to_owned()));
    }

    words.extend(arguments.server.iter().cloned());
    Ok(words)
}

/// Returns the options that say where tools and the policy are. Paths become absolute.
fn source_words(selection: &Selection, policy: Option<&OwnPolicy>) -> Result<Vec<String>, String> {
    let sources = &selection.sources;
    let mut words = Vec::new();
    for config in &sources.configs {
        words.extend(["--config".to_owned(), absolute(config)?]);
    }

    words.extend(sources.only.then(|| "--only".to_owned()));
    let policy = match (&sources.policy, policy) {
        (Some(given), _) => Some(absolute(given)?),
        (None, Some(own)) => Some(utf8(own.word())?),
        (None, None) => None,
    };
    if let Some(policy) = policy {
        words.extend(["--policy".to_owned(), policy]);
    }
    if let Some(level) = sources.confine {
        words.extend(["--confine".to_owned(), level.as_str().to_owned()]);
    }
    if let Some(unknown) = sources.unknown {
        words.extend(["--unknown".to_owned(), unknown.as_str().to_owned()]);
    }
    Ok(words)
}

/// The options of the server that suit all clients: calls that only read have a tool of their own, since some clients ask before
/// each destructive tool, and lines run without a search.
const OPTIONS: [&str; 4] = ["--meta", "search,call,read,run", "--answers", "compact"];

/// Returns a path as an absolute one.
fn absolute(path: &Path) -> Result<String, String> {
    let absolute = std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
    utf8(&absolute)
}

fn utf8(path: &Path) -> Result<String, String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| format!("{}: settings are UTF-8, but this path is not: rename it", path.display()))
}

/// Whether words give an option.
fn gives(words: &[String], option: &str) -> bool {
    words.iter().any(|word| word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
}

fn not_read(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}. Nothing was written.", path.display())
}

fn not_written(path: &Path, error: &std::io::Error) -> String {
    format!("{}: cannot be written: {error}", path.display())
}
