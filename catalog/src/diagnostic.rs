//! What is wrong with a config, where, and what to do about it.

use std::fmt;

use crate::source::{Position, Source, Span};

mod render;

pub use render::Style;

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The config cannot be used.
    Error,
    /// The config can be used; something in it is likely a mistake.
    Warning,
}

impl Severity {
    /// The word that messages and JSON use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal, $severity:ident;)*) => {
        /// The kind of a diagnostic: a stable word that scripts may rely on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// Every code, in the order of their definition.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The code as messages print it, such as `unknown-key`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Whether a diagnostic of this kind makes the file unusable, unless it says otherwise itself.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    /// A file or directory could not be read.
    Unreadable = "unreadable", Error;
    /// A directory holds no config.
    NoConfigs = "no-configs", Error;
    /// A file is binary or in another encoding.
    NotUtf8 = "not-utf8", Error;
    /// A file is larger than [`crate::MAX_CONFIG_BYTES`].
    TooLarge = "too-large", Error;
    /// A file holds nothing but white space, comments or null.
    EmptyConfig = "empty-config", Error;
    /// The text is not YAML.
    Syntax = "syntax", Error;
    /// A file holds more than one YAML document.
    MultipleDocuments = "multiple-documents", Error;
    /// Aliases stand for more than a config needs.
    AliasBomb = "alias-bomb", Error;
    /// A YAML tag that has no meaning in a config.
    UnsupportedTag = "unsupported-tag", Error;
    /// A NUL character.
    Nul = "nul", Error;
    /// A key stands twice in one mapping.
    DuplicateKey = "duplicate-key", Error;
    /// A key that the format does not have.
    UnknownKey = "unknown-key", Error;
    /// A value of the wrong YAML type.
    WrongType = "wrong-type", Error;
    /// A value that is none of those allowed.
    UnknownValue = "unknown-value", Error;
    /// A required key is absent.
    MissingKey = "missing-key", Error;
    /// A name or description is empty.
    EmptyValue = "empty-value", Error;
    /// Neither the config nor the tool says which program to run.
    NoCommand = "no-command", Error;
    /// A key that is about a program, in a config whose tools are written in Rust.
    NativeProgram = "native-program", Error;
    /// A name with characters that MCP does not allow, or an environment variable that cannot exist.
    IllegalName = "illegal-name", Error;
    /// Two tools of one file have the same name.
    DuplicateTool = "duplicate-tool", Error;
    /// Two args of one tool have the same name.
    DuplicateArg = "duplicate-arg", Error;
    /// An arg has two of `positional`, `cwd` and `stdin`.
    ConflictingPlaces = "conflicting-places", Error;
    /// A tool has two `cwd` args or two `stdin` args.
    RepeatedPlace = "repeated-place", Error;
    /// A boolean that is positional, stdin or cwd.
    BooleanPlace = "boolean-place", Error;
    /// A default that is not of the arg's type.
    DefaultType = "default-type", Error;
    /// A default that is none of the arg's `enum` values.
    DefaultNotInEnum = "default-not-in-enum", Error;
    /// An `enum` without values.
    EmptyEnum = "empty-enum", Error;
    /// An `enum` value that stands twice.
    RepeatedEnumValue = "repeated-enum-value", Error;
    /// A timeout that is zero, negative, not finite or longer than 49 days.
    IllegalTimeout = "illegal-timeout", Error;
    /// A template with unbalanced braces or a placeholder that is no name.
    TemplateSyntax = "template-syntax", Error;
    /// A template that names neither an arg nor a `resolve` entry.
    UnknownPlaceholder = "unknown-placeholder", Error;
    /// A policy's `pattern` that is no regular expression, or none that matches in linear time.
    BadPattern = "bad-pattern", Error;
    /// A bound of a policy that no number can keep, or that is no whole number where one is needed.
    IllegalRange = "illegal-range", Error;
    /// A key of a policy's `executor` that belongs to another type of executor.
    MisplacedKey = "misplaced-key", Error;
    /// A path of a policy's sandbox that is not absolute.
    RelativePath = "relative-path", Error;
    /// A mount of a policy's container below another that can be changed.
    Replaceable = "replaceable", Error;
    /// A policy that would allow more than the one that is compiled in.
    Widening = "widening", Error;
    /// A plain scalar that YAML 1.1 and YAML 1.2 read differently.
    AmbiguousScalar = "ambiguous-scalar", Warning;
    /// A key whose value has no effect where it stands.
    NoEffect = "no-effect", Warning;
    /// An arg that is required and has a default, which is then never used.
    RequiredDefault = "required-default", Warning;
    /// An `enum` value that no value of the arg's type can equal.
    EnumType = "enum-type", Warning;
    /// A tool name that is longer than some clients accept.
    LongName = "long-name", Warning;
    /// A policy names a tool that is not served.
    UnknownTool = "unknown-tool", Warning;
    /// A policy names an arg that its tool does not have.
    UnknownArg = "unknown-arg", Warning;
    /// A policy permits none of the tools that are served.
    NothingPermitted = "nothing-permitted", Warning;
    /// A policy bounds the numbers of an arg that takes none.
    RangeType = "range-type", Warning;
    /// A policy does not permit the default of an arg.
    DefaultDenied = "default-denied", Warning;
    /// A tool that replaces one of the same name from an earlier file.
    Override = "override", Warning;
}

/// A place that explains a diagnostic further.
#[derive(Clone, Debug)]
struct Label {
    span: Span,
    text: String,
}

/// Where a diagnostic points: a range of a file with a word on it.
#[derive(Clone, Debug)]
struct Place {
    source: Source,
    primary: Label,
    secondary: Vec<Label>,
}

/// One mistake: what is wrong, where, and what to do.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    code: Code,
    severity: Severity,
    path: String,
    message: String,
    place: Option<Box<Place>>,
    help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic about a whole file.
    pub(crate) fn file(code: Code, path: &str, message: String, help: &str) -> Self {
        let help = Some(help.to_owned());
        Self { code, severity: code.severity(), path: path.to_owned(), message, place: None, help }
    }

    pub(crate) fn at(source: &Source, code: Code, span: Span, message: String) -> Self {
        let primary = Label { span, text: String::new() };
        Self {
            code,
            severity: code.severity(),
            path: source.path().to_owned(),
            message,
            place: Some(Box::new(Place { source: source.clone(), primary, secondary: Vec::new() })),
            help: None,
        }
    }

    /// Writes `text` under the place that the diagnostic points at.
    pub(crate) fn label(mut self, text: impl Into<String>) -> Self {
        if let Some(place) = &mut self.place {
            place.primary.text = text.into();
        }
        self
    }

    /// Points at a second place of the same file.
    pub(crate) fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        if let Some(place) = &mut self.place {
            place.secondary.push(Label { span, text: text.into() });
        }
        self
    }

    /// Says what to do.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Makes it an error, where what it is about cannot be mended later.
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

    /// What is wrong, in one line.
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

    /// Line and column; the start of the file where the mistake has no place of its own.
    #[must_use]
    pub fn position(&self) -> Position {
        match &self.place {
            Some(place) => place.source.position(place.primary.span.start),
            None => Position { line: 1, column: 1 },
        }
    }

    pub(crate) fn span(&self) -> Option<Span> {
        self.place.as_ref().map(|place| place.primary.span)
    }

    /// The diagnostic in the form `PATH:LINE:COLUMN: message [code]`.
    #[must_use]
    pub fn headline(&self) -> String {
        let Position { line, column } = self.position();
        format!("{}:{line}:{column}: {} [{}]", self.path, self.message, self.code)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Everything that was found wrong in one run, each file's in the order of its lines, then what files do to each other.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    all: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.all.push(diagnostic);
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: impl IntoIterator<Item = Diagnostic>) {
        self.all.extend(other);
    }

    /// Whether one of them is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Those that make a config unusable.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.all.iter().filter(|d| d.severity() == Severity::Error)
    }

    /// Those that do not.
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

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.into_iter()
    }
}
