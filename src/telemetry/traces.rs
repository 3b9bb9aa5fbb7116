//! Spans of calls, for a collector that speaks the OpenTelemetry protocol (OTLP).
//!
//! The variables of the OpenTelemetry specification say where it is and what is sent, `OTEL_EXPORTER_OTLP_ENDPOINT` first of all.

use std::collections::HashMap;
use std::io;

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracerProvider, Tracer};
use tracing::Span;
use tracing_opentelemetry::{OpenTelemetryLayer, OpenTelemetrySpanExt as _};
use tracing_subscriber::registry::LookupSpan;

/// The variables that say where the collector is.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/// Sends spans until it is dropped, and then those that wait.
#[derive(Debug)]
pub(crate) struct Export(SdkTracerProvider);

impl Drop for Export {
    fn drop(&mut self) {
        // The collector may be away; the server ends all the same.
        let _ = self.0.shutdown();
    }
}

/// What sends spans, if a collector is named.
pub(crate) fn export() -> io::Result<Option<Export>> {
    if ENDPOINTS.iter().all(|name| std::env::var_os(name).is_none()) {
        return Ok(None);
    }
    let exporter = SpanExporter::builder().with_http().build().map_err(io::Error::other)?;
    let resource = Resource::builder().with_service_name("climax").build();
    Ok(Some(Export(SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build())))
}

impl Export {
    /// Takes spans from `tracing`.
    pub(crate) fn layer<S>(&self) -> OpenTelemetryLayer<S, Tracer>
    where
        S: tracing::Subscriber + for<'span> LookupSpan<'span>,
    {
        tracing_opentelemetry::layer().with_tracer(self.0.tracer("climax"))
    }
}

/// Makes a span part of the trace that variables tell of; the variables that tell of the span, for what it starts.
pub(crate) fn joined(span: &Span, variables: Vec<(String, String)>) -> Vec<(String, String)> {
    let carrier: HashMap<String, String> =
        variables.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
    let propagator = TraceContextPropagator::new();
    // Where nothing is exported a span has no place in a trace.
    if span.set_parent(propagator.extract(&carrier)).is_err() {
        return variables;
    }
    let mut own = HashMap::new();
    propagator.inject_context(&span.context(), &mut own);
    if own.is_empty() {
        return variables;
    }
    own.into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_ascii_uppercase(), value))
        .collect()
}
