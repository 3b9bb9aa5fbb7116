//! Rewrites a line as one of climax, which another shell runs in its place.

use std::path::PathBuf;

use climax_catalog::Policy;
use climax_catalog::policy::Level;
use climax_shell::Script;

use super::bare::{changes_shell, leading_change};

/// What a rewritten line starts.
#[derive(Clone, Debug)]
pub struct Rewriter {
    /// The program, absolute.
    pub program: PathBuf,
    /// The words behind it that choose the policy and the configs, with absolute paths.
    pub options: Vec<String>,
}

impl Rewriter {
    /// Returns the name of the program's file.
    pub(super) fn program_name(&self) -> String {
        self.program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns the line that runs a line by climax.
    ///
    /// A literal `cd DIR &&` in front stays outside, so that the shell of an agent is where it would be without climax.
    ///
    /// # Errors
    /// The line changes its shell, or nothing would hold it to what was judged.
    pub(super) fn rewritten(
        &self,
        line: &str,
        script: &Script,
        only_reads: bool,
        policy: &Policy,
    ) -> Result<String, &'static str> {
        let (head, rest, list) = match leading_change(line, script) {
            Some((head, rest, list)) => (Some(head), rest, list),
            None => (None, line, script.list.clone()),
        };
        if changes_shell(&list) {
            return Err("it changes the shell that runs it, so that climax cannot run it in its place");
        }

        // What runs is held to reading. What may write is held by the policy's questions, which nobody answers there.
        let holds = if only_reads {
            Some("--judged")
        } else if policy.approval_level() != Level::None {
            None
        } else {
            return Err("it writes, and the policy asks about nothing, so that nothing would hold the rewritten line");
        };
        let program = self.program.display().to_string();
        let words = std::iter::once(program.as_str()).chain(["sh"]).chain(holds).map(quoted);
        let options = self.options.iter().map(|word| quoted(word));
        let own: Vec<String> = words.chain(options).chain(["-c".to_owned(), quoted(rest)]).collect();
        let own = own.join(" ");
        Ok(head.map_or_else(|| own.clone(), |head| format!("{head} && {own}")))
    }
}

/// Quotes a word for every shell of the POSIX family: as it is, if it has nothing that one could read, else in single quotes.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | ':' | ',' | '+' | '@');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
