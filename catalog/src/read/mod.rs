//! Reading configs: text → tree → config as written → checked config, with every mistake reported.

pub(crate) mod check;
pub(crate) mod config;
pub(crate) mod lint;
pub(crate) mod pattern;
pub(crate) mod walk;
pub(crate) mod yaml;
