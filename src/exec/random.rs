//! Random bytes and words from the operating system, for secrets.

use std::io;

/// Returns cryptographically secure random bytes.
///
/// # Errors
/// The system has none.
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Returns a random word of 32 hexadecimal digits.
pub(super) fn random_word() -> io::Result<String> {
    Ok(u128::from_le_bytes(random_bytes()?)).map(|number| format!("{number:032x}"))
}
