//! Logs, to standard error or to the file that `CLIMAX_LOG_FILE` names.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};

/// Names the log file if the command line does not.
const FILE_VARIABLE: &str = "CLIMAX_LOG_FILE";

/// The file to log to: what the command line says, else what the environment says.
pub(crate) fn file(argument: Option<&Path>) -> Option<PathBuf> {
    let named = || std::env::var_os(FILE_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    argument.map(Path::to_owned).or_else(named)
}

/// The time, as logs have it: RFC 3339, in UTC.
pub(crate) fn now() -> String {
    let mut text = String::new();
    // Writing to memory does not fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut text));
    text
}

/// Starts logging; records less severe than `level` are dropped.
pub(crate) fn start(level: LevelFilter, file: Option<&Path>) -> io::Result<()> {
    let builder = tracing_subscriber::fmt().with_max_level(level).with_target(false).with_ansi(false);
    // Nobody may read standard error any more. Saying so there would panic, and whatever was being answered would not be.
    let builder = builder.log_internal_errors(false);
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
