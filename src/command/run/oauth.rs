//! The options of OAuth.

use core::net::SocketAddr;

use clap::Args;

use crate::transport::http::host_check::Host;
use crate::transport::http::oauth::{JwtResourceServer, ScopeToken, safe_url::SafeUrl};
use crate::transport::http::resource_server::ResourceServer;

/// The authorization server whose access tokens are accepted.
#[derive(Args, Debug)]
pub(crate) struct OauthArguments {
    /// Let in who carries an access token (JWT) of this authorization server, OAuth 2.1
    #[arg(long, value_name = "URL")]
    oauth_issuer: Option<SafeUrl>,
    /// What access tokens must be meant for, if their issuer calls the server otherwise [default: the --public-url]
    #[arg(long, value_name = "URI", requires = "oauth_issuer")]
    oauth_audience: Option<ScopeToken>,
    /// Scope that access tokens must grant; several are all needed
    #[arg(long, value_name = "SCOPE", requires = "oauth_issuer")]
    oauth_scope: Vec<ScopeToken>,
    /// Where clients reach /mcp, which behind a proxy is another URL; its host is answered to [default, on this machine's
    /// own addresses: `http://ADDRESS:PORT/mcp`]
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
                    "clients ask {issuer} for tokens by the URL of this server, and {address} tells others none: name it, \
                     such as --public-url https://tools.example/mcp"
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
