//! Which options of a command are published: the most useful ones.

use std::collections::HashMap;

use climax_catalog::Risk;

use crate::command::{Command, Flag};

/// Names of options that most requests of agents need.
const USEFUL: [&str; 64] = [
    "all",
    "author",
    "base",
    "body",
    "branch",
    "config",
    "context",
    "count",
    "data",
    "delete",
    "depth",
    "description",
    "directory",
    "dry-run",
    "env",
    "exclude",
    "extension",
    "field",
    "fields",
    "file",
    "filter",
    "follow",
    "force",
    "format",
    "from",
    "glob",
    "group",
    "header",
    "hidden",
    "ignore-case",
    "include",
    "input",
    "json",
    "key",
    "label",
    "limit",
    "lines",
    "max-count",
    "max-depth",
    "message",
    "method",
    "name",
    "namespace",
    "number",
    "output",
    "path",
    "pattern",
    "query",
    "recursive",
    "reverse",
    "search",
    "select",
    "since",
    "size",
    "sort",
    "state",
    "tag",
    "tags",
    "tail",
    "template",
    "title",
    "to",
    "type",
    "until",
];
/// Words in the names of options that few requests need.
const RARE: [&str; 33] = [
    "ascii",
    "buffer",
    "buffered",
    "cache",
    "cert",
    "cipher",
    "color",
    "colors",
    "compat",
    "completion",
    "cookies",
    "credentials",
    "debug",
    "deprecated",
    "experimental",
    "legacy",
    "log",
    "netrc",
    "password",
    "preview",
    "profile",
    "progress",
    "proxy",
    "quiet",
    "retries",
    "telemetry",
    "token",
    "trace",
    "update",
    "ipv4",
    "ipv6",
    "verbose",
    "warnings",
];
/// The weight of an option that each page repeats.
const SHARED: i32 = 40;

/// Ranks the options of commands.
pub(super) struct Ranking {
    /// How many commands have an option, by its first spelling.
    commands: HashMap<String, usize>,
    total: usize,
}

impl Ranking {
    pub(super) fn new(all: &[Command]) -> Self {
        let mut commands = HashMap::new();
        for flag in all.iter().flat_map(|command| &command.options) {
            *commands.entry(flag.spellings[0].clone()).or_default() += 1;
        }
        Self { commands, total: all.len() }
    }

    /// Returns for each of `flags` whether it is among the `most` useful ones. Required ones always are.
    pub(super) fn shown(&self, flags: &[(&Flag, Option<Risk>)], most: usize) -> Vec<bool> {
        let mut order: Vec<usize> = (0..flags.len()).collect();
        order.sort_by_key(|at| -self.weight(flags[*at].0, flags[*at].1, *at));
        let mut shown = vec![false; flags.len()];
        for at in order.into_iter().take(most) {
            shown[at] = true;
        }
        for (shown, (flag, _)) in shown.iter_mut().zip(flags) {
            *shown |= flag.required;
        }

        shown
    }

    /// How useful an option probably is.
    fn weight(&self, flag: &Flag, risk: Option<Risk>, at: usize) -> i32 {
        let name = flag.spellings[0].trim_start_matches('-').to_ascii_lowercase();
        let parts = || name.split(['-', '_', '.']);
        let mut weight = 0;
        if flag.required {
            weight += 100;
        }

        if USEFUL.contains(&name.as_str()) {
            weight += 30;
        } else if parts().any(|part| USEFUL.contains(&part)) {
            weight += 8;
        }

        if parts().any(|part| RARE.contains(&part)) {
            weight -= 25;
        }

        // A letter is what an author gives to the options that people type.
        let is_letter = |spelling: &String| spelling.len() == 2 && spelling.as_bytes()[1].is_ascii_alphabetic();
        weight += if flag.spellings.iter().any(is_letter) { 20 } else { 0 };
        weight -= if risk == Some(Risk::Destructive) { 15 } else { 0 };
        // A bare letter tells a model nothing.
        weight -= if flag.about.is_empty() && flag.value.is_none() { 15 } else { 0 };
        let same = self.commands.get(&flag.spellings[0]).copied().unwrap_or_default();
        weight -= if self.total > 3 && same * 2 > self.total { SHARED } else { 0 };

        // Pages start with what matters.
        weight - i32::try_from(at.min(60)).unwrap_or_default() / 6
    }
}
