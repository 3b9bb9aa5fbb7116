//! Cursors of a paged search.
//!
//! A cursor holds an offset, and hashes of the search and the catalog. Every replica of a catalog accepts it, also after a
//! restart. Other searches reject it.

use std::fmt;

use climax_catalog::{Filter, Strategy};
use rmcp::model::ErrorData;
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// The kind of result that has pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Summary,
    Search,
}

/// A position in the results of one search in one catalog.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) operation: Operation,
    pub(super) offset: usize,
    /// Identifies the search, as [`request_hash`] makes it.
    pub(super) request: String,
    /// The digest of the catalog.
    pub(super) digest: &'a str,
}

/// The digits of operation and offset.
const OFFSET_DIGITS: usize = 9;
/// The digits of each of the three hashes: request, catalog, checksum.
const HASH_DIGITS: usize = 16;

/// The hash that identifies a search.
pub(super) fn request_hash(strategy: Strategy, filter: Filter<'_>) -> String {
    short_hash(&json!([strategy.as_str(), filter.query, filter.category, filter.cli]).to_string())
}

fn short_hash(text: &str) -> String {
    hex::encode(&Sha256::digest(text)[..HASH_DIGITS / 2])
}

impl fmt::Display for Cursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = match self.operation {
            Operation::Summary => 0,
            Operation::Search => 1,
        };
        let catalog = &self.digest[..HASH_DIGITS];
        let body = format!("{operation}{:08x}{}{catalog}", self.offset, self.request);
        write!(f, "{body}{}", short_hash(&body))
    }
}

impl Cursor<'_> {
    /// Returns the offset of `text`, which must be a cursor of the same search and catalog.
    ///
    /// # Errors
    /// `invalid_cursor`: the text is no cursor, or one of another search. `stale_cursor`: it is of another catalog.
    pub(super) fn offset_of(&self, text: &str) -> Result<usize, ErrorData> {
        let error =
            |code: &str, message: &str| ErrorData::invalid_params(message.to_owned(), Some(json!({ "code": code })));
        let garbled = || error("invalid_cursor", "The cursor is garbled: give next_cursor as it was returned");
        let is_whole = text.is_ascii() && text.len() == OFFSET_DIGITS + 3 * HASH_DIGITS;
        let body = text.get(..OFFSET_DIGITS + 2 * HASH_DIGITS).filter(|_| is_whole).ok_or_else(garbled)?;
        if !text.ends_with(&short_hash(body)) {
            return Err(garbled());
        }
        let offset = usize::from_str_radix(&body[1..OFFSET_DIGITS], 16).map_err(|_| garbled())?;
        let expected = Self { offset, ..self.clone() }.to_string();
        if expected == text {
            return Ok(offset);
        }
        if body[OFFSET_DIGITS + HASH_DIGITS..] == self.digest[..HASH_DIGITS] {
            Err(error("invalid_cursor", "The cursor belongs to another search: repeat that one's arguments"))
        } else {
            Err(error("stale_cursor", "The catalog has changed since the cursor was made: search again without it"))
        }
    }
}
