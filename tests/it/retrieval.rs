//! The quality of search: metrics that must not fall.
//!
//! `climax eval --queries FILE` prints the metrics. `tests/queries/` has queries with their right tools, and queries
//! without one.

use climax::CATALOG;
use climax::catalog::{Filter, Layer, Strategy, ToolIndex};
use serde_json::Value;

fn queries(file: &str) -> Vec<(String, Vec<String>)> {
    let text = std::fs::read_to_string(format!("{}/tests/queries/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let strings = |value: &Value| {
        value.as_array().map_or_else(Vec::new, |all| all.iter().map(|one| one.as_str().unwrap().to_owned()).collect())
    };
    lines.map(|line| (line["query"].as_str().unwrap().to_owned(), strings(&line["gold"]))).collect()
}

fn index() -> ToolIndex {
    ToolIndex::from_configs(vec![Layer::compiled(&CATALOG)])
}

fn found(index: &ToolIndex, strategy: Strategy, query: &str, limit: usize) -> Vec<String> {
    let filter = Filter { query: Some(query), ..Filter::default() };
    index.search_by(strategy, filter, limit).iter().map(|entry| entry.tool_name().to_owned()).collect()
}

/// The share of queries, in percent, for which a right tool is among the first `limit`.
fn recall(index: &ToolIndex, strategy: Strategy, limit: usize) -> f64 {
    let queries = queries("served.jsonl");
    let hits = queries
        .iter()
        .filter(|(query, gold)| found(index, strategy, query, limit).iter().any(|name| gold.contains(name)));
    100.0 * f64::from(u32::try_from(hits.count()).unwrap()) / f64::from(u32::try_from(queries.len()).unwrap())
}

#[test]
fn gold_tools_of_all_queries_exist() {
    let index = index();
    for (query, gold) in queries("served.jsonl") {
        assert!(!gold.is_empty() && gold.iter().all(|name| index.get(name).is_some()), "{query}: {gold:?}");
    }
}

#[test]
fn recall_does_not_fall() {
    let index = index();
    let [first, ten] = [1, 10].map(|limit| recall(&index, Strategy::Auto, limit));
    assert!(first >= 50.0, "R@1 fell to {first:.1} %");
    assert!(ten >= 81.0, "R@10 fell to {ten:.1} %");
    assert!(recall(&index, Strategy::Lexical, 10) < 20.0, "substring search does not find sentences");
}

#[test]
fn queries_without_a_right_tool_get_empty_results() {
    let index = index();
    let hopeless = queries("hopeless.jsonl");
    let empty = hopeless.iter().filter(|(query, _)| found(&index, Strategy::Auto, query, 10).is_empty()).count();
    assert!(empty * 10 >= hopeless.len() * 6, "{empty} of {} got an empty list", hopeless.len());
}

#[test]
fn finds_tools_by_misspelt_words_and_prefixes() {
    let index = index();
    for (query, tool) in [
        ("comit", "git_commit"),
        ("terrafrom", "terraform_plan"),
        ("rebaes", "git_rebase"),
        ("cherr", "git_cherry_pick"),
    ] {
        let found = found(&index, Strategy::Bm25, query, 20);
        assert!(found.iter().any(|name| name == tool), "{query}: {found:?}");
    }
}

#[test]
fn higher_limit_only_appends_results() {
    let index = index();
    for (query, _) in queries("served.jsonl").into_iter().chain(queries("hopeless.jsonl")) {
        let ten = found(&index, Strategy::Auto, &query, 10);
        for limit in [1, 2, 5] {
            assert_eq!(found(&index, Strategy::Auto, &query, limit), ten[..limit.min(ten.len())], "{query}");
        }
    }
}

/// A request costs bounded work, whatever it is: these take hours where it does not.
#[test]
fn hostile_queries_are_answered() {
    let index = index();
    let words = |make: fn(usize) -> String| (0..300_000).map(make).collect::<Vec<_>>().join(" ");
    let misspelt = format!(
        "({})",
        words(|n| format!("co{}mmit", char::from_u32(0x4E00 + u32::try_from(n % 20_000).unwrap()).unwrap()))
    );
    for query in
        ["ay".repeat(4 << 20), words(|n| format!("w{n}rd")), misspelt, "(".repeat(1 << 20), "é".repeat(1 << 20)]
    {
        assert!(found(&index, Strategy::Auto, &query, 10).len() <= 10);
        assert!(index.unmatched_words(&query[..query.floor_char_boundary(1 << 16)]).len() <= 32);
    }
}

#[test]
fn auto_equals_lexical_where_lexical_finds_tools() {
    let index = index();
    for query in ["commit", "branch", "working tree", "Show the"] {
        assert_eq!(found(&index, Strategy::Auto, query, 20), found(&index, Strategy::Lexical, query, 20), "{query}");
    }
    assert_eq!(found(&index, Strategy::Bm25, "", 500).len(), CATALOG.tools.len(), "an empty query matches everything");
}

#[test]
fn loaded_configs_are_ranked_with_compiled_in_tools() {
    let yaml = "command: lamp\ndescription: Lights at home\ntools:\n  - {name: lamp_dim, description: Dim the bedroom lamp in the evening}";
    let layers = vec![Layer::compiled(&CATALOG), Layer::loaded(crate::support::catalog(yaml))];
    let index = ToolIndex::from_configs(layers);
    assert_eq!(found(&index, Strategy::Auto, "please dim the lamp of my bedroom", 5).first().unwrap(), "lamp_dim");
}

#[test]
fn index_takes_at_most_40_percent_of_the_entries() {
    let entries: usize = index().tools().map(|tool| tool.entry().as_json().len()).sum();
    let ranked = &CATALOG.ranked;
    let ends = ranked.ends.len() + ranked.terms.ends.len();
    let size = ranked.postings.len() + ranked.terms.text.len() + 4 * ends + ranked.names.len();
    assert!(size * 10 <= entries * 4, "{size} bytes of index for {entries} bytes of entries");
}
