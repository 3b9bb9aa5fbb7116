//! Prints how well search finds what `tests/queries/` wants, as one line of JSON: what `benches/search-weights` runs for
//! each weight.

use std::fs;
use std::path::Path;

use climax_catalog::retrieval::{Figures, RequestForm, RequestSet};
use climax_catalog::{Layer, Source, Strategy, ToolIndex, compile};

fn main() {
    let root = std::env::args().nth(1).expect("the argument is the path of the repository");
    let root = Path::new(&root);
    let index = index(&root.join("configs"));
    let requests = |files: &[&str]| {
        let read = |file| fs::read_to_string(root.join("tests/queries").join(file)).expect("a file of requests");
        RequestSet::parse(&files.iter().map(read).collect::<String>()).expect("lines of requests")
    };
    let ask = |set: &RequestSet, form| Figures::of(&set.ask(&index, Strategy::Auto, form));

    let served = requests(&["served.jsonl", "frames.jsonl"]);
    let plain = ask(&served, RequestForm::Plain);
    let named = ask(&served, RequestForm::Named);
    let given = ask(&served, RequestForm::Filtered);
    let framed: Vec<_> = served.forms().into_iter().filter(|form| matches!(form, RequestForm::Framed(_))).collect();
    let framed = framed.iter().map(|form| ask(&served, *form).r10).sum::<f64>() / framed.len() as f64;
    let hopeless = ask(&requests(&["hopeless.jsonl"]), RequestForm::Plain);
    println!(
        "[{:.1}, {:.1}, {:.1}, {:.1}, {framed:.1}, {:.1}]",
        plain.r1, plain.r10, named.r1, given.r1, hopeless.empty
    );
}

/// The index of the configs in a directory, in the order of their names.
fn index(directory: &Path) -> ToolIndex {
    let entries = fs::read_dir(directory).expect("the configs").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = entries.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    paths.sort();

    let sources = paths.iter().map(|path| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        Source::new(&name, fs::read(path).expect("a config")).expect("a text")
    });
    let compiled = compile(&sources.collect::<Vec<_>>()).expect("valid configs");
    ToolIndex::from_configs(vec![Layer::loaded(compiled.catalog)])
}
