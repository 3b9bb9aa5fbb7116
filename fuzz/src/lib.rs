//! Helpers of the fuzz targets: catalogs, policies and checks of diagnostics.

use climax::catalog::policy::{Applied, PolicyFile, read};
use climax::catalog::{Catalog, Diagnostics, Layer, Source, Style, ToolIndex, compile};
use serde_json::Value;

pub mod fixtures;

/// Compiles one config.
///
/// # Panics
/// The config has errors.
#[must_use]
pub fn catalog(yaml: &str) -> Catalog {
    let source = Source::new("tools.yaml", yaml.as_bytes().to_vec()).expect("the config is a text");
    compile(&[source]).unwrap_or_else(|found| panic!("{}", found.render(Style::Plain))).catalog
}

/// Reads a policy.
///
/// # Panics
/// The policy has errors.
#[must_use]
pub fn policy(yaml: &str) -> PolicyFile {
    let source = Source::new("policy.yaml", yaml.as_bytes().to_vec()).expect("the policy is a text");
    read(&source).unwrap_or_else(|found| panic!("{}", found.render(Style::Plain)))
}

/// Builds the index of a config under a policy.
#[must_use]
pub fn restricted(config: &str, rules: &str) -> Applied {
    policy(rules)
        .apply(ToolIndex::from_configs(vec![Layer::loaded(catalog(config))]), &|_| false)
        .expect("the tools fit one catalog")
}

/// Renders diagnostics, and asserts that each has a position in its file.
///
/// # Panics
/// A position is missing, or a diagnostic renders as empty text.
pub fn show(found: &Diagnostics) {
    assert_eq!(found.render(Style::Plain).is_empty(), found.is_empty());
    for diagnostic in found {
        let position = diagnostic.position();
        assert!(position.line > 0 && position.column > 0, "{}", diagnostic.headline());
        assert!(!diagnostic.message().is_empty());
    }
}

/// Asserts that a text is a JSON object, and returns it.
///
/// # Panics
/// It is not a JSON object.
#[must_use]
pub fn object(json: &str) -> Value {
    let value: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert!(value.is_object(), "{json}");
    value
}
