//! Finds parts of the tree.

use crate::tree::{Arithmetic, Body, Command, Condition, List, Name, Operation, Part, Target, Word};

impl List {
    /// Returns all commands of the list: those of compound commands and those in words too, each behind what it stands in.
    #[must_use]
    pub fn commands(&self) -> Vec<&Command> {
        let mut found = Vec::new();
        self.add_commands(&mut found);
        found
    }

    fn add_commands<'l>(&'l self, found: &mut Vec<&'l Command>) {
        for chain in &self.items {
            for pipeline in std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, pipeline)| pipeline)) {
                for command in &pipeline.commands {
                    found.push(command);
                    let mut lists = command.lists();
                    for part in command.parts() {
                        part.add_lists(&mut lists);
                    }
                    for list in lists {
                        list.add_commands(found);
                    }
                }
            }
        }
    }
}

impl Command {
    /// Returns the lists of a compound command.
    #[must_use]
    pub fn lists(&self) -> Vec<&List> {
        match &self.body {
            Body::Simple(_) | Body::Arithmetic(_) | Body::Condition(_) => Vec::new(),
            Body::Subshell(list) | Body::Group(list) => vec![list],
            Body::If(command) => {
                let branches = command.branches.iter().flat_map(|branch| [&branch.condition, &branch.body]);
                branches.chain(&command.otherwise).collect()
            }
            Body::For(command) => vec![&command.body],
            Body::Count(count) => vec![&count.body],
            Body::While(command) => vec![&command.condition, &command.body],
            Body::Case(case) => case.arms.iter().map(|arm| &arm.body).collect(),
        }
    }

    /// Returns its own words, and those of its redirections.
    #[must_use]
    pub fn words(&self) -> Vec<&Word> {
        let mut words = Vec::new();
        match &self.body {
            Body::Simple(simple) => {
                words.extend(simple.assignments.iter().map(|assignment| &assignment.value));
                words.extend(&simple.words);
            }
            Body::For(command) => words.extend(command.words.iter().flatten()),
            Body::Case(case) => {
                words.push(&case.word);
                words.extend(case.arms.iter().flat_map(|arm| &arm.patterns));
            }
            Body::Condition(condition) => words.extend(condition.words()),
            Body::Subshell(_)
            | Body::Group(_)
            | Body::If(_)
            | Body::Count(_)
            | Body::While(_)
            | Body::Arithmetic(_) => {}
        }
        words.extend(self.redirections.iter().filter_map(|redirection| match &redirection.target {
            Target::Read(word) | Target::Write(word) | Target::Append(word) | Target::Text(word) => Some(word),
            Target::Same(_) | Target::Closed => None,
        }));
        words
    }

    /// Returns the parts of its words, and the expansions in its arithmetic.
    fn parts(&self) -> Vec<&Part> {
        let mut parts: Vec<&Part> = self.words().into_iter().flat_map(|word| &word.parts).collect();
        match &self.body {
            Body::Arithmetic(expression) => parts.extend(expression.parts()),
            Body::Count(count) => {
                let expressions = [&count.start, &count.condition, &count.step].into_iter().flatten();
                parts.extend(expressions.flat_map(Arithmetic::parts));
            }
            _ => {}
        }
        parts
    }
}

impl Part {
    /// Adds the lists in it that run first, or beside the command.
    pub fn add_lists<'p>(&'p self, lists: &mut Vec<&'p List>) {
        match self {
            Self::Text(_) | Self::Quoted(_) => {}
            Self::Double(parts) => parts.iter().for_each(|part| part.add_lists(lists)),
            Self::Substitution(list, _) | Self::Process(list, _) => lists.push(list),
            Self::Parameter(parameter, _) => {
                let words = parameter.operation.words().into_iter().flat_map(|word| &word.parts);
                let numbers = parameter.operation.numbers().into_iter().flat_map(Arithmetic::parts);
                words.chain(numbers).for_each(|part| part.add_lists(lists));
            }
            Self::Arithmetic(expression, _) => {
                expression.parts().into_iter().for_each(|part| part.add_lists(lists));
            }
        }
    }
}

impl Word {
    /// Returns the names of the variables that expanding it sets.
    #[must_use]
    pub fn assigned(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.parts.iter().for_each(|part| part.add_assigned(&mut names));
        names
    }
}

impl Part {
    fn add_assigned(&self, names: &mut Vec<String>) {
        match self {
            Self::Text(_) | Self::Quoted(_) | Self::Substitution(..) | Self::Process(..) => {}
            Self::Double(parts) => parts.iter().for_each(|part| part.add_assigned(names)),
            Self::Parameter(parameter, _) => {
                if let (Name::Variable(name), Operation::Assign(..)) = (&parameter.name, &parameter.operation) {
                    names.push(name.clone());
                }
                for word in parameter.operation.words() {
                    names.extend(word.assigned());
                }
                names.extend(parameter.operation.numbers().into_iter().flat_map(Arithmetic::assigned));
            }
            Self::Arithmetic(expression, _) => names.extend(expression.assigned()),
        }
    }
}

impl Condition {
    /// Returns its words.
    #[must_use]
    pub fn words(&self) -> Vec<&Word> {
        match self {
            Self::Word(word) | Self::Unary(_, word) => vec![word],
            Self::Binary(_, one, other) => vec![one, other],
            Self::Not(condition) => condition.words(),
            Self::Logic(_, one, other) => one.words().into_iter().chain(other.words()).collect(),
        }
    }
}

impl Operation {
    /// Whether it says what stands for a value that is missing.
    pub(crate) fn asks_for_value(&self) -> bool {
        matches!(self, Self::Default(..) | Self::Assign(..) | Self::Alternative(..) | Self::Required(..))
    }

    /// Returns its words.
    #[must_use]
    pub fn words(&self) -> Vec<&Word> {
        match self {
            Self::Default(word, _)
            | Self::Assign(word, _)
            | Self::Alternative(word, _)
            | Self::Required(word, _)
            | Self::Trim(_, word) => vec![word],
            Self::Replace(_, pattern, with) => vec![pattern, with],
            Self::Value | Self::Length | Self::Slice(..) | Self::Case(..) => Vec::new(),
        }
    }

    /// Returns its numbers.
    #[must_use]
    pub fn numbers(&self) -> Vec<&Arithmetic> {
        if let Self::Slice(start, length) = self { std::iter::once(start).chain(length).collect() } else { Vec::new() }
    }
}

impl Arithmetic {
    /// Returns the expansions in it.
    #[must_use]
    pub fn parts(&self) -> Vec<&Part> {
        let mut parts = Vec::new();
        self.visit(&mut |one| {
            if let Self::Value(part) | Self::Text(part, _) = one {
                parts.push(&**part);
            }
        });
        parts
    }

    /// Returns the names of the variables that it sets.
    #[must_use]
    pub fn assigned(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.visit(&mut |one| {
            if let Self::Assign(name, ..) | Self::Step(name, ..) = one {
                names.push(name.clone());
            }
        });
        names
    }

    pub(crate) fn visit<'a>(&'a self, see: &mut impl FnMut(&'a Self)) {
        see(self);
        match self {
            Self::Number(_) | Self::Value(_) | Self::Text(..) | Self::Step(..) => {}
            Self::Unary(_, value) | Self::Assign(_, _, value) => value.visit(see),
            Self::Binary(_, one, other) | Self::Logic(_, one, other) | Self::Sequence(one, other) => {
                one.visit(see);
                other.visit(see);
            }
            Self::Choice(condition, then, otherwise) => {
                condition.visit(see);
                then.visit(see);
                otherwise.visit(see);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands_are_found_wherever_they_stand() {
        for text in [
            "x; a | b",
            "if x; then a; else b; fi",
            "for i in $(x); do a; b; done",
            "for ((i = $(x); i < 1; i++)); do a <(b); done",
            "while x; do (a; { b; }) > y; done",
            "case $(x) in $(a)) b;; esac",
            "c=$(x) echo \"${y:-$(a)}\" ${y:$(b):1}",
            "[[ -n $(x) && a =~ $(a) ]] || (( $(b) ))",
            "cat <<E > `x`\n$((1 + $(a))) $(b)\nE",
        ] {
            let script = crate::parse(text).unwrap();
            let commands = script.list.commands();
            let found: Vec<&str> = commands.iter().map(|command| &text[command.range.clone()]).collect();
            for name in ["x", "a", "b"] {
                let is_one = |text: &&str| *text == name || text.starts_with(&format!("{name} "));
                assert!(found.iter().any(is_one), "{name} of {text}: {found:?}");
            }
        }
    }
}
