//! Reloads configs, skills and policies while a server runs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use crate::serving::reload::Registry;

/// Time without changes before files are reloaded, because editors write in several steps.
const DEBOUNCE: Duration = Duration::from_millis(150);
/// Maximum time from a change to the reload.
const MAX_DELAY: Duration = Duration::from_secs(1);

/// Reloads the files. If they have errors, logs them and leaves the served tools as they are.
pub(super) fn reload(registry: &Registry) {
    match registry.reload() {
        Ok(warnings) => {
            if !warnings.is_empty() {
                tracing::warn!("{}", warnings.render(climax_catalog::Style::Plain));
            }
            tracing::info!("configs, skills and policies were read again");
        }
        Err(error) => {
            tracing::error!(
                "the files that were read before stay in use, because the changed ones cannot be served: {error}"
            );
        }
    }
}

/// Reloads whenever one of the files changes, until the runtime ends.
///
/// # Errors
/// A file cannot be watched.
pub(super) fn watch(registry: Arc<Registry>) -> io::Result<()> {
    let paths: Vec<PathBuf> = registry.files().map(std::path::absolute).collect::<io::Result<_>>()?;
    let (sender, mut changes) = unbounded_channel();
    let skills: Vec<PathBuf> = registry.skills().map(std::path::absolute).collect::<io::Result<_>>()?;
    let files = paths.clone();
    let notify = move |event: notify::Result<Event>| {
        let Ok(event) = event else { return };
        let is_access = matches!(event.kind, EventKind::Access(_));
        if !is_access && event.paths.iter().any(|changed| files.iter().any(|path| changed.starts_with(path))) {
            // It fails only after the runtime has ended.
            let _ = sender.send(());
        }
    };
    let mut watcher = RecommendedWatcher::new(notify, notify::Config::default()).map_err(io::Error::other)?;

    for path in &paths {
        // Editors replace files. The watch of a file would follow the old one, so the directory is watched.
        let directory = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(Path::new("/")) };
        let mode = if skills.contains(path) { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
        watcher.watch(directory, mode).map_err(io::Error::other)?;
    }

    tokio::spawn(async move {
        let _watcher = watcher;
        while changes.recv().await.is_some() {
            debounce(&mut changes).await;
            let registry = registry.clone();
            // On a thread of its own, since large files take longer than a request may wait.
            let _ = spawn_blocking(move || reload(&registry)).await;
        }
    });

    Ok(())
}

/// Waits until nothing has changed for [`DEBOUNCE`], but at most for [`MAX_DELAY`].
async fn debounce(changes: &mut UnboundedReceiver<()>) {
    let deadline = Instant::now() + MAX_DELAY;
    while let Ok(Some(())) = timeout_at((Instant::now() + DEBOUNCE).min(deadline), changes.recv()).await {}
}
