//! Texts that somebody is still typing: whether they go on, and their last command.

use crate::parser::{Parser, parse};
use crate::tree::Word;

/// Returns whether a text goes on behind its end: a quote, a construct or a here-document is open, or it ends with a
/// backslash that joins lines.
#[must_use]
pub fn is_unfinished(text: &str) -> bool {
    let backslashes = text.len() - text.trim_end_matches('\\').len();
    backslashes % 2 == 1 || parse(text).is_err_and(|error| error.is_unfinished)
}

/// Words behind which a command stands.
const OPENING: [&str; 9] = ["if", "then", "else", "elif", "while", "until", "do", "!", "{"];

/// Returns the words of the command in which a text ends, assignments aside, and the word in which it ends.
///
/// `None` where the text cannot be read so far, such as in quotes that do not end.
#[must_use]
pub fn last_command(text: &str) -> Option<(Vec<Word>, Option<Word>)> {
    let mut parser = Parser::new(text);
    let mut words: Vec<Word> = Vec::new();
    loop {
        parser.skip_blanks();
        if parser.peek().is_none() {
            break;
        }
        let is_assignment = words.is_empty() && parser.assignment().ok()?.is_some();
        if is_assignment || parser.redirection().ok()?.is_some() {
            continue;
        }
        match parser.word().ok()? {
            Some(word) if words.is_empty() && word.plain().is_some_and(|text| OPENING.contains(&text)) => {
                if word.range.end == text.len() {
                    words.push(word);
                }
            }
            Some(word) => words.push(word),
            None => {
                parser.skip();
                words.clear();
            }
        }
    }

    let open = words.pop_if(|word| word.range.end == text.len());
    Some((words, open))
}
