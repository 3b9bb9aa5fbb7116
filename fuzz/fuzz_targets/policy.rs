//! Asserts that any policy either has errors that can be rendered, or leaves exactly the tools that it permits, with
//! schemas that are JSON, and that it only narrows a compiled-in policy.

#![no_main]

use std::sync::LazyLock;

use climax::catalog::policy::{Applied, Headless, read};
use climax::catalog::{Catalog, Diagnostics, Filter, Layer, Policy, ResolvedTool, Source, Strategy, ToolIndex};
use climax_fuzz::fixtures::{COMPILED_IN, RESTRICTED};
use climax_fuzz::{catalog, object, policy, show};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| catalog(RESTRICTED));
static INDEX: LazyLock<ToolIndex> = LazyLock::new(|| ToolIndex::from_configs(vec![Layer::compiled(&CATALOG)]));
static NARROWED: LazyLock<Catalog> =
    LazyLock::new(|| policy(COMPILED_IN).compile_in(CATALOG.clone()).expect("its names are there").catalog);

fuzz_target!(|bytes: &[u8]| {
    let Ok(source) = Source::new("policy.yaml", bytes.to_vec()) else { return };
    let file = match read(&source) {
        Ok(file) => file,
        Err(found) => return refused(&found),
    };
    let applied = file.clone().apply(INDEX.clone(), &|_| false).expect("the tools fit one catalog");
    permits_what_it_says(&applied);
    match file.clone().compile_in(CATALOG.clone()) {
        Ok(compiled) => {
            let index = ToolIndex::from_configs(vec![Layer::loaded(compiled.catalog)]);
            assert!(index.tools().map(entry).eq(applied.index.tools().map(entry)));
            let asks =
                |tool: ResolvedTool<'_>| INDEX.get(tool.name()).and_then(|own| applied.policy.approval_from(own));
            assert!(index.tools().all(|tool| tool.approval_from() == asks(tool)));
        }
        Err(found) => refused(&found),
    }
    match file.narrowing(&Policy::compiled_in(&NARROWED)) {
        Ok(file) => only_narrows(
            &file
                .apply(ToolIndex::from_configs(vec![Layer::compiled(&NARROWED)]), &|_| false)
                .expect("the tools fit one catalog"),
        ),
        Err(found) => refused(&found),
    }
});

fn refused(found: &Diagnostics) {
    assert!(found.has_errors());
    show(found);
}

fn entry(tool: ResolvedTool<'_>) -> Value {
    let entry = object(tool.entry().as_json());
    assert_eq!(entry["input_schema"], object(tool.input_schema()));
    entry
}

fn permits_what_it_says(Applied { policy, index, warnings }: &Applied) {
    assert!(!warnings.has_errors());
    show(warnings);
    for tool in INDEX.tools() {
        assert_eq!(index.get(tool.name()).is_some(), policy.permits(tool), "{}", tool.name());
        let filter = Filter { query: Some(tool.name()), ..Filter::default() };
        for strategy in [Strategy::Lexical, Strategy::Bm25, Strategy::Auto] {
            let found = index.search_by(strategy, filter, usize::MAX);
            assert!(found.iter().all(|entry| policy.permits(entry.tool())));
        }
    }
    assert!(index.tools().all(|tool| policy.permits(tool)));
}

fn only_narrows(Applied { policy, index, warnings }: &Applied) {
    assert!(!warnings.has_errors());
    let fixed = Policy::compiled_in(&NARROWED);
    assert!(policy.headless() == Headless::Deny && policy.executor() == fixed.executor());
    let before = ToolIndex::from_configs(vec![Layer::compiled(&NARROWED)]);
    for tool in index.tools() {
        let own = before.get(tool.name()).expect("no policy adds tools");
        assert!(policy.approval_from(tool) <= own.approval_from() || own.approval_from().is_none(), "{}", tool.name());
        for (arg, own) in tool.args().zip(own.args()) {
            assert!(arg.leading_dash() != Some(true) || own.leading_dash() == Some(true), "{}", arg.name());
            assert!(arg.rules().count() >= own.rules().count(), "{}", arg.name());
        }
    }
}
