//! Exports spans of calls to a collector, by the OpenTelemetry protocol (OTLP).
//!
//! The environment variables of the OpenTelemetry specification configure it, such as `OTEL_EXPORTER_OTLP_ENDPOINT`.

use std::collections::HashMap;
use std::io;

use opentelemetry::Key;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracerProvider, Tracer};
use tracing::Span;
use tracing_opentelemetry::{OpenTelemetryLayer, OpenTelemetrySpanExt as _};
use tracing_subscriber::registry::LookupSpan;

use crate::identity;

/// The variables that name the collector.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/// Exports spans. Dropping it sends the remaining ones.
#[derive(Debug)]
pub(crate) struct TraceExport(SdkTracerProvider);

impl Drop for TraceExport {
    fn drop(&mut self) {
        // Ignored because the collector may be unreachable, and the server ends anyway.
        let _ = self.0.shutdown();
    }
}

/// Sets up the export, if a variable names a collector.
///
/// # Errors
/// The variables are invalid.
pub(crate) fn export() -> io::Result<Option<TraceExport>> {
    if ENDPOINTS.iter().all(|name| std::env::var_os(name).is_none()) {
        return Ok(None);
    }
    let exporter = SpanExporter::builder().with_http().build().map_err(io::Error::other)?;
    Ok(Some(TraceExport(SdkTracerProvider::builder().with_resource(resource()).with_batch_exporter(exporter).build())))
}

/// Describes this program: by the variables of OpenTelemetry, else by its own name.
fn resource() -> Resource {
    let is_named = Resource::builder()
        .build()
        .get(&Key::new("service.name"))
        .is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    let builder = Resource::builder();
    if is_named { builder.build() } else { builder.with_service_name(identity::name()).build() }
}

impl TraceExport {
    /// Returns a layer that exports the spans of `tracing`.
    pub(crate) fn layer<S>(&self) -> OpenTelemetryLayer<S, Tracer>
    where
        S: tracing::Subscriber + for<'span> LookupSpan<'span>,
    {
        tracing_opentelemetry::layer().with_tracer(self.0.tracer("climax"))
    }
}

/// Makes `span` part of the trace that `variables` carry (`TRACEPARENT` and the like).
///
/// Returns the variables that carry the span itself, for the environment of a child process.
pub(crate) fn join_trace(span: &Span, variables: Vec<(String, String)>) -> Vec<(String, String)> {
    let carrier: HashMap<String, String> =
        variables.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
    let propagator = TraceContextPropagator::new();
    // Without an export a span cannot be part of a trace.
    if span.set_parent(propagator.extract(&carrier)).is_err() {
        return variables;
    }

    let mut injected = HashMap::new();
    propagator.inject_context(&span.context(), &mut injected);
    if injected.is_empty() {
        return variables;
    }

    injected
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_ascii_uppercase(), value))
        .collect()
}
