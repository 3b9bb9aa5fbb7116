//! Sends notifications of a call over the stream of its response, before the response.
//!
//! The SDK sends log messages over the stream that a client may open with GET. A client that has not opened it does not get them, and
//! a client that does not read it blocks the session. They belong to the stream of their request.
//!
//! Source: MCP 2025-11-25, basic/transports, "Sending Messages to the Server", item 6, and "Listening for Messages from the
//! Server", item 4.

use std::task::{Context, Poll};

use futures_util::stream::{Stream, StreamExt as _, empty, poll_fn};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetExtensions as _, JsonRpcMessage, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionError,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use tokio::sync::mpsc;

use crate::mcp::CallNotifier;

/// The SDK's sessions, with a [`CallNotifier`] among the extensions of each call.
#[derive(Debug, Default)]
pub(super) struct NotifyingSessions {
    pub(super) local: LocalSessionManager,
}

impl SessionManager for NotifyingSessions {
    type Error = <LocalSessionManager as SessionManager>::Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.local.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let notifications = match &mut message {
            JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::CallToolRequest(_)) => {
                let (notifier, receiver) = CallNotifier::channel(1);
                request.request.extensions_mut().insert(notifier);
                Some(receiver)
            }
            _ => None,
        };
        let messages = self.local.create_stream(id, message).await?;
        Ok(match notifications {
            Some(notifications) => merge(messages, notifications).left_stream(),
            None => messages.right_stream(),
        })
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        match self.local.resume(id, last_event_id).await {
            Ok(rest) => Ok(rest.left_stream()),
            // The stream has ended, which is no error.
            Err(LocalSessionManagerError::SessionError(SessionError::ChannelClosed(_))) => Ok(empty().right_stream()),
            Err(error) => Err(error),
        }
    }
}

/// Merges the messages of the SDK and the notifications of a call. A notification that was sent before a message comes before it.
fn merge(
    messages: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    mut notifications: mpsc::Receiver<ServerNotification>,
) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
    let mut messages = Box::pin(messages);
    let mut next_message = None;
    poll_fn(move |context: &mut Context<'_>| {
        if next_message.is_none()
            && let Poll::Ready(next) = messages.poll_next_unpin(context)
        {
            next_message = Some(next);
        }
        let notification = match &next_message {
            // All that was sent before the message is in the channel by now.
            Some(_) => notifications.try_recv().ok(),
            None => match notifications.poll_recv(context) {
                Poll::Ready(Some(notification)) => Some(notification),
                Poll::Ready(None) | Poll::Pending => None,
            },
        };
        match (notification, next_message.take()) {
            (Some(notification), message) => {
                next_message = message;
                let notification = ServerJsonRpcMessage::notification(notification);
                Poll::Ready(Some(ServerSseMessage::from_message(notification)))
            }
            (None, Some(message)) => Poll::Ready(message),
            (None, None) => Poll::Pending,
        }
    })
}

#[cfg(test)]
mod tests {
    use futures_util::stream::iter;
    use rmcp::model::ToolListChangedNotification;

    use super::*;

    #[tokio::test]
    async fn notifications_come_before_a_later_response() {
        let (notifier, receiver) = CallNotifier::channel(2);
        let notification = || ServerNotification::from(ToolListChangedNotification::default());
        notifier.send(notification()).await;
        notifier.send(notification()).await;
        let response = ServerSseMessage::new("response", ServerJsonRpcMessage::notification(notification()));
        let sent: Vec<_> = merge(iter([response]), receiver).map(|message| message.event_id).collect().await;
        assert_eq!(sent, [None, None, Some("response".to_owned())]);
        // The stream is closed, and sending does not wait.
        notifier.send(notification()).await;
    }
}
