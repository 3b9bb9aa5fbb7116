//! Streams that last end with the access of whoever reads them.

use std::sync::Arc;

use futures_util::StreamExt as _;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyStream, StreamBody};
use hyper::StatusCode;
use hyper::header::HeaderMap;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use super::answers::Answer;
use super::auth::Access;
use crate::call::caller::Caller;
use std::time::Duration;

/// How often it is checked that whoever reads a stream would still be let in.
const ACCESS_CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// An answer that ends soon after its caller would not be let in any more with these headers: the token is no longer in its
/// file, has expired, or was signed with a key that the issuer has withdrawn.
pub(super) fn while_let_in(answer: Answer, access: &Arc<Access>, caller: Caller, headers: HeaderMap) -> Answer {
    if caller == Caller::Anyone || answer.status() != StatusCode::OK {
        return answer;
    }
    let access = access.clone();
    let lapse = tokio::spawn(async move {
        loop {
            sleep(ACCESS_CHECK_INTERVAL).await;
            if access.identify(&headers).await.ok().as_ref() != Some(&caller) {
                return;
            }
        }
    });
    let lapse = AbortOnDropHandle::new(lapse);
    answer.map(|body| BoxBody::new(StreamBody::new(BodyStream::new(body).take_until(lapse))))
}
