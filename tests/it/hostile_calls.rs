//! Reading tools of all bundled programs in a hostile directory, with hostile values: nothing is changed, nothing that a
//! file names runs, and nothing is left.
//!
//! `CLIMAX_HOSTILE_CALLS` sets the number of calls. `CLIMAX_HOSTILE_PROGRAMS=all` adds the programs that take long to
//! start.

use std::collections::BTreeMap;
use std::fs::{create_dir_all, write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use crate::hostile_directories::{Hostile, alone};
use crate::support::{Server, binary, climax, run, until};

/// The number of calls in each run of the suite.
const CALLS: usize = 300;

/// Programs that take long to start, or that need a service that is not here.
const SLOW: [&str; 23] = [
    "ansible",
    "auth0",
    "aws",
    "az",
    "brew",
    "cargo",
    "cdk",
    "docker",
    "gcloud",
    "gh",
    "helm",
    "kubectl",
    "mysql",
    "network",
    "npm",
    "packer",
    "pip",
    "psql",
    "redis-cli",
    "sqlcmd",
    "ssh",
    "terraform",
    "wget",
];

/// The longest time of a call. Later it is cancelled.
const LONGEST_CALL: Duration = Duration::from_secs(2);

/// Files of build tools and package managers that name programs. `TRAP` stands for a program that leaves a mark.
const FILES: [(&str, &str); 16] = [
    ("rust-toolchain.toml", "[toolchain]\npath = \"TRAP\"\n"),
    (".cargo/config.toml", "[build]\nrustc = \"TRAP\"\nrustc-wrapper = \"TRAP\"\n[alias]\ntree = \"run\"\n"),
    ("Cargo.toml", "[package]\nname = \"evil\"\nversion = \"0.1.0\"\nbuild = \"build.rs\"\n"),
    ("build.rs", "fn main() { std::process::Command::new(\"TRAP\").status().unwrap(); }\n"),
    ("src/main.rs", "fn main() {}\n"),
    (".npmrc", "git=TRAP\nscript-shell=TRAP\nnode-options=--require TRAP\nviewer=TRAP\neditor=TRAP\nshell=TRAP\n"),
    (
        "package.json",
        "{\"name\": \"evil\", \"version\": \"1.0.0\", \"scripts\": {\"prepack\": \"TRAP\", \"version\": \"TRAP\"}}",
    ),
    (".sqliterc", ".shell TRAP\n"),
    (".psqlrc", "\\! TRAP\n"),
    (".terraformrc", "credentials_helper \"evil\" { args = [\"TRAP\"] }\n"),
    ("main.tf", "data \"external\" \"evil\" { program = [\"TRAP\"] }\n"),
    ("setup.py", "import os\nos.system('TRAP')\n"),
    ("pyproject.toml", "[build-system]\nrequires = []\nbuild-backend = \"evil\"\nbackend-path = [\".\"]\n"),
    ("evil.py", "import os\nos.system('TRAP')\n"),
    ("Makefile", "all:\n\tTRAP\n"),
    (".gitattributes", "* diff=evil filter=evil merge=evil\n"),
];

/// A hostile repository with more traps, and files whose names look like options.
fn hostile() -> Hostile {
    let hostile = Hostile::new();
    for directory in ["home", "outside", "tmp"] {
        create_dir_all(hostile.path(directory)).unwrap();
    }
    let trap = hostile.trap("programs", "named").display().to_string();
    for (name, text) in FILES {
        let path = hostile.path("repository").join(name);
        create_dir_all(path.parent().unwrap()).unwrap();
        write(path, text.replace("TRAP", &trap)).unwrap();
    }
    for name in ["-exec", "--output=named", "a\nb", "$(named)", "-rf", "x.db", "a.json"] {
        write(hostile.path("repository").join(name), "{\"a\": 1}\n").unwrap();
    }
    write(hostile.path("outside/kept"), "kept\n").unwrap();
    hostile
}

/// What is known of a file.
type Known = (u64, i64, i64, u32);

/// Directories below the home directory with caches that `needs` of the bundled configs name.
const CACHES: [&str; 11] = [
    "home/.npm",
    "home/.cache",
    "home/.cargo",
    "home/.rustup",
    "home/.config/auth0",
    "home/.config/gcloud",
    "home/.kube",
    "home/.aws",
    "home/.azure",
    "home/.docker",
    "home/Library",
];

/// All files below a directory.
fn files(directory: &Path, found: &mut BTreeMap<PathBuf, Known>) {
    for entry in std::fs::read_dir(directory).unwrap().filter_map(Result::ok) {
        let path = entry.path();
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            files(&path, found);
        }
        let changed = if metadata.is_dir() { (0, 0) } else { (metadata.mtime(), metadata.mtime_nsec()) };
        let size = if metadata.is_dir() { 0 } else { metadata.size() };
        found.insert(path, (size, changed.0, changed.1, metadata.mode()));
    }
}

fn snapshot(hostile: &Hostile) -> BTreeMap<PathBuf, Known> {
    let mut found = BTreeMap::new();
    for directory in ["repository", "clone", "home", "outside", "source", "programs", "hooks"] {
        files(&hostile.path(directory), &mut found);
    }
    let caches = CACHES.map(|cache| hostile.path(cache));
    found.retain(|path, _| !caches.iter().any(|cache| path.starts_with(cache)));
    found
}

/// Values that a hostile page could make a model give.
fn texts(hostile: &Hostile) -> Vec<String> {
    let [trap, outside, named] =
        ["programs/named", "outside/kept", "outside/new"].map(|name| hostile.path(name).display().to_string());
    let mut texts: Vec<String> = [
        "-exec",
        "--output=named",
        "a\nb",
        "$(named)",
        "f.txt",
        "h.txt",
        ".",
        "..",
        "-",
        "x.db",
        "a.json",
        "HEAD",
        "HEAD~1",
        "absent",
        "merged",
        "origin",
        "main",
        "*",
        "?",
        "",
        " ",
        "a b",
        "'",
        "\"",
        "`id`",
        "%s%n",
        "\u{2010}x",
        "\u{202e}",
        "é",
        "--",
        "-1",
        "0",
        "1e9",
        "!",
        "(",
        ")",
        ";",
        "|",
        "&&",
        ".a",
        "{a}",
        "a=b",
        "ext::sh",
        "docs",
        "sub",
        "/",
        "/dev/null",
        "/dev/stdin",
        "/proc/self/environ",
        "https://localhost:1/",
        "file:///etc/passwd",
        "@f.txt",
        ":(glob)**",
        "--help",
    ]
    .map(str::to_owned)
    .into();
    for path in [&trap, &outside, &named] {
        texts.push(path.clone());
        for before in [
            "--upload-pack=",
            "--output=",
            "-o",
            "!",
            "|",
            "@",
            "file://",
            "ext::",
            "core.pager=",
            "1e ",
            "w ",
            ".shell ",
            ".output ",
            "alias.x=!",
        ] {
            texts.push(format!("{before}{path}"));
        }
        texts.push(format!("x; touch {path}"));
        texts.push(format!("$(touch {path})"));
        texts.push(format!("a\ntouch {path}"));
        texts.push(format!("ATTACH '{path}' AS evil; CREATE TABLE evil.t (a)"));
        texts.push(format!("SELECT load_extension('{path}')"));
        texts.push(format!("s/a/b/w {path}"));
    }
    texts
}

/// A value for an arg.
fn value(arg: &Value, texts: &[String]) -> BoxedStrategy<Value> {
    let choices: Vec<Value> =
        arg["enum"].as_array().unwrap().iter().map(|item| item.get("value").unwrap_or(item).clone()).collect();
    let text = prop::sample::select(texts.to_vec()).prop_map(Value::from).boxed();
    let single = match arg["type"].as_str().unwrap() {
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "integer" => (-2..1_000_i64).prop_map(Value::from).boxed(),
        "number" => (-2.0..1e3).prop_map(Value::from).boxed(),
        _ if !choices.is_empty() => prop_oneof![4 => prop::sample::select(choices), 1 => text].boxed(),
        _ => text,
    };
    match arg["shape"].as_str().unwrap() {
        "list" => prop::collection::vec(single, 0..4).prop_map(Value::from).boxed(),
        "map" => prop::collection::btree_map(prop::sample::select(texts.to_vec()), single, 0..3)
            .prop_map(|map| Value::Object(map.into_iter().collect()))
            .boxed(),
        "count" => (0..4).prop_map(Value::from).boxed(),
        _ => single,
    }
}

/// Whether an arg makes a program wait for what never comes.
fn waits(arg: &Value) -> bool {
    let name = arg["name"].as_str().unwrap();
    ["follow", "watch", "retry", "interval", "wait", "pid"].iter().any(|word| name.contains(word))
}

/// A tool and arguments for it.
fn call(tools: &[Value], texts: &[String]) -> impl Strategy<Value = (String, Map<String, Value>)> {
    let texts = texts.to_vec();
    prop::sample::select(tools.to_vec()).prop_flat_map(move |tool| {
        let args = tool["args"].as_array().unwrap().iter().filter(|arg| arg["place"] != "cwd" && !waits(arg));
        let given: Vec<_> = args
            .map(|arg| {
                let name = arg["name"].as_str().unwrap().to_owned();
                let chance = if arg["required"] == true { 0.999 } else { 0.2 };
                prop::option::weighted(chance, value(arg, &texts).prop_map(move |value| (name.clone(), value)))
            })
            .collect();
        let name = tool["name"].as_str().unwrap().to_owned();
        given.prop_map(move |given| (name.clone(), given.into_iter().flatten().collect()))
    })
}

/// The reading tools of programs that are installed, as `climax export` prints them.
fn reading_tools(with_slow: bool) -> Vec<Value> {
    let exported: Value = serde_json::from_str(&run(climax().args(["export"])).1).unwrap();
    let found: Value = serde_json::from_str(&run(climax().args(["doctor", "--json"])).1).unwrap();
    let programs = found["programs"].as_array().unwrap();
    let is_installed = |cli: &Value| programs.iter().any(|one| one["cli"] == *cli && !one["path"].is_null());
    let is_quick = |cli: &Value| with_slow || !SLOW.iter().any(|slow| cli == slow);
    let tools = exported["tools"].as_array().unwrap().iter();
    tools
        .filter(|tool| tool["risk"] == "read" && is_quick(&tool["cli"]) && is_installed(&tool["cli"]))
        .filter(|tool| tool["name"] != "coreutils_sleep")
        .cloned()
        .collect()
}

/// The programs that children of a process run, those of climax itself aside.
fn children(pid: u32) -> Vec<PathBuf> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().filter_map(Result::ok);
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<String> =
        lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
    let programs = children.iter().filter_map(|child| std::fs::read_link(format!("/proc/{child}/exe")).ok());
    programs.filter(|program| *program != Path::new(binary())).collect()
}

/// Says why `climax call --dry-run` refuses a call, if it does.
fn refusal(tool: &str, arguments: &[&str]) -> Option<String> {
    let (status, printed, _) = run(climax().args(["call", "--dry-run", tool]).args(arguments));
    (status != 0).then_some(printed)
}

#[test]
fn addresses_of_reading_tools_name_no_file_and_open_no_port() {
    let listening = ["tcp://0.0.0.0:9?listen", "tls://h:9?listen=1", "TCP:h", "crypto+tcp://h", "httpproxy://h"];
    let harmless = ["https://h/a.mp4?x=1:2", "http://h", "a b: c.mp4", "./tcp:x", "a.mp4", "file:a:b", "data:,x"];
    for (tool, name) in [("ffmpeg_probe", "input"), ("ffmpeg_check", "input"), ("ffprobe_run", "input")] {
        for address in listening {
            let reason = refusal(tool, &[&format!("{name}={address}")]);
            assert!(reason.is_some_and(|reason| reason.contains("pattern")), "{tool} {address}");
        }
        for address in harmless {
            assert_eq!(refusal(tool, &[&format!("{name}={address}")]), None, "{tool} {address}");
        }
    }
    for tool in ["curl_get", "curl_head", "curl_timing", "curl_trace", "curl_options"] {
        assert!(refusal(tool, &["url=@list"]).is_some_and(|reason| reason.contains("pattern")), "{tool}");
        assert_eq!(refusal(tool, &["url=https://a@h/?f[x]=1"]), None, "{tool}");
    }
    for address in ["@list", "http://h/[1-3]", "http://{a,b}/"] {
        assert!(refusal("curl_run", &[&format!("url=[\"{address}\"]")]).is_some(), "{address}");
    }
    for address in ["h", "https://a@h/?x=%5B", "http://[::1]:80/a"] {
        assert_eq!(refusal("curl_run", &[&format!("url=[\"{address}\"]")]), None, "{address}");
    }
}

#[test]
fn help_of_gh_names_commands_of_gh_alone() {
    for (tool, arguments) in [
        ("gh_help", ["topic=evil"].as_slice()),
        ("gh_help", &["topic=pr", "subcommand=[\"evil\"]"]),
        ("gh_command_help", &["command=extension", "subcommand=[\"exec\"]"]),
        ("gh_command_usage", &["command=pr", "subcommand=[\"evil\"]"]),
    ] {
        assert!(refusal(tool, arguments).is_some(), "{tool} {arguments:?}");
    }
    assert_eq!(refusal("gh_help", &["topic=pr", "subcommand=[\"create\"]"]), None);
    assert_eq!(refusal("gh_help", &["topic=exit-codes"]), None);
}

#[test]
fn reading_compose_tools_get_the_variables_of_docker_alone() {
    let exported: Value = serde_json::from_str(&run(climax().args(["export"])).1).unwrap();
    let tools = exported["tools"].as_array().unwrap().iter();
    let compose: Vec<_> = tools
        .filter(|tool| tool["risk"] == "read" && tool["name"].as_str().unwrap().starts_with("docker_compose_"))
        .collect();
    assert!(compose.len() > 10, "{}", compose.len());
    for tool in compose {
        let variables = tool["needs"]["env"].as_array().unwrap();
        assert!(variables.contains(&json!("COMPOSE_*")) && !variables.contains(&json!("*")), "{}", tool["name"]);
    }
}

#[test]
fn reading_npm_tools_get_no_token_that_the_settings_of_a_project_could_send() {
    let exported: Value = serde_json::from_str(&run(climax().args(["export"])).1).unwrap();
    let tools = exported["tools"].as_array().unwrap().iter();
    let npm: Vec<_> = tools.filter(|tool| tool["risk"] == "read" && tool["cli"] == "npm").collect();
    assert!(npm.len() > 10, "{}", npm.len());
    for tool in npm.into_iter().filter(|tool| tool["needs"]["network"] == json!(["*"])) {
        for name in tool["needs"]["env"].as_array().unwrap() {
            let start = name.as_str().unwrap().trim_end_matches('*');
            let is_pattern = name.as_str() != Some(start);
            let fits = |token: &&str| if is_pattern { token.starts_with(start) } else { *token == start };
            let token = ["NPM_TOKEN", "NODE_AUTH_TOKEN", "NPM_CONFIG__AUTH"].into_iter().find(fits);
            assert_eq!(token, None, "{}", tool["name"]);
        }
    }
}

#[test]
fn look_ups_of_npm_take_no_proxy_of_a_project() {
    // These ask no registry.
    let local = [
        "bin",
        "cache_list",
        "cache_npx_info",
        "cache_npx_list",
        "completion",
        "config_get",
        "config_list",
        "explain",
        "fund",
        "help",
        "help_search",
        "install_scripts",
        "list",
        "list_long",
        "manual",
        "pack_dry_run",
        "pack_list",
        "pkg_get",
        "prefix",
        "query",
        "root",
        "sbom",
        "scripts",
        "usage",
        "version_show",
    ];
    let exported: Value = serde_json::from_str(&run(climax().args(["export"])).1).unwrap();
    for tool in
        exported["tools"].as_array().unwrap().iter().filter(|tool| tool["cli"] == "npm" && tool["risk"] == "read")
    {
        let name = tool["name"].as_str().unwrap().trim_start_matches("npm_");
        let always = tool["always"].as_array().unwrap();
        let takes_none = ["--proxy=null", "--https-proxy=null"].iter().all(|word| always.contains(&json!(word)));
        assert_ne!(takes_none, local.contains(&name), "{name}: {always:?}");
    }
}

#[test]
fn reading_tools_change_nothing_and_run_nothing_that_files_name() {
    let wanted = std::env::var("CLIMAX_HOSTILE_CALLS").ok().map(|count| count.parse().unwrap());
    let tools = reading_tools(std::env::var_os("CLIMAX_HOSTILE_PROGRAMS").is_some());
    let hostile = hostile();
    let texts = texts(&hostile);
    let mut command = climax();
    alone(&mut command).args(["run", "--meta", "read"]).current_dir(hostile.path("repository"));
    let rustup = |name: &str, below: &str| {
        std::env::var_os(name).map_or_else(|| std::env::home_dir().unwrap().join(below), PathBuf::from)
    };
    command
        .env("RUSTUP_HOME", rustup("RUSTUP_HOME", ".rustup"))
        .env("HOME", hostile.path("home"))
        .env("TMPDIR", hostile.path("tmp"));
    let mut server = Server::spawn(&mut command);
    server.initialize("2025-06-18");
    let seed = [7; 32];
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let strategy = call(&tools, &texts);
    let mut known = snapshot(&hostile);
    let (mut ran, mut cancelled) = (0, 0);
    let mut holes = Vec::new();
    for _ in 0..wanted.unwrap_or(CALLS) {
        let (name, arguments) = strategy.new_tree(&mut runner).unwrap().current();
        let id = server.post(
            "tools/call",
            json!({ "name": "climax_read", "arguments": { "tool_name": name, "args": arguments } }),
        );
        if server.has_message_within(LONGEST_CALL) {
            let answer = server.receive();
            assert_eq!(answer["id"], id, "{answer}");
            let code = &answer["result"]["structuredContent"]["error"]["code"];
            ran += usize::from(code.is_null() || code == "command_failed");
        } else {
            server
                .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
            // The call may have ended in the meantime.
            let ping = server.post("ping", json!({}));
            while server.receive()["id"] != ping {}
            cancelled += 1;
        }
        holes.extend(hostile.ran().into_iter().map(|trap| format!("{name} ran {trap}: {arguments:?}")));
        let now = snapshot(&hostile);
        if now != known {
            let is_other = |path: &&PathBuf| now.get(*path) != known.get(*path);
            let changed: Vec<_> = now.keys().chain(known.keys()).filter(is_other).collect();
            holes.push(format!("{name} changed {changed:?}: {arguments:?}"));
            known = now;
        }
    }
    tracing::info!("{} tools, {ran} calls ran a program, {cancelled} were cancelled", tools.len());
    assert!(holes.is_empty(), "{}", holes.join("\n"));
    assert!(ran * 4 > wanted.unwrap_or(CALLS), "too few calls are valid: {ran}");
    until("the programs to end", || children(server.child.id()).is_empty());
}
