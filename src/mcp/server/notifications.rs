//! What clients are told without asking each time: what the server can do, and what has changed.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use rmcp::model::{
    PromptsCapability, ResourceUpdatedNotificationParam, ResourcesCapability, ServerCapabilities, SubscriptionFilter,
};
use rmcp::service::{Peer, RoleServer, ServiceError, SubscriptionContext, SubscriptionSendError};

use super::super::options::Changes;
use super::super::resources;
use super::super::subscriptions::concerned;
use super::Server;
use crate::call::Toolbox;
use crate::mcp::resources::MAX_URI_BYTES;
use crate::mcp::subscriptions::MAX_SUBSCRIPTIONS;
use crate::serving::snapshot::Change;

impl Server {
    /// What the server declares; it has nothing else.
    pub(super) fn capabilities(&self, toolbox: &Toolbox) -> ServerCapabilities {
        let told = (self.options.changes == Changes::Notified).then_some(true);
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        if let Some(tools) = &mut capabilities.tools {
            tools.list_changed = told;
        }
        let mut resources = ResourcesCapability::default();
        resources.list_changed = told;
        resources.subscribe = (told.is_some() || toolbox.index.resources().next().is_some()).then_some(true);
        capabilities.resources = Some(resources);
        if self.has_prompts(toolbox) {
            let mut prompts = PromptsCapability::default();
            prompts.list_changed = told;
            capabilities.prompts = Some(prompts);
        }
        if self.completes(toolbox) {
            capabilities.completions = Some(serde_json::Map::new());
        }
        capabilities
    }

    /// What of a request to be told of changes will be told.
    pub(super) fn accepted(&self, requested: &SubscriptionFilter) -> SubscriptionFilter {
        let told = |list: Option<bool>| list.map(|list| list && self.options.changes == Changes::Notified);
        let mut accepted = SubscriptionFilter::new();
        accepted.tools_list_changed = told(requested.tools_list_changed);
        accepted.prompts_list_changed = told(requested.prompts_list_changed);
        accepted.resources_list_changed = told(requested.resources_list_changed);
        accepted.resource_subscriptions = requested.resource_subscriptions.as_ref().map(|requested| {
            let toolbox = self.toolbox();
            let may_change = |uri: &&String| uri.len() <= MAX_URI_BYTES && resources::can_change(&toolbox.index, uri);
            let uris: BTreeSet<&String> = requested.iter().filter(may_change).take(MAX_SUBSCRIPTIONS).collect();
            uris.into_iter().cloned().collect()
        });
        accepted
    }

    /// Whether there are prompts, or may be some later.
    pub(super) fn has_prompts(&self, toolbox: &Toolbox) -> bool {
        self.options.changes == Changes::Notified || toolbox.prompts().next().is_some()
    }

    /// Whether there is anything whose arguments can be completed, or may be later.
    pub(super) fn completes(&self, toolbox: &Toolbox) -> bool {
        self.has_prompts(toolbox) || toolbox.index.resources().next().is_some()
    }

    /// Tells a client until 2025-11-25 of changes as long as it is there; once, however often it is asked for.
    pub(super) fn follow(&self, peer: Peer<RoleServer>) {
        if self.connection.is_notified.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut watcher = self.served.subscribe();
        let (live, ended) = (self.served.clone(), self.connection.ended.clone());
        let (subscribed, is_told) = (self.connection.subscriptions.clone(), self.options.changes == Changes::Notified);
        tokio::spawn(async move {
            while let Some(change) = ended.run_until_cancelled(watcher.next()).await {
                let uris = subscribed.concerned(&live.toolbox().index, &change);
                let lists = if is_told { lists(&change) } else { Lists::default() };
                if tell(&peer, lists, uris).await.is_err() {
                    return;
                }
            }
        });
    }

    /// Tells a client from 2026-07-28 on, as far as it has asked for it.
    pub(super) async fn tell_listener(
        &self,
        context: &SubscriptionContext,
        change: &Change,
    ) -> Result<(), SubscriptionSendError> {
        let (sink, accepted) = (context.sink(), context.accepted());
        let told = self.options.changes == Changes::Notified;
        let lists = lists(change);
        let wanted = |list: bool, accepted: Option<bool>| told && list && accepted == Some(true);
        if wanted(lists.tools, accepted.tools_list_changed) {
            sink.notify_tool_list_changed().await?;
        }
        if wanted(lists.prompts, accepted.prompts_list_changed) {
            sink.notify_prompt_list_changed().await?;
        }
        if wanted(lists.resources, accepted.resources_list_changed) {
            sink.notify_resource_list_changed().await?;
        }
        // Whoever names one twice is told once.
        let uris: BTreeSet<&String> = accepted.resource_subscriptions.iter().flatten().collect();
        for uri in concerned(uris.into_iter(), &self.toolbox().index, change) {
            sink.notify_resource_updated(uri).await?;
        }
        Ok(())
    }
}

/// Which lists are others than before.
#[derive(Clone, Copy, Debug, Default)]
struct Lists {
    tools: bool,
    prompts: bool,
    resources: bool,
}

fn lists(change: &Change) -> Lists {
    match *change {
        Change::Reloaded { tools, prompts, resources, .. } => Lists { tools, prompts, resources },
        Change::Output(_) => Lists::default(),
    }
}

async fn tell(peer: &Peer<RoleServer>, lists: Lists, uris: Vec<String>) -> Result<(), ServiceError> {
    if lists.tools {
        peer.notify_tool_list_changed().await?;
    }
    if lists.prompts {
        peer.notify_prompt_list_changed().await?;
    }
    if lists.resources {
        peer.notify_resource_list_changed().await?;
    }
    for uri in uris {
        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
    }
    Ok(())
}
