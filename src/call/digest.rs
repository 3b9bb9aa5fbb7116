//! Digests of requests. They tie a user's answer to its request.

use std::io::Write as _;

use climax_catalog::{ArgView, ResolvedTool};
use sha2::{Digest as _, Sha256};

use crate::call::arguments::Bound;

/// The SHA-256 digest of a request: of its tool and its values.
pub type RequestDigest = [u8; 32];

/// Returns the digest of a tool and the agent's values.
#[must_use]
pub(crate) fn of_request(tool: ResolvedTool<'_>, bound: &Bound<'_>) -> RequestDigest {
    of_pairs(pairs(tool, bound, |arg| !arg.is_from_user()))
}

/// Returns the tool, then the values of the args that `is_part` selects. Paths of result files are left out.
pub(crate) fn pairs<'a>(
    tool: ResolvedTool<'_>,
    bound: &'a Bound<'_>,
    is_part: impl Fn(ArgView<'_>) -> bool + 'a,
) -> impl Iterator<Item = (String, String)> + 'a {
    let given = bound.iter().filter(move |(arg, _)| arg.output().is_none() && is_part(*arg));
    let values = given.map(|(arg, value)| (arg.name().to_owned(), value.to_string()));
    std::iter::once((tool.name().to_owned(), String::new())).chain(values)
}

/// Returns the digest of a list of pairs. Each text is preceded by its length, so that different lists cannot collide.
#[must_use]
pub(crate) fn of_pairs(pairs: impl Iterator<Item = (String, String)>) -> RequestDigest {
    let mut text = Vec::new();
    for (name, value) in pairs {
        // Writing to memory does not fail.
        let _ = write!(text, "{}:{name}{}:{value}", name.len(), value.len());
    }
    Sha256::digest(&text).into()
}
