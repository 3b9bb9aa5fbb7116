//! What the first words of a command stand for: a builtin, a text of commands, a command for each of many values, or a
//! program.

use climax_shell::{Field, Origin, parse};

/// Commands that are built in.
const BUILTINS: [(&str, Builtin); 23] = [
    (":", Builtin::True),
    ("true", Builtin::True),
    ("false", Builtin::False),
    ("echo", Builtin::Echo),
    ("printf", Builtin::Printf),
    ("test", Builtin::Test),
    ("[", Builtin::Test),
    ("pwd", Builtin::PrintDirectory),
    ("cd", Builtin::ChangeDirectory),
    ("read", Builtin::Read),
    ("shift", Builtin::Shift),
    ("sleep", Builtin::Sleep),
    ("wait", Builtin::True),
    ("type", Builtin::Type),
    ("which", Builtin::Which),
    ("source", Builtin::Source),
    (".", Builtin::Source),
    ("export", Builtin::Export),
    ("unset", Builtin::Unset),
    ("set", Builtin::Set),
    ("exit", Builtin::Exit),
    ("break", Builtin::Break),
    ("continue", Builtin::Continue),
];

/// Commands of a shell that are not read, with what to write instead.
const REFUSED: [(&str, &str); 32] = [
    ("eval", "write the commands themselves"),
    ("exec", "write the command itself"),
    ("trap", "write what must run at the end behind the other commands"),
    ("alias", "write the command itself"),
    ("unalias", "leave it out"),
    ("shopt", "leave it out; globs mean what they mean in bash by default"),
    ("declare", "write `NAME=value`"),
    ("typeset", "write `NAME=value`"),
    ("local", "write `NAME=value`"),
    ("readonly", "write `NAME=value`"),
    ("mapfile", "read the lines with `while read -r x; do …; done`"),
    ("readarray", "read the lines with `while read -r x; do …; done`"),
    ("pushd", "write `cd DIR`, or put the commands in parentheses"),
    ("popd", "write `cd DIR`, or put the commands in parentheses"),
    ("dirs", "write `pwd`"),
    ("jobs", "jobs in the background are not read"),
    ("fg", "jobs in the background are not read"),
    ("bg", "jobs in the background are not read"),
    ("disown", "jobs in the background are not read"),
    ("history", "nothing persists between lines"),
    ("umask", "permissions of new files are set by the operator; use `chmod`"),
    ("ulimit", "limits are set by the operator"),
    ("getopts", "write the words out"),
    ("let", "write `NAME=$((…))`"),
    ("return", "there are no functions; `exit` ends the line"),
    ("hash", "leave it out; programs are looked up each time"),
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

    let is_builtin = BUILTINS.iter().any(|(own, _)| *own == name && !matches!(*own, "sleep" | "which"))
        || REFUSED.iter().any(|(own, _)| *own == name)
        || matches!(name, "command" | "builtin" | "kill");
    if KEYWORDS.contains(&name) { Some("keyword") } else { is_builtin.then_some("builtin") }
}

/// A command that is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Builtin {
    /// `true`, `:`, `wait`
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
    /// `read`
    Read,
    /// `shift`
    Shift,
    /// `sleep`
    Sleep,
    /// `type`
    Type,
    /// `which`, `command -v`
    Which,
    /// `source DIR/bin/activate`
    Source,
    /// `export`
    Export,
    /// `unset`
    Unset,
    /// `set`
    Set,
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
    /// `bash -c TEXT NAME ARGUMENT…`: the commands of a text, with their positions.
    Text {
        /// The name of the shell, which is `$0` where no other is given.
        name: &'f str,
        /// The text.
        text: &'f Field,
        /// The words behind it.
        arguments: &'f [Field],
        /// The letters of `set` that the shell was started with.
        options: String,
    },
    /// `xargs`
    Xargs(Xargs<'f>),
    /// `find … -exec COMMAND {} +`
    Find(Find<'f>),
}

/// `xargs` with its options.
#[derive(Clone, Debug)]
pub(crate) struct Xargs<'f> {
    /// What separates the values.
    pub(crate) separator: Separator,
    /// `-I`: what each value replaces in the command.
    pub(crate) replaced: Option<String>,
    /// `-n` and `-L`: how much one command takes at most.
    pub(crate) most: Option<Most>,
    /// `-E`: the value that ends the input.
    pub(crate) end: Option<String>,
    /// `-r`: nothing runs without values.
    pub(crate) skips_empty: bool,
    /// The command; `echo` if there is none.
    pub(crate) command: &'f [Field],
}

/// What separates the values of `xargs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// White space; quotes and backslashes protect it.
    Space,
    /// Line breaks, for `-I`; quotes and backslashes protect them.
    Line,
    /// A character, for `-0` and `-d`.
    Character(u8),
}

/// How much of the input of `xargs` one command takes at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Most {
    /// So many values.
    Values(usize),
    /// The values of so many lines.
    Lines(usize),
}

/// `find` with the command that it runs for what it finds.
#[derive(Clone, Debug)]
pub(crate) struct Find<'f> {
    /// `find` with the words before `-exec`.
    pub(crate) words: &'f [Field],
    /// The command, with `{}` where a path stands.
    pub(crate) command: &'f [Field],
    /// `+`: many paths for one command.
    pub(crate) many: bool,
}

impl<'f> Form<'f> {
    /// Returns what a command stands for.
    ///
    /// # Errors
    /// The problem and the remedy.
    pub(crate) fn of(mut fields: &'f [Field]) -> Result<Self, (String, String)> {
        loop {
            let Some((first, rest)) = fields.split_first() else { return Ok(Self::Builtin(Builtin::True, &[])) };
            if first.origin != Origin::Literal {
                return Ok(Self::Program(fields));
            }
            let text = |at: usize| rest.get(at).map(|field| field.text.as_str());
            match (first.text.as_str(), text(0)) {
                ("command", Some("-v" | "-V")) => return Ok(Self::Builtin(Builtin::Which, rest)),
                ("command", Some("-p" | "--")) if rest.len() > 1 => fields = &rest[1..],
                ("command" | "builtin" | "nohup", Some(next)) if !next.starts_with('-') => fields = rest,
                _ => break,
            }
        }

        let (first, rest) = (&fields[0], &fields[1..]);
        if let Some((name, remedy)) = REFUSED.iter().find(|(name, _)| *name == first.text) {
            return Err((format!("`{name}` is a command of the shell that is not read"), (*remedy).to_owned()));
        }
        if let Some((_, builtin)) = BUILTINS.iter().find(|(name, _)| *name == first.text) {
            let is_whole = first.text != "[" || rest.last().is_some_and(|last| last.text == "]");
            if !is_whole {
                return Err(("`[` needs `]`".to_owned(), "write ` ]` at its end".to_owned()));
            }
            let words = if first.text == "[" { &rest[..rest.len() - 1] } else { rest };
            return Ok(Self::Builtin(*builtin, words));
        }
        match first.text.rsplit('/').next() {
            Some("bash" | "sh") => Self::shell(fields),
            Some("xargs") if first.text == "xargs" || first.text.ends_with("bin/xargs") => xargs(rest).map(Self::Xargs),
            Some("find") => find(fields),
            _ => Ok(Self::Program(fields)),
        }
    }

    /// Reads `bash -c TEXT`. Other uses start the shell as a program.
    fn shell(fields: &'f [Field]) -> Result<Self, (String, String)> {
        let flags = fields[1..].iter().take_while(|field| {
            field.origin == Origin::Literal && field.text.starts_with('-') && !field.text.starts_with("--")
        });
        let letters: String = flags.clone().flat_map(|field| field.text.chars().skip(1)).collect();
        let count = flags.count();
        if !letters.contains('c') {
            return Ok(Self::Program(fields));
        }
        let Some(text) = fields.get(1 + count) else {
            return Err(("`-c` needs a text".to_owned(), "write the commands behind it, in quotes".to_owned()));
        };
        if text.origin != Origin::Literal || letters.contains('o') {
            let problem = "which commands run would depend on a value";
            return Err((problem.to_owned(), "write the text in single quotes, and pass values behind it".to_owned()));
        }
        // What is not read here may still run in a cage, as any program.
        if parse(&text.text).is_err() {
            return Ok(Self::Program(fields));
        }
        // With other options the shell does something else than running the commands as they are written here.
        if text.text == "--" || letters.contains(|letter| !"celiux".contains(letter)) {
            return Ok(Self::Program(fields));
        }
        let options = letters.replace(['c', 'l', 'i'], "");
        Ok(Self::Text { name: &fields[0].text, text, arguments: &fields[2 + count..], options })
    }
}

/// Reads the options of `xargs`.
fn xargs(words: &[Field]) -> Result<Xargs<'_>, (String, String)> {
    let mut xargs =
        Xargs { separator: Separator::Space, replaced: None, most: None, end: None, skips_empty: false, command: &[] };
    let mut at = 0;
    let refused = |word: &str| {
        let remedy = "write the command for each value, as in `xargs -n 1` or `while read -r x; do …; done`";
        (format!("the option `{word}` of xargs is not read"), remedy.to_owned())
    };

    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-') && word.origin == Origin::Literal) {
        at += 1;
        let text = word.text.as_str();
        let (option, attached) = match text {
            "--" => break,
            "--null" => ("-0", ""),
            "--no-run-if-empty" => ("-r", ""),
            "--verbose" => ("-t", ""),
            _ if text.starts_with("--") => text.split_once('=').unwrap_or((text, "")),
            _ => text.split_at(text.char_indices().nth(2).map_or(text.len(), |(at, _)| at)),
        };
        let mut value = || match attached {
            "" => {
                at += 1;
                words.get(at - 1).map(|word| word.text.clone()).ok_or_else(|| refused(text))
            }
            attached => Ok(attached.to_owned()),
        };
        match option {
            "-0" => xargs.separator = Separator::Character(0),
            "-r" => xargs.skips_empty = true,
            "-t" | "-x" => {}
            "-n" | "--max-args" => xargs.most = Some(Most::Values(count(&value()?).ok_or_else(|| refused(text))?)),
            "-L" | "--max-lines" => xargs.most = Some(Most::Lines(count(&value()?).ok_or_else(|| refused(text))?)),
            "-E" => xargs.end = Some(value()?).filter(|end| !end.is_empty()),
            "-P" | "--max-procs" | "-s" | "--max-chars" => {
                value()?;
            }
            "-I" => xargs.replaced = Some(value()?),
            "-i" | "--replace" if attached.is_empty() => xargs.replaced = Some("{}".to_owned()),
            "-i" | "--replace" => xargs.replaced = Some(attached.to_owned()),
            "-d" | "--delimiter" => {
                xargs.separator = match value()?.as_str() {
                    "\\n" => Separator::Character(b'\n'),
                    "\\t" => Separator::Character(b'\t'),
                    "\\0" => Separator::Character(0),
                    one if one.len() == 1 => Separator::Character(one.as_bytes()[0]),
                    _ => return Err(refused(text)),
                };
            }
            _ => return Err(refused(text)),
        }
        // Letters of a cluster that take no value.
        if matches!(option, "-0" | "-r" | "-t" | "-x") && !attached.is_empty() {
            match attached {
                "r" => xargs.skips_empty = true,
                "0" => xargs.separator = Separator::Character(0),
                "t" => {}
                _ => return Err(refused(text)),
            }
        }
    }

    if xargs.replaced.is_some() {
        xargs.most = Some(Most::Values(1));
        if xargs.separator == Separator::Space {
            xargs.separator = Separator::Line;
        }
    }
    xargs.command = &words[at.min(words.len())..];
    check_started(xargs.command)?;
    Ok(xargs)
}

/// Refuses commands that only a shell has, where a program starts the command.
fn check_started(command: &[Field]) -> Result<(), (String, String)> {
    const OF_SHELLS: [&str; 13] =
        [":", "cd", "read", "shift", "wait", "type", "source", ".", "export", "unset", "set", "exit", "command"];

    match command.first().filter(|first| OF_SHELLS.contains(&first.text.as_str())) {
        None => Ok(()),
        Some(first) => {
            let problem = format!("`{}` is a command of the shell, and a program is started here", first.text);
            Err((problem, "write it in a loop, as in `while read -r x; do …; done`".to_owned()))
        }
    }
}

/// Reads a number of values or lines.
fn count(text: &str) -> Option<usize> {
    text.parse().ok().filter(|count| *count > 0)
}

/// Reads `find` with `-exec` at its end.
fn find(fields: &[Field]) -> Result<Form<'_>, (String, String)> {
    let is = |field: &Field, text: &str| field.origin == Origin::Literal && field.text == text;
    let is_exec = |field: &&Field| ["-exec", "-execdir", "-ok", "-okdir"].iter().any(|text| is(field, text));
    let Some(start) = fields.iter().position(|field| is_exec(&field)) else { return Ok(Form::Program(fields)) };
    let refused = |problem: &str, remedy: &str| Err((problem.to_owned(), remedy.to_owned()));
    if !is(&fields[start], "-exec") {
        return refused("of the actions of find only `-exec` is read", "write `-exec COMMAND {} +`");
    }

    let rest = &fields[start + 1..];
    let Some(end) = rest.iter().position(|field| is(field, ";") || is(field, "+")) else {
        return refused("`-exec` does not end", "write `\\;` or `+` at its end");
    };
    if end + 1 != rest.len() || fields[..start].iter().any(|field| is(field, "-o") || is(field, "-or")) {
        return refused(
            "`-exec` is read at the end of an expression without `-o` alone",
            "put it last, or use `find … -print0 | xargs -0 COMMAND`",
        );
    }
    let command = &rest[..end];
    let many = is(&rest[end], "+");
    let is_place = |field: &Field| field.text == "{}";
    if command.iter().any(|field| field.text.contains("{}") && !is_place(field)) {
        return refused("`{}` stands within a longer word", "use `find … -print0 | xargs -0 COMMAND`");
    }
    if many && (command.iter().filter(|field| is_place(field)).count() != 1 || !command.last().is_some_and(is_place)) {
        return refused("`+` needs `{}` before it", "write `-exec COMMAND {} +`");
    }
    let prints = ["-print", "-print0", "-printf", "-ls", "-fprint", "-fprint0", "-fprintf", "-fls"];
    if fields[..start].iter().any(|field| prints.iter().any(|action| is(field, action))) {
        return refused(
            "`-exec` is read without another action that prints",
            "use `find … -print0 | xargs -0 COMMAND`",
        );
    }
    check_started(command)?;
    if command.first().is_none_or(is_place) {
        return refused("`-exec` needs a command", "write `-exec COMMAND {} +`");
    }

    Ok(Form::Find(Find { words: &fields[..start], command, many }))
}
