//! What the first words of a command stand for: a builtin, a text of commands, a command for each of many values, or a
//! program.

mod background;
mod cluster;
mod find;
mod read;
mod set;
mod shopt;
mod small;
mod started;
mod text;
mod xargs;

use climax_shell::{Body, Command, Field, Origin, Word, parse};

pub(crate) use self::background::{Signal, Target, ended_by};
pub(crate) use self::find::{Action, Actions, Find};
pub(crate) use self::read::Read;
pub(crate) use self::set::Set;
pub(crate) use self::shopt::Shopt;
pub(crate) use self::small::{change_of, loop_count, shift_word, unset_names};
pub(crate) use self::text::{CommandText, FILLED, Filled};
pub(crate) use self::xargs::{Most, Separator, Xargs};
use crate::call::refusal::Refusal;

/// Commands that are built in.
const BUILTINS: [(&str, Builtin); 30] = [
    (":", Builtin::True),
    ("true", Builtin::True),
    ("false", Builtin::False),
    ("echo", Builtin::Echo),
    ("printf", Builtin::Printf),
    ("test", Builtin::Test),
    ("[", Builtin::Test),
    ("pwd", Builtin::PrintDirectory),
    ("cd", Builtin::ChangeDirectory),
    ("pushd", Builtin::PushDirectory),
    ("popd", Builtin::PopDirectory),
    ("read", Builtin::Read),
    ("shift", Builtin::Shift),
    ("sleep", Builtin::Sleep),
    ("wait", Builtin::Wait),
    ("jobs", Builtin::Jobs),
    // No command of a line outlives it in any case.
    ("disown", Builtin::True),
    // Programs are looked up each time.
    ("hash", Builtin::True),
    ("type", Builtin::Type),
    ("which", Builtin::Which),
    ("source", Builtin::Source),
    (".", Builtin::Source),
    ("deactivate", Builtin::Deactivate),
    ("export", Builtin::Export),
    ("unset", Builtin::Unset),
    ("set", Builtin::Set),
    ("shopt", Builtin::Shopt),
    ("exit", Builtin::Exit),
    ("break", Builtin::Break),
    ("continue", Builtin::Continue),
];

/// Commands of a shell that are not read, with what to write instead.
const REFUSED: [(&str, &str); 26] = [
    ("eval", "write the commands themselves"),
    ("exec", "write the command itself"),
    ("trap", "write what must run at the end behind the other commands"),
    ("alias", "write the command itself"),
    ("unalias", "leave it out"),
    ("declare", "write `NAME=value`"),
    ("typeset", "write `NAME=value`"),
    ("local", "write `NAME=value`"),
    ("readonly", "write `NAME=value`"),
    ("mapfile", "read the lines with `while read -r x; do …; done`"),
    ("readarray", "read the lines with `while read -r x; do …; done`"),
    ("dirs", "write `pwd`"),
    ("fg", "write `wait`, which waits for the commands in the background"),
    ("bg", "write `&` behind the command"),
    ("history", "nothing persists between lines"),
    ("umask", "permissions of new files are set by the operator; use `chmod`"),
    ("ulimit", "limits are set by the operator"),
    ("getopts", "write the words out"),
    ("let", "write `NAME=$((…))`"),
    ("return", "there are no functions; `exit` ends the line"),
    ("enable", "leave it out"),
    ("caller", "there are no functions"),
    ("compgen", "list the files by a glob"),
    ("complete", "leave it out"),
    ("bind", "leave it out"),
    ("times", "write `time COMMAND`"),
];

/// What a name is for a shell, if it is no program: `builtin` or `keyword`.
pub(crate) fn is_of_shell(name: &str) -> Option<&'static str> {
    const KEYWORDS: [&str; 22] = [
        "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select",
        "function", "time", "coproc", "{", "}", "!", "[[", "]]",
    ];

    let is_builtin = BUILTINS.iter().any(|(own, _)| *own == name && !matches!(*own, "sleep" | "which" | "deactivate"))
        || is_refused(name)
        || matches!(name, "command" | "builtin" | "kill");
    if KEYWORDS.contains(&name) { Some("keyword") } else { is_builtin.then_some("builtin") }
}

/// Returns whether a name is that of a command of a shell which is not read.
pub(crate) fn is_refused(name: &str) -> bool {
    REFUSED.iter().any(|(own, _)| *own == name)
}

/// Returns whether a text is read, as far as its syntax and the names of its commands say.
fn is_read(text: &str) -> bool {
    let is_refused = |command: &&Command| match &command.body {
        Body::Simple(simple) => simple.words.first().and_then(Word::plain).is_some_and(is_refused),
        _ => false,
    };
    parse(text).is_ok_and(|script| !script.list.commands().iter().any(is_refused))
}

/// Returns the variable that `printf -v NAME` sets; `None` if these words of a `printf` name none.
pub(crate) fn printed_variable(words: &[Field]) -> Option<&str> {
    let [option, name, ..] = words else { return None };
    let is_literal = [option, name].into_iter().all(|word| word.origin == Origin::Literal);
    (is_literal && option.text == "-v" && climax_shell::is_name(&name.text)).then_some(name.text.as_str())
}

/// A command that is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Builtin {
    /// `true`, `:`, `disown`, `hash`
    True,
    /// `false`
    False,
    /// `echo`
    Echo,
    /// `printf`
    Printf,
    /// `test`, `[`
    Test,
    /// `pwd`
    PrintDirectory,
    /// `cd`
    ChangeDirectory,
    /// `pushd`
    PushDirectory,
    /// `popd`
    PopDirectory,
    /// `read`
    Read,
    /// `shift`
    Shift,
    /// `sleep`
    Sleep,
    /// `wait`
    Wait,
    /// `jobs`
    Jobs,
    /// `kill` of commands in the background
    Kill,
    /// `type`
    Type,
    /// `which`, `command -v`
    Which,
    /// `source DIR/bin/activate`
    Source,
    /// `deactivate`, which undoes it
    Deactivate,
    /// `export`
    Export,
    /// `unset`
    Unset,
    /// `set`
    Set,
    /// `shopt`
    Shopt,
    /// `exit`
    Exit,
    /// `break`
    Break,
    /// `continue`
    Continue,
}

/// What a command stands for.
#[derive(Clone, Debug)]
pub(crate) enum Form<'f> {
    /// A builtin with its arguments.
    Builtin(Builtin, &'f [Field]),
    /// A program with its arguments.
    Program(&'f [Field]),
    /// `bash -c TEXT NAME ARGUMENT…`
    Text(CommandText<'f>),
    /// `xargs`
    Xargs(Xargs<'f>),
    /// `find … -exec COMMAND {} +`
    Find(Find<'f>),
}

impl<'f> Form<'f> {
    /// Returns what a command stands for.
    ///
    /// # Errors
    /// It is a command of the shell that is not read, or its words are not.
    pub(crate) fn of(mut fields: &'f [Field]) -> Result<Self, Refusal> {
        loop {
            let Some((first, rest)) = fields.split_first() else { return Ok(Self::Builtin(Builtin::True, &[])) };
            if first.origin != Origin::Literal {
                return Ok(Self::Program(fields));
            }
            let text = |at: usize| rest.get(at).map(|field| field.text.as_str());
            match (first.text.as_str(), text(0)) {
                ("command", Some("-v" | "-V")) => return Ok(Self::Builtin(Builtin::Which, rest)),
                ("command", Some("-p" | "--")) if rest.len() > 1 => fields = &rest[1..],
                ("builtin", Some(next)) if !BUILTINS.iter().any(|(own, _)| *own == next) => {
                    let problem = format!("`{next}` is no builtin");
                    return Err(Refusal::new(problem, "leave `builtin` out"));
                }
                ("command" | "builtin" | "nohup", Some(next)) if !next.starts_with('-') => fields = rest,
                _ => break,
            }
        }

        let (first, rest) = (&fields[0], &fields[1..]);
        if let Some((name, remedy)) = REFUSED.iter().find(|(name, _)| *name == first.text) {
            let remedy = match *name {
                // It redirects the shell itself.
                "exec" if rest.is_empty() => "write `{ …; } > log 2>&1` around the commands whose output it is",
                _ => remedy,
            };
            return Err(Refusal::new(format!("`{name}` is a command of the shell that is not read"), remedy));
        }
        if let Some((_, builtin)) = BUILTINS.iter().find(|(name, _)| *name == first.text) {
            let is_whole = first.text != "[" || rest.last().is_some_and(|last| last.text == "]");
            if !is_whole {
                return Err(Refusal::new("`[` needs `]`", "write ` ]` at its end"));
            }
            let words = if first.text == "[" { &rest[..rest.len() - 1] } else { rest };
            return Ok(Self::Builtin(*builtin, words));
        }
        if first.text == "kill" && ended_by(rest).is_some() {
            return Ok(Self::Builtin(Builtin::Kill, rest));
        }
        match first.text.rsplit('/').next() {
            Some("bash" | "sh") => Self::shell(fields),
            Some("xargs") if first.text == "xargs" || first.text.ends_with("bin/xargs") => {
                xargs::xargs(rest).map(Self::Xargs)
            }
            Some("find") => Ok(find::find(fields)?.map_or(Self::Program(fields), Self::Find)),
            _ => Ok(Self::Program(fields)),
        }
    }

    /// Reads `bash -c TEXT`. Other uses start the shell as a program.
    fn shell(fields: &'f [Field]) -> Result<Self, Refusal> {
        let flags = fields[1..].iter().take_while(|field| {
            field.origin == Origin::Literal && field.text.starts_with('-') && !field.text.starts_with("--")
        });
        let letters: String = flags.clone().flat_map(|field| field.text.chars().skip(1)).collect();
        let count = flags.count();
        if !letters.contains('c') {
            return Ok(Self::Program(fields));
        }
        let Some(text) = fields.get(1 + count) else {
            return Err(Refusal::new("`-c` needs a text", "write the commands behind it, in quotes"));
        };
        if text.origin != Origin::Literal || letters.contains('o') {
            let problem = "which commands run would depend on a value";
            return Err(Refusal::new(problem, "write the text in single quotes, and pass values behind it"));
        }
        // What is not read here may still run in a cage, as any program.
        if !is_read(&text.text) {
            return Ok(Self::Program(fields));
        }
        // With other options the shell does something else than running the commands as they are written here.
        if text.text == "--" || letters.contains(|letter| !"celiux".contains(letter)) {
            return Ok(Self::Program(fields));
        }
        let options = letters.replace(['c', 'l', 'i'], "");
        Ok(Self::Text(CommandText { name: &fields[0].text, text, arguments: &fields[2 + count..], options }))
    }
}

/// Where in a command its text of commands stands, if a value is put into it there.
pub(crate) fn text_to_fill(command: &[Field], replaced: Option<&str>) -> Option<usize> {
    let Ok(Form::Text(text)) = Form::of(command) else { return None };
    text.text.text.contains(replaced?).then(|| command.len() - text.arguments.len() - 1)
}
