//! Logs, to standard error or to the file that `CLIMAX_LOG_FILE` names.

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

/// Ends what logging has started when it is dropped.
#[must_use]
pub(crate) struct Logging {
    #[cfg(feature = "otlp")]
    export: Option<crate::telemetry::traces::Export>,
}

/// Starts logging; records less severe than `level` are dropped.
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

/// Whether a record is told. The SDK warns of each mistake of a client, and takes each that leaves for an error, with which a client
/// could fill the log.
fn is_told(record: &Metadata<'_>, level: LevelFilter) -> bool {
    level >= LevelFilter::DEBUG || !record.target().starts_with(SDK_TARGET)
}

/// A host that embeds this library may have set up logging already; then its choice stands.
impl Logging {
    #[cfg(not(feature = "otlp"))]
    #[expect(clippy::unused_self, reason = "what is started depends on the features")]
    fn start<W: for<'w> MakeWriter<'w> + Send + Sync + 'static>(&self, level: LevelFilter, writer: W) {
        let builder = tracing_subscriber::fmt().with_max_level(level).with_target(false).with_ansi(false);
        // Nobody may read standard error any more. Saying so there would panic, and whatever was being answered would not be.
        let records = builder.log_internal_errors(false).with_writer(writer).finish();
        drop(records.with(filter_fn(move |record| is_told(record, level))).try_init());
    }

    #[cfg(feature = "otlp")]
    fn start<W: for<'w> MakeWriter<'w> + Send + Sync + 'static>(&self, level: LevelFilter, writer: W) {
        use tracing_subscriber::layer::Layer as _;

        let records = tracing_subscriber::fmt::layer().with_target(false).with_ansi(false).with_writer(writer);
        let records = records.log_internal_errors(false);
        let spans = self.export.as_ref().map(|export| export.layer().with_filter(LevelFilter::INFO));
        let records = records.with_filter(level).with_filter(filter_fn(move |record| is_told(record, level)));
        drop(tracing_subscriber::registry().with(records).with(spans).try_init());
    }
}
