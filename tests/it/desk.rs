//! What a person at a desk runs: `init`, `man`, `catalog`, `doctor` of clients, help, and names of own binaries.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Server, binary, climax, fake_config, fakecli, run};

/// Writes a program that prints a help page.
#[cfg(feature = "import")]
fn program_with_help(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let help = "Usage: paint [OPTIONS] FILE\n\nPaints a file.\n\nOptions:\n  -c, --color NAME  the color\n  -h, --help        print help\n";
    fs::write(path, format!("#!/bin/sh\ncat <<'HELP'\n{help}HELP\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
#[cfg(feature = "import")]
fn init_drafts_a_config_and_names_commands_that_work() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("paint");
    program_with_help(&program);
    let (status, stdout, stderr) = run(climax().current_dir(dir.path()).arg("init").arg(&program));
    assert_eq!(status, 0, "{stdout}{stderr}");
    assert!(stdout.starts_with("paint.yaml: 2 tools, valid\n"), "{stdout}");
    let planned = stdout.lines().find_map(|line| line.trim().strip_prefix("3. Plan a call:")).unwrap();
    let words = planned.trim().strip_prefix("climax ").unwrap().split(' ');
    let (status, stdout, stderr) = run(climax().current_dir(dir.path()).args(words));
    assert!(status == 0 && stdout.contains("paint"), "{planned}: {stdout}{stderr}");
    let (status, _, stderr) = run(climax().current_dir(dir.path()).arg("init").arg(&program));
    assert!(status == 1 && stderr.contains("paint.yaml exists"), "{stderr}");
}

#[test]
#[cfg(feature = "import")]
fn init_without_a_terminal_asks_for_nothing() {
    let (status, _, stderr) = run(climax().arg("init"));
    assert!(status == 2 && stderr.contains("climax init PROGRAM"), "{stderr}");
}

#[test]
fn man_prints_a_page_or_writes_all() {
    let (status, page, _) = run(climax().arg("man"));
    assert!(status == 0 && page.contains(".TH climax 1"), "{page}");
    let dir = tempfile::tempdir().unwrap();
    let pages = dir.path().join("man1");
    assert_eq!(run(climax().arg("man").arg(&pages)).0, 0);
    for name in ["climax.1", "climax-call.1", "climax-install.1"] {
        assert!(fs::read_to_string(pages.join(name)).unwrap().starts_with(".ie"), "{name}");
    }
}

/// The page of a catalog whose texts are HTML.
fn hostile_page(dir: &Path) -> String {
    let tools = "  - name: words\n    description: \"<script>alert(1)</script> \\u202Ex & 'y'\"\n    command: argv\n    risk: read\n    \
                 args: [{name: text, description: '<img src=x>', positional: true, required: true}]\n";
    fs::write(dir.join("fake.yaml"), fake_config(tools)).unwrap();
    let (status, stdout, stderr) =
        run(climax().current_dir(dir).args(["catalog", "--config", "fake.yaml", "--only", "--html", "page.html"]));
    assert_eq!((status, stdout.as_str(), stderr.as_str()), (0, "page.html: 1 tool\n", ""));
    fs::read_to_string(dir.join("page.html")).unwrap()
}

#[test]
fn catalog_page_escapes_all_text_and_needs_no_network() {
    let dir = tempfile::tempdir().unwrap();
    let page = hostile_page(dir.path());
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt; \\u{202e}x &amp; &#39;y&#39;"), "{page}");
    assert!(page.contains("&lt;img src=x&gt;") && !page.contains("<img"), "{page}");
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.contains("default-src 'none'"), "{page}");
    for outside in ["http://", "https://", "src=\"", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let command = format!("<pre>{} argv &lt;text&gt;</pre>", fakecli().display());
    assert!(page.contains(&command) && page.contains("climax call words"), "{page}");
}

/// The text between two marks.
fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    page.split_once(start).and_then(|(_, rest)| rest.split_once(end)).unwrap().0
}

#[test]
fn catalog_page_permits_its_own_style_and_script_alone() {
    use base64::Engine as _;
    use sha2::Digest as _;
    let dir = tempfile::tempdir().unwrap();
    let page = hostile_page(dir.path());
    for (kind, text) in
        [("style-src", between(&page, "<style>", "</style>")), ("script-src", between(&page, "<script>", "</script>"))]
    {
        let hash = base64::prelude::BASE64_STANDARD.encode(sha2::Sha256::digest(text));
        assert!(page.contains(&format!("{kind} 'sha256-{hash}'")), "{kind}");
    }
}

#[test]
fn doctor_starts_the_servers_that_clients_name() {
    let home = tempfile::tempdir().unwrap();
    let command = |args: &[&str]| {
        let mut command = climax();
        command.current_dir(home.path()).args(args).env("HOME", home.path());
        command
            .env("XDG_CONFIG_HOME", home.path().join(".config"))
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("CODEX_HOME");
        command
    };
    let doctor = || -> Value {
        let (_, stdout, stderr) = run(&mut command(&["doctor", "--json", "--only", "--config", "fake.yaml"]));
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
    };
    fs::write(home.path().join("fake.yaml"), fake_config("  - {name: words, command: argv, description: x}\n"))
        .unwrap();
    assert_eq!(doctor()["clients"], serde_json::json!([]));
    for client in ["cursor", "codex"] {
        assert_eq!(run(&mut command(&["install", client, "--only", "--config", "fake.yaml"])).0, 0);
    }
    let checks = doctor()["clients"].clone();
    let found: Vec<_> = checks.as_array().unwrap().iter().map(|check| (&check["client"], &check["problem"])).collect();
    assert_eq!(found, [(&Value::from("Cursor"), &Value::Null), (&Value::from("Codex"), &Value::Null)]);
    let settings = home.path().join(".cursor/mcp.json");
    let text = fs::read_to_string(&settings).unwrap().replace("fake.yaml", "gone.yaml");
    fs::write(&settings, text).unwrap();
    let problem = doctor()["clients"][0]["problem"].to_string();
    assert!(problem.contains("gone.yaml"), "{problem}");
    let (status, _, _) = run(&mut command(&["doctor", "--only", "--config", "fake.yaml"]));
    assert_eq!(status, 1);
}

#[test]
fn short_help_fits_a_screen_and_has_three_examples() {
    let (status, short, _) = run(climax().arg("-h"));
    assert!(status == 0 && short.lines().count() <= 48, "{} lines: {short}", short.lines().count());
    let examples = short.split_once("Examples:\n").unwrap().1;
    assert_eq!(examples.lines().count(), 3, "{examples}");
    let (_, long, _) = run(climax().arg("--help"));
    for group in ["What agents see:", "Running:", "Records:"] {
        assert!(long.contains(group) && !short.contains(group), "{group}: {long}");
    }
}

#[test]
fn binary_of_another_name_is_called_by_it() {
    let dir = tempfile::tempdir().unwrap();
    let fleet = dir.path().join("fleet");
    // Not by this process: a child of another test might inherit the open file, and nobody could execute it.
    #[expect(clippy::disallowed_methods, reason = "the binary has to have another name")]
    let copied = std::process::Command::new("cp").arg(binary()).arg(&fleet).status().unwrap();
    assert!(copied.success());
    let fleet_says = |args: &[&str]| {
        let (_, stdout, stderr) = run(std::process::Command::new(&fleet).args(args).env("HOME", dir.path()));
        format!("{stdout}{stderr}")
    };
    assert!(fleet_says(&["--version"]).starts_with("fleet "));
    assert!(fleet_says(&["version"]).starts_with("fleet, built with climax "));
    assert!(fleet_says(&["--help"]).contains("Usage: fleet "));
    assert!(fleet_says(&["completions", "bash"]).contains("_fleet()"));
    assert!(fleet_says(&["call", "git_log", "--policy", "absent.yaml"]).contains("absent.yaml"));
    for words in
        [&["show", "git"][..], &["skill"], &["test-dialog"], &["--config", "git"], &["lst"], &["policy", "nwe"]]
    {
        let said = fleet_says(words);
        assert!(said.contains("fleet") && !said.contains("climax "), "{said}");
    }
    let help = fleet_says(&["--help"]);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for command in commands.filter_map(|line| line.split_whitespace().next()) {
        let said = fleet_says(&["help", command]);
        assert!(said.contains(&format!("Usage: fleet {command}")) && !said.contains("climax "), "{said}");
    }
    let installed = fleet_says(&["install", "cursor", "--print"]);
    assert!(installed.contains("\"fleet\"") && installed.contains("/fleet/policy.yaml"), "{installed}");
    let mut server = Server::spawn(&mut std::process::Command::new(&fleet));
    assert_eq!(server.initialize("2025-06-18")["result"]["serverInfo"]["name"], "fleet");
}

#[test]
fn tables_have_whole_lines_and_no_rules_without_a_terminal() {
    let (_, listed, _) = run(climax().args(["list", "git"]));
    let log = listed.lines().find(|line| line.starts_with("git_log ")).unwrap();
    assert!(log.contains("max_count (integer, default 20)") && !listed.contains('─'), "{log}");
}
