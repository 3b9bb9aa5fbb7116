//! Reads the syntax of a command line: a small part of what a POSIX shell reads. No shell runs.
//!
//! Quotes, `|`, `|&`, `&&`, `||`, `;`, line breaks, comments, `2>&1` and redirections to `/dev/null` are read. Everything
//! else that a shell would act on is an error with its place and a remedy. Pure.
//!
//! Source: POSIX.1-2024, "Shell Command Language", 2.2, 2.3 and 2.10; bash(1) for `|&` and `&>`.

use std::ops::Range;

use super::lexer::{Lexer, Operator, Token};
use super::script::{Condition, LineError, Redirection, Redirections, Script, Stage, Step, Word};

/// Maximum length of a command line, in bytes.
pub(crate) const MAX_LINE_BYTES: usize = 64 << 10;

/// Maximum stages of all pipelines of a command line.
pub(crate) const MAX_STAGES: usize = 16;

/// Words at the start of a command by which a shell controls what runs.
const RESERVED: [&str; 20] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function",
    "coproc", "time", "[[", "{", "}", "!",
];

/// Commands that change the shell itself.
const OF_THE_SHELL: [&str; 18] = [
    ".", "source", "eval", "exec", "export", "set", "unset", "alias", "unalias", "trap", "shopt", "read", "declare",
    "local", "exit", "return", "wait", "command",
];

/// Reads a command line.
///
/// # Errors
/// The first part that is not understood.
///
/// ```
/// use climax::call::line::parse;
///
/// let script = parse("git log -n 3 | grep 'a b'").unwrap();
/// let words: Vec<&str> = script.steps[0].stages[1].words.iter().map(|word| word.text.as_str()).collect();
/// assert_eq!(words, ["grep", "a b"]);
/// assert!(parse("ls > out.txt").unwrap_err().to_string().starts_with("At byte 3, `> out.txt`"));
/// ```
pub fn parse(line: &str) -> Result<Script, LineError> {
    if line.len() > MAX_LINE_BYTES {
        let problem = format!("the command line has {} bytes, and the limit is {MAX_LINE_BYTES}", line.len());
        return Err(LineError::at("", 0..0, problem, "pass long text as `stdin`, or split the line"));
    }
    let mut parser = Parser { line, lexer: Lexer::new(line), script: Script::default() };
    parser.script()?;
    if parser.script.steps.is_empty() { Err(parser.no_command()) } else { Ok(parser.script) }
}

/// Reads a line of `cd DIR` commands only; `None` for every other line.
pub(super) fn parse_directories(line: &str) -> Option<Vec<Word>> {
    let mut parser = Parser { line, lexer: Lexer::new(line), script: Script::default() };
    parser.script().ok()?;
    let Script { directories, steps } = parser.script;
    (steps.is_empty() && !directories.is_empty()).then_some(directories)
}

/// The operator that ends a command, with its place; `None` at the end of the line.
type Ending = Option<(Operator, Range<usize>)>;

struct Parser<'a> {
    line: &'a str,
    lexer: Lexer<'a>,
    script: Script,
}

impl Parser<'_> {
    fn script(&mut self) -> Result<(), LineError> {
        let mut condition = Condition::Always;
        loop {
            let (stages, end) = self.pipeline()?;
            match (stages.is_empty(), &end) {
                (false, _) => self.add(condition, stages)?,
                (true, Some((Operator::End, _)) | None) if condition == Condition::Always => {}
                (true, end) => return Err(self.missing_command(end.as_ref())),
            }
            condition = match end {
                Some((Operator::And, _)) => Condition::Success,
                Some((Operator::Or, _)) => Condition::Failure,
                Some((Operator::End | Operator::Pipe | Operator::PipeAll, _)) => Condition::Always,
                None => break,
            };
        }

        Ok(())
    }

    /// Reads a pipeline, and the operator that ends it.
    fn pipeline(&mut self) -> Result<(Vec<Stage>, Ending), LineError> {
        let mut stages = Vec::new();
        loop {
            let (stage, end) = self.stage()?;
            let is_pipe = matches!(end, Some((Operator::Pipe | Operator::PipeAll, _)));
            match stage {
                None if is_pipe || !stages.is_empty() => return Err(self.missing_command(end.as_ref())),
                None => return Ok((stages, end)),
                Some(mut stage) => {
                    if matches!(end, Some((Operator::PipeAll, _))) {
                        stage.streams = Redirection::StderrToStdout.applied(stage.streams);
                    }
                    stages.push(stage);
                }
            }
            if !is_pipe {
                return Ok((stages, end));
            }
            self.lexer.skip_line_breaks();
        }
    }

    /// Reads one command, and the operator behind it; `None` if there are no words.
    fn stage(&mut self) -> Result<(Option<Stage>, Ending), LineError> {
        let mut words: Vec<Word> = Vec::new();
        let mut variables = Vec::new();
        let mut streams = Redirections::default();
        let mut range: Option<Range<usize>> = None;
        let end = loop {
            let Some((token, at)) = self.lexer.next()? else { break None };
            match token {
                Token::Operator(operator) => break Some((operator, at)),
                Token::Redirection(redirection) => streams = redirection.applied(streams),
                Token::Word(word) => match word.variable(self.line) {
                    Some((name, value)) if words.is_empty() => variables.push((name, value)),
                    _ => words.push(word),
                },
            }
            range = Some(range.map_or(at.start, |range| range.start)..at.end);
        };
        let Some(range) = range else { return Ok((None, end)) };
        let Some(first) = words.first() else {
            let (problem, remedy) = match variables.first() {
                Some((name, _)) => (
                    format!("`{name}=…` sets a variable for no program"),
                    "write the value where it is used; variables do not persist".to_owned(),
                ),
                None => ("a redirection without a program".to_owned(), "write the program before it".to_owned()),
            };
            return Err(LineError::at(self.line, range, problem, remedy));
        };
        self.check_first(first)?;

        Ok((Some(Stage { variables, words, streams, range }), end))
    }

    /// Refuses words that only a shell can act on.
    fn check_first(&self, word: &Word) -> Result<(), LineError> {
        let is_plain = self.line.get(word.range.clone()) == Some(word.text.as_str());
        let text = word.text.as_str();
        if is_plain && RESERVED.contains(&text) {
            let problem = format!("`{text}` controls a shell, and no shell runs here");
            return Err(self.error(word, problem, "write the commands one by one, with `&&`, `||`, `;` or `|`"));
        }

        if OF_THE_SHELL.contains(&text) {
            let problem = format!("`{text}` is a command of the shell, and no shell runs here");
            return Err(self.error(word, problem, "call the program itself; nothing persists between lines"));
        }

        Ok(())
    }

    /// Adds a pipeline to the script. A leading `cd DIR` becomes its directory.
    fn add(&mut self, condition: Condition, stages: Vec<Stage>) -> Result<(), LineError> {
        if let [stage] = stages.as_slice()
            && stage.words[0].text == "cd"
        {
            let directory = self.directory(condition, stage)?;
            self.script.directories.push(directory);
            return Ok(());
        }
        if let Some(stage) = stages.iter().find(|stage| stage.words[0].text == "cd") {
            let problem = "`cd` in a pipeline changes no directory";
            return Err(LineError::at(self.line, stage.range.clone(), problem, "start the line with `cd DIR &&`"));
        }

        let count: usize = self.script.steps.iter().map(|step| step.stages.len()).sum();
        if count + stages.len() > MAX_STAGES {
            let range = stages[0].range.clone();
            let problem = format!("the line has more than {MAX_STAGES} commands");
            return Err(LineError::at(self.line, range, problem, "split it into several lines"));
        }

        self.script.steps.push(Step { condition, stages });
        Ok(())
    }

    /// Reads `cd DIR`, which may stand at the start only.
    fn directory(&self, condition: Condition, stage: &Stage) -> Result<Word, LineError> {
        let error = |problem: &str, remedy: &str| Err(LineError::at(self.line, stage.range.clone(), problem, remedy));
        if !self.script.steps.is_empty() {
            return error("`cd` stands behind another command", "put `cd DIR &&` first; it holds for the whole line");
        }
        if condition == Condition::Failure {
            return error("`cd` behind `||` would depend on another", "put `cd DIR &&` first");
        }
        let operands = stage.words[1..].iter().filter(|word| word.text != "--");
        match operands.collect::<Vec<_>>().as_slice() {
            [directory] if directory.text != "-" => Ok((*directory).clone()),
            _ => error("`cd` takes one directory here", "write `cd DIR && COMMAND`"),
        }
    }

    fn no_command(&self) -> LineError {
        let whole = 0..self.line.len();
        let (problem, remedy) = if self.script.directories.is_empty() {
            ("there is no command", "write a program with its arguments")
        } else {
            ("a directory does not persist between lines", "write `cd DIR && COMMAND` in one line")
        };
        LineError::at(self.line, whole, problem, remedy)
    }

    fn missing_command(&self, operator: Option<&(Operator, Range<usize>)>) -> LineError {
        let range = operator.map_or(self.line.len()..self.line.len(), |(_, range)| range.clone());
        LineError::at(self.line, range, "a command is missing here", "write one on each side of `|`, `&&` and `||`")
    }

    fn error(&self, word: &Word, problem: impl Into<String>, remedy: &str) -> LineError {
        LineError::at(self.line, word.range.clone(), problem, remedy)
    }
}

impl Word {
    /// Reads `NAME=value`: a name without quotes, then the value.
    pub(super) fn variable(&self, line: &str) -> Option<(String, Self)> {
        let (name, value) = self.text.split_once('=')?;
        let is_name = !name.starts_with(|c: char| c.is_ascii_digit())
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let written = line.get(self.range.clone())?;
        (is_name && written.starts_with(&format!("{name}="))).then(|| {
            (name.to_owned(), Self { text: value.to_owned(), is_home: false, glob: None, range: self.range.clone() })
        })
    }
}
