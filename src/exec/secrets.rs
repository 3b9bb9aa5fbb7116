//! Takes secrets: values of variables that a config has from elsewhere.

use std::io::{self, Read as _};
use std::path::Path;

use super::environment::variable;
use super::error::SpawnError;
use super::invocation::{Invocation, SecretSource};
use super::output::Masks;
use super::platform::open_regular;

/// Maximum length of a file with a secret, in bytes.
const MAX_SECRET_BYTES: u64 = 64 << 10;

/// Adds the secrets of an invocation to its environment. Returns them also for [`Masks`].
///
/// # Errors
/// A file cannot be read as a secret.
pub(super) fn take(mut invocation: Invocation) -> Result<(Invocation, Masks), SpawnError> {
    let mut values = Vec::new();

    for (name, source) in std::mem::take(&mut invocation.secrets) {
        let value = match source {
            SecretSource::Variable(variable_name) => variable(&variable_name),
            SecretSource::File(path) => match read(Path::new(&path)) {
                Ok(content) => Some(content),
                Err(error) => return Err(SpawnError::Secret(name, path, error)),
            },
        };
        let Some(value) = value else { continue };

        // Before the values of arguments.
        values.push(value.clone().into_bytes());
        invocation.env.insert(0, (name, value));
    }

    Ok((invocation, Masks::new(values)))
}

/// Reads a file with a secret. Only a regular file is read, without blocking.
fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.take(MAX_SECRET_BYTES + 1).read_to_string(&mut text)?;

    if text.len() as u64 > MAX_SECRET_BYTES || text.contains('\0') {
        return Err(io::Error::other(format!("expected at most {MAX_SECRET_BYTES} bytes without NUL")));
    }

    text.truncate(text.trim_end().len());
    Ok(text)
}
