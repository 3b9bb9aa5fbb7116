//! Config files on disk.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::fs;
use std::path::Path;

use climax_catalog::{Style, files};

fn shown(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn directory_expands_to_its_configs_in_byte_order() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["b.yaml", "B.yml", "a.yaml", ".hidden.yaml", "README.md", "ä.yaml"] {
        fs::write(dir.path().join(name), "command: x\ntools: []\n").unwrap();
    }
    fs::create_dir(dir.path().join("nested.yaml")).unwrap();
    let found: Vec<_> = files::expand(dir.path(), shown).unwrap().iter().map(|path| shown(path)).collect();
    assert_eq!(found, ["B.yml", "a.yaml", "b.yaml", "ä.yaml"]);
}

#[test]
fn unreadable_files_are_reported_and_the_others_read() {
    let dir = tempfile::tempdir().unwrap();
    let good = dir.path().join("good.yaml");
    fs::write(&good, "command: x\ntools: []\n").unwrap();
    let (sources, diagnostics) = files::read(&[dir.path().join("absent.yaml"), good], shown);
    assert_eq!(sources.len(), 1);
    insta::assert_snapshot!(diagnostics.render(Style::Plain));
}

#[test]
fn directory_without_configs_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let shown = || files::expand(dir.path(), |_| "configs".to_owned()).unwrap_err().render(Style::Plain);
    let empty = shown();
    fs::write(dir.path().join("README.md"), "").unwrap();
    insta::assert_snapshot!(format!("{empty}\n\n{}", shown()));
}

#[test]
fn file_named_twice_is_read_once() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.yaml", "b.yaml"] {
        fs::write(dir.path().join(name), "command: x\ntools: []\n").unwrap();
    }
    let named =
        [dir.path().join("b.yaml"), dir.path().to_owned(), dir.path().join("./a.yaml"), dir.path().join("c.yaml")];
    let (found, diagnostics) = files::expand_all(&named, shown);
    assert_eq!(found.iter().map(|path| shown(path)).collect::<Vec<_>>(), ["b.yaml", "a.yaml", "c.yaml"]);
    assert!(diagnostics.is_empty());
}
