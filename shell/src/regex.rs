//! Translates extended regular expressions, as the C library reads them, to the syntax of the crates `regex` and
//! `regex-lite`.
//!
//! Only whether a text matches stays the same, not which part of it: that is all that a line can see of it.
//!
//! Source: regex(7); glibc 2.36, `posix/regcomp.c` with `RE_SYNTAX_POSIX_EXTENDED`.

use crate::pattern::CLASSES;

/// The most repetitions of one thing by operators side by side, as in `a*+`.
const MAX_REPEATED: usize = 16;

/// The most that `{n}` may say.
const LARGEST_COUNT: u32 = 32_767;

/// An expression in the other syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regex {
    /// The expression. `.` must match line breaks too.
    pub text: String,
    /// Whether it asks for classes of characters such as `[:alpha:]` and `\w`, of which only those of ASCII are named.
    pub has_classes: bool,
}

/// The reason why an expression is not translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegexError {
    /// It is none: `[[ =~ ]]` has the status 2.
    Invalid,
    /// It is not read; the reason.
    Unread(&'static str),
}

impl Regex {
    /// Translates an expression.
    ///
    /// # Errors
    /// It is none, or it is not read.
    pub fn translated(expression: &str) -> Result<Self, RegexError> {
        let reader = Reader {
            characters: expression.chars().collect(),
            at: 0,
            text: String::with_capacity(expression.len()),
            atom: None,
            groups: Vec::new(),
            has_classes: false,
        };
        reader.read()
    }
}

/// What the next operator would repeat.
#[derive(Clone, Copy)]
struct Atom {
    /// Where it starts in the translation.
    start: usize,
    /// How many operators repeat it already.
    repeated: usize,
}

struct Reader {
    characters: Vec<char>,
    at: usize,
    text: String,
    atom: Option<Atom>,
    /// Where the groups start that are open.
    groups: Vec<usize>,
    has_classes: bool,
}

/// An element of a bracket expression.
enum Element {
    Character(char),
    Class(&'static [(char, char)]),
}

impl Reader {
    fn read(mut self) -> Result<Regex, RegexError> {
        while let Some(c) = self.next() {
            match c {
                '(' => {
                    self.groups.push(self.text.len());
                    self.text.push_str("(?:");
                    self.atom = None;
                }
                ')' if !self.groups.is_empty() => {
                    let start = self.groups.pop().unwrap_or_default();
                    self.text.push(')');
                    self.atom = Some(Atom { start, repeated: 0 });
                }
                '|' => {
                    self.text.push('|');
                    self.atom = None;
                }
                '^' => self.anchor(r"\A"),
                '$' => self.anchor(r"\z"),
                '*' | '+' | '?' => self.repeated(&c.to_string())?,
                '{' => {
                    let count = self.count()?;
                    self.repeated(&count)?;
                }
                '.' => self.add("."),
                '[' => self.bracket()?,
                '\\' => self.escaped()?,
                c => self.add(&literal(c)),
            }
        }
        if !self.groups.is_empty() {
            return Err(RegexError::Invalid);
        }
        Ok(Regex { text: self.text, has_classes: self.has_classes })
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek(0)?;
        self.at += 1;
        Some(next)
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    /// Adds what may be repeated.
    fn add(&mut self, text: &str) {
        self.atom = Some(Atom { start: self.text.len(), repeated: 0 });
        self.text.push_str(text);
    }

    /// Adds what takes no character. Nothing repeats it.
    fn anchor(&mut self, text: &str) {
        self.atom = None;
        self.text.push_str(text);
    }

    /// Repeats what stands before. A second operator repeats the repetition: `a*?` is `(a*)?`.
    fn repeated(&mut self, operator: &str) -> Result<(), RegexError> {
        let Some(atom) = &mut self.atom else { return Err(RegexError::Invalid) };
        if atom.repeated == MAX_REPEATED {
            return Err(RegexError::Unread("too many repetitions stand side by side"));
        }
        if atom.repeated > 0 {
            self.text.insert_str(atom.start, "(?:");
            self.text.push(')');
        }
        atom.repeated += 1;
        self.text.push_str(operator);
        Ok(())
    }

    /// Reads `n}`, `n,}`, `,m}` or `n,m}`.
    fn count(&mut self) -> Result<String, RegexError> {
        let least = self.number()?;
        let most = match self.next() {
            Some('}') => Some(least.ok_or(RegexError::Invalid)?),
            Some(',') => {
                let most = self.number()?;
                if self.next() != Some('}') {
                    return Err(RegexError::Invalid);
                }
                most
            }
            _ => return Err(RegexError::Invalid),
        };
        let least = least.unwrap_or(0);
        if most.is_some_and(|most| most < least) || most.unwrap_or(least) > LARGEST_COUNT {
            return Err(RegexError::Invalid);
        }
        Ok(format!("{{{least},{}}}", most.map_or_else(String::new, |most| most.to_string())))
    }

    fn number(&mut self) -> Result<Option<u32>, RegexError> {
        let start = self.at;
        while self.peek(0).is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let digits: String = self.characters[start..self.at].iter().collect();
        if digits.is_empty() {
            return Ok(None);
        }
        digits.parse().map(Some).map_err(|_| RegexError::Invalid)
    }

    /// Reads what stands behind a backslash. Before most characters it means nothing.
    fn escaped(&mut self) -> Result<(), RegexError> {
        let c = self.next().ok_or(RegexError::Invalid)?;
        let is_of_words = matches!(c, 'w' | 'W' | 's' | 'S' | 'b' | 'B' | '<' | '>');
        self.has_classes |= is_of_words;
        match c {
            'w' => self.add("[0-9A-Za-z_]"),
            'W' => self.add("[^0-9A-Za-z_]"),
            's' => self.add(r"[ \t-\r]"),
            'S' => self.add(r"[^ \t-\r]"),
            'b' => self.anchor(r"\b"),
            'B' => self.anchor(r"\B"),
            '<' => self.anchor(r"\b{start}"),
            '>' => self.anchor(r"\b{end}"),
            '`' => self.anchor(r"\A"),
            '\'' => self.anchor(r"\z"),
            '1'..='9' => return Err(RegexError::Unread("references such as \\1 are not read")),
            c => self.add(&literal(c)),
        }
        Ok(())
    }

    /// Reads a bracket expression behind its bracket.
    fn bracket(&mut self) -> Result<(), RegexError> {
        let mut set = String::from("[");
        if self.peek(0) == Some('^') {
            self.at += 1;
            set.push('^');
        }
        let start = self.at;
        loop {
            let is_first = self.at == start;
            match self.peek(0) {
                None => return Err(RegexError::Invalid),
                Some(']') if !is_first => break,
                // One that is neither first nor last, nor between two characters.
                Some('-') if !is_first && self.peek(1) != Some(']') => return Err(RegexError::Invalid),
                Some(_) => {}
            }
            match self.element()? {
                Element::Class(ranges) => {
                    self.has_classes = true;
                    for (from, to) in ranges {
                        add_range(&mut set, *from, *to);
                    }
                }
                Element::Character(from) => {
                    let to = if self.peek(0) == Some('-') && self.peek(1) != Some(']') {
                        self.at += 1;
                        match self.element()? {
                            Element::Character(to) if !from.is_ascii() || !to.is_ascii() => {
                                return Err(RegexError::Unread("ranges of characters that are not ASCII are not read"));
                            }
                            Element::Character(to) if to >= from => to,
                            _ => return Err(RegexError::Invalid),
                        }
                    } else {
                        from
                    };
                    add_range(&mut set, from, to);
                }
            }
        }
        self.at += 1;
        set.push(']');
        self.add(&set);
        Ok(())
    }

    fn element(&mut self) -> Result<Element, RegexError> {
        let c = self.next().ok_or(RegexError::Invalid)?;
        let Some(mark @ ('.' | '=' | ':')) = self.peek(0).filter(|_| c == '[') else {
            return Ok(Element::Character(c));
        };
        self.at += 1;
        let rest = &self.characters[self.at..];
        let length = rest.windows(2).position(|pair| pair == [mark, ']']).ok_or(RegexError::Invalid)?;
        let name: String = rest[..length].iter().collect();
        self.at += length + 2;
        match mark {
            ':' => {
                let class = CLASSES.iter().find(|(own, _)| *own == name);
                class.map(|(_, ranges)| Element::Class(ranges)).ok_or(RegexError::Invalid)
            }
            '.' if length == 1 => Ok(Element::Character(name.chars().next().unwrap_or_default())),
            _ => Err(RegexError::Unread("names of characters such as [.space.] and [=e=] are not read")),
        }
    }
}

fn add_range(set: &mut String, from: char, to: char) {
    set.push_str(&literal(from));
    if from != to {
        set.push('-');
        set.push_str(&literal(to));
    }
}

/// A character that stands for itself, also in brackets.
fn literal(c: char) -> String {
    if c.is_ascii_alphanumeric() || !c.is_ascii() { c.to_string() } else { format!("\\x{{{:x}}}", u32::from(c)) }
}

/// Writes an expression of characters, each with whether it is quoted: puts a backslash before quoted ones that have a meaning in a regular expression. In brackets, where a backslash is
/// a character, a quoted one stands as it is.
pub(crate) fn escaped(characters: &[(char, bool)]) -> String {
    let mut text = String::with_capacity(characters.len());
    let mut at = 0;
    while let Some(&(c, is_quoted)) = characters.get(at) {
        if c == '['
            && !is_quoted
            && let Some(length) = length_of_bracket(&characters[at..])
        {
            text.extend(characters[at..at + length].iter().map(|(c, _)| c));
            at += length;
            continue;
        }
        text.extend(Some('\\').filter(|_| is_quoted && r"\.+*?()|[{^$".contains(c)));
        text.push(c);
        at += 1;
    }
    text
}

/// The number of characters of a bracket expression, whose end is not quoted; `None` if it does not end.
fn length_of_bracket(characters: &[(char, bool)]) -> Option<usize> {
    let is = |at: usize, c: char| characters.get(at) == Some(&(c, false));
    let mut at = 1 + usize::from(is(1, '^'));
    at += usize::from(is(at, ']'));
    let mut class = None;
    while at < characters.len() {
        let opened = [':', '=', '.'].into_iter().find(|mark| is(at, '[') && is(at + 1, *mark));
        let is_closed = class.is_some_and(|mark| is(at, mark) && is(at + 1, ']'));
        if is(at, ']') {
            return Some(at + 1);
        }
        class = if is_closed { None } else { opened.or(class) };
        at += if is_closed || opened.is_some() { 2 } else { 1 };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(expression: &str) -> String {
        Regex::translated(expression).map(|regex| regex.text).unwrap_or_default()
    }

    #[test]
    fn backslashes_mean_what_they_mean_in_the_c_library() {
        for (expression, expected) in [
            (r"^\d+$", r"\Ad+\z"),
            (r"\.\t\n\A\z\x41", r"\x{2e}tnAzx41"),
            (r"\w\W\s\S", r"[0-9A-Za-z_][^0-9A-Za-z_][ \t-\r][^ \t-\r]"),
            (r"\b\B\<\>\`\'", r"\b\B\b{start}\b{end}\A\z"),
            (r"\{\}\(\)", r"\x{7b}\x{7d}\x{28}\x{29}"),
            (r"[\w.-]", r"[\x{5c}w\x{2e}\x{2d}]"),
            (r"[a\]b]", r"[a\x{5c}]b\x{5d}"),
            (r"[\d]", r"[\x{5c}d]"),
        ] {
            assert_eq!(text(expression), expected, "{expression}");
        }
    }

    #[test]
    fn operators_repeat_what_stands_before_them() {
        for (expression, expected) in [
            ("a*?", "(?:a*)?"),
            ("a+?b", "(?:a+)?b"),
            ("(ab)*+", "(?:(?:ab)*)+"),
            ("a{2}{,3}", "(?:a{2,2}){0,3}"),
            ("a{2,}{,}", "(?:a{2,}){0,}"),
            ("(|a)|", "(?:|a)|"),
            ("a)*", r"a\x{29}*"),
            ("a}", r"a\x{7d}"),
            ("^(a|b)$", r"\A(?:a|b)\z"),
            ("(^a)", r"(?:\Aa)"),
        ] {
            assert_eq!(text(expression), expected, "{expression}");
        }
    }

    #[test]
    fn brackets_hold_ranges_and_classes() {
        for (expression, expected) in [
            ("[]a]", r"[\x{5d}a]"),
            ("[^]a-c]", r"[^\x{5d}a-c]"),
            ("[a-]", r"[a\x{2d}]"),
            ("[-a]", r"[\x{2d}a]"),
            ("[+--]", r"[\x{2b}-\x{2d}]"),
            ("[[:digit:]x-z]", "[0-9x-z]"),
            ("[[.-.]a]", r"[\x{2d}a]"),
            ("[[a]", r"[\x{5b}a]"),
            ("[a^&&é]", r"[a\x{5e}\x{26}\x{26}é]"),
        ] {
            assert_eq!(text(expression), expected, "{expression}");
        }
        assert!(Regex::translated("[[:alpha:]]").unwrap().has_classes);
        assert!(!Regex::translated("[a-z]").unwrap().has_classes);
    }

    #[test]
    fn what_is_no_expression_is_told_from_what_is_not_read() {
        for expression in [
            "*a",
            "a|*",
            "(+a)",
            "(?:a)",
            "(?i)a",
            "^*",
            "$+",
            r"\b?",
            "a{",
            "a{x}",
            "a{}",
            "a{3,2}",
            "a{1,2,3}",
            "a{40000}",
            "(a",
            "[a",
            "[]",
            "[z-a]",
            "[a-c-e]",
            "[[:word:]]",
            "[[:digit:]-x]",
            "[[:alpha:]",
            "[[:]",
            r"a\",
            "{1}",
        ] {
            assert_eq!(Regex::translated(expression), Err(RegexError::Invalid), "{expression}");
        }
        for expression in [r"(a)\1", "[[=e=]]", "[[.space.]]", "[à-ü]", &format!("a{}", "*".repeat(99))] {
            assert!(matches!(Regex::translated(expression), Err(RegexError::Unread(_))), "{expression}");
        }
    }
}
