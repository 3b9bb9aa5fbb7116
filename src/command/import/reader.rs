//! Runs a program and its subcommands for their help.

use std::cell::Cell;
use std::time::{Duration, Instant};

use climax_import::{self as import, Flag, HelpPage};

use super::progress::Progress;
use super::scratch::{Failure, ScratchRunner};
use crate::command::terminal;

/// How long a program may take to print its first page.
const FIRST_LIMIT: Duration = Duration::from_secs(10);

/// How long a subcommand may take at least to print its page.
const HELP_LIMIT: Duration = Duration::from_secs(2);

/// How many times as long as the first page another one may take: four run at once on each processor.
const SLOWER: u32 = 12;

/// How much of what a program printed a message quotes, in characters.
const FIRST_LINE_CHARS: usize = 120;

/// Texts by which a page names a longer one, and the words that print it.
const LONGER: [(&str, &[&str]); 6] = [
    ("  -h all ", &["--help", "all"]),
    ("--help all", &["--help", "all"]),
    ("--help=all", &["--help=all"]),
    ("--help=#all", &["--help=#all"]),
    ("--help-all", &["--help-all"]),
    ("--help options", &["--help", "options"]),
];

/// The command line that prints the help of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HelpForm {
    /// `PROGRAM SUBCOMMAND --help`.
    Long,
    /// `PROGRAM SUBCOMMAND -h`.
    Short,
    /// `PROGRAM help SUBCOMMAND`, for programs with a command `help`.
    Command,
    /// `PROGRAM SUBCOMMAND` alone, which prints a usage line if it needs operands. Only in a cage: others do their work.
    Bare,
}

impl HelpForm {
    /// Returns whether what a form printed is a help at all.
    fn is_help(self, text: &str) -> bool {
        self != Self::Bare || text.to_ascii_lowercase().contains("usage:")
    }
}

/// A command whose help has not been read yet.
#[derive(Default)]
pub(super) struct PendingCommand {
    pub(super) words: Vec<String>,
    /// Other spellings of these words.
    pub(super) aliases: Vec<String>,
    pub(super) about: String,
    /// Whether the command before it runs it where no command is named.
    pub(super) is_default: bool,
    /// The options of the commands before it, with the number of words that stand before each.
    pub(super) leading: Vec<(usize, Flag)>,
    /// Its usage lines in the help of its parent.
    pub(super) usages: Vec<String>,
    /// The help of its ancestors, to recognize a program that prints the same help for a subcommand.
    pub(super) ancestors: Vec<String>,
}

/// The help of a command, as text and parsed.
pub(super) struct Help {
    pub(super) text: String,
    pub(super) page: HelpPage,
}

/// Runs a program and its subcommands for their help.
pub(super) struct HelpReader<'a> {
    program: &'a str,
    runner: &'a ScratchRunner,
    /// How long a page may take.
    limit: Cell<Duration>,
    /// Whether to say on standard error what cannot be read.
    is_quiet: bool,
    /// The form that worked last.
    form: Cell<HelpForm>,
    has_help_command: Cell<bool>,
    /// Whether to add options of manual pages.
    manual: bool,
    pub(super) progress: Progress,
}

impl<'a> HelpReader<'a> {
    /// `manual` tells whether to add options of manual pages.
    pub(super) fn new(program: &'a str, runner: &'a ScratchRunner, (manual, is_quiet): (bool, bool)) -> Self {
        let progress = Progress::default();
        // The help of the program itself.
        progress.add(1);
        Self {
            program,
            runner,
            limit: Cell::new(FIRST_LIMIT),
            is_quiet,
            form: Cell::new(HelpForm::Long),
            has_help_command: Cell::new(false),
            manual,
            progress,
        }
    }

    /// Reads the help of the command that the import starts from.
    pub(super) async fn first(&self, words: &[String]) -> Result<Help, String> {
        let mut printed = Vec::new();
        let start = Instant::now();
        for form in [HelpForm::Long, HelpForm::Short].into_iter().chain(self.bare()) {
            let text = match self.help(words, form).await {
                Ok(text) => text,
                Err(message) if printed.is_empty() => return Err(message),
                Err(_) => break,
            };
            let text = self.listing(words, text).await;
            let page = import::read(&text, words);
            let is_short = LONGER.iter().any(|(sign, _)| text.contains(sign));
            let says_something = page.says_something() && form.is_help(&text);
            if (says_something || is_short) && !(page.is_manual && form == HelpForm::Long) {
                if form != HelpForm::Bare {
                    self.form.set(form);
                }
                self.limit.set(HELP_LIMIT.max(SLOWER * start.elapsed()).min(FIRST_LIMIT));
                let mentions_help = |line: &str| line.trim_start().starts_with("help ");
                self.has_help_command.set(text.lines().any(mentions_help));
                return Ok(self.longer(words, Help { text, page }).await);
            }
            printed.push((text, page));
        }
        let said = printed.iter().find_map(|(text, _)| text.lines().find(|line| !line.trim().is_empty()));
        let said = said.map(|line| line.trim().chars().take(FIRST_LINE_CHARS).collect::<String>());
        // Without other help the manual page is used.
        if let Some((text, page)) = printed.into_iter().find(|(_, page)| page.says_something()) {
            return Ok(Help { text, page });
        }
        let command =
            std::iter::once(self.program).chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        let first_line = said.map_or_else(String::new, |line| format!(" (it printed {line:?})"));
        Err(format!(
            "neither `{command} --help` nor `{command} -h` printed options, subcommands or a usage line with \
             operands{first_line}; see what they print, and write the config by hand"
        ))
    }

    /// Returns the list of subcommands, where `--help` explains the command that prints it.
    ///
    /// Source: the component Console of Symfony, which cleo of Python follows.
    async fn listing(&self, words: &[String], text: String) -> String {
        if !words.is_empty() || !text.contains("The list command lists all commands") {
            return text;
        }
        self.output(["list"]).await.unwrap_or(text)
    }

    /// Returns the longer page that a help names, if it has more to say: `prog help sub`, `prog --help all`.
    async fn longer(&self, words: &[String], help: Help) -> Help {
        let command = format!("help {}", words.join(" "));
        let full = LONGER.iter().find(|(sign, _)| help.text.contains(sign));
        let more = if let Some((_, options)) = full {
            self.output(words.iter().map(String::as_str).chain(options.iter().copied())).await
        } else if !words.is_empty() && help.text.contains(&format!("{command}` for more")) {
            self.help(words, HelpForm::Command).await
        } else {
            return help;
        };
        let Ok(text) = more else { return help };
        let page = import::read(&text, words);
        if page.is_manual || page.command.options.len() < help.page.command.options.len() {
            return help;
        }

        let page = help.page.with_details_of(page);
        Help { text: help.text, page }
    }

    /// Reads the help of a subcommand; `None` if it has no help of its own.
    pub(super) async fn subcommand(&self, pending: PendingCommand) -> (PendingCommand, Option<Help>) {
        let found = self.help_of(pending).await;
        self.progress.finished();
        found
    }

    async fn help_of(&self, pending: PendingCommand) -> (PendingCommand, Option<Help>) {
        let best = if self.manual { HelpForm::Long } else { self.form.get() };
        let mut forms = vec![best];
        forms.extend([HelpForm::Long, HelpForm::Short].into_iter().filter(|form| *form != best));
        forms.extend(Some(HelpForm::Command).filter(|_| self.has_help_command.get()));
        forms.extend(self.bare());
        let mut manual = None;
        for form in forms {
            let text = match self.help(&pending.words, form).await {
                Ok(text) => text,
                Err(message) => {
                    if !self.is_quiet {
                        terminal::complain(&message);
                    }
                    break;
                }
            };
            let page = import::read(&text, &pending.words);
            // The help of an ancestor: the program ignores the subcommand, and `-h` could have side effects.
            if pending.ancestors.contains(&text) {
                let help = self.by_help_command(&pending, form).await;
                return (pending, help.or(manual));
            }
            if !page.says_something() || !form.is_help(&text) || form == HelpForm::Bare && manual.is_some() {
                continue;
            }
            if page.is_manual {
                manual.get_or_insert(Help { text, page });
                continue;
            }
            let page = match manual {
                Some(Help { page: manual, .. }) if self.manual => page.with_options_of(manual),
                _ => page,
            };
            if !matches!(form, HelpForm::Command | HelpForm::Bare) {
                self.form.set(form);
            }
            let help = self.longer(&pending.words, Help { text, page }).await;
            return (pending, Some(help));
        }

        (pending, manual)
    }

    /// Reads what `PROGRAM help SUBCOMMAND` prints of a subcommand that another form printed nothing about.
    async fn by_help_command(&self, pending: &PendingCommand, tried: HelpForm) -> Option<Help> {
        if tried == HelpForm::Command {
            return None;
        }
        let text = self.help(&pending.words, HelpForm::Command).await.unwrap_or_default();
        let page = import::read(&text, &pending.words);
        // A manual, and a page that lists the subcommand itself, are about the command before it.
        let listed = import::read(&text, &[]).subcommands;
        let is_of_parent = page.is_manual || listed.iter().any(|own| pending.words.last() == Some(&own.name));
        let is_own = page.says_something() && !is_of_parent && !pending.ancestors.contains(&text);
        is_own.then_some(Help { text, page })
    }

    /// Reads the options that all commands share.
    pub(super) async fn common_options(&self, words: &[&str]) -> Vec<import::Flag> {
        let text = self.output(words.iter().copied()).await.unwrap_or_default();
        import::read(&text, &[]).command.options
    }

    /// Runs a command for its help.
    async fn help(&self, words: &[String], form: HelpForm) -> Result<String, String> {
        let words = words.iter().map(String::as_str);
        match form {
            HelpForm::Long => self.output(words.chain(["--help"])).await,
            HelpForm::Short => self.output(words.chain(["-h"])).await,
            HelpForm::Command => self.output(["help"].into_iter().chain(words)).await,
            HelpForm::Bare => self.output(words).await,
        }
    }

    /// Returns the form without an option, where a cage holds what the command does then.
    fn bare(&self) -> Option<HelpForm> {
        self.runner.is_caged().then_some(HelpForm::Bare)
    }

    /// Runs the program. Returns its standard output, or its standard error if that is empty.
    pub(super) async fn output(&self, words: impl IntoIterator<Item = &str>) -> Result<String, String> {
        let argv = std::iter::once(self.program.to_owned()).chain(words.into_iter().map(str::to_owned)).collect();
        self.output_of(argv).await
    }

    /// Runs a command of another program.
    pub(super) async fn output_of(&self, argv: Vec<String>) -> Result<String, String> {
        let command = argv.join(" ");
        self.progress.started(&command);
        let limit = self.limit.get();
        self.runner.output(argv, limit).await.map_err(|failure| match failure {
            Failure::Start(error) => format!("{error}; name a program that is on the PATH, or give its path"),
            Failure::TimedOut => {
                let seconds = limit.as_secs();
                format!("`{command}` was still running after {seconds} s and was ended: it printed no help, or waits")
            }
        })
    }
}
