//! Whether a program of jq only computes with its input.
//!
//! Source: the manual of jq 1.7, "Builtin operators and functions", "Modules" and "Comments".

/// Names by which a program reads the environment, or files that no argument names.
const REACHING: [&str; 8] =
    ["ENV", "env", "get_search_list", "import", "include", "input_filename", "modulemeta", "__prog_args"];

/// Returns whether a program reads nothing but its operands and standard input.
///
/// A comment is refused, since its end differs between versions. So are the names in question wherever they are no field,
/// as in `{env: 1}`, and what a string does not end.
pub(super) fn only_computes(program: &str) -> bool {
    let mut rest = program;
    // The open parentheses of each string around this place, whose `\(` holds a program.
    let mut interpolations: Vec<usize> = Vec::new();
    let mut depth = 0_usize;
    let mut is_field = false;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        match first {
            '#' => return false,
            '"' => match string(&rest[1..]) {
                Some((own, is_interpolated)) => {
                    length += own;
                    if is_interpolated {
                        interpolations.push(std::mem::replace(&mut depth, 0));
                    }
                }
                None => return false,
            },
            '(' => depth += 1,
            ')' if depth == 0 => match (interpolations.pop(), string(&rest[1..])) {
                (Some(outer), Some((own, is_interpolated))) => {
                    length += own;
                    depth = outer;
                    if is_interpolated {
                        interpolations.push(std::mem::replace(&mut depth, 0));
                    }
                }
                _ => return false,
            },
            ')' => depth -= 1,
            'a'..='z' | 'A'..='Z' | '_' => {
                length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                if !is_field && REACHING.contains(&&rest[..length]) {
                    return false;
                }
            }
            _ => {}
        }
        is_field = first == '.';
        rest = &rest[length..];
    }
    interpolations.is_empty()
}

/// Returns the length of a string up to its end, or up to the program in it, and which of both; `None` if it does not end.
fn string(text: &str) -> Option<(usize, bool)> {
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some((at + 1, false)),
            '\\' => {
                if let (at, '(') = characters.next()? {
                    return Some((at + 1, true));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::only_computes;

    #[test]
    fn programs_that_read_their_input_alone_are_told_from_others() {
        for program in [
            ".",
            ".env",
            ".jobs.build.env[]",
            ".a | select(.name == \"env\") | {name, b: .c}",
            "\"\\(.env) and \\(.a | length)\"",
            "map(.environment) | @tsv",
            "[.[] | {id, \"import\": (.x + 1)}]",
        ] {
            assert!(only_computes(program), "{program}");
        }
        for program in [
            "env",
            "$ENV.HOME",
            "def f: env; f",
            "env as $x | $x",
            "{a:env}",
            "if true then env else 1 end",
            "import \"x\" as $d; $d",
            "include \"f\" {search: \".\"}; g",
            "\"\\(env)\"",
            "\"\\(\"a\\(env)\")\"",
            ". # \"\nenv # \"",
            "\"open",
            "[.[]?,env]",
        ] {
            assert!(!only_computes(program), "{program}");
        }
    }
}
