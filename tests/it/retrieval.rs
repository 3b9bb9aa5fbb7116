//! How well search finds what requests want: figures that must not fall.
//!
//! `climax eval --queries FILE` prints them. `tests/queries/` holds requests with their right tools, requests that no tool
//! serves, words of tool names, and frames that people put around a request.

use climax::CATALOG;
use climax::catalog::retrieval::{Figures, Request, RequestForm, RequestSet};
use climax::catalog::{Filter, Layer, Strategy, ToolIndex};

/// The requests of some files of `tests/queries/`.
fn requests(files: &[&str]) -> RequestSet {
    let read = |file| std::fs::read_to_string(format!("{}/tests/queries/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let text: String = files.iter().map(read).collect();
    RequestSet::parse(&text).unwrap_or_else(|line| panic!("line {line} of {files:?} is no request"))
}

/// The figures of the requests of `served.jsonl`.
fn served(strategy: Strategy, form: RequestForm<'_>) -> Figures {
    Figures::of(&requests(&["served.jsonl", "frames.jsonl"]).ask(&index(), strategy, form))
}

fn index() -> ToolIndex {
    ToolIndex::from_configs(vec![Layer::compiled(&CATALOG)])
}

fn found(index: &ToolIndex, strategy: Strategy, query: &str, limit: usize) -> Vec<String> {
    found_in(index, strategy, Filter { query: Some(query), ..Filter::default() }, limit)
}

fn found_in(index: &ToolIndex, strategy: Strategy, filter: Filter<'_>, limit: usize) -> Vec<String> {
    index.search_by(strategy, filter, limit).iter().map(|entry| entry.tool_name().to_owned()).collect()
}

#[test]
fn every_right_tool_exists() {
    let index = index();
    for request in requests(&["served.jsonl", "fresh.jsonl", "typos.jsonl", "languages.jsonl"]).requests() {
        let gold = request.gold();
        assert!(!gold.is_empty() && gold.iter().all(|name| index.get(name).is_some()), "{request:?}");
    }
}

#[test]
fn a_right_tool_is_among_the_first() {
    let Figures { r1, r10, .. } = served(Strategy::Auto, RequestForm::Plain);
    assert!(r1 >= 62.0, "R@1 fell to {r1:.1} %");
    assert!(r10 >= 90.0, "R@10 fell to {r10:.1} %");
    let lexical = served(Strategy::Lexical, RequestForm::Plain);
    assert!(lexical.r10 < 20.0, "substring search does not find sentences");
}

/// These requests were written before the ranking that they are asked of, and not looked at while it was made.
#[test]
fn requests_that_nobody_tuned_to_are_served() {
    let figures = |file| Figures::of(&requests(&[file]).ask(&index(), Strategy::Auto, RequestForm::Plain));
    for (file, least) in [("fresh.jsonl", 93.0), ("typos.jsonl", 88.0), ("languages.jsonl", 90.0)] {
        let Figures { r10, .. } = figures(file);
        assert!(r10 >= least, "{file}: R@10 fell to {r10:.1} %");
    }
}

#[test]
fn a_right_tool_is_among_the_first_of_a_cli_that_is_named_or_given() {
    let [named, given] = [RequestForm::Named, RequestForm::Filtered].map(|form| served(Strategy::Auto, form).r10);
    assert!(named >= 96.0, "R@10 with the name of the CLI fell to {named:.1} %");
    assert!(given >= 97.0, "R@10 under a filter fell to {given:.1} %");
}

#[test]
fn a_request_in_a_frame_is_answered_as_its_core_is() {
    let plain = served(Strategy::Auto, RequestForm::Plain).r10;
    for (kind, most) in [("in a frame", 4.0), ("context before", 8.0), ("context behind", 8.0)] {
        let lost = plain - served(Strategy::Auto, RequestForm::Framed(kind)).r10;
        assert!(lost <= most, "{kind}: {lost:.1} points lost");
    }
}

#[test]
fn a_word_of_a_name_finds_a_tool_with_that_word_first() {
    let words = requests(&["words.jsonl"]);
    for answer in words.ask(&index(), Strategy::Auto, RequestForm::Plain) {
        assert_eq!(answer.rank, Some(0), "{answer:?}");
    }
}

#[test]
fn words_that_mislead_are_read_as_people_mean_them() {
    let index = index();
    let first = |query: &str| found(&index, Strategy::Auto, query, 1).pop().unwrap_or_default();
    for (query, prefix) in [
        // Values that no tool has.
        ("show issue 42", "gh_issue_view"),
        ("see what commit 3fa2c1 did", "git_show"),
        // The plural of an abbreviation.
        ("list my PRs", "gh_"),
        // `am I` is no image of Amazon.
        ("which branch am I on", "git_branch"),
        // A verb that is the name of a program too.
        ("find known bugs", "gh_search_issues"),
        // A tool that prints help has the names of all subcommands as values.
        ("list running containers", "docker_ps"),
    ] {
        assert!(first(query).starts_with(prefix), "{query}: {}", first(query));
    }
}

#[test]
fn states_and_things_are_no_commands() {
    let index = index();
    for query in ["what was committed last", "last commits", "show me the last five commits"] {
        assert_eq!(found(&index, Strategy::Auto, query, 1), ["git_log"], "{query}");
    }
    for (query, tool) in [("is my working tree clean", "git_status"), ("show what changed", "git_status")] {
        assert!(found(&index, Strategy::Auto, query, 10).iter().any(|name| name == tool), "{query}");
    }
}

#[test]
fn requests_in_other_languages_are_read() {
    let index = index();
    for (query, tool) in [
        ("zeige die letzten Commits", "git_log"),
        ("npm-Paket installieren", "npm_install"),
        ("listar los contenedores en ejecución", "docker_ps"),
        ("télécharger un fichier avec curl", "curl_download"),
        ("用docker列出正在运行的容器", "docker_ps"),
        ("gitのコミットを表示", "git_log"),
    ] {
        let found = found(&index, Strategy::Auto, query, 10);
        assert!(found.iter().any(|name| name == tool), "{query}: {found:?}");
    }
}

#[test]
fn a_misspelt_word_beside_right_ones_empties_no_answer() {
    let index = index();
    for (query, tool) in [
        ("which containers are runniing", "docker_ps"),
        ("whiich pods are running", "kubectl_get"),
        ("vid to gif", "ffmpeg_gif"),
    ] {
        let found = found(&index, Strategy::Auto, query, 10);
        assert!(found.iter().any(|name| name == tool), "{query}: {found:?}");
    }
}

#[test]
fn a_list_ends_where_the_score_falls_unless_a_filter_says_what_it_is_about() {
    let index = index();
    let query = Filter { query: Some("turn an mp4 into a gif"), ..Filter::default() };
    let short = found_in(&index, Strategy::Auto, query, 10);
    assert!((2..8).contains(&short.len()), "{short:?}");
    assert_eq!(index.search_deep(Strategy::Auto, query, 10).len(), 10);
    assert_eq!(found_in(&index, Strategy::Auto, Filter { cli: Some("ffmpeg"), ..query }, 10).len(), 10);
}

#[test]
fn requests_that_no_tool_serves_get_nothing() {
    let Figures { empty, .. } =
        Figures::of(&requests(&["hopeless.jsonl"]).ask(&index(), Strategy::Auto, RequestForm::Plain));
    assert!(empty >= 80.0, "{empty:.1} % got an empty list");
}

#[test]
fn under_a_filter_there_is_no_floor() {
    let index = index();
    let cli = index.get("git_log").unwrap().cli();
    let filter = Filter { query: Some("rename a contact in my phone book"), ..Filter::default() };
    assert!(found_in(&index, Strategy::Auto, filter, 10).is_empty());
    assert!(!found_in(&index, Strategy::Auto, Filter { cli: Some(cli.name()), ..filter }, 10).is_empty());
    assert!(!found_in(&index, Strategy::Auto, Filter { category: cli.category(), ..filter }, 10).is_empty());
    let unknown = Filter { query: Some("qqqq zzzz"), cli: Some(cli.name()), category: None };
    assert!(found_in(&index, Strategy::Auto, unknown, 10).is_empty(), "a query that no tool has a word of");
}

#[test]
fn typing_mistakes_and_beginnings_of_words_are_forgiven() {
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
fn a_longer_answer_starts_with_the_shorter_one() {
    let index = index();
    for request in requests(&["served.jsonl", "hopeless.jsonl"]).requests() {
        let query = request.text();
        let ten = found(&index, Strategy::Auto, query, 10);
        for limit in [1, 2, 5] {
            assert_eq!(found(&index, Strategy::Auto, query, limit), ten[..limit.min(ten.len())], "{query}");
        }
    }
}

#[test]
fn explanations_are_of_the_results_and_add_up_to_their_scores() {
    let index = index();
    let set = requests(&["served.jsonl"]);
    for query in set.requests().iter().step_by(8).map(Request::text).chain(["git commit", "e", "ps"]) {
        let filter = Filter { query: Some(query), ..Filter::default() };
        let explained = index.explain(Strategy::Auto, filter, 10);

        let names: Vec<_> = explained.iter().map(|tool| tool.entry.tool_name().to_owned()).collect();
        assert_eq!(names, found(&index, Strategy::Auto, query, 10), "{query}");
        let totals = explained.iter().map(|tool| (tool.found_as, tool.score.as_ref().map(|score| score.total)));
        assert!(totals.is_sorted_by(|one, other| one >= other), "{query}");

        for score in explained.iter().filter_map(|tool| tool.score.as_ref()) {
            let gains: f64 = score.terms.iter().map(|term| term.gain).sum();
            let sum = (gains + score.mention - score.unsaid - score.changes + score.phrase) * score.factor;
            assert!((sum - score.total).abs() < 1e-4, "{query}: {sum} is not {}", score.total);
            for term in &score.terms {
                let frequency: f64 = term.fields.iter().map(|(_, frequency)| frequency).sum();
                let impact = frequency / (frequency + 2.0) * 255.0;
                assert!((impact - f64::from(term.impact)).abs() <= 0.5001, "{query}: {impact} is not {term:?}");
            }
        }
    }
}

/// A request costs bounded work, whatever it is: these take hours where it does not.
#[test]
fn hostile_requests_are_answered() {
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
fn auto_lists_every_substring_match_before_what_ranking_alone_finds() {
    let index = index();
    for query in ["commit", "branch", "working tree", "Show the", "e", "git_co"] {
        let mut auto = found(&index, Strategy::Auto, query, 10_000);
        let mut literal = found(&index, Strategy::Lexical, query, 10_000);
        auto.truncate(literal.len());
        auto.sort_unstable();
        literal.sort_unstable();
        assert_eq!(auto, literal, "{query}");
    }
    assert_eq!(
        found(&index, Strategy::Bm25, "", 10_000).len(),
        CATALOG.tools.len(),
        "an empty query matches everything"
    );
}

#[test]
fn auto_starts_with_the_tool_of_that_name() {
    let index = index();
    for (query, tool) in [("commit", "git_commit"), ("GIT_TAG_CREATE", "git_tag_create"), ("git commit", "git_commit")]
    {
        assert_eq!(found(&index, Strategy::Auto, query, 5).first().unwrap(), tool);
    }
}

#[test]
fn a_loaded_config_is_ranked_beside_the_compiled_in_tools() {
    let yaml = "command: lamp\ndescription: Lights at home\ntools:\n  - {name: lamp_dim, description: Dim the bedroom lamp in the evening}";
    let layers = vec![Layer::compiled(&CATALOG), Layer::loaded(crate::support::catalog(yaml))];
    let index = ToolIndex::from_configs(layers);
    assert_eq!(found(&index, Strategy::Auto, "please dim the lamp of my bedroom", 5).first().unwrap(), "lamp_dim");
}

#[test]
fn the_index_is_small_beside_the_entries() {
    let entries: usize = index().tools().map(|tool| tool.entry().as_json().len()).sum();
    let ranked = &CATALOG.ranked;
    let ends = ranked.ends.len() + ranked.terms.ends.len();
    let size = ranked.postings.len() + ranked.terms.text.len() + 4 * ends + ranked.names.len();
    let size = size + ranked.phrases.len() + 4 * ranked.phrase_ends.len();
    assert!(size * 10 <= entries * 4, "{size} bytes of index for {entries} bytes of entries");
}
