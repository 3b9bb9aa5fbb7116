//! Writes logs to standard error, or to a file.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing::Metadata;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::mcp::SDK_TARGET;

/// The environment variable for the log file, which the command line overrides.
const FILE_VARIABLE: &str = "CLIMAX_LOG_FILE";

/// Returns the log file of the command line, else of the environment; `None` for standard error.
pub(crate) fn file(argument: Option<&Path>) -> Option<PathBuf> {
    let variable = || std::env::var_os(FILE_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    argument.map(Path::to_owned).or_else(variable)
}

/// Returns the current time in the format of log records: RFC 3339, in UTC.
pub(crate) fn now() -> String {
    let mut text = String::new();
    // Writing to memory does not fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut text));
    text
}

/// The running log. Dropping it sends the remaining spans.
#[must_use]
pub(crate) struct Logging {
    #[cfg(feature = "otlp")]
    export: Option<crate::telemetry::traces::TraceExport>,
}

/// Starts logging. Records below `level` are dropped.
///
/// # Errors
/// The file cannot be opened, or the export of spans cannot be set up.
pub(crate) fn start(level: LevelFilter, file: Option<&Path>) -> io::Result<Logging> {
    let logging = Logging {
        #[cfg(feature = "otlp")]
        export: crate::telemetry::traces::export()?,
    };
    match file {
        None => logging.start(level, io::stderr),
        Some(path) => logging.start(level, Mutex::new(OpenOptions::new().create(true).append(true).open(path)?)),
    }
    Ok(logging)
}

/// Whether a record is logged.
///
/// The SDK logs a warning for each invalid message of a client and an error for each disconnect, so clients could
/// fill the log. Its records are logged from level `debug` on.
fn is_logged(record: &Metadata<'_>, level: LevelFilter) -> bool {
    level >= LevelFilter::DEBUG || !record.target().starts_with(SDK_TARGET)
}

/// A program that embeds this library may have set up logging before. Then its subscriber stays, and these do nothing.
impl Logging {
    #[cfg(not(feature = "otlp"))]
    #[expect(clippy::unused_self, reason = "what is started depends on the features")]
    fn start<W: for<'w> MakeWriter<'w> + Send + Sync + 'static>(&self, level: LevelFilter, writer: W) {
        let builder = tracing_subscriber::fmt().with_max_level(level).with_target(false).with_ansi(false);
        // Standard error may be closed. Reporting the write error there would panic, and a request would get no
        // response.
        let records = builder.log_internal_errors(false).with_writer(writer).finish();
        drop(records.with(filter_fn(move |record| is_logged(record, level))).try_init());
    }

    #[cfg(feature = "otlp")]
    fn start<W: for<'w> MakeWriter<'w> + Send + Sync + 'static>(&self, level: LevelFilter, writer: W) {
        use tracing_subscriber::layer::Layer as _;

        let records = tracing_subscriber::fmt::layer().with_target(false).with_ansi(false).with_writer(writer);
        let records = records.log_internal_errors(false);
        let spans = self.export.as_ref().map(|export| export.layer().with_filter(LevelFilter::INFO));
        let records = records.with_filter(level).with_filter(filter_fn(move |record| is_logged(record, level)));
        drop(tracing_subscriber::registry().with(records).with(spans).try_init());
    }
}
