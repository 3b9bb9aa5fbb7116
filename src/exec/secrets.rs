//! Takes secrets: values of variables that a config has from elsewhere.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, open};

use super::SpawnError;
use super::invocation::{Invocation, SecretSource};
use super::masks::Masks;

/// Maximum length of a file with a secret, in bytes.
const MAX_SECRET_BYTES: u64 = 64 << 10;

/// Adds the secrets of an invocation to its environment. Returns them also for [`Masks`].
///
/// # Errors
/// A file cannot be read as a secret.
pub(super) fn take(invocation: &Invocation) -> Result<(Invocation, Masks), SpawnError> {
    let mut taken = Invocation { secrets: Vec::new(), ..invocation.clone() };
    let mut values = Vec::new();
    for (name, source) in &invocation.secrets {
        let value = match source {
            SecretSource::Variable(variable) => super::variable(variable),
            SecretSource::File(path) => {
                let content = read(Path::new(path));
                Some(content.map_err(|error| SpawnError::Secret(name.clone(), path.clone(), error))?)
            }
        };
        let Some(value) = value else { continue };
        // Before the values of arguments.
        taken.env.insert(0, (name.clone(), value.clone()));
        values.push(value.into_bytes());
    }
    Ok((taken, Masks::of(values)))
}

/// Reads a file with a secret. Only a regular file is read, without blocking.
fn read(path: &Path) -> io::Result<String> {
    let opened = open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&opened)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("expected a regular file"));
    }
    let mut text = String::new();
    File::from(opened).take(MAX_SECRET_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_SECRET_BYTES || text.contains('\0') {
        return Err(io::Error::other(format!("expected at most {MAX_SECRET_BYTES} bytes without NUL")));
    }
    text.truncate(text.trim_end().len());
    Ok(text)
}
