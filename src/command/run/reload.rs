//! Reading configs and policies again while a server runs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, timeout_at};

use crate::serving::reload::Registry;

/// How long files must have been left alone before they are read: editors write in several steps.
const QUIET: Duration = Duration::from_millis(150);
/// How long a change waits at most for that.
const PATIENCE: Duration = Duration::from_secs(1);

/// Serves what the files say now, or keeps what is served and logs why.
pub(super) fn reload(registry: &Registry) {
    match registry.reload() {
        Ok(warnings) => {
            if !warnings.is_empty() {
                tracing::warn!("{}", warnings.render(climax_catalog::Style::Plain));
            }
            tracing::info!("configs and policies were read again");
        }
        Err(error) => tracing::error!("configs and policies stay as they were, since this cannot be served: {error}"),
    }
}

/// Reloads whenever one of the files changes, until the runtime ends.
///
/// # Errors
/// A file cannot be watched.
pub(super) fn watch(registry: Arc<Registry>) -> io::Result<()> {
    let paths: Vec<PathBuf> = registry.files().map(std::path::absolute).collect::<io::Result<_>>()?;
    let (sender, mut changes) = unbounded_channel();
    let files = paths.clone();
    let notify = move |event: notify::Result<Event>| {
        let Ok(event) = event else { return };
        let is_read = matches!(event.kind, EventKind::Access(_));
        if !is_read && event.paths.iter().any(|changed| files.iter().any(|path| changed.starts_with(path))) {
            // The receiver is there as long as anything is served.
            let _ = sender.send(());
        }
    };
    let mut watcher = RecommendedWatcher::new(notify, notify::Config::default()).map_err(io::Error::other)?;
    for path in &paths {
        // A file that is replaced is another file of the same name: only its directory tells.
        let place = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(Path::new("/")) };
        watcher.watch(place, RecursiveMode::NonRecursive).map_err(io::Error::other)?;
    }
    tokio::spawn(async move {
        let _watcher = watcher;
        while changes.recv().await.is_some() {
            settle(&mut changes).await;
            reload(&registry);
        }
    });
    Ok(())
}

/// Waits until nothing has changed for [`QUIET`], [`PATIENCE`] at most.
async fn settle(changes: &mut UnboundedReceiver<()>) {
    let last = Instant::now() + PATIENCE;
    while let Ok(Some(())) = timeout_at((Instant::now() + QUIET).min(last), changes.recv()).await {}
}
