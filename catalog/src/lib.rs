//! Config files of `climax`, from YAML text to flat, immutable tool tables.
//!
//! One pipeline reads them ([`compile`]): `parse → check → lower`. Its result is a [`Catalog`]. The generator prints
//! catalogs as Rust, and the server loads them at run time. Both are read through the same views and the same
//! [`ToolIndex`].
//!
//! Only [`files`] does I/O. Everything else is pure: text in, tables and [`Diagnostics`] out.
//!
//! ```
//! use climax_catalog::{Diagnostics, Filter, Layer, Source, ToolIndex, compile};
//!
//! let text = "command: date\ntools:\n  - {name: date_now, description: Show the time}\n";
//! let compiled = compile(&[Source::new("date.yaml", text.into())?])?;
//!
//! let index = ToolIndex::from_configs(vec![Layer::loaded(compiled.catalog)]);
//! let found = index.search(Filter { query: Some("time"), ..Filter::default() }, 10);
//! assert_eq!(found[0].tool_name(), "date_now");
//! assert_eq!(index.get("date_now").unwrap().description(), "Show the time");
//! # Ok::<(), Diagnostics>(())
//! ```

#[cfg(not(unix))]
compile_error!("climax runs on Linux and macOS. On Windows use it in WSL 2: docs/guides/platforms.md, Windows");

mod checked;
mod compile;
mod decode;
mod diagnostic;
mod digest;
mod effects;
mod executor;
pub mod expansion;
pub mod files;
mod flag;
mod format;
mod index;
mod json;
mod lower;
mod model;
mod needs;
mod offset;
mod output;
pub mod policy;
mod prompt;
mod raise;
mod read;
pub mod retrieval;
mod rule;
mod schema;
mod skill;
mod source;
mod suggest;
mod table;
pub mod template;
pub mod uri;
mod view;
mod words;

pub use compile::{Compiled, compile, compile_linted, compile_over};
pub use decode::MAX_CONFIG_BYTES;
pub use diagnostic::{Code, Diagnostic, Diagnostics, Explanation, Phase, Severity, Style};
pub use digest::digest;
pub use effects::{Effects, Language};
pub use flag::{FlagMatch, FlagTemplate};
pub use format::config_schema;
pub use index::{CliSummary, Filter, FoundTool, Layer, Match, Score, Strategy, TermShare, ToolIndex};
pub use model::{ArgRisk, Cage, GroupKind, Order, Place, Rest, Risk, Role, STEPS, Sensitive, Shape, Spread, Type};
pub use needs::{ANY, EnvValue, Needs};
pub use output::{OutputForm, conforms};
pub use policy::Policy;
pub use prompt::{MessageTemplate, Prompt, PromptArg};
pub use read::check::ServedItem;
pub use read::check::question::APPROVAL;
pub use schema::{arg_schema, input_schema_with};
pub use skill::check::{SkillDirectory, check_skills, is_skill_name, retain_served};
pub use skill::{SKILL_FILE, Skill, SkillFile, is_markdown};
pub use source::{Position, Source, Span};
pub use suggest::{MAX_SUGGESTIONS, did_you_mean, near_misses};
pub use table::{
    ArgDef, Catalog, CliDef, DetailDef, ExecutorDef, FileDef, GroupDef, List, Names, PackedSkills, PolicyDef,
    PromptDef, QuestionDef, Ranked, ResolveDef, Row, Rows, RuleDef, SearchText, Str, Texts, ToolDef, Value,
    fingerprint, name_hash,
};
pub use view::{
    ArgView, ChoiceView, CliView, CommandPart, GroupView, OutputFileView, QuestionView, ResolveView, ResolvedTool,
    RuleView, ToolIndexEntry,
};
pub use words::{quote, quoted_words};

#[doc(hidden)]
pub use phf;
