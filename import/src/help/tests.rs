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
    let page = "usage: mill\n\nOptions:\n  --rye        take rye\n  -R, --no-rye  leave it\n";
    assert_eq!(shown(page), ["--rye", "--no-rye -R"]);
}

#[test]
fn values_may_stand_behind_a_colon() {
    let page = "usage: mill\n\nOptions:\n  -g               keep all\n  -g:{dust,husks}  keep some\n  -g:none          keep none\n  \
                --sack:K=V  name a sack\n  --rye: take rye\n";
    assert_eq!(shown(page), ["-g", "-g: :No", "--sack: K=V:No", "--rye"]);
}

#[test]
fn a_program_may_run_without_a_command() {
    let page = "Usage: mill [sack..]\n       mill init <path>\n\nCommands:\n  init <path>  make a mill\n\n\
                Options:\n  --fine  grind finely\n";
    assert!(read(page, &[]).runs);
    assert_eq!(shown(page), ["--fine", "sack:Each"]);
    let page = "mill/1.0\n\nUsage:\n  $ mill [sack]\n\nCommands:\n  [sack]  grind it\n  init    make a mill\n\n\
                Options:\n  --fine  grind finely\n";
    assert!(read(page, &[]).runs);
    let page =
        "Usage: mill [OPTIONS] <COMMAND>\n\nCommands:\n  init  make a mill\n\nOptions:\n  --fine  grind finely\n";
    assert!(!read(page, &[]).runs);
}

#[test]
fn usage_lines_of_one_line_are_parted() {
    let page =
        "Usage: mill [sacks...] [options] | mill [command] [options]\n\nOptions\n───────\n  --fine  grind finely\n";
    assert_eq!(shown(page), ["--fine", "sacks:Each"]);
}

#[test]
fn drawn_lines_underline_headings() {
    let page =
        "Usage\n=====\n  mill grind [options] <sack>\n\nGrind a sack.\n\nOptions\n=======\n  --fine  grind finely\n";
    let page = read(page, &["grind".to_owned()]);
    assert_eq!((page.command.about.as_str(), page.command.operands[0].name.as_str()), ("Grind a sack.", "sack"));
}

#[test]
fn two_plain_words_of_the_only_line_are_operands() {
    let page = "Usage:\n  mill --help | --version\n  mill --list\n  mill sackname outname [options...] [more...]\n\n  --list  list\n";
    let page = read(page, &[]);
    assert!(page.subcommands.is_empty() && page.runs);
    assert_eq!(page.command.operands.len(), 3, "{:?}", page.command.operands);
}

#[test]
fn a_page_names_its_default_command() {
    let page = "Usage: mill [OPTIONS] COMMAND [ARGS]...\n\nCommands:\n  grind*  Grind\n  sift    Sift\n";
    let default = |page: &str| read(page, &[]).subcommands.into_iter().find(|command| command.is_default);
    assert_eq!(default(page).map(|command| command.name).as_deref(), Some("grind"));
    let page = "usage: mill [-h] {run,sift} ...\n\nsubcommands:\n  mill command to execute (by default run)\n\n  \
                {run,sift}\n    run (r)     run it\n    sift (s)    sift it\n";
    assert_eq!(default(page).map(|command| command.name).as_deref(), Some("run"));
}

#[test]
fn values_without_names_are_known_by_their_descriptions() {
    let page = "Usage: mill\n\nOptions:\n  --config  Path to config file\n  --port  Port to use [8080]\n  --list  Show all [true]\n  \
                --bail  Stop at once\n  --grep  Only run this string\n  --fast  Be fast\n";
    assert_eq!(shown(page), ["--config :No", "--port :No", "--list", "--bail", "--grep :No", "--fast"]);
}

#[test]
fn options_may_take_several_words_each_time() {
    let more = |page: &str| read(page, &[]).command.options[0].more.len();
    assert_eq!(more("Usage: mill\n\nOptions:\n  -p, --param <TEXT TEXT>...  Named parameters\n"), 1);
    assert_eq!(more("Usage: mill\n\nOptions:\n  -Q, --queues COMMA SEPARATED LIST  Queues\n"), 0);
    let page = "usage: mill [-h] [--into path [path ...]] [-m label [label ...]]\n";
    assert_eq!(shown(page), ["-h", "--into path:Words", "-m label:Words"]);
}

#[test]
fn operands_need_no_description() {
    let page = "usage: mill [-h] [SACK] [PATH]\n\npositional arguments:\n  SACK\n  PATH        where to put it\n";
    assert_eq!(shown(page), ["-h", "SACK:No", "PATH:No"]);
    assert_eq!(shown("usage: mill SACK /path/to/mill [flags]\n"), ["SACK!:No", "mill!:No"]);
}

#[test]
fn values_have_other_forms() {
    let page = "usage: mill\n\nOptions:\n  --auth USER[:PASS] | TOKEN, -a USER[:PASS] | TOKEN\n      Who it is.\n  \
                -ext[+] EXT (-extension)  Files with it\n  -d (-r)  dry\n";
    assert_eq!(shown(page), ["--auth -a USER:No", "-ext -extension EXT:No", "-d"]);
}

#[test]
fn switches_of_llvm_take_one_dash() {
    let page = "OVERVIEW: mill\n\nUSAGE: mill [options] [<file> ...]\n\nOPTIONS:\n\nGeneric Options:\n\n  --style=<string>  - Style\n";
    assert_eq!(shown(page)[0], "--style -style string:No");
}

#[test]
fn usage_lines_may_follow_a_sentence_or_a_launcher() {
    let words = ["create".to_owned()];
    let page =
        read("Usage:\nMake a sack.  Usage:\n\n  mill create [-f KIND] SACK [SIZE]\n\n  -f KIND  the kind\n", &words);
    let names: Vec<&str> = page.command.operands.iter().map(|operand| operand.name.as_str()).collect();
    assert_eq!((names.as_slice(), page.command.about.as_str()), (&["SACK", "SIZE"][..], "Make a sack."));

    for usage in ["npx mill create [sack...]", "python -m mill create [sack...]"] {
        let page = read(&format!("Usage: {usage}\n\nMake it\n"), &words);
        assert_eq!(page.command.operands.len(), 1, "{usage}: {:?}", page.command.operands);
    }
}

#[test]
fn examples_show_operands_that_usage_lines_leave_out() {
    let operands = |example: &str| {
        let page = format!(
            "Make a mill\n\nUsage:\n  mill from [flags]\n\nExamples:\n  {example}\n\nFlags:\n      --name string  its name\n"
        );
        read(&page, &["from".to_owned()]).command.operands.len()
    };
    assert_eq!(operands("mill from --name x sack"), 1);
    assert_eq!(operands("mill from --name x | less"), 0);
}

#[test]
fn names_of_values_may_have_several_words() {
    let page = "usage: mill\n\nOptions:\n  -f, --file pathname or URL   pathname or URL of a sack\n  \
                -A, --all Take all of it. This is\n      the same as more.\n  -b#      : test, using # sacks\n  -R --again:  once more\n";
    assert_eq!(shown(page), ["--file -f pathname-or-URL:No", "--all -A", "-b number:No", "--again -R"]);
}

#[test]
fn a_page_may_say_that_it_replaces_what_exists() {
    let replaces = |page: &str| read(page, &[]).command.replaces;
    assert!(replaces("usage: mill FILE\n\nArguments:\n  FILE  the sack. It will be overwritten\n"));
    assert!(!replaces("usage: mill FILE\n\nArguments:\n  FILE  the sack\n"));
}

#[test]
fn an_option_may_share_a_spelling_with_another() {
    let page = "usage: mill\n\nOptions:\n -r --recurse   go below\n -R --recurse:  go below what follows\n -r --recurse   again\n";
    assert_eq!(shown(page), ["--recurse -r", "-R"]);
}

#[test]
fn levels_are_one_option() {
    for range in ["-0 to -9", "-1 ... -9", "-1..-9", "-0 to -9, -11"] {
        assert_eq!(shown(&format!("usage: mill\n\nOptions:\n  {range}  how fine\n")), ["-#"], "{range}");
    }
}

#[test]
fn commands_have_aliases() {
    let aliases = |page: &str| {
        let subcommands = read(page, &[]).subcommands;
        let shown = |command: &Subcommand| format!("{} {}: {}", command.name, command.aliases.join(" "), command.about);
        subcommands.iter().map(shown).collect::<Vec<_>>()
    };
    let commander =
        "Usage: mill [options] [command]\n\nCommands:\n  grind|g [options] <sack>  Grind a sack\n  sift  Sift it\n";
    assert_eq!(aliases(commander), ["grind g: Grind a sack", "sift : Sift it"]);
    let clap = "Usage: mill <COMMAND>\n\nCommands:\n  grind, g  Grind a sack\n  sift      Sift it [aliases: s, sv]\n";
    assert_eq!(aliases(clap), ["grind g: Grind a sack", "sift s sv: Sift it"]);

    let own = |page: &str| read(page, &["flour".to_owned(), "list".to_owned()]).command.aliases;
    assert_eq!(own("List it\n\nUsage:\n  mill flour list\n\nAliases:\n  list, ls\n"), ["flour ls"]);
    assert_eq!(
        own("Usage: mill flour list\n\nAliases:\n  mill flour list, mill flour ls, mill bags\n"),
        ["flour ls", "bags"]
    );
    assert_eq!(own("Usage: mill flour list\n"), [""; 0]);
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

#[test]
fn commands_of_two_words_have_titles() {
    let page = "Usage: mill command [options]\n\nAvailable commands:\n add           Add a sack.\n\n bin\n  bin clear     Empty \
                it.\n  bin list      List them.\n\n mix\n  mix rye oats  Mix both.\n";
    let names: Vec<String> = read(page, &[]).subcommands.into_iter().map(|command| command.name).collect();
    assert_eq!(names, ["add", "bin clear", "bin list", "mix"]);
}

#[test]
fn the_longest_command_leaves_one_space() {
    let page =
        "Usage:\n  mill [command]\n\nAvailable Commands:\n  add         Add a sack\n  rebuild-bin Build a new bin\n";
    let names: Vec<String> = read(page, &[]).subcommands.into_iter().map(|command| command.name).collect();
    assert_eq!(names, ["add", "rebuild-bin"]);
}

#[test]
fn values_may_have_the_names_of_options_or_share_one() {
    let page =
        "usage: mill\n\nFlags:\n      --irye --rye    same as --rye but ignores case\n  -r, --rye sack      take it\n";
    assert_eq!(shown(page), ["--irye rye:No", "--rye -r sack:No"]);
    let page = "usage: mill\n\nOptions:\n  --mix whole       Mix all\n  -f, --mix fine    Mix the fine\n  -c, --mix coarse  Mix \
                the coarse\n";
    assert_eq!(shown(page), ["--mix whole:No", "-f", "-c"]);
}

#[test]
fn dots_in_brackets_are_words() {
    let page = "Usage: mill [options]\n\nOptions:\n  -o, --out <SACK...>   Where to\n  -l, --list [<BIN>...]  List them\n  -h, \
                --help            Print help\n  --with <RYE>...  Take it\n";
    let expected = ["--out -o SACK:Words", "--list -l BIN:Words", "--help -h", "--with RYE:Words"];
    assert_eq!(shown(page), expected);
}

#[test]
fn repeated_options_and_aliases_are_known_by_their_descriptions() {
    let page = "usage: mill\n\nOptions:\n  -E, --extra=IT     More of it (multiple values allowed)\n  --arguments ARGS   Pass \
                them (Alias: --ppa)\n  -v, --loud count   Say more (repeat for more)\n";
    assert_eq!(shown(page), ["--extra -E IT:Each", "--arguments --ppa ARGS:No", "--loud -v"]);
    assert!(read(page, &[]).command.options[2].counts);
}

/// The subcommands of a page, each with its aliases and description.
fn commands(page: &str) -> Vec<String> {
    let shown = |command: Subcommand| {
        let words = [vec![command.name], command.aliases].concat().join(" ");
        if command.about.is_empty() { words } else { format!("{words}: {}", command.about) }
    };
    read(page, &[]).subcommands.into_iter().map(shown).collect()
}

#[test]
fn names_in_brackets_are_aliases() {
    let page = "usage: mill <subcommand> [options] [args]\n\nAvailable subcommands:\n   add\n   grind (gr)\n   sift (s, si, \
                sieve)\n   rest (deprecated)\n";
    assert_eq!(commands(page), ["add", "grind gr", "sift s si sieve"]);
}

#[test]
fn commands_may_stand_at_the_margin() {
    let page = "mill is a tool.\n\n--loud | -l       = say more\n\nCommands:\nadd               = add a sack\ngrind-all       \
                  = grind all of it\n";
    assert_eq!(commands(page), ["add: add a sack", "grind-all: grind all of it"]);
    let page = "Usage: mill <command>\n\nFrequently used commands:\nadd       changes   diff      ls\ngrind     rest      sift\n";
    assert_eq!(commands(page), ["add", "changes", "diff", "ls", "grind", "rest", "sift"]);
}

#[test]
fn commands_may_follow_their_heading() {
    let page =
        "Usage: mill [options] command command_options\nValid commands: add, grind,\n                rest, sift\n";
    assert_eq!(commands(page), ["add", "grind", "rest", "sift"]);
    let page =
        "Usage: mill [options] sack\n\nThe commands are: add, grind,\n  rest and sift.\n\nOptions:\n  -v   loud\n";
    assert_eq!(commands(page), ["add", "grind", "rest", "sift"]);
    assert_eq!(commands("Usage: mill [options]\nAvailable commands: add grind\n"), ["add", "grind"]);
    assert_eq!(commands("Usage: mill [options]\nAvailable commands: see the manual\n"), [""; 0]);
}

#[test]
fn operand_may_stand_beside_commands() {
    let page = "Make it\n\nUsage: mill [OPTIONS] [NAME] [COMMAND]\n\nCommands:\n  sack  Make a sack\n  bin   Make a \
                bin\n\nArguments:\n  [NAME]  Its name\n\nOptions:\n  -f, --fine  Finely\n";
    assert_eq!(commands(page), ["sack: Make a sack", "bin: Make a bin"]);
    assert!(read(page, &["new".to_owned()]).runs);
}

#[test]
fn commands_have_operands_in_capitals() {
    let page = "Usage: mill COMMAND\n\nCommands:\n  run FILE        Run a file\n  put NAME VALUE  Put it\n  get KEY...      Get \
                it\n  list            List it\n";
    assert_eq!(commands(page), ["run: Run a file", "put: Put it", "get: Get it", "list: List it"]);
}

#[test]
fn options_may_share_a_line() {
    let page = "mill: grind grain\nFirst option must be a mode:\n  -c Create  -r Add/Replace  -t List\nCommon Options:\n  -f \
                <sack>  Which one\n  -v    Loud\n";
    assert_eq!(shown(page)[..3], ["-c", "-r", "-t"]);
    assert_eq!(read(page, &[]).command.options[1].about, "Add/Replace");
}

#[test]
fn alternatives_and_plain_names_may_have_a_column() {
    let page = "Usage: mill [options] SACK ...\n\n -skipempty      (true)| false  skip empty sacks\n -grain            rye \
                |(oats)| corn\n                                kind of grain\n -outputname  name  sets the name of it\n -dry|-n  true \
                |(false) try it\n -loud  no  be loud\n";
    assert_eq!(shown(page)[..5], ["-skipempty :No", "-grain :No", "-outputname name:No", "-dry -n :No", "-loud"]);
    let options = read(page, &[]).command.options;
    let values = options[1].value.as_ref().and_then(|value| value.values.clone()).unwrap();
    assert_eq!((values.get().join(" ").as_str(), options[1].about.as_str()), ("rye oats corn", "kind of grain"));
}

#[test]
fn one_character_may_stand_for_three_dots() {
    let page = "Usage:\n  mill [OPTION…] SACK… BIN\n\nOptions:\n  -i, --rye=BAG…   Take it\n";
    assert_eq!(shown(page), ["--rye -i BAG:Each", "SACK!:Each", "BIN!:No"]);
}

#[test]
fn options_of_usage_lines_may_have_descriptions() {
    let page = "syntax: mill\n  [--way WAY]\n  [--loud]       Prints 'more' of it\n  [--bag NAME]   Takes 'NAME'\n  [--rest]\n  SACK...\n";
    assert_eq!(shown(page), ["--loud", "--bag NAME:No", "--way WAY:No", "--rest", "SACK!:Each"]);
    assert_eq!(read(page, &[]).command.options[0].about, "Prints 'more' of it");
}

#[test]
fn text_of_a_manual_may_start_one_space_behind_its_option() {
    let page = "NAME\n       mill -- grinds\n\nSYNOPSIS\n       mill [options]\n\nDESCRIPTION\n       It is fine (as with\n       \
                -9). So it is.  Always.\n\nOPTIONS\n       -T way Grind it this way.  It may be fine or coarse, as \
                you\n              like it.\n\n       --list List the sacks to stdout.  By default, all sacks are \
                listed,\n              also the old ones.\n\n       --salt Boolean (no if unset)\n              Salt it.\n";
    assert_eq!(shown(page), ["-T way:No", "--list", "--salt Boolean:No"]);
    assert_eq!(read(page, &[]).command.about, "grinds");
}

#[test]
fn values_may_stand_in_usage_lines_alone() {
    let page = "Usage: mill [ -sack <sack> ] [ -way <way> ] [ -loud ] <bin>\n\nOptions:\n-sack = the sack\n-way  = how to \
                grind\n-loud = say more\n-dry  = do nothing\n-wet  = add water\n";
    assert_eq!(shown(page)[..3], ["-sack sack:No", "-way way:No", "-loud"]);
    let page = "usage: mill [-a] <sack>\n   or: mill --rye <sack>...\n   or: mill --oats <sack>\n\n    -a, --all   all\n    --rye       \
                rye\n    --oats      oats\n    --dry       dry\n    --wet       wet\n";
    assert_eq!(shown(page)[..3], ["--all -a", "--rye", "--oats"]);
}

#[test]
fn heading_tells_that_options_take_values() {
    let page = "Usage:\n     mill [options] [sacks]\n\nOptions:\n    Boolean options:\n\n     -v,  --verbose         Say more.\n\n    \
                Options that take arguments:\n\n     -I                     Where to look\n     -e,  --exec            What to \
                start\n     -j,  --jobs N          How many\n";
    assert_eq!(shown(page)[..4], ["--verbose -v", "-I :No", "--exec -e :No", "--jobs -j N:No"]);
}

#[test]
fn letters_are_parted_from_names_that_descriptions_use() {
    let page = "usage: mill [-a] [-mname] [-Tbag] [-Crest] [sacks...]\n\n-a      grind all\n-mname  read mill.name\n-Tbag   use this \
                bag\n-Crest  leave the rest\n-top    on top\n";
    assert_eq!(shown(page), ["-a", "-m name:No", "-T bag:No", "-C rest:No", "-top", "sacks:Each"]);
    assert_eq!(shown("usage: mill\n\n-Tbag   use this bag\n-top    on top\n"), ["-Tbag", "-top"]);
}

#[test]
fn panels_have_options_operands_and_subcommands() {
    let page = " Usage: mill grind [OPTIONS] SACKS...\n\n Grind it.\n\n\
                ╭─ Arguments ────────────────────────────────────╮\n\
                │ *    sacks      SACKS...  What to grind        │\n\
                ╰────────────────────────────────────────────────╯\n\
                ╭─ Options ──────────────────────────────────────╮\n\
                │ --fine      -f  --coarse    <bool>  How fine   │\n\
                │ --stone                     <path>  The stone  │\n\
                ╰────────────────────────────────────────────────╯\n";
    assert_eq!(shown(page), ["--fine -f off --coarse", "--stone path:No", "sacks!:Each"]);
    let page = " Usage: mill [OPTIONS] COMMAND [ARGS]...\n\n╭─ Commands ─────╮\n│ grind  Grind.  │\n│ sift   Sift.   │\n\
                ╰────────────────╯\n";
    let names = |page: &str| read(page, &[]).subcommands.into_iter().map(|command| command.name).collect::<Vec<_>>();
    assert_eq!(names(page), ["grind", "sift"]);
}

#[test]
fn a_tree_of_subcommands_is_read_level_by_level() {
    let page = "usage: mill [<flags>] <command> [<args> ...]\n\nFlags:\n  --time=\"15:04 MST\"  When\n\nCommands:\n  \
                help [<command>...]\n  sack\n    list* [<flags>]\n    mend [<sacks>...]\n  grind [<sacks>...]\n";
    let names = |page: &str, words: &[String]| {
        read(page, words).subcommands.into_iter().map(|command| (command.name, command.is_default)).collect::<Vec<_>>()
    };
    let entry = |name: &str, is_default| (name.to_owned(), is_default);
    assert_eq!(names(page, &[]), [entry("sack", false), entry("grind", false)]);
    assert_eq!(shown(page)[0], "--time :No");
    let page =
        "usage: mill sack <command> [<args> ...]\n\nCommands:\n  sack\n    list* [<flags>]\n    mend [<sacks>...]\n";
    assert_eq!(names(page, &["sack".to_owned()]), [entry("list", true), entry("mend", false)]);
}

#[test]
fn usage_lines_name_values_that_most_options_of_a_list_leave_out() {
    let page = "Usage: mill {[-s sack] [-g grit] -o outlet | -f feed}\n            [-v] [--way way]\n\n -s : the sack\n -g : the grit\n \
                -o : where it goes\n -f : what goes in\n -v : say more\n --way : how\n";
    assert_eq!(shown(page), ["-s sack:No", "-g grit:No", "-o outlet:No", "-f feed:No", "-v", "--way way:No"]);
}

#[test]
fn usage_lines_may_break_inside_of_brackets() {
    let page = "Usage: mill [--fine] [--way=\n<WAY>]... [\n--since=DAY] [SACK]...\n\nOptions:\n  --fine  finely\n";
    assert_eq!(shown(page), ["--fine", "--way WAY:No", "--since DAY:No", "SACK:Each"]);
}

#[test]
fn sentences_that_go_on_with_an_option_are_none() {
    let page = "List the sacks.\n\nThe columns can be set with\n-o columns=size,age (see below).\n\nUsage:\n  mill [FLAGS]\n\n\
                Flags:\n  -o, --output string   How to show them\n";
    assert_eq!(shown(page), ["--output -o string:No"]);
}

#[test]
fn options_show_that_they_may_stand_several_times() {
    let page = "usage: mill\n\nOptions:\n  -g, --grain <grain1> [ -g|--grain <grain2> ... ]\n          Take it\n  \
                --sack <NAME>  Only the given sack(s)\n  --in-dir <PATH>  Look in directories\n  -x X  More, e.g. -x a=b -x c=d\n  \
                -l, --leave PATH  Leave it. Multiple `-l/--leave` options are fine\n  \
                --key KEY[:VALUE]  Set it\n  --log <PATH>  Where the miller(s) write\n";
    let expected = [
        "--grain -g grain1:Each",
        "--sack NAME:Each",
        "--in-dir PATH:Each",
        "-x X:Each",
        "--leave -l PATH:Each",
        "--key KEY:Each",
        "--log PATH:No",
    ];
    assert_eq!(shown(page), expected);
}

#[test]
fn untyped_options_of_yargs_may_do_without_a_value() {
    let page = "usage: mill\n\nOptions:\n  --fine  Grind finely  [boolean]\n  --json  Output as JSON\n  --sacks  Comma separated list\n";
    let page = read(page, &[]);
    let optional = page.command.options.iter().map(|flag| flag.value.as_ref().map(|value| value.optional));
    assert_eq!(optional.collect::<Vec<_>>(), [None, Some(true), Some(false)]);
}

#[test]
fn kinds_of_two_words_are_one_value_of_click() {
    let page = "Usage: mill [OPTIONS]\n\nOptions:\n  -a, --all JSON ARRAY  All\n  --map <TEXT TEXT>...  Both\n  \
                --help                Show this message and exit.\n";
    let page = read(page, &[]);
    let more: Vec<usize> = page.command.options.iter().map(|flag| flag.more.len()).collect();
    assert_eq!(more, [0, 1, 0]);
}

#[test]
fn operands_may_be_nouns_of_two_words() {
    assert_eq!(shown("Usage:\n  mill [options] [grain sacks]\n"), ["grain-sacks:Each"]);
    let page = "Usage: mill [options] [sacks|files|stones...]\n\nArguments:\n  sacks|files|stones  what to take\n\nOptions:\n  --fine  finely\n";
    assert_eq!(shown(page), ["--fine", "sacks|files|stones:Each"]);
}

#[test]
fn a_subcommand_is_called_by_its_first_name_unless_that_is_short() {
    let page = "Usage: mill <command>\n\nCommands:\n  sift, sifter, s  Sift it\n  g, grind         Grind it\n";
    let names: Vec<String> = read(page, &[]).subcommands.into_iter().map(|command| command.name).collect();
    assert_eq!(names, ["sift", "grind"]);
}

#[test]
fn a_subcommand_with_optional_ones_below_it_runs_alone() {
    let page = "Usage: mill sack [--mend] [COMMAND ...]\n\nCommands:\n  sew  Sew it\n\nOptions:\n  --mend  Mend it\n";
    assert!(read(page, &["sack".to_owned()]).runs);
}

#[test]
fn other_sections_of_a_manual_list_no_subcommands() {
    let page = "NAME\n  mill - grinds\n\nSYNOPSIS\n  mill <filter> <command>\n\nCOMMANDS\n  mill sift\n        Sift it.\n\n  \
                mill grind\n        Grind it.\n\nFILTERS\n  big  2 sacks\n  or   3 sacks\n";
    let names: Vec<String> = read(page, &[]).subcommands.into_iter().map(|command| command.name).collect();
    assert_eq!(names, ["sift", "grind"]);
}

#[test]
fn operands_behind_dashes_are_told_by_their_descriptions() {
    let page =
        "usage: mill [-f] [words ...]\n\npositional arguments:\n  words  Words following ``--`` that go to the mill\n";
    assert!(read(page, &[]).command.operands[0].behind_dashes);
}

#[test]
fn a_script_with_listed_arguments_is_another_program() {
    let page =
        "usage: mill run [-v] [script] ...\n\npositional arguments:\n  script  The command\n  args  What it is given\n";
    let command = read(page, &["run".to_owned()]).command;
    let shown = command.operands.iter().map(|operand| (operand.name.as_str(), operand.required, operand.rest));
    assert_eq!(shown.collect::<Vec<_>>(), [("script", true, false), ("args", false, true)]);
}

#[test]
fn a_kind_among_values_leaves_them_open() {
    let page = "usage: mill\n\nOptions:\n  --wrap {keep,no,INTEGER}  how wide\n  --way {fine,coarse}  how\n";
    let values = read(page, &[]).command.options.into_iter().map(|flag| flag.value.and_then(|value| value.values));
    assert_eq!(values.map(|values| values.is_some()).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn page_of_a_command_may_start_with_its_usage_line() {
    for usage in ["mill sack [OPTION]... [BAG]...", "mill sack [-r RYE] [-f] BAG...", "mill sack BAG..."] {
        let page = format!(
            "{usage}\n\naliases: bag, grain\n\nmend the sacks\n\noptions ([+] can be repeated):\n\n -r --rye RYE [+] take this \
             rye\n -f --fine        grind finely\n"
        );
        let command = read(&page, &["sack".to_owned()]).command;
        let bags: Vec<_> = command.operands.iter().map(|own| (own.name.as_str(), own.value.several)).collect();
        assert_eq!(bags, [("BAG", Several::Each)], "{usage}");
        let rye = &command.options[0];
        assert_eq!(rye.spellings, ["--rye", "-r"]);
        assert_eq!(rye.value.as_ref().map(|value| value.several), Some(Several::Each));
        assert_eq!(
            (rye.about.as_str(), command.aliases.as_slice()),
            ("take this rye", &["bag", "grain"].map(str::to_owned)[..])
        );
    }
}

#[test]
fn usage_lines_may_have_numbers_and_remarks() {
    let page = "mend: Mend sacks.\nusage: 1. mend SACK...\n       2. mend URL...\n\nValid options:\n  -q [--quiet]  : say less\n";
    let names = |page: &str, words: &[&str]| {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        read(page, &words).command.operands.into_iter().map(|own| own.name).collect::<Vec<_>>()
    };
    assert_eq!(names(page, &["mend"]), ["SACK"]);
    let page = "USAGE:\n\tmill put [options] <sack> <bag> (<bag> can also be given from stdin) [flags]\n";
    assert_eq!(names(page, &["put"]), ["sack", "bag"]);
    let page = read("Usage: mill [options] [sack(s)]\n\n  --rye  take rye\n", &[]).command;
    assert_eq!(page.operands[0].value.several, Several::Each);
}

#[test]
fn whole_calls_below_a_usage_line_are_subcommands() {
    let page = "usage: mill [global] <group> [<group>...] <command> [<args>]\n\nGlobal options:\n  -v|--verbose  say more\n\n    \
                mill sack mend [options] <sack>\n        Mend a sack\n    mill sack drop <sack>\n        Drop it\n\n    \
                mill grind [options] <sack>\n        Grind it\n    mill sift <sack>\n        Sift it\n";
    let page = read(page, &[]);
    let names: Vec<&str> = page.subcommands.iter().map(|command| command.name.as_str()).collect();
    assert_eq!((names.as_slice(), page.runs), (&["sack", "grind", "sift"][..], false));
}

#[test]
fn values_may_be_absent_behind_their_type() {
    let page = "Usage:\n  mill [flags]\n\nFlags:\n      --pull string[=\"true\"]   pull it\n      --jobs int[=4]   how many\n  -e, --env NAME[=VALUE]   set it\n";
    let options = read(page, &[]).command.options;
    let optional: Vec<bool> =
        options.iter().filter_map(|flag| flag.value.as_ref()).map(|value| value.optional).collect();
    assert_eq!(optional, [true, true, false]);
}

#[test]
fn quoted_choices_are_values_of_a_page_that_names_none() {
    let page = "Usage: mill [OPTION] [SACK]...\n\n  -i, -in     read it (default)\n      -kind   kind to take (\"rye\", \"oats\" or \"mixed-corn\")\n      \
                -at     use the given place\n  -m, -mill   mill to connect to (eg mill:0)\n      -quiet  say less\n      -loud   say more (\"loudly\")\n";
    let valued: Vec<String> = read(page, &[])
        .command
        .options
        .into_iter()
        .filter(|flag| flag.value.is_some())
        .map(|flag| flag.spellings[0].clone())
        .collect();
    assert_eq!(valued, ["-kind", "-at", "-m"]);
}

#[test]
fn a_later_usage_line_of_a_command_may_have_more_operands() {
    let forms = |page: &str| read(page, &["log".to_owned()]).command.forms;
    let page = "usage: 1. log [SACK]\n       2. log MILL [SACK...]\n\n  -q  say less\n";
    assert_eq!(forms(page).as_deref(), Some("[SACK]; or MILL [SACK...]"));
    assert_eq!(forms("usage: mill log [SACK...]\n       mill log --all\n\n  -q  say less\n"), None);
}

#[test]
fn commands_may_stand_in_groups() {
    let page = "USAGE:\n   mill [global options] command [arguments...]\n\nCOMMANDS:\n   raw      open it\n   help, h  show help\n\n   \
                sack:\n     mend        mend a sack\n     remove, rm  remove one\n\n   stone wheel:\n     grind  grind it\n\n\
                GLOBAL OPTIONS:\n   --verbose  say more\n";
    let names: Vec<String> = read(page, &[]).subcommands.into_iter().map(|command| command.name).collect();
    assert_eq!(names, ["raw", "mend", "remove", "grind"]);
}

#[test]
fn descriptions_in_the_plural_are_of_options_that_may_stand_several_times() {
    let page =
        "usage: mill\n\nOptions:\n  --sack TEXT  Sacks to mend\n  --bag TEXT   Bag to mend\n  --dust TEXT  Dusts\n";
    assert_eq!(shown(page), ["--sack TEXT:Each", "--bag TEXT:No", "--dust TEXT:Each"]);
}
