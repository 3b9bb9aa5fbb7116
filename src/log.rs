//! Logs, to standard error or to the file that `CLIMAX_LOG_FILE` names.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::filter::LevelFilter;

/// Starts logging; records less severe than `level` are dropped.
pub(crate) fn start(level: LevelFilter, file: Option<&Path>) -> io::Result<()> {
    let builder = tracing_subscriber::fmt().with_max_level(level).with_target(false).with_ansi(false);
    let started = match file {
        None => builder.with_writer(io::stderr).try_init(),
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path)?;
            builder.with_writer(Mutex::new(file)).try_init()
        }
    };
    // A host that embeds this library may have set up logging already; then its choice stands.
    drop(started);
    Ok(())
}
