//! `climax install` writes itself into the settings of clients, and keeps what is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Server, binary, climax, fake_config, run, text};

/// A home directory without settings.
struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = climax();
        command.current_dir(self.dir.path()).args(args).env("HOME", self.dir.path());
        command.env("XDG_CONFIG_HOME", self.path(".config")).env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME");
        command
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        run(&mut self.command(args))
    }
}

fn program() -> &'static Path {
    Path::new(binary())
}

/// The file of each client, the key of its servers, and the words of the command that it starts.
const CLIENTS: [(&str, &str, &str); 10] = [
    ("claude-code", ".claude.json", "mcpServers"),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("vscode", ".config/Code/User/mcp.json", "servers"),
    ("codex", ".codex/config.toml", "mcp_servers"),
    ("gemini", ".gemini/settings.json", "mcpServers"),
    ("opencode", ".config/opencode/opencode.json", "mcp"),
    ("qwen", ".qwen/settings.json", "mcpServers"),
    ("copilot", ".copilot/mcp-config.json", "mcpServers"),
    ("zed", ".config/zed/settings.json", "context_servers"),
];

#[test]
#[cfg(target_os = "linux")]
fn each_client_gets_an_entry_and_loses_it_again() {
    for (client, file, key) in CLIENTS {
        let home = Home::new();
        let (status, stdout, stderr) = home.run(&["install", client, "git"]);
        assert_eq!((status, stderr.as_str()), (0, ""), "{client}");
        assert!(stdout.contains(&format!("{file}: set `{key}.climax`")), "{client}: {stdout}");
        let text = home.read(file);
        assert!(text.contains(program().to_str().unwrap()) && text.contains("\"git\""), "{client}: {text}");
        let (_, again, _) = home.run(&["install", client, "git"]);
        assert!(again.contains("nothing to change") && home.read(file) == text, "{client}: {again}");
        let (status, stdout, _) = home.run(&["install", client, "--remove"]);
        assert!(status == 0 && stdout.contains("removed"), "{client}: {stdout}");
        assert!(!home.read(file).contains("climax"), "{client}: {}", home.read(file));
        let (_, stdout, _) = home.run(&["install", client, "--remove"]);
        assert!(stdout.contains("nothing to remove"), "{client}: {stdout}");
    }
}

#[test]
fn entry_has_the_surface_and_the_options_with_absolute_paths() {
    let home = Home::new();
    let config = home.write("mine.yaml", &fake_config("  - {name: words, command: argv, description: x}\n"));
    let policy = home.write("policy.yaml", "default: enabled\n");
    let args = ["install", "claude-code", "--config", "mine.yaml", "--only", "--policy", "policy.yaml"];
    assert_eq!(home.run(&args).0, 0);
    let entry: Value = serde_json::from_str(&home.read(".claude.json")).unwrap();
    let [config, policy] = [config, policy].map(|path| path.canonicalize().unwrap().display().to_string());
    let words = json!([
        "--config",
        config,
        "--only",
        "--policy",
        policy,
        "--meta",
        "search,call,read,run",
        "--answers",
        "compact"
    ]);
    assert_eq!(entry["mcpServers"]["climax"], json!({ "type": "stdio", "command": program(), "args": words }));
    assert_eq!(home.run(&["install", "claude-code", "--", "--meta", "search,run"]).0, 0);
    let entry: Value = serde_json::from_str(&home.read(".claude.json")).unwrap();
    let policy = home.path(".config/climax/policy.yaml");
    assert_eq!(entry["mcpServers"]["climax"]["args"], json!(["--policy", policy, "--meta", "search,run"]));
}

#[test]
fn installed_server_asks_before_destructive_calls_unless_no_policy_is_wanted() {
    let home = Home::new();
    let file = ".config/climax/policy.yaml";
    let (_, stdout, _) = home.run(&["install", "cursor", "--print"]);
    assert!(stdout.contains("global: destructive") && !home.path(file).exists(), "{stdout}");
    let (_, stdout, _) = home.run(&["install", "cursor"]);
    assert!(stdout.contains("policy.yaml: written; climax asks before destructive calls"), "{stdout}");
    assert_eq!(home.run(&["validate", "--policy", file]).0, 0);
    let entry: Value = serde_json::from_str(&home.read(".cursor/mcp.json")).unwrap();
    let words = json!(["--policy", home.path(file), "--meta", "search,call,read,run", "--answers", "compact"]);
    assert_eq!(entry["mcpServers"]["climax"]["args"], words);
    let own = "default: enabled\n";
    home.write(file, own);
    let (_, stdout, _) = home.run(&["install", "gemini"]);
    assert!(stdout.contains("policy.yaml: kept as it is") && home.read(file) == own, "{stdout}");
    home.write(file, "default: maybe\n");
    let (status, _, stderr) = home.run(&["install", "zed"]);
    assert!(status == 1 && stderr.contains("maybe") && !home.path(".config/zed").exists(), "{stderr}");
    assert_eq!(home.run(&["install", "zed", "--no-policy"]).0, 0);
    assert!(!home.read(".config/zed/settings.json").contains("--policy"));
}

#[test]
fn comments_other_servers_and_unknown_keys_stay() {
    let home = Home::new();
    let json = "{\n  // mine\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}, // theirs\n    \
        \"climax\": {\"command\": \"old\", \"timeout\": 5},\n  },\n}\n";
    home.write(".cursor/mcp.json", json);
    assert_eq!(home.run(&["install", "cursor"]).0, 0);
    let text = home.read(".cursor/mcp.json");
    for kept in ["// mine", "\"theme\": \"dark\"", "\"other\": {\"command\": \"x\"}, // theirs", "\"timeout\": 5"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(!text.contains("\"old\""), "{text}");
    let toml = "# mine\nmodel = \"m\" # this one\n\n[mcp_servers.other]\ncommand = \"x\"\n";
    home.write(".codex/config.toml", toml);
    assert_eq!(home.run(&["install", "codex"]).0, 0);
    let text = home.read(".codex/config.toml");
    assert!(text.starts_with(toml) && text.contains("[mcp_servers.climax]"), "{text}");
    assert_eq!(home.run(&["install", "codex", "--remove"]).0, 0);
    assert_eq!(home.read(".codex/config.toml").trim_end(), toml.trim_end());
}

#[test]
fn print_shows_the_entry_and_writes_nothing() {
    let home = Home::new();
    let (status, stdout, _) = home.run(&["install", "vscode", "--print"]);
    assert!(status == 0 && stdout.contains("\"servers\"") && stdout.ends_with("Nothing was written.\n"), "{stdout}");
    assert_eq!(fs::read_dir(home.dir.path()).unwrap().count(), 0);
    home.write(".cursor/mcp.json", "{\"token\": \"hidden\"}");
    let (_, stdout, _) = home.run(&["install", "cursor", "--print"]);
    assert!(!stdout.contains("hidden"), "{stdout}");
}

#[test]
fn broken_settings_are_refused_with_place_and_remedy() {
    for (client, file, text, problem) in [
        ("cursor", ".cursor/mcp.json", "{\n  \"a\": ]\n}", "line 2"),
        ("cursor", ".cursor/mcp.json", "[]", "expected an object"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": 3}", "expected an object in `mcpServers`"),
        ("codex", ".codex/config.toml", "a = 1\nb = [", "line 2"),
        ("codex", ".codex/config.toml", "mcp_servers = 1\n", "expected an object in `mcp_servers`"),
    ] {
        let home = Home::new();
        let path = home.write(file, text);
        let (status, stdout, stderr) = home.run(&["install", client]);
        assert_eq!((status, stdout.as_str()), (1, ""), "{text}");
        for part in [problem, path.to_str().unwrap(), "Nothing was written. Correct the file"] {
            assert!(stderr.contains(part), "{part}: {stderr}");
        }
        assert_eq!(home.read(file), text);
    }
}

#[test]
fn server_that_would_not_start_is_not_installed() {
    let home = Home::new();
    home.write("mine.yaml", "name: mine\n");
    let (status, _, stderr) = home.run(&["install", "cursor", "--config", "mine.yaml"]);
    assert!(status == 1 && stderr.contains("mine.yaml"), "{stderr}");
    assert!(!home.path(".cursor").exists());
}

#[test]
fn options_that_the_server_does_not_take_are_refused() {
    let home = Home::new();
    let (status, _, stderr) = home.run(&["install", "cursor", "--", "--answer", "compact"]);
    assert_eq!(status, 2, "{stderr}");
    assert!(stderr.contains("--answer"), "{stderr}");
    assert!(!home.path(".cursor/mcp.json").exists());
}

#[test]
fn byte_order_mark_is_no_mistake() {
    let home = Home::new();
    home.write(".cursor/mcp.json", "\u{feff}{\"mcpServers\": {\"other\": {\"command\": \"x\"}}}");
    assert_eq!(home.run(&["install", "cursor"]).0, 0);
    let settings: Value = serde_json::from_str(&home.read(".cursor/mcp.json")).unwrap();
    assert_eq!(settings["mcpServers"]["other"]["command"], "x");
    assert!(settings["mcpServers"]["climax"].is_object());
}

#[test]
fn project_settings_name_the_program_without_its_path() {
    let home = Home::new();
    assert_eq!(home.run(&["install", "claude-code", "--project"]).0, 0);
    let entry: Value = serde_json::from_str(&home.read(".mcp.json")).unwrap();
    let server = &entry["mcpServers"]["climax"];
    assert_eq!(server["command"], "climax");
    assert_eq!(
        server["args"],
        json!(["--policy", "climax-policy.yaml", "--meta", "search,call,read,run", "--answers", "compact"])
    );
    assert!(home.read("climax-policy.yaml").contains("global: destructive"));
    let (status, _, stderr) = home.run(&["list", "git", "--policy", "climax-policy.yaml"]);
    assert_eq!(status, 0, "{stderr}");
    assert_eq!(home.run(&["install", "cursor", "--project", "--no-policy"]).0, 0);
    assert!(!home.read(".cursor/mcp.json").contains("--policy"));
    let (status, _, stderr) = home.run(&["install", "copilot", "--project"]);
    assert!(status == 2 && stderr.contains("leave out --project"), "{stderr}");
}

#[test]
fn links_to_settings_stay_links_and_modes_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = Home::new();
    let real = home.write("dotfiles/mcp.json", "{}");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(home.path(".cursor")).unwrap();
    symlink(&real, home.path(".cursor/mcp.json")).unwrap();
    assert_eq!(home.run(&["install", "cursor"]).0, 0);
    assert!(fs::symlink_metadata(home.path(".cursor/mcp.json")).unwrap().is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(home.read("dotfiles/mcp.json").contains("climax"));
}

/// The text of a file of this repository.
fn of_repository(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn plugins_start_the_installed_program_and_ask_or_only_read() {
    let home = Home::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("packages/plugins/climax");
    let folder = |file: &str| serde_json::from_str::<Value>(&of_repository(&format!("packages/plugins/climax/{file}")));
    assert_eq!(folder(".codex-plugin/plugin.json").unwrap()["mcpServers"], "./codex.mcp.json");
    for file in [".mcp.json", "codex.mcp.json"] {
        let server = folder(file).unwrap()["mcpServers"]["climax"].clone();
        assert_eq!(server["command"], "climax", "{file}: no package of a registry");
        let words = server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        let words: Vec<String> =
            words.map(|word| word.replace("${CLAUDE_PLUGIN_ROOT}", root.to_str().unwrap())).collect();

        let mut command = home.command(&[]);
        command.args(&words);
        let mut server = Server::spawn(&mut command);
        server.initialize("2025-11-25");
        let (caller, arguments) = match file {
            ".mcp.json" => ("climax_call", json!({ "path": home.path("absent") })),
            _ => ("climax_read", json!({ "path": home.path("absent") })),
        };
        let refused = server.tool(caller, json!({ "tool_name": "coreutils_rm", "args": arguments }));
        let said = text(&refused);
        let expected = if file == ".mcp.json" { "approv" } else { "may only read" };
        assert!(refused["isError"] == true && said.contains(expected), "{file}: {said}");
    }
}

#[test]
fn settings_for_writing_by_hand_have_a_policy() {
    for page in ["README.md", "docs/guides/clients.md", "docs/guides/platforms.md"] {
        let text = of_repository(page);
        let settings = text.lines().filter(|line| {
            line.contains("mcp add") || line.contains("\"command\":") || line.contains("command = \"climax\"")
        });
        for line in settings {
            assert!(line.contains("--policy"), "{page}: {line}");
        }
    }
}

#[test]
fn no_page_runs_a_package_of_a_registry() {
    let pages =
        ["README.md", "docs/tutorial.md", "docs/guides/install.md", "docs/guides/clients.md", "docs/compatibility.md"];
    for page in pages {
        let text = of_repository(page);
        for word in [
            "npx -y climax",
            "uvx climax",
            "pip install climax",
            "binstall climax",
            "brew install climax",
            "cargo install climax",
        ] {
            assert!(!text.contains(word), "{page}: `{word}`, and nobody has shown whose package that is");
        }
        for registry in ["pypi.org/", "npmjs.com/", "crates.io/"] {
            assert!(!text.contains(registry), "{page} links {registry}");
        }
    }
}

#[test]
fn clients_get_no_website_that_nobody_owns() {
    let mut server = Server::spawn(&mut climax());
    let info = server.initialize("2025-11-25")["result"]["serverInfo"].clone();
    let website = info["websiteUrl"].as_str().unwrap_or_default();
    assert!(info["name"] == "climax" && !website.contains("OWNER"), "{info}");
}

/// The file of the hooks of each client that has such, and the event.
const HOOKS: [(&str, &str, &str); 6] = [
    ("claude-code", ".claude/settings.json", "PreToolUse"),
    ("codex", ".codex/hooks.json", "PreToolUse"),
    ("gemini", ".gemini/settings.json", "BeforeTool"),
    ("qwen", ".qwen/settings.json", "PreToolUse"),
    ("cursor", ".cursor/hooks.json", "beforeShellExecution"),
    ("copilot", ".copilot/hooks/climax.json", "preToolUse"),
];

#[test]
fn hooks_are_added_once_beside_others_and_found_by_the_doctor() {
    for (client, file, event) in HOOKS {
        let home = Home::new();
        let before = format!("{{\n  // mine\n  \"hooks\": {{\"{event}\": [{{\"command\": \"other\"}}]}}\n}}\n");
        home.write(file, &before);
        let (status, stdout, stderr) = home.run(&["install", client, "--hook", "--untried"]);
        assert_eq!(status, 0, "{client}: {stdout}{stderr}");
        let text = home.read(file);
        assert!(text.contains("// mine") && text.contains("\"other\""), "{client}: {text}");
        let words = format!("{} hook {client} --policy", program().display());
        // Where an agent has an event for its questions, the hook stands there too, once.
        let answers_questions = ["codex", "qwen"].contains(&client);
        assert_eq!(text.matches("PermissionRequest").count(), usize::from(answers_questions), "{client}: {text}");
        assert_eq!(text.matches(&words).count(), 1 + usize::from(answers_questions), "{client}: {text}");
        let (_, again, _) = home.run(&["install", client, "--hook", "--untried"]);
        assert!(again.contains("nothing to change") && home.read(file) == text, "{client}: {again}");

        let (_, report, _) = home.run(&["doctor", "coreutils"]);
        assert!(report.contains("its hook judges lines"), "{client}: {report}");
        fs::remove_file(home.path(".config/climax/policy.yaml")).unwrap();
        let (status, report, _) = home.run(&["doctor", "coreutils"]);
        assert!(status == 1 && !report.contains("its hook judges lines"), "{client}: {report}");

        let (status, stdout, _) = home.run(&["install", client, "--hook", "--remove"]);
        assert!(status == 0 && stdout.contains("removed"), "{client}: {stdout}");
        let text = home.read(file);
        assert!(text.contains("\"other\"") && !text.contains("climax"), "{client}: {text}");
    }
}

#[test]
fn options_of_a_hook_are_checked_and_written() {
    let home = Home::new();
    let (status, _, stderr) = home.run(&["install", "codex", "--hook", "--", "--meta", "run"]);
    assert!(status != 0 && stderr.contains("the hook does not take"), "{stderr}");
    let (status, _, stderr) = home.run(&["install", "codex", "--hook", "--", "--audit", "/tmp/a.jsonl"]);
    assert_eq!(status, 0, "{stderr}");
    assert!(home.read(".codex/hooks.json").contains(" --audit /tmp/a.jsonl"), "{}", home.read(".codex/hooks.json"));
}

#[test]
fn the_hook_of_opencode_is_a_plugin_of_its_own() {
    let home = Home::new();
    let (status, stdout, stderr) = home.run(&["install", "opencode", "--hook"]);
    assert_eq!(status, 0, "{stdout}{stderr}");
    let file = ".config/opencode/plugin/climax.js";
    let words = format!("[\"{}\",\"hook\",\"opencode\",\"--policy\"", program().display());
    assert!(home.read(file).contains(&words), "{}", home.read(file));
    let (_, again, _) = home.run(&["install", "opencode", "--hook"]);
    assert!(again.contains("nothing to change"), "{again}");
    let (_, report, _) = home.run(&["doctor", "coreutils"]);
    assert!(report.contains("its hook judges lines"), "{report}");
    let (status, stdout, _) = home.run(&["install", "opencode", "--hook", "--remove"]);
    assert!(status == 0 && stdout.contains("removed") && !home.path(file).exists(), "{stdout}");
}

#[test]
fn hooks_are_refused_where_they_cannot_be_written() {
    let home = Home::new();
    for (arguments, part) in [
        (["install", "zed", "--hook"].as_slice(), "has no hooks"),
        (&["install", "cursor", "--hook"], "--untried"),
        (&["install", "claude-code", "--hook", "git"], "cannot be used with"),
        (&["install", "claude-code", "--untried"], "--hook"),
    ] {
        let (status, _, stderr) = home.run(arguments);
        assert!(status != 0 && stderr.contains(part), "{arguments:?}: {stderr}");
    }
    home.write(".claude/settings.json", "{\"hooks\": []}");
    let (status, _, stderr) = home.run(&["install", "claude-code", "--hook"]);
    assert!(status == 1 && stderr.contains("expected an object in `hooks`"), "{stderr}");
    assert_eq!(home.read(".claude/settings.json"), "{\"hooks\": []}");
}
