//! Errors of the command line.

use climax::CATALOG;
use std::fs;

use crate::support::{climax, run};

/// The status and the message of a command line that is refused. It prints nothing to standard output.
fn refused(args: &[&str]) -> (i32, String) {
    let (status, stdout, stderr) = run(climax().args(args));
    assert_eq!(stdout, "", "{args:?}");
    (status, stderr)
}

#[test]
fn diff_refuses_other_files_than_exports() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let fine = run(climax().args(["export", "jq"])).1;
    fs::write(path("fine.json"), &fine).unwrap();
    fs::write(path("list.json"), run(climax().args(["list", "jq", "--json"])).1).unwrap();
    assert_eq!(run(climax().args(["diff", &path("fine.json"), &path("fine.json")])).0, 0);
    let (status, stderr) = refused(&["diff", &path("list.json"), &path("fine.json")]);
    assert_eq!(status, 2);
    assert!(stderr.contains("`catalog_digest`") && stderr.contains("climax export > "), "{stderr}");
    let with = |key: &str, value: serde_json::Value| {
        let mut json: serde_json::Value = serde_json::from_str(&fine).unwrap();
        json[key] = value;
        json.to_string()
    };
    for (junk, found) in [
        ("[]".to_owned(), "expected an object, found a list"),
        ("\"x\"".to_owned(), "expected an object, found a string"),
        ("{}".to_owned(), "expected an object with `catalog_digest`, found none"),
        ("{".to_owned(), "no JSON"),
        (with("tools", 1.into()), "expected a list in `tools`, found a number"),
        (with("tools", vec![1].into()), "expected objects with a `name` in `tools`, found a number"),
        (with("prompts", serde_json::json!([{}])), "expected objects with a `name` in `prompts`, found one without"),
        (
            with("tools", serde_json::json!([{ "name": "x", "args": [null] }])),
            "in `tools`: expected objects with a `name` in `args`, found null",
        ),
    ] {
        fs::write(path("junk.json"), &junk).unwrap();
        let (status, stderr) = refused(&["diff", &path("junk.json"), &path("junk.json")]);
        assert_eq!((status, stderr.lines().count()), (2, 2), "an error for each file: {stderr}");
        assert!(stderr.contains(found) && stderr.contains("climax export"), "{found}: {stderr}");
    }
}

#[cfg(feature = "http")]
#[test]
fn refuses_http_options_without_http() {
    for run in [&[][..], &["run"], &["run", "git", "--transport", "stdio"]] {
        for option in [
            &["--port", "8080"][..],
            &["--host", "127.0.0.1"],
            &["--token-file", "x"],
            &["--policy-for", "a=x"],
            &["--rate", "600/m"],
            &["--insecure-no-auth"],
            &["--drain", "1"],
        ] {
            let (status, stderr) = refused(&[run, option].concat());
            assert_eq!(status, 2, "{run:?} {option:?}: {stderr}");
            assert!(stderr.contains(&format!("{} needs --transport streamable-http", option[0])), "{stderr}");
        }
    }
    let (_, stderr) = refused(&["--rate", "1/s", "--port", "0"]);
    assert!(stderr.contains("--port, --rate need --transport"), "{stderr}");
    assert_eq!(run(climax().args(["run", "jq"])).0, 0, "defaults are not given");
}

#[cfg(feature = "oauth")]
#[test]
fn refuses_oauth_options_without_http() {
    let (status, stderr) = refused(&["--oauth-issuer", "https://login.example"]);
    assert!(status == 2 && stderr.contains("--oauth-issuer needs --transport"), "{stderr}");
}

#[test]
fn duplicate_arguments_are_refused() {
    let (status, stderr) = refused(&["call", "git_log", "skip=1", "max_count=1", "skip=2"]);
    assert_eq!((status, stderr.as_str()), (2, "climax: `skip` is given twice, as `1` and as `2`: give it once\n"));
}

#[cfg(feature = "http")]
#[test]
fn two_policies_for_one_caller_are_refused() {
    for who in ["bob", "groups:ops"] {
        let (one, other) = (format!("{who}=a.yaml"), format!("{who}=b.yaml"));
        let http = ["--transport", "streamable-http", "--policy-for", &one, "--policy-for", "x=y", "--policy-for"];
        let (status, stderr) = refused(&[&http[..], &[&other]].concat());
        let message = format!("--policy-for {who} is given twice, with a.yaml and with b.yaml");
        assert!(status == 2 && stderr.contains(&message), "{stderr}");
    }
}

#[test]
fn unreadable_policy_is_named_as_a_policy() {
    let dir = tempfile::tempdir().unwrap();
    let (status, stderr) = refused(&["list", "--policy", "/nonexistent.yaml"]);
    assert_eq!(status, 1);
    assert!(stderr.contains("cannot read policy: No such file") && stderr.contains("check the path"), "{stderr}");
    let (_, stderr) = refused(&["list", "--policy", dir.path().to_str().unwrap()]);
    assert!(stderr.contains("cannot read policy: Is a directory") && stderr.contains("name a file:"), "{stderr}");
}

#[cfg(feature = "http")]
#[test]
fn unreadable_file_of_http_is_named_with_its_option() {
    for option in ["--token-file", "--state-key-file"] {
        let http = ["--transport", "streamable-http", "--port", "0"];
        let (status, stderr) = refused(&[&http[..], &[option, "/nonexistent"]].concat());
        assert_eq!(status, 1);
        assert!(stderr.starts_with(&format!("climax: {option} /nonexistent: No such file")), "{stderr}");
    }
}

#[test]
fn malformed_values_name_the_expected_form() {
    let mut cases = vec![
        (vec!["--max-output", "1k"], "expected a whole number"),
        (vec!["--max-concurrency", "0"], "expected a whole number in plain digits, 1 at least"),
        (vec!["call", "git_log", "--max-output", "1e6"], "expected a whole number"),
        (vec!["validate", "git", "--max-tokens", "2k"], "expected a whole number"),
        (vec!["search", "x", "--limit", "ten"], "expected a whole number"),
    ];
    if cfg!(feature = "http") {
        cases.push((vec!["--host", "localhost"], "expected an IP address, such as 127.0.0.1"));
        cases.push((vec!["--port", "99999"], "expected a number from 0 to 65535"));
        cases.push((vec!["--drain", "1.5"], "expected a whole number"));
    }
    for (args, expected) in cases {
        let (status, stderr) = refused(&args);
        assert!(status == 2 && stderr.contains(expected), "{args:?}: {stderr}");
    }
}

#[test]
fn config_path_as_a_cli_name_suggests_the_option() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("gitt")).unwrap();
    for (name, hint) in [
        ("notes.yaml", "did you mean `--config notes.yaml`?"),
        ("./gitt", "did you mean `--config ./gitt`?"),
        ("gitt", "did you mean `git` or `--config gitt`?"),
    ] {
        for command in [&[name][..], &["run", name], &["list", name]] {
            let (status, stdout, stderr) = run(climax().current_dir(dir.path()).args(command));
            assert_eq!((status, stdout.as_str()), (1, ""));
            assert!(stderr.contains(hint), "{command:?}: {stderr}");
        }
    }
    let (_, stderr) = refused(&["list", "gitt"]);
    assert!(!stderr.contains("--config"), "{stderr}");
}

#[test]
fn last_paragraph_of_the_help_is_wrapped() {
    for columns in ["40", "60", "100"] {
        let (_, help, _) = run(climax().arg("--help").env("COLUMNS", columns));
        let width: usize = columns.parse().unwrap();
        let last = help.trim_end().rsplit("\n\n").next().unwrap();
        assert!(last.starts_with("Without a command"), "{last}");
        let lines: Vec<&str> = last.lines().collect();
        for pair in lines.windows(2) {
            let next = pair[1].split(' ').next().unwrap();
            assert!(pair[0].len() <= width, "{last}");
            assert!(pair[0].len() + 1 + next.len() > width, "a line ends early at {columns} columns:\n{last}");
        }
    }
}

/// A directory with a config `git.yaml` of one tool, `git_mine`.
fn own_git() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let config = "command: git\ntools: [{name: git_mine, description: Show mine}]\n";
    fs::write(dir.path().join("git.yaml"), config).unwrap();
    dir
}

/// What a server says at its start, when its input ends at once.
fn said_at_start(dir: &tempfile::TempDir, args: &[&str]) -> String {
    let (status, stdout, stderr) = run(climax().current_dir(dir.path()).args(args));
    assert_eq!((status, stdout.as_str()), (0, ""), "{args:?}: {stderr}");
    stderr
}

#[test]
#[cfg_attr(not(native_linux), ignore = "a server that cannot confine says one line more")]
fn start_says_what_is_served() {
    let dir = own_git();
    let own = fs::read_to_string(dir.path().join("git.yaml")).unwrap().replace("git_mine", "mine_look");
    fs::write(dir.path().join("mine.yaml"), &own).unwrap();
    for (args, expected) in [
        (&["jq"][..], "climax: serving 9 tools of 1 CLI\n"),
        (
            &["--config", "mine.yaml"],
            &format!(
                "climax: serving 1 tool of mine and {} compiled-in tools; --only serves mine alone\n",
                CATALOG.tools.len()
            ),
        ),
        (&["jq", "--config", "mine.yaml"], "climax: serving 1 tool of mine and 9 compiled-in tools\n"),
        (&["--config", ".", "--only"], "climax: serving 2 tools of git and mine\n"),
    ] {
        assert_eq!(said_at_start(&dir, args), expected, "{args:?}");
    }
}

#[test]
fn only_serves_the_files_alone() {
    let dir = own_git();
    let names = |args: &[&str]| {
        let (status, stdout, stderr) = run(climax().current_dir(dir.path()).args(args));
        let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        let tools = json["tools"].as_array().unwrap().iter();
        let names: Vec<String> = tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        (status, names, stderr)
    };
    for args in [&["list", "--json"][..], &["list", "git", "--json"], &["export"]] {
        let only = [args, &["--config", "git.yaml", "--only"]].concat();
        assert_eq!(names(&only), (0, vec!["git_mine".to_owned()], String::new()), "{only:?}");
    }
    let (_, both, warning) = names(&["list", "git", "--json", "--config", "git.yaml"]);
    assert!(both.len() > 1 && both.contains(&"git_mine".to_owned()), "{both:?}");
    assert!(warning.contains("warning[duplicate-cli]") && warning.contains("`--only`"), "{warning}");
    let call = ["call", "git_log", "--config", "git.yaml", "--only"];
    assert!(run(climax().current_dir(dir.path()).args(call)).1.starts_with("Unknown tool: git_log\n"));
    let (_, found, _) =
        run(climax().current_dir(dir.path()).args(["search", "docker", "--config", "git.yaml", "--only"]));
    assert!(!found.contains("docker_"), "{found}");
    let (status, stderr) = refused(&["list", "--only"]);
    assert!(status == 2 && stderr.contains("--config <FILE>"), "{stderr}");
    let (status, _, stderr) = run(climax().current_dir(dir.path()).args(["jq", "--config", "git.yaml", "--only"]));
    assert!(status == 1 && stderr.contains("no CLI named `jq` is in a file of --config"), "{stderr}");
}

#[test]
#[cfg_attr(not(native_linux), ignore = "a server that cannot confine says one line more")]
fn empty_names_are_absent_and_empty_files_are_refused() {
    let all = format!("climax: serving {} tools of {} CLIs\n", CATALOG.tools.len(), CATALOG.clis.len());
    assert_eq!(said_at_start(&own_git(), &[""]), all);
    assert_eq!(said_at_start(&own_git(), &["run", "", "jq"]), "climax: serving 9 tools of 1 CLI\n");
    assert!(run(climax().args(["list", ""])).1.contains("docker"));
    for option in ["--policy", "--config"] {
        for args in [&[option, ""][..], &["run", "git", option, ""], &["list", option, ""]] {
            let (status, stderr) = refused(args);
            assert!(status == 2 && stderr.contains(&format!("a value is required for '{option}")), "{stderr}");
        }
    }
}

#[test]
fn command_lines_of_0_5_are_answered_with_what_to_do_instead() {
    for (args, instead) in [
        (&["--headless-approve"][..], "approval: {headless: approve}"),
        (&["run", "--headless-approve", "git"], "approval: {headless: approve}"),
        (&["--transport", "sse", "git"], "--transport streamable-http"),
        (&["skill", "--install"], "there is no command `skill`"),
        (&["test-dialog"], "there is no command `test-dialog`"),
        (&["--config", "git"], "`climax git` serves it"),
        (&["list", "--config", "git"], "`climax git` serves it"),
        (&["lst"], "did you mean `climax list`?"),
        (&["policy", "nwe"], "a similar subcommand exists: 'new'"),
        (&["describe", "git_log"], "`climax show TOOL`"),
        (&["serve"], "`climax run`"),
        (&["--log-level", "INFO", "run", "git"], "stands before all options: `climax run …`"),
    ] {
        if cfg!(not(feature = "http")) && args.contains(&"sse") {
            continue;
        }
        let (status, stderr) = refused(args);
        assert_eq!(status, 2, "{args:?}: {stderr}");
        assert!(stderr.contains(instead), "{args:?}: {stderr}");
    }
    let (status, stderr) = refused(&["dcoker"]);
    assert!(status == 1 && !stderr.contains("command"), "a CLI is nearer: {stderr}");
}
