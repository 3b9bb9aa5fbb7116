//! The text of a drafted config, as it grows.

use std::fmt::Write as _;

use climax_catalog::Risk;

use crate::arg::DraftArg;
use crate::yaml;

/// A drafted config, with counts.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The YAML.
    pub text: String,
    /// Its tools.
    pub tools: usize,
    /// Their args.
    pub args: usize,
    /// Lines that are marked as guesses.
    pub guesses: usize,
    /// How many of its tools have each risk: those in a cage, `read`, `write` and `destructive`.
    pub risks: [usize; 4],
}

impl Draft {
    /// Writes an arg, in a list that is indented so.
    pub(super) fn arg(&mut self, arg: &DraftArg, indent: &str) {
        self.args += 1;
        let source = arg.source.map(|source| format!("from {source}"));
        let comment = self.comment(&arg.guesses, source.as_deref());
        self.text.push_str(&arg.lines(&comment, indent));
    }

    /// Writes which shared args a tool does not have.
    pub(super) fn without(&mut self, names: &[String]) {
        if !names.is_empty() {
            let _ = writeln!(self.text, "    without: {}", yaml::list(names));
        }
    }

    pub(super) fn count(&mut self, risk: Risk, is_caged: bool) {
        let at = match risk {
            Risk::Read if is_caged => 0,
            Risk::Read => 1,
            Risk::Write => 2,
            Risk::Destructive => 3,
        };
        self.risks[at] += 1;
    }

    pub(super) fn comment(&mut self, guesses: &[&str], note: Option<&str>) -> String {
        let mut parts = Vec::new();
        if !guesses.is_empty() {
            self.guesses += 1;
            parts.push(format!("guess: {}", guesses.join("; ")));
        }
        parts.extend(note.map(str::to_owned));
        if parts.is_empty() { String::new() } else { format!("  # {}", parts.join("; ")) }
    }
}

/// The directory of a program that a path names, if it is none of the system's: a cage must permit reading it.
pub(super) fn directory(program: &str) -> Option<&str> {
    let system = ["/usr/", "/bin/", "/sbin/", "/opt/"];
    let (directory, _) = program.rsplit_once('/')?;
    (directory.starts_with('/') && !system.iter().any(|system| program.starts_with(system))).then_some(directory)
}
