//! The identity of the server: name, title, version, website, icon.

use crate::identity;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{Icon, Implementation};

/// A prompt with a cursor.
const ICON: &str = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>\
    <path d='M3 4l4 4-4 4m6 0h5' fill='none' stroke='#888' stroke-width='2'/></svg>";

/// The owner in the addresses of a package that nobody has published.
const NO_OWNER: &str = "/OWNER/";

/// The identity, without the icon. The website is the one that the package names, if somebody owns it.
pub(super) fn server_info(version: String) -> Implementation {
    let name = identity::name();
    let mut info = Implementation::new(name, version).with_title(format!("{name}: command-line programs"));
    let websites = [env!("CARGO_PKG_HOMEPAGE"), env!("CARGO_PKG_REPOSITORY")];
    info.website_url = websites.into_iter().find(|url| !url.is_empty() && !url.contains(NO_OWNER)).map(str::to_owned);
    info
}

/// The icon, in the URI itself.
pub(super) fn icon() -> Icon {
    let uri = format!("data:image/svg+xml;base64,{}", BASE64_STANDARD.encode(ICON));
    Icon::new(uri).with_mime_type("image/svg+xml").with_sizes(vec!["any".to_owned()])
}
