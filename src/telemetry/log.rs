//! Writes logs to standard error, or to a file.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing::Metadata;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

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

/// Starts logging. Records below `level` are dropped, and those of `quiet_target` unless `level` is debug or finer.
///
/// A host that embeds this library may have set up logging already; then its choice stands.
///
/// # Errors
/// The file cannot be opened, or the exporter of traces cannot be set up.
pub(crate) fn start(level: LevelFilter, file: Option<&Path>, quiet_target: &'static str) -> io::Result<Logging> {
    let logging = Logging {
        #[cfg(feature = "otlp")]
        export: super::traces::export()?,
    };
    match file {
        None => logging.install(level, quiet_target, io::stderr),
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path)?;
            logging.install(level, quiet_target, Mutex::new(file));
        }
    }

    Ok(logging)
}

impl Logging {
    fn install<W>(&self, level: LevelFilter, quiet_target: &'static str, writer: W)
    where
        W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
    {
        let is_wanted =
            move |record: &Metadata<'_>| level >= LevelFilter::DEBUG || !record.target().starts_with(quiet_target);
        let records = tracing_subscriber::fmt::layer().with_target(false).with_ansi(false).with_writer(writer);
        // Standard error may be closed. Reporting that there would panic, and the request would stay unanswered.
        let records = records.log_internal_errors(false).with_filter(level).with_filter(filter_fn(is_wanted));
        drop(tracing_subscriber::registry().with(records).with(self.spans()).try_init());
    }

    /// The layer that exports spans, if they are exported.
    #[cfg(feature = "otlp")]
    fn spans<S>(&self) -> Option<impl Layer<S> + use<S>>
    where
        S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
    {
        self.export.as_ref().map(|export| export.layer().with_filter(LevelFilter::INFO))
    }

    /// The layer that exports spans: this build has none.
    #[cfg(not(feature = "otlp"))]
    #[expect(clippy::unused_self, reason = "builds with the feature `otlp` have an exporter in it")]
    fn spans(&self) -> Option<LevelFilter> {
        None
    }
}
