//! Who gets in.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use hyper::header::{AUTHORIZATION, HeaderMap};

use super::caller::Caller;
use super::tokens::{Tokens, bearer};

/// How callers show who they are.
#[derive(Debug)]
pub enum Access {
    /// They do not.
    Open,
    /// By one of the tokens of a file.
    Tokens(TokenFile),
}

/// A file of bearer tokens, which can be read again.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    tokens: RwLock<Tokens>,
}

/// Why a caller does not get in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unauthorized {
    /// No token came with the request.
    NoToken,
    /// The token opens nothing.
    WrongToken,
}

impl TokenFile {
    /// Reads the file.
    ///
    /// # Errors
    /// It cannot be read, or what is wrong with it, a line each.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { tokens: RwLock::new(read(path)?), path: path.to_owned() })
    }

    /// Reads the file again; if that fails the tokens stay that were there.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn reread(&self) -> io::Result<()> {
        let tokens = read(&self.path)?;
        *self.tokens.write().unwrap_or_else(PoisonError::into_inner) = tokens;
        Ok(())
    }
}

fn read(path: &Path) -> io::Result<Tokens> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| io::Error::new(error.kind(), format!("{shown}: {error}")))?;
    if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
        tracing::warn!("{shown} can be read by others than its owner; `chmod 600` it");
    }
    Tokens::parse(&text).map_err(|mistakes| io::Error::other(format!("{shown}: {}", mistakes.join("; "))))
}

impl Access {
    /// Reads what says who gets in again, if there is anything.
    ///
    /// # Errors
    /// It cannot be used; what was there before stays.
    pub fn reread(&self) -> io::Result<()> {
        match self {
            Self::Open => Ok(()),
            Self::Tokens(file) => file.reread(),
        }
    }

    /// Who makes a request, by its headers.
    pub(super) fn identify(&self, headers: &HeaderMap) -> Result<Caller, Unauthorized> {
        let Self::Tokens(file) = self else { return Ok(Caller::Anyone) };
        let header = headers.get(AUTHORIZATION).ok_or(Unauthorized::NoToken)?;
        let token = header.to_str().ok().and_then(bearer).ok_or(Unauthorized::WrongToken)?;
        let tokens = file.tokens.read().unwrap_or_else(PoisonError::into_inner);
        tokens.find(token).map(|name| Caller::Token(name.into())).ok_or(Unauthorized::WrongToken)
    }
}
