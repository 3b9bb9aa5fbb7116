//! Cursors: where a search goes on.
//!
//! A cursor holds an offset and what it belongs to, so that any replica of one catalog can take it, also after a restart,
//! and no other search can.

use std::fmt;

use climax_catalog::{Filter, Strategy};
use rmcp::model::ErrorData;
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// What is paged through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Summary,
    Search,
}

/// A place in the results of one request to one catalog.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) operation: Operation,
    pub(super) offset: usize,
    pub(super) request: String,
    pub(super) digest: &'a str,
}

/// Digits of each part: operation and offset, request, catalog, checksum.
const OFFSET: usize = 9;
const PART: usize = 16;

/// Identifies what is asked for.
pub(super) fn request_hash(strategy: Strategy, filter: Filter<'_>) -> String {
    short_hash(&json!([strategy.as_str(), filter.query, filter.category, filter.cli]).to_string())
}

fn short_hash(text: &str) -> String {
    hex::encode(&Sha256::digest(text)[..PART / 2])
}

impl fmt::Display for Cursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = match self.operation {
            Operation::Summary => 0,
            Operation::Search => 1,
        };
        let catalog = &self.digest[..PART];
        let body = format!("{operation}{:08x}{}{catalog}", self.offset, self.request);
        write!(f, "{body}{}", short_hash(&body))
    }
}

impl Cursor<'_> {
    /// The offset that `text`, a cursor of the same request, stands for.
    ///
    /// # Errors
    /// The text is no cursor, or one of another search (`invalid_cursor`), or of another catalog (`stale_cursor`).
    pub(super) fn offset_of(&self, text: &str) -> Result<usize, ErrorData> {
        let refused =
            |code: &str, message: &str| ErrorData::invalid_params(message.to_owned(), Some(json!({ "code": code })));
        let garbled = || refused("invalid_cursor", "The cursor is garbled: give next_cursor as it was returned");
        let is_whole = text.is_ascii() && text.len() == OFFSET + 3 * PART;
        let body = text.get(..OFFSET + 2 * PART).filter(|_| is_whole).ok_or_else(garbled)?;
        if !text.ends_with(&short_hash(body)) {
            return Err(garbled());
        }
        let offset = usize::from_str_radix(&body[1..OFFSET], 16).map_err(|_| garbled())?;
        let here = Self { offset, ..self.clone() }.to_string();
        if here == text {
            return Ok(offset);
        }
        if body[OFFSET + PART..] == self.digest[..PART] {
            Err(refused("invalid_cursor", "The cursor belongs to another search: repeat that one's arguments"))
        } else {
            Err(refused("stale_cursor", "The catalog has changed since the cursor was made: search again without it"))
        }
    }
}
