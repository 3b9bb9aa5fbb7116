//! The options that name an authorization server.

use core::net::SocketAddr;

use clap::Args;

use crate::transport::http::host_check::Host;
use crate::transport::http::oauth::ResourceServer;
#[cfg(feature = "oauth")]
use crate::transport::http::oauth::{Word, url::SafeUrl};

/// Whose access tokens open the server.
#[cfg(feature = "oauth")]
#[derive(Args, Debug)]
pub(crate) struct OauthArguments {
    /// Let in who carries an access token (JWT) of this authorization server, OAuth 2.1
    #[arg(long, value_name = "URL")]
    oauth_issuer: Option<SafeUrl>,
    /// What access tokens must be meant for, if their issuer calls the server otherwise [default: the --public-url]
    #[arg(long, value_name = "URI", requires = "oauth_issuer")]
    oauth_audience: Option<Word>,
    /// Scope that access tokens must grant; several are all needed
    #[arg(long, value_name = "SCOPE", requires = "oauth_issuer")]
    oauth_scope: Vec<Word>,
    /// Where clients reach /mcp, which behind a proxy is another URL; its host is answered to [default, on this machine's
    /// own addresses: `http://ADDRESS:PORT/mcp`]
    #[arg(long, value_name = "URL", requires = "oauth_issuer")]
    public_url: Option<SafeUrl>,
}

#[cfg(feature = "oauth")]
impl OauthArguments {
    /// The resource server that listens on `address`, if one is asked for.
    ///
    /// # Errors
    /// Nobody can tell how clients know it.
    pub(crate) fn resource_server(&self, address: SocketAddr) -> Result<Option<ResourceServer>, String> {
        let Some(issuer) = self.oauth_issuer.clone() else { return Ok(None) };
        let url = match &self.public_url {
            Some(url) => url.clone(),
            None => format!("http://{address}/mcp").parse().map_err(|_| {
                format!(
                    "clients ask {issuer} for tokens by the URL of this server, and {address} tells others none: name it, \
                     such as --public-url https://tools.example/mcp"
                )
            })?,
        };
        Ok(Some(ResourceServer::new(issuer, &url, self.oauth_audience.clone(), self.oauth_scope.clone())))
    }

    /// The host that clients know, if one is named.
    pub(crate) fn public_host(&self) -> Option<Host> {
        self.public_url.as_ref().and_then(|url| url.authority().parse().ok())
    }
}

/// Says where the options are.
#[cfg(not(feature = "oauth"))]
#[derive(Args, Debug)]
pub(crate) struct OauthArguments {
    #[arg(long, hide = true, value_parser = absent)]
    oauth_issuer: Option<std::convert::Infallible>,
}

#[cfg(not(feature = "oauth"))]
impl OauthArguments {
    /// None: this build has none.
    pub(crate) fn resource_server(&self, _: SocketAddr) -> Result<Option<ResourceServer>, String> {
        self.oauth_issuer.map_or(Ok(None), |never| match never {})
    }

    /// None, as above.
    pub(crate) fn public_host(&self) -> Option<Host> {
        self.oauth_issuer.map(|never| match never {})
    }
}

#[cfg(not(feature = "oauth"))]
fn absent(_: &str) -> Result<std::convert::Infallible, String> {
    Err("this binary was built without OAuth; build it with `cargo install --path . --features oauth`".to_owned())
}
