//! Sessions whose requests have a way of their own to say something before they are answered.
//!
//! The SDK sends log messages over the stream that a client may open for what belongs to none of its requests: who has not
//! opened it does not get them, and who does not read it holds up the session. They belong to their request's stream.
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
        let asides = match &mut message {
            JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::CallToolRequest(_)) => {
                let (notifier, receiver) = CallNotifier::channel(1);
                request.request.extensions_mut().insert(notifier);
                Some(receiver)
            }
            _ => None,
        };
        let answers = self.local.create_stream(id, message).await?;
        Ok(match asides {
            Some(asides) => merged(answers, asides).left_stream(),
            None => answers.right_stream(),
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
            // Nothing is left of a stream that has ended, and there is nothing to warn of.
            Err(LocalSessionManagerError::SessionError(SessionError::ChannelClosed(_))) => Ok(empty().right_stream()),
            Err(error) => Err(error),
        }
    }
}

/// What the SDK sends, and asides; an aside that was sent before an answer comes before it.
fn merged(
    answers: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    mut asides: mpsc::Receiver<ServerNotification>,
) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
    let mut answers = Box::pin(answers);
    let mut held = None;
    poll_fn(move |context: &mut Context<'_>| {
        if held.is_none()
            && let Poll::Ready(next) = answers.poll_next_unpin(context)
        {
            held = Some(next);
        }
        let aside = match &held {
            // Whatever was sent before the answer is there by now.
            Some(_) => asides.try_recv().ok(),
            None => match asides.poll_recv(context) {
                Poll::Ready(Some(aside)) => Some(aside),
                Poll::Ready(None) | Poll::Pending => None,
            },
        };
        match (aside, held.take()) {
            (Some(aside), answer) => {
                held = answer;
                Poll::Ready(Some(ServerSseMessage::from_message(ServerJsonRpcMessage::notification(aside))))
            }
            (None, Some(answer)) => Poll::Ready(answer),
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
    async fn what_was_sent_before_an_answer_comes_before_it() {
        let (aside, receiver) = CallNotifier::channel(2);
        let notification = || ServerNotification::from(ToolListChangedNotification::default());
        aside.send(notification()).await;
        aside.send(notification()).await;
        let answer = ServerSseMessage::new("answer", ServerJsonRpcMessage::notification(notification()));
        let sent: Vec<_> = merged(iter([answer]), receiver).map(|message| message.event_id).collect().await;
        assert_eq!(sent, [None, None, Some("answer".to_owned())]);
        // Nobody reads any more, and nobody waits for that.
        aside.send(notification()).await;
    }
}
