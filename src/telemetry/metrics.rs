//! Metrics of a server, in the text format of Prometheus.

use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::observer::{CallObserver, error_type};

/// The bounds of the buckets of `mcp.server.operation.duration` in seconds.
///
/// Source: the semantic conventions of OpenTelemetry for MCP, "Metrics".
const OPERATION_SECONDS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// The metrics of a server.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    calls: Family<CallLabels, Counter>,
    durations: Family<DurationLabels, Histogram>,
    operations: Family<OperationLabels, Histogram>,
    output: Counter,
    requests: Family<StatusLabel, Counter>,
    catalog: Family<CatalogLabels, Gauge>,
    running: Gauge,
    waiting: Gauge,
    /// Open sessions.
    pub sessions: Gauge,
    /// Open connections.
    pub connections: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CatalogLabels {
    version: &'static str,
    digest: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    tool: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DurationLabels {
    outcome: &'static str,
}

/// The labels of `mcp.server.operation.duration`, of which the last is empty for calls without an error.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    mcp_method_name: &'static str,
    gen_ai_tool_name: String,
    error_type: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StatusLabel {
    status: u16,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut all = Registry::default();
        let operations =
            Family::<OperationLabels, Histogram>::new_with_constructor(|| Histogram::new(OPERATION_SECONDS));
        let help = "Time of calls by the conventions of OpenTelemetry";
        all.register_with_unit("mcp_server_operation_duration", help, Unit::Seconds, operations.clone());
        let registry = all.sub_registry_with_prefix("climax");
        let info = Family::<CatalogLabels, Gauge>::default();
        registry.register("catalog", "The served catalog", info.clone());
        let calls = Family::<CallLabels, Counter>::default();
        registry.register("calls", "Calls that have ended, by tool and outcome", calls.clone());
        // From a millisecond to half an hour.
        let durations = Family::<DurationLabels, Histogram>::new_with_constructor(|| {
            Histogram::new(exponential_buckets(0.001, 4.0, 11))
        });
        let help = "Time of calls, waiting included";
        registry.register_with_unit("call_duration", help, Unit::Seconds, durations.clone());
        let output = Counter::<u64, AtomicU64>::default();
        registry.register_with_unit("output", "Output of programs", Unit::Bytes, output.clone());
        let requests = Family::<StatusLabel, Counter>::default();
        registry.register("http_requests", "HTTP responses, by status", requests.clone());
        let mut gauge = |name, help| {
            let gauge = Gauge::<i64, AtomicI64>::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let running = gauge("calls_running", "Running calls");
        let waiting = gauge("calls_waiting", "Calls that wait for a slot");
        let sessions = gauge("sessions", "Open sessions");
        let connections = gauge("connections", "Open connections");

        Self {
            registry: all,
            catalog: info,
            calls,
            durations,
            operations,
            output,
            requests,
            running,
            waiting,
            sessions,
            connections,
        }
    }
}

impl Metrics {
    /// Sets the digest of the served catalog, and how many calls run and wait now.
    pub fn set_served(&self, digest: &str, running: usize, waiting: usize) {
        self.catalog.clear();
        let catalog = CatalogLabels { version: env!("CARGO_PKG_VERSION"), digest: digest.to_owned() };
        self.catalog.get_or_create(&catalog).set(1);
        let count = |calls: usize| i64::try_from(calls).unwrap_or(i64::MAX);
        self.running.set(count(running));
        self.waiting.set(count(waiting));
    }

    /// Counts an HTTP response.
    pub fn count_response(&self, status: u16) {
        self.requests.get_or_create(&StatusLabel { status }).inc();
    }

    /// Returns the metrics as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to memory does not fail.
        let _ = text::encode(&mut text, &self.registry);
        text
    }
}

impl CallObserver for Metrics {
    fn call_ended(&self, tool: &str, outcome: &'static str, duration: Duration, output_bytes: u64) {
        self.calls.get_or_create(&CallLabels { tool: tool.to_owned(), outcome }).inc();
        self.durations.get_or_create(&DurationLabels { outcome }).observe(duration.as_secs_f64());
        let operation = OperationLabels {
            mcp_method_name: "tools/call",
            gen_ai_tool_name: tool.to_owned(),
            error_type: error_type(outcome).unwrap_or_default(),
        };
        self.operations.get_or_create(&operation).observe(duration.as_secs_f64());
        self.output.inc_by(output_bytes);
    }
}
