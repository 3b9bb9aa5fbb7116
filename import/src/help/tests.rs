//! Tests of reading help pages.

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

#[test]
fn usage_lines_have_many_beginnings() {
    for page in [
        "Syntax:\n    mill [OPTIONS] [sacks or files]\n\nOptions:\n    --rye  Take rye\n",
        "Usage :\n      mill [OPTIONS] [files]\n\n --rye     : take rye\n",
        "Usage summary: mill [files]\n\n--rye     take rye\n",
        "Usage: mill --fast x\n  or  mill [files]\n\n  --rye  take rye\n",
    ] {
        let read = read(page, &[]).command;
        assert_eq!(read.operands.last().map(|operand| operand.name.as_str()), Some("files"), "{page}");
        let rye = read.options.iter().find(|flag| flag.spellings == ["--rye"]).unwrap_or_else(|| panic!("{page}"));
        assert_eq!(rye.about.to_lowercase(), "take rye", "{page}");
    }
}

#[test]
fn operands_of_several_forms_stay_together() {
    let forms = |page: &str| read(page, &[]).command.forms;
    assert_eq!(
        forms("Usage: mill [options] <sack> | <set 1> <set 2>\n\n  -r  rye\n").as_deref(),
        Some("[options] <sack> | <set 1> <set 2>")
    );
    assert_eq!(forms("Usage: mill [-r] <sack>\n\n  -r  rye\n"), None);
    assert_eq!(forms("mill\n\n  -r  rye\n").as_deref(), Some(""));
    assert_eq!(read("Usage: mill <sack|--file <FILE>>\n", &[]).command.operands[0].name, "sack");
}

#[test]
fn subcommands_are_found_in_choices_and_below_their_place() {
    let names = |page: &str| {
        read(page, &[]).subcommands.into_iter().map(|subcommand| subcommand.name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("usage: mill [-h] {grind,sift}\n\npositional arguments:\n  {grind,sift}\n"), "grind sift");
    assert_eq!(
        names("usage: mill {grind,sift} ...\n\nCommands:\n  {grind,sift}\n    grind   Grind\n    sift    Sift\n"),
        "grind sift"
    );
    assert_eq!(names("usage: mill <command>\n\nrequired arguments:\n  <command>\n    grind   Grind\n"), "grind");
    assert_eq!(
        names("Usage: mill [options] command\n\nCommands:\n  grind - grind the corn\n  sift - sift it\n"),
        "grind sift"
    );
}

#[test]
fn pages_of_go_and_values_in_columns_are_read() {
    assert_eq!(shown("Usage of mill:\n  -rye int\n    \ttake rye\n"), ["--rye -rye rye:No".replace(" rye:", " int:")]);
    assert_eq!(shown("Usage: mill\n\n  -p, --port      #         the port\n"), ["--port -p number:No"]);
    assert_eq!(shown("Usage: mill\n\n  -f rye    --file=rye\n"), ["--file -f rye:No"]);
}

#[test]
fn descriptions_are_no_versions() {
    for page in ["mill: Mill v14.4.2\n\nUsage: mill [x]\n", "*** Mill 64-bits v1.9, by Ada ***\nUsage: mill [x]\n"] {
        assert_eq!(read(page, &[]).command.about, "", "{page}");
    }
    let manual = "MILL(1)\n\nNAME\n     mill — grind corn\n\nSYNOPSIS\n     mill [-r]\n\n     -r      Rye.\n";
    assert_eq!(read(manual, &[]).command.about, "grind corn");
}

#[test]
fn order_of_options_is_kept_where_they_stand_at_several_places() {
    let page = read(
        "Usage: stew [options ...] POT [ [options ...] POT ...] [options ...] BOWL\n\n  -hot  serve it hot\n",
        &[],
    );
    let operands: Vec<String> =
        page.command.operands.iter().map(|own| format!("{} {} {}", own.name, own.required, own.rest)).collect();
    assert_eq!(operands, ["POT true false", "words false true"]);
}

#[test]
fn words_behind_an_operand_are_no_subcommands() {
    let page =
        read("Usage: oven [OPTION]... [RACK [COMMAND [PARAMETERS]...]...]\n\nCOMMANDs:\n  bake TIME   bake it\n", &[]);
    assert!(page.subcommands.is_empty());
    assert!(page.command.operands.iter().all(|own| !own.required && !own.rest));
    assert_eq!(page.command.operands.len(), 3);
}

#[test]
fn program_with_its_arguments_is_a_rest() {
    let page = read("usage: stir [options] prog-and-args\n\n  --fast   stir fast\n", &[]);
    let operands: Vec<String> =
        page.command.operands.iter().map(|own| format!("{} {} {}", own.name, own.required, own.rest)).collect();
    assert_eq!(operands, ["program true false", "args false true"]);
}

#[test]
fn list_right_under_a_usage_line_is_none_of_it() {
    let page = "Usage: jam [-a] [-k lid] [-f file] [--] [word...]\n\tword is a jar or a lid\n\t-a boils all jars\n\t-k lid will be closed\n";
    assert_eq!(shown(&crate::clean(page)), ["-a", "-k lid:No", "-f file:No", "word:Each"]);
}

#[test]
fn colon_parts_an_option_from_its_description() {
    let page = "Usage: pan [-?hv] [-g fats]\n\nOptions:\n  -?,-h  : this help\n  -g fats : set the fats\n  --pots=<Many pots>: <Many pots> is a list\n";
    let shown = shown(page);
    assert!(shown.contains(&"-g fats:No".to_owned()), "{shown:?}");
    assert!(shown.iter().any(|line| line.starts_with("--pots Many pots")), "{shown:?}");
}

#[test]
fn letter_is_parted_from_the_name_of_its_value() {
    let page = "Usage: pie [options]\n\n  -Tv        - Set the filling to 'v'\n  -Gname=val  - Set crust 'name' to 'val'\n  -top       - Bake it on top\n";
    assert_eq!(shown(page), ["-T v:No", "-G name=val:Each", "-top"]);
}

#[test]
fn numbered_operands_are_a_list() {
    assert_eq!(shown("Usage: mix [options] <pot1> <pot2> ... <potN>\n"), ["pot1!:Each"]);
    assert_eq!(shown("Usage: mix [options] <pot1> <pot2>\n"), ["pot1!:No", "pot2!:No"]);
}

#[test]
fn dollars_before_usage_lines_are_dropped() {
    let page = "  USAGE\n\n    $ bowl --help\n    $ bowl big_name\n    $ bowl [-l place] [dish]\n\n  OPTIONS\n\n    -s, --single    One bowl\n";
    let page = read(page, &[]);
    assert!(page.subcommands.is_empty());
    assert!(page.command.options.iter().any(|flag| flag.spellings[0] == "--single"));
}

#[test]
fn alternative_of_an_option_takes_its_value() {
    let page = "Usage: nut [options]\n\n  -f <bowl>    Put them there\n  -o           Alternative for -f.\n";
    assert_eq!(shown(page), ["-f bowl:No", "-o bowl:No"]);
}

#[test]
fn spellings_in_lines_of_their_own_belong_to_the_next_one_of_a_manual() {
    let page = "NAME\n    tea - makes tea\n\nSYNOPSIS\n    tea [options]\n\nOPTIONS\n    --take-leaves BAG\n    --get-leaves BAG\n        Take leaves.\n    --hot\n    --cup SIZE\n        Fill it.\n";
    assert_eq!(shown(page), ["--get-leaves --take-leaves BAG:No", "--hot", "--cup SIZE:No"]);
}

#[test]
fn spelling_of_another_option_is_none_of_this_one() {
    let page = "Usage: fry [options]\n\n  -e EXPR                     how to fry\n  --signal=SET, -e signal=SET  which signal\n";
    assert_eq!(shown(page), ["-e EXPR:No", "--signal SET:No"]);
}

#[test]
fn operand_beside_subcommands_runs_the_command() {
    let page = "Usage:\n  menu new [path] [flags]\n  menu new [command]\n\nAvailable Commands:\n  site   Make a site\n\nFlags:\n  -k, --kind string   the kind\n";
    let page = read(page, &["new".to_owned()]);
    assert!(page.runs && page.subcommands.len() == 1);
}

#[test]
fn example_of_an_option_is_none() {
    let page =
        "Usage: sew [options]\n\n  -o <level>   how fine\n\nLevels:\n  -o0   coarse\n  -o1   fine\n  -q    hush\n";
    assert_eq!(shown(page), ["-o level:No", "-q"]);
}

#[test]
fn value_of_a_later_line_is_optional() {
    let page = "Related options:\n  --lid: close the pot\n\nMore options:\n--lid=size\n\n  The lid.\n";
    let value = read(page, &[]).command.options[0].value.clone().unwrap();
    assert!(value.optional && value.attached && value.name == "size");
}

#[test]
fn topic_that_is_called_usage_is_no_usage_line() {
    let page = "Topics:\n  usage: basic cooking\n\nUsage: cook [pot] [options] [bowl]\n  OR  cook --help\n";
    assert_eq!(shown(page).last().unwrap(), "bowl:No");
}

#[test]
fn calls_in_the_text_are_usage_lines() {
    let page = "You can cook in many ways\n\n1) to make a list:\n    cook [-s] -g [list]\n\n2) to see it:\n    cook [-s] -x [list]\n\n\
                3) to follow it:\n    cook [list]\n";
    assert_eq!(shown(page)[..3], ["-s", "-g", "-x"]);
}

#[test]
fn level_of_a_switch_that_counts_is_optional() {
    let page = "Flags:\n  -v, --loud n   louder (several times, or a level by --loud=n)\n";
    let value = read(page, &[]).command.options[0].value.clone().unwrap();
    assert!(value.optional && value.attached);
}

#[test]
fn spelling_in_brackets_before_the_description_is_an_alias() {
    let page = "Usage: dye [options]\n\n  -b          (-blue)      Dye it blue\n  -c FMT      (-coat)      Coat it\n";
    assert_eq!(shown(page), ["-b -blue", "-c -coat FMT:No"]);
}

#[test]
fn options_below_a_heading_of_files_are_read() {
    let page = "Flags:\n  -q    hush\n\nFirst dishes and dish files:\n\n  --eval-dish=DISH, -ex\n\t\t     Cook a single dish.\n\t\t     May be used multiple times with\n\t\t     --dish.\n  --next-dish=DISH, -iex\n\t\t     Like -ex.\n";
    let shown = shown(&crate::clean(page));
    assert!(shown.iter().any(|line| line.starts_with("--eval-dish -ex")), "{shown:?}");
}
