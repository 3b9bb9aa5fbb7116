//! The name of a replica, and the ids of what a replica stores.

use std::str::FromStr;
use std::sync::Arc;

use crate::exec::random_bytes;

/// The longest name of a replica, in bytes: that of a label of DNS.
const MAX_REPLICA_NAME_BYTES: usize = 63;

/// The length of the random part of an id, in bytes.
const ID_BYTES: usize = 16;

/// The name of one of several servers behind a proxy: letters, digits, `-` and `_`, at most 63 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaName(Arc<str>);

impl ReplicaName {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ReplicaName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if (1..=MAX_REPLICA_NAME_BYTES).contains(&text.len()) && text.bytes().all(is_name) {
            Ok(Self(text.into()))
        } else {
            Err(format!("expected 1 to {MAX_REPLICA_NAME_BYTES} letters, digits, `-` or `_`"))
        }
    }
}

/// Makes an id that nobody can guess: `NAME.` of the replica if it has one, then 128 random bits in hexadecimal digits.
///
/// Returns `None` if the system gives no random bytes.
pub(super) fn new_id(replica: Option<&ReplicaName>) -> Option<String> {
    let random = hex::encode(random_bytes::<ID_BYTES>().ok()?);
    Some(replica.map_or_else(|| random.clone(), |name| format!("{}.{random}", name.as_str())))
}
