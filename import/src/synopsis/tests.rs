//! Tests of reading usage lines.

use super::*;

fn operands(usage: &str) -> String {
    let words: Vec<String> = vec!["add".to_owned()];
    let synopsis = read(usage, &words, &|flag| flag == "-f");
    let shown = synopsis.operands.iter().map(|operand| {
        let mark = if operand.required { "!" } else { "" };
        let dots = if operand.value.several == Several::Each { "..." } else { "" };
        let dashes = if operand.behind_dashes { "-- " } else { "" };
        format!("{dashes}{}{mark}{dots}", operand.name)
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[test]
fn reads_operands_with_their_brackets() {
    assert_eq!(operands("prog add [OPTIONS] <NAME> [FILE]..."), "NAME!, FILE...");
    assert_eq!(operands("prog add [-h] [--into DIR] src [dst ...]"), "dst...");
    assert_eq!(operands("prog add [-t <branch>] [-f] <name> <url>"), "name!, url!");
    assert_eq!(operands("prog add [<options>] [--] [<path>...]"), "-- path...");
    assert_eq!(operands("prog add [<options>] [--] <from> [<to>]"), "-- from!, -- to");
    assert_eq!(operands("prog add NOTE [flags] -- PROGRAM [args...]"), "NOTE!, -- PROGRAM!, -- args...");
    assert_eq!(operands("prog add [-k [day@]month[:year]] [-o option] [day@]month"), "month!");
    assert_eq!(operands("prog add (KIND[.SORT] [NAME | -l label] | KIND/NAME ...) [flags]"), "KIND!, NAME");
    assert_eq!(operands("prog add [(-o|--output=)plain|rich] (NOTE | KIND/NAME) [-c PAGE] [options]"), "NOTE!");
    assert_eq!(operands("prog add ([-k FILE] | KIND [(NAME | -l label | --all)]) [options]"), "KIND, NAME");
    assert_eq!(operands("prog add (-m | --message) <text> <object>"), "object!");
    assert_eq!(operands("prog add [(-m | --message) <text>] [--tags | --no-tags] <object>"), "object!");
    assert_eq!(operands("prog add {<number> | <url>}"), "number!");
    assert_eq!(operands("prog add [--swap OLD NEW] DISH"), "DISH!");
    assert_eq!(operands("prog add [PATTERN] {sack ...}"), "PATTERN, sack...");
    assert_eq!(operands("prog add {sack} {zero or more file names}"), "sack!, names...");
    assert_eq!(operands("prog add [--into {sack}] <name>"), "name!");
    assert_eq!(operands("prog add <number>|<url>|<path> <name>"), "number!, name!");

    assert_eq!(operands("prog add [[[[[[[[[[[[[[[[[[[[[[[[[[x"), "");
}

#[test]
fn alternatives_exclude_each_other() {
    let groups = |usage: &str| {
        let groups = read(usage, &["add".to_owned()], &|_| false).groups;
        groups.iter().map(|group| (group.required, group.members.join(" "))).collect::<Vec<_>>()
    };
    assert_eq!(groups("prog add (--hot | --cold) dish"), [(true, "--hot --cold".to_owned())]);
    assert_eq!(groups("prog add [-a | --all | <dish>]"), [(false, "--all dish".to_owned())]);
    assert_eq!(groups("prog add {--all|--only NAME}"), [(true, "--all --only".to_owned())]);
    assert_eq!(groups("prog add [-a | --all] (DISH | DISH/PART)"), []);
}

#[test]
fn letters_after_one_dash_are_switches() {
    let flags = |usage: &str| {
        let flags = read(usage, &[], &|_| false).flags;
        flags.iter().map(|flag| flag.spellings.join(" ")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(flags("prog [-46aCf] [-p port] dish"), "-4 -6 -a -C -f -p");
    assert_eq!(flags("prog [--swap OLD NEW] DISH"), "--swap");
    assert_eq!(flags("prog [-version] [-name x] dish"), "-version -name");
}

#[test]
fn plain_word_is_a_subcommand() {
    let read = |usage| read(usage, &["shelf".to_owned()], &|_| false).literal;
    assert_eq!(read("prog shelf [-v | --verbose] look [-n] <name>").as_deref(), Some("look"));
    assert_eq!(read("prog shelf [put [-p] <x>]").as_deref(), Some("put"));
    assert_eq!(read("prog shelf [-v]"), None);
    assert_eq!(read("prog shelf <name> add"), None);
}
