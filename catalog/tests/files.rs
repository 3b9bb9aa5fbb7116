//! Config files on disk.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::fs;
use std::path::Path;

use climax_catalog::{Style, files};

fn shown(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_directory_stands_for_its_configs_in_byte_order() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["b.yaml", "B.yml", "a.yaml", ".hidden.yaml", "README.md", "ä.yaml"] {
        fs::write(dir.path().join(name), "command: x\ntools: []\n").unwrap();
    }
    fs::create_dir(dir.path().join("nested.yaml")).unwrap();
    let found: Vec<_> = files::expand(dir.path(), shown).unwrap().iter().map(|path| shown(path)).collect();
    assert_eq!(found, ["B.yml", "a.yaml", "b.yaml", "ä.yaml"]);
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let good = dir.path().join("good.yaml");
    fs::write(&good, "command: x\ntools: []\n").unwrap();
    let (sources, diagnostics) = files::read(&[dir.path().join("absent.yaml"), good], shown);
    assert_eq!(sources.len(), 1);
    insta::assert_snapshot!(diagnostics.render(Style::Plain));
}

#[test]
fn a_directory_without_configs_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let error = files::expand(dir.path(), |_| "configs".to_owned()).unwrap_err();
    insta::assert_snapshot!(error.render(Style::Plain));
}
