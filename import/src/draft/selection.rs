//! What a draft is to have.

use crate::command::Flag;

/// Options that a draft publishes for each tool, unless told otherwise.
pub const DEFAULT_MAIN: usize = 10;

/// Which options a draft has, and which of them it publishes.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Options that are kept and published in any case, by a spelling with or without its dashes.
    pub keep: Vec<String>,
    /// How many options of each tool are published; the rest is `shown: false`.
    pub main: usize,
    /// Why no cage can hold the program, if none can.
    pub uncaged: Option<&'static str>,
    /// The program, as the command line that starts it.
    pub program: String,
    /// Whether `--help` prints its help, and that of its commands.
    pub has_help: bool,
    /// Whether `--version` prints its version, and no tool has that.
    pub has_version: bool,
    /// Whether its switches take `=true` and `=false`.
    pub has_boolean_values: bool,
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            keep: Vec::new(),
            main: DEFAULT_MAIN,
            uncaged: None,
            program: String::new(),
            has_help: false,
            has_version: false,
            has_boolean_values: false,
        }
    }
}

impl Selection {
    /// Returns whether an option is named.
    pub(super) fn keeps(&self, flag: &Flag) -> bool {
        let bare = |spelling: &str| spelling.trim_start_matches('-').to_owned();
        let names = |kept: &String| flag.spellings.iter().any(|own| own == kept || bare(own) == *kept);
        self.keep.iter().any(names)
    }
}
