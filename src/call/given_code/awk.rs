//! Whether a program of awk only computes and prints.
//!
//! Source: POSIX.1-2024, awk, "Grammar" and "Lexical Conventions".

/// Names by which a program starts others, reads what no argument names, or prints the environment.
const REACHING: [&str; 10] =
    ["ARGC", "ARGV", "close", "ENVIRON", "fflush", "FUNCTAB", "getline", "PROCINFO", "SYMTAB", "system"];
/// Words behind which a slash starts a regular expression.
const KEYWORDS: [&str; 15] = [
    "BEGIN", "END", "case", "default", "delete", "do", "else", "exit", "func", "function", "in", "next", "nextfile",
    "return", "switch",
];
/// Words whose parentheses are no operand.
const CONTROL: [&str; 4] = ["for", "if", "switch", "while"];

/// Returns whether a program writes to standard output alone, starts no other and reads no files but its operands.
///
/// What the scan does not know is refused: comments, continued lines, and what some awks have beyond the standard.
pub(super) fn only_prints(program: &str) -> bool {
    let mut scan =
        Scan { rest: program, is_behind_operand: false, parentheses: Vec::new(), print: None, is_control: false };
    while let Some(next) = scan.rest.chars().next() {
        if scan.token(next).is_none() {
            return false;
        }
    }
    scan.parentheses.is_empty()
}

struct Scan<'p> {
    rest: &'p str,
    /// Whether a slash divides here, rather than start a regular expression.
    is_behind_operand: bool,
    /// For each open parenthesis whether it is that of `if`, `for` or `while`.
    parentheses: Vec<bool>,
    /// The number of open parentheses around a `print` that goes on.
    print: Option<usize>,
    /// Whether the next parenthesis is that of `if`, `for` or `while`.
    is_control: bool,
}

impl<'p> Scan<'p> {
    /// Reads a token that starts with a character; `None` for what does more than compute and print, or is not known.
    fn token(&mut self, first: char) -> Option<()> {
        match first {
            ' ' | '\t' => {
                self.skip(1);
            }
            'a'..='z' | 'A'..='Z' | '_' => return self.word(),
            '0'..='9' | '.' => return self.number(),
            '"' => return self.literal('"'),
            '/' if !self.is_behind_operand => return self.literal('/'),
            '(' => {
                self.parentheses.push(std::mem::take(&mut self.is_control));
                self.operator(1);
            }
            ')' => {
                let is_control = self.parentheses.pop()?;
                self.operator(1);
                self.is_behind_operand = !is_control;
            }
            ']' => {
                self.operator(1);
                self.is_behind_operand = true;
            }
            // A line goes on behind a comma or an operator.
            '\n' => {
                self.print = self.print.filter(|_| !self.is_behind_operand);
                self.operator(1);
            }
            ';' | '{' | '}' => {
                self.print = None;
                self.operator(1);
            }
            '>' if self.print == Some(self.parentheses.len()) => return None,
            '+' | '-' if self.rest[1..].starts_with(first) => {
                self.skip(2);
            }
            '|' | '&' if self.rest[1..].starts_with(first) => self.operator(2),
            '>' | '/' | '+' | '-' | '*' | '%' | '^' | '=' | '<' | '~' | '!' | '?' | ':' | ',' | '$' | '[' => {
                self.operator(1);
            }
            _ => return None,
        }
        Some(())
    }

    fn skip(&mut self, bytes: usize) -> &'p str {
        let (read, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        read
    }

    fn operator(&mut self, bytes: usize) {
        self.skip(bytes);
        self.is_behind_operand = false;
    }

    fn word(&mut self) -> Option<()> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let word = self.skip(end);
        if REACHING.contains(&word) {
            return None;
        }

        let is_print = matches!(word, "print" | "printf");
        if is_print {
            self.print = Some(self.parentheses.len());
        }
        self.is_control = CONTROL.contains(&word);
        self.is_behind_operand = !is_print && !self.is_control && !KEYWORDS.contains(&word);
        // Awks differ in what a slash is behind it.
        (word != "length" || !self.rest.trim_start().starts_with('/')).then_some(())
    }

    fn number(&mut self) -> Option<()> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(self.rest.len());
        self.skip(end);
        self.is_behind_operand = true;
        // `1system("x")` is a number and a call.
        (!self.rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')).then_some(())
    }

    /// Reads a string or a regular expression up to the character that ends it.
    fn literal(&mut self, end: char) -> Option<()> {
        let mut chars = self.rest.char_indices().skip(1);
        let mut is_in_brackets = false;
        while let Some((at, c)) = chars.next() {
            match c {
                '\n' => return None,
                '\\' if chars.next()?.1 == '\n' => return None,
                '\\' => {}
                // Awks differ in whether it ends there.
                '/' if end == '/' && is_in_brackets => return None,
                '[' if end == '/' => is_in_brackets = true,
                ']' => is_in_brackets = false,
                c if c == end => {
                    self.skip(at + 1);
                    self.is_behind_operand = true;
                    return Some(());
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::only_prints;

    #[test]
    fn programs_that_compute_and_print_are_told_from_others() {
        for program in [
            "{print $1}",
            "NR > 1 {print}",
            "/foo/ {print $1, $NF}",
            "$1 ~ /a\\/b/ || /[0-9]+/",
            "{s += $2; n++} END {print s/n, (s + 1) / 2}",
            "{print ($1 > 0 ? \"more\" : \"less\")}",
            "{if ($1 > 10) print}",
            "BEGIN {FS=\":\"; OFS=\",\"} NR>1 {print $1,$2}",
            "{for (i = 1; i <= NF; i++) if ($i > 3) printf \"%s|>\\n\", $i}",
            "!seen[$0]++",
            "{print $1\n if ($2 > 3) x++}",
        ] {
            assert!(only_prints(program), "{program}");
        }
        for program in [
            "{print > \"out\"}",
            "{print $1,\n $2 > \"out\"}",
            "{print(1)>\"out\"}",
            "{printf \"%s\", $1 >> \"out\"}",
            "{print | \"sort\"}",
            "{print |& \"sort\"}",
            "BEGIN {system(\"rm x\")}",
            "BEGIN {x = 1system(\"rm x\")}",
            "BEGIN {\"date\" | getline}",
            "{getline < \"x\"}",
            "BEGIN {print ENVIRON[\"A\"]}",
            "BEGIN {ARGV[1] = \"x\"; ARGC = 2} 1",
            "BEGIN {f = \"system\"; @f(\"rm x\")}",
            "@load \"readdir\"",
            // What is a string to one reading is code to another.
            "BEGIN {if (1) /\"/; system(\"rm x\"); /\"/}",
            "function f() {return /\"/; system(\"rm x\"); /\"/}",
            "/[/\"]/ {print > \"out\" /x/}",
            "{print length /\"/ > \"out\" /\"/}",
            "{print \"a\\\n\" > \"out\"}",
            "{print ((1)",
        ] {
            assert!(!only_prints(program), "{program}");
        }
    }
}
