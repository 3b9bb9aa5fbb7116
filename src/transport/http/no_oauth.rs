//! Builds without the feature `oauth`: there are no resource servers, so nothing ever comes of them.

use std::convert::Infallible;
use std::fmt;
use std::future::Ready;
use std::sync::Arc;

use hyper::StatusCode;

use crate::call::caller::Subject;

/// A resource server of OAuth; there is none.
#[derive(Debug)]
pub enum ResourceServer {}

/// Why a token does not open a resource server.
#[derive(Debug)]
pub(super) struct Unfit(Infallible);

impl ResourceServer {
    pub(super) fn subject(&self, _: &str) -> Ready<Result<Arc<Subject>, Unfit>> {
        match *self {}
    }

    pub(super) fn keep(&self) -> Ready<()> {
        match *self {}
    }

    pub(super) fn is_ready(&self) -> bool {
        match *self {}
    }

    pub(super) fn metadata(&self, _: &str) -> Option<&str> {
        match *self {}
    }

    pub(super) fn metadata_url(&self) -> &str {
        match *self {}
    }

    pub(super) fn scope(&self) -> &str {
        match *self {}
    }
}

impl Unfit {
    pub(super) fn status(&self) -> StatusCode {
        match self.0 {}
    }

    pub(super) fn error(&self) -> Option<&'static str> {
        match self.0 {}
    }

    pub(super) fn is_guess(&self) -> bool {
        match self.0 {}
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}
