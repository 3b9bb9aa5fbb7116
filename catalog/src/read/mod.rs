//! Reading configs: text → tree → config as written → checked config, with every mistake reported.

pub(crate) mod check;
pub(crate) mod checked;
pub(crate) mod compile;
pub(crate) mod config;
pub(crate) mod decode;
pub(crate) mod diagnostic;
pub mod files;
pub(crate) mod lint;
pub(crate) mod source;
pub(crate) mod walk;
pub(crate) mod yaml;
