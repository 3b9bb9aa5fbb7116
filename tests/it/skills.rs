//! Skills: `skills/list`, `skills/get`, their files as resources, mistakes in them, and `climax export --skill`.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use climax::catalog::{Catalog, Layer, PackedSkills, Skill, Source, Style, ToolIndex, check_skills, compile, files};
use climax::serving::load::{Loaded, Wanted, load_tools};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Server, climax, run, until};
use crate::web::Web;

const EXTENSION: &str = "io.modelcontextprotocol/skills";

const RELEASE: &str = "---
name: release
description: Writes release notes. Use when a version is released.
license: MIT
metadata: {author: us, steps: 2}
---

# Release

Call `git_log`, and keep to [the style](style/notes.txt).
";

/// Makes a catalog with the skills of a directory, and the skills.
fn compiled_in(skills: &Skills) -> (Catalog, Vec<Skill>) {
    let config = "command: git\ntools: [{name: git_log, description: Show history}]\n";
    let mut catalog = compile(&[Source::new("git.yaml", config.into()).unwrap()]).unwrap().catalog;
    let index = ToolIndex::from_configs(vec![Layer::loaded(catalog.clone())]);
    let (directories, _) = files::read_skills(&[skills.path("")], |path: &Path| path.display().to_string());
    let (checked, _) = check_skills(directories, index.tools()).unwrap();
    catalog.skills = PackedSkills::pack(&checked);
    (catalog, checked)
}

/// A directory of skills.
struct Skills(tempfile::TempDir);

impl Skills {
    /// Makes a directory with the skill `release`.
    fn new() -> Self {
        let skills = Self(tempfile::tempdir().unwrap());
        skills.write("release/SKILL.md", RELEASE);
        skills.write("release/style/notes.txt", "short\n");
        skills.write("release/logo.bin", b"\xff\0");
        skills.write("README.md", "no part of a skill");
        skills
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn serve(&self, more: &[&str]) -> (Server, Value) {
        let directory = self.path("");
        let mut command = climax();
        command.args(["run", "git", "--skills", directory.to_str().unwrap()]).args(more);
        let mut server = Server::spawn(&mut command);
        let answer = server.initialize("2025-11-25");
        (server, answer)
    }

    /// Serves the skills, which have mistakes. Returns what is said about them.
    fn refused(&self) -> String {
        let (code, output, said) = run(climax().args(["run", "git", "--skills"]).arg(self.path("")));
        assert_eq!((code, output.as_str()), (1, ""), "{said}");
        said
    }
}

fn list(server: &mut Server) -> Value {
    server.request("skills/list", json!({}))["result"]["skills"].take()
}

fn read(server: &mut Server, uri: &str) -> Value {
    server.request("resources/read", json!({ "uri": uri }))
}

#[test]
fn skills_are_listed_with_front_matter_and_digests() {
    let skills = Skills::new();
    let (mut server, answer) = skills.serve(&[]);
    assert_eq!(answer["result"]["capabilities"]["extensions"][EXTENSION], json!({}), "{answer}");

    let listed = list(&mut server);
    let front_matter = json!({
        "name": "release", "description": "Writes release notes. Use when a version is released.", "license": "MIT",
        "metadata": { "author": "us", "steps": 2 },
    });
    assert_eq!(listed[0]["frontmatter"], front_matter, "{listed}");
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let digest = |content: &[u8]| format!("sha256:{}", hex::encode(Sha256::digest(content)));
    let file = |path: &str, content: &[u8]| json!({ "uri": format!("skill://release/{path}"), "digest": digest(content), "size": content.len() });
    let files =
        [file("SKILL.md", RELEASE.as_bytes()), file("logo.bin", b"\xff\0"), file("style/notes.txt", b"short\n")];
    assert_eq!(listed[0]["resources"], json!(files));

    let got = server.request("skills/get", json!({ "uri": "skill://release/SKILL.md" }));
    assert_eq!(got["result"]["skill"], listed[0], "{got}");
    let text = read(&mut server, "skill://release/SKILL.md");
    let expected = json!([{ "uri": "skill://release/SKILL.md", "mimeType": "text/markdown", "text": RELEASE }]);
    assert_eq!(text["result"]["contents"], expected);
    assert_eq!(read(&mut server, "skill://release/logo.bin")["result"]["contents"][0]["blob"], "/wA=");
}

#[test]
fn other_uris_of_skills_name_nothing() {
    let skills = Skills::new();
    skills.write("secret.txt", "secret");
    let (mut server, _) = skills.serve(&[]);
    for uri in [
        "skill://release/../secret.txt",
        "skill://release/style/../SKILL.md",
        "skill://release/%53KILL.md",
        "skill://release/%2e%2e/secret.txt",
        "skill://release//SKILL.md",
        "skill://release/style",
        "skill://release/",
        "skill://release",
        "skill://RELEASE/SKILL.md",
        "skill://release/SKILL.md?a",
        "skill:///etc/passwd",
    ] {
        let found = read(&mut server, uri);
        assert_eq!(found["error"]["code"], -32002, "{uri}: {found}");
        let found = server.request("skills/get", json!({ "uri": uri }));
        assert_eq!(found["error"]["code"], -32602, "{uri}: {found}");
    }
    let found = server.request("skills/list", json!({ "cursor": "7" }));
    assert_eq!(found["error"]["code"], -32602, "{found}");
}

#[test]
fn servers_without_skills_do_not_have_the_methods() {
    let mut server = Server::spawn(climax().args(["run", "git"]));
    let answer = server.initialize("2025-11-25");
    assert_eq!(answer["result"]["capabilities"]["extensions"][EXTENSION], Value::Null, "{answer}");
    for (method, params) in [("skills/list", json!({})), ("skills/get", json!({ "uri": "skill://a/SKILL.md" }))] {
        assert_eq!(server.request(method, params)["error"]["code"], -32601);
    }
    assert_eq!(read(&mut server, "skill://a/SKILL.md")["error"]["code"], -32002);
}

#[test]
fn skills_that_mention_hidden_tools_are_not_served() {
    let skills = Skills::new();
    skills.write("push/SKILL.md", RELEASE.replace("name: release", "name: push"));
    skills.write("push/more.txt", "then git_push.");
    skills.write("policy.yaml", "default: enabled\ndeny: [git_push]\n");
    let policy = skills.path("policy.yaml");
    let (mut server, _) = skills.serve(&["--policy", policy.to_str().unwrap()]);
    let listed = list(&mut server).to_string();
    assert!(listed.contains("skill://release/") && !listed.contains("push"), "{listed}");
    assert_eq!(read(&mut server, "skill://push/more.txt")["error"]["code"], -32002);
    let mut stderr = server.child.stderr.take().unwrap();
    server.finish();
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    assert!(said.contains("mentions tools that are not: git_push"), "{said}");

    skills.write("policy.yaml", "default: enabled\ndeny: [git_push, git_log]\n");
    let (_, answer) = skills.serve(&["--policy", policy.to_str().unwrap()]);
    assert_eq!(answer["result"]["capabilities"]["extensions"][EXTENSION], Value::Null, "{answer}");
}

#[test]
fn all_mistakes_in_skills_are_reported_with_their_places() {
    let skills = Skills::new();
    let path = |name: &str| skills.path(name).display().to_string();
    skills.write(
        "one/SKILL.md",
        "---\nname: two\n---\n\nUse `git_lgo`.\n`max_count` is an arg, and git_nothing plain.\n",
    );
    skills.write("Upper/SKILL.md", "---\nname: Upper\ndescription: \"\"\n---\nx\n");
    skills.write("none/SKILL.md", "# No front matter\n");
    skills.write("long/SKILL.md", format!("---\nname: long\ndescription: {}\n---\nx\n", "a".repeat(1025)));
    skills.write("bare/SKILL.md", "---\nname: bare\ndescription: x\n---\n");
    skills.write("types/SKILL.md", "---\nname: 7\ndescription: [x]\n---\nx\n");
    let said = skills.refused();
    for expected in [
        format!("{}:2:7", path("one/SKILL.md")),
        "the skill is named `two`, and its directory `one`".to_owned(),
        "missing key `description` in front matter".to_owned(),
        format!("{}:5:6", path("one/SKILL.md")),
        "did you mean `git_log`?".to_owned(),
        "`Upper` is no name of a skill".to_owned(),
        "`description` is empty".to_owned(),
        "a skill starts with front matter, found none".to_owned(),
        "`description` has 1025 characters, expected 1024 at most".to_owned(),
        "front matter alone".to_owned(),
        "`description` must be a string, found a list".to_owned(),
        "`name` must be a string, found the number `7`".to_owned(),
    ] {
        assert!(said.contains(&expected), "{expected}\n{said}");
    }
    assert!(!said.contains("git_nothing") && !said.contains("the tool `max_count`"), "{said}");
}

#[test]
fn skills_hold_few_small_regular_files_only() {
    let skills = Skills::new();
    symlink("/etc/passwd", skills.path("release/link")).unwrap();
    skills.write("release/a b.txt", "x");
    skills.write("release/big.txt", vec![b'x'; files::MAX_SKILL_FILE_BYTES + 1]);
    fs::create_dir(skills.path("release/many")).unwrap();
    for at in 0..files::MAX_SKILL_FILES {
        skills.write(&format!("release/many/{at}"), "");
    }
    let said = skills.refused();
    for expected in
        ["regular files and directories only", "other characters than URIs", "1 MiB at most", "100 files at most"]
    {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    fs::remove_dir_all(skills.path("release")).unwrap();
    assert!(skills.refused().contains("the directory holds no skill"));
    fs::create_dir(skills.path("empty")).unwrap();
    assert!(skills.refused().contains("the directory of a skill has no SKILL.md"));
}

#[test]
fn changed_skills_are_served_after_a_reload() {
    let skills = Skills::new();
    let (mut server, _) = skills.serve(&["--watch"]);
    assert_eq!(list(&mut server).as_array().unwrap().len(), 1);
    skills.write("release/style/notes.txt", "shorter\n");
    let changed = server.receive();
    assert_eq!(changed["method"], "notifications/resources/list_changed", "{changed}");
    let text = read(&mut server, "skill://release/style/notes.txt");
    assert_eq!(text["result"]["contents"][0]["text"], "shorter\n");
}

#[test]
fn compiled_in_skills_are_those_of_the_directory() {
    let (catalog, checked) = compiled_in(&Skills::new());
    let generated = climax_codegen::emit(&catalog).unwrap();
    let names: Vec<_> = generated.files().into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"skills.json") && names.contains(&"skills.bin"), "{names:?}");
    assert!(generated.rust.contains("include_str!(\"skills.json\")"));
    assert_eq!(generated.skills.unwrap().unpack(), checked);
    assert_eq!(checked[0].tools, ["git_log"]);
}

#[test]
fn skills_of_directories_replace_compiled_in_ones_with_a_warning() {
    let (catalog, _) = compiled_in(&Skills::new());
    let catalog = Box::leak(Box::new(catalog));
    let other = Skills::new();
    other.write("release/SKILL.md", RELEASE.replace("Writes release notes", "Tags a release"));
    let load = |skills: Vec<PathBuf>| load_tools(catalog, &Wanted { skills, ..Wanted::default() }, None).unwrap();
    let says = |loaded: &Loaded, words: &str| {
        loaded.skills[0].front_matter["description"].as_str().unwrap().starts_with(words)
    };
    let alone = load(Vec::new());
    assert!(says(&alone, "Writes release notes") && alone.warnings.is_empty());
    let replaced = load(vec![other.path("")]);
    assert!(replaced.skills.len() == 1 && says(&replaced, "Tags a release"), "{:?}", replaced.skills);
    let warned = replaced.warnings.render(Style::Plain);
    assert!(warned.contains("replaces the compiled-in skill of this name\n--> release"), "{warned}");
}

#[test]
fn exported_skill_is_a_skill_of_the_served_programs() {
    let skills = Skills::new();
    skills.write("policy file.yaml", "default: enabled\ndeny: [git_push]\n");
    let policy = skills.path("policy file.yaml");
    let directory = skills.path("use-git");
    let export = || run(climax().args(["export", "git", "--policy"]).arg(&policy).arg("--skill").arg(&directory));
    let (code, output, said) = export();
    assert_eq!((code, said.as_str()), (0, ""));
    assert!(output.starts_with("wrote ") && output.ends_with("use-git/SKILL.md\n"), "{output}");
    let text = fs::read_to_string(directory.join("SKILL.md")).unwrap();
    let call = format!("climax call --policy '{}' TOOL KEY=VALUE", policy.display());
    for expected in ["name: use-git\n", "\n- git (", "## When a call fails", call.as_str()] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert!(!text.contains("- docker"), "{text}");
    // What it writes is valid, and is written again.
    let (mut server, _) = skills.serve(&[]);
    assert!(list(&mut server).to_string().contains("skill://use-git/SKILL.md"));
    assert_eq!(export().0, 0);

    skills.write("use-git/SKILL.md", "mine");
    let (code, _, said) = export();
    assert!(code == 1 && said.contains("was not written by this command"), "{said}");
    let (code, _, said) = run(climax().args(["export", "git", "--skill", "No Skill"]));
    assert!(code == 1 && said.contains("small letters"), "{said}");
}

#[test]
fn the_skill_of_the_plugin_is_valid() {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("packages/plugins/climax/skills");
    let mut server = Server::start(&["run", "--skills", plugin.to_str().unwrap()]);
    assert_eq!(list(&mut server)[0]["uri"], "skill://climax/SKILL.md");
}

#[test]
fn skills_are_validated_without_a_server() {
    let skills = Skills::new();
    let validate = |more: &[&str]| run(climax().args(["validate", "--skills"]).arg(skills.path("")).args(more));
    assert_eq!(validate(&[]).0, 0);
    assert!(validate(&[]).1.starts_with("valid: 1 skill, "), "{:?}", validate(&[]));
    skills.write("release/SKILL.md", RELEASE.replace("git_log", "git_lgo"));
    let (status, said, errors) = validate(&[]);
    assert!(status == 1 && said.starts_with("invalid: 1 error"), "{said}");
    assert!(errors.contains("git_lgo") && errors.contains("git_log") && errors.contains("SKILL.md:10"), "{errors}");
    // A skill may mention the tools of the files that are checked with it.
    skills.write("mine.yaml", "name: mine\ncommand: echo\ntools: [{name: git_lgo, description: L}]\n");
    let config = skills.path("mine.yaml");
    assert_eq!(validate(&[config.to_str().unwrap()]).1, "valid: 1 tool, 1 skill, 0 warnings\n");
    skills.write("release/SKILL.md", "no front matter");
    let (_, json, _) = validate(&["--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["valid"], false, "{json}");
}

#[test]
fn callers_see_the_skills_of_their_policy() {
    const ADA: &str = "0123456789abcdef0123456789";
    const BOB: &str = "fedcba9876543210fedcba9876";
    let skills = Skills::new();
    skills.write("tokens", format!("ada {ADA}\nbob {BOB}\n"));
    skills.write("ada.yaml", "default: enabled\n");
    skills.write("bob.yaml", "default: enabled\ndeny: [git_log]\n");
    let path = |name: &str| skills.path(name).display().to_string();
    let [ada, bob] = ["ada", "bob"].map(|name| format!("{name}={}", path(&format!("{name}.yaml"))));
    let (tokens, directory) = (path("tokens"), path(""));
    let web =
        Web::start(&["--skills", &directory, "--token-file", &tokens, "--policy-for", &ada, "--policy-for", &bob]);
    let ask = |token: &str, method: &str, params: Value| {
        let token = format!("Authorization: Bearer {token}");
        web.modern_of(&json!({ "extensions": { EXTENSION: {} } }), &[&token], method, &params).json()
    };
    let listed = ask(ADA, "skills/list", json!({}));
    assert_eq!(listed["result"]["skills"].as_array().map(Vec::len), Some(1), "{listed}");
    let hidden = ask(BOB, "skills/list", json!({}));
    assert_eq!(hidden["result"]["skills"].as_array().map_or(0, Vec::len), 0, "{hidden}");
    let uri = json!({ "uri": "skill://release/SKILL.md" });
    let read = ask(ADA, "resources/read", uri.clone());
    assert!(read["result"].is_object(), "{read}");
    assert!(ask(BOB, "resources/read", uri)["error"].is_object());
    assert!(!ask(BOB, "server/discover", json!({})).to_string().contains("git_log"));
}

#[test]
fn a_signal_reads_skills_again() {
    let skills = Skills::new();
    let (mut server, _) = skills.serve(&[]);
    assert_eq!(list(&mut server).as_array().unwrap().len(), 1);
    skills.write("review/SKILL.md", RELEASE.replace("name: release", "name: review"));
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    until("the new skill", || {
        let id = server.post("skills/list", json!({}));
        let answer = loop {
            let message = server.receive();
            if message["id"] == id {
                break message;
            }
        };
        answer["result"]["skills"].as_array().is_some_and(|skills| skills.len() == 2)
    });
}
