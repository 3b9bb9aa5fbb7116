//! The syntax tree.

mod arithmetic;

use std::ops::Range;

pub use self::arithmetic::{Arithmetic, Binary, Splice, Unary};

/// A whole text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Its commands.
    pub list: List,
}

/// Commands that run one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// The commands, in order.
    pub items: Vec<Chain>,
}

/// Pipelines that `&&` and `||` join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The pipeline that always runs.
    pub first: Pipeline,
    /// The others, with what joins each to those before it.
    pub rest: Vec<(Joint, Pipeline)>,
    /// The place of the `&` that lets it run in the background.
    pub background: Option<Range<usize>>,
}

/// What joins a pipeline to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// `&&`: it runs if they succeeded.
    And,
    /// `||`: it runs if they failed.
    Or,
}

/// How `time` tells what commands take. Source: bash(1), "Pipelines"; POSIX.1-2024, `time`, `-p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// In minutes and seconds.
    Minutes,
    /// `-p`: in seconds.
    Seconds,
}

/// Commands that pipes join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Whether `!` turns its status round.
    pub is_negated: bool,
    /// How `time` tells what it takes; `None` without it.
    pub times: Option<Times>,
    /// The commands; at least one.
    pub commands: Vec<Command>,
    /// Its place, in bytes.
    pub range: Range<usize>,
}

/// A command with its redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What runs.
    pub body: Body,
    /// The redirections, in the order in which they take effect. `|&` is one.
    pub redirections: Vec<Redirection>,
    /// Its place, in bytes.
    pub range: Range<usize>,
}

/// The kinds of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A program or builtin with its words, or assignments alone.
    Simple(Simple),
    /// `( … )`
    Subshell(List),
    /// `{ …; }`
    Group(List),
    /// `if`
    If(If),
    /// `for NAME in …`
    For(For),
    /// `for (( … ))`
    Count(Box<Count>),
    /// `while` and `until`
    While(While),
    /// `case`
    Case(Case),
    /// `(( … ))`
    Arithmetic(Arithmetic),
    /// `[[ … ]]`
    Condition(Condition),
}

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Assignments before the words.
    pub assignments: Vec<Assignment>,
    /// The words, the program first; empty for assignments alone.
    pub words: Vec<Word>,
}

/// `NAME=value`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Whether the value is added behind the one before: `+=`.
    pub appends: bool,
    /// The value.
    pub value: Word,
    /// Its place, in bytes.
    pub range: Range<usize>,
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// What is redirected.
    pub descriptor: Descriptor,
    /// Where to.
    pub target: Target,
    /// Its place, in bytes.
    pub range: Range<usize>,
}

/// The stream that is redirected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// Standard input.
    Input,
    /// Standard output.
    Output,
    /// Standard error.
    Errors,
    /// Standard output and standard error: `&>`.
    Both,
}

/// Where a stream is redirected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file that is read: `<`.
    Read(Word),
    /// A file that is replaced: `>`, `>|`.
    Write(Word),
    /// A file that is continued: `>>`.
    Append(Word),
    /// Another stream: `2>&1`. It is `Output` or `Errors`, or `Input` for `<&0`.
    Same(Descriptor),
    /// No stream: `2>&-`.
    Closed,
    /// A text, of a here-document or a here-string. The latter gets a line break.
    Text(Word),
}

/// A word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// Its place, in bytes.
    pub range: Range<usize>,
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Characters without quotes, in which globs and braces have their meaning.
    Text(String),
    /// Characters that quotes or a backslash protect; perhaps none.
    Quoted(String),
    /// `"…"` with its parts, of which texts are [`Part::Quoted`].
    Double(Vec<Part>),
    /// `$x`, `${…}`
    Parameter(Box<Parameter>, Range<usize>),
    /// `$(…)` or backquotes.
    Substitution(List, Range<usize>),
    /// `$((…))`
    Arithmetic(Arithmetic, Range<usize>),
    /// `<(…)`: commands, and the number of the descriptor from which a program reads what they print.
    Process(List, u32),
}

/// What stands behind a `$`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name.
    pub name: Name,
    /// What is done with the value.
    pub operation: Operation,
}

/// The name of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// A variable.
    Variable(String),
    /// `$0`, `$1`, …
    Position(usize),
    /// `$?`
    Status,
    /// `$#`
    Count,
    /// `$@`
    All,
    /// `$*`
    Joined,
    /// `$$`
    Process,
    /// `$!`
    Background,
    /// `${PIPESTATUS[n]}`
    PipeStatus(Box<Arithmetic>),
    /// `${PIPESTATUS[@]}`
    PipeStatuses,
    /// `PIPESTATUS[*]`
    JoinedPipeStatuses,
}

/// What is done with the value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Nothing.
    Value,
    /// `${#x}`
    Length,
    /// `${x-w}`, `${x:-w}`. The flag says whether an empty value counts as none, as it does for the next three.
    Default(Word, bool),
    /// `${x=w}`, `${x:=w}`
    Assign(Word, bool),
    /// `${x+w}`, `${x:+w}`
    Alternative(Word, bool),
    /// `${x?w}`, `${x:?w}`
    Required(Word, bool),
    /// `${x#p}`, `${x%p}` and their long forms.
    Trim(Trim, Word),
    /// `${x/p/w}` and its kind: the pattern, the replacement, where it must stand.
    Replace(Place, Word, Word),
    /// `${x:n}`, `${x:n:m}`
    Slice(Arithmetic, Option<Arithmetic>),
    /// `${x^^}` for `true`, `${x,,}` for `false`; the second says whether it is for all characters.
    Case(bool, bool),
}

/// Where the pattern of `${x/p/w}` must stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Where it stands first.
    First,
    /// Everywhere: `//`.
    All,
    /// At the start: `/#`.
    Start,
    /// At the end: `/%`.
    End,
}

/// What `${x#p}` and its kind remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trim {
    /// The shortest match at the start: `#`.
    ShortestStart,
    /// The longest match at the start: `##`.
    LongestStart,
    /// The shortest match at the end: `%`.
    ShortestEnd,
    /// The longest match at the end: `%%`.
    LongestEnd,
}

/// `if … then … elif … else … fi`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct If {
    /// The branches; at least one.
    pub branches: Vec<Branch>,
    /// What runs if no condition holds.
    pub otherwise: Option<List>,
}

/// A condition and what runs if it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The condition.
    pub condition: List,
    /// What runs.
    pub body: List,
}

/// `for NAME in …; do …; done`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct For {
    /// The variable.
    pub name: String,
    /// The words; `"$@"` if `None`.
    pub words: Option<Vec<Word>>,
    /// What runs for each.
    pub body: List,
}

/// `for (( …; …; … )); do …; done`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Evaluated first.
    pub start: Option<Arithmetic>,
    /// The loop goes on while it is not 0.
    pub condition: Option<Arithmetic>,
    /// Evaluated behind each turn.
    pub step: Option<Arithmetic>,
    /// What runs.
    pub body: List,
}

/// `while …; do …; done`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct While {
    /// Whether it runs until the condition holds.
    pub is_until: bool,
    /// The condition.
    pub condition: List,
    /// What runs.
    pub body: List,
}

/// `case … in … esac`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The word.
    pub word: Word,
    /// The arms.
    pub arms: Vec<Arm>,
}

/// An arm of `case`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The patterns; at least one.
    pub patterns: Vec<Word>,
    /// What runs.
    pub body: List,
    /// What follows it.
    pub then: Then,
}

/// What follows an arm of `case` that has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// `;;`: nothing.
    End,
    /// `;&`: the next arm.
    Next,
    /// `;;&`: the next arm whose patterns match.
    Test,
}

/// The expression of `[[ … ]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A word that is not empty.
    Word(Word),
    /// `-f x` and its kind: the letter, the word.
    Unary(char, Word),
    /// Two words.
    Binary(Comparison, Word, Word),
    /// `! …`
    Not(Box<Condition>),
    /// `… && …`, `… || …`
    Logic(Joint, Box<Condition>, Box<Condition>),
}

/// What `[[ … ]]` compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`, `=`: the second word is a pattern.
    Matches,
    /// `!=`
    Differs,
    /// `=~`: the second word is a regular expression.
    Regex,
    /// `<`
    Before,
    /// `>`
    After,
    /// `-eq`
    Equal,
    /// `-ne`
    Unequal,
    /// `-lt`
    Less,
    /// `-le`
    LessOrEqual,
    /// `-gt`
    Greater,
    /// `-ge`
    GreaterOrEqual,
    /// `-nt`
    Newer,
    /// `-ot`
    Older,
    /// `-ef`
    SameFile,
}

impl Word {
    /// Returns the text of a word without quotes and expansions; `None` for others.
    #[must_use]
    pub fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a word without expansions, whatever its quotes; `None` for others.
    #[must_use]
    pub fn literal(&self) -> Option<String> {
        fn add(parts: &[Part], text: &mut String) -> Option<()> {
            for part in parts {
                match part {
                    Part::Text(own) | Part::Quoted(own) => text.push_str(own),
                    Part::Double(parts) => add(parts, text)?,
                    Part::Parameter(..) | Part::Substitution(..) | Part::Arithmetic(..) | Part::Process(..) => {
                        return None;
                    }
                }
            }
            Some(())
        }
        let mut text = String::new();
        add(&self.parts, &mut text)?;
        Some(text)
    }
}
