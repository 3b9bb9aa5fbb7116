//! What a policy at run time may add to the one that is compiled in: nothing.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use climax_catalog::policy::{self, PolicyFile, SensitiveRule};
use climax_catalog::{Layer, Policy, Risk, Source, ToolIndex, compile};

const CONFIG: &str = "command: probe\ntools:\n  - {name: probe_look, description: Look, risk: read}\n";

fn read(text: &str) -> PolicyFile {
    policy::read(&Source::new("policy.yaml", text.into()).unwrap()).unwrap()
}

/// The policy that holds where one is compiled in, and another given at run time.
fn narrowed(compiled_in: &str, runtime: &str) -> Policy {
    let config = || compile(&[Source::new("probe.yaml", CONFIG.into()).unwrap()]).unwrap().catalog;
    let catalog = read(compiled_in).compile_in(config()).unwrap().catalog;
    let compiled_in = Policy::compiled_in(&catalog);
    if runtime.is_empty() {
        return compiled_in;
    }
    let index = ToolIndex::from_configs(vec![Layer::loaded(catalog)]);
    read(runtime).narrowing(&compiled_in).unwrap().apply(index, &|_| false).unwrap().policy
}

#[test]
fn hosts_are_those_of_both_policies() {
    let with = |hosts: &str| format!("default: enabled\nlines: {{send: [{hosts}]}}\n");
    for (compiled_in, runtime, host, is_known) in [
        ("a.example", "a.example", "a.example", true),
        ("a.example", "b.example", "b.example", false),
        ("'*.example'", "a.example", "a.example", true),
        ("'*.example'", "'*.a.example'", "x.a.example", true),
        ("a.example", "'*.a.example'", "x.a.example", false),
        ("a.example", "'*.example'", "a.example", false),
    ] {
        let policy = narrowed(&with(compiled_in), &with(runtime));
        assert_eq!(policy.lines().sends_to(host), is_known, "{compiled_in} and {runtime}: {host}");
    }
}

#[test]
fn what_prints_secrets_is_asked_about_where_either_policy_asks() {
    let asking = "default: enabled\napproval: {global: destructive}\n";
    let silent = "default: enabled\napproval: {global: none}\n";
    let open = "default: enabled\napproval: {global: destructive, sensitive: allow}\n";
    for (compiled_in, runtime, rule) in [
        (asking, "", SensitiveRule::Ask),
        (asking, silent, SensitiveRule::Ask),
        (asking, open, SensitiveRule::Ask),
        (silent, "", SensitiveRule::Allow),
        (silent, asking, SensitiveRule::Ask),
        (open, asking, SensitiveRule::Ask),
        (open, open, SensitiveRule::Allow),
    ] {
        assert_eq!(narrowed(compiled_in, runtime).sensitive(), rule, "{compiled_in}{runtime}");
    }
}

#[test]
fn files_of_the_project_and_hooks_are_held_by_the_stricter_policy() {
    let wide = "default: enabled\napproval: {project: write}\nhook: {allow: write}\n";
    let strict = "default: enabled\nhook: {bypass: strict}\n";
    let both = narrowed(strict, wide).judgement();
    assert_eq!((both.project.as_str(), both.hook_allow, both.bypass.as_str()), ("destructive", Risk::Read, "strict"));
    let both = narrowed(wide, wide).judgement();
    assert_eq!((both.project.as_str(), both.hook_allow), ("write", Risk::Write));
}
