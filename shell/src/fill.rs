//! Turns a string that stands in the words of a text into a variable, as programs do that put values into it.

use crate::tree::{
    Body, Command, Comparison, Condition, List, Name, Operation, Parameter, Part, Pipeline, Script, Simple, Target,
    Word,
};

/// The number of places in which a variable was put.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Those within quotes, and in the texts of here-documents.
    pub quoted: usize,
    /// The others.
    pub unquoted: usize,
}

impl Script {
    /// Puts the variable `name` wherever `pattern` stands in the words, quoted or not, and returns in how many places.
    ///
    /// What the variable holds stays one word, or a part of one. A pattern in what is no word, such as the name of a
    /// variable, a number or a regular expression, stays what it is.
    pub fn fill(&mut self, pattern: &str, name: &str) -> Places {
        let mut filling = Filling { pattern, name, places: Places::default() };
        filling.list(&mut self.list);
        filling.places
    }
}

struct Filling<'f> {
    pattern: &'f str,
    name: &'f str,
    places: Places,
}

impl Filling<'_> {
    fn list(&mut self, list: &mut List) {
        for chain in &mut list.items {
            self.pipeline(&mut chain.first);
            chain.rest.iter_mut().for_each(|(_, pipeline)| self.pipeline(pipeline));
        }
    }

    fn pipeline(&mut self, pipeline: &mut Pipeline) {
        pipeline.commands.iter_mut().for_each(|command| self.command(command));
    }

    fn command(&mut self, command: &mut Command) {
        for redirection in &mut command.redirections {
            match &mut redirection.target {
                Target::Read(word) | Target::Write(word) | Target::Append(word) => self.word(word),
                Target::Text(word) => self.parts(&mut word.parts, true),
                Target::Same(_) | Target::Closed => {}
            }
        }
        self.body(&mut command.body);
    }

    fn body(&mut self, body: &mut Body) {
        match body {
            Body::Simple(Simple { assignments, words }) => {
                for assignment in assignments {
                    self.word(&mut assignment.value);
                }
                for word in words {
                    self.word(word);
                }
            }
            Body::Subshell(list) | Body::Group(list) => self.list(list),
            Body::If(command) => {
                for branch in &mut command.branches {
                    self.list(&mut branch.condition);
                    self.list(&mut branch.body);
                }
                command.otherwise.iter_mut().for_each(|list| self.list(list));
            }
            Body::For(command) => {
                command.words.iter_mut().flatten().for_each(|word| self.word(word));
                self.list(&mut command.body);
            }
            Body::Count(count) => self.list(&mut count.body),
            Body::While(command) => {
                self.list(&mut command.condition);
                self.list(&mut command.body);
            }
            Body::Case(case) => {
                self.word(&mut case.word);
                for arm in &mut case.arms {
                    arm.patterns.iter_mut().for_each(|word| self.word(word));
                    self.list(&mut arm.body);
                }
            }
            Body::Condition(condition) => self.condition(condition),
            Body::Arithmetic(_) => {}
        }
    }

    fn condition(&mut self, condition: &mut Condition) {
        match condition {
            Condition::Word(word) | Condition::Unary(_, word) => self.word(word),
            // What a variable holds is no regular expression.
            Condition::Binary(Comparison::Regex, one, _) => self.word(one),
            Condition::Binary(_, one, other) => {
                self.word(one);
                self.word(other);
            }
            Condition::Not(condition) => self.condition(condition),
            Condition::Logic(_, one, other) => {
                self.condition(one);
                self.condition(other);
            }
        }
    }

    fn word(&mut self, word: &mut Word) {
        self.parts(&mut word.parts, false);
    }

    fn parts(&mut self, parts: &mut Vec<Part>, is_quoted: bool) {
        let mut filled = Vec::with_capacity(parts.len());
        for mut part in std::mem::take(parts) {
            match &mut part {
                Part::Text(text) if text.contains(self.pattern) => {
                    let text = std::mem::take(text);
                    self.pieces(&text, &mut filled, is_quoted, Part::Text);
                    self.count(&text, is_quoted);
                    continue;
                }
                Part::Quoted(text) if text.contains(self.pattern) => {
                    let text = std::mem::take(text);
                    self.pieces(&text, &mut filled, is_quoted, Part::Quoted);
                    self.count(&text, true);
                    continue;
                }
                Part::Text(_) | Part::Quoted(_) | Part::Arithmetic(..) => {}
                Part::Double(parts) => self.parts(parts, true),
                Part::Substitution(list, _) | Part::Process(list, _) => self.list(list),
                Part::Parameter(parameter, _) => match &mut parameter.operation {
                    Operation::Default(word, _)
                    | Operation::Assign(word, _)
                    | Operation::Alternative(word, _)
                    | Operation::Required(word, _)
                    | Operation::Trim(_, word) => self.word(word),
                    Operation::Replace(_, pattern, with) => {
                        self.word(pattern);
                        self.word(with);
                    }
                    Operation::Value | Operation::Length | Operation::Slice(..) | Operation::Case(..) => {}
                },
            }
            filled.push(part);
        }
        *parts = filled;
    }

    fn count(&mut self, text: &str, is_quoted: bool) {
        let count = text.matches(self.pattern).count();
        if is_quoted {
            self.places.quoted += count;
        } else {
            self.places.unquoted += count;
        }
    }

    /// Splits a text at each place of the pattern.
    fn pieces(&self, text: &str, parts: &mut Vec<Part>, is_quoted: bool, piece: impl Fn(String) -> Part) {
        for (at, between) in text.split(self.pattern).enumerate() {
            if at > 0 {
                let parameter = Parameter { name: Name::Variable(self.name.to_owned()), operation: Operation::Value };
                let value = Part::Parameter(Box::new(parameter), 0..0);
                parts.push(if is_quoted { value } else { Part::Double(vec![value]) });
            }
            if !between.is_empty() {
                parts.push(piece(between.to_owned()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tree::Script;

    fn places(text: &str) -> (usize, usize) {
        let mut script: Script = crate::parse(text).unwrap();
        let places = script.fill("{}", "{}");
        (places.quoted, places.unquoted)
    }

    #[test]
    fn every_place_in_a_word_is_found() {
        for (text, quoted, unquoted) in [
            ("echo {} 'a {}' \"b {} c\" x{}y", 2, 2),
            ("cat < {} > {}.out", 0, 2),
            ("x={}; if [ -f {} ]; then echo $(wc -l {}); fi", 0, 3),
            ("for f in {}; do case {} in {}) cat <<E\n{}\nE\n;; esac; done", 1, 3),
            ("[[ -n {} && {} == a ]] || echo ${y:-{}}", 0, 2),
            ("[[ a =~ {} ]]; echo $(( 1 + 2 ))", 0, 0),
        ] {
            assert_eq!(places(text), (quoted, unquoted), "{text}");
        }
    }
}
