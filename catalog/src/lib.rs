//! Config files of `climax`, from YAML text to flat, immutable tool tables.
//!
//! One pipeline reads them: `parse → check → lower`. Its result is a [`Catalog`], which the generator prints as Rust and
//! the server keeps; both are read through the same views and the same [`ToolIndex`].
//!
//! Everything but [`files`] is pure: text in, tables and [`Diagnostics`] out.

use std::collections::HashSet;

mod check;
mod checked;
mod config;
mod diagnostic;
mod digest;
pub mod files;
mod format;
mod index;
mod lower;
pub mod policy;
mod raise;
mod schema;
mod source;
mod suggest;
mod table;
pub mod template;
mod view;
mod walk;
mod yaml;

pub use checked::{Place, Risk, Type};
pub use diagnostic::{Code, Diagnostic, Diagnostics, Severity, Style};
pub use digest::{digest, hex};
pub use format::config_schema;
pub use index::{CliSummary, Filter, Layer, Strategy, ToolIndex};
pub use policy::Policy;
pub use source::{MAX_CONFIG_BYTES, Position, Source, Span};
pub use suggest::{did_you_mean, near_misses};
pub use table::{
    ArgDef, Catalog, CliDef, ExecutorDef, Names, PolicyDef, Ranked, ResolveDef, Rows, RuleDef, SearchText, Str, Texts,
    ToolDef, fingerprint, name_hash,
};
pub use view::{ArgView, Cli, ResolveView, ResolvedTool, RuleView, ToolIndexEntry};

#[doc(hidden)]
pub use phf;

/// A catalog, and what was found in its configs that is likely a mistake.
#[derive(Debug)]
pub struct Compiled {
    /// The tables.
    pub catalog: Catalog,
    /// Warnings only.
    pub warnings: Diagnostics,
}

/// Turns config files into a catalog.
///
/// Of two tools with one name in different files the later stays, which is a warning.
///
/// # Errors
/// Every mistake in every file, and the warnings.
pub fn compile(sources: &[Source]) -> Result<Compiled, Diagnostics> {
    compile_over(sources, &|_| false)
}

/// Turns config files into a catalog that is served over others; `served` says which tools those have.
///
/// A tool that replaces one of them is a warning too.
///
/// # Errors
/// As [`compile`].
pub fn compile_over(sources: &[Source], served: &dyn Fn(&str) -> bool) -> Result<Compiled, Diagnostics> {
    let mut found = Vec::new();
    let mut clis = Vec::with_capacity(sources.len());
    for source in sources {
        let mut own = Vec::new();
        if let Some(root) = yaml::parse(source, &mut own)
            && let Some(config) = config::parse(source, &root, &mut own)
        {
            clis.push(check::check(source, config, &mut own));
        } else if own.is_empty() {
            own.push(Diagnostic::file(
                Code::EmptyConfig,
                source.path(),
                "config is empty".to_owned(),
                "write at least `command:` and `tools:`",
            ));
        }
        found.push(own);
    }
    if clis.len() == sources.len() {
        let mut overrides = Vec::new();
        check::override_earlier(&mut clis, sources, served, &mut overrides);
        found.push(overrides);
    }
    found.extend(too_large(&clis, sources));
    let diagnostics = in_order(found);
    if diagnostics.has_errors() {
        Err(diagnostics)
    } else {
        Ok(Compiled { catalog: lower::lower(&clis, None), warnings: diagnostics })
    }
}

/// Refuses configs whose tables would be larger than their offsets can tell, or than a machine likes.
fn too_large(clis: &[checked::Cli], sources: &[Source]) -> Option<Vec<Diagnostic>> {
    const MAX_TABLE_BYTES: usize = 1 << 30;
    let mut total = 0;
    let (_, source) = clis.iter().zip(sources).find(|(cli, source)| {
        total += lower::size(cli, source.text().len());
        total > MAX_TABLE_BYTES
    })?;
    let message = "the tables of all configs up to this one would be larger than 1 GiB".to_owned();
    Some(vec![Diagnostic::file(Code::TooLarge, source.path(), message, "use fewer or shorter tags, or fewer tools")])
}

/// Sorts each file's diagnostics by place, and drops warnings about a scalar that an error is about already.
fn in_order(files: Vec<Vec<Diagnostic>>) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    for mut file in files {
        let errors: HashSet<_> =
            file.iter().filter(|d| d.severity() == Severity::Error).filter_map(Diagnostic::span).collect();
        file.retain(|d| d.severity() == Severity::Error || d.span().is_none_or(|span| !errors.contains(&span)));
        file.sort_by_key(|d| d.span().map(|span| span.start));
        diagnostics.extend(file);
    }
    diagnostics
}
