//! Figures for those who operate a server, in the text format of Prometheus.

use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::call::{Observer, Toolbox};

/// Counts what a server does.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    calls: Family<Call, Counter>,
    durations: Family<Outcome, Histogram>,
    output: Counter,
    requests: Family<Status, Counter>,
    catalog: Family<Catalog, Gauge>,
    running: Gauge,
    waiting: Gauge,
    /// Open sessions.
    pub sessions: Gauge,
    /// Open connections.
    pub connections: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Catalog {
    version: &'static str,
    digest: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    tool: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Status {
    status: u16,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("climax");
        let info = Family::<Catalog, Gauge>::default();
        registry.register("catalog", "What is served", info.clone());
        let calls = Family::<Call, Counter>::default();
        registry.register("calls", "Calls that have ended, by tool and outcome", calls.clone());
        // From a millisecond to half an hour.
        let durations =
            Family::<Outcome, Histogram>::new_with_constructor(|| Histogram::new(exponential_buckets(0.001, 4.0, 11)));
        let help = "How long calls took, with what they waited";
        registry.register_with_unit("call_duration", help, Unit::Seconds, durations.clone());
        let output = Counter::<u64, AtomicU64>::default();
        registry.register_with_unit("output", "What programs have printed", Unit::Bytes, output.clone());
        let requests = Family::<Status, Counter>::default();
        registry.register("http_requests", "HTTP requests that were answered, by status", requests.clone());
        let mut gauge = |name, help| {
            let gauge = Gauge::<i64, AtomicI64>::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let running = gauge("calls_running", "Calls whose programs run");
        let waiting = gauge("calls_waiting", "Calls that wait for their turn");
        let sessions = gauge("sessions", "Open sessions");
        let connections = gauge("connections", "Open connections");
        Self { registry, catalog: info, calls, durations, output, requests, running, waiting, sessions, connections }
    }
}

impl Metrics {
    /// Notes what is served and what runs now.
    pub fn served(&self, toolbox: &Toolbox) {
        self.catalog.clear();
        let catalog = Catalog { version: env!("CARGO_PKG_VERSION"), digest: toolbox.digest().to_owned() };
        self.catalog.get_or_create(&catalog).set(1);
        let count = |calls: usize| i64::try_from(calls).unwrap_or(i64::MAX);
        self.running.set(count(toolbox.runner.running()));
        self.waiting.set(count(toolbox.runner.waiting()));
    }

    /// Counts an answer.
    pub fn answered(&self, status: u16) {
        self.requests.get_or_create(&Status { status }).inc();
    }

    /// The figures as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to memory does not fail.
        let _ = text::encode(&mut text, &self.registry);
        text
    }
}

impl Observer for Metrics {
    fn ended(&self, tool: &str, outcome: &'static str, duration: Duration, output_bytes: u64) {
        self.calls.get_or_create(&Call { tool: tool.to_owned(), outcome }).inc();
        self.durations.get_or_create(&Outcome { outcome }).observe(duration.as_secs_f64());
        self.output.inc_by(output_bytes);
    }
}
