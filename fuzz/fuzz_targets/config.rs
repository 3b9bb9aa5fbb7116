//! Asserts that any file is either refused with mistakes that can be shown, or makes tools that are found by their names
//! and whose texts are JSON.

#![no_main]

use climax::catalog::{Diagnostics, Filter, Layer, ResolvedTool, Source, Strategy, ToolIndex, compile};
use climax_fuzz::{object, show};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let source = match Source::new("fuzz.yaml", bytes.to_vec()) {
        Ok(source) => source,
        Err(mistake) => {
            let mut found = Diagnostics::default();
            found.push(mistake);
            return show(&found);
        }
    };
    let compiled = match compile(&[source]) {
        Ok(compiled) => compiled,
        Err(found) => {
            assert!(found.has_errors());
            return show(&found);
        }
    };
    assert!(!compiled.warnings.has_errors());
    show(&compiled.warnings);
    let index = ToolIndex::from_configs(vec![Layer::loaded(compiled.catalog)]);
    for tool in index.tools() {
        assert_eq!(index.get(tool.name()).map(ResolvedTool::name), Some(tool.name()));
        let entry = object(tool.entry().as_json());
        assert_eq!(entry["input_schema"], object(tool.input_schema()));
        assert_eq!(entry["tool_name"], tool.name());
        let named = Filter { query: Some(tool.name()), ..Filter::default() };
        for strategy in Strategy::ALL {
            let found = index.search_by(strategy, named, usize::MAX);
            // Words that every tool has find nothing by rank.
            let is_found = found.iter().any(|entry| entry.tool_name() == tool.name());
            assert!(is_found || strategy == Strategy::Bm25, "{} by {}", tool.name(), strategy.as_str());
        }
    }
});
