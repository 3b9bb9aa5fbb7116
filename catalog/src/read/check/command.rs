//! Checks of commands: places of args, and the order of the words that a call gets.

use super::{Checker, SharedParts};
use crate::checked::{CheckedArg, CommandPart};
use crate::diagnostic::Code;
use crate::model::{Order, Place, Rest, Risk, STEPS, Shape};
use crate::read::config::{GroupConfig, ToolConfig};
use crate::source::{Span, Spanned};
use crate::table::CheckedGroup;
use crate::words::quote;

/// The name of the place of all options that have no place of their own.
const OPTIONS: &str = "options";

/// A command as it was read: its parts, and where it is written.
pub(super) struct Command {
    pub(super) parts: Vec<CommandPart>,
    pub(super) span: Span,
}

/// Returns whether what stands between braces is meant as a name. Else the word is text: `{}`, `{{.ID}}`, `{0}`, `{a,b}`.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

impl Checker<'_> {
    /// Reads the parts of a command. A word `{name}` is the place of the arg of this name, one of `args`, which `owner`
    /// has.
    pub(super) fn command(&mut self, text: Option<&Spanned<String>>, args: &[&str], owner: &str) -> Command {
        let span = text.map_or(Span { start: 0, end: 0 }, |text| text.span);
        let words = self.words(text);
        let parts = words.into_iter().map(|word| self.part(word, span, args, owner)).collect();
        Command { parts, span }
    }

    fn part(&mut self, word: String, span: Span, args: &[&str], owner: &str) -> CommandPart {
        let Some(name) = word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
            return CommandPart::Word(word);
        };
        if args.contains(&name) {
            return CommandPart::Arg(name.to_owned());
        }
        if name == OPTIONS {
            return CommandPart::Options;
        }
        if !is_name(name) {
            return CommandPart::Word(word);
        }

        let near = crate::suggest::did_you_mean(name, args.iter().copied().chain([OPTIONS]));
        let help = near.map_or_else(
            || format!("define an arg `{name}`, or remove the word"),
            |near| format!("did you mean `{{{near}}}`?"),
        );
        self.report(Code::UnknownPlaceholder, span, format!("`{word}` names no arg of {owner}"), help);

        CommandPart::Word(word)
    }

    /// Reads the command of a tool, and checks the order of its words.
    pub(super) fn tool_command(
        &mut self,
        tool: &ToolConfig,
        args: &[CheckedArg],
        shared: &SharedParts<'_>,
    ) -> Vec<CommandPart> {
        let names: Vec<&str> = args.iter().map(|arg| arg.name.as_str()).collect();
        let command = self.command(tool.command.as_ref(), &names, "the tool");
        if let (Some(name), true, true) = (&tool.name, shared.needs_words, command.parts.is_empty())
            && !name.value.is_empty()
        {
            let message = format!("tool `{}` has no command to run", name.value);
            self.report(Code::NoCommand, name.span, message, "set `command` of the config or of the tool");
        }

        let whole = Command { parts: [shared.base, &command.parts].concat(), span: command.span };
        if let (Some(name), Some(CommandPart::Arg(_) | CommandPart::Options)) = (&tool.name, whole.parts.first()) {
            let message =
                format!("the command of tool `{}` starts with a place, where its program has to stand", name.value);
            let help =
                "write the program: no value becomes the name of one; a tool for each, or `aliases`, tells them apart";
            self.report(Code::NoCommand, whole.span, message, help);
        }
        self.order(&whole, args, shared.has_globals, tool);
        command.parts
    }

    /// Checks other spellings of a command: words that stand in the place of its own.
    pub(super) fn spellings(&mut self, texts: Vec<Spanned<String>>, key: &str, command: &[CommandPart]) -> Vec<String> {
        let is_word = |part: &CommandPart| matches!(part, CommandPart::Word(word) if !word.starts_with('-'));
        if let Some(first) = texts.first().filter(|_| !command.iter().any(is_word)) {
            let message = format!("`{key}` has no effect: the command has no words that they stand for");
            self.report(Code::NoEffect, first.span, message, "remove it");
        }

        for text in &texts {
            let words = self.words(Some(text));
            if words.is_empty() {
                let message = format!("an item of `{key}` is empty");
                self.report(Code::IllegalShape, text.span, message, "write the words of the other spelling");
            }
            let is_place =
                |word: &&String| word.strip_prefix('{').and_then(|word| word.strip_suffix('}')).is_some_and(is_name);
            if let Some(place) = words.iter().find(is_place) {
                let message =
                    format!("`{place}` in an item of `{key}` is a word that lines would have to hold, no arg");
                let help = "write the words before it alone: args have the places that `command` gives them";
                self.report(Code::IllegalShape, text.span, message, help);
            }
        }

        texts.into_iter().map(|text| text.value).collect()
    }

    /// Checks the other spellings of a program. Those without words of their own stand for the base command.
    pub(super) fn programs(
        &mut self,
        programs: Vec<(Spanned<String>, Option<Spanned<String>>)>,
        base: &[CommandPart],
    ) -> Vec<(String, String)> {
        let word = |part: &CommandPart| match part {
            CommandPart::Word(word) => Some(quote(word)),
            CommandPart::Arg(_) | CommandPart::Options => None,
        };
        let base_words: Vec<String> = base.iter().filter_map(word).collect();
        let (spellings, words): (Vec<_>, Vec<_>) = programs.into_iter().unzip();
        let spans: Vec<Span> = spellings.iter().map(|spelling| spelling.span).collect();
        // Spellings with words of their own need no base command.
        let own = [CommandPart::Word(String::new())];
        let stand_for = if words.iter().all(Option::is_some) { own.as_slice() } else { base };
        let spellings = self.spellings(spellings, "programs", stand_for);
        let mut all = Vec::with_capacity(spellings.len());

        for ((spelling, words), span) in spellings.into_iter().zip(words).zip(spans) {
            if words.as_ref().is_some_and(|words| self.words(Some(words)).is_empty()) {
                let message = format!("`{spelling}` stands for nothing");
                self.report(Code::IllegalShape, span, message, "write the words that it stands for, such as `grep -E`");
            }
            let words = words.map_or_else(|| base_words.join(" "), |words| words.value);
            if words == spelling {
                let message = format!("`{spelling}` stands for itself");
                self.report(Code::NoEffect, span, message, "remove it");
            }
            all.push((spelling, words));
        }

        all
    }

    /// Checks that the words of every call mean what they say.
    fn order(&mut self, command: &Command, args: &[CheckedArg], has_globals: bool, tool: &ToolConfig) {
        let name_span = tool.name.as_ref().map_or(command.span, |name| name.span);
        self.places(command, args);
        self.behind_dashes(command, args, has_globals);
        self.behind_a_flag(command, args, has_globals, name_span);
        self.positionals(command, args, name_span);
        let caged = tool.needs.as_ref().map(|needs| &needs.value).filter(|needs| needs.cage.is_some());
        let least = if caged.is_some() { Risk::Destructive } else { tool.risk.unwrap_or(Risk::Read) };
        let may_do_anything = caged.is_some_and(|needs| needs.without.is_none_or(|risk| risk == Risk::Destructive));
        self.rest(command, args, (least, may_do_anything), name_span);
    }

    /// Reports args that stand in two places, or that have no words.
    fn places(&mut self, command: &Command, args: &[CheckedArg]) {
        for (at, part) in command.parts.iter().enumerate() {
            let shown = match part {
                CommandPart::Word(_) => continue,
                CommandPart::Arg(name) => name.as_str(),
                CommandPart::Options => OPTIONS,
            };
            if command.parts[..at].contains(part) {
                let message = format!("`{{{shown}}}` stands twice in the command");
                self.report(Code::IllegalOrder, command.span, message, "keep one of the two places");
            }
            let arg = args.iter().find(|arg| *part == CommandPart::Arg(arg.name.clone()));
            if let Some(arg) = arg.filter(|arg| !matches!(arg.place, Place::Option | Place::Positional)) {
                let message = format!("`{}` has no words on the command line: it is {}", arg.name, arg.place.as_str());
                self.report(Code::IllegalOrder, command.span, message, "remove the place from the command");
            }
        }
    }

    /// Reports options behind `--`: the program would read them as operands.
    fn behind_dashes(&mut self, command: &Command, args: &[CheckedArg], has_globals: bool) {
        let Some(dashes) = command.parts.iter().position(|part| *part == CommandPart::Word("--".to_owned())) else {
            return;
        };

        let (before, behind) = command.parts.split_at(dashes);
        let is_option = |arg: &&CheckedArg| arg.place == Place::Option;
        let placed = |arg: &CheckedArg| command.parts.contains(&CommandPart::Arg(arg.name.clone()));
        let first_unplaced = args.iter().filter(is_option).find(|arg| !placed(arg));
        let help = "write `{options}` before `--`, such as `log {options} -- {paths}`";

        if !before.contains(&CommandPart::Options) && (first_unplaced.is_some() || has_globals) {
            let what = first_unplaced.map_or_else(|| "global args".to_owned(), |arg| format!("`{}`", arg.name));
            self.report(
                Code::IllegalOrder,
                command.span,
                format!("{what} would stand behind `--`, where there are operands only"),
                help,
            );
        }

        for part in behind {
            let option = args.iter().filter(is_option).find(|arg| *part == CommandPart::Arg(arg.name.clone()));
            let word = match (part, option) {
                (CommandPart::Word(word), _) if word.starts_with('-') && word != "--" => word.clone(),
                (_, Some(arg)) => format!("{{{}}}", arg.name),
                _ => continue,
            };
            self.report(
                Code::IllegalOrder,
                command.span,
                format!("`{word}` stands behind `--`, where there are operands only"),
                help,
            );
        }
    }

    /// Warns of options behind an arg whose flag is `--`: the program would read them as operands.
    ///
    /// It is no error, since `sh -c` may stand behind the `--` of another program.
    fn behind_a_flag(&mut self, command: &Command, args: &[CheckedArg], has_globals: bool, span: Span) {
        let is_unplaced = |arg: &&CheckedArg| {
            arg.place == Place::Option && !command.parts.contains(&CommandPart::Arg(arg.name.clone()))
        };
        let ends_options = |arg: &&CheckedArg| arg.flag.split_whitespace().any(|word| word == "--");
        let mut options = args.iter().filter(is_unplaced).skip_while(|arg| !ends_options(arg));
        let Some(last) = options.next() else { return };
        let next = options.find(|arg| !ends_options(arg)).map(|arg| format!("`{}`", arg.name));

        if let Some(next) = next.or_else(|| has_globals.then(|| "global args".to_owned())) {
            let message =
                format!("{next} would stand behind the `--` of `{}`, where there are operands only", last.name);
            let help = format!("define `{}` last, or give it a place: `{{options}} {{{}}}`", last.name, last.name);
            self.report(Code::OptionBehindDashes, span, message, help);
        }
    }

    /// Warns of an optional operand before a required one: without it, the program takes the second for the first.
    ///
    /// It is no error, since earlier configs have it. Calls that leave the first out are refused.
    fn positionals(&mut self, command: &Command, args: &[CheckedArg], span: Span) {
        let mut optional: Option<&str> = None;
        for arg in in_order(command, args) {
            match optional {
                Some(first) if arg.required => {
                    let message = format!("`{first}` may be absent, and `{}` follows it", arg.name);
                    let help = format!("require `{first}`, give it a default, or put it behind `{}`", arg.name);
                    self.report(Code::OperandOrder, span, message, help);
                }
                None if !arg.required && arg.default.is_none() => optional = Some(&arg.name),
                _ => {}
            }
        }
    }

    /// Checks that the rest ends the command line, and that no option of the program can stand in it.
    ///
    /// A tool that may do anything, because its cage holds the program and it is destructive where there is none, may leave
    /// the options of its program to the rest.
    fn rest(&mut self, command: &Command, args: &[CheckedArg], (risk, may_do_anything): (Risk, bool), span: Span) {
        let positionals: Vec<&CheckedArg> = in_order(command, args).collect();
        let Some(at) = positionals.iter().position(|arg| matches!(arg.shape, Shape::Rest(_))) else { return };
        let rest = positionals[at];
        let mut refuse = |message: String, help: &str| self.report(Code::IllegalOrder, span, message, help);

        if at + 1 < positionals.len() {
            let next = &positionals[at + 1].name;
            refuse(format!("`{next}` stands behind `{}`, which takes all words", rest.name), "define it before");
        }

        let place = command.parts.iter().position(|part| *part == CommandPart::Arg(rest.name.clone()));
        if place.is_some_and(|place| place + 1 < command.parts.len()) {
            refuse(format!("words stand behind `{}`, which takes all words", rest.name), "put its place at the end");
        }

        let has_dashes = command.parts.contains(&CommandPart::Word("--".to_owned()));
        let is_separate = has_dashes || at.checked_sub(1).is_some_and(|before| positionals[before].required);
        if !is_separate && !may_do_anything {
            let help = "write `--` before it in `command`, or define a required positional before it";
            refuse(format!("the program could read words of `{}` as its own options", rest.name), help);
        }

        if rest.shape == Shape::Rest(Rest::Words) && risk == Risk::Read {
            let help = "write `risk: destructive`, `needs: {cage: read}`, or `rest: command` if they are a command of another tool";
            refuse(format!("`{}` takes any words, so the tool cannot be `risk: read`", rest.name), help);
        }
    }

    /// Marks the options whose order counts, and checks that each can stand anywhere among the others.
    pub(super) fn ordered(&mut self, tool: &ToolConfig, args: &mut [CheckedArg]) {
        let known: Vec<String> = args.iter().map(|arg| arg.name.clone()).collect();
        for name in &tool.ordered {
            let Some(arg) = args.iter_mut().find(|arg| arg.name == name.value) else {
                self.unknown_name(name, "arg", &known.iter().map(String::as_str).collect::<Vec<_>>());
                continue;
            };
            arg.order = Order::Given;
            let is_free = !arg.required && arg.default.is_none() && !arg.from_user && arg.output.is_none();
            if !(arg.place == Place::Option && arg.shape == Shape::Single && is_free) {
                let message = format!("`{}` cannot be `ordered`", name.value);
                let help = "order options of one value that are not required and have no default, `ask` or `output`";
                self.report(Code::IllegalOrder, name.span, message, help);
            }
            let place = format!("{{{}}}", name.value);
            if tool.command.as_ref().is_some_and(|command| command.value.split_whitespace().any(|word| word == place)) {
                let message = format!("`{place}` has a place of its own, and is `ordered`");
                self.report(
                    Code::IllegalOrder,
                    name.span,
                    message,
                    "remove its place; `{options}` is that of all options",
                );
            }
        }

        if let Some(steps) = tool.ordered.first().filter(|_| known.iter().any(|name| name == STEPS)) {
            let message = format!("an arg is called `{STEPS}`, which is the list of `ordered` options");
            self.report(Code::IllegalOrder, steps.span, message, "give the arg another name");
        }
    }

    /// Checks the groups of a tool.
    pub(super) fn groups(&mut self, groups: Vec<GroupConfig>, args: &[CheckedArg]) -> Vec<CheckedGroup> {
        let known: Vec<&str> = args.iter().map(|arg| arg.name.as_str()).collect();
        for group in &groups {
            let key = group.kind.as_str();
            if group.args.value.len() < 2 {
                let message = format!("a group of `{key}` has fewer than 2 args");
                self.report(Code::IllegalGroup, group.args.span, message, "name 2 args or more, or remove the group");
            }
            for name in &group.args.value {
                match args.iter().find(|arg| arg.name == name.value) {
                    None => self.unknown_name(name, "arg", &known),
                    Some(arg) if arg.required || arg.default.is_some() || arg.from_user => {
                        let message = format!("`{}` is in every call, so it belongs to no group", arg.name);
                        let help = "remove it from the group, or its `required`, `default` or question";
                        self.report(Code::IllegalGroup, name.span, message, help);
                    }
                    Some(_) => {}
                }
            }
        }

        let owned = |group: GroupConfig| CheckedGroup {
            kind: group.kind,
            args: group.args.value.into_iter().map(|name| name.value).collect(),
        };
        groups.into_iter().map(owned).collect()
    }
}

/// The positionals in the order of the command line: those with a place, then the others as they are defined.
fn in_order<'a>(command: &'a Command, args: &'a [CheckedArg]) -> impl Iterator<Item = &'a CheckedArg> {
    let is_positional = |arg: &&CheckedArg| arg.place == Place::Positional;
    let placed = command.parts.iter().filter_map(|part| match part {
        CommandPart::Arg(name) => args.iter().find(|arg| arg.name == *name),
        CommandPart::Word(_) | CommandPart::Options => None,
    });
    let is_placed = |arg: &&CheckedArg| command.parts.contains(&CommandPart::Arg(arg.name.clone()));
    placed.filter(is_positional).chain(args.iter().filter(is_positional).filter(move |arg| !is_placed(arg)))
}
