//! Who gets in.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::RwLock;

use hyper::header::{AUTHORIZATION, HeaderMap};

use super::oauth::{ResourceServer, Unfit};
use super::tokens::{Tokens, bearer};
use crate::call::caller::Caller;
use crate::lock::Unpoisoned as _;

/// How callers show who they are.
#[derive(Debug)]
pub enum Access {
    /// They do not.
    Open,
    /// By one of the tokens of a file.
    Tokens(TokenFile),
    /// By an access token of an authorization server, or by one of the tokens of a file if there is one.
    Oauth(Box<ResourceServer>, Option<TokenFile>),
}

/// A file of bearer tokens, which can be read again.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    tokens: RwLock<Tokens>,
}

/// Why a caller does not get in.
#[derive(Debug)]
pub(super) enum Refused {
    /// No token came with the request.
    NoToken,
    /// The token opens nothing.
    WrongToken,
    /// The access token does not open the server.
    Unfit(Unfit),
}

impl Refused {
    /// Whether anybody could have made the token that came with the request.
    pub(super) fn is_guess(&self) -> bool {
        match self {
            Self::NoToken => false,
            Self::WrongToken => true,
            Self::Unfit(why) => why.is_guess(),
        }
    }
}

impl TokenFile {
    /// Reads the file.
    ///
    /// # Errors
    /// It cannot be read, or what is wrong with it, a line each.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { tokens: RwLock::new(read(path)?), path: path.to_owned() })
    }

    /// Whether there is a token of this name.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.tokens.read().unpoisoned().names().any(|known| known == name)
    }

    /// Reads the file again; if that fails the tokens stay that were there.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn reread(&self) -> io::Result<()> {
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
            Self::Open | Self::Oauth(_, None) => Ok(()),
            Self::Tokens(file) | Self::Oauth(_, Some(file)) => file.reread(),
        }
    }

    /// The resource server, if there is one.
    pub(super) fn resource_server(&self) -> Option<&ResourceServer> {
        match self {
            Self::Open | Self::Tokens(_) => None,
            Self::Oauth(server, _) => Some(server),
        }
    }

    /// Whether anybody can get in: not before the keys are known that all tokens are verified with.
    pub(super) fn is_ready(&self) -> bool {
        match self {
            Self::Open | Self::Tokens(_) | Self::Oauth(_, Some(_)) => true,
            Self::Oauth(server, None) => server.is_ready(),
        }
    }

    /// Who makes a request, by its headers.
    pub(super) async fn identify(&self, headers: &HeaderMap) -> Result<Caller, Refused> {
        let (server, file) = match self {
            Self::Open => return Ok(Caller::Anyone),
            Self::Tokens(file) => (None, Some(file)),
            Self::Oauth(server, file) => (Some(server), file.as_ref()),
        };
        let mut sent = headers.get_all(AUTHORIZATION).iter();
        let header = sent.next().ok_or(Refused::NoToken)?;
        // Whoever stands before the server may have checked the other one.
        if sent.next().is_some() {
            return Err(Refused::WrongToken);
        }
        let token = header.to_str().ok().and_then(bearer).ok_or(Refused::NoToken)?;
        if let Some(caller) = file.and_then(|file| file.find(token)) {
            return Ok(caller);
        }
        let server = server.ok_or(Refused::WrongToken)?;
        server.subject(token).await.map(Caller::Subject).map_err(Refused::Unfit)
    }
}
