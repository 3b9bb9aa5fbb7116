//! Finds what bash reads and other shells do not, for texts that `sh` runs: on Debian it is dash.
//!
//! Source: dash(1) 0.5.12, and POSIX.1-2024, "Shell Command Language".

use std::ops::Range;

use crate::tree::{
    Arithmetic, Binary, Body, Command, Descriptor, Name, Operation, Parameter, Part, Script, Splice, Target, Then, Word,
};

impl Script {
    /// Returns what only bash reads in this script, which was read from `text`; `None` if every shell reads it alike.
    #[must_use]
    pub fn beyond_posix(&self, text: &str) -> Option<&'static str> {
        self.list.commands().into_iter().find_map(|command| of_command(command, text))
    }
}

/// What is found in a command, without the commands in it.
fn of_command(command: &Command, text: &str) -> Option<&'static str> {
    let source = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
    let redirections = command.redirections.iter().find_map(|redirection| match &redirection.target {
        _ if redirection.descriptor == Descriptor::Both => Some("&>"),
        Target::Text(_) if source(&redirection.range).starts_with("<<<") => Some("<<<"),
        Target::Same(_) if source(&redirection.range) == "|&" => Some("|&"),
        _ => None,
    });
    let body = match &command.body {
        Body::Count(_) => Some("for (("),
        Body::Condition(_) => Some("[["),
        Body::Arithmetic(_) => Some("(("),
        Body::Case(case) if case.arms.iter().any(|arm| arm.then != Then::End) => Some(";&"),
        Body::Simple(simple) if simple.assignments.iter().any(|assignment| assignment.appends) => Some("+="),
        Body::Simple(simple) => of_builtin(&simple.words),
        _ => None,
    };

    let words = command.words();
    let has_braces = words.windows(2).any(|pair| pair[0].range == pair[1].range);
    let braces = has_braces.then_some("{a,b}");
    redirections.or(body).or(braces).or_else(|| {
        words.into_iter().find_map(|word| {
            let quote = has_escaped_quote(source(&word.range)).then_some("$'…'");
            quote.or_else(|| word.parts.iter().find_map(of_part))
        })
    })
}

fn of_part(part: &Part) -> Option<&'static str> {
    match part {
        Part::Text(_) | Part::Quoted(_) | Part::Substitution(..) => None,
        Part::Double(parts) => parts.iter().find_map(of_part),
        Part::Process(..) => Some("<(…)"),
        Part::Parameter(parameter, _) => of_parameter(parameter),
        Part::Arithmetic(expression, _) => {
            let mut is_of_bash = false;
            expression.visit(&mut |one| {
                is_of_bash |= matches!(
                    one,
                    Arithmetic::Step(..)
                        | Arithmetic::Sequence(..)
                        | Arithmetic::Binary(Binary::Power, ..)
                        | Arithmetic::Text(_, Splice::Digits(_))
                );
            });
            let own = is_of_bash.then_some("`**`, `++`, `--` or `,` in `$((…))`");
            own.or_else(|| expression.parts().into_iter().find_map(of_part))
        }
    }
}

fn of_parameter(parameter: &Parameter) -> Option<&'static str> {
    match (&parameter.name, &parameter.operation) {
        (Name::PipeStatus(_) | Name::PipeStatuses | Name::JoinedPipeStatuses, _) => Some("PIPESTATUS"),
        (_, Operation::Replace(..)) => Some("${x/a/b}"),
        (_, Operation::Slice(..)) => Some("${x:1:2}"),
        (_, Operation::Case(..)) => Some("${x^^}"),
        (_, operation) => operation.words().into_iter().flat_map(|word| &word.parts).find_map(of_part),
    }
}

/// What only bash does with the words of a builtin.
fn of_builtin(words: &[Word]) -> Option<&'static str> {
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
        "export" if rest.iter().filter_map(Word::assignment).any(|assignment| assignment.appends) => Some("+="),
        "source" => Some("source"),
        "type" if has(&|text| text.starts_with('-')) => Some("options of `type`"),
        _ => None,
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
