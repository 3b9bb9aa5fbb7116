//! Notifications that belong to one call.

use rmcp::model::ServerNotification;
use tokio::sync::mpsc;

/// Sends notifications over the stream that will carry the response of one call.
///
/// A transport with such streams inserts one into the extensions of each call.
#[derive(Clone, Debug)]
pub(crate) struct CallNotifier(mpsc::Sender<ServerNotification>);

impl CallNotifier {
    /// Creates a notifier and the receiver of its notifications, of which `capacity` may wait.
    pub(crate) fn channel(capacity: usize) -> (Self, mpsc::Receiver<ServerNotification>) {
        let (sender, receiver) = mpsc::channel(capacity);
        (Self(sender), receiver)
    }

    /// Sends a notification. It is dropped if the client has closed the stream.
    pub(crate) async fn send(&self, notification: ServerNotification) {
        let _ = self.0.send(notification).await;
    }
}
