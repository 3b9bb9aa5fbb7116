//! Semantic checks: [`Config`] → [`CheckedCli`], with every mistake reported.
//!
//! The result may be lowered only if no error was reported.

use std::collections::HashMap;

use crate::checked::{CheckedArg, CommandPart};
use crate::diagnostic::{Code, Diagnostic};
use crate::effects::Effects;
use crate::needs::Needs;
use crate::read::config::{Config, ExitCodeConfig, ResolveConfig, ToolConfig};
use crate::read::lint::Silenced;
use crate::source::{Source, Span, Spanned};
use crate::table::{CheckedCli, CheckedQuestion, CheckedResolve, CheckedTool};
use crate::template::{self, Piece};
use crate::uri::UriTemplate;

pub(crate) mod arg;
mod command;
mod effects;
mod native;
mod output;
mod prompt;
pub(crate) mod question;
mod resource;
mod shape;

/// An item that a server may have already when configs are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedItem<'a> {
    /// A CLI of this name.
    Cli(&'a str),
    /// A tool of this name.
    Tool(&'a str),
    /// A prompt of this name.
    Prompt(&'a str),
    /// A resource whose URI is of this form ([`UriTemplate::form`]).
    Resource(&'a str),
}

/// Longest tool name that MCP allows.
const MAX_TOOL_NAME_CHARS: usize = 128;
/// Longest tool name that every known client accepts.
const PORTABLE_TOOL_NAME_CHARS: usize = 64;
/// Default timeout of a tool.
const DEFAULT_TIMEOUT_MS: u32 = 30_000;
/// Default timeout of a `resolve` look-up.
const DEFAULT_RESOLVE_TIMEOUT_MS: u32 = 10_000;

/// Checks one config.
pub(crate) fn check(source: &Source, config: Config, out: &mut Vec<Diagnostic>) -> CheckedCli {
    let mut checker = Checker { source, out };
    checker.env_names(&config.env);
    if let Some(name) = &config.name {
        checker.not_empty(name, "`name` of the config");
    }

    let is_native = config.native.as_ref().is_some_and(|native| native.value);
    if is_native {
        checker.native(&config);
    }

    let common_args = checker.args(config.common_args);
    let common_names: Vec<&str> = common_args.iter().map(|arg| arg.name.as_str()).collect();
    let base = checker.command(config.command.as_ref(), &common_names, "`common_args`").parts;
    let programs = checker.programs(config.programs, &base);
    let always = checker.words(config.always.as_ref());
    let global_args = checker.global_args(config.global_args);
    let shared = SharedParts {
        needs: config.needs.as_ref(),
        effects: config.effects.as_ref().map(|effects| &effects.value.effects),
        // A missing command was reported, and a native config needs none.
        needs_words: config.command.is_some() && !is_native && base.is_empty(),
        base: &base,
        common_args: &common_args,
        has_globals: global_args.iter().any(|arg| arg.default.is_some()),
    };
    checker.tool_names(&config.tools);
    let prompts = checker.prompts(config.prompts, &config.tools);
    let tools = config.tools.into_iter().map(|tool| checker.tool(tool, &shared)).collect();

    CheckedCli {
        path: source.path().to_owned(),
        name_span: config.name.as_ref().map(|name| name.span),
        name: text_or(config.name, source.stem()),
        stem: source.stem().to_owned(),
        description: text_or(config.description, ""),
        category: config.category.map(|category| category.value),
        tags: config.tags.into_iter().map(|tag| tag.value).collect(),
        words: base,
        programs,
        always,
        variables: config.variables.into_iter().map(|variable| variable.value).collect(),
        has_boolean_values: config.boolean_values.is_some_and(|values| values.value),
        has_letter_equals: config.letter_equals.is_some_and(|values| values.value),
        env: config.env.into_iter().map(|(name, value)| (name.value, value.value)).collect(),
        needs: config.needs.map(|needs| needs.value),
        working_dir: config.working_dir.map(|dir| dir.value),
        global_args,
        tools,
        prompts,
    }
}

/// Drops each tool that a later config defines again, with a warning at the later one. Drops configs that lose all
/// tools.
///
/// `served` returns whether the server has an item already; replacing such an item is a warning too.
pub(crate) fn override_earlier(
    clis: &mut Vec<CheckedCli>,
    sources: &[Source],
    silenced: &[Silenced],
    served: &dyn Fn(ServedItem<'_>) -> bool,
) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let mut last: HashMap<String, usize> = HashMap::new();
    for (at, cli) in clis.iter().enumerate() {
        let mut own = Vec::new();
        for tool in &cli.tools {
            let replaced = match last.insert(tool.name.clone(), at) {
                None if served(ServedItem::Tool(&tool.name)) => "the compiled-in one".to_owned(),
                Some(earlier) if earlier != at => format!("the one of {}", clis[earlier].path),
                _ => continue,
            };
            let message = format!("tool `{}` replaces {replaced}", tool.name);
            let warning = sources[at].diagnostic(Code::Override, tool.name_span, message);
            own.push(warning.help("rename one of the two if both are wanted"));
        }
        own.extend(replaced_offers(cli, &sources[at], served));
        out.extend(silenced[at].apply(own));
    }

    let mut at = 0;
    clis.retain_mut(|cli| {
        let defined = cli.tools.len();
        cli.tools.retain(|tool| last.get(&tool.name) == Some(&at));
        at += 1;
        defined == 0 || !cli.tools.is_empty()
    });

    out
}

/// Returns warnings about prompts and resources that replace served ones.
fn replaced_offers(cli: &CheckedCli, source: &Source, served: &dyn Fn(ServedItem<'_>) -> bool) -> Vec<Diagnostic> {
    let warning = |span: Span, what: String| {
        let message = format!("{what} replaces the compiled-in one");
        source.diagnostic(Code::Override, span, message).help("rename one of the two if both are wanted")
    };
    let prompts = cli.prompts.iter().filter(|prompt| served(ServedItem::Prompt(&prompt.value.name)));
    let prompts = prompts.map(|prompt| warning(prompt.span, format!("prompt `{}`", prompt.value.name)));
    let uris = cli.tools.iter().filter_map(|tool| tool.resource.as_ref());
    let uris =
        uris.filter(|uri| UriTemplate::parse(&uri.value).is_ok_and(|uri| served(ServedItem::Resource(&uri.form()))));
    prompts.chain(uris.map(|uri| warning(uri.span, format!("resource `{}`", uri.value)))).collect()
}

/// The parts of a config that all of its tools share.
struct SharedParts<'a> {
    needs: Option<&'a Spanned<Needs>>,
    effects: Option<&'a Effects>,
    base: &'a [CommandPart],
    common_args: &'a [CheckedArg],
    has_globals: bool,
    /// Whether each tool needs a command of its own.
    needs_words: bool,
}

/// The command of a tool with its args, and what refers to these.
struct CommandParts {
    words: Vec<CommandPart>,
    args: Vec<CheckedArg>,
    questions: Vec<CheckedQuestion>,
    resource: Option<Spanned<String>>,
}

/// The checks of one config, and the mistakes that they have found.
struct Checker<'a> {
    source: &'a Source,
    out: &'a mut Vec<Diagnostic>,
}

impl Checker<'_> {
    /// Reports a mistake with what to do about it.
    fn report(&mut self, code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.out.push(self.source.diagnostic(code, span, message).help(help));
    }

    /// Checks that a text is not empty.
    fn not_empty(&mut self, text: &Spanned<String>, what: &str) {
        if text.value.trim().is_empty() {
            self.report(Code::EmptyValue, text.span, format!("{what} is empty"), "write a text");
        }
    }

    /// Checks the names of environment variables.
    fn env_names(&mut self, env: &[(Spanned<String>, Spanned<String>)]) {
        for (name, _) in env {
            if name.value.is_empty() || name.value.contains('=') {
                let message = format!("`{}` cannot be the name of an environment variable", name.value.escape_debug());
                self.report(Code::IllegalName, name.span, message, "use letters, digits and `_`");
            }
        }
    }

    /// Checks that each tool has a legal name of its own.
    fn tool_names(&mut self, tools: &[ToolConfig]) {
        let names: Vec<_> = tools.iter().filter_map(|tool| tool.name.as_ref()).collect();
        for name in &names {
            self.legal_name(name, "tool");
        }
        self.defined_once(&names, "tool", Code::DuplicateTool);
    }

    /// Reports each repeated name.
    fn defined_once(&mut self, names: &[&Spanned<String>], what: &str, code: Code) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for name in names {
            if let Some(first) = seen.get(name.value.as_str()) {
                let message = format!("{what} `{}` is defined twice", name.value);
                let again =
                    self.source.diagnostic(code, name.span, message).label("again here").also(*first, "first here");
                self.out.push(again.help("rename or remove one of the two"));
            } else {
                seen.insert(&name.value, name.span);
            }
        }
    }

    /// Checks the name of a tool or prompt against the limits of MCP and of clients.
    fn legal_name(&mut self, name: &Spanned<String>, what: &str) {
        let text = &name.value;
        let length = text.chars().count();
        if text.is_empty() {
            let message = format!("`name` of a {what} is empty");
            self.report(Code::EmptyValue, name.span, message, "write a name such as `git_log`");
        } else if length > MAX_TOOL_NAME_CHARS || !text.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
        {
            let message = format!("`{}` is no legal {what} name", crate::read::yaml::shorten(text));
            let help = format!("use 1 to {MAX_TOOL_NAME_CHARS} of the characters A-Z a-z 0-9 _ . -");
            self.report(Code::IllegalName, name.span, message, help);
        } else if length > PORTABLE_TOOL_NAME_CHARS {
            let message = format!(
                "{what} name has {length} characters, some clients refuse more than {PORTABLE_TOOL_NAME_CHARS}"
            );
            self.report(Code::LongName, name.span, message, "shorten it");
        }
    }

    /// Checks a tool with what it shares with the others of its config.
    fn tool(&mut self, mut tool: ToolConfig, shared: &SharedParts<'_>) -> CheckedTool {
        let name_span = tool.name.as_ref().map_or(Span { start: 0, end: 0 }, |name| name.span);
        if let Some(description) = &tool.description {
            self.not_empty(description, "`description` of a tool");
        }

        if let Some(title) = &tool.title {
            self.not_empty(title, "`title` of a tool");
        }

        tool.needs = tool.needs.or_else(|| shared.needs.filter(|needs| needs.value.cage.is_some()).cloned());
        // What a cage permits is the least that the tool can do, whatever its words are.
        let caged = tool.needs.as_ref().and_then(|needs| needs.value.caged_risk());
        tool.risk = tool.risk.max(caged);

        let CommandParts { words, args, questions, resource } = self.command_parts(&mut tool, shared);
        self.dangerous_variables(&args, tool.risk, name_span);
        let ToolConfig {
            name,
            title,
            description,
            aliases,
            always,
            groups,
            timeout,
            long,
            risk,
            sensitive,
            needs,
            effects,
            exit_codes,
            phrases,
            output,
            confirm_message,
            resolve,
            // Read with the command.
            args: _,
            without: _,
            ordered: _,
            command: _,
            resource: _,
            ask: _,
            // Read by the lints.
            allow: _,
        } = tool;
        let (output, output_schema) = output.map(|output| self.output(output)).unzip();

        CheckedTool {
            name: text_or(name, ""),
            name_span,
            title: title.map(|title| title.value),
            description: text_or(description, ""),
            aliases: self.spellings(aliases, "aliases", &words),
            words,
            always: self.words(always.as_ref()),
            groups: self.groups(groups, &args),
            effects: self.effects(effects, &args, shared),
            args,
            withheld: Vec::new(),
            timeout_ms: self.timeout_ms(timeout.as_ref(), DEFAULT_TIMEOUT_MS),
            is_long: long.is_some_and(|long| long.value),
            risk,
            is_sensitive: sensitive.is_some_and(|sensitive| sensitive.value),
            needs: needs.map(|needs| needs.value),
            approval_from: None,
            exit_codes: exit_codes.into_iter().filter_map(|entry| self.exit_code(entry)).collect(),
            phrases: self.phrases(phrases),
            output,
            output_schema: output_schema.flatten(),
            resource,
            questions,
            confirm_message: confirm_message.map(|message| message.value),
            resolves: resolve.into_iter().map(|entry| self.resolve(entry)).collect(),
        }
    }

    /// Checks the command and the args of a tool, and what refers to args.
    fn command_parts(&mut self, tool: &mut ToolConfig, shared: &SharedParts<'_>) -> CommandParts {
        self.repeated_places(&tool.args);
        self.templates(tool);
        let questions = self.questions(tool);
        let resource = self.resource(tool);
        let mut args = self.args(std::mem::take(&mut tool.args));
        self.add_common(&mut args, shared.common_args, &tool.without);
        for arg in &mut args {
            arg.from_user = questions.iter().any(|question| question.args.contains(&arg.name));
        }

        self.ordered(tool, &mut args);
        let words = self.tool_command(tool, &args, shared);
        CommandParts { words, args, questions, resource }
    }

    /// Adds the common args that a tool neither excludes nor defines itself.
    fn add_common(&mut self, args: &mut Vec<CheckedArg>, common: &[CheckedArg], without: &[Spanned<String>]) {
        let known: Vec<&str> = common.iter().map(|arg| arg.name.as_str()).collect();
        for name in without.iter().filter(|name| !known.contains(&name.value.as_str())) {
            self.unknown_name(name, "common arg", &known);
        }
        let is_excluded = |arg: &CheckedArg| without.iter().any(|name| name.value == arg.name);
        let own: Vec<String> = args.iter().map(|arg| arg.name.clone()).collect();
        args.extend(common.iter().filter(|arg| !is_excluded(arg) && !own.contains(&arg.name)).cloned());
    }

    /// Checks an exit code that is an answer. Source: `wait`(2): a status has 8 bits, and 0 is success.
    fn exit_code(&mut self, entry: ExitCodeConfig) -> Option<(u8, String)> {
        let ExitCodeConfig { code, meaning } = entry;
        let Some(number) = u8::try_from(code.value).ok().filter(|number| *number > 0) else {
            let message = format!("`{}` is no exit code that can be an answer", code.value);
            self.report(Code::IllegalExitCode, code.span, message, "write a number from 1 to 255; 0 is always success");
            return None;
        };

        self.not_empty(&meaning, "the meaning of an exit code");
        if meaning.value.contains('\n') {
            let message = "the meaning of an exit code has several lines".to_owned();
            self.report(Code::IllegalExitCode, meaning.span, message, "write a few words, such as `no match`");
        }

        Some((number, meaning.value))
    }

    /// Checks that no phrase is empty.
    fn phrases(&mut self, phrases: Vec<Spanned<String>>) -> Vec<String> {
        for phrase in &phrases {
            self.not_empty(phrase, "an item of `phrases`");
        }
        phrases.into_iter().map(|phrase| phrase.value).collect()
    }

    /// Converts a timeout in seconds to milliseconds; `default` if there is none or it is out of range.
    fn timeout_ms(&mut self, timeout: Option<&Spanned<f64>>, default: u32) -> u32 {
        let Some(timeout) = timeout else { return default };
        let millis = (timeout.value * 1000.0).round();
        if timeout.value > 0.0 && millis <= f64::from(u32::MAX) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
            return (millis as u32).max(1);
        }

        let message = format!("timeout must be more than 0 and at most {} seconds", u32::MAX / 1000);
        self.report(Code::IllegalTimeout, timeout.span, message, "write seconds, such as 30 or 0.5");
        default
    }

    /// Checks that `confirm_message` and the args of `resolve` name args of the tool or entries of `resolve`.
    fn templates(&mut self, tool: &ToolConfig) {
        let args: Vec<&str> = tool.args.iter().filter_map(|arg| Some(arg.name.as_ref()?.value.as_str())).collect();
        for (_, template) in tool.resolve.iter().flat_map(|entry| &entry.args) {
            self.template(template, &args, "an arg of the tool");
        }

        if let Some(message) = &tool.confirm_message {
            let names: Vec<&str> =
                args.iter().copied().chain(tool.resolve.iter().map(|entry| entry.name.value.as_str())).collect();
            self.template(message, &names, "an arg of the tool or an entry of its `resolve`");
        }
    }

    /// Checks that the placeholders of a template are among `names`, which are `what`.
    fn template(&mut self, text: &Spanned<String>, names: &[&str], what: &str) {
        for (range, piece) in template::parse(&text.value) {
            let shown = &text.value[range.clone()];
            match piece {
                Piece::Malformed(help) => {
                    let span = self.source.within(text, range);
                    self.report(Code::TemplateSyntax, span, format!("template cannot be read at `{shown}`"), help);
                }
                Piece::Placeholder(name) if !names.contains(&name) => {
                    let span = self.source.within(text, range);
                    let help = match crate::suggest::did_you_mean(name, names.iter().copied()) {
                        Some(near) => format!("did you mean `{{{near}}}`?"),
                        None if names.is_empty() => "there are no args; write the text without placeholders".to_owned(),
                        None => format!("write one of {}", names.join(", ")),
                    };
                    self.report(Code::UnknownPlaceholder, span, format!("`{shown}` does not name {what}"), help);
                }
                Piece::Placeholder(_) | Piece::Literal(_) => {}
            }
        }
    }

    /// Checks an entry of `resolve`.
    fn resolve(&mut self, entry: ResolveConfig) -> CheckedResolve {
        if let Some(command) = &entry.command {
            self.not_empty(command, "`command` of a `resolve` entry");
        }
        CheckedResolve {
            name: entry.name.value,
            words: self.words(entry.command.as_ref()),
            args: entry.args.into_iter().map(|(name, value)| (name.value, value.value)).collect(),
            timeout_ms: self.timeout_ms(entry.timeout.as_ref(), DEFAULT_RESOLVE_TIMEOUT_MS),
        }
    }
}

/// Returns a text, or the default of one that is absent.
fn text_or(text: Option<Spanned<String>>, default: &str) -> String {
    text.map_or_else(|| default.to_owned(), |text| text.value)
}
