//! The options of OAuth.

use core::net::SocketAddr;

use clap::Args;

use crate::transport::http::host_check::Host;
use crate::transport::http::oauth::{JwtResourceServer, ScopeToken, safe_url::SafeUrl};
use crate::transport::http::resource_server::ResourceServer;

/// The authorization server whose access tokens are accepted.
#[derive(Args, Debug)]
pub(crate) struct OauthArguments {
    /// Accept access tokens (JWT) of this authorization server, OAuth 2.1
    #[arg(long, value_name = "URL")]
    oauth_issuer: Option<SafeUrl>,
    /// Audience that access tokens must have, if their issuer has another name for the server [default: the --public-url]
    #[arg(long, value_name = "URI", requires = "oauth_issuer")]
    oauth_audience: Option<ScopeToken>,
    /// Scope that access tokens must grant; if it is given several times, they must grant each
    #[arg(long, value_name = "SCOPE", requires = "oauth_issuer")]
    oauth_scope: Vec<ScopeToken>,
    /// URL at which clients reach /mcp, such as that of a proxy; its host is allowed [default, on this machine's own
    /// addresses: `http://ADDRESS:PORT/mcp`]
    #[arg(long, value_name = "URL", requires = "oauth_issuer")]
    public_url: Option<SafeUrl>,
}

impl OauthArguments {
    /// The resource server that listens on `address`, if there is an issuer.
    ///
    /// # Errors
    /// The URL of the server is not given, and `address` is none that clients elsewhere can use.
    pub(crate) fn resource_server(&self, address: SocketAddr) -> Result<Option<Box<dyn ResourceServer>>, String> {
        let Some(issuer) = self.oauth_issuer.clone() else { return Ok(None) };
        let url = match &self.public_url {
            Some(url) => url.clone(),
            None => format!("http://{address}/mcp").parse().map_err(|_| {
                format!(
                    "tokens of {issuer} have to name the URL at which clients reach this server, and clients elsewhere \
                     cannot use {address}: give the URL, such as --public-url https://tools.example/mcp"
                )
            })?,
        };
        let server = JwtResourceServer::new(issuer, &url, self.oauth_audience.clone(), self.oauth_scope.clone());
        Ok(Some(Box::new(server)))
    }

    /// The host in the public URL, if that is given.
    pub(crate) fn public_host(&self) -> Option<Host> {
        self.public_url.as_ref().and_then(|url| url.authority().parse().ok())
    }
}
