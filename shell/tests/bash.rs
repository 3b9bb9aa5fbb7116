//! Words, expansions and errors, compared with bash where it runs.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::ops::Range;
use std::path::Path;
use std::process::Command;

use climax_shell::{
    Body, ExpandError, Expander, Globs, List, MAX_NESTING, State, Substituted, Surroundings, Value, is_unfinished,
    last_command, parse,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};

/// Nothing outside: no variables, no files, no commands.
struct Nothing;

impl Surroundings for Nothing {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn paths(&self, _: &str, _: Globs) -> Result<Option<Vec<String>>, String> {
        Ok(None)
    }

    fn substitution(&self, _: &Range<usize>) -> Substituted {
        Substituted::Due
    }
}

fn state() -> State {
    let mut state =
        State { positions: Some(vec!["p 1".to_owned(), "p2".to_owned()]), status: Some(3), ..State::default() };
    for (name, value) in VARIABLES {
        state.set(name, Value::Known(value.to_owned()));
    }
    state
}

const VARIABLES: [(&str, &str); 5] =
    [("v", "a b  c"), ("w", "x.tar.gz"), ("n", "7"), ("e", ""), ("path", "/usr/lib/x y.so")];

/// The fields of the only command of a text; `None` if it is another kind of text, or not expanded.
fn fields(list: &List) -> Option<Vec<String>> {
    let [chain] = list.items.as_slice() else { return None };
    let [command] = chain.first.commands.as_slice() else { return None };
    let Body::Simple(simple) = &command.body else { return None };
    let is_plain = chain.rest.is_empty() && simple.assignments.is_empty() && command.redirections.is_empty();
    let mut state = state();
    let expanded = Expander { state: &mut state, surroundings: &Nothing }.fields(&simple.words);
    expanded.ok().filter(|_| is_plain).map(|fields| fields.into_iter().map(|field| field.text).collect())
}

/// The words of each line as bash reads them, in an empty directory.
fn words_of_bash(lines: &[String], directory: &Path) -> Vec<Vec<String>> {
    let setting = VARIABLES.map(|(name, value)| format!("{name}='{value}'\n")).concat();
    let script: Vec<String> =
        lines.iter().map(|line| format!("(exit 3); printf '<%s>\\1' {line}\nprintf '\\2'\n")).collect();
    let script = script.concat();
    let script = format!("{setting}set -- 'p 1' p2\n{script}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), script).unwrap();
    #[expect(clippy::disallowed_methods, reason = "bash is the oracle")]
    let output = Command::new("bash").arg("--norc").arg(file.path()).current_dir(directory).output();
    let output = String::from_utf8(output.unwrap().stdout).unwrap();
    let words = |part: &str| {
        let words = part.split('\u{1}').filter(|word| !word.is_empty());
        words.map(|word| word[1..word.len() - 1].to_owned()).collect()
    };
    output.split_terminator('\u{2}').map(words).collect()
}

/// Makes lines of pieces until `count` are read, and compares their words with those of bash.
fn compare(pieces: impl Strategy<Value = String>, count: usize) {
    let directory = tempfile::tempdir().unwrap();
    let line = prop::collection::vec(pieces, 1..10).prop_map(|pieces| format!("x {}", pieces.concat()));
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let (mut lines, mut expected) = (Vec::new(), Vec::new());
    while lines.len() < count {
        let line = line.new_tree(&mut runner).unwrap().current();
        let Some(words) = parse(&line).ok().and_then(|script| fields(&script.list)) else { continue };
        // A last backslash would join the next line of the script, and `~` and `$$` are of the machine and the process.
        if line.ends_with('\\') || line.contains('~') || line.contains("$$") {
            continue;
        }
        lines.push(line);
        expected.push(words);
    }

    let found = words_of_bash(&lines, directory.path());
    for ((line, expected), found) in lines.iter().zip(expected).zip(&found) {
        assert_eq!(expected, *found, "{line:?}");
    }
    assert_eq!(found.len(), lines.len());
}

#[test]
fn words_are_those_of_bash() {
    compare(
        prop_oneof![
            6 => "[a-c]{1,3}",
            3 => Just(" ".to_owned()),
            1 => prop::sample::select(vec![
                "'", "\"", "\\", "$", "\\\n", " \\\n", "#", "*", "?", "[", "]", "{", "}", ",", "=", "@", "^", "%", "+",
                "\t", "é", "'a b'", "\"a  b\"", "\\ ", "'\"'", "\"'\"", "\"\\\"\"", "\"\\a\"", "{a}", "--x=", "\\$",
                "{a,b}", "{1..3}", "{a,b{c,d}}", "$'\\t'", "{,x}", "..", "$'a\\'b'",
            ]).prop_map(str::to_owned),
        ],
        2_000,
    );
}

#[test]
fn expansions_are_those_of_bash() {
    compare(
        prop_oneof![
            2 => "[a-c]{1,2}",
            2 => Just(" ".to_owned()),
            1 => Just("\"".to_owned()),
            6 => prop::sample::select(vec![
                "$v", "${v}", "\"$v\"", "$w", "${w%.*}", "${w%%.*}", "${w#*.}", "${w##*.}", "${#v}", "${v/b/Z}",
                "${v// /_}", "${e:-d f}", "${e-d}", "\"${e:-d f}\"", "${v:+s}", "${e:+s}", "${v:2}", "${v:2:3}",
                "${v: -3}", "${w^^}", "${w^}", "$n", "$((n+1))", "$((n*2%3))", "$((n>3?1:2))", "$((-n**2))",
                "$(( (n<<2) | 1 ))", "$e", "\"$e\"", "$?", "$#", "$1", "\"$1\"", "$@", "\"$@\"", "$*", "\"$*\"",
                "${path##*/}", "${path%/*}", "\"${path##*/}\"", "${w/%gz/xz}", "${w/#x/y}", "${w/.*/}", "${v,,}",
                "'$v'", "\\$v", "${w//[a-t]/-}", "$((010))", "$((0x1f))", "$((n==7&&n!=8))", "$((n/2))",
            ]).prop_map(str::to_owned),
        ],
        3_000,
    );
}

#[test]
fn nothing_unset_becomes_empty() {
    for text in ["rm -rf $X/lib", "echo ${X:-w}", "echo \"${X}\"", "echo $((X+1))", "x ${X%.*}"] {
        let script = parse(text).unwrap();
        let Body::Simple(simple) = &script.list.items[0].first.commands[0].body else { panic!("{text}") };
        let mut state = State::default();
        let found = Expander { state: &mut state, surroundings: &Nothing }.fields(&simple.words);
        assert!(
            matches!(&found, Err(ExpandError::Refused(error)) if error.problem.contains("`X`")),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn tokens_that_the_end_of_a_line_splits_are_refused() {
    for text in ["echo $\\\nv", "echo \"$v\\\nw\"", "echo $\\\n{v}", "echo $\\\n(id)", "echo 2\\\n>x"] {
        let error = parse(text).unwrap_err();
        assert!(error.problem.ends_with("split by the end of the line"), "{text:?}: {error}");
    }
    assert!(parse("echo $v\\\n /x a\\\nb").is_ok());
}

#[test]
fn texts_that_a_shell_would_read_in_another_way_are_refused() {
    for (text, says) in [
        ("(( 37#Z > 2 ))", "no number"),
        ("echo $((08+1))", "no number"),
        ("(( +n+=1 ))", "is missing"),
        ("((1?2:n=3))", "needs `))`"),
        ("echo $((n--5))", "needs `))`"),
        ("echo $((4--n))", "step of a variable"),
        ("(( --n--1 ))", "step of a variable"),
        ("[[ -e != x ]]", "one word"),
        ("((( 1 )) ; ls)", "three parentheses"),
        ("echo {A..c}", "range of letters"),
        ("echo ${v=a{b,c}{d,e}f}", "braces"),
        ("echo \"${v:-'$n'}\"", "quotes mean themselves"),
        ("echo {$v,w}_1", "name of the variable"),
        ("echo {a,b$v}{c,d}", "name of the variable"),
        ("echo {$,a}v", "name of the variable"),
        ("echo {$,a}'v'", "name of the variable"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.problem.contains(says), "{text}: {error}");
    }
    for text in ["echo $((1+$e))", "echo $(($e*2))", "n=3; echo $((n-$m))", "echo ${v:1+$e}"] {
        let mut state = state();
        state.set("m", Value::Known("-5".to_owned()));
        let script = parse(text).unwrap();
        let Body::Simple(simple) = &script.list.items.last().unwrap().first.commands[0].body else { panic!("{text}") };
        let found = Expander { state: &mut state, surroundings: &Nothing }.fields(&simple.words);
        assert!(matches!(found, Err(ExpandError::Refused(_))), "{text}: {found:?}");
    }
}

#[test]
fn values_are_never_evaluated_again() {
    for value in ["a[$(id)]", "1+1", "x", "$(id)", "0x10 ", "08"] {
        let script = parse("echo $((y+1))").unwrap();
        let Body::Simple(simple) = &script.list.items[0].first.commands[0].body else { panic!("{value}") };
        let mut state = State::default();
        state.set("y", Value::Known(value.to_owned()));
        let found = Expander { state: &mut state, surroundings: &Nothing }.fields(&simple.words);
        assert!(matches!(found, Err(ExpandError::Refused(_))), "{value}");
    }
}

#[test]
fn texts_of_any_form_end_in_a_located_error_or_in_a_tree() {
    let long = format!("x {}", "a".repeat(1 << 20));
    let words = "x ".repeat(10_000);
    let nested =
        ["(", "$(", "\"$(", "{ ", "if ", "${a:-", "$((", "[[ ( ", "case a in a) "].map(|text| text.repeat(2_000));
    let quotes = "\"".repeat(9_999);
    let braces = "{1..9999}".repeat(5_000);
    let many: Vec<&str> = nested.iter().map(String::as_str).collect();
    for text in [&long, &quotes, &braces, "x |", "'", "x \0", "a;;", "fi", "}", ")", "f(){ x;}", "a=(1)", "x <<E\na"]
        .into_iter()
        .map(AsRef::as_ref)
        .chain(many)
    {
        let error = parse(text).expect_err(&text[..text.len().min(40)]);
        assert!(error.range.end <= text.len() && !error.remedy.is_empty(), "{error}");
    }
    assert!(parse(&words).is_ok() && parse("").is_ok() && parse(" # a\n").is_ok());
    let deep = MAX_NESTING / 2 - 2;
    assert!(parse(&format!("{}x{}", "( ".repeat(deep), " )".repeat(deep))).is_ok());
}

#[test]
fn a_text_goes_on_where_more_text_could_mend_it() {
    for text in [
        "if true; then",
        "for x in a; do\necho",
        "case a in\n",
        "case a in a) b",
        "( a",
        "{ a;",
        "while :",
        "[[ a",
        "echo 'a",
        "echo \"a",
        "echo $(a",
        "echo `a",
        "echo $((1",
        "cat <<EOF\na",
        "cat <<EOF",
        "a |",
        "a &&\n",
        "a \\",
        "a \\\\\\",
        "echo $'a",
        "if a; then b; else",
    ] {
        assert!(is_unfinished(text), "{text}");
    }
    for text in
        ["", "a", "fi", "a )", "a | | b", "a \\\\", "echo 'a' ; done", "cat <<EOF\na\nEOF", "# it's", "f() { a; }"]
    {
        assert!(!is_unfinished(text), "{text}");
    }
}

#[test]
fn a_line_that_is_being_typed_has_a_last_command() {
    for (text, words, open) in [
        ("git log -", vec!["git", "log"], Some("-")),
        ("a | for x in b; do cd ", vec!["cd"], None),
        ("X=1 cargo te", vec!["cargo"], Some("te")),
        ("ls > out && ", vec![], None),
        ("", vec![], None),
    ] {
        let (found, last) = last_command(text).unwrap();
        let found: Vec<String> = found.iter().filter_map(climax_shell::Word::literal).collect();
        assert_eq!(
            (found, last.and_then(|word| word.literal()).as_deref()),
            (words.iter().map(|word| (*word).to_owned()).collect(), open),
            "{text}"
        );
    }
    assert!(last_command("echo 'a").is_none());
}

proptest! {
    #[test]
    fn errors_in_any_text_are_located_in_it(text in "\\PC{0,60}") {
        if let Err(error) = parse(&text) {
            prop_assert!(text.get(error.range.clone()).is_some(), "{}", error);
        }
    }

    #[test]
    fn errors_in_any_syntax_are_located_in_it(pieces in prop::collection::vec(prop::sample::select(vec![
        "if ", "then ", "fi ", "for x in ", "do ", "done ", "case a in ", "esac", "(", ")", "((", "))", "{ ", "}", "$(", "${",
        "\"", "'", "`", "<<E\n", "E\n", ";", ";;", "&&", "||", "|", "&", "\n", "x ", "a=", "[[ ", " ]]", "> ", "<", "2>&1", "é",
        "\\", "$((", "1", "+", "while ", "!", "time ", "#",
    ]), 0..14)) {
        let text = pieces.concat();
        if let Err(error) = parse(&text) {
            prop_assert!(text.get(error.range.clone()).is_some(), "{:?} {}", text, error);
        }
    }
}

#[test]
fn braces_that_stand_for_too_much_are_refused_and_all_others_read() {
    let words = |text: &str| {
        let script = parse(text).ok()?;
        let Body::Simple(simple) = &script.list.items[0].first.commands[0].body else { return None };
        Some(simple.words.len())
    };
    let doubled = |count: usize| "{a,b}".repeat(count);
    let long = "x".repeat(60_000);
    for (text, count) in [
        ("echo {1..19999}".to_owned(), Some(20_000)),
        ("echo {1..20001}".to_owned(), None),
        ("echo {1..15000} {1..15000}".to_owned(), None),
        ("echo {{1..15000},{1..15000}}".to_owned(), None),
        ("echo {-9223372036854775808..9223372036854775807}".to_owned(), None),
        ("echo {-9223372036854775808..9223372036854775807..9223372036854775807}".to_owned(), None),
        ("echo {0..4611686018427387903..2305843009213693952}".to_owned(), Some(3)),
        ("x > {1..20001}".to_owned(), None),
        ("echo {1..100}$(echo {1..100})".to_owned(), Some(101)),
        ("echo {1..200}$(echo {1..100})".to_owned(), None),
        ("echo {1..200}${x:-$((1 + $(echo {1..100})))}".to_owned(), None),
        (format!("echo {}", doubled(13)), Some(8_193)),
        (format!("echo {}", doubled(14)), None),
        (format!("echo {}{long}", doubled(4)), Some(17)),
        (format!("echo {}{long}", doubled(5)), None),
        (format!("echo {}", "{".repeat(65)), None),
        (format!("echo '{}'", "{".repeat(65)), Some(2)),
    ] {
        assert_eq!(words(&text), count, "{}", &text[..text.len().min(60)]);
    }
}
