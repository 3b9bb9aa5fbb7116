//! Rules of policies for directories, fixed values and required args, with calls that try to get around them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Server, climax, fake_config, text};

/// A server in `start` of a directory with `in` and `out`, under a policy in which `IN` stands for the directory `in`.
struct Confined {
    root: tempfile::TempDir,
    server: Server,
}

const TOOLS: &str = "
  - {name: where, description: W, command: cwd, risk: read}
  - name: take
    description: T
    command: argv
    risk: read
    args:
      - {name: dir, cwd: true}
      - {name: file, flag: --file=}
      - {name: files, flag: --files=, list: ','}
      - {name: many, list: true, positional: true}
      - {name: pairs, map: true, flag: --set=}
      - {name: account, flag: --account=}
      - {name: mode, flag: --mode=, enum: [fast, slow, none], default: slow}
      - {name: hidden, flag: --hidden=, shown: false}
      - {name: text, stdin: true}
";

impl Confined {
    fn new(start: &str, policy: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().canonicalize().unwrap().join(name);
        for directory in ["in/deep", "out"] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        fs::write(at("in/file"), "").unwrap();
        fs::write(at("out/secret"), "").unwrap();
        symlink(at("out"), at("in/link")).unwrap();
        symlink(at("out/new"), at("in/dangling")).unwrap();
        symlink("../out/secret", at("in/secret")).unwrap();
        fs::write(at("fake.yaml"), fake_config(TOOLS)).unwrap();
        fs::write(at("policy.yaml"), policy.replace("IN", at("in").to_str().unwrap())).unwrap();
        let mut command = climax();
        command.current_dir(at(start)).arg("--config").arg(at("fake.yaml"));
        command.arg("--only").args(["--meta", "search,call,run,describe"]).arg("--policy").arg(at("policy.yaml"));
        command.env("HOME", at("out")).env("TEAM", "for the team").env("OTHER", "of the server");
        let mut server = Server::spawn(&mut command);
        server.initialize("2025-06-18");
        Self { root, server }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn take(&mut self, arguments: Value) -> Value {
        self.server.call("take", arguments)
    }

    fn line(&mut self, line: &str) -> Value {
        self.server.tool("climax_run", json!({ "command": line }))
    }
}

fn is_denied(result: &Value) -> bool {
    let code = &result["structuredContent"]["error"]["code"];
    code == "policy_denied" || code == "invalid_arguments"
}

const PATHS: &str = "
tools:
  take:
    args:
      dir: {within: [IN]}
      file: {within: [IN]}
      files: {within: [IN]}
      many: {within: [IN]}
      pairs: {within: [IN]}
approval: {global: none}
";

#[test]
fn paths_stay_in_the_directory() {
    let mut confined = Confined::new("in", PATHS);
    let inside = confined.at("in/file").display().to_string();
    for path in [".", "file", "deep", "deep/../file", "./new", inside.as_str(), "", "link/../in/file"] {
        let result = confined.take(json!({ "file": path }));
        assert!(!is_denied(&result), "{path}: {result}");
    }
    let outside = confined.at("out/secret").display().to_string();
    let beside = confined.at("inside").display().to_string();
    let attached = format!("x={outside}");
    for path in [
        "..",
        "../out/secret",
        "deep/../../out/secret",
        "link/secret",
        "link",
        "link/new",
        "dangling",
        "secret",
        "missing/new",
        "missing/../../out/secret",
        "~/secret",
        "~",
        "@/etc/passwd",
        "@../out/secret",
        "file:///etc/passwd",
        "file:/etc/passwd",
        ":/etc",
        "deep:/etc",
        outside.as_str(),
        beside.as_str(),
        attached.as_str(),
        "/",
        "//",
        "/proc/self/root/etc/passwd",
        "/proc/self/cwd/../out/secret",
    ] {
        for arguments in [
            json!({ "file": path }),
            json!({ "files": ["file", path] }),
            json!({ "many": ["file", path] }),
            json!({ "pairs": { "key": path } }),
        ] {
            // A shell's `x=../y` is one name to the kernel.
            let result = confined.take(arguments.clone());
            assert!(is_denied(&result), "{arguments}: {result}");
        }
    }
    let result = confined.take(json!({ "file": "../out/secret" }));
    let said = text(&result);
    assert!(said.contains("Argument 'file': path '../out/secret' is outside of ") && said.contains("/in"), "{said}");
}

#[test]
fn directory_of_a_call_decides_about_relative_paths() {
    let mut confined = Confined::new("out", PATHS);
    let inside = confined.at("in").display().to_string();
    for arguments in [json!({ "file": "file" }), json!({}), json!({ "dir": "." }), json!({ "dir": "~" })] {
        let result = confined.take(arguments.clone());
        assert!(is_denied(&result), "{arguments}: {result}");
    }
    for arguments in [json!({ "dir": inside, "file": "file" }), json!({ "dir": "../in", "file": "deep" })] {
        let result = confined.take(arguments.clone());
        assert!(!is_denied(&result), "{arguments}: {result}");
    }
    for directory in ["../in/link", "../in/..", "../in/dangling", "../in/link/../out"] {
        assert!(is_denied(&confined.take(json!({ "dir": directory }))), "{directory}");
    }
}

#[test]
fn lines_are_held_to_the_directory() {
    let mut confined = Confined::new("out", PATHS);
    let program = crate::support::fakecli().display().to_string();
    let inside = confined.at("in").display().to_string();
    let mut run = |line: &str| {
        let line = line.replace("TAKE", &format!("{program} argv")).replace("IN", &inside);
        let result = confined.line(&line);
        (result["isError"] == true, text(&result).to_owned())
    };
    for line in ["cd IN && TAKE --file=file", "cd IN && TAKE file deep", "cd IN/deep && TAKE ../file"] {
        let (refused, said) = run(line);
        assert!(!refused, "{line}: {said}");
    }
    for line in [
        "TAKE",
        "TAKE --file=IN/file",
        "cd IN && TAKE --file=../out/secret",
        "cd IN && TAKE --file ~/secret",
        "cd IN && TAKE link/secret",
        "cd IN && TAKE link/*",
        "cd IN && cd .. && TAKE file",
        "cd IN/link && TAKE secret",
        "cd IN && TAKE --files=file,../out/secret",
        "cd IN && TAKE --set=a=../out/secret",
    ] {
        let (refused, said) = run(line);
        assert!(refused, "{line}: {said}");
    }
}

#[test]
fn tool_without_a_directory_is_held_to_one() {
    let policy = "tools: {'*': {args: {cwd: {within: [IN]}}}}\napproval: {global: none}\n";
    let mut confined = Confined::new("out", policy);
    let inside = confined.at("in");
    assert!(is_denied(&confined.server.call("where", json!({}))));
    assert_eq!(text(&confined.server.call("where", json!({ "cwd": inside }))), inside.to_str().unwrap());
    let listed = confined.server.tool("climax_describe", json!({ "tools": ["where"] }));
    assert!(!text(&listed).contains("\"cwd\":{"), "{listed}");
    let program = crate::support::fakecli().display().to_string();
    let result = confined.line(&format!("cd {} && {program} cwd", inside.display()));
    assert_eq!(text(&result), inside.to_str().unwrap());
    assert_eq!(confined.line(&format!("{program} cwd"))["isError"], true);
    assert_eq!(confined.line(&format!("cd / && {program} cwd"))["isError"], true);

    let mut confined = Confined::new("in", policy);
    let inside = confined.at("in");
    assert_eq!(text(&confined.server.call("where", json!({}))), inside.to_str().unwrap());
}

#[test]
fn fixed_values_hold_for_calls_and_lines_and_are_not_published() {
    let policy = "
tools:
  take:
    args:
      account: {value: team-a}
      mode: {enum: [fast, slow]}
      hidden: {required: true}
      text: {enum: [one]}
approval: {global: none}
";
    let mut confined = Confined::new("in", policy);
    let described = confined.server.tool("climax_describe", json!({ "tools": ["take"], "detail": "full" }));
    let described = text(&described).to_owned();
    assert!(!described.contains("account") && !described.contains("team-a"), "{described}");
    assert!(!described.contains("none") && described.contains("\"required\":[\"hidden\"]"), "{described}");
    let found = confined.server.tool("climax_search", json!({ "query": "take" }));
    assert!(!found.to_string().contains("account") && !found.to_string().contains("team-a"), "{found}");

    let said = text(&confined.take(json!({ "hidden": "x" }))).to_owned();
    assert!(said.contains("<--account=team-a>") && said.contains("<--mode=slow>"), "{said}");
    for (arguments, problem) in [
        (json!({}), "Missing required argument 'hidden'"),
        (json!({ "hidden": "x", "account": "team-b" }), "the policy sets its value"),
        (json!({ "hidden": "x", "mode": "none" }), "must be one of: fast, slow"),
        (json!({ "hidden": "x", "text": "two" }), "is not one of: one"),
    ] {
        let result = confined.take(arguments.clone());
        assert!(is_denied(&result) && text(&result).contains(problem), "{arguments}: {result}");
    }
    // A misspelt name is not led to an arg that agents do not give.
    let misspelt = confined.take(json!({ "hidden": "x", "acount": "team-b" }));
    assert!(!misspelt.to_string().contains("'account'"), "{misspelt}");

    let program = crate::support::fakecli().display().to_string();
    let mut run = |line: &str| confined.line(&line.replace("TAKE", &format!("{program} argv")));
    let said = text(&run("TAKE --hidden=x --mode=fast")).to_owned();
    assert!(said.contains("<--account=team-a>") && said.contains("<--mode=fast>"), "{said}");
    // Its default does not apply to a line, and what the program takes instead nobody has checked.
    let unstated = run("TAKE --hidden=x");
    assert!(is_denied(&unstated) && text(&unstated).contains("give `--mode`"), "{unstated}");
    let misspelt = run("TAKE --hidden=x --mode=fast --acount=team-b");
    assert!(misspelt["isError"] == true && !misspelt.to_string().contains("--account"), "{misspelt}");
    for line in ["TAKE", "TAKE --hidden=x --account=team-b", "TAKE --hidden=x --mode=none"] {
        assert_eq!(run(line)["isError"], true, "{line}");
    }
    assert_eq!(run(&format!("{program} argv --hidden=x | {program} argv --hidden=y"))["isError"], true);
}

#[test]
fn policy_sets_variables_of_programs() {
    let env = |policy: &str| {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let tools = "  - {name: show, description: S, command: env TOKEN, risk: read}\n";
        fs::write(at("fake.yaml"), fake_config(tools) + "env: {TOKEN: of the config}\n").unwrap();
        fs::write(at("policy.yaml"), policy).unwrap();
        shown(&at("fake.yaml"), &at("policy.yaml"))
    };
    let literal = env("tools: {show: {}}\nenv: {TOKEN: of the policy}\n");
    assert!(literal.contains("TOKEN=Ok(\"of the policy\")") && !literal.contains("of the config"), "{literal}");
    let taken = env("tools: {show: {}}\nenv: {TOKEN: {from: TEAM_TOKEN}}\n");
    assert!(taken.contains("TOKEN=Ok(\"[secret]\")"), "the program has the value, and the result hides it: {taken}");
    let absent = env("tools: {show: {}}\nenv: {TOKEN: {from: ABSENT_TOKEN}}\n");
    assert!(absent.contains("The policy takes the variable TOKEN from ABSENT_TOKEN"), "{absent}");
}

/// Returns what the tool `show` prints.
fn shown(config: &Path, policy: &Path) -> String {
    let mut command = climax();
    command.args(["call", "show", "--only", "--config"]).arg(config).arg("--policy").arg(policy);
    command.env("TEAM_TOKEN", "for the team").env_remove("ABSENT_TOKEN");
    let (_, out, errors) = crate::support::run(&mut command);
    out + &errors
}
