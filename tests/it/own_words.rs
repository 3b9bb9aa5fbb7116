//! What was said is what runs: a line runs its own words, and what a policy took away is refused by its name.

use climax::call::arguments::Input;
use climax::catalog::{ArgView, Layer, ToolIndex, policy};
use serde_json::{Value, json};

use crate::lines::read_words;
use crate::support::{Server, fake_config, fakecli, index, text};

/// Reads words with the tools of an index, and returns what would run.
fn runs(index: &ToolIndex, words: &[&str]) -> Vec<String> {
    let reading = read_words(index, words).unwrap_or_else(|unread| panic!("{words:?}: {}", unread.problem));
    let bound = reading.bind(Input::Nothing).unwrap();
    reading.plan(&bound, &|_| None, &|_, _| None).argv
}

#[test]
fn words_of_bundled_programs_run_as_they_are_typed() {
    let index = ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]);
    for line in [
        "tar -cf o.tar -C d x -C .. a --force-local",
        "cut -f1 -f2",
        "find . -mtime -1 -ls -type l",
        "sort -k 2 -k 1 -r f",
        "head -c 3 -n 2 f",
        "git rev-parse X --abbrev-ref",
        "git --version",
        "cargo -V",
        "gh --version",
        "jq -r .a -c f",
        "ffmpeg -hide_banner -loglevel error -ss 5 -i a.mp4 -t 3 b.mp4",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let ran: Vec<String> = runs(&index, &words).into_iter().filter(|word| word != "-nostdin").collect();
        assert_eq!(ran.join(" "), line);
    }
}

#[test]
fn words_of_a_config_stand_where_calls_have_them() {
    let index = index(
        "command: prog --context staging sub\nalways: --no-pager\nglobal_args: [{name: region, default: eu}]\ntools:\n  \
         - {name: t, description: T, command: show, risk: read, always: --no-color, args: [{name: n, type: integer, \
         aliases: [-n]}, {name: path, positional: true}]}\n  \
         - {name: u, description: U, command: \"put {options} -- {path}\", risk: write, always: --quiet, args: \
         [{name: force, type: boolean, aliases: [-f]}, {name: path, list: true, positional: true}]}\n",
    );
    for (line, expected) in [
        ("prog sub show", "prog sub --context staging --no-pager show --no-color --region eu"),
        ("prog sub show a -n 3", "prog sub --context staging --no-pager show a --no-color --region eu -n 3"),
        ("prog sub show -n 3 -n 4 a", "prog sub --context staging --no-pager show --no-color --region eu -n 3 -n 4 a"),
        (
            "prog --context=staging sub show --no-color",
            "prog --context=staging sub --no-pager show --region eu --no-color",
        ),
        ("prog sub put a -f -- -b", "prog sub --context staging --no-pager put --quiet --region eu a -f -- -b"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(runs(&index, &words).join(" "), expected, "{line}");
    }
    let git = ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]);
    assert_eq!(runs(&git, &["git", "-C", "a", "log"])[..3], ["git", "-C", "a"]);
    for line in [&["git", "-C", "~/a", "log"][..], &["git", "-C", "a", "-C", "b", "log"]] {
        assert!(read_words(&git, line).is_err(), "{line:?}");
    }
    let unread = read_words(&index, &["prog", "--context", "prod", "sub", "show"]).unwrap_err();
    assert!(unread.problem.contains("the config adds `--context staging`"), "{}", unread.problem);
}

#[test]
fn forms_that_are_served_are_named() {
    let index = index(
        "command: p\ntools: [{name: a, description: A, command: docs --no-browser}, \
         {name: b, description: B, command: docs --list}]\n",
    );
    let unread = read_words(&index, &["p", "docs", "x"]).unwrap_err();
    assert_eq!(unread.problem, "this is served as `p docs --no-browser`, `p docs --list` alone");
}

#[test]
fn base_commands_that_name_another_program_have_to_be_typed() {
    let index = index("command: python3 -m http\ntools: [{name: t, description: T, command: serve}]\n");
    assert!(read_words(&index, &["python3", "serve"]).is_err());
    assert_eq!(runs(&index, &["python3", "-m", "http", "serve"]).join(" "), "python3 -m http serve");
}

#[test]
fn values_that_a_program_could_take_for_options_are_refused() {
    let index = index(
        "command: p\ntools: [{name: t, description: T, risk: read, args: [{name: relative, flag: --relative=}, \
         {name: label, flag: --label}, {name: size, flag: --size=, aliases: [-s]}]}]\n",
    );
    for line in [&["p", "--relative", "--output=f"][..], &["p", "-s", "-o"], &["p", "-s", "--output=f"]] {
        let unread = read_words(&index, line).unwrap_err();
        assert!(unread.problem.contains("could take"), "{line:?}: {}", unread.problem);
    }
    for line in [&["p", "--relative=--output=f"][..], &["p", "--label", "--x"], &["p", "-s", "-2G"]] {
        assert_eq!(runs(&index, line), line);
    }
}

#[test]
fn no_option_that_lines_take_undoes_one_that_a_config_adds() {
    let index = ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]);
    let opposite = |word: &str| match word.strip_prefix("--no-") {
        Some(name) => format!("--{name}"),
        None => word.replacen("--", "--no-", 1),
    };
    let name = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
    let mut undone = Vec::new();
    for tool in index.tools() {
        let added: Vec<String> = tool.cli().always().chain(tool.always()).map(name).collect();
        for arg in tool.args() {
            let flag = [arg.flag_words(), arg.off_words()].concat();
            let spelled = flag.iter().map(|word| name(word)).chain(arg.aliases().map(name));
            // Colours harden nothing, and every editor of git is `true`.
            let is_harmless = |word: &str| matches!(word, "--color" | "--edit");
            let undoing =
                spelled.filter(|word| !is_harmless(word) && word.starts_with("--") && added.contains(&opposite(word)));
            undone.extend(undoing.map(|word| format!("{}: {word}", tool.name())));
        }
    }
    assert!(undone.is_empty(), "{undone:#?}");
}

#[test]
fn variables_that_harden_hold_in_lines() {
    let index = ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]);
    let reading = read_words(&index, &["git", "log", "-n", "1"]).unwrap();
    let bound = reading.bind(Input::Nothing).unwrap();
    let line = reading.plan(&bound, &|_| None, &|_, _| None).env;
    let called = climax::call::arguments::bind(reading.tool, &reading.arguments).unwrap();
    let call = climax::call::command_line::plan(reading.tool, &called, &|_| None).env;
    assert_eq!(line, call);
    assert!(line.iter().any(|(name, _)| name == "GIT_NO_LAZY_FETCH"), "{line:?}");
}

const TOOLS: &str = "
  - name: send
    description: Send a request
    command: argv
    risk: read
    args:
      - {name: request, flag: -X, aliases: [--request], enum: [GET, DELETE], risk: {GET: read, else: destructive}}
      - {name: force, type: boolean, risk: destructive}
      - {name: words, list: true, positional: true, risk: write}
";

/// Starts a server of these tools under a policy, with `climax_call` and `climax_run`.
fn server(policy: &str) -> (tempfile::TempDir, Server) {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    std::fs::write(at("fake.yaml"), fake_config(TOOLS)).unwrap();
    std::fs::write(at("policy.yaml"), policy).unwrap();
    let options = ["--meta", "call,run,read", "--config", &at("fake.yaml"), "--policy", &at("policy.yaml")];
    let server = Server::start(&options);
    (directory, server)
}

#[test]
fn args_that_a_policy_takes_away_are_refused_by_name() {
    let policies = ["default: disabled\ntools: {send: {}}\n", "default: disabled\nallow: [send]\n"];
    let denied = "tools: {send: {args: {request: deny, force: deny, words: deny}}}\ndefault: enabled\n";
    let program = fakecli().display().to_string();
    for policy in policies.into_iter().chain([denied]) {
        let (_directory, mut server) = server(policy);
        for (arguments, name) in [
            (json!({ "request": "DELETE" }), "request"),
            (json!({ "force": true }), "force"),
            (json!({ "words": ["a"] }), "words"),
        ] {
            let result = server.call("send", arguments.clone());
            let expected = format!("Policy validation failed:\n  - Argument '{name}': not permitted by the policy");
            assert_eq!(text(&result), expected, "{policy}: {arguments}");
            assert_eq!(result["structuredContent"]["error"]["code"], "policy_denied");
        }
        assert_ne!(server.call("send", json!({ "force": false, "words": null }))["isError"], true);
        for (words, option) in
            [("-X DELETE", "-X"), ("--request=GET", "--request"), ("--force", "--force"), ("a", "words")]
        {
            let result = server.tool("climax_run", json!({ "command": format!("{program} argv {words}") }));
            let expected = format!("the policy does not permit `{option}` of send");
            assert!(text(&result).contains(&expected), "{policy}: {words}: {result}");
            assert_eq!(result["structuredContent"]["error"]["code"], "policy_denied");
        }
        // Their names are offered to nobody.
        let misspelt = server.call("send", json!({ "reqest": "GET" }));
        assert!(!misspelt.to_string().contains("request"), "{misspelt}");
    }
}

#[test]
fn args_above_the_risk_of_their_tool_are_asked_about_where_a_policy_lists_no_tools() {
    let (_directory, mut server) = server("default: enabled\napproval: {global: destructive}\n");
    let code = |result: &Value| result["structuredContent"]["error"]["code"].clone();
    let deleted = server.call("send", json!({ "request": "DELETE" }));
    assert_eq!(code(&deleted), "approval_denied", "{deleted}");
    assert_eq!(text(&server.call("send", json!({ "words": ["a"] }))), "<a>");
    let program = fakecli().display().to_string();
    let line = server.tool("climax_run", json!({ "command": format!("{program} argv -X GET -X DELETE -X GET") }));
    assert_eq!(code(&line), "approval_denied", "{line}");
}

#[test]
fn every_value_of_a_repeated_option_is_checked() {
    let policy = "default: enabled\napproval: {global: none}\ntools: {send: {args: {words: {pattern: '[ab]'}, request: {enum: [GET]}}}}\n";
    let (_directory, mut server) = server(policy);
    let program = fakecli().display().to_string();
    let mut run = |words: &str| server.tool("climax_run", json!({ "command": format!("{program} argv {words}") }));
    assert_eq!(text(&run("-X GET -X GET a")), "<-X>\n<GET>\n<-X>\n<GET>\n<a>");
    for words in ["-X DELETE -X GET", "-X GET -X DELETE", "a c b", "''"] {
        assert_eq!(run(words)["isError"], true, "{words}");
    }
}

#[test]
fn compiled_in_policies_keep_the_names_of_what_they_took_away() {
    let catalog = crate::support::catalog(&fake_config(TOOLS));
    let source = climax::catalog::Source::new("policy.yaml", "default: disabled\nallow: [send]\n".into()).unwrap();
    let compiled = policy::read(&source).unwrap().compile_in(catalog).unwrap().catalog;
    let index = ToolIndex::from_configs(vec![Layer::loaded(compiled)]);
    let tool = index.get("send").unwrap();
    assert_eq!(tool.args().count(), 0);
    assert_eq!(tool.withheld_args().map(ArgView::name).collect::<Vec<_>>(), ["request", "force", "words"]);
    assert!(!tool.input_schema().contains("request"));
}
