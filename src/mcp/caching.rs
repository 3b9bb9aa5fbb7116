//! The cache hints of results.
//!
//! Source: MCP 2026-07-28, server/utilities/caching; earlier revisions have no such fields.

use rmcp::model::{
    CacheScope, GetSkillResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult,
    ListToolsResult, ReadResourceResult,
};
use rmcp::service::{RequestContext, RoleServer};

use super::revision::is_modern;

/// A result that has cache hints.
pub(super) trait Cacheable: Sized {
    /// Adds cache hints. The result may be reused for the same caller only.
    fn cached_for(self, ttl_ms: u64) -> Self;
}

macro_rules! cacheable {
    ($($result:ty),*) => {
        $(impl Cacheable for $result {
            fn cached_for(self, ttl_ms: u64) -> Self {
                self.with_ttl_ms(ttl_ms).with_cache_scope(CacheScope::Private)
            }
        })*
    };
}

cacheable!(
    GetSkillResult,
    ListPromptsResult,
    ListResourceTemplatesResult,
    ListResourcesResult,
    ListSkillsResult,
    ListToolsResult,
    ReadResourceResult
);

/// Adds cache hints if the revision of the request has them. `ttl_ms` is in milliseconds.
pub(super) fn cacheable<T: Cacheable>(result: T, ttl_ms: u64, context: &RequestContext<RoleServer>) -> T {
    if is_modern(context) { result.cached_for(ttl_ms) } else { result }
}
