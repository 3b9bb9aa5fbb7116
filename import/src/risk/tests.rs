//! Tests of what words show of risks.

use super::*;

fn assessed(words: &str, about: &str, program: &str) -> Assessed {
    let words = words.split_whitespace().map(str::to_owned).collect();
    of_command(&Command { words, about: about.to_owned(), ..Command::default() }, program)
}

#[test]
fn what_nothing_shows_is_unknown() {
    for (words, about) in [
        ("list", "List the jars"),
        ("show", "Show a jar and delete nothing"),
        ("frobnicate", "Frobnicates jars"),
        ("inspect", ""),
        ("", "Search jars for a lid"),
        ("version", "Show or bump the version"),
    ] {
        assert_eq!(assessed(words, about, "Keeps jars"), Assessed::Unknown, "{words}: {about}");
    }
}

#[test]
fn verbs_show_what_writes_reaches_out_or_destroys() {
    for (words, about, risk) in [
        ("install", "", Risk::Write),
        ("lid add", "", Risk::Write),
        ("push", "", Risk::Write),
        ("open", "Creates a jar", Risk::Write),
        ("remove", "", Risk::Destructive),
        ("lid-delete", "", Risk::Destructive),
        ("add", "Add a lid and delete the old one", Risk::Destructive),
        ("", "Copy a file, converting and formatting according to the operands", Risk::Destructive),
        ("", "Convert between image formats", Risk::Destructive),
        ("", "Network exploration tool", Risk::Write),
        ("", "HTTP client", Risk::Destructive),
        ("", "Fast converter of jars", Risk::Destructive),
        ("", "Signing and encryption tool", Risk::Destructive),
        ("", "A label generator", Risk::Write),
        ("", "Runner of tasks", Risk::Destructive),
        ("", "Tool for debugging programs", Risk::Destructive),
        ("fix", "", Risk::Destructive),
    ] {
        assert_eq!(assessed(words, about, ""), Assessed::Shown(risk), "{words}: {about}");
    }
}

#[test]
fn operands_on_a_network_are_reached() {
    let operand = crate::command::Operand { name: "URL".to_owned(), ..crate::command::Operand::default() };
    let command = Command { operands: vec![operand], ..Command::default() };
    assert_eq!(of_command(&command, ""), Assessed::Shown(Risk::Write));
    assert!(reaches(&command));
}

#[test]
fn commands_of_programs_that_reach_out_are_no_work_for_a_cage() {
    assert_eq!(assessed("jar list", "List jars", "Client of the jar cloud"), Assessed::Shown(Risk::Write));
    assert_eq!(assessed("jar call", "Call it", "Client of the jar cloud"), Assessed::Shown(Risk::Destructive));
}

#[test]
fn options_of_what_no_cage_holds_have_their_own_risk() {
    let text = |spelling: &str, name: &str, about: &str| {
        let value = Some(crate::command::Value { name: name.to_owned(), ..crate::command::Value::default() });
        Flag { spellings: vec![spelling.to_owned()], value, about: about.to_owned(), ..Flag::default() }
    };
    for (spelling, name, about) in [
        ("--plate", "FILE", "Write the result to this file"),
        ("--exec", "CMD", "Execute it"),
        ("-z", "postrotate-command", ""),
    ] {
        assert_eq!(of_option(&text(spelling, name, about)), Some(Risk::Destructive), "{spelling}");
    }
    assert_eq!(of_option(&text("--sort", "KEY", "Sort by it")), None);
    for spelling in ["--force", "--delete", "--hard"] {
        let switch = Flag { spellings: vec![spelling.to_owned()], ..Flag::default() };
        assert_eq!(of_option(&switch), Some(Risk::Destructive), "{spelling}");
    }
}

#[test]
fn options_that_overwrite_or_warn_are_destructive() {
    let flag = |spelling: &str, about: &str| Flag {
        spellings: vec![spelling.to_owned()],
        about: about.to_owned(),
        ..Flag::default()
    };
    assert_eq!(of_option(&flag("--adopt", "(Use with care!) Import files")), Some(Risk::Destructive));
    assert_eq!(of_option(&flag("--allow-overwrite", "Restart the download")), Some(Risk::Destructive));
    assert_eq!(of_option(&flag("--no-overwrite", "Leave files")), None);
}

#[test]
fn switches_that_delete_are_told_from_those_that_speak_of_it() {
    let flag = |spelling: &str, about: &str| Flag {
        spellings: vec![spelling.to_owned()],
        about: about.to_owned(),
        ..Flag::default()
    };
    for (spelling, about) in [
        ("--delete", "Ask which jars to keep"),
        ("--now", "Delete jars as they are found"),
        ("--mend", "May lose data"),
    ] {
        assert!(deletes(&flag(spelling, about)), "{spelling}");
    }
    assert!(!deletes(&flag("--bare", "Remove comments")));
    assert!(!deletes(&flag("--quiet", "With --delete, say less")));
    assert!(!deletes(&flag("--keep", "Do not delete jars")));
}
