//! Finds what bash reads and other shells do not, for texts that `sh` runs: on Debian it is dash.
//!
//! Source: dash(1) 0.5.12, and POSIX.1-2024, "Shell Command Language".

use std::ops::Range;

use crate::tree::{
    Arithmetic, Binary, Body, Command, Descriptor, List, Name, Operation, Parameter, Part, Script, Simple, Target, Word,
};

impl Script {
    /// Returns what only bash reads in this script, which was read from `text`; `None` if every shell reads it alike.
    #[must_use]
    pub fn beyond_posix(&self, text: &str) -> Option<&'static str> {
        Search { text }.list(&self.list)
    }
}

struct Search<'t> {
    text: &'t str,
}

/// What was found.
type Found = Option<&'static str>;

impl Search<'_> {
    fn source(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    fn list(&self, list: &List) -> Found {
        let pipelines = list
            .items
            .iter()
            .flat_map(|chain| std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, pipeline)| pipeline)));
        pipelines.flat_map(|pipeline| &pipeline.commands).find_map(|command| self.command(command))
    }

    fn command(&self, command: &Command) -> Found {
        let redirections = command.redirections.iter().find_map(|redirection| {
            let source = self.source(&redirection.range);
            match &redirection.target {
                _ if redirection.descriptor == Descriptor::Both => Some("&>"),
                Target::Text(_) if source.starts_with("<<<") => Some("<<<"),
                Target::Same(_) if source == "|&" => Some("|&"),
                Target::Text(word) | Target::Read(word) | Target::Write(word) | Target::Append(word) => self.word(word),
                Target::Same(_) | Target::Closed => None,
            }
        });
        redirections.or_else(|| self.body(&command.body))
    }

    fn body(&self, body: &Body) -> Found {
        match body {
            Body::Simple(simple) => self.simple(simple),
            Body::Subshell(list) | Body::Group(list) => self.list(list),
            Body::If(command) => {
                let mut lists = command.branches.iter().flat_map(|branch| [&branch.condition, &branch.body]);
                lists.find_map(|list| self.list(list)).or_else(|| self.list(command.otherwise.as_ref()?))
            }
            Body::For(command) => {
                self.words(command.words.as_deref().unwrap_or_default()).or_else(|| self.list(&command.body))
            }
            Body::While(command) => self.list(&command.condition).or_else(|| self.list(&command.body)),
            Body::Case(case) => self.word(&case.word).or_else(|| {
                let arms = &mut case.arms.iter();
                arms.find_map(|arm| self.words(&arm.patterns).or_else(|| self.list(&arm.body)))
            }),
            Body::Count(_) => Some("for (("),
            Body::Condition(_) => Some("[["),
            Body::Arithmetic(_) => Some("(("),
        }
    }

    fn simple(&self, simple: &Simple) -> Found {
        if simple.assignments.iter().any(|assignment| assignment.appends) {
            return Some("+=");
        }
        let values = simple.assignments.iter().find_map(|assignment| self.word(&assignment.value));
        values.or_else(|| self.words(&simple.words)).or_else(|| of_builtin(&simple.words))
    }

    fn words(&self, words: &[Word]) -> Found {
        if words.windows(2).any(|pair| pair[0].range == pair[1].range) {
            return Some("{a,b}");
        }
        words.iter().find_map(|word| self.word(word))
    }

    fn word(&self, word: &Word) -> Found {
        if has_escaped_quote(self.source(&word.range)) {
            return Some("$'…'");
        }
        word.parts.iter().find_map(|part| self.part(part))
    }

    fn part(&self, part: &Part) -> Found {
        match part {
            Part::Text(_) | Part::Quoted(_) => None,
            Part::Double(parts) => parts.iter().find_map(|part| self.part(part)),
            Part::Substitution(list, _) => self.list(list),
            Part::Process(..) => Some("<(…)"),
            Part::Parameter(parameter, _) => self.parameter(parameter),
            Part::Arithmetic(expression, _) => {
                let own = is_of_bash(expression).then_some("`**`, `++`, `--` or `,` in `$((…))`");
                own.or_else(|| expression.parts().into_iter().find_map(|part| self.part(part)))
            }
        }
    }

    fn parameter(&self, parameter: &Parameter) -> Found {
        match (&parameter.name, &parameter.operation) {
            (Name::PipeStatus(_) | Name::PipeStatuses | Name::JoinedPipeStatuses, _) => Some("PIPESTATUS"),
            (_, Operation::Replace(..)) => Some("${x/a/b}"),
            (_, Operation::Slice(..)) => Some("${x:1:2}"),
            (_, Operation::Case(..)) => Some("${x^^}"),
            (_, operation) => operation.words().into_iter().find_map(|word| self.word(word)),
        }
    }
}

/// What only bash does with the words of a builtin.
fn of_builtin(words: &[Word]) -> Found {
    let (name, rest) = words.split_first()?;
    let texts: Vec<String> = rest.iter().filter_map(Word::literal).collect();
    let has = |wanted: &dyn Fn(&str) -> bool| texts.iter().any(|text| wanted(text));
    match name.plain()? {
        "echo" if has(&|text| text.contains('\\')) => Some("a backslash in `echo`"),
        "echo" if texts.first().is_some_and(|text| text.starts_with('-') && text != "-n") => Some("echo -e"),
        "printf" if has(&|text| text.contains("%q") || text.contains("\\x") || text.contains("\\u")) => {
            Some("`%q` or `\\x` in `printf`")
        }
        "[" | "test" if has(&|text| matches!(text, "==" | "-v" | "=~")) => Some("`==` in `[`"),
        "set" if has(&|text| text == "pipefail") => Some("set -o pipefail"),
        "read" if has(&|text| text.starts_with('-') && text != "-r") => Some("options of `read` but `-r`"),
        "source" => Some("source"),
        "type" if has(&|text| text.starts_with('-')) => Some("options of `type`"),
        _ => None,
    }
}

fn is_of_bash(expression: &Arithmetic) -> bool {
    match expression {
        Arithmetic::Number(_) | Arithmetic::Value(_) | Arithmetic::Text(..) => false,
        Arithmetic::Unary(_, value) | Arithmetic::Assign(_, _, value) => is_of_bash(value),
        Arithmetic::Binary(operator, one, other) => *operator == Binary::Power || is_of_bash(one) || is_of_bash(other),
        Arithmetic::Logic(_, one, other) => is_of_bash(one) || is_of_bash(other),
        Arithmetic::Choice(one, two, three) => [one, two, three].into_iter().any(|one| is_of_bash(one)),
        Arithmetic::Step(..) | Arithmetic::Sequence(..) => true,
    }
}

/// Whether `$'` stands outside of quotes.
fn has_escaped_quote(source: &str) -> bool {
    let mut quote = None;
    let mut characters = source.chars().peekable();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some('"') | None, '\\') => {
                characters.next();
            }
            (None, '$') if characters.peek() == Some(&'\'') => return true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    fn found(text: &str) -> Option<&'static str> {
        crate::parse(text).unwrap().beyond_posix(text)
    }

    #[test]
    fn what_every_shell_reads_is_portable() {
        for text in [
            "for f in *.txt; do [ \"$f\" = a ] && echo \"${f%.txt}\" $((1 + 2)); done",
            "grep 'x$' \"$1\" | while read -r a; do printf '%s\\n' \"$a\"; done 2>&1",
            "cat <<E\n$x\nE\ncase $1 in a*) exit 3;; esac; x=$(ls)",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn what_only_bash_reads_is_found_wherever_it_stands() {
        for text in [
            "[[ a == b ]]",
            "if true; then echo ${x//a/b}; fi",
            "x=$(echo {1..3})",
            "cat <<< a",
            "ls |& cat",
            "ls &> f",
            "echo \"$((x++))\"",
            "echo $'a'",
            "diff <(ls) b",
            "while [ a == b ]; do ls; done",
            "echo 'a\\tb'",
            "echo -e a",
            "set -eo pipefail; ls",
            "x+=1",
        ] {
            assert!(found(text).is_some(), "{text}");
        }
    }
}
