//! Exports spans of calls to a collector, by the OpenTelemetry protocol (OTLP).
//!
//! The environment variables of the OpenTelemetry specification configure it, such as `OTEL_EXPORTER_OTLP_ENDPOINT`.

use std::collections::HashMap;
use std::io;

use opentelemetry::Key;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{Status, TracerProvider as _};
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracerProvider, Tracer};
use tracing::Span;
use tracing_opentelemetry::{OpenTelemetryLayer, OpenTelemetrySpanExt as _};
use tracing_subscriber::registry::LookupSpan;

use super::observer::error_type;
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

/// What the span of a call says besides its outcome.
pub(crate) struct Operation<'o> {
    /// The method of MCP.
    pub(crate) method: &'static str,
    /// The tool; `None` for a line.
    pub(crate) tool: Option<&'o str>,
    /// The id of the request.
    pub(crate) request: String,
}

/// Makes `span` part of the trace that `variables` carry (`TRACEPARENT` and the like), and describes its operation.
///
/// Returns the variables that carry the span itself, for the environment of a child process.
///
/// Source of the names: the semantic conventions of OpenTelemetry for MCP, "Server". The span must have the fields `otel.name`
/// and `otel.kind`.
pub(crate) fn join_trace(
    span: &Span,
    operation: &Operation<'_>,
    variables: Vec<(String, String)>,
) -> Vec<(String, String)> {
    let carrier: HashMap<String, String> =
        variables.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
    let propagator = TraceContextPropagator::new();
    // Without an export a span cannot be part of a trace.
    if span.set_parent(propagator.extract(&carrier)).is_err() {
        return variables;
    }

    let Operation { method, tool, request } = operation;
    span.record("otel.kind", "server");
    span.record("otel.name", tool.map_or_else(|| (*method).to_owned(), |tool| format!("{method} {tool}")));
    span.set_attribute("mcp.method.name", *method);
    span.set_attribute("jsonrpc.request.id", request.clone());
    if let Some(tool) = tool {
        span.set_attribute("gen_ai.tool.name", (*tool).to_owned());
        span.set_attribute("gen_ai.operation.name", "execute_tool");
    }

    let mut injected = HashMap::new();
    propagator.inject_context(&span.context(), &mut injected);
    if injected.is_empty() {
        return variables;
    }

    let own = injected.into_iter().map(|(name, value)| (name.to_ascii_uppercase(), value));
    let baggage = variables.into_iter().filter(|(name, _)| name == "BAGGAGE");
    own.filter(|(_, value)| !value.is_empty()).chain(baggage).collect()
}

/// Says on a span how its call has ended, if that is an error.
pub(crate) fn end(span: &Span, outcome: &'static str) {
    if let Some(error) = error_type(outcome) {
        span.set_attribute("error.type", error);
        span.set_status(Status::error(error));
    }
}
