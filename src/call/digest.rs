//! Digests of requests, by which an answer of the user is tied to the request that it is for.

use std::io::Write as _;

use climax_catalog::{ArgView, ResolvedTool};
use sha2::{Digest as _, Sha256};

use crate::call::arguments::Bound;

/// The SHA-256 digest of a request: of its tool and of all values that came with it.
pub type RequestDigest = [u8; 32];

/// The digest of a tool and all values of the agent.
#[must_use]
pub(crate) fn of_request(tool: ResolvedTool<'_>, bound: &Bound<'_>) -> RequestDigest {
    of_pairs(pairs(tool, bound, |arg| !arg.is_from_user()))
}

/// The tool, and the values of the args that `is_part` picks. Paths of result files are never part of it.
pub(crate) fn pairs<'a>(
    tool: ResolvedTool<'_>,
    bound: &'a Bound<'_>,
    is_part: impl Fn(ArgView<'_>) -> bool + 'a,
) -> impl Iterator<Item = (String, String)> + 'a {
    let given = bound.iter().filter(move |(arg, _)| arg.output().is_none() && is_part(*arg));
    let values = given.map(|(arg, value)| (arg.name().to_owned(), value.to_string()));
    std::iter::once((tool.name().to_owned(), String::new())).chain(values)
}

/// The digest of a list of pairs. Lengths stand before the texts, so no two lists have one text.
#[must_use]
pub(crate) fn of_pairs(pairs: impl Iterator<Item = (String, String)>) -> RequestDigest {
    let mut text = Vec::new();
    for (name, value) in pairs {
        // Writing to memory does not fail.
        let _ = write!(text, "{}:{name}{}:{value}", name.len(), value.len());
    }
    Sha256::digest(&text).into()
}
