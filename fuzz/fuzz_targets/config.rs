//! Asserts that any file either has errors that can be rendered, or defines tools that are found by name and whose
//! texts are JSON, also under a policy that hides none of them.

#![no_main]

use climax::catalog::policy::read;
use climax::catalog::{ArgView, Diagnostics, Filter, Layer, ResolvedTool, Source, Strategy, Style, ToolIndex, compile};
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
        for strategy in [Strategy::Lexical, Strategy::Bm25, Strategy::Auto] {
            let found = index.search_by(strategy, named, usize::MAX);
            // Words that every tool has find nothing by rank.
            let is_found = found.iter().any(|entry| entry.tool_name() == tool.name());
            assert!(is_found || strategy == Strategy::Bm25, "{} by {}", tool.name(), strategy.as_str());
        }
    }
    let anew = made_anew(&index);
    assert!(index.tools().map(facts).eq(anew.tools().map(facts)));
});

/// The index under a policy that names every tool: it is made from the first one's views.
fn made_anew(index: &ToolIndex) -> ToolIndex {
    let names: Vec<String> = index.tools().map(|tool| format!("{:?}: {{}}", tool.name())).collect();
    let text = format!("default: disabled\ntools: {{{}}}\n", names.join(", "));
    let source = Source::new("policy.yaml", text.into_bytes()).expect("the policy is a text");
    let file = read(&source).unwrap_or_else(|found| panic!("{}", found.render(Style::Plain)));
    file.apply(index.clone(), &|_| false).expect("the tools fit one catalog").index
}

/// Returns all texts of a tool, and the result of binding arguments.
fn facts(tool: ResolvedTool<'_>) -> impl PartialEq + use<> {
    let arg = |arg: ArgView<'_>| {
        let values: Vec<&str> = arg.values().collect();
        format!("{:?}", (arg.name(), arg.flag(), arg.default(), values, arg.kind(), arg.place(), arg.required()))
    };
    let cli = tool.cli();
    let words: Vec<String> = cli.words().chain(tool.words()).map(str::to_owned).collect();
    let args: Vec<String> = tool.args().chain(cli.global_args()).map(arg).collect();
    let asks = tool.confirm_message().map(str::to_owned);
    (tool.entry().as_json().to_owned(), words, args, tool.timeout_ms(), tool.risk(), asks)
}
