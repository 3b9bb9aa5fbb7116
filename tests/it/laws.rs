//! Invariants of the compiled-in catalog.

use std::collections::HashSet;
use std::path::PathBuf;

use climax::CATALOG;
use climax::call::arguments::{Problem, bind};
use climax::catalog::{Catalog, CliView, Layer, Place, Policy, ResolvedTool, Shape, ToolIndex, digest};
use climax::serving::load::read_configs;
use serde_json::{Map, Value};

use crate::client::read_policy;

fn tools() -> impl Iterator<Item = ResolvedTool<'static>> {
    (0..).take(CATALOG.tools.len()).map(|row| ResolvedTool::new(&CATALOG, row))
}

#[test]
fn catalog_equals_the_compiled_configs() {
    let configs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("configs");
    let loaded = read_configs(&[configs], &|_| false).unwrap();
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings.render(climax::catalog::Style::Plain));
    assert!(loaded.catalog == CATALOG, "the generator prints another catalog than the loader makes");
}

#[test]
fn compiled_in_digest_equals_the_computed_one() {
    let served = |digest| {
        let catalog = Catalog { digest, ..CATALOG.clone() };
        (ToolIndex::from_configs(vec![Layer::loaded(catalog)]), Policy::compiled_in(&CATALOG))
    };
    let (index, policy) = served(None);
    assert_eq!(CATALOG.digest, Some(digest(&index, &policy).as_ref()));
    // The compiled-in digest is not used for fewer tools or another policy.
    let (index, policy) = served(Some("finished"));
    assert_eq!(digest(&index, &policy), "finished");
    let asking = read_policy("default: enabled\napproval: {global: all}").apply(index, &|_| false).unwrap();
    assert_eq!(digest(&asking.index, &asking.policy).len(), 64);
    let part = ToolIndex::from_configs(vec![Layer::loaded(CATALOG.clone()).only(vec![0])]);
    assert_ne!(Some(digest(&part, &policy).as_ref()), CATALOG.digest);
}

#[test]
fn catalog_has_at_least_200_tools_of_14_clis() {
    assert!(CATALOG.tools.len() >= 200, "{} tools", CATALOG.tools.len());
    assert!(CATALOG.clis.len() >= 14, "{} CLIs", CATALOG.clis.len());
}

#[test]
fn bundled_configs_state_the_risk_of_every_tool() {
    let silent: Vec<&str> = tools().filter(|tool| tool.written_risk().is_none()).map(ResolvedTool::name).collect();
    assert_eq!(silent, [""; 0]);
}

#[test]
fn every_name_is_found_and_no_other() {
    let mut seen = HashSet::new();
    for (row, tool) in (0..).zip(tools()) {
        assert_eq!(CATALOG.find(tool.name()), Some(row), "{}", tool.name());
        assert!(seen.insert(tool.name()));
        assert_eq!(CATALOG.find(&tool.name().to_uppercase()), None);
    }
    for absent in ["", "git_lo", "git_log ", "climax_call"] {
        assert_eq!(CATALOG.find(absent), None);
    }
}

#[test]
fn rows_partition_their_tables() {
    let mut next_tool = 0;
    for (row, cli) in (0..).zip(CATALOG.clis.iter()) {
        assert_eq!(cli.tools.0, next_tool);
        next_tool = cli.tools.1;
        assert!(CATALOG.tools[cli.tools.0 as usize..cli.tools.1 as usize].iter().all(|tool| tool.cli == row));
        assert!(!CliView::new(&CATALOG, row).name().is_empty());
    }
    assert_eq!(next_tool as usize, CATALOG.tools.len());
    assert_eq!(CATALOG.search.ends.len(), CATALOG.tools.len());
    assert_eq!(CATALOG.search.ends.last().map(|end| *end as usize), Some(CATALOG.search.text.len()));
    assert!(CATALOG.texts.ends.is_sorted() && CATALOG.search.ends.is_sorted());
}

#[test]
fn schemas_and_entries_are_valid_and_agree() {
    for tool in tools() {
        let schema: Value = serde_json::from_str(tool.input_schema()).unwrap();
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{}: {error}", tool.name()));
        let entry: Value = serde_json::from_str(tool.entry().as_json()).unwrap();
        assert_eq!(entry["input_schema"], schema, "{}", tool.name());
        assert_eq!(entry["tool_name"], tool.name());
        assert_eq!(entry["description"], tool.description());
    }
}

#[test]
fn every_default_binds() {
    for tool in tools() {
        let violations = bind(tool, &Map::new()).err().unwrap_or_default();
        let is_absent = |problem: &Problem| matches!(problem, Problem::Missing | Problem::NotExactlyOne { .. });
        let only_missing = violations.iter().all(|violation| is_absent(&violation.problem));
        assert!(only_missing, "{}: {violations:?}", tool.name());
    }
}

#[test]
fn switches_are_booleans_and_booleans_are_flags() {
    for arg in tools().flat_map(ResolvedTool::args) {
        let is_boolean = arg.kind() == climax::catalog::Type::Boolean;
        assert!(!is_boolean || arg.place() == Place::Option, "{}", arg.name());
        assert!(!arg.is_bare() || is_boolean || arg.shape() == Shape::Count, "{}", arg.name());
    }
}

#[test]
fn every_tool_is_found_by_its_name() {
    let index = ToolIndex::from_configs(vec![Layer::compiled(&CATALOG)]);
    for tool in tools() {
        let filter = climax::catalog::Filter { query: Some(tool.name()), ..Default::default() };
        assert!(
            index.search(filter, usize::MAX).iter().any(|entry| entry.tool_name() == tool.name()),
            "{}",
            tool.name()
        );
    }
}
