//! `[[ … ]]`

use climax_shell::{Comparison, Condition, Joint, Regex, RegexError, Word};
use futures_util::future::{BoxFuture, Future, FutureExt as _};

use super::record::Record;
use super::shell::Shell;
use super::test_command::{file_holds, holds};
use super::{Interpreter, Ran, Text, failure};
use crate::call::approval::Approver;
use crate::exec::Stop;

impl<A, S> Interpreter<'_, '_, A, S>
where
    A: Approver,
    S: Future<Output = Stop> + Send,
{
    /// The status of a condition: 0 if it holds, 1 if not, 2 if a regular expression in it is none.
    pub(super) fn condition<'f>(
        &'f self,
        shell: &'f mut Shell,
        text: Text<'f>,
        condition: &'f Condition,
        record: &'f mut Record,
    ) -> BoxFuture<'f, Ran<i32>> {
        async move {
            match condition {
                Condition::Word(word) => Ok(status(!self.word(shell, text, word, record).await?.text.is_empty())),
                Condition::Not(condition) => Ok(status(self.condition(shell, text, condition, record).await? != 0)),
                Condition::Logic(joint, one, other) => {
                    let first = self.condition(shell, text, one, record).await?;
                    if (first == 0) == (*joint == Joint::Or) {
                        return Ok(first);
                    }
                    self.condition(shell, text, other, record).await
                }
                Condition::Unary(letter, word) => {
                    let value = self.word(shell, text, word, record).await?.text;
                    let holds =
                        file_holds(*letter, &value, shell).unwrap_or_else(|| Err(format!("`-{letter}` is not read")));
                    let holds = holds.map(status);
                    holds.map_err(|problem| failure(text, word.range.clone(), problem, "write another test"))
                }
                Condition::Binary(comparison, one, other) => {
                    let first = self.word(shell, text, one, record).await?.text;
                    self.compared(shell, text, (*comparison, &first, other), record).await
                }
            }
        }
        .boxed()
    }

    /// The status of a comparison with a word.
    async fn compared(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        (comparison, first, other): (Comparison, &str, &Word),
        record: &mut Record,
    ) -> Ran<i32> {
        match comparison {
            Comparison::Matches | Comparison::Differs => {
                let matches = self.matches(shell, text, other, first, record).await?;
                Ok(status(matches == (comparison == Comparison::Matches)))
            }
            Comparison::Regex => {
                let regex = self.regex(shell, text, other, record).await?;
                status_of_regex(&regex, first).map_err(|problem| {
                    failure(text, other.range.clone(), problem, "let a program do it, such as grep -E")
                })
            }
            comparison => {
                let second = self.word(shell, text, other, record).await?.text;
                let is_numeric = comparison_of_numbers(comparison);
                if is_numeric && [first, &second].into_iter().any(is_octal) {
                    let problem = "a number that starts with 0 is octal in `[[ ]]`";
                    return Err(failure(text, other.range.clone(), problem, "write `[ ]` for decimal ones"));
                }
                let number =
                    |text: &'_ str| if is_numeric && text.is_empty() { "0".to_owned() } else { text.to_owned() };
                let (first, second) = (number(first), number(&second));
                let words = [first.as_str(), operator(comparison), &second];
                holds(&words, shell)
                    .map(status)
                    .map_err(|problem| failure(text, other.range.clone(), problem, "both must be decimal numbers"))
            }
        }
    }
}

fn status(holds: bool) -> i32 {
    i32::from(!holds)
}

/// The status of `[[ TEXT =~ REGEX ]]`.
fn status_of_regex(regex: &str, text: &str) -> Result<i32, String> {
    let regex = match Regex::translated(regex) {
        Ok(regex) => regex,
        Err(RegexError::Invalid) => return Ok(2),
        Err(RegexError::Unread(reason)) => return Err(format!("in a regular expression {reason}")),
    };
    // Other characters belong to classes too, of which this reader of expressions does not know.
    if regex.has_classes && !text.is_ascii() {
        let problem = "classes such as [:alpha:] and \\w are not read for characters that are not ASCII";
        return Err(problem.to_owned());
    }
    let regex = regex_lite::RegexBuilder::new(&regex.text).size_limit(1 << 20).dot_matches_new_line(true).build();
    Ok(status(regex.map_err(|error| error.to_string())?.is_match(text)))
}

/// Whether a comparison is one of numbers.
fn comparison_of_numbers(comparison: Comparison) -> bool {
    operator(comparison).starts_with('-')
        && !matches!(comparison, Comparison::Newer | Comparison::Older | Comparison::SameFile)
}

/// Whether a number is octal in arithmetic.
fn is_octal(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['-', '+']);
    digits.len() > 1 && digits.starts_with('0')
}

/// The operator of `test` that compares the same.
fn operator(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Matches => "=",
        Comparison::Differs => "!=",
        Comparison::Regex => "=~",
        Comparison::Before => "<",
        Comparison::After => ">",
        Comparison::Equal => "-eq",
        Comparison::Unequal => "-ne",
        Comparison::Less => "-lt",
        Comparison::LessOrEqual => "-le",
        Comparison::Greater => "-gt",
        Comparison::GreaterOrEqual => "-ge",
        Comparison::Newer => "-nt",
        Comparison::Older => "-ot",
        Comparison::SameFile => "-ef",
    }
}
