//! `climax import`: configs from the help of invented programs, in the styles of common frameworks.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use climax::catalog::{Cage, Catalog, Layer, Place, Risk, Source, ToolIndex, Type, compile};
use climax_import::{self as import, Command, Draft, Selection, clean, read};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::support::{climax, run};

/// Makes a program that prints the pages of `tests/import/NAME`: `a_b.txt` for `NAME a b --help`.
fn program(name: &str) -> (TempDir, PathBuf) {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import").join(name);
    scripted(
        name,
        &format!(
            r#"cd {}
words= way=
for word; do
  case $word in
    --help|-h|-a) way=$word ;;
    *) words=${{words:+${{words}}_}}$word ;;
  esac
done
test "$words$way" = help-a && words=list
test -f on_manual.txt && test "$way" = --help && words=${{words:+${{words}}_manual}}
cat "${{words:-help}}.txt" 2>/dev/null || {{ echo "no such thing: $*" >&2; exit 2; }}"#,
            pages.display()
        ),
    )
}

fn scripted(name: &str, script: &str) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    // The file is never open for writing in this process: a child of another test could inherit the descriptor.
    let source = directory.path().join("script");
    fs::write(&source, format!("#!/bin/sh\n{script}\n")).unwrap();
    assert!(std::process::Command::new("cp").args([&source, &path]).status().unwrap().success());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    (directory, path)
}

/// Returns the output of `import`, with `PROGRAM` for the path.
fn imported(name: &str, options: &[&str]) -> String {
    let (_directory, path) = program(name);
    let (status, stdout, stderr) = run(climax().arg("import").args(options).arg("--help-of").arg(&path));
    assert_eq!(status, 0, "{stderr}");
    catalog(&stdout);
    let directory = path.parent().unwrap();
    stdout.replace(path.to_str().unwrap(), "PROGRAM").replace(directory.to_str().unwrap(), "/DIRECTORY")
}

/// Compiles a draft, which must have no errors and no warnings.
fn catalog(yaml: &str) -> Catalog {
    let compiled = compile(&[Source::new("draft.yaml", yaml.as_bytes().to_vec()).unwrap()]);
    let compiled = compiled.unwrap_or_else(|found| panic!("{}\n{yaml}", found.render(climax::catalog::Style::Plain)));
    assert!(compiled.warnings.is_empty(), "{}", compiled.warnings.render(climax::catalog::Style::Plain));
    compiled.catalog
}

/// Drafts a config from commands.
fn draft(program: &str, about: &str, commands: &[Command]) -> Draft {
    import::draft(program, about, commands, "a page", &Selection::default())
}

#[test]
fn imports_each_style_of_help() {
    for (name, options) in [
        ("boxes", &[][..]),
        ("shelf", &[]),
        ("notes", &[]),
        ("trim", &[]),
        ("lamp", &["--all"]),
        ("stove", &[]),
        ("ladle", &[]),
    ] {
        insta::assert_snapshot!(format!("import_{name}"), imported(name, options));
    }
}

#[test]
fn manual_option_adds_options_of_manual_pages() {
    assert!(!imported("lamp", &[]).contains("--fade"));
    let with_manual = imported("lamp", &["--manual"]);
    assert!(with_manual.contains("--fade=") && with_manual.contains("--count="), "{with_manual}");
    assert_eq!(with_manual.matches("--brightness=").count(), 1);
}

#[test]
fn start_and_depth_limit_the_commands() {
    let (_directory, path) = program("shelf");
    let mut part = climax();
    let (_, stdout, _) = run(part.arg("import").arg("--help-of").arg(&path).args(["book", "lend"]));
    assert!(stdout.contains("command: book lend") && !stdout.contains("prune"), "{stdout}");
    let (_, stdout, stderr) = run(climax().args(["import", "--depth", "1", "--help-of"]).arg(&path));
    assert!(stdout.contains("shelf_prune") && !stdout.contains("lend"), "{stdout}");
    assert!(stderr.contains("2 more commands were not read: see --depth"), "{stderr}");
    let (_, _, stderr) = run(climax().args(["import", "--max-commands", "3", "--help-of"]).arg(&path));
    assert!(stderr.contains("2 more commands were not read"), "{stderr}");
}

#[test]
fn subcommands_with_repeated_help_end_the_import() {
    let (_directory, path) =
        scripted("loops", "printf 'Usage: loops COMMAND\\n\\nCommands:\\n  again  Once more\\n  no     The other\\n'");
    let (status, stdout, stderr) = run(climax().arg("import").arg("--help-of").arg(&path));
    assert_eq!(status, 0, "{stderr}");
    let index = ToolIndex::from_configs(vec![Layer::loaded(catalog(&stdout))]);
    let words: Vec<String> = index.tools().map(|tool| tool.words().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(words, ["again", "no"]);
    assert!(stdout.contains("guess: it has no help of its own"), "{stdout}");
}

#[test]
fn help_of_a_subcommand_may_be_printed_by_a_command_alone() {
    let (_directory, path) = scripted(
        "topics",
        "test \"$*\" = 'help again' && printf 'Usage: topics again [options] SACK\\n\\n  --twice  do it twice\\n' && exit\n\
         test \"$1 $3\" = 'help ' && echo More about topics\n\
         printf 'Usage: topics COMMAND\\n\\nCommands:\\n  again  Once more\\n  no     The other\\n'",
    );
    let (status, stdout, stderr) = run(climax().arg("import").arg("--help-of").arg(&path));
    assert_eq!(status, 0, "{stderr}");
    assert!(stdout.contains("flag: --twice") && stdout.contains("name: sack"), "{stdout}");
    assert!(stdout.contains("topics_no ") && !stdout.contains("topics_no_"), "{stdout}");
}

#[test]
fn reads_help_from_either_stream_without_input_or_pager() {
    let (_directory, path) = scripted(
        "quirky",
        "test \"$PAGER$MANPAGER$NO_COLOR\" = catcat1 || exit 9\nread line && exit 8\ntest \"$*\" = -h && printf 'usage: quirky <file>\\n\\n  -x  cross\\n' >&2\nexit 1",
    );
    let (status, stdout, stderr) = run(climax().arg("import").arg("--help-of").arg(&path));
    assert_eq!(status, 0, "{stderr}");
    assert!(
        stdout.contains("name: file, positional: true, description: Most calls need it") && stdout.contains("flag: -x"),
        "{stdout}"
    );
}

#[test]
fn import_errors_name_the_cause() {
    let (status, stdout, stderr) = run(climax().args(["import", "--help-of", "no-such-program-here"]));
    assert_eq!((status, stdout.as_str()), (1, ""));
    assert!(stderr.contains("Command not found: no-such-program-here; name a program that is on the PATH"), "{stderr}");
    let (_directory, path) = scripted("mute", "echo I say nothing that is of use");
    let (status, _, stderr) = run(climax().arg("import").arg("--help-of").arg(&path).arg("sub"));
    assert_eq!(status, 1);
    assert!(stderr.contains("mute sub --help` nor `") && stderr.contains("write the config by hand"), "{stderr}");
    assert_eq!(run(climax().arg("import")).0, 2);
}

#[test]
fn existing_config_is_not_overwritten() {
    let (directory, path) = program("trim");
    let output = directory.path().join("trim.yaml");
    let import = || run(climax().args(["import", "--output"]).arg(&output).arg("--help-of").arg(&path));
    let (status, stdout, stderr) = import();
    assert_eq!((status, stdout.as_str()), (0, ""), "{stderr}");
    let (status, validated, _) = run(climax().arg("validate").arg(&output));
    assert_eq!((status, validated.as_str()), (0, "valid: 2 tools, 0 warnings\n"));
    let (status, _, stderr) = import();
    assert_eq!(status, 1);
    assert!(stderr.contains("exists and may have been edited"), "{stderr}");
}

#[test]
fn hostile_pages_make_valid_configs() {
    let page = concat!(
        "\u{1b}[1mUsage:\u{1b}[0m p\u{8}p [OPTIONS] <\u{202e}file\u{0}> [[[[[[[[[[[[[[[[[[[[ <FILE> <file> {a,a} {} | | |\n",
        "Commands:\n  ../../etc  x\n  $(reboot)  x\n  ok  It's: \"fine\" # really\n  ok  twice\n  -x  y\n",
        "Options:\n  -a, --all  one\n  -a, --all  two\n  --no  {yes|no}\n  --\u{7}bell <017>  12:30\n  --=x  z\n  -- \n  -\n",
        "  --a.b[=c  d\n  --name: x\n  -a-b-c-d-e-f, -a, -a, -a\n  --é <ü>  ÿ\n  --x  [default: \n  --y  (default \n",
    );
    for text in
        [page.to_owned(), page.repeat(2_000), "-".repeat(1 << 20), "[".repeat(1 << 20), "  --a ".repeat(100_000)]
    {
        let page = read(&clean(&text), &[]);
        let about = page.command.about.clone();
        catalog(&draft("p", &about, &[page.command.clone(), page.command]).text);
    }
}

proptest! {
    #[test]
    fn any_page_makes_a_valid_config(pieces in prop::collection::vec(piece(), 0..60)) {
        let page = read(&clean(&pieces.concat()), &["sub".to_owned()]);
        for subcommand in &page.subcommands {
            prop_assert!(!subcommand.name.contains(char::is_whitespace) && !subcommand.name.starts_with('-'));
        }
        let about = page.command.about.clone();
        catalog(&draft("prog", &about, &[page.command]).text);
    }

    #[test]
    fn texts_survive_a_round_trip(about in "[^\\p{C}\\s]{1,3}(\\PC{0,12}[^\\p{C}\\s])?", word in "[^\\p{C}\\s]{1,8}") {
        let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
        let command = Command { words: vec![word.clone()], about: about.clone(), ..Command::default() };
        let catalog = catalog(&draft("prog", &about, &[command]).text);
        let index = ToolIndex::from_configs(vec![Layer::loaded(catalog)]);
        let tool = index.tools().next().unwrap();
        prop_assert_eq!(tool.words().collect::<Vec<_>>(), [word.as_str()]);
        let description = tool.description();
        let is_same = description == about || description.to_lowercase() == about.to_lowercase();
        prop_assert!(is_same, "{:?} became {:?}", about, description);
    }
}

/// Pieces of help pages, and other text.
fn piece() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] = &[
        "Usage: ",
        "prog sub ",
        "\n",
        "\n\n",
        "  ",
        "      ",
        "Options:\n",
        "Commands:\n",
        "Arguments:\n",
        "-a",
        "--all",
        ", ",
        " <FILE>",
        "=NUM",
        "[=WHEN]",
        "{a,b}",
        "...",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "|",
        "(default 3)",
        "[default: x]",
        "one of a, b or c",
        "[possible values: no, 017]",
        "or: ",
        "--",
        " -- ",
        "word",
        "--x=false:\n",
        "='':",
        "# ",
        ": ",
        "'",
        "\"",
        "COMMAND",
        "<command>",
        "...\n",
        "\t",
        "\u{8}",
        "--[no-]it",
        "list",
        "  list  Show\n",
        "NAME\nSYNOPSIS\n",
    ];
    prop_oneof![8 => prop::sample::select(KNOWN).prop_map(str::to_owned), 1 => "\\PC{0,6}"]
}

#[test]
fn derives_types_places_and_risks_from_help() {
    let index = ToolIndex::from_configs(vec![Layer::loaded(catalog(&imported("shelf", &[])))]);
    let lend = index.get("shelf_book_lend").unwrap();
    let arg = |name: &str| lend.args().find(|arg| arg.name() == name).unwrap_or_else(|| panic!("{name}"));
    assert_eq!((arg("title").place(), arg("title").required()), (Place::Positional, true));
    assert_eq!((arg("days").kind(), arg("days").flag()), (Type::Integer, "--days="));
    assert_eq!(arg("price").kind(), Type::Number);
    assert_eq!((arg("remind").place(), arg("remind").off()), (Place::Option, Some("--remind=false")));
    assert_eq!(arg("state").values().collect::<Vec<_>>(), ["new", "used", "very used"]);
    assert!(arg("to").required());
    // A default would be passed in every call.
    assert!(lend.args().all(|arg| arg.default().is_none()));
    assert_eq!(index.get("shelf_prune").unwrap().risk(), Risk::Destructive);
    assert_eq!(index.get("shelf_book_ls").unwrap().risk(), Risk::Read);
    assert!(index.get("shelf_book_ls").unwrap().args().all(|arg| arg.name() != "web"));
}

#[cfg(feature = "import-usage")]
#[test]
fn imports_a_usage_specification() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("lid.usage.kdl");
    let spec = r#"
name "Lid"
bin "lid"
about "Opens and closes"
flag "-q --quiet" help="Say nothing" global=#true
cmd "jar" help="Jars" subcommand_required=#true {
  cmd "open" help="Open a jar" effect="destructive" {
    flag "--turn <n>" help="How often" default="2"
    flag "--way <way>" required=#true { choices "left" "right" }
    arg "<jar>" help="Which"
    arg "[more]" var=#true
  }
  cmd "secret" hide=#true { flag "--x" }
}
"#;
    fs::write(&file, spec).unwrap();
    let (status, stdout, stderr) = run(climax().args(["import", "usage"]).arg(&file));
    assert_eq!(status, 0, "{stderr}");
    catalog(&stdout);
    insta::assert_snapshot!("import_usage", stdout.replace(file.to_str().unwrap(), "FILE"));
    fs::write(&file, "cmd \"open\" {\n  flg \"--x\"\n}\n").unwrap();
    let (status, _, stderr) = run(climax().args(["import", "usage"]).arg(&file));
    assert_eq!(status, 1);
    assert!(stderr.contains("cannot read") && stderr.contains("flg"), "{stderr}");
}

#[test]
fn listings_are_read_without_aliases_and_titles() {
    let listing = "Some\n    add, a       x\n    b    alias: build\n    build    Make it\n   -x   no\n";
    let names: Vec<String> = import::read_listing(listing).into_iter().map(|command| command.name).collect();
    assert_eq!(names, ["build"]);
}

/// Imports a page as the help of a program that prints its arguments. Returns what `call` prints for `args`, by lines.
fn called(page: &str, tool: &str, options: &[&str], args: &str) -> Result<Vec<String>, String> {
    let script = format!("case $1 in --help) cat <<'END'\n{page}\nEND\n;; *) printf '%s\\n' \"$@\" ;; esac");
    let (directory, path) = scripted(tool, &script);
    let config = directory.path().join("draft.yaml");
    let (status, _, stderr) =
        run(climax().arg("import").args(options).arg("--output").arg(&config).arg("--help-of").arg(&path));
    assert_eq!(status, 0, "{stderr}");
    let mut call = climax();
    call.args(["call", tool, "--args", args, "--only", "--config"]).arg(&config);
    let (status, stdout, stderr) = run(&mut call);
    if status == 0 { Ok(stdout.lines().map(str::to_owned).collect()) } else { Err(stdout + &stderr) }
}

/// Joins lines by spaces, with quotes around those that have any.
fn shown(lines: &[String]) -> String {
    let quoted = lines.iter().map(|line| if line.contains(' ') { format!("'{line}'") } else { line.clone() });
    quoted.collect::<Vec<_>>().join(" ")
}

#[test]
fn drafted_tools_make_the_command_lines_of_the_help() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import/stove/help.txt")).unwrap();
    let line = |args: &str| called(&page, "stove", &[], args).map(|lines| shown(&lines));
    for (args, expected) in [
        (r#"{"wood": true, "dish": "soup", "pan": ["a", "b c"]}"#, "--wood soup a 'b c'"),
        (r#"{"gas": true, "dish": "soup", "stir": 2, "lid": false}"#, "--stir --stir --gas --no-lid soup"),
        (r#"{"gas": true, "dish": "soup", "salt": false, "add": ["a", "b"]}"#, "--gas --add=a --add=b --no-salt soup"),
        (
            r#"{"gas": true, "dish": "soup", "taste": {"salt": "1", "oil": "2"}}"#,
            "--gas --taste=salt=1 --taste=oil=2 soup",
        ),
        (r#"{"gas": true, "dish": "soup", "swap": {"oil": "fat"}}"#, "--gas --swap oil fat soup"),
        (r#"{"gas": true, "dish": "soup", "heat": ["1", "9", "2"]}"#, "--gas --heat 1 9 2 soup"),
        (
            r#"{"gas": true, "dish": "soup", "herbs": ["a", "b"], "like": ["x", "y"]}"#,
            "--gas --herbs=a,b --like=x --like=y soup",
        ),
    ] {
        assert_eq!(line(args).as_deref(), Ok(expected), "{args}");
    }
    for (args, expected) in [
        (r#"{"dish": "soup"}"#, "Give exactly one of: gas, wood"),
        (r#"{"gas": true, "wood": true, "dish": "soup"}"#, "Give exactly one of: gas, wood"),
        (r#"{"gas": true, "dish": "soup", "order": "size"}"#, "'order' must be one of: name, time"),
        (r#"{"gas": true, "dish": "soup", "heat": ["1"]}"#, "'heat': 1 items, the least is 3"),
    ] {
        let error = line(args).unwrap_err();
        assert!(error.contains(expected), "{args}: {error}");
    }
}

#[test]
fn lines_are_read_from_drafts_of_programs_with_commands() {
    let script = "case $* in\n\
        'grind --help') echo 'Usage: mill grind [OPTIONS] SACK'; echo; echo 'Options:'; \
          echo '  --fine [level]     How fine'; echo '  -P, --pair <KEY> <VALUE>  Set one';;\n\
        'run --help') echo 'Usage: mill run [options] [--] <args>...'; echo; echo 'Options:'; echo '  -q, --quick  Be quick';;\n\
        --help) echo 'Usage: mill [OPTIONS] COMMAND [ARGS]...'; echo; echo 'Options:'; \
          echo '  -A, --app NAME  The mill'; echo '  --debug  Say more'; echo '  --help  Show this'; echo; \
          echo 'Commands:'; echo '  grind*     Grind a sack [aliases: g]'; echo '  run        Run a program';;\n\
        esac";
    let (directory, path) = scripted("mill", script);
    let config = directory.path().join("draft.yaml");
    let drafted = run(climax().arg("import").arg("--output").arg(&config).arg("--help-of").arg(&path));
    assert_eq!(drafted.0, 0, "{}", drafted.2);

    let read = |line: &str| {
        let mut translate = climax();
        translate.args(["translate", "--only", "--unknown", "refuse", "--json", "--config"]).arg(&config);
        let (_, stdout, _) = run(translate.arg(line));
        let call: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        let stage = &call["stages"][0];
        if stage.is_null() { stdout } else { format!("{} {}", stage["tool_name"].as_str().unwrap(), stage["args"]) }
    };
    for (line, expected) in [
        ("mill -A x --debug grind s", r#"mill_grind {"app":"x","debug":true,"sack":"s"}"#),
        ("mill grind --help", r#"mill_help {"words":["grind"]}"#),
        ("mill g s", r#"mill_grind {"sack":"s"}"#),
        ("mill s", r#"mill {"sack":"s"}"#),
        ("mill --app x s --fine", r#"mill {"app":"x","fine":true,"sack":"s"}"#),
        ("mill grind --fine 3 s", r#"mill_grind {"fine_value":"3","sack":"s"}"#),
        ("mill grind s --fine -P a b", r#"mill_grind {"fine":true,"pair":{"a":["b"]},"sack":"s"}"#),
        ("mill run -q cook -x", r#"mill_run {"args":["-x"],"program":"cook","quick":true}"#),
    ] {
        assert_eq!(read(line), expected, "{line}");
    }
    assert!(read("mill grind --app x s").contains("`--app` is no option here"), "{}", read("mill grind --app x s"));
}

#[test]
fn words_of_another_program_are_a_rest() {
    let page = "Usage: stove [OPTIONS] <PAN> [COMMAND] [ARGS]...\n\nOptions:\n  -q, --quick  Be quick\n";
    let lines = called(page, "stove", &[], r#"{"quick": true, "pan": "p", "command": ["cook", "-x", "--", "y"]}"#);
    assert_eq!(lines.map(|lines| shown(&lines)).as_deref(), Ok("--quick p cook -x -- y"));
    let page = "Usage: stove [OPTION] [PAN] COMMAND [ARG]...\n  or:  stove --list\n\n  -q, --quick  Be quick\n";
    let lines = called(page, "stove", &[], r#"{"pan": "p", "command": "cook", "arg": ["-x"]}"#);
    assert_eq!(lines.map(|lines| shown(&lines)).as_deref(), Ok("p cook -x"));
    let page = "Usage: stove [OPTIONS] [ARGS]...\n\nArguments:\n  [ARGS]...  Arguments for the dish\n\nOptions:\n  -q, --quick  Be quick\n";
    let lines = called(page, "stove", &[], r#"{"quick": true, "args": ["-x"]}"#);
    assert_eq!(lines.map(|lines| shown(&lines)).as_deref(), Ok("--quick -- -x"));
}

#[test]
fn useful_options_are_published() {
    let tool = |options: &[&str]| {
        let index = ToolIndex::from_configs(vec![Layer::loaded(catalog(&imported("stove", options)))]);
        let tool = index.tools().next().unwrap();
        let published = tool.args().filter(|arg| arg.is_shown()).map(|arg| arg.name().to_owned());
        (published.collect::<Vec<_>>(), tool.args().count())
    };
    let (all, known) = tool(&["--main", "100"]);
    // Standard input is not published.
    assert_eq!(all.len() + 1, known);
    let (two, same) = tool(&["--main", "2"]);
    assert_eq!((two.join(" ").as_str(), same), ("dish pan stir add cwd", known));
    let (kept, more) = tool(&["--main", "0", "--keep", "--plate,help"]);
    assert_eq!((kept.join(" ").as_str(), more), ("dish pan plate help cwd", known + 1));
}

#[test]
fn only_reads_the_named_subcommands() {
    let (_directory, path) = program("shelf");
    let only = |names: &str| run(climax().args(["import", "--only", names, "--help-of"]).arg(&path));
    let (status, stdout, stderr) = only("book lend");
    assert_eq!(status, 0, "{stderr}");
    assert!(stdout.contains("shelf_book_lend") && !stdout.contains("book_ls") && !stdout.contains("prune"), "{stdout}");
    let (_, stdout, _) = only("book,prune");
    assert!(stdout.contains("shelf_book_ls") && stdout.contains("shelf_prune"), "{stdout}");
    let (status, _, stderr) = only("book lent");
    assert_eq!(status, 1);
    assert!(stderr.contains("names no such subcommand; did you mean `book lend`?"), "{stderr}");
    let (_, _, stderr) = only("sell-everything");
    assert!(stderr.contains("it names book, prune"), "{stderr}");
}

#[test]
fn slow_help_is_announced() {
    let (_directory, path) = scripted("slow", "sleep 1.5; printf 'usage: slow <file>\\n\\n  -x  cross\\n'");
    let (status, _, stderr) = run(climax().args(["import", "--help-of"]).arg(&path));
    assert_eq!(status, 0, "{stderr}");
    assert!(stderr.contains("climax: read the help of 0 of 1 commands; started last: `"), "{stderr}");
}

#[test]
fn longer_help_is_read_where_the_help_names_it() {
    let (_directory, path) = scripted(
        "long",
        "case \"$*\" in 'help cook') printf 'Usage: long cook <dish>\\n\\nOptions:\\n  --all  All\\n  --add <a>  May be given multiple times\\n' ;;\n\
         'cook --help') printf 'Usage: long cook <dish>\\n\\nOptions:\\n  --all  All\\n  --add <a>  Add\\n\\nUse `long help cook` for more details.\\n' ;;\n\
         *) printf 'Usage: long <COMMAND>\\n\\nCommands:\\n  cook  Cook\\n' ;; esac",
    );
    let (status, stdout, stderr) = run(climax().args(["import", "--help-of"]).arg(&path));
    assert_eq!(status, 0, "{stderr}");
    assert!(stdout.contains("flag: --add=, list: true"), "{stdout}");
}

#[test]
fn only_what_no_cage_holds_has_options_of_a_higher_risk() {
    let drafted = |command: &str| {
        let page = format!(
            "Usage: stove {command} [OPTIONS] <DISH>\n\nOptions:\n  --plate <FILE>  Write the result to this file\n  \
             --exec <CMD>  Execute CMD for each\n  --sort <KEY>  Sort by it\n  --delete  Delete what is found\n"
        );
        let page = read(&clean(&page), &[command.to_owned()]);
        ToolIndex::from_configs(vec![Layer::loaded(catalog(&draft("stove", "", &[page.command]).text))])
    };
    let risks = |index: &ToolIndex| {
        let tool = index.tools().next().unwrap();
        let risks = tool.args().map(|arg| (arg.name().to_owned(), arg.risk().highest()));
        risks.filter(|(_, risk)| risk.is_some()).collect::<Vec<_>>()
    };

    let caged = drafted("find");
    let tool = caged.tools().next().unwrap();
    assert_eq!((tool.risk(), tool.needs().and_then(|needs| needs.cage)), (Risk::Read, Some(Cage::Read)));
    assert_eq!(risks(&caged), []);

    let page = read(&clean("Create jars\n\nUsage: stove [OPTIONS] <DISH>\n\nOptions:\n  --force  Force it\n"), &[]);
    let about = page.command.about.clone();
    let program = ToolIndex::from_configs(vec![Layer::loaded(catalog(&draft("stove", &about, &[page.command]).text))]);
    let tool = program.tools().next().unwrap();
    assert_eq!((tool.risk(), tool.needs().and_then(|needs| needs.cage)), (Risk::Write, Some(Cage::Workspace)));
    assert_eq!(risks(&program), []);

    let free = drafted("add");
    let tool = free.tools().next().unwrap();
    assert_eq!((tool.risk(), tool.needs()), (Risk::Write, None));
    let expected = ["plate", "exec", "delete"].map(|name| (name.to_owned(), Some(Risk::Destructive)));
    assert_eq!(risks(&free), expected);
}

#[test]
fn a_program_is_read_in_a_cage_with_a_home_of_its_own() {
    let (directory, path) = scripted(
        "nosy",
        "echo x > \"$HOME/mark\" && echo home >&2; touch \"$(dirname \"$0\")/mark\"; printf 'usage: nosy <file>\\n\\n  -x  %s\\n' \"$SECRET\"",
    );
    let home = tempfile::tempdir().unwrap();
    let mut import = climax();
    import.env("HOME", home.path()).env("SECRET", "hush").args(["import", "--help-of"]).arg(&path);
    let (status, stdout, stderr) = run(&mut import);
    assert_eq!(status, 0, "{stderr}");
    assert!(!home.path().join("mark").exists());
    if climax::exec::Isolation::here().is_some() {
        assert!(!directory.path().join("mark").exists() && !stdout.contains("hush"), "{stdout}");
    }
}

#[test]
fn commands_that_know_no_help_print_usage_lines_in_a_cage() {
    let (_directory, path) = scripted(
        "mill",
        r#"case "$*" in
'') printf 'Usage:   mill <command> <arguments>\n\nCommand: grind   grind the corn\n         sift    sift the flour\n' ;;
grind) printf 'Usage:   mill grind [options] <in.rye>\n\nOptions: -q FLOAT   how fine\n' ;;
*) echo "unknown: $1" ;;
esac >&2"#,
    );
    let (status, stdout, stderr) = run(climax().args(["import", "--help-of"]).arg(&path));
    if climax::exec::Isolation::here().is_some() {
        assert_eq!(status, 0, "{stderr}");
        assert!(stdout.contains("flag: -q") && stdout.contains("name: in_rye"), "{stdout}");
    } else {
        assert_ne!(status, 0, "{stdout}");
    }
}

#[test]
fn init_drafts_many_programs_and_writes_nothing_over() {
    let (_one, shelf) = program("shelf");
    let (_two, mute) = scripted("mute", "echo I say nothing that is of use");
    let directory = tempfile::tempdir().unwrap();
    let configs = directory.path().join("configs");
    let init = || run(climax().arg("init").arg(&shelf).arg(&mute).arg("git").arg("--dir").arg(&configs));

    let (status, stdout, stderr) = init();
    assert_eq!(status, 1, "{stderr}");
    let row =
        |name: &str| stdout.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {stdout}"));
    assert!(
        row("shelf").contains("help") && row("shelf").contains("caged") && row("shelf").contains("guess"),
        "{stdout}"
    );
    assert!(row("mute").contains("no draft: neither `"), "{stdout}");
    assert!(row("git").contains("bundled") && !configs.join("git.yaml").exists(), "{stdout}");
    assert!(stdout.contains("1 program with") && stdout.contains("2 without a draft"), "{stdout}");

    let file = configs.join("shelf.yaml");
    fs::write(&file, "mine").unwrap();
    let (_, stdout, _) = init();
    assert!(stdout.contains("shelf.yaml exists") && fs::read_to_string(&file).unwrap() == "mine", "{stdout}");
    let (status, _, stderr) = run(climax().args(["init", "git"]).current_dir(directory.path()));
    assert_eq!((status, directory.path().join("git.yaml").exists()), (1, false));
    assert!(stderr.contains("git is bundled"), "{stderr}");
}

#[test]
fn init_says_what_a_newer_version_changed() {
    let directory = tempfile::tempdir().unwrap();
    let page = |text: &str| {
        let script = format!("#!/bin/sh\ntest \"$*\" = --help && printf '{text}'\n");
        let (source, path) = (directory.path().join("script"), directory.path().join("jar"));
        fs::write(&source, script).unwrap();
        assert!(std::process::Command::new("cp").args([&source, &path]).status().unwrap().success());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let path = page("Usage: jar [OPTIONS] [FILE]\n\nOptions:\n  --lid <L>  Lid\n  --red  Red\n  --old  Old\n");
    let (status, _, stderr) =
        run(climax().arg("init").arg(&path).arg("--output").arg(directory.path().join("jar.yaml")));
    assert_eq!(status, 0, "{stderr}");
    let check = || run(climax().args(["init", "--check", "jar", "--dir"]).arg(directory.path()));
    assert_eq!(check().0, 0, "{:?}", check());

    page("Usage: jar [OPTIONS] [FILE]\n\nOptions:\n  --lid <L>  Lid\n  --red <HUE>  Red\n  --new  New\n");
    let (status, stdout, stderr) = check();
    assert_eq!(status, 1, "{stderr}");
    let changes: Vec<&str> = stdout.lines().filter_map(|line| line.split_once(" --").map(|(_, rest)| rest)).collect();
    assert_eq!(changes, ["red: takes a value now", "new: New", "old"], "{stdout}");
}

#[test]
fn init_prints_a_task_that_adds_phrases() {
    let (_directory, path) = program("shelf");
    let configs = tempfile::tempdir().unwrap();
    let (status, _, stderr) = run(climax().arg("init").arg(&path).arg("--dir").arg(configs.path()));
    assert_eq!(status, 0, "{stderr}");
    let (status, stdout, _) = run(climax().args(["init", "--phrases", "--dir"]).arg(configs.path()));
    assert!(status == 0 && stdout.contains("- shelf_prune: ") && stdout.contains("validate --lint"), "{stdout}");
}

#[test]
fn init_reads_only_the_programs_of_a_history() {
    let (directory, _) = program("shelf");
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(".bash_history"), "shelf hush-hush\nA=1 git log\n./x y\nno-such-program\n").unwrap();
    let configs = home.path().join("configs");
    let path = format!("{}:{}", directory.path().display(), std::env::var("PATH").unwrap());
    let mut init = climax();
    init.env("HOME", home.path())
        .env_remove("HISTFILE")
        .env("PATH", path)
        .args(["init", "--used", "--dir"])
        .arg(&configs);
    let (status, stdout, stderr) = run(&mut init);
    assert_eq!(status, 0, "{stderr}");
    let written: Vec<_> = fs::read_dir(&configs).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(written, ["shelf.yaml"]);
    assert!(!stdout.contains("hush") && !stderr.contains("hush"), "{stdout}{stderr}");
}
