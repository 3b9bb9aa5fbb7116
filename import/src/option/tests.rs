//! Tests of reading the left column of an option.

use climax_catalog::Type;

use super::*;
use crate::command::Sure;

fn spelled(text: &str) -> (Vec<String>, Option<String>, String) {
    let term = term(text, true).unwrap();
    (term.flag.spellings, term.flag.value.map(|value| value.name), term.rest)
}

#[test]
fn reads_spellings_and_values_of_every_style() {
    let cases = [
        ("-a, --all", "--all -a", None),
        ("-f, --[no-]file <file>", "--file -f", Some("file")),
        ("-n NUM, --lines=NUM", "--lines -n", Some("NUM")),
        ("--color[=WHEN]", "--color", Some("WHEN")),
        ("    --limit int", "--limit", Some("int")),
        ("-s|--short", "--short -s", None),
        ("-v, --verbose...", "--verbose -v", None),
        ("-R, --repo [HOST/]OWNER/REPO", "--repo -R", Some("OWNER/REPO")),
        ("-input=true", "-input", Some("true")),
        ("-u[<mode>]", "-u", Some("mode")),
        ("-p, --package [<SPEC>]", "--package -p", Some("SPEC")),
        ("-IPATH, --include=PATH", "--include -I", Some("PATH")),
        ("--list[-full]", "--list", None),
        ("-w or --whole", "--whole -w", None),
        ("-w (or --whole)", "--whole -w", None),
        ("-d (-r)", "-d", None),
        ("-r [--rye] ARG", "--rye -r", Some("ARG")),
        ("-q [--quiet]", "--quiet -q", None),
        ("-q [-v]", "-q", None),
        ("--rye [=N]", "--rye", Some("N")),
        ("--rye [if it has been built with it]", "--rye", None),
        ("-r (rye)", "-r", None),
        ("-if[NUM] EXPR", "-if", Some("EXPR")),
        ("--rye [file or directory name]", "--rye", Some("file or directory name")),
        ("-e \"stir; serve; ...\"", "-e", Some("stir")),
    ];
    for (text, spellings, value) in cases {
        let found = spelled(text);
        assert_eq!(found.0.join(" "), spellings, "{text}");
        assert_eq!(found.1.as_deref(), value, "{text}");
    }
}

#[test]
fn text_without_a_second_column_is_not_a_value() {
    let found = term("--[no-]cleanup <mode> how to strip spaces", false).unwrap();
    assert_eq!(found.rest, "how to strip spaces");
    let found = term("--keep all of them", false).unwrap();
    assert_eq!((found.flag.value, found.rest.as_str()), (None, "all of them"));
}

#[test]
fn default_determines_the_type() {
    assert_eq!(term("--all=false:", true).unwrap().flag.value, None);
    let tail = term("--tail=-1:", true).unwrap().flag.value.unwrap();
    assert_eq!((tail.kind, tail.default.as_deref()), (Some(Sure::Said(Type::Integer)), Some("-1")));
    assert_eq!(term("--file=[]:", true).unwrap().flag.value.unwrap().several, Several::Each);
    let print = term("--print=true:", true).unwrap().flag;
    assert!(print.is_on && print.value.is_none());
}

#[test]
fn form_tells_how_many_values() {
    let several = |text| term(text, true).unwrap().flag.value.unwrap().several;
    for (text, expected) in [
        ("--dish <NAME>", Several::No),
        ("--dish <NAME>...", Several::Each),
        ("--dish NAME [NAME ...]", Several::Words),
        ("--dish [NAME ...]", Several::Words),
        ("--dish [<NAME>...]", Several::Words),
        ("--dish <NAME...>", Several::Words),
        ("--dish=A,B,...", Several::Joined(',')),
        ("-d NAME1,NAME2..", Several::Joined(',')),
        ("--cook <COMMAND>...", Several::Words),
        ("--dish name[=size]", Several::Each),
        ("--dish=NAME[=SIZE]", Several::Each),
    ] {
        assert_eq!(several(text), expected, "{text}");
    }

    assert!(term("--stir...", true).unwrap().flag.counts);
    assert!(term("-d[ddd]", true).unwrap().flag.counts);
    let is_pair = |text| term(text, true).unwrap().flag.value.unwrap().pair;
    assert!(is_pair("--dish <NAME>=<SIZE>"));
    assert!(!is_pair("--dish NAME[=SIZE]") && !is_pair("-d name[=size]"));
}

#[test]
fn letters_of_the_alphabet_stand_for_any_values() {
    let values = |text| term(text, true).unwrap().flag.value.unwrap().values;
    assert_eq!(values("-g {a,b,c}"), None);
    assert_eq!(values("-g {a,c,d}").map(|values| values.get().join("")).as_deref(), Some("acd"));
}

#[test]
fn further_values_and_opposites_are_read() {
    let flag = |text| term(text, true).unwrap().flag;
    assert_eq!(flag("--swap <OLD> <NEW>").more, ["NEW"]);
    assert_eq!(flag("--swap a b").more, ["b"]);
    assert_eq!(flag("--range FROM TO STEP").more, ["TO", "STEP"]);
    assert!(flag("--size INTEGER RANGE").more.is_empty());
    assert!(flag("--soup=FILE of the day").more.is_empty());
    assert!(flag("--tabs Boolean (no if unset)").more.is_empty());
    assert!(flag("--dish N or --dish name").more.is_empty());
    assert_eq!(flag("-s, --[no-]salt").off.as_deref(), Some("--no-salt"));
    assert_eq!(flag("--hot / --cold").off.as_deref(), Some("--cold"));
    let far = flag("-p [HOST:]PORT").value.unwrap();
    assert_eq!((far.name.as_str(), far.kind, far.optional), ("PORT", Some(Sure::Said(Type::String)), false));
}

#[test]
fn values_in_brackets_behind_one_dash_are_attached() {
    let value = |text| term(text, true).unwrap().flag.value.unwrap();
    let (name, maybe) = (value("-lf<name>"), value("-lm[name]"));
    assert!(name.attached && !name.optional);
    assert!(maybe.attached && maybe.optional);
    let pair = value("-D<name>=<size>");
    assert_eq!((pair.attached, pair.pair, pair.several), (true, false, Several::Each));
}
