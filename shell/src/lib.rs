//! Reads the command language of shells into a syntax tree with places. Nothing is expanded, and nothing runs.
//!
//! The language is that of POSIX.1-2024 ("Shell Command Language") with the additions of bash that people type: `[[ ]]`,
//! `(( ))`, `for (( ))`, here-strings, `<( )`, `$'…'`, `|&`, `&>` and the expansions of `${ }`. What is not read (functions,
//! arrays, coprocesses, aliases) is an error with its place and what to write instead.
//!
//! ```
//! use climax_shell::{Body, parse};
//!
//! let script = parse("for f in *.rs; do wc -l \"$f\"; done | sort -n").unwrap();
//! let pipeline = &script.list.items[0].first;
//! assert!(matches!(pipeline.commands[0].body, Body::For(_)));
//! assert_eq!(pipeline.commands.len(), 2);
//!
//! let error = parse("f() { ls; }").unwrap_err();
//! assert_eq!(error.range, 1..3);
//! ```

mod arithmetic;
mod braces;
mod commands;
mod compound;
mod conditions;
mod error;
mod evaluate;
mod expand;
mod fields;
mod fill;
mod here;
mod matching;
mod parameters;
mod parser;
mod pattern;
mod portable;
mod redirections;
mod regex;
mod state;
mod tree;
mod unfinished;
mod values;
mod walk;
mod words;

pub use commands::is_name;
pub use conditions::compares_numbers;
pub use error::SyntaxError;
pub use expand::{ExpandError, Expander, Substituted, Surroundings};
pub use fields::{Field, Origin, PLACEHOLDER};
pub use fill::Places;
pub use matching::TooManySteps;
pub use parser::{MAX_BYTES, MAX_NESTING, parse};
pub use pattern::Pattern;
pub use regex::{Regex, RegexError};
pub use state::{Globs, Options, State, Value, Variable, background_count, background_number};
pub use tree::{
    Arithmetic, Arm, Assignment, Binary, Body, Branch, Case, Chain, Command, Comparison, Condition, Count, Descriptor,
    For, If, Joint, List, Name, Operation, Parameter, Part, Pipeline, Place, Redirection, Script, Simple, Splice,
    Target, Then, Times, Trim, Unary, While, Word,
};
pub use unfinished::{is_unfinished, last_command};
