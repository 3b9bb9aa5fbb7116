//! Authentication: which caller sends a request.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::RwLock;

use climax_catalog::files::read_regular;
use hyper::header::{AUTHORIZATION, HeaderMap};

use super::resource_server::{ResourceServer, TokenError};
use super::tokens::{Tokens, bearer};
use crate::call::caller::Caller;
use crate::lock::Unpoisoned as _;

/// Largest file of tokens or of a key, in bytes.
pub(crate) const MAX_SECRET_BYTES: usize = 1 << 20;

/// How callers authenticate.
#[derive(Debug)]
pub enum Auth {
    /// They need no authentication: every request is answered.
    Disabled,
    /// By one of the tokens of a file.
    Tokens(TokenFile),
    /// By an access token of an authorization server, or by one of the tokens of a file if there is one.
    Oauth(Box<dyn ResourceServer>, Option<TokenFile>),
}

/// A file of bearer tokens, which can be read again.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    tokens: RwLock<Tokens>,
}

/// The reason why a request is not authenticated.
#[derive(Debug)]
pub(super) enum AuthError {
    /// The request has no bearer token.
    Missing,
    /// The token is not in the file.
    Unknown,
    /// The access token is refused.
    AccessToken(TokenError),
}

impl AuthError {
    /// Whether the client may be guessing tokens.
    pub(super) fn is_guess(&self) -> bool {
        match self {
            Self::Missing => false,
            Self::Unknown => true,
            Self::AccessToken(error) => error.is_guess(),
        }
    }
}

impl TokenFile {
    /// Reads the file.
    ///
    /// # Errors
    /// The file cannot be read, or lines of it are wrong; the message names each.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { tokens: RwLock::new(read(path)?), path: path.to_owned() })
    }

    /// Whether there is a token of this name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.tokens.read().unpoisoned().names().any(|known| known == name)
    }

    /// Reads the file again. If that fails, the tokens stay as they were.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn reload(&self) -> io::Result<()> {
        let tokens = read(&self.path)?;
        *self.tokens.write().unpoisoned() = tokens;
        Ok(())
    }

    fn find(&self, token: &str) -> Option<Caller> {
        let tokens = self.tokens.read().unpoisoned();
        tokens.find(token).map(|name| Caller::Token(name.into()))
    }
}

fn read(path: &Path) -> io::Result<Tokens> {
    let shown = path.display();
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{shown}: {error}"));
    let bytes = read_regular(path, MAX_SECRET_BYTES).map_err(named)?;
    let text = String::from_utf8(bytes).map_err(|_| io::Error::other(format!("{shown}: it is not UTF-8")))?;
    if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
        tracing::warn!("{shown} can be read by others than its owner; `chmod 600` it");
    }
    Tokens::parse(&text).map_err(|mistakes| io::Error::other(format!("{shown}: {}", mistakes.join("; "))))
}

impl Auth {
    /// Reads the token file again, if there is one.
    ///
    /// # Errors
    /// The file cannot be used; the tokens stay as they were.
    pub fn reload(&self) -> io::Result<()> {
        self.token_file().map_or(Ok(()), TokenFile::reload)
    }

    /// The OAuth resource server, if there is one.
    pub(super) fn resource_server(&self) -> Option<&dyn ResourceServer> {
        match self {
            Self::Disabled | Self::Tokens(_) => None,
            Self::Oauth(server, _) => Some(server.as_ref()),
        }
    }

    /// Whether any caller can authenticate now. Without the keys of the issuer, only the tokens of a file can be verified.
    pub(super) fn is_ready(&self) -> bool {
        self.token_file().is_some() || self.resource_server().is_none_or(ResourceServer::is_ready)
    }

    /// Finds out which caller sends a request with these headers.
    pub(super) async fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, AuthError> {
        if matches!(self, Self::Disabled) {
            return Ok(Caller::Anyone);
        }

        let token = single_bearer(headers)?;
        if let Some(caller) = self.token_file().and_then(|file| file.find(token)) {
            return Ok(caller);
        }

        let server = self.resource_server().ok_or(AuthError::Unknown)?;
        server.verify(token).await.map(Caller::Subject).map_err(AuthError::AccessToken)
    }

    fn token_file(&self) -> Option<&TokenFile> {
        match self {
            Self::Disabled => None,
            Self::Tokens(file) => Some(file),
            Self::Oauth(_, file) => file.as_ref(),
        }
    }
}

/// The one bearer token of a request. With two, a proxy may have checked the other one.
fn single_bearer(headers: &HeaderMap) -> Result<&str, AuthError> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let header = sent.next().ok_or(AuthError::Missing)?;
    if sent.next().is_some() {
        return Err(AuthError::Unknown);
    }
    header.to_str().ok().and_then(bearer).ok_or(AuthError::Missing)
}
