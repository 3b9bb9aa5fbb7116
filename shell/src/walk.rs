//! Finds parts of the tree.

use crate::tree::{Arithmetic, Operation, Part, Word};

impl Operation {
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

    fn visit<'a>(&'a self, see: &mut impl FnMut(&'a Self)) {
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
