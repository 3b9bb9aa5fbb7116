//! Ranked search: words of a request → tools.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use climax_catalog::{Filter, Layer, Source, Strategy, ToolIndex, compile};

/// Returns the tools that a request finds in configs, best first.
fn found(configs: &[&str], query: &str) -> Vec<String> {
    let source = |text: &&str| Source::new("test.yaml", text.as_bytes().to_vec()).unwrap();
    let catalog = compile(&configs.iter().map(source).collect::<Vec<_>>()).unwrap().catalog;
    let index = ToolIndex::from_configs(vec![Layer::loaded(catalog)]);
    let filter = Filter { query: Some(query), ..Filter::default() };
    index.search_by(Strategy::Bm25, filter, 10).iter().map(|entry| entry.tool_name().to_owned()).collect()
}

const GARDEN: &str = r"
name: garden
command: garden
tools:
  - {name: garden_hedge_cut, description: Cut plants}
  - {name: garden_cut, description: Cut plants}
  - {name: garden_cut_low, description: Cut plants}
";

#[test]
fn tool_with_extra_words_in_its_name_ranks_lower() {
    assert_eq!(found(&[GARDEN], "cut plants"), ["garden_cut", "garden_cut_low", "garden_hedge_cut"]);
    assert_eq!(found(&[GARDEN], "cut hedge plants").first().unwrap(), "garden_hedge_cut");
    assert_eq!(found(&[GARDEN], "cut plants low").first().unwrap(), "garden_cut_low");
}

const DOOR: &str = r"
command: door
tools:
  - {name: door_open, description: Open the entrance}
  - {name: door_lockup, description: Shut everything}
  - {name: door_login, description: Say who you are}
";

#[test]
fn adjacent_words_find_their_compound() {
    assert_eq!(found(&[DOOR], "lock up"), ["door_lockup"]);
    assert_eq!(found(&[DOOR], "log in"), ["door_login"]);
    assert!(found(&[DOOR], "in log").is_empty());
}

#[test]
fn request_that_starts_with_a_cli_name_prefers_that_cli() {
    let strange = "bake a chocolate cake for grandmother tonight, entrance";
    assert!(found(&[DOOR], strange).is_empty());
    assert_eq!(found(&[DOOR], &format!("door {strange}")).len(), 3);
}
