//! `cargo build` with valid and invalid configs: messages, and when the catalog is rebuilt.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package whose build script compiles `configs/` and whose program prints the catalog.
///
/// All packages share one target directory, so that the generator is built once.
struct Package {
    dir: tempfile::TempDir,
    name: String,
}

const GOOD: &str = "command: one\ntools: [{name: one_tool, description: The first}]\n";

impl Package {
    fn new(name: &str) -> Self {
        let package = Self { dir: tempfile::tempdir().unwrap(), name: name.to_owned() };
        let root = env!("CARGO_MANIFEST_DIR");
        package.write(
            "Cargo.toml",
            &format!(
                "[workspace]\n[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                 [build-dependencies]\nclimax-codegen = {{ path = \"{}\" }}\n",
                Path::new(root).join("codegen").display()
            ),
        );
        fs::copy(Path::new(root).join("Cargo.lock"), package.path("Cargo.lock")).unwrap();
        package.write("build.rs", "fn main() { climax_codegen::Build::from_env().run(); }\n");
        package.write(
            "src/main.rs",
            "fn main() { print!(\"{}\", include_str!(concat!(env!(\"OUT_DIR\"), \"/catalog.txt\"))) }\n",
        );
        package.write("configs/one.yaml", GOOD);
        package
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn cargo(&self, command: &str) -> Command {
        let test = std::env::current_exe().unwrap();
        let target = test.ancestors().nth(3).unwrap().join("test-packages");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(self.dir.path()).args([command, "--offline"]).env("CARGO_TARGET_DIR", target);
        cargo
            .env_remove("CLIMAX_CONFIGS")
            .env_remove("CLIMAX_POLICY")
            .env_remove("CLIMAX_SEALED")
            .env_remove("CLIMAX_SKILLS")
            .env("CARGO_TERM_COLOR", "never");
        cargo
    }

    /// Builds. Returns the success and cargo's standard error without its progress.
    fn build(&self) -> (bool, String) {
        said(&mut self.cargo("build"))
    }

    /// Builds and runs. Returns the printed catalog.
    fn run(&self) -> String {
        let output = self.cargo("run").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Whether a build runs the generator.
    fn regenerates(&self) -> bool {
        let output = self.cargo("build").arg("-v").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        let script = format!("/{}-", self.name);
        said.lines()
            .any(|line| line.contains("Running") && line.contains(&script) && line.contains("build-script-build`"))
    }
}

fn said(cargo: &mut Command) -> (bool, String) {
    let output = cargo.output().unwrap();
    let progress =
        ["Compiling", "Finished", "Locking", "Adding", "Removing", "Updating", "Blocking", "warning: build failed"];
    let stderr = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> =
        stderr.lines().filter(|line| !progress.iter().any(|word| line.trim_start().starts_with(word))).collect();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    (output.status.success(), lines.join("\n"))
}

#[test]
fn invalid_catalog_fails_the_build_with_all_errors() {
    let package = Package::new("bad-catalog");
    package.write(
        "configs/bad.yaml",
        "command: bad\ntools:\n  - name: bad_tool\n    descripton: x\n    args: [{name: a, type: bolean}]\n",
    );
    package.write("configs/worse.yaml", "command: \"worse\ntools: []\n");
    let (built, said) = package.build();
    assert!(!built);
    insta::assert_snapshot!(said);
}

#[test]
fn failed_build_links_no_stale_catalog() {
    let package = Package::new("stale-catalog");
    assert!(package.run().contains("one_tool"));
    package.write("configs/one.yaml", "command: [\n");
    assert!(!package.build().0);
    assert!(!package.build().0, "a second build does not succeed either");
    package.write("configs/one.yaml", &GOOD.replace("one_tool", "another"));
    let text = package.run();
    assert!(text.contains("another") && !text.contains("one_tool"));
}

#[test]
fn warnings_do_not_fail_the_build() {
    let package = Package::new("warned-catalog");
    package.write("configs/two.yaml", "command: two\ntools: [{name: one_tool, description: The second}]\n");
    let (built, said) = package.build();
    assert!(built);
    insta::assert_snapshot!(said);
}

#[test]
fn invalid_seal_setting_fails_the_build() {
    let package = Package::new("sealed-catalog");
    let build = |value: &str| said(package.cargo("build").env("CLIMAX_SEALED", value));
    for value in ["yes", "true", "01"] {
        let (is_built, said) = build(value);
        assert!(!is_built && said.contains(&format!("CLIMAX_SEALED is `{value}`, expected 1")), "{said}");
    }
    assert!(build("1").0 && build("0").0 && build("").0);
}

#[test]
fn many_errors_are_cut_with_a_count() {
    let package = Package::new("many-mistakes");
    let tools: Vec<String> = (0..60).map(|n| format!("  - {{name: tool_{n}}}")).collect();
    package.write("configs/one.yaml", &format!("command: x\ntools:\n{}\n", tools.join("\n")));
    let (_, said) = package.build();
    assert_eq!(said.matches("[missing-key]").count(), 50, "{said}");
    assert!(said.contains("… and 10 more errors"), "{said}");
}

#[test]
fn generator_runs_only_when_configs_change() {
    let package = Package::new("rebuilt-catalog");
    assert!(package.regenerates());
    assert!(!package.regenerates());
    package.write("src/main.rs", &(fs::read_to_string(package.path("src/main.rs")).unwrap() + "// touched\n"));
    package.write("README.md", "unrelated");
    assert!(!package.regenerates(), "unrelated files changed");
    // Cargo compares modification times, which some file systems round.
    let later = || std::thread::sleep(std::time::Duration::from_millis(20));
    later();
    package.write("configs/two.yaml", &GOOD.replace("one", "two"));
    assert!(package.regenerates(), "a file was added");
    assert!(!package.regenerates());
    later();
    package.write("configs/two.yaml", &GOOD.replace("one", "three"));
    assert!(package.regenerates(), "a file was changed");
    later();
    fs::remove_file(package.path("configs/two.yaml")).unwrap();
    assert!(package.regenerates(), "a file was removed");
    assert!(!package.run().contains("three_tool"));
}

#[test]
fn variable_selects_another_config_directory() {
    let package = Package::new("named-catalog");
    package.write("elsewhere/a.yaml", &GOOD.replace("one", "dir"));
    package.write("single.yaml", &GOOD.replace("one", "single"));
    let run = |configs: &str| package.cargo("run").env("CLIMAX_CONFIGS", configs).output().unwrap();
    let text = String::from_utf8(run("elsewhere:single.yaml").stdout).unwrap();
    assert!(text.contains("dir_tool") && text.contains("single_tool") && !text.contains("one_tool"));
    assert!(package.run().contains("one_tool"), "without the variable, configs/ is compiled again");
    let (built, said) = said(package.cargo("build").env("CLIMAX_CONFIGS", "absent:src"));
    assert!(!built);
    insta::assert_snapshot!(said);
}

#[test]
fn two_files_for_one_cli_are_a_warning_of_the_build() {
    let package = Package::new("doubled-catalog");
    package.write("more/two.yaml", &format!("name: one\n{}", GOOD.replace("one_tool", "two_tool")));
    let (built, said) = said(package.cargo("build").env("CLIMAX_CONFIGS", "configs:more"));
    assert!(built);
    insta::assert_snapshot!(said);
}

#[test]
fn policy_is_compiled_in() {
    let package = Package::new("policed-catalog");
    package.write("configs/two.yaml", &GOOD.replace("one", "two"));
    package.write("policy.yaml", "tools: {two_tool: {}}\n");
    let cargo = |command: &str| {
        let mut cargo = package.cargo(command);
        cargo.env("CLIMAX_POLICY", "policy.yaml");
        cargo
    };
    let text = String::from_utf8(cargo("run").output().unwrap().stdout).unwrap();
    assert!(text.contains("two_tool") && !text.contains("one_tool"), "{text}");
    std::thread::sleep(std::time::Duration::from_millis(20));
    package.write("policy.yaml", "tools:\n  tow_tool: {}\n  one_tool: {args: {x: {pattern: '('}}}\n");
    package.write("configs/two.yaml", "command: two\ntools: [{nmae: x}]\n");
    let (built, both) = said(&mut cargo("build"));
    assert!(!built && both.contains("[bad-pattern]") && both.contains("[unknown-key]"), "{both}");
    package.write("configs/two.yaml", &GOOD.replace("one", "two"));
    package.write("policy.yaml", "tools:\n  tow_tool: {}\n");
    let (built, unknown) = said(&mut cargo("build"));
    assert!(!built);
    insta::assert_snapshot!(unknown);
}

#[test]
fn skills_are_compiled_in_and_their_mistakes_fail_the_build() {
    let package = Package::new("skilled-catalog");
    let head = "---\nname: first\ndescription: Does it\n---\n";
    package.write(
        "src/main.rs",
        "fn main() { print!(\"{}\", include_str!(concat!(env!(\"OUT_DIR\"), \"/skills.json\"))) }\n",
    );
    package.write("skills/first/SKILL.md", &format!("{head}Call `one_tool`.\n"));
    let cargo = |command: &str| {
        let mut cargo = package.cargo(command);
        cargo.env("CLIMAX_SKILLS", "skills");
        cargo
    };
    let manifest = String::from_utf8(cargo("run").output().unwrap().stdout).unwrap();
    assert!(manifest.starts_with("[[\"first\",") && manifest.contains("[\"one_tool\"]"), "{manifest}");
    std::thread::sleep(std::time::Duration::from_millis(20));
    package.write("skills/first/SKILL.md", &format!("{}Call `one_tol`.\n", head.replace("first", "second")));
    let (built, errors) = said(&mut cargo("build"));
    assert!(!built);
    for expected in ["skills/first/SKILL.md:2:7", "skills/first/SKILL.md:5:7", "did you mean `one_tool`?", "2 errors"] {
        assert!(errors.contains(expected), "{expected}\n{errors}");
    }
}
