//! Capabilities, and notifications of changes.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use rmcp::model::{
    PromptsCapability, ResourceUpdatedNotificationParam, ResourcesCapability, ServerCapabilities, SubscriptionFilter,
};
use rmcp::service::{Peer, RoleServer, ServiceError, SubscriptionContext, SubscriptionSendError};

use super::super::options::Changes;
use super::super::resources;
use super::super::subscriptions::affected;
use super::Server;
use crate::call::Toolbox;
use crate::mcp::resources::MAX_URI_BYTES;
use crate::mcp::subscriptions::MAX_SUBSCRIPTIONS;
use crate::serving::snapshot::Change;

impl Server {
    /// The capabilities that the server declares. It answers no request beyond them.
    pub(super) fn capabilities(&self, toolbox: &Toolbox) -> ServerCapabilities {
        let list_changed = self.sends_list_changed().then_some(true);
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tasks();
        let mut capabilities = match toolbox.skills() {
            [] => capabilities.build(),
            _ => capabilities.enable_skills().build(),
        };
        if let Some(tools) = &mut capabilities.tools {
            tools.list_changed = list_changed;
        }

        let mut resources = ResourcesCapability::default();
        resources.list_changed = list_changed;
        resources.subscribe = (list_changed.is_some() || toolbox.index.resources().next().is_some()).then_some(true);
        capabilities.resources = Some(resources);
        if self.has_prompts(toolbox) {
            let mut prompts = PromptsCapability::default();
            prompts.list_changed = list_changed;
            capabilities.prompts = Some(prompts);
        }

        if self.has_completions(toolbox) {
            capabilities.completions = Some(serde_json::Map::new());
        }

        capabilities
    }

    /// Returns whether clients get `list_changed` notifications.
    pub(super) fn sends_list_changed(&self) -> bool {
        self.options.changes == Changes::Notified
    }

    /// The part of a subscription filter that the server accepts.
    pub(super) fn accepted(&self, requested: &SubscriptionFilter) -> SubscriptionFilter {
        let accept_list = |list: Option<bool>| list.map(|list| list && self.sends_list_changed());
        let mut accepted = SubscriptionFilter::new();
        accepted.tools_list_changed = accept_list(requested.tools_list_changed);
        accepted.prompts_list_changed = accept_list(requested.prompts_list_changed);
        accepted.resources_list_changed = accept_list(requested.resources_list_changed);
        accepted.resource_subscriptions = requested.resource_subscriptions.as_ref().map(|requested| {
            let toolbox = self.toolbox();
            let can_change = |uri: &&String| uri.len() <= MAX_URI_BYTES && resources::can_change(&toolbox.index, uri);
            let uris: BTreeSet<&String> = requested.iter().filter(can_change).take(MAX_SUBSCRIPTIONS).collect();
            uris.into_iter().cloned().collect()
        });

        accepted
    }

    /// Returns whether the server has prompts, or can get some.
    pub(super) fn has_prompts(&self, toolbox: &Toolbox) -> bool {
        self.sends_list_changed() || toolbox.prompts().next().is_some()
    }

    /// Returns whether the server has arguments that it can complete, or can get some.
    pub(super) fn has_completions(&self, toolbox: &Toolbox) -> bool {
        self.has_prompts(toolbox) || toolbox.index.resources().next().is_some()
    }

    /// Starts to notify a client of changes, unless that has been started before. For clients until revision 2025-11-25.
    pub(super) fn notify_of_changes(&self, peer: Peer<RoleServer>) {
        if self.connection.is_notified.swap(true, Ordering::Relaxed) {
            return;
        }

        let mut changes = self.served.subscribe();
        let (served, ended) = (self.served.clone(), self.connection.ended.clone());
        let (subscriptions, sends_list_changed) = (self.connection.subscriptions.clone(), self.sends_list_changed());

        tokio::spawn(async move {
            while let Some(change) = ended.run_until_cancelled(changes.next()).await {
                let uris = subscriptions.affected(&served.toolbox().index, &change);
                let lists = if sends_list_changed { changed_lists(&change) } else { ChangedLists::default() };
                if notify(&peer, lists, uris).await.is_err() {
                    return;
                }
            }
        });
    }

    /// Notifies a client of one change, as far as its subscription covers it. For clients from revision 2026-07-28 on.
    pub(super) async fn notify_subscriber(
        &self,
        context: &SubscriptionContext,
        change: &Change,
    ) -> Result<(), SubscriptionSendError> {
        let (sink, accepted) = (context.sink(), context.accepted());
        let lists = changed_lists(change);
        let is_due = |has_changed: bool, accepted: Option<bool>| {
            self.sends_list_changed() && has_changed && accepted == Some(true)
        };
        if is_due(lists.tools, accepted.tools_list_changed) {
            sink.notify_tool_list_changed().await?;
        }
        if is_due(lists.prompts, accepted.prompts_list_changed) {
            sink.notify_prompt_list_changed().await?;
        }
        if is_due(lists.resources, accepted.resources_list_changed) {
            sink.notify_resource_list_changed().await?;
        }

        // A URI that stands in the filter twice gets one notification.
        let uris: BTreeSet<&String> = accepted.resource_subscriptions.iter().flatten().collect();
        for uri in affected(uris.into_iter(), &self.toolbox().index, change) {
            sink.notify_resource_updated(uri).await?;
        }

        Ok(())
    }
}

/// Which lists a change has changed.
#[derive(Clone, Copy, Debug, Default)]
struct ChangedLists {
    tools: bool,
    prompts: bool,
    resources: bool,
}

fn changed_lists(change: &Change) -> ChangedLists {
    match *change {
        Change::Reloaded { tools, prompts, resources, .. } => ChangedLists { tools, prompts, resources },
        Change::Output(_) => ChangedLists::default(),
    }
}

/// Sends a notification for each changed list and each changed resource.
async fn notify(peer: &Peer<RoleServer>, lists: ChangedLists, uris: Vec<String>) -> Result<(), ServiceError> {
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
