//! The promises of `SECURITY.md` name the tests that hold them, and `docs/troubleshooting.md` quotes the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::markdown::prose;
use crate::tidy::sources;

/// The names of all tests by their files.
fn tests() -> BTreeMap<String, BTreeSet<String>> {
    let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, text) in ["tests", "src", "catalog", "codegen", "import", "shell"].into_iter().flat_map(sources) {
        let functions = text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
        tests.entry(file).or_default().extend(functions.map(str::to_owned));
    }
    tests
}

/// The names of tests in a line, such as `` `tests/it/exec.rs::leaves_no_zombie` ``.
fn named(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split('`').skip(1).step_by(2).filter_map(|code| code.split_once(".rs::"))
}

#[test]
fn security_page_names_tests_that_exist() {
    let tests = tests();
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/SECURITY.md")).unwrap();
    let mut missing = Vec::new();
    let mut count = 0;
    for (number, line) in prose(&text) {
        for (file, test) in named(line) {
            count += 1;
            let path = format!("{file}.rs");
            let path = if tests.contains_key(&path) { path } else { format!("tests/it/{path}") };
            if !tests.get(&path).is_some_and(|tests| tests.contains(test)) {
                missing.push(format!("SECURITY.md:{number}: {file}.rs::{test}"));
            }
        }
    }
    assert!(missing.is_empty(), "no such tests:\n{}", missing.join("\n"));
    assert!(count >= 40, "only {count} tests are named");
}

#[test]
fn every_promise_names_a_test() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/SECURITY.md")).unwrap();
    let mut in_promises = false;
    let mut without = Vec::new();
    for (number, line) in prose(&text) {
        match line {
            "| promise | test |" => in_promises = true,
            _ if !line.starts_with('|') => in_promises = false,
            _ if in_promises && !line.starts_with("|--") && named(line).next().is_none() => {
                without.push(format!("SECURITY.md:{number}: {line}"));
            }
            _ => {}
        }
    }
    assert!(without.is_empty(), "promises without a test:\n{}", without.join("\n"));
}

/// The longest part of a quoted message that stands in the program as it is: capitals and dots are places of values.
fn fixed_part(message: &str) -> String {
    let is_place = |word: &str| {
        let letters: String = word.chars().filter(|c| c.is_alphanumeric()).collect();
        word.contains('…')
            || (letters.len() > 1 && letters.chars().all(|c| c.is_ascii_uppercase()))
            || letters == "30s"
            || letters == "device"
    };
    let mut parts = vec![String::new()];
    for word in message.split(' ') {
        if is_place(word) {
            parts.push(String::new());
        } else {
            let part = parts.last_mut().unwrap();
            part.push_str(if part.is_empty() { "" } else { " " });
            part.push_str(word);
        }
    }
    parts.into_iter().max_by_key(String::len).unwrap()
}

#[test]
fn troubleshooting_quotes_messages_of_the_program() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/troubleshooting.md")).unwrap();
    let code: Vec<String> =
        ["src", "catalog/src", "shell/src"].into_iter().flat_map(sources).map(|(_, text)| text).collect();
    // A message may be broken over two lines of the source.
    let code: Vec<String> =
        code.iter().map(|text| text.replace("\\\n", "").split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let cells = prose(&text).into_iter().filter_map(|(number, line)| Some((number, line.strip_prefix("| `")?)));
    let mut unknown = Vec::new();
    for (number, cell) in cells {
        let message = cell.split('`').next().unwrap();
        let part = fixed_part(message);
        if !message.starts_with("climax:") && !code.iter().any(|text| text.contains(&part)) {
            unknown.push(format!("docs/troubleshooting.md:{number}: {part}"));
        }
    }
    assert!(unknown.is_empty(), "the program has no such messages:\n{}", unknown.join("\n"));
}
