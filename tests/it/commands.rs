//! The commands of the binary, their output and their exit status.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use climax::catalog;
use serde_json::Value;

use crate::support::{climax, fake_config, has_default_features, run};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn list_prints_clis_or_tools() {
    let (status, stdout, _) = run(climax().arg("list"));
    assert_eq!(status, 0);
    for name in ["git", "docker", "kubectl", "aws"] {
        assert!(stdout.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name}: {stdout}");
    }
    let (_, stdout, _) = run(climax().args(["list", "jq"]));
    assert!(stdout.contains("jq_") && !stdout.contains("git_"));
    let (_, stdout, _) = run(climax().args(["list", "jq", "--json"]));
    let tools = json(&stdout)["tools"].as_array().unwrap().clone();
    assert!(tools.iter().all(|tool| tool["cli"] == "jq" && tool["command"][0] == "jq"));
}

#[test]
fn names_select_clis_of_configs() {
    let dir = tempfile::tempdir().unwrap();
    let config = |name: &str| format!("command: {name}\ntools: [{{name: {name}_find, description: Find one}}]\n");
    std::fs::write(dir.path().join("notes.yaml"), config("notes")).unwrap();
    std::fs::write(dir.path().join("todo.yaml"), config("todo")).unwrap();
    let on = |args: &[&str]| run(climax().current_dir(dir.path()).args(args).args(["--config", "."]));
    let names = |stdout: &str| -> Vec<String> {
        let tools = json(stdout)["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&on(&["list", "notes", "--json"]).1), ["notes_find"]);
    let (status, stdout, _) = on(&["list", "notes"]);
    assert!(status == 0 && stdout.contains("notes_find") && !stdout.contains("todo"), "{stdout}");
    assert!(names(&on(&["list", "jq", "--json"]).1).iter().all(|name| name.starts_with("jq_")));
    assert_eq!(names(&on(&["export", "notes"]).1), ["notes_find", "todo_find"], "files are served whole, alone");
    assert!(names(&on(&["export"]).1).len() > 400, "without a name everything is served");
    assert!(on(&["doctor", "todo"]).1.starts_with("2 tools, "));
    let (status, _, stderr) = on(&["list", "tood", "gitt"]);
    assert_eq!((status, stderr.lines().count()), (1, 2), "{stderr}");
    assert!(stderr.contains("in a file of --config; did you mean `todo`?"), "{stderr}");
    let (_, _, stderr) = run(climax().args(["list", "notes"]));
    assert!(stderr.contains("no CLI named `notes` is compiled in;"), "{stderr}");
}

#[test]
fn export_has_every_key_of_tools_and_args_in_configs() {
    let schema = catalog::config_schema();
    let exported = json(&run(climax().args(["export", "jq"])).1);
    let tool = &exported["tools"][0];
    for (definition, object) in [("tool", tool), ("arg", &tool["args"][0])] {
        for key in schema["$defs"][definition]["properties"].as_object().unwrap().keys() {
            let key = match key.as_str() {
                "timeout" => "timeout_ms",
                "positional" | "cwd" | "stdin" => "place",
                "list" | "map" | "count" | "rest" => "shape",
                "min" | "max" | "pattern" => "rules",
                "exactly_one" | "at_most_one" | "together" => "groups",
                // Each arg shows it. Every tool shows its own args, and advice for authors is not served.
                "ordered" | "without" | "x-allow" => continue,
                key => key,
            };
            assert!(object.get(key).is_some(), "export has no `{key}` of a {definition}");
        }
    }
}

#[test]
fn search_prints_a_table_or_the_agent_s_json() {
    let (status, stdout, _) = run(climax().args(["search", "commit", "--cli", "git", "--limit", "99"]));
    assert_eq!(status, 0);
    assert!(stdout.contains("git_commit"));
    let (_, stdout, _) = run(climax().args(["search", "commit", "--cli", "git", "--limit", "2", "--json"]));
    assert_eq!(json(&stdout)["results"].as_array().unwrap().len(), 2);
    let (_, stdout, _) = run(climax().args(["search", "--json"]));
    assert_eq!(json(&stdout)["mode"], "summary");
    let (status, stdout, _) = run(climax().args(["search", "book", "a", "flight", "to", "Lisbon"]));
    assert_eq!(status, 0);
    assert!(stdout.contains("No tool serves this"), "{stdout}");
    let (_, stdout, _) = run(climax().args(["search", "create", "a", "new", "branch"]));
    assert!(stdout.contains("git_branch_create"), "{stdout}");
    let lexical = |command: &mut std::process::Command| run(command.args(["search", "create a new branch"]));
    assert!(lexical(climax().env("CLIMAX_SEARCH_STRATEGY", "lexical")).1.contains("No tool serves this"));
    assert_eq!(lexical(climax().env("CLIMAX_SEARCH_STRATEGY", "best")).0, 2);
}

#[test]
fn call_prints_whole_lines_as_they_come() {
    let dir = tempfile::tempdir().unwrap();
    let [fifo, config] = ["fifo", "cat.yaml"].map(|name| dir.path().join(name));
    Command::new("mkfifo").arg(&fifo).status().unwrap();
    let tool = format!("{{name: show, description: S, command: '{}', exit_codes: {{1: odd}}}}", fifo.display());
    std::fs::write(&config, format!("name: cat\ncommand: cat\ntools: [{tool}]\n")).unwrap();
    let mut command = climax();
    command.args(["call", "show", "--only", "--config"]).arg(&config).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = std::fs::OpenOptions::new().write(true).open(&fifo).unwrap();
    input.write_all(b"one\n\x1b[1mtwo\x1b[0m\n\nthr").unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut first = [0; 7];
    out.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"one\ntwo", "while the program runs");
    input.write_all(b"ee\n\n\n").unwrap();
    drop(input);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("\n\nthree\n", Some(0)));
    let (_, stdout, _) = run(climax().args(["call", "show", "--only", "--max-output", "20", "--config"]).arg({
        let config = dir.path().join("seq.yaml");
        std::fs::write(&config, "name: seq\ncommand: seq\ntools: [{name: show, description: S, command: 1 20}]\n")
            .unwrap();
        config
    }));
    assert_eq!(stdout, "1\n2\n3\n4\n5\n\n[… 31 bytes omitted …]\n\n18\n19\n20\n");
}

#[test]
fn call_prints_the_result_and_sets_the_exit_status() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fake.yaml");
    let tools = concat!(
        "  - {name: words, description: x, command: argv, args: [{name: n, type: integer}, {name: s, positional: true}]}\n",
        "  - {name: fails, description: x, command: exit 3 said so}\n",
    );
    std::fs::write(&file, fake_config(tools)).unwrap();
    let call = |args: &[&str]| run(climax().args(["call", "--config", file.to_str().unwrap()]).args(args));
    assert_eq!(call(&["words", "n=3", "s=a=b"]), (0, "<a=b>\n<--n>\n<3>\n".into(), String::new()));
    assert_eq!(call(&["words", "--args", "{\"n\": 4}", "s=x"]).1, "<x>\n<--n>\n<4>\n");
    assert_eq!(call(&["fails"]), (1, "said so\n\n[exit code: 3]\n".into(), String::new()));
    let (status, stdout, _) = call(&["fails", "--json"]);
    assert_eq!((status, &json(&stdout)["error"]["code"]), (1, &Value::from("command_failed")));
    let (status, stdout, stderr) = call(&["wrods"]);
    assert_eq!((status, stdout.as_str()), (1, "Unknown tool: wrods\nDid you mean:\n  - words\n"));
    assert_eq!(stderr, "");
    assert_eq!(call(&["words", "n"]).0, 2);
    assert_eq!(call(&["words", "--args", "[]"]).0, 2);
    assert_eq!(call(&["words", "--args", "{"]).0, 2);
}

#[test]
fn validate_reports_all_errors_of_all_files() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.yaml"), "command: x\ntools:\n  - nmae: x\n").unwrap();
    std::fs::write(dir.path().join("b.yaml"), "command: x\nriks: y\ntools: []\n").unwrap();
    std::fs::write(dir.path().join("good.yaml"), "command: x\ntools: [{name: x, description: X}]\n").unwrap();
    let validate = |args: &[&str]| run(climax().current_dir(dir.path()).arg("validate").args(args));
    let (status, stdout, stderr) = validate(&["."]);
    assert_eq!((status, stdout.as_str()), (1, "invalid: 3 errors, 0 warnings\n"));
    for place in ["a.yaml:3:5", "b.yaml:2:1"] {
        assert!(stderr.contains(place), "{place}: {stderr}");
    }
    let (status, stdout, _) = validate(&[".", "--json"]);
    let found = json(&stdout);
    assert_eq!((status, &found["valid"]), (1, &Value::from(false)));
    assert_eq!(found["diagnostics"].as_array().unwrap().len(), 3);
    let first = &found["diagnostics"][0];
    assert_eq!((&first["code"], &first["line"], &first["column"]), (&"unknown-key".into(), &3.into(), &5.into()));
    assert_eq!(validate(&["good.yaml"]), (0, "valid: 1 tool, 0 warnings\n".into(), String::new()));
    assert_eq!(validate(&["git"]).0, 0);
    let (status, _, stderr) = validate(&["gti"]);
    assert_eq!(status, 1);
    assert!(stderr.contains("did you mean `git`?"), "{stderr}");
}

/// To accept new output: `UPDATE_GOLDEN=1 cargo test`.
#[test]
fn schemas_are_valid_and_up_to_date() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for (format, schema) in [("config", catalog::config_schema()), ("policy", catalog::policy::schema())] {
        jsonschema::meta::validate(&schema).unwrap();
        let (file, schema) = (root.join("schemas").join(format!("{format}.json")), format!("{schema:#}\n"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&file, &schema).unwrap();
        }
        assert!(std::fs::read_to_string(&file).unwrap_or_default() == schema, "schemas/{format}.json is not fresh");
        let (status, stdout, _) = run(climax().args(["schema", format]));
        assert_eq!(status, 0);
        assert!(stdout == schema, "climax schema {format} prints an older one");
    }
}

#[test]
fn accepted_policies_match_the_schema() {
    let schema = json(&run(climax().args(["schema", "policy"])).1);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let fine = serde_json::json!({
        "default": "enabled", "tools": { "t": null, "u": { "args": { "a": { "min": 1, "pattern": "x" } } } },
        "approval": { "global": "all", "tools": { "t": false } },
        "executor": { "type": "sandbox", "read": ["/usr"], "limits": { "cpu_s": 1 } }, "x-note": 1,
    });
    assert!(validator.is_valid(&fine));
    for wrong in [
        serde_json::json!({ "defualt": "enabled" }),
        serde_json::json!({ "tools": { "t": { "args": { "a": { "maximum": 1 } } } } }),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}

#[test]
fn completions_exist_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (status, stdout, _) = run(climax().args(["completions", shell]));
        assert_eq!(status, 0);
        assert!(stdout.contains("climax"));
    }
}

#[test]
fn usage_errors_exit_with_2_and_help_with_0() {
    assert_eq!(run(climax().arg("--no-such-flag")).0, 2);
    assert_eq!(run(climax().arg("call")).0, 2);
    let (status, stdout, stderr) = run(climax().arg("--help"));
    assert_eq!((status, stderr.as_str()), (0, ""));
    assert!(stdout.contains("validate") && stdout.contains("Exit status"));
    assert!(run(climax().arg("--version")).1.starts_with("climax "));
}

#[test]
fn plain_output_has_no_control_characters() {
    for args in [vec!["list"], vec!["search", "commit"], vec!["list", "git"]] {
        let (_, stdout, _) = run(climax().args(&args));
        assert!(!stdout.contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn search_explains_how_scores_came_about() {
    let explain = |more: &[&str]| run(climax().args(["search", "--explain", "undo the last commit"]).args(more)).1;
    let said = json(&explain(&["--json"]));
    let first = &said["results"][0];
    assert_eq!((&first["tool_name"], &first["found_as"]), (&Value::from("git_reset"), &Value::from("field")));
    assert_eq!(first["score"]["terms"][0]["term"], "undo");

    let table = explain(&["--limit", "1"]);
    let total = format!("= {:.3}; covers", first["score"]["total"].as_f64().unwrap());
    assert!(table.starts_with("1. git_reset (a field holds the query, score ") && table.contains(&total), "{table}");
}

#[cfg(feature = "budget")]
#[test]
fn budget_counts_tokens_and_fails_over_the_limit() {
    let (status, stdout, _) = run(climax().args(["budget", "jq", "--json"]));
    let counted = json(&stdout);
    let listed = counted["surface"][0]["tokens"].as_u64().unwrap();
    let row = |at: usize| (counted["surface"][at]["name"].as_str().unwrap(), counted["surface"][at]["tokens"].as_u64());
    assert!(matches!(row(0), ("tools/list", Some(..=300))), "{counted}");
    assert!(matches!(row(1), ("tools/list --meta search,read,call", Some(..=380))), "{counted}");
    assert_eq!((status, &counted["clis"][0]["name"]), (0, &Value::from("jq")));
    assert!((100..1000).contains(&listed), "{listed}");
    assert_eq!(run(climax().args(["budget", "--max", &listed.to_string()])).0, 0);
    let (status, _, stderr) = run(climax().args(["budget", "--max", &(listed - 1).to_string()]));
    assert_eq!((status, stderr.contains("tokens")), (1, true));
}

#[test]
fn doctor_reports_programs_policy_and_limits() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let config = "name: here\ncommand: ''\ntools:\n  - {name: a, description: A, command: cat, risk: write}\n  \
                  - {name: b, description: B, command: cat -n}\n  - {name: c, description: C, command: no-such-program}\n";
    std::fs::write(path("here.yaml"), config).unwrap();
    std::fs::write(path("policy.yaml"), "tools: {a: {}, b: {}}").unwrap();
    let doctor = |more: &[&str]| {
        let (status, stdout, stderr) =
            run(climax().args(["doctor", "jq", "--json", "--config", &path("here.yaml")]).args(more));
        assert_eq!(stderr, "");
        (status, serde_json::from_str::<serde_json::Value>(&stdout).unwrap())
    };
    let (status, found) = doctor(&[]);
    assert_eq!(status, 1, "a program is missing");
    let programs = found["programs"].as_array().unwrap();
    let missing: Vec<_> = programs.iter().filter(|one| one["path"].is_null()).map(|one| &one["program"]).collect();
    assert_eq!(missing, ["no-such-program"]);
    let (status, found) = doctor(&["--policy", &path("policy.yaml")]);
    assert_eq!(status, 0);
    let program = &found["programs"].as_array().unwrap()[..];
    assert_eq!(program.len(), 1, "what is not permitted is not looked for: {program:?}");
    assert_eq!((&program[0]["tools"], &program[0]["needing_approval"]), (&2.into(), &1.into()));
    assert!(program[0]["version"].as_str().unwrap().contains("cat"), "{program:?}");
    assert_eq!(found["limits"]["argument_bytes"], 131_071);
}

#[test]
fn validate_checks_a_policy_against_the_tools() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("policy.yaml");
    std::fs::write(&file, "tools: {git_log: {}, git_lgo: {}}").unwrap();
    let (status, stdout, stderr) = run(climax().args(["validate", "--policy"]).arg(&file));
    assert_eq!((status, stdout.as_str()), (1, "invalid: 1 error, 0 warnings\n"));
    assert!(stderr.contains("error[unknown-tool]") && stderr.contains("did you mean `git_log`"), "{stderr}");
    let (status, stdout, stderr) = run(climax().args(["list", "git", "--json", "--policy"]).arg(&file));
    assert!(status == 0 && stdout.contains("git_log") && stderr.contains("warning[unknown-tool]"), "{stderr}");
    std::fs::write(&file, "tools: {git_log: {args: {skip: {pattern: '('}}}}").unwrap();
    let (status, stdout, stderr) = run(climax().args(["validate", "git", "--policy"]).arg(&file));
    assert_eq!(status, 1);
    assert!(stdout.ends_with("invalid: 1 error, 0 warnings\n"), "{stdout}");
    assert!(stderr.contains("error[bad-pattern]"), "{stderr}");
}

#[test]
fn version_describes_the_compiled_in_catalog() {
    let (status, stdout, _) = run(climax().args(["version", "--json"]));
    assert_eq!(status, 0);
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&json["sealed"], &json["policy"]), (&false.into(), &false.into()));
    assert_eq!(json["tools"], climax::CATALOG.tools.len());
    assert!(
        json["rustc"].as_str().unwrap().starts_with("rustc ") && json["target"].as_str().unwrap().contains("linux")
    );
    let digest = json["catalog_digest"].as_str().unwrap();
    assert_eq!(digest.len(), 64);
    let (_, stdout, _) = run(climax().arg("version"));
    assert!(
        stdout.contains(digest)
            && stdout.contains(&format!(
                "{} tools of {} CLIs",
                climax::CATALOG.tools.len(),
                climax::CATALOG.clis.len()
            )),
        "{stdout}"
    );
}

#[test]
fn diff_lists_additions_and_changes() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let old = "name: x\ncommand: x\ntools:\n  - {name: a, description: A, args: [{name: one}, {name: two, type: integer}]}\n  \
               - {name: b, description: B}\n  - {name: same, description: S}\n";
    let new = "name: x\ncommand: x\ntools:\n  - {name: a, description: A, risk: write, args: [{name: two}, {name: three, type: boolean}]}\n  \
               - {name: same, description: S}\n  - {name: c, description: C, command: remove --all, risk: destructive}\n";
    std::fs::write(path("old.yaml"), old).unwrap();
    std::fs::write(path("new.yaml"), new).unwrap();
    std::fs::write(
        path("policy.yaml"),
        "tools: {a: {args: {two: {pattern: '[0-9]+', min: 1, max: 9}}}, same: {}, c: {}}",
    )
    .unwrap();
    let (status, stdout, stderr) =
        run(climax().arg("diff").arg(path("old.yaml")).arg(path("new.yaml")).arg("--exit-code"));
    assert_eq!((status, stderr.as_str()), (1, ""));
    insta::assert_snapshot!(stdout);
    let export = |policy: bool, to: &str| {
        let mut command = climax();
        command.args(["export", "jq", "--config"]).arg(path("new.yaml"));
        if policy {
            command.arg("--policy").arg(path("policy.yaml"));
        }
        std::fs::write(path(to), run(&mut command).1).unwrap();
    };
    export(false, "open.json");
    export(true, "narrow.json");
    let (status, stdout, _) = run(climax().arg("diff").arg(path("narrow.json")).arg(path("open.json")));
    assert_eq!(status, 0);
    assert!(stdout.contains("tool a: needs_approval: true → false"), "{stdout}");
    assert!(stdout.contains("added tool jq_"), "{stdout}");
    assert!(stdout.contains("tool a: argument two: rules: 1 to 9, matches '[0-9]+' (policy) → none\n"), "{stdout}");
    let (status, stdout, _) = run(climax().args(["diff", "--exit-code", "-", "-"]));
    assert_eq!((status, stdout.as_str()), (0, "no difference\n"));
    let (status, _, stderr) = run(climax().args(["diff", "absent.json", "-"]));
    assert!(status == 2 && stderr.contains("absent.json"), "{stderr}");
    std::fs::write(path("old.yaml"), "name: x\n").unwrap();
    let (status, stdout, _) = run(climax().args(["diff", "--exit-code", "-"]).arg(path("old.yaml")));
    assert_eq!((status, stdout.as_str()), (2, ""));
}

#[test]
fn diff_lists_what_a_policy_newly_permits() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let tool = |name: &str, rest: &str| format!("  - {{name: {name}, description: D, command: {name}{rest}}}\n");
    let head = "name: x\ncommand: x\ntools:\n";
    let old = tool("x_get", ", risk: read") + &tool("x_gone", ", risk: read") + &tool("x_put", ", risk: write");
    let new = tool("x_get", ", risk: read, args: [{name: all}]")
        + &tool("x_put", ", risk: read")
        + &tool("x_del", ", risk: destructive")
        + &tool("x_new", ", risk: read");
    std::fs::write(path("old.yaml"), format!("{head}{old}")).unwrap();
    std::fs::write(path("new.yaml"), format!("{head}{new}").replace("description: D", "description: E")).unwrap();
    std::fs::write(path("policy.yaml"), "default: disabled\nallow: [{cli: x, risk: read}]\n").unwrap();
    let diff = |from: &str, to: &str| {
        run(climax().arg("diff").arg(path(from)).arg(path(to)).arg("--policy").arg(path("policy.yaml"))).1
    };
    assert_eq!(
        diff("old.yaml", "new.yaml"),
        "tool x_get: added argument all (string)\nadded tool x_new: x x_new (read)\nadded tool x_put: x x_put (read)\n"
    );
    assert_eq!(diff("new.yaml", "new.yaml"), "the policy permits nothing new\n");
}

#[test]
fn no_name_and_no_text_hides_what_a_policy_newly_permits() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let config =
        |rest: &str| format!("name: x\ncommand: x\ntools:\n  - {{name: get, description: D, risk: read{rest}}}\n");
    std::fs::write(path("policy.yaml"), "default: disabled\nallow: [{cli: x, risk: read}]\n").unwrap();

    for (old, new, line) in [
        (
            ", args: [{name: title, enum: [a]}]",
            ", args: [{name: title, enum: [a, b]}]",
            "tool get: argument title: enum: [\"a\"] → [\"a\",\"b\"]\n",
        ),
        (
            ", command: 'say nothing'",
            ", command: '\": removed argument x\" \": title: \"'",
            "tool get: command: [\"x\",\"say\",\"nothing\"] → [\"x\",\": removed argument x\",\": title: \"]\n",
        ),
        (", title: A", ", title: 'tool get: command: more'", "the policy permits nothing new\n"),
    ] {
        std::fs::write(path("old.yaml"), config(old)).unwrap();
        std::fs::write(path("new.yaml"), config(new)).unwrap();
        let mut diff = climax();
        diff.arg("diff").args([path("old.yaml"), path("new.yaml")]).arg("--policy").arg(path("policy.yaml"));
        let (status, stdout, stderr) = run(diff.arg("--exit-code"));
        assert_eq!((stdout.as_str(), status), (line, i32::from(line.starts_with("tool"))), "{stderr}");
    }
}

#[test]
fn first_policies_permit_what_they_say() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("policy.yaml");
    let new = |more: &[&str]| {
        let (status, stdout, stderr) = run(climax().args(["policy", "new"]).args(more));
        assert_eq!((status, stderr.as_str()), (0, ""));
        std::fs::write(&file, stdout).unwrap();
        let (status, _, stderr) = run(climax().args(["validate", "--strict", "--policy"]).arg(&file));
        assert_eq!(status, 0, "{stderr}");
        let (_, stdout, _) = run(climax().args(["export", "--policy"]).arg(&file));
        serde_json::from_str::<serde_json::Value>(&stdout).unwrap()
    };
    let risks = |export: &serde_json::Value| {
        let tools = export["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["risk"].as_str().unwrap().to_owned()).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(risks(&new(&["--read-only", "jq", "git"])), ["read".to_owned()].into());
    assert_eq!(risks(&new(&["git"])), ["read".to_owned(), "write".to_owned()].into());
    new(&["--read-only", "git", "--within", "/srv/a 'b"]);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("GIT_CEILING_DIRECTORIES: \"/srv\""), "{text}");
    let (status, _, stderr) = run(climax().args(["policy", "new", "gti"]));
    assert!(status == 1 && stderr.contains("did you mean"), "{stderr}");
}

#[test]
fn policies_are_explained_by_their_lines() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("policy.yaml");
    let policy = "default: disabled\nallow:\n  - {cli: git, risk: read}\n  - git_push_refs\ndeny:\n  - '*_blame'\ntools:\n  \
                  git_*:\n    args:\n      cwd: {within: [/srv/x]}\n  git_push_refs: {args: {refspec: {require_approval: main}}}\n\
                  approval: {global: none}\n";
    std::fs::write(&file, policy).unwrap();
    let explained = |subject: &str| {
        let (status, stdout, _) = run(climax().args(["policy", "explain", subject, "--policy"]).arg(&file));
        (status, stdout.replace(&format!("{}", file.display()), "FILE"))
    };
    let (status, said) = explained("git_log");
    assert_eq!(status, 0, "{said}");
    assert!(said.starts_with("git_log: permitted\n  FILE:3: `allow` has {cli: git, risk: read}\n"), "{said}");
    assert!(said.contains("cwd\n  FILE:10: within /srv/x (checked, not enforced)\n"), "{said}");
    for (subject, reason) in [
        ("git_blame", "git_blame: not permitted\n  FILE:6: `deny` has *_blame\n"),
        ("git_commit", "git_commit: not permitted\n  FILE:3: `allow` does not have it\n"),
        ("git log", "the line is refused\n  Argument 'cwd': path "),
        ("git -C /srv/y log", "the line is refused\n  Argument 'cwd': path '/srv/y' "),
        ("git blame x", "git_blame: not permitted\n  FILE:6: "),
    ] {
        let (status, said) = explained(subject);
        assert!(status == 1 && said.contains(reason), "{subject}: {said}");
    }
    let policy = policy.replace("/srv/x", "/");
    std::fs::write(&file, policy).unwrap();
    assert!(explained("git push origin main").1.ends_with("the line needs approval\n"));
    assert!(explained("git push origin topic").1.ends_with("the line is permitted\n"));
    let (_, stdout, _) =
        run(climax().args(["policy", "explain", "git push origin main", "--json", "--policy"]).arg(&file));
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&json["line"], &json["tools"][0]["reason"]["line"]), (&"needs_approval".into(), &4.into()));
    let (status, _, stderr) = run(climax().args(["policy", "explain", "git_lgo", "--policy"]).arg(&file));
    assert!(status == 1 && stderr.contains("did you mean `git_log`"), "{stderr}");
}

#[test]
fn diff_lists_removed_questions_to_the_user() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let tool =
        "name: x\ncommand: x\ntools:\n  - name: a\n    description: A\n    risk: read\n    args: [{name: place}]\n";
    let asking = "    resource: x:a\nprompts: [{name: p, description: P, messages: [Look.]}]\n";
    let asked = "    ask: [{name: where, message: Where to?, args: [place]}]\n";
    std::fs::write(path("old.yaml"), format!("{tool}{asked}{}", asking.replace("    resource: x:a\n", ""))).unwrap();
    std::fs::write(path("new.yaml"), format!("{tool}{}", asking.replace("Look.", "Look again."))).unwrap();
    let (_, stdout, _) = run(climax().arg("diff").arg(path("old.yaml")).arg(path("new.yaml")));
    for line in [
        "tool a: ask: ",
        "tool a: argument place: asked: true → false",
        "tool a: resource: none → \"x:a\"",
        "prompt p: messages: ",
    ] {
        assert!(stdout.contains(line), "{line}: {stdout}");
    }
}

#[test]
fn validate_writes_github_and_sarif_formats() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("a.yaml"),
        "command: x\ntools:\n  - {name: t, description: T, timout: 3}\n  - {name: u, description: no}\n",
    )
    .unwrap();
    let validate = |more: &[&str]| run(climax().current_dir(dir.path()).args(["validate", "a.yaml"]).args(more));
    let (status, stdout, stderr) = validate(&["--format", "github"]);
    assert_eq!((status, stderr.as_str()), (1, ""));
    insta::assert_snapshot!(stdout);
    let (_, stdout, _) = validate(&["--format", "sarif"]);
    let sarif: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let results = &sarif["runs"][0]["results"];
    assert_eq!(results[0]["ruleId"], "unknown-key");
    assert_eq!(results[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
    assert_eq!((validate(&["--json"]).1, 1), (validate(&["--format", "json"]).1, 1));
}

#[test]
fn strict_validation_fails_on_warnings() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.yaml"), "command: x\ntools:\n  - {name: u, description: no}\n").unwrap();
    let validate = |more: &[&str]| run(climax().current_dir(dir.path()).args(["validate", "a.yaml"]).args(more)).0;
    assert_eq!((validate(&[]), validate(&["--strict"])), (0, 1));
}

#[test]
fn build_without_oauth_names_the_feature() {
    if !has_default_features() {
        return;
    }
    let (status, _, stderr) = run(climax().args(["--oauth-issuer", "https://login.example"]));
    assert!(status == 2 && stderr.contains("--features oauth"), "{stderr}");
}
