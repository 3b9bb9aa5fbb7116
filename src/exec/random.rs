//! Numbers that nobody can guess.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// Asks the system for random bytes.
///
/// # Errors
/// The system has none to give.
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// A word that nobody can guess.
pub(super) fn random_word() -> io::Result<String> {
    Ok(u128::from_le_bytes(random_bytes()?)).map(|number| format!("{number:032x}"))
}
