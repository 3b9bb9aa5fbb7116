//! Diagnostics: a problem in a config, its location, and help.

use std::collections::HashSet;

use crate::source::{Position, Source, Span};

mod code;
mod render;
mod traits;

pub use code::Code;
pub use render::Style;
pub use traits::{Explanation, Phase, Severity};

impl Source {
    /// Starts a diagnostic that points at `span`.
    pub(crate) fn diagnostic(&self, code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::at(self, code, span, message.into())
    }
}

/// A location with a text.
#[derive(Clone, Debug)]
struct Label {
    span: Span,
    text: String,
}

/// The location of a diagnostic: a labelled range of a file, and further ones.
#[derive(Clone, Debug)]
struct Location {
    source: Source,
    primary: Label,
    secondary: Vec<Label>,
}

/// One problem: a message, its location, and help.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    code: Code,
    severity: Severity,
    path: String,
    message: String,
    location: Option<Box<Location>>,
    help: Option<String>,
}

impl Diagnostic {
    /// Makes a diagnostic about a whole file, or about several.
    #[must_use]
    pub fn file(code: Code, path: &str, message: String, help: &str) -> Self {
        let help = Some(help.to_owned());
        Self { code, severity: code.severity(), path: path.to_owned(), message, location: None, help }
    }

    pub(crate) fn at(source: &Source, code: Code, span: Span, message: String) -> Self {
        let primary = Label { span, text: String::new() };
        Self {
            code,
            severity: code.severity(),
            path: source.path().to_owned(),
            message,
            location: Some(Box::new(Location { source: source.clone(), primary, secondary: Vec::new() })),
            help: None,
        }
    }

    /// Writes `text` under the place that the diagnostic points at.
    pub(crate) fn label(mut self, text: impl Into<String>) -> Self {
        if let Some(location) = &mut self.location {
            location.primary.text = text.into();
        }
        self
    }

    /// Points at a second place of the same file.
    pub(crate) fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        if let Some(location) = &mut self.location {
            location.secondary.push(Label { span, text: text.into() });
        }
        self
    }

    /// Adds help.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Turns a warning into an error.
    pub(crate) fn into_error(self) -> Self {
        Self { severity: Severity::Error, ..self }
    }

    /// The kind of mistake.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// Whether the config is unusable.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// The message, in one line.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The file's path as it was given.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What to do about it.
    #[must_use]
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Line and column; the start of the file if the diagnostic has no location.
    #[must_use]
    pub fn position(&self) -> Position {
        match &self.location {
            Some(location) => location.source.position(location.primary.span.start),
            None => Position { line: 1, column: 1 },
        }
    }

    pub(crate) fn span(&self) -> Option<Span> {
        self.location.as_ref().map(|location| location.primary.span)
    }

    /// The diagnostic in the form `PATH:LINE:COLUMN: message [code]`.
    #[must_use]
    pub fn headline(&self) -> String {
        let Position { line, column } = self.position();
        format!("{}:{line}:{column}: {} [{}]", self.path, self.message, self.code)
    }
}

/// The diagnostics of one run. Those of each file are in the order of its lines; those about several files come last.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    all: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Sorts each file's diagnostics by location. Drops warnings about a scalar that has an error too.
    pub(crate) fn in_order(files: Vec<Vec<Diagnostic>>) -> Self {
        let mut all = Vec::new();

        for mut file in files {
            let errors: HashSet<Span> =
                file.iter().filter(|one| one.severity() == Severity::Error).filter_map(Diagnostic::span).collect();
            let has_error = |span: Option<Span>| span.is_some_and(|span| errors.contains(&span));

            file.retain(|one| one.severity() == Severity::Error || !has_error(one.span()));
            file.sort_by_key(|one| one.span().map(|span| span.start));
            all.extend(file);
        }

        Self { all }
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.all.push(diagnostic);
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: impl IntoIterator<Item = Diagnostic>) {
        self.all.extend(other);
    }

    /// Drops the warnings of these kinds.
    pub fn allow(&mut self, codes: &[Code]) {
        self.all.retain(|one| one.severity() == Severity::Error || !codes.contains(&one.code()));
    }

    /// Whether one of them is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// The errors.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.all.iter().filter(|d| d.severity() == Severity::Error)
    }

    /// The warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.all.iter().filter(|d| d.severity() == Severity::Warning)
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.all.iter()
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(only: Diagnostic) -> Self {
        let mut all = Self::default();
        all.push(only);
        all
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.into_iter()
    }
}
