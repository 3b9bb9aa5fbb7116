//! `[[ … ]]`

use climax_shell::{Comparison, Condition, Joint};
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
    /// Whether a condition holds.
    pub(super) fn condition<'f>(
        &'f self,
        shell: &'f mut Shell,
        text: Text<'f>,
        condition: &'f Condition,
        record: &'f mut Record,
    ) -> BoxFuture<'f, Ran<bool>> {
        async move {
            match condition {
                Condition::Word(word) => Ok(!self.word(shell, text, word, record).await?.text.is_empty()),
                Condition::Not(condition) => Ok(!self.condition(shell, text, condition, record).await?),
                Condition::Logic(joint, one, other) => {
                    let first = self.condition(shell, text, one, record).await?;
                    if first == (*joint == Joint::Or) {
                        return Ok(first);
                    }
                    self.condition(shell, text, other, record).await
                }
                Condition::Unary(letter, word) => {
                    let value = self.word(shell, text, word, record).await?.text;
                    let holds =
                        file_holds(*letter, &value, shell).unwrap_or_else(|| Err(format!("`-{letter}` is not read")));
                    holds.map_err(|problem| failure(text, word.range.clone(), problem, "write another test"))
                }
                Condition::Binary(comparison, one, other) => {
                    let first = self.word(shell, text, one, record).await?.text;
                    match comparison {
                        Comparison::Matches | Comparison::Differs => {
                            let matches = self.matches(shell, text, other, &first, record).await?;
                            Ok(matches == (*comparison == Comparison::Matches))
                        }
                        Comparison::Regex => {
                            let regex = self.regex(shell, text, other, record).await?;
                            matches_regex(&regex, &first).map_err(|problem| {
                                let remedy = "write an extended regular expression";
                                failure(text, other.range.clone(), problem, remedy)
                            })
                        }
                        comparison => {
                            let second = self.word(shell, text, other, record).await?.text;
                            let is_numeric = comparison_of_numbers(*comparison);
                            if is_numeric && [&first, &second].into_iter().any(|text| is_octal(text)) {
                                let problem = "a number that starts with 0 is octal in `[[ ]]`";
                                return Err(failure(
                                    text,
                                    other.range.clone(),
                                    problem,
                                    "write `[ ]` for decimal ones",
                                ));
                            }
                            let words = [first.as_str(), operator(*comparison), &second];
                            holds(&words, shell).map_err(|problem| {
                                failure(text, other.range.clone(), problem, "both must be decimal numbers")
                            })
                        }
                    }
                }
            }
        }
        .boxed()
    }
}

/// Whether an extended regular expression matches a part of a text.
fn matches_regex(regex: &str, text: &str) -> Result<bool, String> {
    // Other characters belong to classes too, of which this reader of expressions does not know.
    if regex.contains("[:") && !text.is_ascii() {
        return Err("classes such as [:alpha:] are not read for characters that are not ASCII".to_owned());
    }
    let regex = regex_lite::RegexBuilder::new(regex).size_limit(1 << 20).dot_matches_new_line(true).build();
    Ok(regex.map_err(|error| error.to_string())?.is_match(text))
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
