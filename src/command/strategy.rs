//! Reads the search strategy from the command line or the environment.

use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use climax_catalog::Strategy;
use strum::VariantArray as _;

use super::output::usage;

/// The environment variable for the strategy, which the command line overrides.
const VARIABLE: &str = "CLIMAX_SEARCH_STRATEGY";

/// Parses the values of `--search`.
pub(super) fn strategies() -> impl TypedValueParser<Value = Strategy> {
    let names = Strategy::VARIANTS.iter().map(|strategy| strategy.as_str());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Strategy>().map_err(|error| error.to_string()))
}

/// Returns the strategy of the command line, else of the environment, else the default.
pub(super) fn strategy(argument: Option<Strategy>) -> Result<Strategy, ExitCode> {
    if let Some(strategy) = argument {
        return Ok(strategy);
    }
    let Some(name) = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty()) else {
        return Ok(Strategy::default());
    };
    name.parse().map_err(|_| usage(&format!("{VARIABLE} is `{name}`, expected lexical, bm25 or auto")))
}
