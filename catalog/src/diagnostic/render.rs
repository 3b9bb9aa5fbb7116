//! Diagnostics as text: rustc's look, by `annotate-snippets`.

use annotate_snippets::{AnnotationKind, Element, Level, Origin, Renderer, Snippet};

use super::traits::Severity;
use super::{Diagnostic, Diagnostics, Label, Location};
use crate::source::Span;

/// How diagnostics are written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For files, pipes and build logs.
    Plain,
    /// With ANSI colours, for terminals.
    Colored,
}

/// Lines of context around the location of a diagnostic.
const CONTEXT_LINES: usize = 2;

/// Locations further apart than this are not shown in one snippet.
const MAX_WINDOW_BYTES: usize = 64 << 10;

impl Diagnostics {
    /// Renders all of them, an empty line between two.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        self.iter().map(|d| d.render(style)).collect::<Vec<_>>().join("\n\n")
    }
}

impl Diagnostic {
    /// Renders the message, the source lines, and the help, without a newline at the end.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        let level = match self.severity() {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(self.message.as_str()).id(self.code.as_str());
        self.render_with(title.element(self.location_element()), style)
    }

    /// Renders only the source lines and the help, to follow [`Diagnostic::headline`] in a log.
    #[must_use]
    pub fn render_body(&self) -> String {
        let rendered = self.render(Style::Plain);
        rendered.lines().skip(2).collect::<Vec<_>>().join("\n")
    }

    fn location_element(&self) -> Element<'_> {
        match &self.location {
            Some(location) => snippet(location).into(),
            None => Origin::path(self.path.as_str()).into(),
        }
    }

    fn render_with<'a>(&'a self, mut group: annotate_snippets::Group<'a>, style: Style) -> String {
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let renderer = match style {
            Style::Plain => Renderer::plain(),
            Style::Colored => Renderer::styled(),
        };
        renderer.render(&[group])
    }
}

/// Builds the snippet from a window of lines, because the renderer scans its whole text for each diagnostic.
fn snippet(location: &Location) -> Snippet<'_, annotate_snippets::Annotation<'_>> {
    let text = location.source.text();
    let shown: Vec<&Label> = location
        .secondary
        .iter()
        .filter(|label| label.span.start.abs_diff(location.primary.span.start) < MAX_WINDOW_BYTES)
        .collect();
    let spans = || std::iter::once(&location.primary).chain(shown.iter().copied()).map(|label| label.span);
    let start = spans().map(|span| span.start).min().unwrap_or(0);
    let end = spans().map(|span| span.end).max().unwrap_or(0);
    let window = lines_around(text, Span { start, end });
    let local = |span: Span| clamp(span.start, window)..clamp(span.end, window);

    let mut snippet = Snippet::source(&text[window.start..window.end])
        .line_start(location.source.position(window.start).line)
        .path(location.source.path())
        .annotation(annotation(AnnotationKind::Primary, local(location.primary.span), &location.primary.text));
    for label in shown {
        snippet = snippet.annotation(annotation(AnnotationKind::Context, local(label.span), &label.text));
    }

    snippet
}

fn annotation(kind: AnnotationKind, range: std::ops::Range<usize>, text: &str) -> annotate_snippets::Annotation<'_> {
    let annotation = kind.span(range);
    if text.is_empty() { annotation } else { annotation.label(text) }
}

fn clamp(offset: usize, window: Span) -> usize {
    offset.clamp(window.start, window.end) - window.start
}

fn lines_around(text: &str, span: Span) -> Span {
    let bytes = text.as_bytes();
    let mut start = span.start.min(text.len());
    for _ in 0..=CONTEXT_LINES {
        start = memchr::memrchr(b'\n', &bytes[..start]).unwrap_or(0);
    }

    if start > 0 {
        start += 1;
    }

    let mut end = span.end.min(text.len());
    for _ in 0..=CONTEXT_LINES {
        end = memchr::memchr(b'\n', &bytes[end..]).map_or(text.len(), |at| end + at + 1);
    }

    Span { start, end: end.max(start) }
}
