//! Reads the search strategy from the command line or the environment.

use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use climax_catalog::Strategy;

use super::output::usage;

/// The environment variable for the strategy, which the command line overrides.
const VARIABLE: &str = "CLIMAX_SEARCH_STRATEGY";

/// Parses the values of `--search`.
pub(super) fn strategies() -> impl TypedValueParser<Value = Strategy> {
    let by_name = |name: String| Strategy::ALL.into_iter().find(|strategy| strategy.as_str() == name);
    PossibleValuesParser::new(Strategy::ALL.map(Strategy::as_str))
        .try_map(move |name| by_name(name).ok_or("no strategy"))
}

/// Returns the strategy of the command line, else of the environment, else the default.
pub(super) fn strategy(argument: Option<Strategy>) -> Result<Strategy, ExitCode> {
    if let Some(strategy) = argument {
        return Ok(strategy);
    }
    let Some(name) = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty()) else {
        return Ok(Strategy::default());
    };
    let found = Strategy::ALL.into_iter().find(|strategy| strategy.as_str() == name);
    found.ok_or_else(|| usage(&format!("{VARIABLE} is `{name}`, expected lexical, bm25 or auto")))
}
