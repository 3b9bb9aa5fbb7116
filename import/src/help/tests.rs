use super::*;

/// The options of a page, one a line: spellings, value, how many.
fn shown(page: &str) -> Vec<String> {
    let page = read(page, &[]);
    let option = |flag: &Flag| {
        let value = flag.value.as_ref().map_or(String::new(), |value| format!(" {}:{:?}", value.name, value.several));
        let off = flag.off.as_ref().map_or(String::new(), |off| format!(" off {off}"));
        format!("{}{value}{off}", flag.spellings.join(" "))
    };
    let operand = |operand: &Operand| {
        let mark = if operand.required { "!" } else { "" };
        format!("{}{mark}:{:?}", operand.name, operand.value.several)
    };
    page.command.options.iter().map(option).chain(page.command.operands.iter().map(operand)).collect()
}

#[test]
fn spellings_may_stand_in_columns() {
    let page = "Usage: mill [OPTION]... [SACK]...\n\nGrain:\n  -r,  --rye             take rye\n       --oats=HANDFULS   take oats\n  \
                -w WAY    --way=WAY  how to grind\n";
    assert_eq!(shown(page), ["--rye -r", "--oats HANDFULS:No", "--way -w WAY:No", "SACK:Each"]);
}

#[test]
fn options_may_follow_the_usage_line() {
    let page = "Usage: mill [options...] <sack>\n     --rye-and-oats <bags> Take both\n -w, --way <how>           How to grind\n \
                -x, --extra <it> Add it\n     --xylitol <gram>  Sweeten\n";
    let expected = ["--rye-and-oats bags:No", "--way -w how:No", "--extra -x it:No", "--xylitol gram:No", "sack!:No"];
    assert_eq!(shown(page), expected);
}

#[test]
fn usage_lines_of_argparse_are_read_with_optional_values() {
    let page = "usage: mill [-h] [-j [JOBS]] [-g {fine,coarse}] [-k [SACK ...]] [more grain, see below] [sacks ...]\n";
    assert_eq!(shown(page), ["-h", "-j JOBS:No", "-g :No", "-k SACK:Words", "sacks:Each"]);
}

#[test]
fn usage_lines_need_no_heading() {
    assert_eq!(shown("mill [options] grain.txt [grain.txt]\n\n  --rye  take rye\n"), ["--rye", "grain.txt!:Each"]);
}

#[test]
fn sections_with_misleading_names_have_options() {
    let page = "usage: mill\n\nReporting:\n  --rye  take rye\n\nExamples:\n  mill --oats\n\nMiscellaneous:\n  -n, --no-oats\n          \
                Leave oats out\n      --way <WAY>\n          How to grind\n";
    assert_eq!(shown(page), ["--rye", "--no-oats -n", "--way WAY:No"]);
}

#[test]
fn options_that_are_like_another_take_its_values() {
    let page = "usage: mill\n\nOptions:\n  --rye BAG  Take it; may be given multiple times\n  --oats BAG  Like --rye, but oats\n";
    assert_eq!(shown(page), ["--rye BAG:Each", "--oats BAG:Each"]);
}

#[test]
fn opposites_are_one_switch() {
    let page = "usage: mill\n\nOptions:\n  --rye      take rye\n  --no-rye   leave it\n  --no-oats  leave oats. Override it with --oats\n  \
                --no-salt  less than --salt\n";
    assert_eq!(shown(page), ["--rye off --no-rye", "--no-oats off --oats", "--no-salt"]);
}

#[test]
fn description_is_what_the_program_does() {
    let about = |page: &str| read(page, &[]).command.about;
    assert_eq!(about("mill 3.1.4\nA. Miller <miller@example.org>\n\nGrinds grain.\n\nUsage: mill\n"), "Grinds grain.");
    assert_eq!(about("mill - grinds all grain [version 2]\n\nUsage: mill\n"), "grinds all grain");
    assert_eq!(about("mill: unknown option -- -\nusage: mill [-a]\n"), "");
}
