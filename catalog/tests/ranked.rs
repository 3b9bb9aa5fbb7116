//! Ranked search: words of a request → tools.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use climax_catalog::{Filter, Layer, Source, Strategy, ToolIndex, compile};

/// Returns the tools that a request finds in configs, best first.
fn found(configs: &[&str], query: &str) -> Vec<String> {
    let source = |(at, text): (usize, &&str)| Source::new(&format!("{at}.yaml"), text.as_bytes().to_vec()).unwrap();
    let catalog = compile(&configs.iter().enumerate().map(source).collect::<Vec<_>>()).unwrap().catalog;
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

const KITCHEN: &str = r"
command: kitchen
tools:
  - {name: kitchen_one, description: Work, phrases: [wash the green cups, dry the plates, put green plates away, wash hands]}
  - {name: kitchen_two, description: Work, phrases: ['rinse the sink, wash the green plates']}
";

#[test]
fn phrase_that_says_the_request_counts_more_than_its_words_in_several() {
    assert_eq!(found(&[KITCHEN], "wash the green plates").first().unwrap(), "kitchen_two");
    assert_eq!(found(&[KITCHEN], "put the green plates away").first().unwrap(), "kitchen_one");
    assert_eq!(found(&[KITCHEN], "wash the green platse").first().unwrap(), "kitchen_two");
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
    // All sentences start with a capital, also those whose first word is that of a CLI by chance.
    assert!(found(&[DOOR], &format!("Door {strange}")).is_empty());
}

const HOUSE: &str = r"
command: house
tools:
  - {name: house_lamp_dim, description: Dim a lamp}
  - {name: house_roof_repair, description: Repair the roof}
  - {name: house_door_paint, description: Paint a door}
  - {name: house_window_list, description: List the windows}
";

#[test]
fn a_polite_frame_changes_no_answer() {
    let bare = found(&[HOUSE], "paint a door");
    for request in [
        "Hi, could you please paint a door for me? Thanks!",
        "I was wondering how I can paint a door.",
        "What I need you to do: paint a door",
        "Please paint a door, please.",
    ] {
        assert_eq!(found(&[HOUSE], request), bare, "{request}");
    }
}

#[test]
fn the_sentence_that_asks_comes_before_those_that_state() {
    let context = "We live in an old house. The roof has been leaking since March. My brother wants to help.";
    for request in [format!("{context} Please list the windows."), format!("Can you list the windows? {context}")] {
        assert_eq!(found(&[HOUSE], &request).first().unwrap(), "house_window_list", "{request}");
    }
}

#[test]
fn the_end_of_a_long_text_is_read() {
    let request = format!("{} Could you dim the lamp?", "Nothing of this matters at all. ".repeat(1000));
    assert_eq!(found(&[HOUSE], &request).first().unwrap(), "house_lamp_dim");
}
