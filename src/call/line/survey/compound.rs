//! Reads compound commands: every branch, and what they compute.

use std::ops::Range;

use climax_shell::{Body, Case, If, List};

use super::Survey;
use crate::call::line::read_line::Feed;
use crate::call::line::resolve::UnreadLine;

impl Survey<'_, '_> {
    /// Reads a compound command, whose commands have this standard input. Simple commands are none.
    pub(super) fn compound(&mut self, body: &Body, range: &Range<usize>, feed: &Feed) -> Result<(), UnreadLine> {
        match body {
            Body::Simple(_) => Ok(()),
            Body::Subshell(list) => self.subshell(|survey| survey.list(list, feed)),
            Body::Group(list) => self.list(list, feed),
            Body::If(command) => self.choice(command, feed),
            Body::For(command) => self.for_loop(command, feed),
            Body::Count(command) => self.count_loop(command, range, feed),
            Body::While(command) => self.while_loop(command, feed),
            Body::Case(command) => self.case(command, feed),
            Body::Arithmetic(expression) => {
                self.substitutions_in(expression.parts())?;
                self.arithmetic(expression, range)
            }
            Body::Condition(condition) => self.substitutions(condition.words()),
        }
    }

    /// Reads all branches of an `if`, of which the first condition alone runs in any case.
    fn choice(&mut self, command: &If, feed: &Feed) -> Result<(), UnreadLine> {
        let before = self.snapshot();
        for (at, branch) in command.branches.iter().enumerate() {
            let condition = |survey: &mut Self| survey.list(&branch.condition, feed);
            if at == 0 {
                condition(self)?;
            } else {
                self.branch(condition)?;
            }
            self.branch(|survey| survey.list(&branch.body, feed))?;
            self.merge(before.clone());
        }

        let read = |list: &List| self.branch(|survey| survey.list(list, feed));
        command.otherwise.as_ref().map_or(Ok(()), read)?;
        self.merge(before);
        Ok(())
    }

    /// Reads all arms of a `case`.
    fn case(&mut self, command: &Case, feed: &Feed) -> Result<(), UnreadLine> {
        self.substitutions(std::slice::from_ref(&command.word))?;
        let before = self.snapshot();
        for arm in &command.arms {
            self.substitutions(&arm.patterns)?;
            self.branch(|survey| survey.list(&arm.body, feed))?;
            self.merge(before.clone());
        }
        Ok(())
    }
}
