//! Options and their values.

use super::*;

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
fn drawn_lines_underline_headings() {
    let page =
        "Usage\n=====\n  mill grind [options] <sack>\n\nGrind a sack.\n\nOptions\n=======\n  --fine  grind finely\n";
    let page = read(page, &["grind".to_owned()]);
    assert_eq!((page.command.about.as_str(), page.command.operands[0].name.as_str()), ("Grind a sack.", "sack"));
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
fn a_page_may_say_that_its_options_take_one_dash_or_two() {
    let page = "Usage: mill [options] sack\n\nOptions:\n  -rye-only BAG  take it\n  --fine  grind finely\n  -q  say less\n\n\
                Each long option works with one or two\ndashes.\n";
    assert_eq!(shown(page), ["-rye-only --rye-only BAG:No", "--fine -fine", "-q", "sack!:No"]);
    let other = page.replace("one or two\ndashes", "its name");
    assert_eq!(shown(&other), ["-rye-only BAG:No", "--fine", "-q", "sack!:No"]);
}

#[test]
fn options_may_stand_behind_the_one_that_they_belong_to() {
    let page = "Usage: mill [options] [sack]\n\nwhere an action is\n  -p or --put <sack> -k <kind> [-w (--way) <way>]\n  \
                -d or --drop <sack>\n";
    assert_eq!(shown(page), ["--put -p sack:No", "--drop -d sack:No", "-k kind:No", "--way -w way:No", "sack:No"]);
}

#[test]
fn names_of_values_may_have_several_words() {
    let page = "usage: mill\n\nOptions:\n  -f, --file pathname or URL   pathname or URL of a sack\n  \
                -A, --all Take all of it. This is\n      the same as more.\n  -b#      : test, using # sacks\n  -R --again:  once more\n";
    assert_eq!(shown(page), ["--file -f pathname-or-URL:No", "--all -A", "-b number:No", "--again -R"]);
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
fn pages_of_go_and_values_in_columns_are_read() {
    assert_eq!(shown("Usage of mill:\n  -rye int\n    \ttake rye\n"), ["--rye -rye rye:No".replace(" rye:", " int:")]);
    assert_eq!(shown("Usage: mill\n\n  -p, --port      #         the port\n"), ["--port -p number:No"]);
    assert_eq!(shown("Usage: mill\n\n  -f rye    --file=rye\n"), ["--file -f rye:No"]);
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
fn letter_is_parted_from_the_name_of_its_value() {
    let page = "Usage: pie [options]\n\n  -Tv        - Set the filling to 'v'\n  -Gname=val  - Set crust 'name' to 'val'\n  -top       - Bake it on top\n";
    assert_eq!(shown(page), ["-T v:No", "-G name=val:Each", "-top"]);
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
fn level_of_a_switch_that_counts_is_optional() {
    let page = "Flags:\n  -v, --loud n   louder (several times, or a level by --loud=n)\n";
    let value = read(page, &[]).command.options[0].value.clone().unwrap();
    assert!(value.optional && value.attached);
}

#[test]
fn options_below_a_heading_of_files_are_read() {
    let page = "Flags:\n  -q    hush\n\nFirst dishes and dish files:\n\n  --eval-dish=DISH, -ex\n\t\t     Cook a single dish.\n\t\t     May be used multiple times with\n\t\t     --dish.\n  --next-dish=DISH, -iex\n\t\t     Like -ex.\n";
    let shown = shown(&crate::clean(page));
    assert!(shown.iter().any(|line| line.starts_with("--eval-dish -ex")), "{shown:?}");
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
fn names_in_brackets_are_aliases() {
    let page = "usage: mill <subcommand> [options] [args]\n\nAvailable subcommands:\n   add\n   grind (gr)\n   sift (s, si, \
                sieve)\n   rest (deprecated)\n";
    assert_eq!(commands(page), ["add", "grind gr", "sift s si sieve"]);
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
fn usage_lines_name_values_that_most_options_of_a_list_leave_out() {
    let page = "Usage: mill {[-s sack] [-g grit] -o outlet | -f feed}\n            [-v] [--way way]\n\n -s : the sack\n -g : the grit\n \
                -o : where it goes\n -f : what goes in\n -v : say more\n --way : how\n";
    assert_eq!(shown(page), ["-s sack:No", "-g grit:No", "-o outlet:No", "-f feed:No", "-v", "--way way:No"]);
}

#[test]
fn sentences_that_go_on_with_an_option_are_none() {
    let page = "List the sacks.\n\nThe columns can be set with\n-o columns=size,age (see below).\n\nUsage:\n  mill [FLAGS]\n\n\
                Flags:\n  -o, --output string   How to show them\n";
    assert_eq!(shown(page), ["--output -o string:No"]);
}

#[test]
fn options_that_exclude_or_include_may_stand_several_times() {
    let page = "usage: mill\n\nOptions:\n  --exclude BAG     leave it\n  --ignore-dir=BIN  no bin of this name\n  \
                --ignore-below N  leave small ones\n  --ignore-case     fold them\n  --rye BAG         take it\n";
    let expected =
        ["--exclude BAG:Each", "--ignore-dir BIN:Each", "--ignore-below N:No", "--ignore-case", "--rye BAG:No"];
    assert_eq!(shown(page), expected);

    let page = "usage: mill\n\nOptions:\n  --exclude  Names to leave out [tmp]\n  --port  Port to use [8080]\n  --fine  Grind finely\n  \
                --loud  Say more\n  --dry  Only say it\n";
    let several = read(page, &[]).command.options.into_iter().filter_map(|flag| flag.value.map(|value| value.several));
    assert_eq!(several.collect::<Vec<_>>(), [Several::Each, Several::No]);
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
fn a_kind_among_values_leaves_them_open() {
    let page = "usage: mill\n\nOptions:\n  --wrap {keep,no,INTEGER}  how wide\n  --way {fine,coarse}  how\n";
    let values = read(page, &[]).command.options.into_iter().map(|flag| flag.value.and_then(|value| value.values));
    assert_eq!(values.map(|values| values.is_some()).collect::<Vec<_>>(), [false, true]);
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
fn long_options_may_leave_letters_out() {
    let page = "Usage: mill\n\nOptions:\n  -f, --grain[s]-file FILE  ...of these sacks\n  -c, --fine                 grind finely\n";
    assert_eq!(shown(page), ["--grains-file --grain-file -f FILE:No", "--fine -c"]);
    let page = "Usage: mill\n\nOptions:\n  -F, --mark[ed]-sacks SACK ...have none of them\n";
    assert_eq!(shown(page), ["--marked-sacks --mark-sacks -F SACK:No"]);
}
