//! YAML in → diagnostics out.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use climax_catalog::{
    Code, Compiled, Diagnostic, Diagnostics, Layer, MAX_CONFIG_BYTES, Phase, ServedItem, Source, Style, ToolIndex,
    compile, compile_linted, compile_over, policy,
};

fn diagnose(path: &str, bytes: Vec<u8>) -> Diagnostics {
    diagnose_by(compile, path, bytes)
}

fn diagnose_linted(path: &str, bytes: Vec<u8>) -> Diagnostics {
    diagnose_by(compile_linted, path, bytes)
}

fn diagnose_by(compile: fn(&[Source]) -> Result<Compiled, Diagnostics>, path: &str, bytes: Vec<u8>) -> Diagnostics {
    match Source::new(path, bytes) {
        Err(diagnostic) => {
            let mut all = Diagnostics::default();
            all.push(diagnostic);
            all
        }
        Ok(source) => match compile(&[source]) {
            Ok(compiled) => compiled.warnings,
            Err(diagnostics) => diagnostics,
        },
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Shows the diagnostics of each file of `diagnostics/`. To accept new output: `INSTA_UPDATE=always cargo test`.
#[test]
fn mistakes_in_configs_point_at_their_location() {
    insta::glob!("diagnostics/*.yaml", |path| {
        let diagnostics = diagnose(&name(path), fs::read(path).unwrap());
        insta::assert_snapshot!(diagnostics.render(Style::Plain));
    });
}

/// Shows the diagnostics of each file of `lints/`. Without `--lint` none of them is a lint.
#[test]
fn lints_point_at_their_location() {
    insta::glob!("lints/*.yaml", |path| {
        let bytes = fs::read(path).unwrap();
        insta::assert_snapshot!(diagnose_linted(&name(path), bytes.clone()).render(Style::Plain));
        let unasked = diagnose(&name(path), bytes);
        assert!(unasked.iter().all(|one| one.code().phase() == Phase::Check), "{}", unasked.render(Style::Plain));
    });
}

#[test]
fn lints_take_linear_time() {
    let tools = (0..5_000)
        .map(|n| format!("  - {{name: t{n}, description: Delete what is numbered {n}, args: [{{name: a}}]}}\n"));
    let yaml = format!("command: x\ntools:\n{}", tools.collect::<String>());
    assert_eq!(diagnose_linted("x.yaml", yaml.into_bytes()).iter().count(), 10_000);
}

#[test]
fn every_code_is_explained() {
    for code in Code::ALL {
        let explanation = code.explanation();
        for text in [explanation.meaning, explanation.why, explanation.example, explanation.remedy] {
            assert!(!text.trim().is_empty() && !text.contains("  \n") && !text.contains("[`"), "{code}: {text:?}");
        }
        for sentence in [explanation.meaning, explanation.why, explanation.remedy] {
            assert!(sentence.ends_with('.'), "{code}: {sentence}");
        }
        assert_eq!(Code::named(code.as_str()), Some(*code));
        assert_eq!(code.as_str().starts_with("lint/"), code.phase() == Phase::Lint);
    }
}

#[test]
fn two_files_with_one_cli_name_are_a_warning_also_at_run_time() {
    let source = |path: &str, name: &str, tool: &str| {
        let text = format!("{name}command: x\ntools: [{{name: {tool}, description: Show it}}]\n");
        Source::new(path, text.into_bytes()).unwrap()
    };
    let sources = [
        source("git.yaml", "", "a"),
        source("more.yaml", "description: More\nname: git\n", "b"),
        source("again/git.yaml", "", "c"),
        source("other.yaml", "name: more\n", "d"),
    ];
    let compiled = compile(&sources).unwrap();
    assert_eq!(compiled.catalog.tools.len(), 4);
    let shown = compiled.warnings.render(Style::Plain);
    assert_eq!(compile_over(&sources, &|_| false).unwrap().warnings.render(Style::Plain), shown);
    let served = |item: ServedItem<'_>| item == ServedItem::Cli("more");
    let over = compile_over(&sources[3..], &served).unwrap().warnings;
    insta::assert_snapshot!(format!("{shown}\n\n{}", over.render(Style::Plain)));
}

/// Returns the diagnostics of a policy for a small catalog.
fn diagnose_policy(path: &str, bytes: Vec<u8>) -> Diagnostics {
    const TOOLS: &str = "
command: git
tools:
  - name: git_log
    description: Shows history
    args: [{name: max_count, type: integer, default: 10}, {name: oneline, type: boolean}]
  - name: git_commit
    description: Records changes
    risk: write
    args: [{name: message, required: true}]
";
    let config = Source::new("git.yaml", TOOLS.as_bytes().to_vec()).unwrap();
    let index = ToolIndex::from_configs(vec![Layer::loaded(compile(&[config]).unwrap().catalog)]);
    match policy::read(&Source::new(path, bytes).unwrap()) {
        Ok(file) => file.apply(index, &|_| false).unwrap().warnings,
        Err(diagnostics) => diagnostics,
    }
}

/// Shows the diagnostics of each file of `policies/`.
#[test]
fn mistakes_in_policies_point_at_their_location() {
    insta::glob!("policies/*.yaml", |path| {
        let diagnostics = diagnose_policy(&name(path), fs::read(path).unwrap());
        insta::assert_snapshot!(diagnostics.render(Style::Plain));
    });
}

#[test]
fn every_code_has_an_example() {
    let mut seen = BTreeSet::new();
    for (directory, diagnose) in [
        ("diagnostics", diagnose as fn(&str, Vec<u8>) -> Diagnostics),
        ("lints", diagnose_linted),
        ("policies", diagnose_policy),
    ] {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(directory);
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "yaml") {
                seen.extend(diagnose(&name(&path), fs::read(&path).unwrap()).iter().map(Diagnostic::code));
            }
        }
    }
    // These codes concern whole files or the served catalog; other tests show them.
    let of_files = [
        Code::Unreadable,
        Code::NoConfigs,
        Code::NotUtf8,
        Code::TooLarge,
        Code::Override,
        Code::Widening,
        Code::DuplicateCli,
        Code::OverBudget,
        Code::IllegalSkill,
        Code::HiddenSkill,
    ];
    let missing: Vec<_> = Code::ALL.iter().filter(|code| !seen.contains(code) && !of_files.contains(code)).collect();
    assert!(missing.is_empty(), "no example in tests/diagnostics for {missing:?}");
}

#[test]
fn reports_files_that_are_not_text() {
    let files: [&[u8]; 7] = [
        b"\x7fELF\0\0\x01\xff",
        b"\xff\xfec\0o\0",
        b"command: caf\xe9\ntools: []\n",
        b"command: git\0\n",
        b"",
        b"\n  \n# comment\n",
        &vec![b'#'; MAX_CONFIG_BYTES + 1],
    ];
    let shown = files.map(|bytes| diagnose("x.yaml", bytes.to_vec()).render(Style::Plain));
    insta::assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn tool_of_a_later_file_replaces_the_earlier_one() {
    let source = |path: &str, text: &str| Source::new(path, text.as_bytes().to_vec()).unwrap();
    let sources = [
        source(
            "a.yaml",
            "command: a\ntools:\n  - {name: same, description: First}\n  - {name: own, description: Own}\n",
        ),
        source("b.yaml", "command: b\ntools:\n  - {name: same, description: Second}\n"),
    ];
    let compiled = compile(&sources).unwrap();
    insta::assert_snapshot!(compiled.warnings.render(Style::Plain));
    let names: Vec<_> =
        compiled.catalog.tools.iter().map(|tool| compiled.catalog.texts.get(tool.description)).collect();
    assert_eq!(names, ["Own", "Second"]);
}

#[test]
fn aliases_take_bounded_memory() {
    let nested = (0..200).fold("[x]".to_owned(), |inner, level| format!("&a{level} [{inner}]"));
    let wide =
        format!("command: x\ntools: []\nx-a: {}\n", nested.replace("[x]", &format!("[{}x]", "x,".repeat(100_000))));
    let long = format!("command: x\ntools: []\nx-a: &a {}\nx-b: [{}*a]\n", "x".repeat(1 << 20), "*a,".repeat(1000));
    for text in [wide, long] {
        let found = diagnose("x.yaml", text.into_bytes());
        assert_eq!(found.errors().map(Diagnostic::code).collect::<Vec<_>>(), [Code::AliasBomb]);
    }
}

#[test]
fn aliases_nest_to_bounded_depth() {
    let mut yaml = "command: x\ntools: []\nx-0: &a0 [x]\n".to_owned();
    for level in 1..20 {
        let line = format!("x-{level}: &a{level} {}*a{}{}\n", "[".repeat(200), level - 1, "]".repeat(200));
        yaml.push_str(&line);
    }
    let found = diagnose("x.yaml", yaml.into_bytes());
    assert_eq!(found.errors().map(Diagnostic::code).collect::<Vec<_>>(), [Code::AliasBomb]);
}

#[test]
fn texts_that_tools_share_are_bounded() {
    let tools: Vec<String> = (0..4_000).map(|n| format!("  - {{name: t{n}, description: x}}")).collect();
    let yaml = format!("command: x\ntags: [{}]\ntools:\n{}\n", "x".repeat(400_000), tools.join("\n"));
    let found = diagnose("x.yaml", yaml.into_bytes());
    assert_eq!(found.errors().map(Diagnostic::code).collect::<Vec<_>>(), [Code::TooLarge]);
}

#[test]
fn many_mistakes_take_linear_time() {
    let yaml = format!("command: x\ntags:\n{}tools: 5\n", "- no\n".repeat(100_000));
    assert_eq!(diagnose("x.yaml", yaml.into_bytes()).iter().count(), 100_001);
}
