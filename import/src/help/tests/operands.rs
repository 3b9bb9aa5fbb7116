//! Usage lines and operands.

use super::*;

#[test]
fn usage_lines_need_no_heading() {
    assert_eq!(shown("mill [options] grain.txt [grain.txt]\n\n  --rye  take rye\n"), ["--rye", "grain.txt!:Each"]);
}

#[test]
fn usage_lines_of_one_line_are_parted() {
    let page =
        "Usage: mill [sacks...] [options] | mill [command] [options]\n\nOptions\n───────\n  --fine  grind finely\n";
    assert_eq!(shown(page), ["--fine", "sacks:Each"]);
}

#[test]
fn two_plain_words_of_the_only_line_are_operands() {
    let page = "Usage:\n  mill --help | --version\n  mill --list\n  mill sackname outname [options...] [more...]\n\n  --list  list\n";
    let page = read(page, &[]);
    assert!(page.subcommands.is_empty() && page.runs);
    assert_eq!(page.command.operands.len(), 3, "{:?}", page.command.operands);
}

#[test]
fn values_without_names_are_known_by_their_descriptions() {
    let page = "Usage: mill\n\nOptions:\n  --config  Path to config file\n  --port  Port to use [8080]\n  --list  Show all [true]\n  \
                --all  Every sack [DEFAULT]\n  \
                --bail  Stop at once\n  --grep  Only run this string\n  --fast  Be fast\n";
    assert_eq!(shown(page), ["--config :No", "--port :No", "--list", "--all", "--bail", "--grep :No", "--fast"]);
}

#[test]
fn operands_need_no_description() {
    let page = "usage: mill [-h] [SACK] [PATH]\n\npositional arguments:\n  SACK\n  PATH        where to put it\n";
    assert_eq!(shown(page), ["-h", "SACK:No", "PATH:No"]);
    assert_eq!(shown("usage: mill SACK /path/to/mill [flags]\n"), ["SACK!:No", "mill!:No"]);
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
fn operands_with_a_sign_among_them_stay_together() {
    let forms = |usage: &str| read(&format!("Usage: {usage}\n\n  -q  say less\n"), &["note".to_owned()]).command.forms;
    assert_eq!(
        forms("mill note [OPTIONS] [DAY [TITLE] [:: TEXT]]").as_deref(),
        Some("note [OPTIONS] [DAY [TITLE] [:: TEXT]]")
    );
    assert_eq!(forms("mill note [OPTIONS] [DAY [TITLE] [TEXT]]"), None);
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
fn spelling_in_brackets_before_the_description_is_an_alias() {
    let page = "Usage: dye [options]\n\n  -b          (-blue)      Dye it blue\n  -c FMT      (-coat)      Coat it\n";
    assert_eq!(shown(page), ["-b -blue", "-c -coat FMT:No"]);
}

#[test]
fn repeated_options_and_aliases_are_known_by_their_descriptions() {
    let page = "usage: mill\n\nOptions:\n  -E, --extra=IT     More of it (multiple values allowed)\n  --arguments ARGS   Pass \
                them (Alias: --ppa)\n  -v, --loud count   Say more (repeat for more)\n";
    assert_eq!(shown(page), ["--extra -E IT:Each", "--arguments --ppa ARGS:No", "--loud -v"]);
    assert!(read(page, &[]).command.options[2].counts);
}

#[test]
fn letters_are_parted_from_names_that_descriptions_use() {
    let page = "usage: mill [-a] [-mname] [-Tbag] [-Crest] [sacks...]\n\n-a      grind all\n-mname  read mill.name\n-Tbag   use this \
                bag\n-Crest  leave the rest\n-top    on top\n";
    assert_eq!(shown(page), ["-a", "-m name:No", "-T bag:No", "-C rest:No", "-top", "sacks:Each"]);
    assert_eq!(shown("usage: mill\n\n-Tbag   use this bag\n-top    on top\n"), ["-Tbag", "-top"]);
}

#[test]
fn usage_lines_may_break_inside_of_brackets() {
    let page = "Usage: mill [--fine] [--way=\n<WAY>]... [\n--since=DAY] [SACK]...\n\nOptions:\n  --fine  finely\n";
    assert_eq!(shown(page), ["--fine", "--way WAY:No", "--since DAY:No", "SACK:Each"]);
}

#[test]
fn operands_may_be_nouns_of_two_words() {
    assert_eq!(shown("Usage:\n  mill [options] [grain sacks]\n"), ["grain-sacks:Each"]);
    let page = "Usage: mill [options] [sacks|files|stones...]\n\nArguments:\n  sacks|files|stones  what to take\n\nOptions:\n  --fine  finely\n";
    assert_eq!(shown(page), ["--fine", "sacks|files|stones:Each"]);
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
fn descriptions_in_the_plural_are_of_options_that_may_stand_several_times() {
    let page =
        "usage: mill\n\nOptions:\n  --sack TEXT  Sacks to mend\n  --bag TEXT   Bag to mend\n  --dust TEXT  Dusts\n";
    assert_eq!(shown(page), ["--sack TEXT:Each", "--bag TEXT:No", "--dust TEXT:Each"]);
}

#[test]
fn options_and_operands_of_one_choice_keep_their_order() {
    let page = "Usage: mill [OPTION | SACK | MARK]...\n\nOptions:\n  --fine  grind finely\n";
    let page = read(page, &[]);
    assert!(page.command.operands.iter().any(|own| own.rest), "{:?}", page.command.operands);
}

#[test]
fn kinds_of_options_are_no_operands() {
    assert_eq!(shown("Usage: mill [mill options] <sack(s)>\n\n  --fine  grind finely\n"), ["--fine", "sack!:Each"]);
}

#[test]
fn the_longest_of_alternative_operands_counts() {
    assert_eq!(
        shown("Usage: mill [ [GRAIN] | ORDER [SACK]... ]\n\n  --fine  grind finely\n")[1..],
        ["ORDER:No", "SACK:Each"]
    );
}

#[test]
fn kinds_of_files_are_no_values() {
    assert_eq!(read("Usage: mill <sack.rye|sack.oat>\n", &[]).command.operands[0].value.values, None);
}

#[test]
fn two_options_of_a_usage_line_have_values() {
    let page = "Usage:   mill [OPTIONS] -in <sack> -out <bag/box>\n\nOptions:\n  -in    The sack\n  -out   The bag\n  -rye   Take \
                rye\n  -oat   Take oat\n  -s     Sift it\n";
    assert_eq!(shown(page), ["-in sack:No", "-out bag/box:No", "-rye", "-oat", "-s"]);
}
