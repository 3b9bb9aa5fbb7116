//! Subcommands, and what a page says of its program.

use super::*;

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
fn a_page_names_its_default_command() {
    let page = "Usage: mill [OPTIONS] COMMAND [ARGS]...\n\nCommands:\n  grind*  Grind\n  sift    Sift\n";
    let default = |page: &str| read(page, &[]).subcommands.into_iter().find(|command| command.is_default);
    assert_eq!(default(page).map(|command| command.name).as_deref(), Some("grind"));
    let page = "usage: mill [-h] {run,sift} ...\n\nsubcommands:\n  mill command to execute (by default run)\n\n  \
                {run,sift}\n    run (r)     run it\n    sift (s)    sift it\n";
    assert_eq!(default(page).map(|command| command.name).as_deref(), Some("run"));
}

#[test]
fn a_page_may_say_that_it_replaces_what_exists() {
    let replaces = |page: &str| read(page, &[]).command.replaces;
    assert!(replaces("usage: mill FILE\n\nArguments:\n  FILE  the sack. It will be overwritten\n"));
    assert!(!replaces("usage: mill FILE\n\nArguments:\n  FILE  the sack\n"));
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
fn descriptions_are_no_versions() {
    for page in ["mill: Mill v14.4.2\n\nUsage: mill [x]\n", "*** Mill 64-bits v1.9, by Ada ***\nUsage: mill [x]\n"] {
        assert_eq!(read(page, &[]).command.about, "", "{page}");
    }
    let manual = "MILL(1)\n\nNAME\n     mill — grind corn\n\nSYNOPSIS\n     mill [-r]\n\n     -r      Rye.\n";
    assert_eq!(read(manual, &[]).command.about, "grind corn");
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
fn operand_beside_subcommands_runs_the_command() {
    let page = "Usage:\n  menu new [path] [flags]\n  menu new [command]\n\nAvailable Commands:\n  site   Make a site\n\nFlags:\n  -k, --kind string   the kind\n";
    let page = read(page, &["new".to_owned()]);
    assert!(page.runs && page.subcommands.len() == 1);
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
fn commands_may_start_with_a_dash() {
    let page = "Mill of sacks\n\nCommands:\n\n -grind      Grinds a sack\n -sift-fine  Sifts flour\n\n\
                Say \"mill -command_name --help\" for the usage of one.\n";
    assert_eq!(commands(page), ["-grind: Grinds a sack", "-sift-fine: Sifts flour"]);
    assert_eq!(shown(page), Vec::<String>::new());
    // Switches with the title of commands.
    let other = page.replace("-command_name --help", "--help");
    assert_eq!((commands(&other), shown(&other)), (vec![], vec!["-grind".to_owned(), "-sift-fine".to_owned()]));

    let own = "mill -grind [OPTION]...\n\nGrinds a sack\n\nOptions:\n\n -sack <sack>  what to grind\n";
    let page = read(own, &["-grind".to_owned()]);
    let spellings: Vec<String> = page.command.options.into_iter().flat_map(|flag| flag.spellings).collect();
    assert_eq!(spellings, ["-sack"]);
    assert!(page.command.operands.is_empty(), "{:?}", page.command.operands);
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
fn whole_calls_below_a_usage_line_are_subcommands() {
    let page = "usage: mill [global] <group> [<group>...] <command> [<args>]\n\nGlobal options:\n  -v|--verbose  say more\n\n    \
                mill sack mend [options] <sack>\n        Mend a sack\n    mill sack drop <sack>\n        Drop it\n\n    \
                mill grind [options] <sack>\n        Grind it\n    mill sift <sack>\n        Sift it\n";
    let page = read(page, &[]);
    let names: Vec<&str> = page.subcommands.iter().map(|command| command.name.as_str()).collect();
    assert_eq!((names.as_slice(), page.runs), (&["sack", "grind", "sift"][..], false));
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
fn the_first_entry_may_share_the_line_of_its_heading() {
    let page = "Usage:   mill <command> <arguments>\n\nCommand: grind     grind the corn\n         sift      sift the flour\n\n         \
                weigh     weigh a sack\n";
    assert_eq!(commands(page), ["grind: grind the corn", "sift: sift the flour", "weigh: weigh a sack"]);
    let page =
        "Usage:   mill [options] <in.rye>\n\nOptions: -q FLOAT    how fine [0.5]\n         -l INT      how long\n";
    assert_eq!(shown(page), ["-q FLOAT:No", "-l INT:No", "in.rye!:No"]);
}

#[test]
fn dashes_lead_titles_of_commands() {
    let page = "Usage:   mill <command> [options]\n\nCommands:\n  -- Grinding\n     grind          grind the corn\n\n  -- Files\n     \
                sift           sift the flour\n";
    assert_eq!(commands(page), ["grind: grind the corn", "sift: sift the flour"]);
}

#[test]
fn sentences_below_usage_lines_are_no_operands() {
    let page = "Usage: mill --grind sack...\n            Grind a sack of corn.\n       mill --sift sack\n            sift \
                all of the flour\n";
    let operands: Vec<String> = shown(page).into_iter().filter(|own| !own.starts_with('-')).collect();
    assert!(operands.is_empty(), "{operands:?}");
}
