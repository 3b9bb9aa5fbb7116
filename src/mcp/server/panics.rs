//! Answers requests whose handler panics.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use rmcp::model::ErrorData;

/// Answers with an error if a handler panics. The SDK would not answer, and the client would wait for ever.
pub(super) fn catch_panic<'a, T>(
    answer: impl Future<Output = Result<T, ErrorData>> + Send + 'a,
) -> impl Future<Output = Result<T, ErrorData>> + Send {
    let answer = Box::pin(answer);
    async {
        let answer = AssertUnwindSafe(answer).catch_unwind().await;
        answer.map_err(|_| ErrorData::internal_error("Internal error: the call was given up", None))?
    }
}
