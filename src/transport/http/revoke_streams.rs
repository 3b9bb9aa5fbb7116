//! Ends streams when the token of their caller is revoked or expires.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyStream, StreamBody};
use hyper::StatusCode;
use hyper::header::HeaderMap;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use super::auth::Auth;
use super::responses::HttpResponse;
use crate::call::caller::Caller;

/// The time between two authentications of the caller of a stream.
const AUTH_CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Ends the body of a response soon after its request would no longer be authenticated.
///
/// The token may be gone from its file, may have expired, or may be signed by a key that the issuer has withdrawn.
pub(super) fn end_on_revocation(
    response: HttpResponse,
    auth: &Arc<Auth>,
    caller: Caller,
    request: HeaderMap,
) -> HttpResponse {
    if caller == Caller::Anyone || response.status() != StatusCode::OK {
        return response;
    }

    let auth = auth.clone();
    let revoked = tokio::spawn(async move {
        loop {
            sleep(AUTH_CHECK_INTERVAL).await;
            if auth.authenticate(&request).await.ok().as_ref() != Some(&caller) {
                return;
            }
        }
    });
    let revoked = AbortOnDropHandle::new(revoked);

    response.map(|body| BoxBody::new(StreamBody::new(BodyStream::new(body).take_until(revoked))))
}
