//! `docs/reference/modules.md`: every source file with the first sentence of its description.
//!
//! `UPDATE_GOLDEN=1 cargo test --test it modules_page` writes the page again.

use std::fmt::Write as _;

use crate::support::assert_page;
use crate::tidy::sources;

const PAGE: &str = "docs/reference/modules.md";

/// The packages, in the order in which they build on one another.
const PACKAGES: [(&str, &str); 4] = [
    ("climax-catalog", "catalog/src"),
    ("climax-codegen", "codegen/src"),
    ("climax-import", "import/src"),
    ("climax-mcp", "src"),
];

/// The first sentence of a file's description. A period before an upper-case letter ends it.
fn first_sentence(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph = lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let ends = paragraph.match_indices(". ").find(|(at, _)| paragraph[at + 2..].starts_with(char::is_uppercase));
    ends.map_or(paragraph.clone(), |(at, _)| paragraph[..=at].to_owned())
}

fn page() -> String {
    let mut page = "# Modules\n\nEvery source file with its first sentence. [ARCHITECTURE.md](../../ARCHITECTURE.md) says how they\n\
        fit together. `cargo test --test it modules_page` checks this page against the sources.\n"
        .to_owned();
    for (package, directory) in PACKAGES {
        let _ = write!(page, "\n## {package}\n\n| file | what it is |\n|---|---|\n");
        let mut files = sources(directory);
        files.sort();
        for (file, text) in files {
            let sentence = first_sentence(&text).replace('|', "\\|");
            let _ = writeln!(page, "| `{file}` | {sentence} |");
        }
    }
    page
}

#[test]
fn the_reference_page_lists_every_module() {
    assert_page(PAGE, &page());
}
