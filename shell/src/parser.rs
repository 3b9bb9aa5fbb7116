//! The state of the reader, and how it moves through the text.

use std::ops::Range;

use crate::braces::{MAX_BRACES, MAX_WORD_BYTES, MAX_WORDS};
use crate::error::SyntaxError;
use crate::tree::{Name, Part, Script, Word};

/// Maximum length of a text, in bytes.
pub const MAX_BYTES: usize = 64 << 10;

/// Maximum number of lists, quotes and expansions that stand in one another.
pub const MAX_NESTING: usize = 32;

/// Reads a text.
///
/// # Errors
/// The first part that is not read.
pub fn parse(text: &str) -> Result<Script, SyntaxError> {
    if text.len() > MAX_BYTES {
        let problem = format!("the text has {} bytes, and the limit is {MAX_BYTES}", text.len());
        return Err(SyntaxError::at(0..0, problem, "split it, or put a part of it in a file"));
    }
    if let Some(at) = text.find('\0') {
        return Err(SyntaxError::at(at..at + 1, "NUL stands in the text", "remove it"));
    }

    let mut parser = Parser::new(text);
    let list = parser.list().and_then(|list| match parser.peek() {
        None => Ok(list),
        Some(found) => Err(parser.unexpected(found)),
    });
    list.map(|list| Script { list }).map_err(|error| error.within(text))
}

/// Reads a text from left to right.
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub(crate) struct Parser<'a> {
    pub(crate) text: &'a str,
    /// The place of the next character.
    pub(crate) at: usize,
    /// Where the text ends for this reader.
    pub(crate) end: usize,
    depth: usize,
    /// Whether the place stands within double quotes or a here-document.
    pub(crate) is_in_double: bool,
    /// Whether it stands in the word of `"${x:-word}"`, where `'` and most backslashes mean themselves.
    pub(crate) keeps_quotes: bool,
    /// Whether it stands in the pattern of `${x#pattern}` and its kind.
    pub(crate) is_in_pattern: bool,
    /// The texts of the here-documents of this line: from behind its line break to where the next line starts.
    pub(crate) here: Option<Range<usize>>,
    /// Whether `<(…)` may stand here.
    pub(crate) takes_processes: bool,
    /// The number of `<(…)` of this command.
    pub(crate) processes: u32,
    /// The number of words that braces have made.
    made_words: usize,
    /// Their length, as [`MAX_WORD_BYTES`] counts it.
    made_bytes: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            end: text.len(),
            depth: 0,
            is_in_double: false,
            keeps_quotes: false,
            is_in_pattern: false,
            here: None,
            takes_processes: false,
            processes: 0,
            made_words: 0,
            made_bytes: 0,
        }
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Moves behind a text, if it stands here.
    pub(crate) fn take(&mut self, text: &str) -> bool {
        let stands = self.rest().starts_with(text);
        if stands {
            self.at += text.len();
        }
        stands
    }

    /// Moves behind the next character.
    pub(crate) fn skip(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    /// Skips blanks, joined lines and comments.
    pub(crate) fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            if rest.starts_with([' ', '\t']) {
                self.at += 1;
            } else if rest.starts_with("\\\n") {
                self.at += 2;
            } else if rest.starts_with('#') && self.is_at_start_of_word() {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                return;
            }
        }
    }

    /// Whether the character before this place does not belong to a word.
    fn is_at_start_of_word(&self) -> bool {
        self.text[..self.at]
            .chars()
            .next_back()
            .is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')'))
    }

    /// Skips blanks and line breaks.
    pub(crate) fn skip_lines(&mut self) {
        self.skip_blanks();
        while self.line_break() {
            self.skip_blanks();
        }
    }

    /// Moves behind a line break and the here-documents behind it; whether one stands here.
    pub(crate) fn line_break(&mut self) -> bool {
        let stands = self.take("\n");
        if stands && let Some(here) = self.here.take_if(|here| here.start == self.at) {
            self.at = here.end;
        }
        stands
    }

    /// Reads something that stands in something else.
    pub(crate) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        if self.depth == MAX_NESTING {
            let problem = format!("more than {MAX_NESTING} parts stand in one another");
            return Err(SyntaxError::at(self.at..self.at, problem, "put a part of it in a line or a file of its own"));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Adds the words that the braces of a word stand for.
    pub(crate) fn add_word(&mut self, word: &Word, words: &mut Vec<Word>) -> Result<(), SyntaxError> {
        words.extend(self.braces(word)?);
        Ok(())
    }

    /// The words that the braces of a word stand for, if those of the whole text are not too many.
    pub(crate) fn braces(&mut self, word: &Word) -> Result<Vec<Word>, SyntaxError> {
        let too_many = || {
            let problem = format!(
                "braces stand for more than {MAX_WORDS} words, or {} KiB of them, or a word has more than {MAX_BRACES}",
                MAX_WORD_BYTES >> 10
            );
            SyntaxError::at(word.range.clone(), problem, "use `seq`, a loop or a glob, or quote braces that are text")
        };
        let words = word.braces().ok_or_else(too_many)?;
        if words.len() == 1 {
            return Ok(words);
        }

        self.check_braces(word)?;
        self.check_braced_names(word, &words)?;
        let (inner_words, bytes) = word.size();
        self.made_words += words.len() * inner_words;
        self.made_bytes += words.len() * bytes;
        if self.made_words > MAX_WORDS || self.made_bytes > MAX_WORD_BYTES { Err(too_many()) } else { Ok(words) }
    }

    /// Refuses braces beside expansions that a shell would read in another way when it looks for braces.
    fn check_braces(&self, word: &Word) -> Result<(), SyntaxError> {
        let text = |place: &Range<usize>| &self.text[place.clone()];
        // `$x{a,b}` would become `$xa $xb`.
        let joins_name = |pair: &[Part]| {
            let [Part::Parameter(_, place), Part::Text(behind)] = pair else { return false };
            behind.starts_with('{') && !text(place).starts_with("${")
        };
        if word.parts.windows(2).any(joins_name) {
            let problem = "braces stand behind the name of a variable";
            return Err(SyntaxError::at(word.range.clone(), problem, "write `${NAME}` for the variable"));
        }

        // `${x=a{b}{c,d}` would end at its last brace.
        let has_brace = |part: &Part| matches!(part, Part::Parameter(_, place) if text(place).matches('{').count() > 1);
        if word.parts.iter().any(has_brace) {
            let problem = "braces stand in an expansion, and beside it";
            return Err(SyntaxError::at(word.range.clone(), problem, "give the value to a variable before"));
        }

        // Between them lie `[`, a backslash and a backquote, which would have their meaning.
        let is_mixed = |range: &[u8]| {
            let [b'{', one, b'.', b'.', other] = range else { return false };
            one.is_ascii_alphabetic()
                && other.is_ascii_alphabetic()
                && one.is_ascii_uppercase() != other.is_ascii_uppercase()
        };
        if text(&word.range).as_bytes().windows(5).any(is_mixed) {
            let problem = "a range of letters goes from large to small ones";
            return Err(SyntaxError::at(word.range.clone(), problem, "write two ranges, as in `{A..Z} {a..c}`"));
        }
        Ok(())
    }

    /// Refuses words of braces in which a name or a `$` at the end of an element would go on behind the braces: a shell
    /// expands braces before it looks for variables, so that `{$x,a}_1` is `$x_1 a_1`.
    fn check_braced_names(&self, word: &Word, words: &[Word]) -> Result<(), SyntaxError> {
        let goes_on = |text: &str| text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let is_expansion = |text: &str| goes_on(text) || text.starts_with(|c: char| "?#@*!$-{(\"'".contains(c));
        let is_joined = |pair: &[Part]| match pair {
            [Part::Parameter(parameter, place), Part::Text(behind)] => {
                let is_variable = matches!(parameter.name, Name::Variable(_));
                is_variable && goes_on(behind) && !self.text[place.clone()].starts_with("${")
            }
            [Part::Text(text), _] => text.ends_with('$'),
            _ => false,
        };
        let is_made = |part: &Part| matches!(part, Part::Text(text) if text.match_indices('$').any(|(at, _)| is_expansion(&text[at + 1..])));
        let is_other = |word: &Word| word.parts.windows(2).any(is_joined) || word.parts.iter().any(is_made);
        if !words.iter().any(is_other) {
            return Ok(());
        }
        let problem = "what stands behind the braces would belong to the name of the variable in them";
        Err(SyntaxError::at(word.range.clone(), problem, "write `${NAME}` for the variable, as in `{${x},a}_1`"))
    }

    /// The word of name characters that stands here, perhaps empty.
    pub(crate) fn name(&self) -> &'a str {
        let rest = self.rest();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
        if rest.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &rest[..end] }
    }

    /// The error of a character that cannot stand here.
    pub(crate) fn unexpected(&self, found: char) -> SyntaxError {
        let length = self.rest().find([' ', '\t', '\n']).unwrap_or(self.rest().len()).clamp(found.len_utf8(), 20);
        let end = (self.at..=self.at + length).rev().find(|end| self.text.is_char_boundary(*end)).unwrap_or(self.at);
        let range = self.at..end;
        let word = self.text[range.clone()].trim();
        let problem = format!("`{word}` cannot stand here");
        SyntaxError::at(range, problem, format!("write a command before it, or quote it as '{word}'"))
    }
}
